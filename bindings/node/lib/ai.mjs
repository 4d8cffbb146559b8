// Chats of the Vercel AI SDK: UIMessages as entries of a branch, and streams that outlive the server.
//
// save() takes the whole list of messages, as the SDK gives it. Where it departs from what is stored (an edited message, a
// regenerated answer) a new branch begins there; the old one stays. A stream that is recorded can be read again from its
// beginning, while it runs, after it has ended, and after a crash of the server that ran it.
import { createHash } from 'node:crypto';

import { Store } from './index.mjs';
import { openNamed } from './foreign-key.mjs';

const PREFIX = 'ai-';

const textOf = (message) =>
  message.parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');

const digestOf = (message) => createHash('sha256').update(JSON.stringify(message)).digest('hex').slice(0, 16);

const entryOf = (message) => ({
  payload: {
    dialect: 'bough',
    message: { role: message.role === 'assistant' || message.role === 'system' ? message.role : 'user', content: textOf(message) },
    uiMessage: message,
  },
});

export class BoughChat {
  #store;
  #owned = false;
  #name;
  #opening;

  /** Over a store of yours; `chatId` may be any text. */
  constructor({ store, chatId }) {
    this.#store = store;
    this.#name = chatId;
  }

  static async open(location, { chatId, ...options }) {
    const chat = new BoughChat({ store: await Store.open(location, options), chatId });
    chat.#owned = true;
    return chat;
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

  async #read() {
    const session = await this.#session();
    const { headId, tailId } = await session.state();
    const entries = headId ? await session.load({ branch: headId }) : [];
    const stored = entries.filter((entry) => entry.type === 'message').map((entry) => ({ entry, message: entry.payload.uiMessage }));
    return { session, tailId, stored: stored.filter(({ message }) => message !== undefined) };
  }

  /** The messages of the current branch, as validateUIMessages takes them. */
  async load() {
    return (await this.#read()).stored.map(({ message }) => message);
  }

  /** Stores the messages, as one batch: only what is new, and from the first difference on as a new branch. */
  async save(messages) {
    for (;;) {
      const { session, tailId, stored } = await this.#read();
      let same = 0;
      while (same < stored.length && same < messages.length && digestOf(stored[same].message) === digestOf(messages[same])) ++same;
      if (same === messages.length && same === stored.length) return;
      const batch = messages.slice(same).map(entryOf);
      if (same < stored.length) batch.unshift({ type: 'head', payload: { entryId: stored[same].entry.parentId } });
      try {
        await session.append(batch, { expectedTail: tailId });
        return;
      } catch (error) {
        if (error.code !== 'conflict') throw error;
      }
    }
  }

  /**
   * Records a stream of UI message chunks while it passes through. `streamId` names it, for resume(). The recording goes on
   * when the reader goes away.
   */
  record(streamId, stream) {
    let reader; // of the passing stream; undefined once it went away
    const outward = new ReadableStream({
      start: (controller) => (reader = controller),
      cancel: () => (reader = undefined),
    });
    this.recorded = this.#record(streamId, stream, {
      pass: (chunk) => reader?.enqueue(chunk),
      end: (error) => (error ? reader?.error(error) : reader?.close()),
    });
    this.recorded.catch(() => {}); // who wants to know awaits `recorded`
    return outward;
  }

  async #record(streamId, stream, outward) {
    const session = await openNamed(this.#store, PREFIX, this.#streamName(streamId), { create: true });
    const add = (payload) => session.append({ type: 'message_delta_batch', payload });
    try {
      const reader = stream.getReader();
      let reading = reader.read();
      for (let ended = false; !ended; ) {
        // What has come while the last append was on its way goes into the next one.
        const chunks = [];
        for (;;) {
          const next = chunks.length === 0 ? await reading : await Promise.race([reading, undefined]);
          if (next === undefined) break;
          ended = next.done;
          if (ended) break;
          chunks.push(next.value);
          outward.pass(next.value);
          reading = reader.read();
        }
        if (chunks.length > 0) await add({ chunks });
      }
      await add({ chunks: [], done: true });
      outward.end();
    } catch (error) {
      outward.end(error);
      await add({ chunks: [], done: true, error: String(error?.message ?? error) });
      throw error;
    } finally {
      session.close();
    }
  }

  #streamName(streamId) {
    return JSON.stringify([this.#name, streamId]);
  }

  /**
   * The chunks of a recorded stream from its beginning; null when there is none. While the stream runs, in whatever process,
   * later chunks follow. `idleMs` ends the wait for a server that died.
   */
  async resume(streamId, { idleMs = 30_000 } = {}) {
    const session = await openNamed(this.#store, PREFIX, this.#streamName(streamId));
    if (!session) return null;
    const abort = new AbortController();
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), idleMs);
    };
    const following = session.follow({ signal: abort.signal });
    const end = async () => {
      clearTimeout(timer);
      abort.abort();
      await following.return();
      session.close();
    };
    return new ReadableStream({
      async pull(controller) {
        for (;;) {
          wait();
          const { value: entry, done } = await following.next();
          const payload = !done && entry.type === 'message_delta_batch' ? entry.payload : undefined;
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
