// Usage totals: bough's equal those of ccusage, and both count an answer that a fork copied once.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const kSession = '7d3c1a52-0b57-4c39-9f0e-2a64f1d0c8e1';
const kHour = '9d3c1a52-0b57-4c39-9f0e-2a64f1d0c8e3';
const kFork = '8d3c1a52-0b57-4c39-9f0e-2a64f1d0c8e2';

/// Returns the number of failed checks.
export async function checkUsage(fixtures, modules, bough, run) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'bough-interop-usage-'));
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', BOUGH_STORE: path.join(home, 'store'), CLAUDE_CONFIG_DIR: path.join(home, '.claude') };
  const folder = path.join(home, '.claude/projects/-home-ada-bridge');
  fs.mkdirSync(folder, { recursive: true });
  let failures = 0;
  const compare = async (name) => {
    const theirs = await run([path.join(modules, '.bin/ccusage'), 'claude', 'session', '--json', '--offline'], { env });
    const ours = await run([bough, 'usage', '--agents', 'claude-code', '--json'], { env });
    const total = JSON.parse(ours.output).total;
    const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, totalCost } = JSON.parse(theirs.output).totals;
    const expected = JSON.stringify([inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens, totalCost.toFixed(6)]);
    const actual = JSON.stringify([total.inputTokens, total.outputTokens, total.cacheReadTokens, total.cacheWriteTokens, total.costUsd.toFixed(6)]);
    const right = expected === actual && inputTokens > 0;
    console.log(right ? `ok ${name}` : `FAILED ${name}: ccusage says ${expected}, bough ${actual}`);
    failures += right ? 0 : 1;
  };
  const text = fs.readFileSync(path.join(fixtures, 'claude-code/blocks.jsonl'), 'utf8');
  fs.writeFileSync(path.join(folder, `${kSession}.jsonl`), text);
  await compare('usage of a session');
  fs.writeFileSync(path.join(folder, `${kFork}.jsonl`), text.replaceAll(kSession, kFork));
  await compare('usage of a session and its fork');
  const hour = text.replaceAll(kSession, kHour).replaceAll('"id":"msg_', '"id":"msg_hour_').replaceAll(/"cache_creation_input_tokens":\d+/g, '"cache_creation_input_tokens":900,"cache_creation":{"ephemeral_5m_input_tokens":200,"ephemeral_1h_input_tokens":700}');
  fs.writeFileSync(path.join(folder, `${kHour}.jsonl`), hour);
  await compare('usage of a session whose cache is kept for an hour');
  fs.rmSync(home, { recursive: true, force: true });
  return failures;
}
