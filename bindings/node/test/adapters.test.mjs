// The adapters, with the real packages of their frameworks where those bring a base class.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Store } from 'bough';
import { BoughChat } from 'bough/ai';
import { BoughSessionStore } from 'bough/claude';
import { BoughSaver } from 'bough/langgraph';
import { BoughSession } from 'bough/openai-agents';

async function withFolder(use) {
  const folder = await mkdtemp(path.join(tmpdir(), 'bough-'));
  try {
    return await use(path.join(folder, 'store'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const user = (text) => ({ type: 'message', role: 'user', content: text });
const call = (callId, name) => ({ type: 'function_call', callId, name, arguments: '{}', status: 'completed' });

// What the in-memory session of the OpenAI Agents SDK does, and more.
test('openai-agents: items are added, limited, popped and cleared', () =>
  withFolder(async (location) => {
    const session = await BoughSession.open(location, { sessionId: 'any / name 木' });
    assert.equal(await session.getSessionId(), 'any / name 木');
    await session.addItems([]);
    assert.deepEqual(await session.getItems(), []);
    assert.equal(await session.popItem(), undefined);
    await session.addItems([user('0'), user('1'), user('2')]);
    assert.deepEqual((await session.getItems(2)).map((item) => item.content), ['1', '2']);
    assert.deepEqual(await session.getItems(0), []);
    assert.deepEqual(await session.popItem(), user('2'));
    await session.addItems([user('instead')]);
    assert.deepEqual((await session.getItems()).map((item) => item.content), ['0', '1', 'instead']);
    await session.clearSession();
    assert.deepEqual(await session.getItems(), []);
    await session.addItems([{ type: 'message', role: 'user', content: [{ type: 'input_image', image: new Uint8Array([0, 255]) }] }]);
    assert.deepEqual((await session.getItems())[0].content[0].image, new Uint8Array([0, 255]));
    await session.close();
  }));

test('openai-agents: a transaction is applied once', () =>
  withFolder(async (location) => {
    const session = await BoughSession.open(location, { sessionId: 's' });
    const append = { operationId: 'one', transaction: { type: 'append_items', items: [user('a'), user('b')] } };
    await session.applyHistoryTransaction(append);
    await session.applyHistoryTransaction(structuredClone(append));
    assert.equal((await session.getItems()).length, 2);
    await assert.rejects(session.applyHistoryTransaction({ operationId: 'one', transaction: { type: 'append_items', items: [user('c')] } }), /different transaction/);
    const replace = { operationId: 'two', transaction: { type: 'replace_suffix', expectedSuffix: [user('b')], replacement: [user('B'), user('C')] } };
    await session.applyHistoryTransaction(replace);
    await session.applyHistoryTransaction(replace);
    assert.deepEqual((await session.getItems()).map((item) => item.content), ['a', 'B', 'C']);
    await assert.rejects(session.applyHistoryTransaction({ ...replace, operationId: 'three' }), /no longer matches/);
    await assert.rejects(session.applyHistoryTransaction({ operationId: ' ', transaction: append.transaction }), TypeError);
    await assert.rejects(session.applyHistoryTransaction({ operationId: 'four', transaction: { type: 'other' } }), TypeError);
    assert.deepEqual((await session.getItems()).map((item) => item.content), ['a', 'B', 'C']);
    await session.close();
  }));

test('openai-agents: calls are replaced, histories compacted, and old ones stay as branches', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const session = new BoughSession({ store, sessionId: 's' });
    await session.addItems([user('a'), call('1', 'old'), user('b'), call('1', 'old')]);
    await session.applyHistoryMutations({ mutations: [{ type: 'replace_function_call', callId: '1', replacement: call('1', 'new') }] });
    assert.deepEqual((await session.getItems()).map((item) => item.name ?? item.content), ['a', 'new', 'b']);
    await session.replaceHistoryWithCompaction([user('summary')]);
    assert.deepEqual((await session.getItems()).map((item) => item.content), ['summary']);
    const [id] = await store.sessionIds();
    assert.equal((await (await store.session(id)).branches()).length >= 3, true);
    await session.close();
    await store.close();
  }));

test('openai-agents: two writers lose nothing', () =>
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

// The contracts of the Claude Agent SDK's SessionStore.
const key = { projectKey: '-home-me-a b/木', sessionId: '11111111-2222-4333-8444-555555555555' };
const line = (uuid, text, more) => ({ type: 'user', uuid, timestamp: '2026-01-01T00:00:00.000Z', message: { role: 'user', content: text }, ...more });

test('claude: what was appended is loaded, in order, once', () =>
  withFolder(async (location) => {
    const store = await BoughSessionStore.open(location);
    assert.equal(await store.load(key), null);
    const lines = [line('u1', 'a', { parentUuid: null }), { type: 'summary', summary: 's' }, line('u2', 'b', { parentUuid: 'u1', extra: { n: 1.5 } })];
    await store.append(key, lines);
    await store.append(key, []);
    await store.append(key, lines.slice(2));
    await store.append(key, [{ type: 'summary', summary: 's' }]);
    assert.deepEqual(await store.load(key), [...lines, { type: 'summary', summary: 's' }]);
    assert.deepEqual(await store.load({ ...key, sessionId: 'other' }), null);
    await store.close();
    const again = await BoughSessionStore.open(location);
    assert.equal((await again.load(key)).length, 4);
    await again.close();
  }));

test('claude: sessions, subkeys and projects are kept apart, and deleted', () =>
  withFolder(async (location) => {
    const store = await BoughSessionStore.open(location);
    await store.append(key, [line('u1', 'a')]);
    await store.append({ ...key, subpath: 'subagents/agent-1' }, [line('u1', 'sub')]);
    await store.append({ ...key, projectKey: 'other' }, [line('u1', 'elsewhere')]);
    const before = Date.now();
    assert.deepEqual((await store.listSessions(key.projectKey)).map((each) => each.sessionId), [key.sessionId]);
    assert.ok((await store.listSessions(key.projectKey))[0].mtime <= before + 1000);
    assert.deepEqual(await store.listSubkeys(key), ['subagents/agent-1']);
    assert.deepEqual(await store.load({ ...key, subpath: 'subagents/agent-1' }), [line('u1', 'sub')]);
    await store.delete(key);
    assert.equal(await store.load(key), null);
    assert.equal(await store.load({ ...key, subpath: 'subagents/agent-1' }), null);
    assert.equal((await store.listSessions('other')).length, 1);
    await store.delete(key);
    await store.close();
  }));

test('claude: appends of one process keep their order, two processes lose nothing', () =>
  withFolder(async (location) => {
    const stores = await Promise.all([1, 2].map(() => BoughSessionStore.open(location)));
    await Promise.all(stores.flatMap((store, writer) => Array.from({ length: 20 }, (_, number) => store.append(key, [line(`${writer}-${number}`, 'x')]))));
    const loaded = (await stores[0].load(key)).map((each) => each.uuid);
    assert.equal(loaded.length, 40);
    for (const writer of [0, 1]) {
      assert.deepEqual(loaded.filter((uuid) => uuid.startsWith(`${writer}-`)), Array.from({ length: 20 }, (_, number) => `${writer}-${number}`));
    }
    for (const store of stores) await store.close();
  }));

const uiMessage = (id, role, text) => ({ id, role, parts: [{ type: 'text', text }] });

test('ai: messages are saved once, and a regenerated answer is a branch', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const chat = new BoughChat({ store, chatId: 'chat/1' });
    const messages = [uiMessage('1', 'user', 'ask'), uiMessage('2', 'assistant', 'answer')];
    await chat.save(messages);
    await chat.save(messages);
    assert.deepEqual(await chat.load(), messages);
    const regenerated = [messages[0], uiMessage('3', 'assistant', 'better')];
    await chat.save(regenerated);
    assert.deepEqual(await new BoughChat({ store, chatId: 'chat/1' }).load(), regenerated);
    const session = await store.session((await store.sessionIds())[0]);
    assert.equal((await session.branches()).length, 2);
    await chat.close();
    await store.close();
  }));

const chunks = (count) => Array.from({ length: count }, (_, number) => ({ type: 'text-delta', id: 't', delta: String(number) }));
const collect = async (stream) => {
  const all = [];
  for await (const chunk of stream) all.push(chunk);
  return all;
};

test('ai: a stream is resumed while it runs, after it ended, and after its reader went away', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    assert.equal(await chat.resume('s'), null);
    let push;
    const source = new ReadableStream({ start: (controller) => (push = controller) });
    const outward = chat.record('s', source);
    push.enqueue(chunks(1)[0]);
    const reader = outward.getReader();
    await reader.read();
    await reader.cancel();
    // The first chunk is recorded soon: wait until the recording is there.
    let resumed = null;
    while (resumed === null) resumed = await chat.resume('s');
    for (const chunk of chunks(5).slice(1)) push.enqueue(chunk);
    push.close();
    assert.deepEqual(await collect(resumed), chunks(5));
    await chat.recorded;
    assert.deepEqual(await collect(await chat.resume('s')), chunks(5));
    await chat.close();
  }));

