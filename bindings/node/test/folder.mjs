// Makes a new store for each test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Store } from 'bough';

export async function withFolder(use) {
  const folder = await mkdtemp(path.join(tmpdir(), 'bough-'));
  try {
    return await use(path.join(folder, 'store'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs `use` with a new store, and closes the store at the end. */
export function withStore(use) {
  return withFolder(async (location) => {
    const store = await Store.open(location);
    try {
      return await use(store, location);
    } finally {
      await store.close();
    }
  });
}

/** Names that other frameworks may use, and that must not collide. */
export const HOSTILE_NAMES = [
  '', ' ', '.', '..', '../../etc/passwd', '/', 'a/b', 'a\\b', 'a:b|c', 'a_2fb', 'A', 'a', '__proto__', 'constructor', '%2e', '木', 'e\u0301', '\u00e9',
  '\0', 'line\nbreak', '\ud800', '\udc00', '\ud800x', '\ufffd', '😀', 'x'.repeat(500), `${'x'.repeat(499)}y`, '\ud800'.repeat(300), '_h', 'name', '[]', '["c","s"]',
];
