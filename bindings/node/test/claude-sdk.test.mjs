// Tests the real Claude Agent SDK with a local model server: it stores a session in bough, and another machine, which
// has only the store, resumes the session.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { deleteSession, foldSessionSummary, getSessionMessages, listSessions, query } from '@anthropic-ai/claude-agent-sdk';
import { BoughSessionStore } from 'bough/claude';

import { startModel } from './model.mjs';

// Simulates one machine: a folder for the program's own files, which is empty at first.
async function ask(store, project, prompt, more) {
  const home = await mkdtemp(path.join(tmpdir(), 'bough-claude-'));
  const model = await startModel(prompt);
  const env = {
    PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: path.join(home, '.claude'), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'not-a-key',
    DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1',
  };
  try {
    let result;
    const options = { sessionStore: store, cwd: project, env, model: 'claude-sonnet-4-5', settingSources: [], tools: [], ...more };
    for await (const message of query({ prompt, options })) {
      assert.notEqual(message.subtype, 'mirror_error', JSON.stringify(message));
      if (message.type === 'result') result = message;
    }
    assert.equal(result?.subtype, 'success');
    return { sessionId: result.session_id, sent: JSON.stringify(model.history) };
  } finally {
    model.stop();
    await rm(home, { recursive: true, force: true });
  }
}

test('the Claude Agent SDK resumes from the store alone', { timeout: 240_000 }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'bough-sdk-'));
  const location = path.join(folder, 'store');
  try {
    const first = await BoughSessionStore.open(location, { foldSessionSummary });
    const { sessionId } = await ask(first, folder, 'How tall is an oak?');
    await first.close();

    const second = await BoughSessionStore.open(location, { foldSessionSummary });
    const again = await ask(second, folder, 'And a beech?', { resume: sessionId });
    assert.equal(again.sessionId, sessionId);
    assert.match(again.sent, /How tall is an oak\?/);
    assert.match(again.sent, /"ok"/);

    const listed = await listSessions({ sessionStore: second, dir: folder });
    assert.deepEqual(listed.map((each) => each.sessionId), [sessionId]);
    const messages = await getSessionMessages(sessionId, { sessionStore: second, dir: folder });
    assert.deepEqual(messages.map((each) => each.type), ['user', 'assistant', 'user', 'assistant']);
    await deleteSession(sessionId, { sessionStore: second, dir: folder });
    assert.deepEqual(await listSessions({ sessionStore: second, dir: folder }), []);
    await second.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
