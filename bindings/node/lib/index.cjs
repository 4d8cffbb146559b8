// bough for Node: stores, sessions, entries. Every call that uses the disk returns a promise and runs off the main
// thread. The calls whose names end in Sync are for scripts and for the shortest way to a durable append.
'use strict';

const native = require('./native.cjs');

// Stores that are still open are closed when their thread ends. process.exit() skips that, so this listener flushes
// them. Entries that later listeners append are synced by each append itself.
let isEnding = false;
process.prependListener('exit', () => {
  isEnding = true;
  native.flushStores();
});

const TEXTS = 8;
const REDACTED = 1;
const DIALECTS = ['anthropic', 'openai-chat', 'openai-responses', 'gemini', 'plain', 'bough'];
const DURABILITY = { sync: 0, buffered: 1 };

/** The error of a call: `code` is the stable name ("not_found", "conflict", …), `hint` says what to do next. */
class BoughError extends Error {
  constructor(from) {
    super(from.message);
    this.name = 'BoughError';
    this.code = from.code;
    this.hint = from.hint ?? '';
    this.retryable = from.retryable ?? false;
    /** With "conflict": the real tail. */
    this.tail = from.tail ?? '';
    this.batchPlace = from.batchPlace ?? 0;
  }
}

const OPERATIONS = new Map(native.operations.map((name, number) => [name, number]));

// Errors of a call have a hint; any other error (a wrong argument) is thrown unchanged.
const failure = (error) => (error.hint === undefined ? error : new BoughError(error));

// Wrong arguments reject the promise, too, so that callers handle errors in one place.
async function run(name, list, entries) {
  try {
    return await native.run(OPERATIONS.get(name), list, entries);
  } catch (error) {
    throw failure(error);
  }
}

function runSync(name, list, entries) {
  try {
    return native.runSync(OPERATIONS.get(name), list, entries);
  } catch (error) {
    throw failure(error);
  }
}

async function runJson(name, list) {
  return JSON.parse(await run(name, list));
}

// Symbols cost less than private members when there are many objects.
const PART = Symbol('part');
const INDEX = Symbol('index');
const ASCII = /^[\0-\x7f]*$/;
const STEP = TEXTS + 1; // numbers per entry in `ends`: the ends of its texts, and its flags

/** A stored entry. Its texts are decoded when they are read. */
class Entry {
  constructor(part, index) {
    this[PART] = part;
    this[INDEX] = index;
  }

  #text(number) {
    const { bytes, ends } = this[PART];
    const at = this[INDEX] * STEP;
    const begin = number > 0 ? ends[at + number - 1] : at > 0 ? ends[at - 2] : 0;
    if (typeof bytes !== 'string') return bytes.toString('utf8', begin, ends[at + number]);
    const text = bytes.slice(begin, ends[at + number]); // one character per byte
    return ASCII.test(text) ? text : Buffer.from(text, 'latin1').toString('utf8');
  }

  get id() {
    return this.#text(0);
  }
  /** null for a root. */
  get parentId() {
    return this.#text(1) || null;
  }
  get type() {
    return this.#text(2);
  }
  get timestamp() {
    return this.#text(3);
  }
  get runId() {
    return this.#text(4) || null;
  }
  /** The payload as it was appended, byte for byte. */
  get payloadJson() {
    return this.#text(5);
  }
  get payload() {
    return JSON.parse(this.#text(5));
  }
  get meta() {
    const text = this.#text(6);
    return text ? JSON.parse(text) : null;
  }
  get redacted() {
    return (this[PART].ends[this[INDEX] * STEP + TEXTS] & REDACTED) !== 0;
  }
  toJSON() {
    const { id, parentId, type, timestamp, runId, payload, meta, redacted } = this;
    return { id, parentId, type, timestamp, runId, payload, meta, redacted };
  }
  // console.log shows this entry only, without the bytes that it shares with other entries.
  [Symbol.for('nodejs.util.inspect.custom')](_, options, inspect) {
    return `Entry ${inspect(this.toJSON(), options)}`;
  }
}

function entriesOf(part) {
  const entries = new Array(part.ends.length / STEP);
  for (let index = 0; index < entries.length; ++index) entries[index] = new Entry(part, index);
  return entries;
}

