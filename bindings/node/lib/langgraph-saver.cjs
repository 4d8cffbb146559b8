// A LangGraph checkpointer: one session per thread. The parent of a checkpoint's entry is the entry of its parent
// checkpoint, so forks of a thread are branches of its session.
//
// The entry of a checkpoint holds only the channels that changed, and of those only the new part: a value that shares
// its beginning and end with the previous value (such as a list of messages that grew) is stored as the part between
// them. So a turn takes the same space however long the thread is.
'use strict';

const { Store } = require('./index.cjs');
const { namesOf, openNamed, sessionIdOf, storeOfCaller } = require('./foreign-key.cjs');
const { Recent } = require('./recent.cjs');

const PREFIX = 'langgraph-';
// Keep the byte order mark, which other decoders drop, so that bytes come back unchanged.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function required(config, name, what) {
  const value = config.configurable?.[name];
  if (value === undefined) throw new Error(`Failed to put ${what}: the config has no "${name}" in its "configurable" property.`);
  return String(value);
}

/** Returns serialized bytes as text when they are UTF-8, because a log can show text and a delta needs it. */
function packed([type, bytes]) {
  try {
    return { type, text: decoder.decode(bytes) };
  } catch {
    return { type, base64: Buffer.from(bytes).toString('base64') };
  }
}

const unpacked = (value) => (value.base64 === undefined ? value.text : new Uint8Array(Buffer.from(value.base64, 'base64')));

// Returns the greatest count for which `same` holds; `same` must hold for every smaller count, too.
function greatest(most, same) {
  let known = 0;
  while (known < most) {
    const middle = (known + most + 1) >>> 1;
    if (same(known, middle)) known = middle;
    else most = middle - 1;
  }
  return known;
}

// Comparing whole slices is much faster than comparing single characters.
const commonPrefix = (left, right) =>
  greatest(Math.min(left.length, right.length), (from, to) => left.slice(from, to) === right.slice(from, to));
const commonSuffix = (left, right, most) =>
  greatest(most, (from, to) => left.slice(left.length - to, left.length - from) === right.slice(right.length - to, right.length - from));

/**
 * A stored value of a channel: the whole value, or the part between the beginning and end that it shares with the
 * previous one.
 */
class Value {
  constructor(entryId, version, stored, before, known) {
    this.entryId = entryId;
    this.version = version;
    this.stored = stored;
    this.before = before;
    this.known = known;
    if (known !== undefined && before) before.known = undefined;
  }

  /** True when every value that this one is a change of is present. */
  get readable() {
    let value = this;
    while (value.known === undefined && value.before) value = value.before;
    return value.known !== undefined || value.stored.base === undefined;
  }

  /** The serialized value. */
  get content() {
    if (this.known === undefined) {
      const chain = [];
      let value = this;
      for (; value.known === undefined && value.before; value = value.before) chain.push(value);
      if (value.known === undefined && value.stored.base !== undefined) {
        throw new Error(`The value of a channel cannot be read: it is stored as a change of the one in entry ${value.stored.base}, which was redacted, erased or damaged.`);
      }
      let content = value.known ?? unpacked(value.stored);
      for (const each of chain.reverse()) {
        const [head, tail] = each.stored.keep;
        content = content.slice(0, head) + each.stored.text + (tail > 0 ? content.slice(-tail) : '');
      }
      this.known = content;
      // Only the newest value of a chain is likely to be read again.
      if (this.before) this.before.known = undefined;
    }
    return this.known;
  }
}

function storedValue(whole, before) {
  if (!before?.readable || whole.text === undefined || before.stored.type !== whole.type || typeof before.content !== 'string') return whole;
  const old = before.content;
  const head = commonPrefix(old, whole.text);
  const tail = commonSuffix(old, whole.text, Math.min(old.length, whole.text.length) - head);
  if (head + tail < 64) return whole;
  return { type: whole.type, base: before.entryId, keep: [head, tail], text: whole.text.slice(head, whole.text.length - tail) };
}

