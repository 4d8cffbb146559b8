// Tests BoughSession against the in-memory session of the OpenAI Agents SDK: the same calls must give the same answers.
// Also tests what memory cannot show: a crash, two processes, and the branches that stay.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { MemorySession, UserError } from '@openai/agents-core';
import { Store } from 'bough';
import { BoughSession } from 'bough/openai-agents';

import { HOSTILE_NAMES, withFolder } from './folder.mjs';

const user = (text, more) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }], ...more });
const call = (callId, text) => ({ type: 'function_call', callId, name: 'look', arguments: JSON.stringify({ text }), status: 'completed' });
const append = (operationId, items) => ({ operationId, transaction: { type: 'append_items', items } });
const replace = (operationId, expectedSuffix, replacement) => ({ operationId, transaction: { type: 'replace_suffix', expectedSuffix, replacement } });

// Returns the result of a call, or how it fails: messages must agree up to the first colon or full stop.
const outcome = (promise) =>
  promise.then(
    (value) => ({ value }),
    (error) => ({ error: error.message.replace(/[:.].*/s, ''), isUserError: error instanceof UserError }),
  );

async function agree(location, use) {
  const memory = new MemorySession({ sessionId: 's' });
  const bough = await BoughSession.open(location, { sessionId: 's' });
  try {
    await use(async (name, ...words) => {
      const expected = await outcome(memory[name](...structuredClone(words)));
      assert.deepEqual(await outcome(bough[name](...words)), expected, `${name} ${JSON.stringify(words)}`);
      assert.deepEqual(await bough.getItems(), await memory.getItems());
    });
  } finally {
    await bough.close();
  }
}

test('every kind of call answers as the in-memory session does', () =>
  withFolder((location) =>
    agree(location, async (run) => {
      await run('getSessionId');
      await run('popItem');
      await run('clearSession');
      await run('addItems', []);
      await run('addItems', [user('start'), user('木 😀 \ud800'), user('bytes', { providerData: { data: new Uint8Array([0, 255]), $boughBytes: 'mine', $$boughBytes: 1 } })]);
      for (const limit of [-1, 0, 1, 2, 9]) await run('getItems', limit);
      await run('popItem');
      await run('addItems', [call('1', 'a'), user('between'), call('1', 'b'), call('2', 'c')]);
      await run('applyHistoryMutations', { mutations: [] });
      await run('applyHistoryMutations', { mutations: [{ type: 'replace_function_call', callId: 'nobody', replacement: call('x', 'x') }] });
      await run('applyHistoryMutations', {
        mutations: [
          { type: 'replace_function_call', callId: '1', replacement: call('2', 'renamed') },
          { type: 'replace_function_call', callId: '2', replacement: call('2', 'both') },
        ],
      });
      await run('applyHistoryTransaction', append('one', [user('a'), user('b')]));
      await run('addItems', [user('later')]);
      await run('applyHistoryTransaction', append('one', [user('a'), user('b')]));
      await run('applyHistoryTransaction', append('one', [user('other')]));
      await run('applyHistoryTransaction', append('empty', []));
      await run('applyHistoryTransaction', append('empty', [user('not empty')]));
      await run('applyHistoryTransaction', replace('two', [user('wrong')], [user('x')]));
      await run('applyHistoryTransaction', replace('two', [user('b'), user('later')], [user('B')]));
      await run('applyHistoryTransaction', replace('two', [user('b'), user('later')], [user('B')]));
      await run('applyHistoryTransaction', replace('three', [], [user('only added')]));
      await run('applyHistoryTransaction', replace('four', Array.from({ length: 99 }, () => user('x')), []));
      await run('popItem');
      await run('applyHistoryTransaction', replace('three', [], [user('only added')]));
      await run('clearSession');
      await run('applyHistoryTransaction', append('one', [user('after the clearing')]));
      await run('applyHistoryTransaction', append('one', [user('after the clearing')]));
      await run('clearSession');
      await run('clearSession');
      await run('applyHistoryTransaction', append('one', [user('again')]));
    }),
  ));

