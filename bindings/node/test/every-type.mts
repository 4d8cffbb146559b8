// Uses every type of the package by its name, and checks what strict TypeScript refuses. Compiled, not run.
import * as bough from 'bough';
import type {
  AppendOptions, Appended, Branch, Context, ContextOptions, Dialect, Durability, Entry, ErasureReport, ListQuery, LoadOptions, NewEntry, NewSession,
  Report, SearchHit, SessionQuery, SessionState, SessionSummary, StoreOptions, TornReport, Tree, UnfinishedCall, UsageRow, VerifyReport,
} from 'bough';

const durability: Durability = 'buffered';
const dialect: Dialect = 'gemini';
const options: Required<StoreOptions> = { durability, create: true, bufferedEntries: 1, bufferedMs: 2, attachmentBytes: 3, lockTimeoutMs: 4 };
const made: Required<NewSession> = { id: 'a', key: 'a:b:c', cwd: '/', title: 't' };
const entry: Required<NewEntry> = { payload: { a: 1 }, id: 'x', parentId: null, type: 'custom', timestamp: '', runId: null, meta: Buffer.from('{}') };
const append: Required<AppendOptions> = { turn: 1, expectedTail: 'x', durability };
const load: Required<LoadOptions> = { from: 1, limit: 2, limitBytes: 3, last: 4, branch: 'b', type: 't', showRedacted: true };
const context: Required<ContextOptions> = { dialect, at: 'x', budgetTokens: 1, keepPendingCalls: true, strict: true, systemPrompt: 's', tools: [{ name: 'x' }], thinkingAsText: true };
const query: Required<SessionQuery> = { agent: 'a', key: 'k', cwd: '/', title: 't', sinceMs: 1, untilMs: 2, limit: 3, skip: 4 };

export async function everyCall(): Promise<unknown[]> {
  const store = bough.Store.openSync('memory:', options);
  const session = store.createSync(made);
  const first: Appended = session.appendSync(entry, append);
  const second: Appended = await session.append([bough.message('plain', {}), { payload: '{}' }]);
  const loaded: Entry[] = [...session.loadSync(load), ...(await session.history()), await session.entry(first.lastId)];
  for await (const each of session.entries({ position: second.lastId, count: 3 })) loaded.push(each);
  for await (const { payloadJson, parentId } of session.follow({ signal: AbortSignal.timeout(1) })) return [payloadJson.length, parentId?.length];
  const state: SessionState = await session.state();
  const given: Context = await session.context(context);
  const { session: migrated, report }: { session: bough.Session; report: Report } = await session.migrateProvider(dialect);
  const tree: Tree = await migrated.tree();
  const branches: Branch[] = await session.branches();
  const calls: UnfinishedCall[] = await session.unfinishedCalls();
  const verified: VerifyReport = await session.verify();
  const torn: TornReport = await session.torn();
  const erased: ErasureReport = await session.erase(['x'], { by: 'me', reason: 'a key' });
  const turn: number = await session.leaseTurn(1000);
  await session.renewTurn(turn, 0);
  const page: SessionSummary[] = await store.list(query);
  const next: ListQuery = { ...query, after: page[0] };
  const hits: SearchHit[] = await store.search('x', { ...query, roles: ['user'], session: state.sessionId });
  const rows: UsageRow[] = (await store.usage({ by: 'day' })).rows;
  const converted: { document: string; wayBack: string; report: Report } = await bough.convert('[]', 'anthropic', dialect);
  return [given, report, tree, branches, calls, verified, torn, erased, await store.list(next), hits, rows, converted, bough.version];
}

export async function refused(store: bough.Store, session: bough.Session): Promise<void> {
  // @ts-expect-error: only the store makes sessions
  new bough.Session();
  // @ts-expect-error: Store.open opens one
  new bough.Store();
  // @ts-expect-error: entries are loaded
  new bough.Entry();
  // @ts-expect-error: no payload
  await session.append({});
  // @ts-expect-error: mistyped
  await session.append(entry, { expectedTial: 'x' });
  // @ts-expect-error: not an object
  await session.load(20);
  // @ts-expect-error: null moves the head before the first entry
  await session.moveHead(undefined);
  // @ts-expect-error: no such dialect
  await session.context({ dialect: 'klingon' });
  // @ts-expect-error: who and why
  await session.redact('x');
  // @ts-expect-error: a list of ids
  await session.erase('x', { by: 'me', reason: 'a key' });
  // @ts-expect-error: not words
  await store.search(5);
}
