// Tests what LangGraph's own suite does not cover: space, forks, two writers, hostile names, a kill between two calls.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Store } from 'bough';
import { BoughSaver } from 'bough/langgraph';

import { HOSTILE_NAMES, withFolder } from './folder.mjs';

const checkpoint = (id, messages, version) => ({ v: 4, id, ts: '', channel_values: { messages }, channel_versions: { messages: version }, versions_seen: {} });
const at = (id) => ({ configurable: { thread_id: 't', checkpoint_ns: '', ...(id && { checkpoint_id: id }) } });

test('the space of a turn does not grow with the thread', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const saver = new BoughSaver(store);
    const sizes = [];
    const messages = [];
    let config = at();
    let before = 0;
    for (let turn = 0; turn < 100; ++turn) {
      messages.push({ role: 'user', content: `message ${String(turn).padStart(4, '0')} `.repeat(20) });
      config = await saver.put(config, checkpoint(String(turn).padStart(4, '0'), messages, turn + 1), { step: turn }, { messages: turn + 1 });
      const { bytes } = await (await store.session('langgraph-t')).state();
      sizes.push(bytes - before);
      before = bytes;
    }
    assert.ok(sizes[99] < 1.1 * sizes[10], `${sizes[10]} became ${sizes[99]}`);
    const fresh = new BoughSaver(store);
    assert.deepEqual((await fresh.getTuple(at())).checkpoint.channel_values.messages, messages);
    assert.deepEqual((await fresh.getTuple(at('0050'))).checkpoint.channel_values.messages, messages.slice(0, 51));
    await store.close();
  }));

test('forks with equal versions keep their own values', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const root = await saver.put(at(), checkpoint('1', ['a'], 1), {}, { messages: 1 });
    await saver.put(root, checkpoint('2', ['a', 'left'.repeat(40)], 2), {}, { messages: 2 });
    await saver.put(root, checkpoint('3', ['a', 'right'.repeat(40)], 2), {}, { messages: 2 });
    assert.deepEqual((await saver.getTuple(at('2'))).checkpoint.channel_values.messages[1], 'left'.repeat(40));
    assert.deepEqual((await saver.getTuple(at('3'))).checkpoint.channel_values.messages[1], 'right'.repeat(40));
    await saver.close();
  }));

test('a copy of a checkpoint, which names no new versions and the parent of the one it was copied from, has its values', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const long = 'x'.repeat(200);
    const root = await saver.put(at(), checkpoint('1', ['a'], 1), {}, { messages: 1 });
    await saver.put(root, checkpoint('2', [`left ${long}`], 2), {}, { messages: 2 });
    await saver.put(root, checkpoint('3', [`right ${long}`], 2), {}, { messages: 2 });
    // Like LangGraph's updateState with "__copy__".
    await saver.put(root, checkpoint('4', [`right ${long}`], 2), { source: 'fork' }, {});
    await saver.put(at(), checkpoint('5', ['a'], 1), { source: 'fork' }, {});
    await saver.close();
    const fresh = await BoughSaver.open(location);
    assert.deepEqual((await fresh.getTuple(at('4'))).checkpoint.channel_values, { messages: [`right ${long}`] });
    assert.deepEqual((await fresh.getTuple(at('5'))).checkpoint.channel_values, { messages: ['a'] });
    await fresh.close();
  }));

test('two writers lose nothing, and hostile thread ids stay apart', () =>
  withFolder(async (location) => {
    const savers = await Promise.all([1, 2].map(() => BoughSaver.open(location)));
    const threads = HOSTILE_NAMES.filter((name) => name !== ''); // for list(), '' means all threads
    await Promise.all(
      savers.flatMap((saver, writer) =>
        threads.map((thread) => saver.put({ configurable: { thread_id: thread } }, checkpoint(`${writer}`, [thread], 1), { writer }, { messages: 1 })),
      ),
    );
    for (const thread of threads) {
      const found = [];
      for await (const tuple of savers[0].list({ configurable: { thread_id: thread } })) found.push(tuple);
      assert.equal(found.length, 2);
      assert.deepEqual(found[0].checkpoint.channel_values.messages, [thread]);
    }
    for (const saver of savers) await saver.close();
  }));