const isBuffer = (value) => value instanceof ArrayBuffer || value instanceof SharedArrayBuffer;
const isBytes = (value) => ArrayBuffer.isView(value) || isBuffer(value);

// JSON.stringify silently writes these as {}.
const WRITTEN_AS_NOTHING = [Promise, Map, Set, WeakMap, WeakSet, RegExp, Error];

// Returns text or bytes that contain JSON unchanged, and writes any other value as JSON.
function jsonText(value) {
  if (value === undefined || value === null || typeof value === 'string') return value;
  if (isBytes(value)) return isBuffer(value) ? Buffer.from(value) : value;
  for (const kind of WRITTEN_AS_NOTHING) {
    if (value instanceof kind && !value.toJSON) throw new TypeError(`a value of the class ${kind.name} cannot be written as JSON; give an object or JSON text`);
  }
  return JSON.stringify(value);
}

const isAbsent = (value) => value === undefined || value === null;

// Refuses options that are not an object, and unknown names, because they would be ignored silently.
function known(options, names, what = 'option') {
  if (isAbsent(options) || typeof options !== 'object') throw new TypeError('the options are not an object');
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`there is no ${what} "${name}" (${names.join(', ')})`);
  }
  return options;
}

const ENTRY_MEMBERS = ['id', 'parentId', 'type', 'timestamp', 'runId', 'payload', 'meta', 'redacted'];
const APPEND_OPTIONS = ['durability', 'expectedTail', 'turn'];
const LOAD_OPTIONS = ['showRedacted', 'from', 'limit', 'limitBytes', 'last', 'branch', 'type'];
const SESSION_OPTIONS = ['id', 'key', 'cwd', 'title'];
const STORE_OPTIONS = ['durability', 'create', 'bufferedEntries', 'bufferedMs', 'attachmentBytes', 'lockTimeoutMs'];

// Writes options as JSON. Only an object can hold options.
function jsonOptions(value) {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw new TypeError('the options are not an object');
  return JSON.stringify(value);
}

function checkEntry(entry) {
  if (entry === null || typeof entry !== 'object' || entry.payload === undefined) throw new TypeError('an entry is an object with a payload');
  known(entry, ENTRY_MEMBERS, 'member of an entry');
}

// The addon takes true in place of the parent for a root.
const parentOf = (entry) => (entry.parentId === null ? true : entry.parentId);

// Returns eight texts per entry. Missing texts at the end may be left out.
function flattened(entries) {
  const list = [];
  for (const entry of Array.isArray(entries) ? entries : [entries]) {
    checkEntry(entry);
    list.push(
      entry.id,
      parentOf(entry),
      entry.type ?? 'message',
      entry.timestamp,
      entry.runId,
      jsonText(entry.payload),
      jsonText(entry.meta),
      undefined,
    );
  }
  while (list.length > 0 && list.at(-1) === undefined) list.pop();
  return list;
}

function durabilityOf({ durability }) {
  if (durability === undefined || Object.hasOwn(DURABILITY, durability)) return DURABILITY[durability];
  throw new TypeError(`durability is "sync" or "buffered", not ${JSON.stringify(durability)}`);
}

// Returns the options in the order in which the addon takes them.
function listed(options, names) {
  known(options, names);
  return names.map((name) => options[name]);
}

function appendOneSync(handle, entry) {
  checkEntry(entry);
  const { id, payload, type, timestamp, runId, meta } = entry;
  let lastId;
  try {
    lastId = native.appendOneSync(handle, jsonText(payload), type, id, parentOf(entry), timestamp, runId, jsonText(meta));
  } catch (error) {
    throw failure(error);
  }
  if (lastId === undefined) return { lastId: String(id), appended: 0, duplicates: 1 };
  return { lastId, appended: 1, duplicates: 0 };
}

// Closes handles that were garbage-collected without being closed. A handle is never reused, so a handle that was
// closed meanwhile is refused.
const forgotten = new FinalizationRegistry(({ operation, handle }) => {
  try {
    runSync(operation, [handle]);
  } catch {
    // It is already closed.
  }
});
// Call this after the last use of an object, so that the object is not garbage-collected before.
const keep = (object) => object;

