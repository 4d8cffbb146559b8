// Does a step twenty times for each line that it reads, and prints the median seconds: worker.mjs STORE. The steps:
// append, load, and both without a promise.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const { Store } = createRequire(import.meta.url)('../../bindings/node');
const store = await Store.open(process.argv[2]);
const session = await store.create();
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const payload = (await lines.next()).value;

function check(entries) {
  if (entries.length !== 200) throw new Error('fewer than 200 entries were loaded');
}

const steps = {
  append: () => session.append({ payload }),
  appendSync: () => void session.appendSync({ payload }),
  load: async () => check(await session.load({ last: 200 })),
  loadSync: () => check(session.loadSync({ last: 200 })),
};
for await (const line of lines) {
  const times = [];
  for (let i = 0; i < 20; ++i) {
    const begin = process.hrtime.bigint();
    const done = steps[line]();
    if (done) await done;
    times.push(Number(process.hrtime.bigint() - begin) / 1e9);
  }
  console.log(times.sort((a, b) => a - b)[10]);
}
await store.close();
