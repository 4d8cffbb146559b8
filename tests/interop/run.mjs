// Exports each fixture to each agent that is installed. The agent resumes it, and the history that it sends to its model
// must be the expected one.
//   node run.mjs NODE_MODULES BOUGH [WORD…]
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainHistory } from './lib/history.mjs';
import { startModel } from './lib/model.mjs';
import { kPrograms } from './lib/programs.mjs';
import { checkUsage } from './lib/usage.mjs';
import { kCases } from './cases.mjs';

const kPrompt = 'PROMPT-OF-THE-TEST';
// The folders of the sessions in the fixtures, which are replaced by a temporary one.
const kFolders = ['/home/ada/bridge', '/home/ada/bridge2', '/home/dev/projects/demo'];
const kTimeoutMs = 300_000;  // only stops an agent that hangs
const here = path.dirname(fileURLToPath(import.meta.url));
const [modules, command, ...words] = process.argv.slice(2);
const bough = path.resolve(command);

function run(command, options) {
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    let answer = '';  // without stderr, which may come earlier or later
    child.stdout.on('data', (data) => {
      output += data;
      answer += data;
    });
    child.stderr.on('data', (data) => (output += data));
    const timer = setTimeout(() => child.kill('SIGKILL'), kTimeoutMs);
    child.on('error', (error) => (output += error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output, answer });
    });
  });
}

/// Writes a fixture where the agent looks for it, and lets the agent resume it. Returns the history that the agent
/// sent.
async function resumed(test, target) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), `bough-interop-${target}-`));
  const model = await startModel(kPrompt);
  try {
    const program = kPrograms[target];
    const cwd = path.join(home, 'bridge_one.x');
    fs.mkdirSync(cwd);
    const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', BOUGH_STORE: path.join(home, 'store'), ...program.environment(home, model.url) };
    const source = path.join(here, '../transcript/fixtures', test.file);
    const written = await run([bough, 'resume', source, '--in', target, ...kFolders.flatMap((old) => ['--cwd-map', `${old}=${cwd}`]), '--json'], { env, cwd });
    if (written.code !== 0) return { problem: `bough resume failed: ${written.output}` };
    const { agentSessionId, file } = JSON.parse(written.answer);
    const session = { id: agentSessionId, path: file };
    program.prepare(home, model.url);
    const done = await run(program.command(program.program(modules), session, kPrompt), { env, cwd });
    if (!model.history) return { problem: `the program did not ask its model: ${done.output.slice(-1500)}` };
    const lost = await wayBack(source, test.file.split('/')[0], target, session.path, path.join(home, 'back.jsonl'), { env, cwd });
    if (lost) return { problem: lost };
    return { history: plainHistory(model.history, kPrompt, test.thoughts) };
  } finally {
    model.stop();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

/// Converts the file that the agent continued back to the first agent's format: it must have every line of the first
/// file, and the new lines. The continued branch is written last, so lines of other branches may come before it.
/// Returns the problem, or an empty string.
async function wayBack(source, agent, target, file, out, options) {
  const original = fs.readFileSync(source);
  // For a session that continues another file, the way back gives the whole session. An agent's own lines have the new
  // folder.
  if (original.includes('"history_base"') || agent === target) return '';
  // Gemini CLI rewrites all messages when it resumes, which is another branch; these formats have only one branch.
  if (target === 'gemini-cli' && ['codex', 'claw0'].includes(agent)) return '';
  const done = await run([bough, 'export', file, '--to', agent, '--out', out], options);
  if (done.code !== 0) return `the way back failed: ${done.output}`;
  const back = fs.readFileSync(out, 'latin1').split('\n');
  const lost = original.toString('latin1').split('\n').find((line) => isRecord(line) && !back.includes(line));
  if (lost) return `the way back lacks a line of the fixture: ${lost.slice(0, 200)}`;
  return back.some((line) => line.includes(kPrompt)) ? '' : 'the way back lacks what the program added';
}

/// Damaged lines are repaired on the way back.
function isRecord(line) {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

/// Describes the first difference between two histories; empty when they are equal.
function difference(expected, actual) {
  const say = (line) => (line === undefined ? 'nothing' : JSON.stringify(line));
  for (let i = 0; i < Math.max(expected.length, actual.length); ++i) {
    if (say(expected[i]) !== say(actual[i])) return `line ${i}: expected ${say(expected[i])}, sent ${say(actual[i])}`;
  }
  return '';
}

const tests = [];
for (const test of kCases) {
  for (const target of test.targets ?? Object.keys(kPrograms)) tests.push({ name: `${test.file} in ${target}`, test, target });
}
// With INTEROP_SHOW=1, the histories are printed instead of compared.
const chosen = tests.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
let failures = 0;
async function work() {
  for (let next = chosen.shift(); next; next = chosen.shift()) {
    const { problem, history } = await resumed(next.test, next.target);
    if (process.env.INTEROP_SHOW && history) console.log(next.name, JSON.stringify(history, null, 1));
    const wrong = problem ?? difference(next.test.historyIn?.[next.target] ?? next.test.history, history);
    if (wrong) {
      ++failures;
      console.log(`FAILED ${next.name}: ${wrong}`);
    } else {
      console.log(`ok ${next.name}`);
    }
  }
}
await Promise.all(Array.from({ length: Math.min(4, os.cpus().length) }, work));
if (words.length === 0 || words.includes('usage')) failures += await checkUsage(path.join(here, '../transcript/fixtures'), modules, bough, run);
console.log(failures === 0 ? 'interop: all passed' : `interop: ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
