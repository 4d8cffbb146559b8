// Chats of the Vercel AI SDK: UIMessages as entries of a branch, and streams that outlive the server.
//
// save() takes the whole list of messages, as the SDK passes it. Where the list differs from what is stored (an edited
// message, a regenerated answer), a new branch begins; the old branch stays. A recorded stream can be read again from
// its beginning, while it runs, after it has ended, and after a crash of the server that ran it.
'use strict';

const { createHash, randomUUID } = require('node:crypto');

const { Store } = require('./index.cjs');
const { openNamed } = require('./foreign-key.cjs');
const { NamedBranch, headEntry } = require('./named-branch.cjs');

const PREFIX = 'ai-';
const STREAM_PREFIX = 'aistream-'; // no chat's id starts with it

const textOf = (message) =>
  message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');

// Sort the members, because a client or a validator may have written them in another order.
const sorted = (_, value) =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value;
const digestOf = (message) => createHash('sha256').update(JSON.stringify(message, sorted)).digest('hex').slice(0, 16);

const entryOf = (message) => ({
  payload: {
    dialect: 'bough',
    message: { role: message.role === 'assistant' || message.role === 'system' ? message.role : 'user', content: textOf(message) },
    uiMessage: message,
  },
});

// Returns where the last recording of a stream begins, and its run. Each recording of a stream is a separate run.
async function lastRun(session) {
  let found = {};
  for await (const entry of session.entries()) {
    if (isPart(entry) && entry.payload.begin) found = { run: entry.runId, position: entry.id };
  }
  return found;
}

const MAX_TIMER_MS = 2 ** 31 - 1; // a longer timer would fire immediately

const isPart = (entry) => entry.type === 'message_delta_batch';

// Yields what is stored, then what arrives, until nothing has arrived for `idleMs`.
async function* recordedEntries(session, position, abort, idleMs) {
  for await (const entry of session.entries({ position })) {
    position = entry.id;
    yield entry;
  }
  const following = session.follow({ position, signal: abort.signal });
  try {
    for (;;) {
      const timer = setTimeout(() => abort.abort(), Math.min(idleMs, MAX_TIMER_MS));
      const { value: entry, done } = await following.next().finally(() => clearTimeout(timer));
      if (done) return;
      yield entry;
    }
  } finally {
    await following.return();
  }
}

// Stores chunks, then passes them on, so that what a client has seen survives a crash. Chunks that arrive while others
// are being stored are stored together.
async function pump(reader, pass, keep) {
  let reading = reader.read();
  for (let ended = false; !ended; ) {
    const chunks = [];
    let failure;
    for (;;) {
      const next =
        chunks.length === 0
          ? await reading
          : await Promise.race([reading, undefined]).catch((error) => {
              failure = { error };
            });
      if (next === undefined) break;
      ended = next.done;
      if (ended) break;
      chunks.push(next.value);
      reading = reader.read();
    }
    if (chunks.length > 0) await keep(chunks);
    chunks.forEach(pass);
    if (failure) throw failure.error;
  }
}

class BoughChat {
  #branch;
  #beginnings = new Map(); // the start of each recording, by stream id

  /** Uses a store of the caller; `chatId` may be any text. */
  constructor({ store, chatId }) {
    this.#branch = new NamedBranch({ store, prefix: PREFIX, name: chatId, member: 'uiMessage', instead: 'BoughChat.open(location, { chatId })' });
  }

  static async open(location, { chatId, ...options }) {
    const chat = new BoughChat({ store: await Store.open(location, options), chatId });
    chat.#branch.ownsStore = true;
    return chat;
  }

  async close() {
    await this.#branch.close();
  }

