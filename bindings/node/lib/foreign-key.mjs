// Names of other frameworks (thread ids, namespaces, paths: any text) as session ids, reversibly.
//
// Letters, digits and hyphens stay; every other byte of the UTF-8 text becomes `_` and two hex digits. A name that would be
// too long becomes a hash; the session itself then says which name it stands for.
import { createHash } from 'node:crypto';

const MAX_ID = 100;
const HASHED = '_h';

/** The session id of a name; `prefix` tells frameworks apart. */
export function sessionIdOf(prefix, name) {
  let encoded = '';
  for (const byte of Buffer.from(name, 'utf8')) {
    const character = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9-]/.test(character) ? character : `_${byte.toString(16).padStart(2, '0')}`;
  }
  if (prefix.length + encoded.length <= MAX_ID) return prefix + encoded;
  return prefix + HASHED + createHash('sha256').update(name, 'utf8').digest('hex');
}

/** The name that a session id stands for; undefined when it is of another prefix, null when only the session knows. */
export function nameOf(prefix, sessionId) {
  if (!sessionId.startsWith(prefix)) return undefined;
  const encoded = sessionId.slice(prefix.length);
  if (encoded.startsWith(HASHED)) return null;
  const bytes = encoded.replace(/_([0-9a-f]{2})/g, (_, digits) => `%${digits}`);
  return decodeURIComponent(bytes);
}

/** Opens the session of a name, and makes it when it is missing and `create` is set. */
export async function openNamed(store, prefix, name, { create = false, about = {} } = {}) {
  const id = sessionIdOf(prefix, name);
  try {
    return await store.session(id);
  } catch (error) {
    if (error.code !== 'not_found') throw error;
  }
  if (!create) return undefined;
  try {
    const session = await store.create({ id });
    await session.append({ id: 'name', type: 'custom', parentId: null, payload: { kind: 'name', name, ...about } });
    return session;
  } catch (error) {
    if (error.code !== 'already_exists') throw error;
    return store.session(id); // another process was faster
  }
}

/** All names of a prefix. */
export async function namesOf(store, prefix) {
  const names = [];
  for (const id of await store.sessionIds()) {
    let name = nameOf(prefix, id);
    if (name === null) {
      const session = await store.session(id);
      name = (await session.entry('name')).payload.name;
      session.close();
    }
    if (name !== undefined) names.push(name);
  }
  return names;
}