test('what JSON cannot hold is refused, and nothing is stored', () =>
  withFolder(async (location) => {
    const session = await BoughSession.open(location, { sessionId: 's' });
    await session.addItems([user('start')]);
    const cycle = {};
    cycle.self = cycle;
    const hidden = Object.defineProperty(user('x'), 'providerData', { enumerable: false, value: 1 });
    const values = [new Date(0), cycle, 42n, new Map(), Number.NaN, () => 1, Symbol('s')];
    const bad = [...values.map((value) => user('x', { providerData: { value } })), hidden, { ...user('x'), content: new Array(1) }];
    const isInvalid = (error) => error instanceof UserError && /invalid or unsupported data/.test(error.message);
    for (const [index, item] of bad.entries()) {
      await assert.rejects(session.applyHistoryTransaction(append(`bad-${index}`, [item])), isInvalid);
      await assert.rejects(session.addItems([item]), isInvalid);
      await session.applyHistoryTransaction(append(`bad-${index}`, [])); // the operation was not recorded
    }
    for (const transaction of [null, 3, { type: 'other' }, { type: 'append_items' }, { type: 'append_items', items: [42] }, { type: 'append_items', items: [], more: 1 }]) {
      await assert.rejects(session.applyHistoryTransaction({ operationId: 'x', transaction }), UserError);
    }
    await assert.rejects(session.applyHistoryTransaction(null), UserError);
    for (const operationId of ['', '  ', undefined, 3]) await assert.rejects(session.applyHistoryTransaction(append(operationId, [])), UserError);
    assert.deepEqual(await session.getItems(), [user('start')]);
    await session.close();
  }));

test('random calls agree with the in-memory session', () =>
  withFolder((location) =>
    agree(location, async (run) => {
      let state = 7;
      const below = (limit) => (state = (state * 48271) % 2147483647) % limit;
      const item = () => (below(3) === 0 ? call(String(below(3)), String(below(4))) : user(String(below(4))));
      const items = () => Array.from({ length: below(4) }, item);
      for (let round = 0; round < 150; ++round) {
        const pick = below(12);
        if (pick < 4) await run('addItems', items());
        else if (pick < 6) await run('popItem');
        else if (pick < 8) await run('applyHistoryTransaction', append(String(below(9)), items()));
        else if (pick < 10) await run('applyHistoryTransaction', replace(String(below(9)), Array.from({ length: below(2) }, item), items()));
        else if (pick < 11) await run('applyHistoryMutations', { mutations: [{ type: 'replace_function_call', callId: String(below(3)), replacement: call(String(below(3)), 'new') }] });
        else if (below(4) === 0) await run('clearSession');
      }
    }),
  ));

test('names are encoded as in Python, and a session that was killed before it had its name gets it', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const [short, half, long] = ['a/b 木', '\ud800x', 'x'.repeat(500)];
    const hashed = 'openai-agents-_hc38c2bf3055c516a98ac5d97f30e7c364e827bc0199e1c3415b794afbe55dcad';
    (await store.create({ id: hashed })).close();
    for (const sessionId of [short, half, long]) await new BoughSession({ store, sessionId }).addItems([user(sessionId)]);
    assert.deepEqual((await store.sessionIds()).sort(), [hashed, 'openai-agents-_ed_a0_80x', 'openai-agents-a_2fb_20_e6_9c_a8'].sort());
    assert.equal((await (await store.session(hashed)).entry('name')).payload.name, long);
    await store.close();
  }));

test('hostile names are sessions of their own', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    for (const name of HOSTILE_NAMES) await new BoughSession({ store, sessionId: name }).addItems([user(JSON.stringify(name))]);
    for (const name of HOSTILE_NAMES) {
      const session = new BoughSession({ store, sessionId: name });
      assert.deepEqual(await session.getItems(), [user(JSON.stringify(name))]);
      await session.close();
    }
    await store.close();
  }));