/** Returns a stored value of this version. There may be several, because each branch counts its versions separately. */
function valueOf(checkpoints, channel, version) {
  for (const { values } of checkpoints?.values() ?? []) {
    const value = values.get(channel);
    if (value?.version === version) return value;
  }
  return undefined;
}

/** What is known of a thread. Its session is read once; later reads return only what is new. */
class Thread {
  namespaces = new Map();
  #values = new Map(); // by the entry that stored them, and the channel
  #seen = 0;
  #tail;
  #turn = Promise.resolve();

  constructor(session) {
    this.session = session;
  }

  close() {
    this.session.close();
  }

  /** Reads what is new. */
  refresh() {
    return this.#inTurn(() => this.#read());
  }

  /** Appends the entry that `make` builds from what is known; builds it again when another writer was faster. */
  append(make) {
    return this.#inTurn(async () => {
      if (this.#tail === undefined) await this.#read();
      for (;;) {
        const { texts, ...entry } = await make();
        try {
          const { lastId } = await this.session.append(entry, { expectedTail: this.#tail });
          this.#take(lastId, entry.payload, texts);
          this.#seen += 1;
          this.#tail = lastId;
          return;
        } catch (error) {
          if (error.code !== 'conflict' && error.code !== 'invalid_argument') throw error;
          const tail = this.#tail;
          await this.#read();
          // If the tail has changed, another writer was faster; it may even have deleted the thread, including the
          // parent, and started it again.
          if (this.#tail === tail) throw error;
        }
      }
    });
  }

  // Runs callers one after the other, because two at once would count the same entries.
  #inTurn(work) {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  // Starts with the last entry that was read. If another entry is in its place, another process has deleted the thread
  // and started it again.
  async #read() {
    for (;;) {
      const known = this.#seen > 0 ? 1 : 0;
      const entries = await this.session.load({ from: this.#seen - known, limit: 1000 });
      if (known && entries[0]?.id !== this.#tail) {
        this.namespaces.clear();
        this.#values.clear();
        this.#seen = 0;
        this.#tail = undefined;
        continue;
      }
      for (const entry of entries.slice(known)) {
        if (entry.type === 'custom') this.#take(entry.id, entry.payload);
      }
      this.#seen += entries.length - known;
      this.#tail = entries.at(-1)?.id ?? this.#tail;
      if (entries.length < 1000) return;
    }
  }

  namespace(name) {
    let found = this.namespaces.get(name);
    if (!found) this.namespaces.set(name, (found = { checkpoints: new Map(), writes: new Map() }));
    return found;
  }

  #take(entryId, payload, texts) {
    if (payload.kind === 'checkpoint') this.#takeCheckpoint(entryId, payload, texts);
    else if (payload.kind === 'writes') this.#takeWrites(payload);
  }

  // `texts` holds the whole values of those that are stored in part.
  #takeCheckpoint(entryId, payload, texts) {
    const namespace = this.namespace(payload.ns);
    const parent = payload.parent === undefined ? undefined : namespace.checkpoints.get(payload.parent);
    // A channel keeps the parent's value until it is stored again.
    const values = new Map(parent?.values);
    for (const [channel, { version, ...stored }] of Object.entries(payload.values)) {
      const before = stored.base && this.#values.get(`${stored.base} ${channel}`);
      const value = new Value(entryId, version, stored, before, before && texts?.get(channel)?.text);
      this.#values.set(`${entryId} ${channel}`, value);
      values.set(channel, value);
    }
    namespace.checkpoints.set(payload.id, { entryId, id: payload.id, parent: payload.parent, checkpoint: payload.checkpoint, metadata: payload.metadata, values });
  }

  #takeWrites(payload) {
    const { writes } = this.namespace(payload.ns);
    if (!writes.has(payload.checkpoint)) writes.set(payload.checkpoint, new Map());
    const stored = writes.get(payload.checkpoint);
    for (const [index, channel, value] of payload.writes) {
      const key = `${payload.task},${index}`;
      // Writes are kept; only errors and interrupts, which have negative indexes, are replaced.
      if (index >= 0 && stored.has(key)) continue;
      stored.set(key, [payload.task, channel, value]);
    }
  }
}

