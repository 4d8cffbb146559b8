// Types of bough for Node. See docs in the functions' comments of lib/index.cjs and in the project's docs folder.
export type Durability = 'sync' | 'buffered';
export type Dialect = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini' | 'bough';
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export class BoughError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly retryable: boolean;
  /** With "conflict": the real tail. */
  readonly tail: string;
  readonly batchPlace: number;
}

export interface NewEntry {
  /** Left out: the store makes one. With an id of your own an append can be repeated safely. */
  id?: string;
  /** Left out: the head. null: a root. */
  parentId?: string | null;
  /** "message" when left out. */
  type?: string;
  timestamp?: string;
  runId?: string;
  /** An object, or JSON text, which is stored byte for byte. */
  payload: object | string | Buffer;
  meta?: object | string | Buffer | null;
}

export class Entry {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly timestamp: string;
  readonly runId: string | null;
  readonly payloadJson: string;
  readonly payload: any;
  readonly meta: any;
  readonly redacted: boolean;
  toJSON(): object;
}

export interface Appended {
  lastId: string;
  appended: number;
  duplicates: number;
}
export interface AppendOptions {
  /** The append is refused with the code "conflict" unless this is the tail. */
  expectedTail?: string;
  durability?: Durability;
}
export interface LoadOptions {
  from?: number;
  limit?: number;
  last?: number;
  branch?: string;
  type?: string;
  showRedacted?: boolean;
}
export interface NewSession {
  id?: string;
  key?: string;
  cwd?: string;
  title?: string;
}
export interface SessionState {
  sessionId: string;
  entryCount: number;
  tailId: string;
  headId: string;
  origin: { sessionId: string; entryId: string } | null;
  archived: boolean;
  bytes: number;
  problemCount: number;
}
export interface ContextOptions {
  dialect?: Dialect;
  at?: string;
  budgetTokens?: number;
  keepPendingCalls?: boolean;
  strict?: boolean;
  systemPrompt?: string;
  tools?: Json[];
}
export interface SessionQuery {
  agent?: string;
  key?: string;
  cwd?: string;
  title?: string;
  sinceMs?: number;
  untilMs?: number;
  limit?: number;
  skip?: number;
}

export class Session implements AsyncIterable<Entry> {
  readonly id: string;
  append(entries: NewEntry | NewEntry[], options?: AppendOptions): Promise<Appended>;
  appendSync(entries: NewEntry | NewEntry[], options?: AppendOptions): Appended;
  load(options?: LoadOptions): Promise<Entry[]>;
  loadSync(options?: LoadOptions): Entry[];
  entry(id: string): Promise<Entry>;
  history(id?: string): Promise<Entry[]>;
  entries(options?: { position?: string; count?: number }): AsyncGenerator<Entry>;
  follow(options?: { position?: string; signal?: AbortSignal }): AsyncGenerator<Entry>;
  state(): Promise<SessionState>;
  moveHead(entryId: string | null): Promise<void>;
  setTitle(title: string): Promise<void>;
  label(entryId: string, name: string): Promise<void>;
  unlabel(name: string): Promise<void>;
  labels(): Promise<{ name: string; entryId: string; timestamp: string; sessionId: string }[]>;
  redact(entryId: string, options: { by: string; reason: string }): Promise<void>;
  fork(entryId: string, options?: NewSession): Promise<Session>;
  tree(): Promise<any>;
  branches(): Promise<any[]>;
  diff(left?: string, right?: string, other?: Session): Promise<{ common: string[]; sameEntries: number; left: string[]; right: string[] }>;
  context(options?: ContextOptions): Promise<any>;
  unfinishedCalls(): Promise<any[]>;
  verify(): Promise<any>;
  repair(): Promise<any>;
  migrate(): Promise<any>;
  archive(): Promise<any>;
  close(): void;
  [Symbol.asyncIterator](): AsyncGenerator<Entry>;
}

export interface StoreOptions {
  durability?: Durability;
  create?: boolean;
  bufferedEntries?: number;
  bufferedMs?: number;
  lockTimeoutMs?: number;
}

export class Store {
  static open(location?: string, options?: StoreOptions): Promise<Store>;
  static openSync(location?: string, options?: StoreOptions): Store;
  create(options?: NewSession): Promise<Session>;
  createSync(options?: NewSession): Session;
  session(id: string): Promise<Session>;
  sessionIds(): Promise<string[]>;
  list(query?: SessionQuery): Promise<any[]>;
  search(words: string, query?: SessionQuery & { session?: string; roles?: string[] }): Promise<any[]>;
  usage(query?: { by?: string; sinceMs?: number; untilMs?: number; session?: string }): Promise<any>;
  putAttachment(bytes: Uint8Array): Promise<string>;
  attachment(sha256: string): Promise<Buffer>;
  trash(sessionId: string): Promise<string>;
  trashed(): Promise<any[]>;
  restore(trashId: string): Promise<void>;
  removeTrashed(trashId: string): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function userText(text: string, options?: Partial<NewEntry>): NewEntry;
export function assistantText(text: string, options?: Partial<NewEntry>): NewEntry;
export function message(dialect: Dialect, raw: object | string, options?: Partial<NewEntry>): NewEntry;
export function convert(document: string, from: Dialect, to: Dialect, wayBack?: string): Promise<{ document: string; wayBack: string; report: any }>;
export const version: string;
