// The types for CommonJS. Compiled, not run.
import bough = require('bough');
export async function walk(): Promise<string> {
  const store = await bough.Store.open('memory:');
  return (await store.create()).id;
}