function appendList(handle, options) {
  if (isAbsent(options)) return isEnding ? [handle, DURABILITY.sync] : [handle];
  const durability = durabilityOf(known(options, APPEND_OPTIONS));
  return [handle, isEnding ? DURABILITY.sync : durability, options.expectedTail, options.turn];
}
const loadList = (handle, options = {}) => [handle, ...listed(options, LOAD_OPTIONS)];
const newSessionList = (options = {}) => listed(options, SESSION_OPTIONS);

/** One session. Made by Store.create and Store.session. */
class Session {
  #handle;

  constructor(handle) {
    this.#handle = handle;
    this.id = runSync('session_id', [handle]);
    forgotten.register(this, { operation: 'session_close', handle }, this);
  }

  async #held(result) {
    try {
      return await result;
    } finally {
      keep(this);
    }
  }
  #run(name, ...list) {
    return this.#held(run(name, [this.#handle, ...list]));
  }
  #json(name, ...list) {
    return this.#held(runJson(name, [this.#handle, ...list]));
  }

  /**
   * Appends a batch: either all of it is stored, or nothing. Durable when the promise resolves, unless it is buffered.
   */
  async append(entries, options) {
    return this.#held(run('append', appendList(this.#handle, options), flattened(entries)));
  }
  appendSync(entries, options) {
    if (isAbsent(options) && !isEnding && !Array.isArray(entries)) return appendOneSync(this.#handle, entries);
    return runSync('append', appendList(this.#handle, options), flattened(entries));
  }
  /** Begins a turn; appends that carry an earlier turn are refused from now on, from any process or machine. */
  beginTurn() {
    return this.#run('begin_turn');
  }
  /**
   * Begins a turn that holds the session for `leaseMs`; rejects with "busy" at once while the lease of another turn is
   * running.
   */
  leaseTurn(leaseMs) {
    return this.#run('lease_turn', leaseMs);
  }
  /**
   * Makes the lease of a turn end `leaseMs` from now; 0 ends it. Rejects with "conflict" when a later turn has begun.
   */
  renewTurn(turn, leaseMs) {
    return this.#run('renew_turn', turn, leaseMs);
  }
  /** Returns entries in log order, or those of the branch that ends in an entry, root first. */
  async load(options) {
    return entriesOf(await this.#held(run('load', loadList(this.#handle, options))));
  }
  loadSync(options) {
    return entriesOf(runSync('load', loadList(this.#handle, options)));
  }
  async entry(id) {
    return entriesOf(await this.#run('load_entry', id))[0];
  }
  /** Returns the conversation from its root to an entry (by default the head), without control entries. */
  async history(id) {
    return entriesOf(await this.#run('load_history', id));
  }
  state() {
    return this.#json('session_state');
  }
  /** Moves the head, durably; null moves it before the first entry. */
  async moveHead(entryId) {
    if (entryId === undefined) throw new TypeError('the entry is missing; null moves the head before the first entry');
    return this.#run('move_head', entryId);
  }
  setTitle(title) {
    return this.#run('set_title', title);
  }
  label(entryId, name) {
    return this.#run('label_set', entryId, name);
  }
  unlabel(name) {
    return this.#run('label_remove', name);
  }
  async labels() {
    return (await this.#json('label_list')).labels;
  }
  /** Hides an entry's payload from every view; the log keeps the payload. */
  async redact(entryId, options) {
    const { by, reason } = known(options, ['by', 'reason']);
    return this.#run('redact', entryId, by, reason);
  }
  /** Creates a session that continues from an entry and shares its history. */
  async fork(entryId, options) {
    return new Session(await this.#run('fork', entryId, ...newSessionList(options)));
  }
  tree() {
    return this.#json('tree');
  }
  async branches() {
    return (await this.#json('branches')).branches;
  }
  async diff(left, right, other) {
    const second = other ?? this;
    return second.#held(this.#json('diff', left, second.#handle, right));
  }
  /** Builds what a model gets; see docs/context.md. */
  async context(options) {
    return this.#json('context', jsonOptions(options));
  }
  async unfinishedCalls() {
    return (await this.#json('unfinished_calls')).calls;
  }
  verify() {
    return this.#json('verify');
  }
  repair() {
    return this.#json('repair');
  }
  migrate() {
    return this.#json('migrate');
  }
  archive() {
    return this.#json('archive');
  }
  /** Makes a fork whose messages are in another dialect; also returns the report of what was lost. */
  async migrateProvider(dialect) {
    const { handle, text } = await this.#run('migrate_provider', dialect);
    return { session: new Session(handle), report: JSON.parse(text) };
  }
  /** Returns the ids of the sessions that share the history of this one. */
  async forks() {
    return (await this.#json('forks')).sessionIds;
  }
  /**
   * Gives a fork its own copy of the history that it shares; with `rest`, of the part that is left of a lost session.
   */
  async detach(options = {}) {
    const { rest = false } = known(options, ['rest']);
    return this.#run('detach', rest);
  }
  /** Returns the bytes after the last complete batch that a crash or damage left and that were moved aside. */
  torn() {
    return this.#json('torn');
  }
  putBackTorn() {
    return this.#json('torn_put_back');
  }
  /** Deletes what was moved aside, if its size is still `fileBytes` of torn(). */
  dropTorn(fileBytes) {
    return this.#run('torn_drop', fileBytes);
  }
  /** Removes payloads forever, from every file of the store; a receipt replaces each payload. */
  async erase(entryIds, options) {
    const { by, reason } = known(options, ['by', 'reason']);
    return this.#json('erase', JSON.stringify({ entryIds, by, reason }));
  }

  /** Yields all entries, read in parts. Breaking out of the loop ends the reading. */
  async *entries(options = {}) {
    const { position, count = 256 } = known(options, ['position', 'count']);
    const handle = await this.#run('cursor_open', position);
    const loop = {}; // lives as long as the iterator
    forgotten.register(loop, { operation: 'cursor_close', handle }, loop);
    try {
      for (;;) {
        const part = entriesOf(await run('cursor_next', [handle, count]));
        if (part.length === 0) return;
        yield* part;
      }
    } finally {
      forgotten.unregister(loop);
      runSync('cursor_close', [handle]);
    }
  }
  [Symbol.asyncIterator]() {
    return this.entries();
  }

  /**
   * Yields entries as they are appended, by any process, after a position or from the beginning. Ends with `signal` or
   * a break.
   */
  follow(options = {}) {
    const { position, signal } = known(options, ['position', 'signal']);
    const end = { stopped: false, wake() {} };
    const entries = this.#follow(position, signal, end);
    // Without this, return() and throw() of the generator would wait for the entry that a pending next() waits for.
    for (const name of ['return', 'throw']) {
      const finish = entries[name].bind(entries);
      entries[name] = (value) => {
        end.stopped = true;
        end.wake();
        return finish(value);
      };
    }
    return entries;
  }
  async *#follow(position, signal, end) {
    const onAbort = () => {
      end.stopped = true;
      end.wake();
    };
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) end.stopped = true;
    let following;
    try {
      if (end.stopped) return;
      let part = [];
      let failed;
      following = native.followStart(await this.#run('follower_open', position), (packed, code) => {
        if (packed) part = entriesOf(packed);
        else failed = code;
        end.wake();
      });
      while (!end.stopped) {
        for (const entry of part) {
          yield entry;
          if (end.stopped) return;
        }
        if (failed) throw new BoughError({ message: `following ended: ${failed}`, code: failed });
        part = [];
        const more = new Promise((resolve) => (end.wake = resolve));
        native.followMore(following);
        if (!end.stopped) await more;
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (following) native.followClose(following);
    }
  }

  close() {
    forgotten.unregister(this);
    runSync('session_close', [this.#handle]);
  }
  [Symbol.dispose ?? Symbol('dispose')]() {
    this.close();
  }
}

// Warns when an answer lacks newer entries because this process may not update the catalog.
function current(answer) {
  if (answer.outOfDate !== undefined) {
    process.emitWarning(`newer entries are missing: ${answer.outOfDate}`, { type: 'BoughWarning', code: 'BOUGH_OUT_OF_DATE' });
  }
  return answer;
}

const storeList = (location, options = {}) => {
  const [, ...rest] = listed(options, STORE_OPTIONS);
  return [location, durabilityOf(options), ...rest];
};

/** A store of sessions: a folder, a database address, or "memory:". */
class Store {
  #handle;
  #closing;

  constructor(handle) {
    this.#handle = handle;
  }

  /** Opens a store; without a location, the user's default store. */
  static async open(location, options) {
    return new Store(await run('store_open', storeList(location, options)));
  }
  static openSync(location, options) {
    return new Store(runSync('store_open', storeList(location, options)));
  }

  async create(options) {
    return new Session(await run('session_create', [this.#handle, ...newSessionList(options)]));
  }
  createSync(options) {
    return new Session(runSync('session_create', [this.#handle, ...newSessionList(options)]));
  }
  async session(id) {
    return new Session(await run('session_open', [this.#handle, id]));
  }
  async sessionIds() {
    return (await runJson('store_list_ids', [this.#handle])).sessionIds;
  }
  /**
   * Returns sessions, most recent first. Options: agent, key, cwd, title, sinceMs, untilMs, limit, skip, after (the
   * last session of the previous page).
   */
  async list(query) {
    return current(await runJson('list', [this.#handle, jsonOptions(query)])).sessions;
  }
  async search(words, query) {
    return current(await runJson('search', [this.#handle, words, jsonOptions(query)])).hits;
  }
  async usage(query) {
    return current(await runJson('usage', [this.#handle, jsonOptions(query)]));
  }
  /** Stores bytes once, by content; resolves to their SHA-256. */
  async putAttachment(bytes) {
    if (typeof bytes !== 'string' && !isBytes(bytes)) throw new TypeError('an attachment is bytes or a string');
    return run('attachment_put', [this.#handle, jsonText(bytes)]);
  }
  attachment(sha256) {
    return run('attachment_get', [this.#handle, sha256]);
  }
  /** Returns the attachments that no entry names. Reads every session. */
  async unusedAttachments() {
    return (await runJson('attachment_unused', [this.#handle])).unused;
  }
  /** Removes those of the given attachments that are still unused; resolves to how many. */
  async removeAttachments(unused) {
    return (await runJson('attachment_remove', [this.#handle, JSON.stringify({ unused })])).removed;
  }
  /** Moves a session to the trash; resolves to its name there. */
  trash(sessionId) {
    return run('trash', [this.#handle, sessionId]);
  }
  async trashed() {
    return (await runJson('trash_list', [this.#handle])).trashed;
  }
  restore(trashId) {
    return run('trash_restore', [this.#handle, trashId]);
  }
  removeTrashed(trashId) {
    return run('trash_remove', [this.#handle, trashId]);
  }
  flush() {
    return run('store_flush', [this.#handle]);
  }
  /** Makes everything durable and closes the store. After a retryable error the store is still open: close it again. */
  close() {
    this.#closing ??= run('store_close', [this.#handle]).catch((error) => {
      if (error.retryable) this.#closing = undefined;
      throw error;
    });
    return this.#closing;
  }
  [Symbol.asyncDispose ?? Symbol('asyncDispose')]() {
    return this.close();
  }
}

const said = (role, content, options) => {
  if (typeof content !== 'string') throw new TypeError(`a message's text is a string, not ${content === null ? 'null' : typeof content}`);
  return { ...options, payload: { dialect: 'bough', message: { role, content } } };
};
/** Makes an entry for a user's message. */
const userText = (text, options) => said('user', text, options);
/** Makes an entry for an assistant's message that no provider wrote. */
const assistantText = (text, options) => said('assistant', text, options);
/** Makes an entry for a message as a provider wrote it; JSON text is stored byte for byte. */
const message = (dialect, raw, options) => {
  if (!DIALECTS.includes(dialect)) throw new RangeError(`dialect is none of ${DIALECTS.join(', ')}: ${dialect}`);
  if (isAbsent(raw)) throw new TypeError(`a message is expected, not ${raw}`);
  const json = jsonText(raw);
  // Bytes that are not UTF-8 are refused, not replaced.
  const text = isBytes(json) ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(json) : json;
  return { ...options, payload: `{"dialect":"${dialect}","message":${text}}` };
};
/** Converts messages between dialects; returns {document, wayBack, report}. */
const convert = (document, from, to, wayBack) => runJson('convert', [document, from, to, wayBack]);

module.exports = { Store, Session, Entry, BoughError, userText, assistantText, message, convert, version: native.version };
