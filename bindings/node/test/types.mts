// Uses the types of the package as a strict TypeScript program does. Compiled, not run.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { Session as AgentsSession, SessionHistoryTransactionAwareSession } from '@openai/agents-core';
import type { UIMessage } from 'ai';
import bough, { BoughError, Store, assistantText, message, userText, type Entry, type Session } from 'bough';
import { BoughChat } from 'bough/ai';
import { BoughSessionStore } from 'bough/claude';
import { BoughSaver } from 'bough/langgraph';
import { BoughSession } from 'bough/openai-agents';

export async function walk(location: string): Promise<string[]> {
  const store: Store = await Store.open(location);
  const session: Session = await store.create({ title: 'First' });
  const { lastId, appended } = await session.append([userText('Hello'), assistantText('Hi'), message('anthropic', '{}')], { expectedTail: '' });
  const entries: Entry[] = await session.load({ branch: lastId, last: appended });
  for await (const entry of session) entries.push(entry);
  await session.append(entries); // stored entries, unchanged
  try {
    await session.moveHead(null);
  } catch (error) {
    if (error instanceof BoughError && error.code === 'not_found') throw error;
  }
  await store.close();
  return entries.map((entry) => entry.id);
}

export async function disposed(location: string): Promise<string | null> {
  await using store = await Store.open(location, { attachmentBytes: 1000 });
  using session = await store.create();
  const report = await session.erase(['a'], { by: 'me', reason: 'a key' });
  const tree = await session.tree();
  return report.unreached[0] ?? tree.entries[0].parentId;
}

export async function adapters(store: Store, messages: UIMessage[]): Promise<void> {
  const saver: BaseCheckpointSaver = await BoughSaver.open('sessions');
  const agents: AgentsSession & SessionHistoryTransactionAwareSession = new BoughSession({ store, sessionId: 's' });
  const claude: BoughSessionStore = new BoughSessionStore(store);
  const chat = new BoughChat({ store, chatId: 'c' });
  await saver.deleteThread('t');
  await agents.addItems(await agents.getItems(3));
  await claude.append({ projectKey: 'p', sessionId: 's' }, [{ type: 'user' }]);
  await chat.save(messages);
  const loaded: UIMessage[] = await chat.load();
  if (loaded.length > 0) (await chat.resume('stream'))?.cancel();
}

export const libraryVersion: string = bough.version;
