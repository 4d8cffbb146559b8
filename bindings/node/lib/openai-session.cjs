// A session of the OpenAI Agents SDK. Items are entries of a branch. Items that are popped, cleared or replaced stay in
// the session as another branch; only the head moves.
//
// Every change that depends on what was read names the tail at the time of the read, so one of two concurrent writers
// is refused and reads again. An operation of applyHistoryTransaction and its items are one batch: both are stored, or
// neither.
'use strict';

const { createHash } = require('node:crypto');

const { Store } = require('./index.cjs');
const { NamedBranch, headEntry } = require('./named-branch.cjs');

const PREFIX = 'openai-agents-';
const BYTES = '$boughBytes';
const ESCAPED = /^\$+boughBytes$/;

// What the framework's own sessions refuse with a UserError.
class Refused extends TypeError {}

const INVALID = 'Session history transaction items contain invalid or unsupported data';

// Returns an item as plain JSON. Refuses what JSON would drop or change, before anything is stored. Bytes (images,
// files) become an object with one member; an existing member with that name gets one more `$`.
function plain(value, ancestors = []) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value;
  const refuse = (what) => {
    throw new Refused(`${INVALID}: ${what}.`);
  };
  if (typeof value !== 'object') refuse(`a ${typeof value === 'number' ? 'number that is not finite' : typeof value}`);
  if (ancestors.includes(value)) refuse('an object that holds itself');
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString('base64') };
  const inside = [...ancestors, value];
  if (Array.isArray(value)) {
    if (Reflect.ownKeys(value).length !== value.length + 1) refuse('a list with holes or names');
    return value.map((each) => plain(each, inside));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) refuse(`an object of the class ${value.constructor?.name}`);
  const members = Reflect.ownKeys(value).map((key) => [key, Object.getOwnPropertyDescriptor(value, key)]);
  if (members.some(([key, each]) => typeof key === 'symbol' || !each.enumerable || !('value' in each))) refuse('a hidden member');
  return Object.fromEntries(
    members.filter(([, each]) => each.value !== undefined).map(([key, each]) => [ESCAPED.test(key) ? `$${key}` : key, plain(each.value, inside)]),
  );
}

function decode(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value[BYTES] === 'string') return new Uint8Array(Buffer.from(value[BYTES], 'base64'));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [ESCAPED.test(key) ? key.slice(1) : key, decode(each)]));
}

const encode = (value) => JSON.stringify(plain(value));

/** Returns JSON with sorted keys, so that equal values have equal texts. */
const canonical = (value) =>
  JSON.stringify(plain(value), (_, each) =>
    each && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([left], [right]) => (left < right ? -1 : 1)))
      : each,
  );

function checkItems(items) {
  if (!Array.isArray(items)) throw new Refused('Session history transaction fields are invalid.');
  for (const item of plain(items)) {
    if (item === null || typeof item !== 'object' || Array.isArray(item)) throw new Refused(`${INVALID}: an item is not an object.`);
  }
}

const kFields = { append_items: ['items'], replace_suffix: ['expectedSuffix', 'replacement'] };

function checkTransaction(operationId, transaction) {
  if (typeof operationId !== 'string' || !operationId.trim()) throw new Refused('Session history transaction operationId must be a non-empty string.');
  if (!transaction || typeof transaction !== 'object') throw new Refused('Session history transaction must be an object.');
  const fields = Object.hasOwn(kFields, transaction.type) ? kFields[transaction.type] : undefined;
  if (!fields) throw new Refused('Unsupported session history transaction type.');
  if (Object.keys(transaction).length !== fields.length + 1) throw new Refused('Session history transaction fields are invalid.');
  for (const field of fields) checkItems(transaction[field]);
}

const textOf = (content) =>
  typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => part?.text ?? part?.refusal ?? '').join('\n') : '';

// Returns how bough shows and searches an item; the complete item is stored beside it.
function viewOf(item) {
  if (item.role) return { role: ['user', 'assistant', 'system'].includes(item.role) ? item.role : 'user', content: textOf(item.content) };
  if (item.type === 'function_call') return { role: 'assistant', content: `${item.name}(${item.arguments})` };
  if (item.type === 'function_call_result') return { role: 'user', content: textOf(item.output?.text ?? item.output) || JSON.stringify(item.output ?? null) };
  return { role: 'assistant', content: `[${item.type ?? 'item'}]` };
}

function entryOf(item) {
  const encoded = encode(item); // first, because it refuses values that viewOf could not show either
  return { payload: `{"dialect":"bough","message":${JSON.stringify(viewOf(item))},"item":${encoded}}` };
}

const EXISTING = { create: false }; // where nothing was stored, there is nothing to change

const clearedId = (number) => `cleared-${number}`;

const entryIfAny = (session, id) =>
  session.entry(id).catch((error) => {
    if (error.code !== 'not_found') throw error;
  });

class StoredSession {
  #branch;
  #cleared = 0;

