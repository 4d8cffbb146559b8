// Does one step for each line it reads, and prints the seconds that it took: worker.mjs STORE. The steps: append, load, and both without a promise.
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
  appendSync: () => session.appendSync({ payload }),
  load: async () => check(await session.load({ last: 200 })),
  loadSync: () => check(session.loadSync({ last: 200 })),
};
for await (const line of lines) {
  const begin = process.hrtime.bigint();
  await steps[line]();
  console.log(Number(process.hrtime.bigint() - begin) / 1e9);
}
await store.close();
