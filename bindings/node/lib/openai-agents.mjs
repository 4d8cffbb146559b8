// A session of the OpenAI Agents SDK. Items are entries of a branch; what is popped, cleared or replaced stays in the
// session as another branch, and only the head moves.
//
// Every change that depends on what was read names the tail it was read at, so of two writers one is refused and reads
// again. An operation of applyHistoryTransaction and its items are one batch: both are stored, or neither.
import { createHash } from 'node:crypto';

import { Store } from './index.mjs';
import { openNamed } from './foreign-key.mjs';

const PREFIX = 'openai-agents-';
const BYTES = '$boughBytes';

// Bytes inside items (images, files) survive JSON.
const encode = (value) =>
  JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? { [BYTES]: Buffer.from(each).toString('base64') } : each));
const decode = (value) => {
  if (value === null || typeof value !== 'object') return value;
  if (typeof value[BYTES] === 'string') return new Uint8Array(Buffer.from(value[BYTES], 'base64'));
  for (const [key, each] of Object.entries(value)) value[key] = decode(each);
  return value;
};

/** JSON with sorted keys: equal values have equal texts. */
function canonical(value) {
  return JSON.stringify(JSON.parse(encode(value)), (_, each) =>
    each && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

const textOf = (content) =>
  typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => part.text ?? part.refusal ?? '').join('\n') : '';

// How bough shows and searches an item; the item itself stands beside it, whole.
function viewOf(item) {
  if (item.role) return { role: ['user', 'assistant', 'system'].includes(item.role) ? item.role : 'user', content: textOf(item.content) };
  if (item.type === 'function_call') return { role: 'assistant', content: `${item.name}(${item.arguments})` };
  if (item.type === 'function_call_result') return { role: 'user', content: textOf(item.output?.text ?? item.output) || encode(item.output) };
  return { role: 'assistant', content: `[${item.type ?? 'item'}]` };
}

const entryOf = (item) => ({
  payload: `{"dialect":"bough","message":${JSON.stringify(viewOf(item))},"item":${encode(item)}}`,
});

const headEntry = (entryId) => ({ type: 'head', payload: { entryId } });

export class BoughSession {
  #store;
  #owned = false;
  #name;
  #opening;

  /** Over a store of yours; `sessionId` may be any text. */
  constructor({ store, sessionId }) {
    this.#store = store;
    this.#name = sessionId;
  }

  /** Opens the store at a location for one session. */
  static async open(location, { sessionId, ...options }) {
    const session = new BoughSession({ store: await Store.open(location, options), sessionId });
    session.#owned = true;
    return session;
  }

  async close() {
    (await this.#opening)?.close();
    this.#opening = undefined;
    if (this.#owned) await this.#store.close();
  }

  #session() {
    this.#opening ??= openNamed(this.#store, PREFIX, this.#name, { create: true });
    return this.#opening;
  }

  // The items of the head's branch with their entries, and the tail at that moment.
  async #read() {
    const session = await this.#session();
    const { headId, tailId } = await session.state();
    const items = [];
    for (const entry of headId ? await session.load({ branch: headId }) : []) {
      const item = entry.type === 'message' ? entry.payload.item : undefined;
      if (item !== undefined) items.push({ item: decode(item), entry });
    }
    return { session, tailId, items };
  }

  // Changes the history by what `change` makes of it; reads again when somebody else was faster.
  async #change(change) {
    for (;;) {
      const read = await this.#read();
      const batch = await change(read);
      if (!batch || batch.length === 0) return;
      try {
        await read.session.append(batch, { expectedTail: read.tailId });
        return;
      } catch (error) {
        if (error.code !== 'conflict') throw error;
      }
    }
  }

  async getSessionId() {
    return this.#name;
  }

  async getItems(limit) {
    if (limit !== undefined && limit <= 0) return [];
    const { items } = await this.#read();
    return (limit === undefined ? items : items.slice(-limit)).map(({ item }) => item);
  }

  async addItems(items) {
    if (items.length === 0) return;
    const session = await this.#session();
    await session.append(items.map(entryOf));
  }

  async popItem() {
    let popped;
    await this.#change(({ items }) => {
      const last = items.at(-1);
      popped = last?.item;
      return last && [headEntry(last.entry.parentId)];
    });
    return popped;
  }

  async clearSession() {
    await this.#change(({ items }) => items.length > 0 && [headEntry(null)]);
  }

  /** Replaces the history; the old one stays as a branch. */
  async replaceHistoryWithCompaction(items) {
    await this.#change(() => [headEntry(null), ...items.map(entryOf)]);
  }

  async applyHistoryMutations({ mutations }) {
    if (mutations.length === 0) return;
    await this.#change(({ items }) => {
      const next = [];
      const replaced = new Set();
      let first = items.length;
      for (const [index, { item }] of items.entries()) {
        const mutation = item.type === 'function_call' && mutations.findLast((each) => each.type === 'replace_function_call' && each.callId === item.callId);
        if (mutation) first = Math.min(first, index);
        if (!mutation) next.push(item);
        else if (!replaced.has(item.callId)) next.push(mutation.replacement);
        if (mutation) replaced.add(item.callId);
      }
      return first < items.length && [headEntry(items[first].entry.parentId), ...next.slice(first).map(entryOf)];
    });
  }

  async applyHistoryTransaction({ operationId, transaction }) {
    if (typeof operationId !== 'string' || !operationId.trim()) throw new TypeError('operationId must be a non-empty string.');
    if (transaction?.type !== 'append_items' && transaction?.type !== 'replace_suffix') throw new TypeError('Unsupported session history transaction type.');
    const id = `operation-${createHash('sha256').update(operationId).digest('hex')}`;
    const digest = createHash('sha256').update(canonical(transaction)).digest('hex');
    await this.#change(async ({ session, items }) => {
      const applied = await session.entry(id).catch((error) => {
        if (error.code !== 'not_found') throw error;
      });
      if (applied) {
        if (applied.payload.digest === digest) return undefined;
        throw new Error('Session history operation was already applied with a different transaction.');
      }
      const record = { id, type: 'custom', payload: { kind: 'operation', operationId, digest } };
      if (transaction.type === 'append_items') return [record, ...transaction.items.map(entryOf)];
      const { expectedSuffix, replacement } = transaction;
      const start = items.length - expectedSuffix.length;
      const suffix = start < 0 ? undefined : items.slice(start).map(({ item }) => item);
      if (!suffix || canonical(suffix) !== canonical(expectedSuffix)) {
        throw new Error('Session history suffix no longer matches the transaction precondition.');
      }
      const move = expectedSuffix.length > 0 ? [headEntry(items[start].entry.parentId)] : [];
      return [...move, record, ...replacement.map(entryOf)];
    });
  }
}