  /** Returns the messages of the current branch, in the form that validateUIMessages accepts. */
  async load() {
    return (await this.#branch.read()).items.map(({ value }) => value);
  }

  /** Stores the messages that are new as one batch. From the first difference on they become a new branch. */
  async save(messages) {
    await this.#branch.change(({ items }) => {
      let same = 0;
      while (same < items.length && same < messages.length && digestOf(items[same].value) === digestOf(messages[same])) ++same;
      const move = same < items.length ? [headEntry(items[same].entry.parentId)] : [];
      return [...move, ...messages.slice(same).map(entryOf)];
    }, { create: messages.length > 0 });
  }

  /**
   * Records a stream of UI message chunks and passes it through; a chunk is passed on when it is durable. `streamId`
   * names the recording for resume(). The recording continues when the reader goes away. A later recording with the
   * same name replaces it.
   */
  record(streamId, stream) {
    const source = stream.getReader(); // throws immediately when the stream already has a reader
    // Steps that the reader has not taken yet. A stream that fails would drop the chunks in its own queue.
    const waiting = [];
    let wake = () => {};
    let gone = false;
    const put = (step) => {
      if (!gone) waiting.push(step);
      wake();
    };
    const outward = new ReadableStream({
      async pull(controller) {
        while (waiting.length === 0) await new Promise((resolve) => (wake = resolve));
        waiting.shift()(controller);
      },
      cancel: () => {
        gone = true;
        waiting.length = 0;
      },
    });
    this.recorded = this.#record(streamId, source, {
      pass: (chunk) => put((controller) => controller.enqueue(chunk)),
      end: (error) => put((controller) => (error ? controller.error(error) : controller.close())),
    });
    this.recorded.catch(() => {}); // callers that need the error await `recorded`
    return outward;
  }

  async #record(streamId, reader, outward) {
    const runId = randomUUID();
    let session;
    const add = (payload) => session.append({ type: 'message_delta_batch', runId, payload });
    try {
      await this.#inTurn(streamId, async () => {
        session = await openNamed(this.#branch.store, STREAM_PREFIX, this.#streamName(streamId), { create: true });
        await add({ chunks: [], begin: true });
      });
      await pump(reader, outward.pass, (chunks) => add({ chunks }));
      await add({ chunks: [], done: true });
      outward.end();
    } catch (error) {
      outward.end(error);
      reader.cancel(error).catch(() => {}); // the stream has no reader any more
      if (session) await add({ chunks: [], done: true, error: String(error?.message ?? error) });
      throw error;
    } finally {
      session?.close();
    }
  }

  // Recordings with one name begin in the order of the calls, so the last call wins.
  #inTurn(streamId, begin) {
    const before = this.#beginnings.get(streamId);
    const own = (async () => {
      await before?.catch(() => {}); // the caller of that recording handles its error
      await begin();
    })();
    const forget = () => this.#beginnings.get(streamId) === own && this.#beginnings.delete(streamId);
    this.#beginnings.set(streamId, own);
    own.then(forget, forget);
    return own;
  }

  #streamName(streamId) {
    return JSON.stringify([this.#branch.name, streamId]);
  }

  /**
   * Returns the chunks of a recorded stream from its beginning; null when there is no recording. While the stream is
   * running, in any process, later chunks follow. `idleMs` ends the wait when the server has died.
   */
  async resume(streamId, { idleMs = 30_000 } = {}) {
    await this.#beginnings.get(streamId)?.catch(() => {}); // wait for a recording that this chat is just starting
    const session = await openNamed(this.#branch.store, STREAM_PREFIX, this.#streamName(streamId));
    if (!session) return null;
    let { run, position } = await lastRun(session).catch((error) => {
      session.close();
      throw error;
    });
    const abort = new AbortController();
    const entries = recordedEntries(session, position, abort, idleMs);
    const end = async () => {
      abort.abort();
      await entries.return();
      session.close();
    };
    return new ReadableStream({
      async pull(controller) {
        for (;;) {
          const { value: entry, done } = await entries.next();
          if (!done && !isPart(entry)) continue;
          const payload = done ? undefined : entry.payload;
          run ??= entry?.runId; // the recording has just begun
          if (!done && entry.runId !== run) {
            if (!payload.begin) continue;
            await end();
            controller.error(new Error('The stream was recorded again from its beginning: resume it again.'));
            return;
          }
          for (const chunk of payload?.chunks ?? []) controller.enqueue(chunk);
          if (done || payload?.done) {
            await end();
            if (payload?.error) controller.error(new Error(payload.error));
            else controller.close();
            return;
          }
          if (payload?.chunks.length > 0) return;
        }
      },
      cancel: end,
    });
  }
}

module.exports = { BoughChat };
