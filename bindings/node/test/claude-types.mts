// Checks the types of bough/claude against those of the real SDK. Compiled, not run.
import { foldSessionSummary, query, type SessionStore } from '@anthropic-ai/claude-agent-sdk';
import { BoughSessionStore } from 'bough/claude';

export async function resume(location: string): Promise<void> {
  const store: BoughSessionStore = await BoughSessionStore.open(location, { foldSessionSummary });
  const sessionStore: SessionStore = store;
  for await (const each of query({ prompt: 'hello', options: { sessionStore, resume: 's' } })) if (each.type === 'result') break;
  await store.close();
}
