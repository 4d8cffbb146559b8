// Keeps open what belongs to the names that were used last. The rest is closed when it is no longer in use, so that a
// server with many names keeps at most `limit` of them open.
'use strict';

class Recent {
  #open;
  #limit;
  #slots = new Map(); // the most recently used name comes last

  /** `open(name, create)` resolves to an object with close(), or to undefined when there is none. */
  constructor(open, limit = 100) {
    this.#open = open;
    this.#limit = limit;
  }

  get size() {
    return this.#slots.size;
  }

  /**
   * Runs `work` with the open object of a name, or with undefined when there is none. It stays open until `work` is
   * done.
   */
  async use(name, create, work) {
    const known = this.#slots.has(name);
    try {
      return await this.#use(name, create, work);
    } catch (error) {
      if (!known || error.code !== 'not_found') throw error;
      this.drop(name); // another process may have deleted it since it was opened
      return this.#use(name, create, work);
    }
  }

  async #use(name, create, work) {
    const slot = this.#slots.get(name) ?? { users: 0, opening: this.#open(name, create) };
    this.#slots.delete(name);
    this.#slots.set(name, slot);
    ++slot.users;
    let opened;
    try {
      opened = await slot.opening.finally(() => this.#trim());
      if (opened || !create) return await work(opened);
    } finally {
      --slot.users;
      if (!opened) this.#forget(name, slot); // the next call tries again
      this.#closeUnused(slot);
    }
    return this.#use(name, create, work); // an earlier lookup without `create` had found nothing
  }

  /** Forgets a name; the next use opens it again. */
  drop(name) {
    const slot = this.#slots.get(name);
    if (slot) this.#forget(name, slot);
  }

  async close() {
    const slots = [...this.#slots];
    for (const [name, slot] of slots) this.#forget(name, slot);
    await Promise.all(slots.map(([, slot]) => slot.opening.catch(() => undefined)));
  }

  #trim() {
    for (const [name, slot] of this.#slots) {
      if (this.#slots.size <= this.#limit) return;
      if (slot.users === 0) this.#forget(name, slot);
    }
  }

  #forget(name, slot) {
    if (this.#slots.get(name) === slot) this.#slots.delete(name);
    slot.forgotten = true;
    this.#closeUnused(slot);
  }

  #closeUnused(slot) {
    if (!slot.forgotten || slot.users > 0 || slot.closed) return;
    slot.closed = true;
    slot.opening.then((opened) => opened?.close(), () => undefined);
  }
}

module.exports = { Recent };