test('calls are replaced, histories compacted, and old ones stay as branches', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const session = new BoughSession({ store, sessionId: 's' });
    await session.addItems([user('a'), call('1', 'old'), user('b'), call('1', 'old')]);
    await session.applyHistoryMutations({ mutations: [{ type: 'replace_function_call', callId: '1', replacement: call('1', 'new') }] });
    assert.deepEqual(await session.getItems(), [user('a'), call('1', 'new'), user('b')]);
    await session.replaceHistoryWithCompaction([user('summary')]);
    assert.deepEqual(await session.getItems(), [user('summary')]);
    const [id] = await store.sessionIds();
    assert.equal((await (await store.session(id)).branches()).length >= 3, true);
    await session.close();
    await store.close();
  }));

test('two writers lose nothing', () =>
  withFolder(async (location) => {
    const sessions = await Promise.all([1, 2].map(() => BoughSession.open(location, { sessionId: 's' })));
    await Promise.all(
      sessions.flatMap((session, writer) =>
        Array.from({ length: 10 }, (_, number) =>
          session.applyHistoryTransaction({ operationId: `${writer}-${number}`, transaction: { type: 'append_items', items: [user(`${writer}-${number}`)] } }),
        ),
      ),
    );
    assert.equal(new Set((await sessions[0].getItems()).map((item) => item.content)).size, 20);
    for (const session of sessions) await session.close();
  }));

test('a process killed in the middle leaves whole transactions, and repeating them adds none', () =>
  withFolder(async (location) => {
    const script = `
      import { BoughSession } from ${JSON.stringify(fileURLToPath(import.meta.resolve('bough/openai-agents')))};
      const session = await BoughSession.open(process.argv[1], { sessionId: 's' });
      const item = (text) => ({ type: 'message', role: 'user', content: text });
      for (let i = 0; ; ++i) {
        await session.applyHistoryTransaction({ operationId: String(i), transaction: { type: 'append_items', items: [item(i + ' a'), item(i + ' b')] } });
        if (i === 3) console.log('go');
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, location], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const session = await BoughSession.open(location, { sessionId: 's' });
    const item = (text) => ({ type: 'message', role: 'user', content: text });
    const stored = (await session.getItems()).map((each) => each.content);
    assert.ok(stored.length >= 8);
    assert.deepEqual(stored, Array.from({ length: stored.length / 2 }, (_, index) => [`${index} a`, `${index} b`]).flat());
    for (let i = 0; i < stored.length / 2; ++i) await session.applyHistoryTransaction(append(String(i), [item(`${i} a`), item(`${i} b`)]));
    assert.equal((await session.getItems()).length, stored.length);
    await session.close();
  }));

test('reading, popping and clearing make no session', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const session = new BoughSession({ store, sessionId: 's' });
    assert.deepEqual(await session.getItems(), []);
    assert.equal(await session.popItem(), undefined);
    await session.clearSession();
    await session.applyHistoryMutations({ mutations: [] });
    assert.deepEqual(await store.sessionIds(), []);
    await session.addItems([{ role: 'user', content: 'hello' }]);
    await store.removeTrashed(await store.trash('openai-agents-s'));
    assert.deepEqual(await session.getItems(), []);
    await session.addItems([{ role: 'user', content: 'again' }]);
    assert.equal((await session.getItems()).length, 1);
    await store.close();
  }));

test('an item without a content of its own is shown as what it is', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const session = new BoughSession({ store, sessionId: 's' });
    const items = [{ type: 'function_call_result', callId: '1' }, { role: 'user', content: null }, { role: 'user', content: [null, 3, { text: null }] }, {}];
    await session.addItems(items);
    assert.deepEqual(await session.getItems(), items);
    for (const entry of (await (await store.session('openai-agents-s')).history())) assert.equal(typeof entry.payload.message.content, 'string');
    await store.close();
  }));

test('a session id that is not a text is refused', () =>
  withFolder(async (folder) => {
    for (const sessionId of [undefined, null, 5, ['a']]) {
      const session = await BoughSession.open(folder, { sessionId });
      await assert.rejects(session.addItems([user('x')]), /the name of a session is a text/);
      await session.close();
    }
  }));
