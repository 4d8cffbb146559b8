// A first session: append, read, branch. Run after bindings/node/build, npm pack, and npm install of the tarball.
import { Store, assistantText, userText } from 'bough';

const store = await Store.open('memory:');
const session = await store.create({ title: 'Trees' });
const { lastId } = await session.append(userText('Name a tree.'));
await session.append(assistantText('Oak.'));
await session.moveHead(lastId); // go back and take another way
await session.append(assistantText('Beech.'));
for (const entry of await session.history()) console.log(entry.payload.message.role, '-', entry.payload.message.content);
console.log((await session.branches()).length, 'branches');
await store.close();
