import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry, foldSessionSummary } from '@anthropic-ai/claude-agent-sdk' with { 'resolution-mode': 'import' };
import type { Store, StoreOptions } from './index.cjs';

/** A SessionStore for the Claude Agent SDK. */
export class BoughSessionStore implements SessionStore {
  constructor(store: Store, options?: { foldSessionSummary?: typeof foldSessionSummary });
  static open(location?: string, options?: StoreOptions & { foldSessionSummary?: typeof foldSessionSummary }): Promise<BoughSessionStore>;
  close(): Promise<void>;
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>>;
  listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]>;
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
  delete(key: SessionKey): Promise<void>;
}
