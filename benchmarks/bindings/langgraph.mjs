// Stores a LangGraph thread of 100 turns with bough and with the official SQLite saver, with the same durability.
// Prints the bytes of the first ten and of the last ten turns, and the median time of a put: langgraph.mjs FOLDER
// MODULES.
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, modules] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(createRequire(path.join(modules, 'x')).resolve(name)));
const { SqliteSaver } = await load('@langchain/langgraph-checkpoint-sqlite');
const { Store } = await load('bough');
const { BoughSaver } = await load('bough/langgraph');

const TURNS = 100;
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function measure(saver, bytesOf) {
  const messages = [];
  const times = [];
  const sizes = [await bytesOf()];
  let config = { configurable: { thread_id: 't', checkpoint_ns: '' } };
  for (let turn = 0; turn < TURNS; ++turn) {
    messages.push({ role: 'user', content: `question ${turn} `.repeat(20) }, { role: 'assistant', content: `answer ${turn} `.repeat(40) });
    const checkpoint = {
      v: 4, id: String(turn).padStart(6, '0'), ts: new Date(0).toISOString(), channel_values: { messages: [...messages] },
      channel_versions: { messages: turn + 1 }, versions_seen: {},
    };
    const begin = process.hrtime.bigint();
    config = await saver.put(config, checkpoint, { source: 'loop', step: turn, parents: {} }, { messages: turn + 1 });
    times.push(Number(process.hrtime.bigint() - begin) / 1e9);
    sizes.push(await bytesOf());
  }
  return { first: sizes[10] - sizes[0], last: sizes[TURNS] - sizes[TURNS - 10], seconds: median(times) };
}

const store = await Store.open(path.join(folder, 'bough'));
const saver = new BoughSaver(store);
const ours = await measure(saver, async () => {
  const session = await store.session('langgraph-t').catch(() => undefined);
  const bytes = session ? (await session.state()).bytes : 0;
  session?.close();
  return bytes;
});
await store.close();

const file = path.join(folder, 'official.db');
const official = SqliteSaver.fromConnString(file);
official.setup();
official.db.pragma('synchronous = FULL'); // as durable as bough
const theirs = await measure(official, () => {
  official.db.pragma('wal_checkpoint(TRUNCATE)');
  return statSync(file).size;
});
console.log(ours.first, ours.last, ours.seconds, theirs.first, theirs.last, theirs.seconds);
