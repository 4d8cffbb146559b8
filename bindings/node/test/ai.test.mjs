// Tests BoughChat with the real `ai` package: it validates the messages and makes the streams.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { DefaultChatTransport, createUIMessageStreamResponse, readUIMessageStream, validateUIMessages } from 'ai';
import { Session, Store } from 'bough';
import { BoughChat } from 'bough/ai';

import { HOSTILE_NAMES, withFolder } from './folder.mjs';

const uiMessage = (id, role, text) => ({ id, role, parts: [{ type: 'text', text }] });

test('messages are saved once, and a regenerated answer is a branch', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const chat = new BoughChat({ store, chatId: 'chat/1' });
    const messages = [uiMessage('1', 'user', 'ask'), uiMessage('2', 'assistant', 'answer')];
    await chat.save(messages);
    await chat.save(messages);
    assert.deepEqual(await chat.load(), messages);
    assert.deepEqual(await validateUIMessages({ messages: await chat.load() }), messages);
    // The same messages with their members in another order.
    await chat.save(messages.map(({ id, role, parts }) => ({ parts: parts.map(({ type, text }) => ({ text, type })), role, id })));
    assert.equal((await (await store.session((await store.sessionIds())[0])).branches()).length, 1);
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

test('a stream is resumed while it runs, after it ended, and after its reader went away', () =>
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
    // The first chunk is recorded soon; wait until the recording exists.
    let resumed = null;
    while (resumed === null) resumed = await chat.resume('s');
    for (const chunk of chunks(5).slice(1)) push.enqueue(chunk);
    push.close();
    assert.deepEqual(await collect(resumed), chunks(5));
    await chat.recorded;
    assert.deepEqual(await collect(await chat.resume('s')), chunks(5));
    await chat.close();
  }));

test('a chunk that cannot be stored is not passed on', (t) =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    const { append } = Session.prototype;
    t.mock.method(Session.prototype, 'append', function (entry) {
      if (entry.payload.chunks.includes('lost')) return Promise.reject(new Error('the disk is full'));
      return append.call(this, entry);
    });
    let push;
    const reader = chat.record('s', new ReadableStream({ start: (controller) => (push = controller) })).getReader();
    push.enqueue('kept');
    assert.equal((await reader.read()).value, 'kept');
    push.enqueue('lost');
    await assert.rejects(reader.read(), /disk is full/);
    await assert.rejects(chat.recorded, /disk is full/);
    await chat.close();
  }));

test('a resume may wait without end', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    let push;
    const outward = chat.record('s', new ReadableStream({ start: (controller) => (push = controller) }));
    push.enqueue(chunks(1)[0]);
    await outward.getReader().read();
    let resumed = null;
    while (resumed === null) resumed = await chat.resume('s', { idleMs: Infinity });
    const collected = collect(resumed);
    await new Promise((resolve) => setTimeout(resolve, 100)); // enough time for a timer that treats Infinity as 0
    push.enqueue(chunks(2)[1]);
    push.close();
    assert.deepEqual(await collected, chunks(2));
    await chat.recorded;
    await chat.close();
  }));

test('a resumed stream that fails leaves no timer behind, which would keep the process', () =>
  withFolder(async (location) => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const store = await Store.open(location);
    const chat = new BoughChat({ store, chatId: 'c' });
    chat.record('s', new ReadableStream({ start: (controller) => controller.enqueue(chunks(1)[0]) }));
    const before = timers();
    const reader = (await chat.resume('s', { idleMs: 600_000 })).getReader();
    await reader.read();
    const failed = reader.read();
    while (timers() === before) await new Promise((resolve) => setImmediate(resolve)); // until it waits for more
    await store.close();
    await assert.rejects(failed, { code: 'closed' });
    assert.equal(timers(), before);
  }));

test('what a killed server had recorded is there', () =>
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

const streamOf = (list, error) =>
  new ReadableStream({
    pull(controller) {
      if (list.length > 0) controller.enqueue(list.shift());
      else if (error) controller.error(error);
      else controller.close();
    },
  });
// Reads until the end or an error. The message of an error is the last element.
const readAll = async (stream) => {
  const all = [];
  try {
    for await (const chunk of stream) all.push(chunk);
  } catch (error) {
    all.push(error.message);
  }
  return all;
};

test('a stream that is recorded again under its name takes the place of the one before', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    const passed = await readAll(chat.record('s', streamOf(chunks(2), new Error('the model failed'))));
    await assert.rejects(chat.recorded, /the model failed/);
    assert.deepEqual(await readAll(await chat.resume('s')), passed);
    const before = await chat.resume('s');
    chat.record('s', streamOf(chunks(4)));
    await chat.recorded;
    assert.deepEqual(await collect(await chat.resume('s')), chunks(4));
    assert.deepEqual(await collect(await chat.resume('s')), chunks(4));
    await before.cancel();
    // A recording that died without an end, and a reader that waits for it.
    chat.record('t', new ReadableStream({ start: (controller) => controller.enqueue(chunks(1)[0]) }));
    let waiting = null;
    while (waiting === null) waiting = await chat.resume('t');
    const waited = readAll(waiting);
    chat.record('t', streamOf(chunks(3)));
    await chat.recorded;
    assert.match((await waited).at(-1), /recorded again/);
    assert.deepEqual(await collect(await chat.resume('t')), chunks(3));
    await chat.close();
  }));

test('of two recordings that begin at the same time, the later one counts', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    for (let i = 0; i < 20; ++i) {
      chat.record(`s${i}`, new ReadableStream({ start: (controller) => controller.enqueue(chunks(1)[0]) }));
      chat.record(`s${i}`, streamOf(chunks(3)));
      await chat.recorded;
      assert.deepEqual(await collect(await chat.resume(`s${i}`, { idleMs: 500 })), chunks(3));
    }
    await chat.close();
  }));

