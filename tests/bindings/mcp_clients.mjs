// The official clients of both generations talk to `bough mcp`: mcp_clients.mjs BOUGH.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const bough = process.argv[2];
const store = mkdtempSync(path.join(tmpdir(), 'bough-'));
const run = (...words) => execFileSync(bough, [...words, '--store', store], { encoding: 'utf8' }).trim();

async function drive(client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === 'search_sessions'));
  const found = await client.callTool({ name: 'search_sessions', arguments: { query: 'oaks' } });
  assert.equal(JSON.parse(found.content[0].text).hits.length, 1);
  const missing = await client.callTool({ name: 'read_session', arguments: { session: 'nobody' } });
  assert.equal(missing.isError, true);
  const { resources } = await client.listResources();
  const { contents } = await client.readResource({ uri: resources[0].uri });
  assert.equal(JSON.parse(contents[0].text).entries[0].text, 'Where do oaks grow?');
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
  await client.close();
}

const identity = { name: 'test', version: '1' };
const server = { command: bough, args: ['mcp', '--store', store] };
try {
  const session = run('new', '--title', 'Trees');
  run('append', session, '--role', 'user', '--text', 'Where do oaks grow?');
  await drive(new OldClient(identity), new OldTransport(server));
  await drive(new NewClient(identity, { versionNegotiation: { mode: 'auto' } }), new NewTransport(server));
  await drive(new NewClient(identity, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), new NewTransport(server));
  console.log('3 passed, 0 failed');
} finally {
  rmSync(store, { recursive: true });
}