/**
 * Returns the class for the framework as the caller loaded it, because the imported and the required framework have
 * different classes.
 */
function saverClass({ BaseCheckpointSaver, TASKS, WRITES_IDX_MAP, copyCheckpoint, getCheckpointId, maxChannelVersion }) {
  return class BoughSaver extends BaseCheckpointSaver {
    #store;
    #owned;
    #threads = new Recent(async (threadId, create) => {
      const session = await openNamed(this.#store, PREFIX, threadId, { create });
      return session && new Thread(session);
    });

    /** Uses a store of the caller and does not close it; BoughSaver.open opens a store of its own. */
    constructor(store, serde) {
      super(serde);
      this.#store = storeOfCaller(store, 'BoughSaver.open(location)');
      this.#owned = false;
    }

    /** Opens the store at a location: a folder, a database address, or "memory:". */
    static async open(location, { serde, ...options } = {}) {
      const saver = new BoughSaver(await Store.open(location, options), serde);
      saver.#owned = true;
      return saver;
    }

    async close() {
      await this.#threads.close();
      if (this.#owned) await this.#store.close();
    }

    // Runs `work` with the thread in its current state; with undefined when there is none.
    #thread(threadId, work) {
      return this.#threads.use(threadId, false, async (thread) => {
        await thread?.refresh();
        return work(thread);
      });
    }

    // Appends data of a checkpoint. `payloadOf` receives what is known of that checkpoint.
    #append(threadId, ns, checkpointId, payloadOf, texts) {
      return this.#threads.use(threadId, true, (thread) =>
        thread.append(async () => {
          const checkpoints = thread.namespaces.get(ns)?.checkpoints;
          const checkpoint = checkpoints?.get(checkpointId);
          return { type: 'custom', parentId: checkpoint?.entryId ?? null, payload: await payloadOf(checkpoint, checkpoints), texts };
        }),
      );
    }

    #load(value) {
      return this.serde.loadsTyped(value.type, unpacked(value));
    }

    async #tuple(threadId, ns, namespace, record, config) {
      const checkpoint = await this.#load(record.checkpoint);
      const values = [];
      for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
        const value = record.values.get(channel);
        if (value?.version === version) values.push([channel, await this.serde.loadsTyped(value.stored.type, value.content)]);
      }
      checkpoint.channel_values = Object.fromEntries(values);
      if (checkpoint.v < 4 && record.parent !== undefined) await this.#addPendingSends(checkpoint, namespace, record.parent);
      const pendingWrites = [];
      for (const [task, channel, value] of namespace.writes.get(record.id)?.values() ?? []) {
        pendingWrites.push([task, channel, await this.#load(value)]);
      }
      const at = (id) => ({ configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } });
      const tuple = { config: config ?? at(record.id), checkpoint, metadata: await this.#load(record.metadata), pendingWrites };
      if (record.parent !== undefined) tuple.parentConfig = at(record.parent);
      return tuple;
    }

    // Checkpoints before version 4 keep the sends to tasks among the writes of their parent.
    async #addPendingSends(checkpoint, namespace, parentId) {
      const sent = [...(namespace.writes.get(parentId)?.values() ?? [])].filter(([, channel]) => channel === TASKS);
      checkpoint.channel_values[TASKS] = await Promise.all(sent.map(([, , value]) => this.#load(value)));
      const versions = Object.values(checkpoint.channel_versions);
      checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
    }

    async getTuple(config) {
      const threadId = config.configurable?.thread_id;
      if (threadId === undefined) return undefined;
      const ns = config.configurable?.checkpoint_ns ?? '';
      const wanted = getCheckpointId(config);
      return this.#thread(String(threadId), (thread) => {
        const namespace = thread?.namespaces.get(ns);
        if (!namespace) return undefined;
        const id = wanted || [...namespace.checkpoints.keys()].reduce((best, each) => (best === undefined || each > best ? each : best), undefined);
        const record = namespace.checkpoints.get(id);
        return record && this.#tuple(threadId, ns, namespace, record, wanted ? config : undefined);
      });
    }

    async *list(config, options = {}) {
      const { before, filter } = options;
      const { thread_id: threadId, checkpoint_ns: onlyNs, checkpoint_id: onlyId } = config.configurable ?? {};
      const beforeId = before?.configurable?.checkpoint_id;
      let left = options.limit ?? Infinity;
      for (const name of threadId === undefined || threadId === '' ? await namesOf(this.#store, PREFIX) : [String(threadId)]) {
        const namespaces = await this.#thread(name, (thread) => [...(thread?.namespaces ?? [])]);
        for (const [ns, namespace] of namespaces) {
          if (onlyNs !== undefined && ns !== onlyNs) continue;
          const records = [...namespace.checkpoints.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
          for (const record of records) {
            if ((onlyId && record.id !== onlyId) || (beforeId && record.id >= beforeId)) continue;
            if (filter) {
              const metadata = await this.#load(record.metadata);
              if (!Object.entries(filter).every(([key, value]) => metadata[key] === value)) continue;
            }
            if (left-- <= 0) return;
            yield this.#tuple(name, ns, namespace, record);
          }
        }
      }
    }

    async put(config, checkpoint, metadata, newVersions) {
      const threadId = required(config, 'thread_id', 'a checkpoint');
      const ns = config.configurable?.checkpoint_ns ?? '';
      const parentId = config.configurable?.checkpoint_id;
      const { channel_values: channelValues, ...rest } = copyCheckpoint(checkpoint);
      const serialized = new Map();
      const serialize = async (channel) => serialized.set(channel, packed(await this.serde.dumpsTyped(channelValues[channel])));
      const changed = Object.keys(newVersions ?? {}).filter((channel) => Object.hasOwn(channelValues, channel));
      for (const channel of changed) await serialize(channel);
      const payload = {
        kind: 'checkpoint',
        ns,
        id: checkpoint.id,
        parent: parentId,
        checkpoint: packed(await this.serde.dumpsTyped(rest)),
        metadata: packed(await this.serde.dumpsTyped(metadata)),
      };
      await this.#append(threadId, ns, parentId, async (parent, checkpoints) => {
        const values = Object.create(null); // a channel may have any name
        const store = (channel, version, before) => (values[channel] = { version, ...storedValue(serialized.get(channel), before) });
        for (const channel of changed) store(channel, checkpoint.channel_versions[channel] ?? newVersions[channel], parent?.values.get(channel));
        // A copy of a checkpoint has no new versions, and has the same parent as the original checkpoint.
        for (const channel of Object.keys(channelValues)) {
          const version = checkpoint.channel_versions[channel];
          if (channel in values || parent?.values.get(channel)?.version === version) continue;
          const original = valueOf(checkpoints, channel, version);
          if (!original) continue;
          if (!serialized.has(channel)) await serialize(channel);
          store(channel, version, original);
        }
        return { ...payload, values };
      }, serialized);
      return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
    }

    async putWrites(config, writes, taskId) {
      const threadId = required(config, 'thread_id', 'writes');
      const checkpointId = required(config, 'checkpoint_id', 'writes');
      const ns = config.configurable?.checkpoint_ns ?? '';
      const stored = [];
      for (const [index, [channel, value]] of writes.entries()) {
        stored.push([WRITES_IDX_MAP[channel] ?? index, channel, packed(await this.serde.dumpsTyped(value))]);
      }
      const payload = { kind: 'writes', ns, checkpoint: checkpointId, task: taskId, writes: stored };
      await this.#append(threadId, ns, checkpointId, () => payload);
    }

    /** Removes the thread's session forever. */
    async deleteThread(threadId) {
      this.#threads.drop(String(threadId));
      try {
        await this.#store.removeTrashed(await this.#store.trash(sessionIdOf(PREFIX, String(threadId))));
      } catch (error) {
        if (error.code !== 'not_found') throw error;
      }
    }
  };
}

module.exports = { saverClass };