test('what the reader got before a failure is recorded', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    let left = 3;
    const source = { getReader: () => ({ read: async () => (left-- > 0 ? { done: false, value: chunks(3)[2 - left] } : Promise.reject(new Error('cut'))), cancel: async () => {} }) };
    const passed = readAll(chat.record('s', source));
    await assert.rejects(chat.recorded, /cut/);
    assert.deepEqual((await readAll(await chat.resume('s'))).slice(0, -1), chunks(3));
    await passed;
    await chat.close();
  }));

test('a stream that cannot be recorded fails for its reader, and its source is cancelled', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    await chat.close();
    let cancelled;
    const source = new ReadableStream({ cancel: (reason) => (cancelled = reason) });
    await assert.rejects(collect(chat.record('s', source)), { code: 'closed' });
    await assert.rejects(chat.recorded, { code: 'closed' });
    assert.equal(cancelled?.code, 'closed');
  }));

test('reading makes no session, and a chat that another process removed begins again', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const chat = new BoughChat({ store, chatId: 'c' });
    assert.deepEqual(await chat.load(), []);
    assert.equal(await chat.resume('s'), null);
    await chat.save([]); // nothing to store
    assert.deepEqual(await store.sessionIds(), []);
    const messages = [uiMessage('1', 'user', 'ask')];
    await chat.save(messages);
    await store.removeTrashed(await store.trash('ai-c'));
    assert.deepEqual(await chat.load(), []);
    await chat.save(messages);
    assert.deepEqual(await chat.load(), messages);
    await chat.save([]); // removes the messages from the branch
    assert.deepEqual(await chat.load(), []);
    await store.close();
  }));

// A server with a model that never finishes. It answers the chat's last message and records the stream.
const SERVER = `
  import { convertToModelMessages, streamText } from 'ai';
  import { MockLanguageModelV4 } from 'ai/test';
  import { BoughChat } from 'bough/ai';
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          controller.enqueue({ type: 'text-start', id: '1' });
          for (let i = 0; i < 5; ++i) controller.enqueue({ type: 'text-delta', id: '1', delta: 'word' + i + ' ' });
        },
      }),
    }),
  });
  const chat = await BoughChat.open(process.argv[1], { chatId: 'c' });
  const result = streamText({ model, messages: await convertToModelMessages(await chat.load()) });
  chat.record('answer', result.toUIMessageStream({ generateMessageId: () => 'a1' }));
  setInterval(() => {}, 1000);`;

const textOf = (message) => message.parts.filter((part) => part.type === 'text').map((part) => part.text).join('');

test('the answer of a killed server is resumed by the transport of the package, kept, and regenerated as a branch', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    const question = uiMessage('u1', 'user', 'Say five words.');
    await chat.save([question]);
    const server = spawn(process.execPath, ['--input-type=module', '-e', SERVER, location], { stdio: 'inherit', cwd: import.meta.dirname });
    let running = null;
    while (running === null) running = await chat.resume('answer');
    let seen = '';
    for await (const chunk of running) {
      if (chunk.type === 'text-delta') seen += chunk.delta;
      if (seen.includes('word4')) break;
    }
    server.kill('SIGKILL');
    await new Promise((resolve) => server.once('exit', resolve));

    const fetch = async () => createUIMessageStreamResponse({ stream: await chat.resume('answer', { idleMs: 1 }) });
    const stream = await new DefaultChatTransport({ fetch }).reconnectToStream({ chatId: 'c' });
    let answer;
    for await (const message of readUIMessageStream({ stream })) answer = message;
    assert.equal(answer.id, 'a1');
    assert.equal(textOf(answer), 'word0 word1 word2 word3 word4 ');

    await chat.save([question, answer]);
    await chat.save([question, uiMessage('a2', 'assistant', 'Another answer.')]);
    assert.deepEqual((await validateUIMessages({ messages: await chat.load() })).map((each) => each.id), ['u1', 'a2']);
    await chat.close();
    const store = await Store.open(location);
    const session = await store.session('ai-c');
    const leaves = await session.branches();
    assert.equal(leaves.length, 2);
    await store.close();
  }));

test('hostile names of chats and streams stay apart', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    for (const name of HOSTILE_NAMES) {
      const chat = new BoughChat({ store, chatId: name });
      await chat.save([uiMessage('1', 'user', JSON.stringify(name))]);
      await collect(chat.record(name, new ReadableStream({ start: (push) => (push.enqueue({ type: 'text-delta', id: 't', delta: name }), push.close()) })));
      await chat.recorded;
      await chat.close();
    }
    for (const name of HOSTILE_NAMES) {
      const chat = new BoughChat({ store, chatId: name });
      assert.deepEqual(await chat.load(), [uiMessage('1', 'user', JSON.stringify(name))]);
      assert.deepEqual(await collect(await chat.resume(name)), [{ type: 'text-delta', id: 't', delta: name }]);
      await chat.close();
    }
    await store.close();
  }));

test('a stream that somebody else reads is refused at once, and a recording is resumed as soon as it was asked for', () =>
  withFolder(async (location) => {
    const chat = await BoughChat.open(location, { chatId: 'c' });
    const locked = ReadableStream.from([{ type: 'start' }]);
    locked.getReader();
    assert.throws(() => chat.record('locked', locked), TypeError);
    const recorded = [{ type: 'start' }, { type: 'finish' }];
    chat.record('s', ReadableStream.from(recorded));
    const resumed = [];
    for await (const chunk of await chat.resume('s')) resumed.push(chunk);
    assert.deepEqual(resumed, recorded);
    await chat.close();
  }));
