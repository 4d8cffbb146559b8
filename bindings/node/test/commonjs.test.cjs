// Tests the adapters in a CommonJS program, with the classes of the frameworks that the program itself requires.
'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');

const { BaseCheckpointSaver, emptyCheckpoint } = require('@langchain/langgraph-checkpoint');
const { UserError } = require('@openai/agents-core');
const { Store } = require('bough');
const { BoughChat } = require('bough/ai');
const { BoughSessionStore } = require('bough/claude');
const { BoughSaver } = require('bough/langgraph');
const { BoughSession } = require('bough/openai-agents');

test('a LangGraph checkpointer', async () => {
  const saver = await BoughSaver.open('memory:');
  assert.ok(saver instanceof BaseCheckpointSaver);
  const config = await saver.put({ configurable: { thread_id: 't', checkpoint_ns: '' } }, emptyCheckpoint(), { source: 'input', step: -1, parents: {} }, {});
  assert.equal((await saver.getTuple(config)).checkpoint.id, config.configurable.checkpoint_id);
  await saver.close();
});

test('a session of the OpenAI Agents SDK', async () => {
  const session = await BoughSession.open('memory:', { sessionId: 's' });
  const item = { type: 'message', role: 'user', content: 'hello' };
  await session.addItems([item]);
  assert.deepEqual(await session.getItems(), [item]);
  await assert.rejects(session.applyHistoryTransaction({ operationId: '', transaction: {} }), UserError);
  await session.close();
});

test('a store for the Claude Agent SDK, and a chat of the AI SDK', async () => {
  const store = await Store.open('memory:');
  const key = { projectKey: 'p', sessionId: 's' };
  const sessions = new BoughSessionStore(store);
  await sessions.append(key, [{ type: 'user', uuid: 'u' }]);
  assert.deepEqual(await sessions.load(key), [{ type: 'user', uuid: 'u' }]);
  const chat = new BoughChat({ store, chatId: 'c' });
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
  await chat.save(messages);
  assert.deepEqual(await chat.load(), messages);
  await store.close();
});

test('a constructor without an open store says how to open one', () => {
  for (const location of [undefined, null, 'sessions']) {
    assert.throws(() => new BoughSaver(location), /BoughSaver\.open\(location\)/);
    assert.throws(() => new BoughSessionStore(location), /BoughSessionStore\.open\(location\)/);
    assert.throws(() => new BoughSession({ store: location, sessionId: 's' }), /BoughSession\.open\(location, \{ sessionId \}\)/);
    assert.throws(() => new BoughChat({ store: location, chatId: 'c' }), /BoughChat\.open\(location, \{ chatId \}\)/);
  }
});

test('the same classes for those that need no framework, whoever loads them', async () => {
  assert.equal((await import('bough/claude')).BoughSessionStore, BoughSessionStore);
  assert.equal((await import('bough/ai')).BoughChat, BoughChat);
  assert.notEqual((await import('bough/langgraph')).BoughSaver, BoughSaver);
});
