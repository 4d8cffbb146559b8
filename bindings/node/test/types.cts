// Uses the types from CommonJS. Compiled, not run.
import checkpoint = require('@langchain/langgraph-checkpoint');
import bough = require('bough');
import ai = require('bough/ai');
import claude = require('bough/claude');
import langgraph = require('bough/langgraph');
import openai = require('bough/openai-agents');
export async function walk(): Promise<string> {
  const store = await bough.Store.open('memory:');
  return (await store.create()).id;
}
export async function adapters(location: string): Promise<unknown[]> {
  const saver: checkpoint.BaseCheckpointSaver = await langgraph.BoughSaver.open(location);
  const items = await (await openai.BoughSession.open(location, { sessionId: 's' })).getItems();
  const lines = await (await claude.BoughSessionStore.open(location)).load({ projectKey: 'p', sessionId: 's' });
  return [saver, items, lines, await (await ai.BoughChat.open(location, { chatId: 'c' })).load()];
}
