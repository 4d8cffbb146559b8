// Tests how things end: processes, worker threads, and stores with everything opened from them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';

import { Store, userText } from 'bough';

import { withStore } from './folder.mjs';

test('worker threads use the store at the same time', () =>
  withStore(async (store, location) => {
    const session = await store.create();
    const code = `
      const { Store, userText } = require('bough');
      const { workerData } = require('node:worker_threads');
      (async () => {
        const store = await Store.open(workerData.location);
        const session = await store.session(workerData.id);
        for (let i = 0; i < 20; ++i) await session.append(userText('worker'));
        await store.close();
      })();`;
    const workers = [1, 2].map(() => new Worker(code, { eval: true, workerData: { location, id: session.id } }));
    await Promise.all(workers.map((worker) => new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve))));
    assert.equal((await session.load({ type: 'message' })).length, 40);
  }));

test('a worker may be terminated while it follows, loads and appends', () =>
  withStore(async (store, location) => {
    const session = await store.create();
    const code = `
      const { Store, userText } = require('bough');
      const { workerData, parentPort } = require('node:worker_threads');
      (async () => {
        const session = await (await Store.open(workerData.location)).session(workerData.id);
        (async () => { for await (const entry of session.follow()) parentPort.postMessage(entry.id); })();
        for (;;) await Promise.all([session.append(userText('worker')), session.load({ last: 50 })]);
      })();`;
    for (let i = 0; i < 5; ++i) {
      const worker = new Worker(code, { eval: true, workerData: { location, id: session.id } });
      await new Promise((resolve, reject) => worker.on('error', reject).once('message', resolve));
      await worker.terminate();
    }
    assert.equal((await session.verify()).problemCount, 0);
    await session.append(userText('after'));
  }));

test('a process ends while a follower is open that nobody waits for', () =>
  withStore(async (store, location) => {
    const session = await store.create({ id: 'left' });
    await session.append(userText('a'));
    const program = `
      import { Store } from 'bough';
      const store = await Store.open(${JSON.stringify(location)});
      const session = await store.session('left');
      globalThis.entries = session.follow();
      for (let count = 0; count < 2; ++count) await globalThis.entries.next();
      console.log('read');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { timeout: 60_000 });
    assert.equal(stdout, 'read\n');
  }));

const BUFFERED = `
  import { Store, userText } from 'bough';
  const store = await Store.open(LOCATION, { durability: 'buffered', bufferedMs: 600_000, bufferedEntries: 100_000 });
  const session = await store.session('left');
  process.on('exit', () => session.appendSync(userText('at the end'), { durability: 'sync' }));
  process.on('exit', () => session.appendSync(userText('later')));
  process.on('exit', () => session.appendSync([userText('later')], { durability: 'buffered' }));
  process.on('exit', () => void session.append(userText('without waiting')));
  for (let count = 0; count < 5; ++count) session.appendSync(userText(String(count)));`;

test('what was appended without a sync is written when the process ends', () =>
  withStore(async (store, location) => {
    const session = await store.create({ id: 'left' });
    const program = BUFFERED.replace('LOCATION', JSON.stringify(location));
    for (const end of ['', 'process.exit(0)', "process.nextTick(() => { throw new Error('uncaught') })"]) {
      const { entryCount } = await session.state();
      await promisify(execFile)(process.execPath, ['--input-type=module', '-e', `${program}${end}`], { timeout: 60_000 }).catch((error) => assert.match(error.stderr, /uncaught/));
      assert.equal((await session.state()).entryCount - entryCount, 9, end);
    }
  }));

const openFiles = async () => (await readdir('/proc/self/fd')).length;

test('a store that is closed has no files open, whatever was not closed', () =>
  withStore(async (_, location) => {
    const before = await openFiles();
    for (let count = 0; count < 20; ++count) {
      const store = await Store.open(location);
      const session = await store.create();
      const { lastId } = await session.append(userText('hi'));
      const fork = await session.fork(lastId);
      const entries = session.entries({ count: 1 });
      await entries.next();
      await store.close();
      await assert.rejects(session.load(), { code: 'closed', message: /was closed/ });
      await assert.rejects(fork.load(), { code: 'closed' });
      session.close();
    }
    assert.ok((await openFiles()) < before + 10, `${before} open files became ${await openFiles()}`);
  }));

test('the stores of a worker are closed with it', () =>
  withStore(async (store, location) => {
    const session = await store.create({ id: 'left' });
    const program = `
      const { Store, userText } = require('bough');
      const { parentPort } = require('node:worker_threads');
      Store.open(${JSON.stringify(location)}, { durability: 'buffered', bufferedMs: 600_000, bufferedEntries: 100_000 }).then(async (store) => {
        const session = await store.session('left');
        await session.append(userText('from a worker'));
        parentPort.postMessage('ready');
        if (TERMINATED) setInterval(() => {}, 1000);
      });`;
    const before = await openFiles();
    for (let count = 0; count < 20; ++count) {
      const terminated = count % 2 === 0;
      const worker = new Worker(program.replace('TERMINATED', terminated), { eval: true });
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
      if (terminated) await worker.terminate();
      await ended;
    }
    assert.equal((await session.load({ type: 'message' })).length, 20);
    assert.ok((await openFiles()) < before + 10, `${before} open files became ${await openFiles()}`);
  }));

test('what nobody holds any more is closed, and nothing that a call uses', () =>
  withStore(async (store) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    const require = createRequire(import.meta.url);
    const native = require(join(dirname(require.resolve('bough')), 'native.cjs'));
    const closed = [];
    const { runSync } = native;
    native.runSync = (operation, list, entries) => {
      closed.push(native.operations[operation]);
      return runSync(operation, list, entries);
    };
    const { id } = await store.create();
    const begin = async () => {
      const session = await store.session(id);
      for await (const entry of session.entries({ count: 1 })) return { entry, pending: session.append(userText('a')) };
    };
    const left = async () => (await store.session(id)).entries({ count: 1 }).next();
    try {
      for (let i = 0; i < 20; ++i) {
        const { pending } = await begin();
        await left();
        collect();
        await new Promise(setImmediate);
        await pending;
      }
      const count = (name) => closed.filter((each) => each === name).length;
      for (let i = 0; i < 1000 && count('session_close') < 30; ++i) {
        collect();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      assert.ok(count('session_close') >= 30, `${count('session_close')} of 40 sessions were closed`);
      assert.ok(count('cursor_close') >= 30, `${count('cursor_close')} of 40 iterators were closed`);
    } finally {
      native.runSync = runSync;
    }
    assert.equal((await (await store.session(id)).load({ type: 'message' })).length, 20);
  }));
