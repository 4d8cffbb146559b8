/// <reference lib="esnext.disposable" />
// Types of bough for Node. The comments in lib/index.cjs and the project's docs folder describe the functions.
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
  /** Left out: the store generates an id. With an id of your own an append can be repeated safely. */
  id?: string;
  /** Left out: the head. null: a root. */
  parentId?: string | null;
  /** "message" when left out. */
  type?: string;
  timestamp?: string;
  runId?: string | null;
  /** An object, or JSON text, which is stored byte for byte. */
  payload: object | string | Buffer;
  meta?: object | string | Buffer | null;
}

export class Entry {
  private constructor();
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
  /** Refuse the append with the code "conflict" unless this is the tail. */
  expectedTail?: string;
  /** From beginTurn() or leaseTurn(): refuse the append with the code "conflict" when a later turn has begun. */
  turn?: number;
  durability?: Durability;
}
export interface LoadOptions {
  from?: number;
  limit?: number;
  /** Stop after the entry that brings the payloads to this size. */
  limitBytes?: number;
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
  /** Write readable reasoning of other providers as text. */
  thinkingAsText?: boolean;
}
/** What a conversion kept, changed or left out. */
export interface Report {
  compatible: boolean;
  [member: string]: any;
}
export interface Context {
  dialect: Dialect;
  headId: string;
  model: string;
  system: any;
  tools: any[] | null;
  messages: any[];
  tokens: number;
  turnsLeftOut: number;
  report: Report;
}
export interface Tree {
  headId: string | null;
  entries: { entryId: string; parentId: string | null; role: string; timestamp: string; text: string; labels: string[] }[];
}
export interface Branch {
  leafId: string;
  firstOwnId: string;
  length: number;
  timestamp: string;
  role: string;
  lastMessage: string;
  labels: string[];
  isHead: boolean;
}
export interface UnfinishedCall {
  entryId: string;
  toolCallId: string;
  name: string;
  input: any;
  started: boolean;
}
export interface VerifyReport {
  entries: number;
  bytes: number;
  problemCount: number;
  noteCount: number;
  problems: { kind: string; offset: number; bytes: number; message: string }[];
}
export interface TornReport {
  fileBytes: number;
  records: { offset: number; bytes: number; timestamp: string; entries: { entryId: string; type: string }[]; unreadableBytes: number }[];
}
export interface ErasureReport {
  timestamp: string;
  entries: { entryId: string; receiptId: string; sha256: string; bytes: number }[];
  rewritten: string[];
  removedAttachments: number;
  keptAttachments: string[];
  /** Files that hold a payload and could not be rewritten. */
  unreached: string[];
}
export interface SessionSummary {
  sessionId: string;
  key: string;
  cwd: string;
  title: string;
  createdMs: number;
  activeMs: number;
  entries: number;
  userMessages: number;
  assistantMessages: number;
  branches: number;
  condition: string;
  inputTokens: number;
  outputTokens: number;
}
export interface SearchHit {
  sessionId: string;
  title: string;
  entryId: string;
  role: string;
  timestampMs: number;
  excerpt: string;
}
export interface UsageRow {
  name: string;
  messages: number;
  /** Messages without recorded usage; the sums lack them. */
  withoutUsage: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costUsd: number;
  costKnown: boolean;
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
export interface ListQuery extends SessionQuery {
  /**
   * The last session of the previous page. Sessions that are added or removed meanwhile neither hide nor repeat a row.
   */
  after?: Pick<SessionSummary, 'activeMs' | 'sessionId'>;
}

export class Session implements AsyncIterable<Entry> {
  private constructor();
  readonly id: string;
  append(entries: NewEntry | NewEntry[], options?: AppendOptions): Promise<Appended>;
  appendSync(entries: NewEntry | NewEntry[], options?: AppendOptions): Appended;
  beginTurn(): Promise<number>;
  /**
   * Begins a turn that holds the session for `leaseMs` (1 to 3,600,000). Rejects with "busy" at once while the lease of
   * another turn is running.
   */
  leaseTurn(leaseMs: number): Promise<number>;
  /**
   * Makes the lease of a turn end `leaseMs` from now; 0 ends it. Rejects with "conflict" when a later turn has begun.
   */
  renewTurn(turn: number, leaseMs: number): Promise<void>;
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
  tree(): Promise<Tree>;
  branches(): Promise<Branch[]>;
  diff(left?: string, right?: string, other?: Session): Promise<{ common: string[]; sameEntries: number; left: string[]; right: string[] }>;
  context(options?: ContextOptions): Promise<Context>;
  unfinishedCalls(): Promise<UnfinishedCall[]>;
  migrateProvider(dialect: Dialect): Promise<{ session: Session; report: Report }>;
  verify(): Promise<VerifyReport>;
  repair(): Promise<{ tornBytes: number; damagedLines: number; indexRebuilt: boolean }>;
  migrate(): Promise<{ fromFormat: number; toFormat: number; entries: number; keptAs: string }>;
  archive(): Promise<{ bytesBefore: number; bytesAfter: number }>;
  forks(): Promise<string[]>;
  detach(options?: { rest?: boolean }): Promise<void>;
  torn(): Promise<TornReport>;
  putBackTorn(): Promise<{ appendedCount: number; storedCount: number; movedCount: number; keptBytes: number }>;
  dropTorn(fileBytes: number): Promise<void>;
  erase(entryIds: string[], options: { by: string; reason: string }): Promise<ErasureReport>;
  close(): void;
  [Symbol.asyncIterator](): AsyncGenerator<Entry>;
  [Symbol.dispose](): void;
}

export interface StoreOptions {
  durability?: Durability;
  create?: boolean;
  bufferedEntries?: number;
  bufferedMs?: number;
  /** Larger payloads are stored as attachments. */
  attachmentBytes?: number;
  lockTimeoutMs?: number;
}

export class Store {
  private constructor();
  static open(location?: string, options?: StoreOptions): Promise<Store>;
  static openSync(location?: string, options?: StoreOptions): Store;
  create(options?: NewSession): Promise<Session>;
  createSync(options?: NewSession): Session;
  session(id: string): Promise<Session>;
  sessionIds(): Promise<string[]>;
  list(query?: ListQuery): Promise<SessionSummary[]>;
  search(words: string, query?: SessionQuery & { session?: string; roles?: string[] }): Promise<SearchHit[]>;
  usage(query?: { by?: string; sinceMs?: number; untilMs?: number; session?: string }): Promise<{ rows: UsageRow[]; total: UsageRow; outOfDate?: string }>;
  putAttachment(bytes: Uint8Array | ArrayBuffer | string): Promise<string>;
  attachment(sha256: string): Promise<Buffer>;
  unusedAttachments(): Promise<string[]>;
  removeAttachments(unused: string[]): Promise<number>;
  trash(sessionId: string): Promise<string>;
  trashed(): Promise<{ trashId: string; sessionId: string; removedMs: number; bytes: number }[]>;
  restore(trashId: string): Promise<void>;
  removeTrashed(trashId: string): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function userText(text: string, options?: Partial<NewEntry>): NewEntry;
export function assistantText(text: string, options?: Partial<NewEntry>): NewEntry;
export function message(dialect: Dialect | 'plain', raw: object | string, options?: Partial<NewEntry>): NewEntry;
export function convert(document: string, from: Dialect, to: Dialect, wayBack?: string): Promise<{ document: string; wayBack: string; report: Report }>;
export const version: string;
