// The branch that holds the history of one name of a framework (a chat, a session). It is read as a list of values, and
// changed by appends that fail when the tail has changed since the read.
'use strict';

const { openNamed, storeOfCaller } = require('./foreign-key.cjs');

const headEntry = (entryId) => ({ type: 'head', payload: { entryId } });

class NamedBranch {
  /** True when close() also closes the store. */
  ownsStore = false;
  #member;
  #opening;

  /**
   * `member` is the member of an entry's payload that holds the framework's own value, `instead` the call that opens a
   * store.
   */
  constructor({ store, prefix, name, member, instead }) {
    Object.assign(this, { store: storeOfCaller(store, instead), prefix, name });
    this.#member = member;
  }

  // Returns the session; undefined when there is none and `create` is not set.
  async #session(create) {
    const opening = (this.#opening ??= openNamed(this.store, this.prefix, this.name, { create }));
    const session = await opening.catch((error) => {
      this.#forget(opening); // the next call tries again
      throw error;
    });
    if (!session) this.#forget(opening);
    return session || !create ? session : this.#session(create);
  }

  #forget(opening) {
    if (this.#opening === opening) this.#opening = undefined;
  }

  // Runs `work` with the session; runs it again when another process has removed the session since it was opened.
  async #use(create, work) {
    const known = this.#opening;
    try {
      return await work(await this.#session(create));
    } catch (error) {
      if (!known || error.code !== 'not_found') throw error;
      this.#forget(known);
      return work(await this.#session(create));
    }
  }

  async close() {
    const opening = this.#opening;
    this.#opening = undefined;
    (await opening?.catch(() => undefined))?.close();
    if (this.ownsStore) await this.store.close();
  }

  /**
   * Returns the values of the head's branch with their entries, and the current tail; empty when there is no session.
   */
  read() {
    return this.#use(false, (session) => this.#read(session));
  }

  async #read(session) {
    const { headId, tailId } = session ? await session.state() : {};
    const items = [];
    for (const entry of headId ? await session.load({ branch: headId }) : []) {
      const value = entry.type === 'message' ? entry.payload[this.#member] : undefined;
      if (value !== undefined) items.push({ value, entry });
    }
    return { session, tailId, items };
  }

  append(batch) {
    return this.#use(true, (session) => session.append(batch));
  }

  /**
   * Appends the batch that `change` makes of what was read; reads again when another writer was faster. Without
   * `create`, does nothing when there is no session.
   */
  change(change, { create = true } = {}) {
    return this.#use(create, async (session) => {
      while (session) {
        const read = await this.#read(session);
        const batch = await change(read);
        if (!batch || batch.length === 0) return;
        try {
          await session.append(batch, { expectedTail: read.tailId });
          return;
        } catch (error) {
          if (error.code !== 'conflict') throw error;
        }
      }
    });
  }
}

module.exports = { headEntry, NamedBranch };
