// A SessionStore for the Claude Agent SDK: one session per transcript, with the SDK's lines as entries. The uuid of a
// line is the id of its entry, so a line that is appended twice is stored once.
'use strict';

const { createHash } = require('node:crypto');

const { Store } = require('./index.cjs');
const { mapAll, namesOf, openNamed, sessionIdOf, storeOfCaller, withSession } = require('./foreign-key.cjs');
const { Recent } = require('./recent.cjs');

const PREFIX = 'claude-';
const ENTRY_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const HASHED = 'uuid-';

// Refuses a key that partsOf would not recognize, because no list would show its transcript.
function nameOf({ projectKey, sessionId, subpath }) {
  const parts = subpath === undefined ? [projectKey, sessionId] : [projectKey, sessionId, subpath];
  if (parts.some((part) => typeof part !== 'string')) throw new TypeError('a key has the texts projectKey and sessionId, and perhaps subpath');
  return JSON.stringify(parts);
}

// Returns the parts of a key; undefined for a name that is not a key, such as the name of another program's session.
function partsOf(name) {
  try {
    const parts = JSON.parse(name);
    const isKey = Array.isArray(parts) && (parts.length === 2 || parts.length === 3) && parts.every((part) => typeof part === 'string');
    return isKey ? parts : undefined;
  } catch {
    return undefined;
  }
}

// Returns the entry id of a line: its uuid if that is a valid id, otherwise a hash of it. `name` is reserved
// (foreign-key.cjs).
function idOf(uuid) {
  if (typeof uuid !== 'string') return undefined;
  const usable = ENTRY_ID.test(uuid) && uuid !== 'name' && !uuid.startsWith(HASHED);
  return usable ? uuid : HASHED + createHash('sha256').update(JSON.stringify(uuid)).digest('hex');
}

// The message is where bough shows and searches it; in the line, null marks its place. The whole line is part of the
// payload, because that is what a redaction hides.
function entryOf(line, known) {
  const id = idOf(line.uuid);
  const parent = idOf(line.parentUuid);
  const parentId = known.has(parent) ? parent : undefined;
  const isMessage = (line.type === 'user' || line.type === 'assistant') && line.message !== null && typeof line.message === 'object';
  if (!isMessage) return { id, parentId, type: 'custom', payload: { kind: 'claude', line } };
  return { id, parentId, payload: { dialect: 'anthropic', message: line.message, claude: { ...line, message: null } } };
}

function lineOf(entry) {
  if (entry.type === 'custom') return entry.payload.kind === 'claude' ? entry.payload.line : undefined;
  if (entry.type !== 'message' || entry.redacted) return undefined;
  const { claude: line = entry.meta?.claude, message } = entry.payload;
  return line && { ...line, message };
}

/** The lines of a transcript, in order. A redacted line is left out, and its children get its parent. */
class Lines {
  list = [];
  #uuids = new Map(); // of the present lines, by their entries' ids
  #hidden = new Map(); // parents of redacted entries

