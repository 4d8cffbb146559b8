// The branch that is the history of one name of a framework (a chat, a session): read as a list of values, and changed by
// appends that name the tail they were made for.
import { openNamed } from './foreign-key.mjs';

export const headEntry = (entryId) => ({ type: 'head', payload: { entryId } });

export class NamedBranch {
  /** Whether close() closes the store, too. */
  ownsStore = false;
  #member;
  #opening;

  /** `member` is where an entry's payload holds the framework's own value. */
  constructor({ store, prefix, name, member }) {
    Object.assign(this, { store, prefix, name });
    this.#member = member;
  }

  session() {
    this.#opening ??= openNamed(this.store, this.prefix, this.name, { create: true }).catch((error) => {
      this.#opening = undefined; // the next call tries again
      throw error;
    });
    return this.#opening;
  }

  async close() {
    const opening = this.#opening;
    this.#opening = undefined;
    (await opening?.catch(() => undefined))?.close();
    if (this.ownsStore) await this.store.close();
  }

  /** The values of the head's branch with their entries, and the tail at that moment. */
  async read() {
    const session = await this.session();
    const { headId, tailId } = await session.state();
    const items = [];
    for (const entry of headId ? await session.load({ branch: headId }) : []) {
      const value = entry.type === 'message' ? entry.payload[this.#member] : undefined;
      if (value !== undefined) items.push({ value, entry });
    }
    return { session, tailId, items };
  }

  /** Appends what `change` makes of what was read; reads again when another writer was faster. */
  async change(change) {
    for (;;) {
      const read = await this.read();
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
}