test('ai: what a killed server had recorded is there', () =>
  withFolder(async (location) => {
    const script = `
      import { BoughChat } from ${JSON.stringify(fileURLToPath(import.meta.resolve('bough/ai')))};
      const chat = await BoughChat.open(process.argv[1], { chatId: 'c' });
      let push;
      chat.record('s', new ReadableStream({ start: (controller) => (push = controller) }));
      for (let i = 0; i < 3; ++i) push.enqueue({ type: 'text-delta', id: 't', delta: String(i) });
      let parts = 0;
      while (parts < 3) {
        const stream = await chat.resume('s', { idleMs: 200 });
        parts = 0;
        if (stream) for await (const chunk of stream) ++parts;
      }
      console.log('recorded');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, location], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const chat = await BoughChat.open(location, { chatId: 'c' });
    assert.deepEqual(await collect(await chat.resume('s', { idleMs: 200 })), chunks(3));
    await chat.close();
  }));

// LangGraph's own suite proves the shape; these are what it does not ask.
const checkpoint = (id, messages, version) => ({ v: 4, id, ts: '', channel_values: { messages }, channel_versions: { messages: version }, versions_seen: {} });
const at = (id) => ({ configurable: { thread_id: 't', checkpoint_ns: '', ...(id && { checkpoint_id: id }) } });

test('langgraph: the space of a turn does not grow with the thread', () =>
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

test('langgraph: forks with equal versions keep their own values', () =>
  withFolder(async (location) => {
    const saver = await BoughSaver.open(location);
    const root = await saver.put(at(), checkpoint('1', ['a'], 1), {}, { messages: 1 });
    await saver.put(root, checkpoint('2', ['a', 'left'.repeat(40)], 2), {}, { messages: 2 });
    await saver.put(root, checkpoint('3', ['a', 'right'.repeat(40)], 2), {}, { messages: 2 });
    assert.deepEqual((await saver.getTuple(at('2'))).checkpoint.channel_values.messages[1], 'left'.repeat(40));
    assert.deepEqual((await saver.getTuple(at('3'))).checkpoint.channel_values.messages[1], 'right'.repeat(40));
    await saver.close();
  }));

test('langgraph: two writers lose nothing, and hostile thread ids stay apart', () =>
  withFolder(async (location) => {
    const savers = await Promise.all([1, 2].map(() => BoughSaver.open(location)));
    const threads = ['__proto__', '../../x', 'a:b|c', '木', 'x'.repeat(500), '%2e'];
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

test('langgraph: killed between put and putWrites, the checkpoint is there', () =>
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