  /** Uses a store of the caller; `sessionId` may be any text. */
  constructor({ store, sessionId }) {
    const instead = 'BoughSession.open(location, { sessionId })';
    this.#branch = new NamedBranch({ store, prefix: PREFIX, name: sessionId, member: 'item', instead });
  }

  /** Opens the store at a location for one session. */
  static async open(location, { sessionId, ...options }) {
    const session = new this({ store: await Store.open(location, options), sessionId });
    session.#branch.ownsStore = true;
    return session;
  }

  async close() {
    await this.#branch.close();
  }

  async #change(change, options) {
    await this.#branch.change(
      ({ session, tailId, items }) => change({ session, tailId, items: items.map(({ value, entry }) => ({ item: decode(value), entry })) }),
      options,
    );
  }

  async getSessionId() {
    return this.#branch.name;
  }

  async getItems(limit) {
    if (limit !== undefined && limit <= 0) return [];
    const { items } = await this.#branch.read();
    return (limit === undefined ? items : items.slice(-limit)).map(({ value }) => decode(value));
  }

  async addItems(items) {
    if (items.length === 0) return;
    await this.#branch.append(items.map(entryOf));
  }

  async popItem() {
    let popped;
    await this.#change(({ items }) => {
      const last = items.at(-1);
      popped = last?.item;
      return last && [headEntry(last.entry.parentId)];
    }, EXISTING);
    return popped;
  }

  /** Starts again, as if the session were new; the old history stays as a branch. */
  async clearSession() {
    await this.#change(async ({ session, tailId }) => {
      const id = clearedId(await this.#clearings(session));
      if (!tailId || tailId === id) return undefined;
      return [headEntry(null), { id: clearedId(this.#cleared + 1), type: 'custom', parentId: null, payload: { kind: 'cleared' } }];
    }, EXISTING);
  }

  /** Replaces the history; the old history stays as a branch. */
  async replaceHistoryWithCompaction(items) {
    await this.#change(() => [headEntry(null), ...items.map(entryOf)]);
  }

  async applyHistoryMutations({ mutations }) {
    const replacements = mutations.filter((each) => each.type === 'replace_function_call');
    await this.#change(({ items }) => {
      let next = items.map(({ item }) => item);
      for (const { callId, replacement } of replacements) {
        let used = false;
        next = next.flatMap((item) => {
          if (item.type !== 'function_call' || item.callId !== callId) return [item];
          const first = !used;
          used = true;
          return first ? [replacement] : [];
        });
      }
      const first = items.findIndex(({ item }, index) => next[index] !== item);
      return first >= 0 && [headEntry(items[first].entry.parentId), ...next.slice(first).map(entryOf)];
    }, EXISTING);
  }

  // Returns how often the session was cleared. Clearing forgets the operations before it, and adds a marker with its
  // number.
  async #clearings(session) {
    while (await entryIfAny(session, clearedId(this.#cleared + 1))) ++this.#cleared;
    return this.#cleared;
  }

  async applyHistoryTransaction(args) {
    const { operationId, transaction } = args ?? {};
    checkTransaction(operationId, transaction);
    const digest = createHash('sha256').update(canonical(transaction)).digest('hex');
    await this.#change(async ({ session, items }) => {
      const generation = await this.#clearings(session);
      const id = `operation-${createHash('sha256').update(JSON.stringify([generation, operationId])).digest('hex')}`;
      const applied = await entryIfAny(session, id);
      if (applied) {
        if (applied.payload.digest === digest) return undefined;
        throw new Refused('Session history operation was already applied with a different transaction.');
      }
      const record = { id, type: 'custom', payload: { kind: 'operation', operationId, digest } };
      if (transaction.type === 'append_items') return [record, ...transaction.items.map(entryOf)];
      const { expectedSuffix, replacement } = transaction;
      const start = items.length - expectedSuffix.length;
      const suffix = start < 0 ? undefined : items.slice(start).map(({ item }) => item);
      if (!suffix || canonical(suffix) !== canonical(expectedSuffix)) {
        throw new Refused('Session history suffix no longer matches the transaction precondition.');
      }
      const move = expectedSuffix.length > 0 ? [headEntry(items[start].entry.parentId)] : [];
      return [...move, record, ...replacement.map(entryOf)];
    });
  }
}

/** Returns the class for the framework as the caller loaded it; without the framework, refusals are TypeErrors. */
function sessionClass(UserError) {
  const refusing = (work) =>
    work.catch((error) => {
      throw UserError && error instanceof Refused ? new UserError(error.message) : error;
    });
  return class BoughSession extends StoredSession {
    addItems(items) {
      return refusing(super.addItems(items));
    }

    replaceHistoryWithCompaction(items) {
      return refusing(super.replaceHistoryWithCompaction(items));
    }

    applyHistoryMutations(args) {
      return refusing(super.applyHistoryMutations(args));
    }

    applyHistoryTransaction(args) {
      return refusing(super.applyHistoryTransaction(args));
    }
  };
}

module.exports = { sessionClass };
