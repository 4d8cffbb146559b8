// Does one step for each line it reads, and prints the seconds that it took: worker.mjs STORE. The steps: append, appendSync, load.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const { Store } = createRequire(import.meta.url)('../../bindings/node');
const store = await Store.open(process.argv[2]);
const session = await store.create();
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const payload = (await lines.next()).value;

const steps = {
  append: () => session.append({ payload }),
  appendSync: () => session.appendSync({ payload }),
  load: async () => {
    if ((await session.load({ last: 200 })).length !== 200) throw new Error('fewer than 200 entries were loaded');
  },
};
for await (const line of lines) {
  const begin = process.hrtime.bigint();
  await steps[line]();
  console.log(Number(process.hrtime.bigint() - begin) / 1e9);
}
await store.close();
