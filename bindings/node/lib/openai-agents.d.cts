import type { AgentInputItem, Session, SessionHistoryRewriteArgs, SessionHistoryTransactionArgs } from '@openai/agents-core';
import type { Store, StoreOptions } from './index.cjs';

/** A session of the OpenAI Agents SDK: atomic and idempotent. Items that were popped or replaced are not lost. */
export class BoughSession implements Session {
  constructor(options: { store: Store; sessionId: string });
  static open(location: string | undefined, options: StoreOptions & { sessionId: string }): Promise<BoughSession>;
  close(): Promise<void>;
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<AgentInputItem[]>;
  addItems(items: AgentInputItem[]): Promise<void>;
  popItem(): Promise<AgentInputItem | undefined>;
  clearSession(): Promise<void>;
  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void>;
  applyHistoryMutations(args: SessionHistoryRewriteArgs): Promise<void>;
  applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void>;
}