test('killed between put and putWrites, the checkpoint is there', () =>
  withFolder(async (location) => {
    const script = `
      import { BoughSaver } from ${JSON.stringify(fileURLToPath(import.meta.resolve('bough/langgraph')))};
      const saver = await BoughSaver.open(process.argv[1]);
      const checkpoint = { v: 4, id: '1', ts: '', channel_values: { messages: ['a'] }, channel_versions: { messages: 1 }, versions_seen: {} };
      await saver.put({ configurable: { thread_id: 't' } }, checkpoint, {}, { messages: 1 });
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, location], { stdio: 'inherit' });
    await new Promise((resolve) => child.once('exit', resolve));
    const saver = await BoughSaver.open(location);
    const tuple = await saver.getTuple(at());
    assert.deepEqual(tuple.checkpoint.channel_values, { messages: ['a'] });
    assert.deepEqual(tuple.pendingWrites, []);
    await saver.close();
  }));

test('a delta never cuts a character in two, and namespaces stay apart', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const long = 'x'.repeat(200);
    const histories = [[`${long}😀${long}`], [`${long}😁${long}`], [`${long}\ud83d${long}`], [`${long}😁`, `${long}`]];
    const config = (ns, id) => ({ configurable: { thread_id: 't', checkpoint_ns: ns, ...(id && { checkpoint_id: id }) } });
    for (const ns of HOSTILE_NAMES) {
      let last = config(ns);
      for (const [index, messages] of histories.entries()) last = await saver.put(last, checkpoint(String(index), messages, index + 1), {}, { messages: index + 1 });
    }
    await saver.close();
    const fresh = await BoughSaver.open(location);
    for (const ns of HOSTILE_NAMES) {
      for (const [index, messages] of histories.entries()) {
        assert.deepEqual((await fresh.getTuple(config(ns, String(index)))).checkpoint.channel_values.messages, messages);
      }
    }
    await fresh.close();
  }));

test('calls at the same time lose nothing, in one saver and for more threads than it keeps', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const threads = Array.from({ length: 150 }, (_, number) => `t${number}`);
    const config = (thread, id) => ({ configurable: { thread_id: thread, checkpoint_ns: '', ...(id && { checkpoint_id: id }) } });
    await Promise.all(threads.map((thread) => saver.put(config(thread), checkpoint('1', [thread], 1), {}, { messages: 1 })));
    await Promise.all(Array.from({ length: 20 }, (_, task) => saver.putWrites(config('t0', '1'), [['messages', task]], `task-${task}`)));
    await Promise.all([2, 3, 4].map((id) => saver.put(config('t0', '1'), checkpoint(String(id), [id], 2), {}, { messages: 2 })));
    const { pendingWrites } = await saver.getTuple(config('t0', '1'));
    assert.deepEqual(pendingWrites.map(([, , value]) => value).sort((a, b) => a - b), Array.from({ length: 20 }, (_, task) => task));
    const ids = [];
    for await (const tuple of saver.list(config('t0'))) ids.push(tuple.checkpoint.id);
    assert.deepEqual(ids, ['4', '3', '2', '1']);
    for (const thread of threads) assert.deepEqual((await saver.getTuple(config(thread, '1'))).checkpoint.channel_values.messages, [thread]);
    await saver.close();
  }));

test('bytes come back as they were, also with a mark of their order', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const values = [[0xef, 0xbb, 0xbf, 0x41], [0xff, 0x00], [], [0xef, 0xbb, 0xbf]].map((bytes) => Uint8Array.from(bytes));
    for (const [number, value] of values.entries()) await saver.put(at(), checkpoint(`${number}`, value, 1), {}, { messages: 1 });
    for (const [number, value] of values.entries()) {
      assert.deepEqual((await saver.getTuple(at(`${number}`))).checkpoint.channel_values.messages, value);
    }
    await saver.close();
  }));

test('channels may have any name', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const names = HOSTILE_NAMES.filter((name) => name !== '__proto__'); // LangGraph's own serializer drops it
    const values = Object.fromEntries(names.map((name, number) => [name, number]));
    const versions = Object.fromEntries(names.map((name) => [name, 1]));
    await saver.put(at(), { v: 4, id: '1', ts: '', channel_values: values, channel_versions: versions, versions_seen: {} }, {}, versions);
    const found = (await saver.getTuple(at())).checkpoint.channel_values;
    assert.deepEqual(found, values);
    await saver.close();
  }));

test('a thread that another process deleted begins again', () =>
  withFolder(async (location) => {
    const [left, right] = await Promise.all([1, 2].map(() => BoughSaver.open(location)));
    await left.put(at(), checkpoint('1', ['old'], 1), {}, { messages: 1 });
    await right.deleteThread('t');
    assert.equal(await left.getTuple(at()), undefined);
    await right.put(at(), checkpoint('1', ['new'], 1), {}, { messages: 1 });
    await right.deleteThread('t');
    await left.put(at(), checkpoint('1', ['newer'], 1), {}, { messages: 1 });
    assert.deepEqual((await left.getTuple(at())).checkpoint.channel_values.messages, ['newer']);
    // Deleted and started again between two calls of this process.
    await right.deleteThread('t');
    await right.put(at(), checkpoint('2', ['other'], 1), {}, { messages: 1 });
    assert.deepEqual((await left.getTuple(at())).checkpoint.channel_values.messages, ['other']);
    assert.equal(await left.getTuple(at('1')), undefined);
    for (const saver of [left, right]) await saver.close();
  }));

test('a thread that is deleted while it is written begins again', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const other = new BoughSaver(store);
    let between = []; // what another writer does after the thread was read and before the append
    const hooked = (session) => ({
      append: async (...given) => {
        await between.pop()?.();
        return session.append(...given);
      },
      load: (options) => session.load(options),
      close: () => session.close(),
    });
    const saver = new BoughSaver({
      session: async (id) => hooked(await store.session(id)),
      create: async (options) => hooked(await store.create(options)),
    });
    const long = 'the same beginning '.repeat(20);
    const deleted = () => other.deleteThread('t');
    const begunAgain = async () => {
      await deleted();
      await other.put(at(), checkpoint('9', [`${long}9`], 9), {}, { messages: 9 });
    };
    for (const happens of [deleted, begunAgain]) {
      const first = await saver.put(at(), checkpoint('1', [`${long}1`], 1), {}, { messages: 1 });
      between = [happens];
      const second = await saver.put(first, checkpoint('2', [`${long}2`], 2), {}, { messages: 2 });
      between = [happens];
      await saver.putWrites(second, [['messages', 1]], 'task');
      const third = await saver.put(second, checkpoint('3', [`${long}3`], 3), {}, { messages: 3 });
      assert.deepEqual((await new BoughSaver(store).getTuple(third)).checkpoint.channel_values.messages, [`${long}3`]);
    }
    await other.close();
    await store.close();
  }));

test('a value whose beginning was redacted is refused, and the thread goes on', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const words = (count) => Array.from({ length: count }, (_, number) => `${number} `.padEnd(100, 'x'));
    const at = (id, count) => ({ v: 4, id, ts: '', channel_values: { words: words(count) }, channel_versions: { words: count }, versions_seen: {} });
    const saver = new BoughSaver(store);
    const first = await saver.put({ configurable: { thread_id: 't' } }, at('1', 1), {}, { words: 1 });
    const second = await saver.put(first, at('2', 2), {}, { words: 2 });
    const session = await store.session('langgraph-t');
    const [, entry] = await session.load();
    await session.redact(entry.id, { by: 'test', reason: 'secret' });
    const other = new BoughSaver(store);
    assert.equal(await other.getTuple(first), undefined);
    await assert.rejects(other.getTuple(second), /redacted, erased or damaged/);
    const third = await other.put(second, at('3', 3), {}, { words: 3 });
    assert.deepEqual((await new BoughSaver(store).getTuple(third)).checkpoint.channel_values, { words: words(3) });
    await store.close();
  }));