  add(entry) {
    const line = lineOf(entry);
    if (entry.redacted) this.#hidden.set(entry.id, entry.parentId);
    if (!line) return;
    if (typeof line.uuid === 'string') this.#uuids.set(entry.id, line.uuid);
    let parent = idOf(line.parentUuid);
    if (!this.#hidden.has(parent)) {
      this.list.push(line);
      return;
    }
    while (this.#hidden.has(parent)) parent = this.#hidden.get(parent);
    this.list.push({ ...line, parentUuid: this.#uuids.get(parent) ?? null });
  }
}

class BoughSessionStore {
  #store;
  #owned = false;
  // The open sessions of transcripts, with the ids of their entries.
  #open = new Recent(async (name, create) => {
    const session = await openNamed(this.#store, PREFIX, name, { create });
    return session && { session, known: new Set(), seen: 0, queue: Promise.resolve(), close: () => session.close() };
  });
  #names = new Map();
  #fold;

  /** Uses a store of the caller. listSessionSummaries needs the SDK's `foldSessionSummary`. */
  constructor(store, { foldSessionSummary } = {}) {
    this.#store = storeOfCaller(store, 'BoughSessionStore.open(location)');
    this.#fold = foldSessionSummary;
    if (!foldSessionSummary) this.listSessionSummaries = undefined;
  }

  /** Opens the store at a location. */
  static async open(location, { foldSessionSummary, ...options } = {}) {
    const made = new BoughSessionStore(await Store.open(location, options), { foldSessionSummary });
    made.#owned = true;
    return made;
  }

  async close() {
    await this.#open.close();
    if (this.#owned) await this.#store.close();
  }

  // Starts with the last entry that was read. If another entry is in its place, another process has deleted the
  // transcript and started it again.
  async #refresh(transcript) {
    for (;;) {
      const again = transcript.seen > 0 ? 1 : 0;
      const entries = await transcript.session.load({ from: transcript.seen - again, limit: 1000 });
      if (again && entries[0]?.id !== transcript.last) {
        transcript.known.clear();
        transcript.seen = 0;
        continue;
      }
      for (const entry of entries) transcript.known.add(entry.id);
      transcript.seen += entries.length - again;
      transcript.last = entries.at(-1)?.id;
      if (entries.length < 1000) return;
    }
  }

  async append(key, lines) {
    if (lines.length === 0) return;
    await this.#open.use(nameOf(key), true, (transcript) => {
      // Appends run one after the other, in the order of the calls.
      transcript.queue = transcript.queue.catch(() => {}).then(() => this.#append(transcript, lines));
      return transcript.queue;
    });
  }

  async #append(transcript, lines) {
    for (;;) {
      await this.#refresh(transcript);
      const { tailId } = await transcript.session.state();
      const known = new Set(transcript.known);
      const batch = [];
      for (const line of lines) {
        if (known.has(idOf(line.uuid))) continue;
        const entry = entryOf(line, known);
        if (entry.id) known.add(entry.id);
        batch.push(entry);
      }
      if (batch.length === 0) return;
      try {
        await transcript.session.append(batch, { expectedTail: tailId });
        return;
      } catch (error) {
        if (error.code !== 'conflict') throw error; // another process has appended: read again what is stored
      }
    }
  }

  async load(key) {
    return this.#open.use(nameOf(key), false, async (transcript) => {
      const lines = new Lines();
      for await (const entry of transcript?.session ?? []) lines.add(entry);
      return lines.list.length > 0 ? lines.list : null;
    });
  }

  async #keys() {
    return (await namesOf(this.#store, PREFIX, this.#names)).map(partsOf).filter(Boolean);
  }

  // Undefined when nothing was written yet, or when another process has removed the session.
  async #lastWrite(name) {
    const [last] = (await withSession(this.#store, sessionIdOf(PREFIX, name), (session) => session.load({ last: 1 }))) ?? [];
    return last && last.type !== 'session_header' && last.id !== 'name' ? Date.parse(last.timestamp) : undefined;
  }

  async listSessions(projectKey) {
    const keys = (await this.#keys()).filter(([project, , subpath]) => project === projectKey && subpath === undefined);
    const found = await mapAll(keys, async ([, sessionId]) => ({ sessionId, mtime: await this.#lastWrite(nameOf({ projectKey, sessionId })) }));
    return found.filter(({ mtime }) => mtime !== undefined);
  }

  async listSessionSummaries(projectKey) {
    const summaries = [];
    for (const { sessionId, mtime } of await this.listSessions(projectKey)) {
      const key = { projectKey, sessionId };
      const lines = await this.load(key);
      if (lines) summaries.push({ ...this.#fold(undefined, key, lines, { mtime }), mtime });
    }
    return summaries;
  }

  async listSubkeys({ projectKey, sessionId }) {
    const keys = await this.#keys();
    return keys.filter(([project, session, subpath]) => project === projectKey && session === sessionId && subpath !== undefined).map((key) => key[2]);
  }

  /** Removes a transcript forever; without a subpath also the transcripts of its subagents. */
  async delete(key) {
    const subpaths = key.subpath === undefined ? await this.listSubkeys(key) : [];
    for (const each of [key, ...subpaths.map((subpath) => ({ ...key, subpath }))]) {
      const name = nameOf(each);
      this.#open.drop(name);
      try {
        await this.#store.removeTrashed(await this.#store.trash(sessionIdOf(PREFIX, name)));
      } catch (error) {
        if (error.code !== 'not_found') throw error;
      }
    }
  }
}

module.exports = { BoughSessionStore };
