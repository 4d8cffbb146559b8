// Names of other frameworks (thread ids, namespaces, paths: any text) as session ids, reversibly.
//
// Letters, digits and hyphens stay; every other byte of the UTF-8 text becomes `_` and two hex digits. A name that
// would be too long becomes a hash, and its session stores the name. Half of a surrogate pair, which UTF-8 cannot
// express, is encoded like a character, so that no two names share an id.
'use strict';

const { createHash } = require('node:crypto');

const MAX_ID = 100;
const HASHED = '_h';

const isPlain = (character) => /[A-Za-z0-9-]/.test(character);
const escaped = (byte) => `_${byte.toString(16).padStart(2, '0')}`;

function bytesOf(character) {
  const code = character.codePointAt(0);
  if (code < 0xd800 || code > 0xdfff) return [...Buffer.from(character, 'utf8')];
  return [0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
}

function encodedName(name) {
  let encoded = '';
  for (const character of name) encoded += isPlain(character) ? character : bytesOf(character).map(escaped).join('');
  return encoded;
}

const HALF = /_ed_([ab][0-9a-f])_([89ab][0-9a-f])/;

// Returns undefined when encodedName cannot have made the text.
function decodedName(encoded) {
  if (!/^(?:[A-Za-z0-9-]|_[0-9a-f]{2})*$/.test(encoded)) return undefined;
  const [before, high, low, ...rest] = encoded.split(HALF);
  try {
    const text = decodeURIComponent(before.replace(/_/g, '%'));
    if (high === undefined) return text;
    const half = String.fromCharCode(0xd000 | ((parseInt(high, 16) & 0x3f) << 6) | (parseInt(low, 16) & 0x3f));
    const after = decodedName(encoded.slice(before.length + '_ed_xx_xx'.length));
    return after === undefined ? undefined : text + half + after;
  } catch {
    return undefined;
  }
}

/** Returns the session id of a name; `prefix` distinguishes frameworks. */
function sessionIdOf(prefix, name) {
  if (typeof name !== 'string') throw new TypeError(`the name of a session is a text, not ${name === null ? 'null' : typeof name}`);
  const encoded = encodedName(name);
  if (prefix.length + encoded.length <= MAX_ID) return prefix + encoded;
  return prefix + HASHED + createHash('sha256').update(encoded).digest('hex');
}

const isHashed = (prefix, sessionId) => sessionId.startsWith(prefix + HASHED);

/**
 * Returns the name of a session id; undefined when it has another prefix, null when only the session stores the name.
 */
function nameOf(prefix, sessionId) {
  if (!sessionId.startsWith(prefix)) return undefined;
  return isHashed(prefix, sessionId) ? null : decodedName(sessionId.slice(prefix.length));
}

/** Checks the store that a constructor receives. `instead` is the call that opens a store. */
function storeOfCaller(store, instead) {
  if (typeof store?.session !== 'function') throw new TypeError(`the constructor takes an open Store; ${instead} opens one`);
  return store;
}

const ignoring = (code) => (error) => {
  if (error.code !== code) throw error;
};

/** Opens the session of a name; creates it when it is missing and `create` is set. */
async function openNamed(store, prefix, name, { create = false } = {}) {
  const id = sessionIdOf(prefix, name);
  let session = await store.session(id).catch(ignoring('not_found'));
  if (!session && !create) return undefined;
  session ??= await store.create({ id }).catch(ignoring('already_exists'));
  session ??= await store.session(id); // another process has created it meanwhile
  // Only the session stores a hashed name; a process that was killed may not have stored it yet.
  if (isHashed(prefix, id) && !(await session.entry('name').catch(ignoring('not_found')))) {
    await session.append({ id: 'name', type: 'custom', parentId: null, payload: { kind: 'name', name } });
  }
  return session;
}

/** Runs `work` with a session; undefined when there is none, or when another process removes it meanwhile. */
async function withSession(store, id, work) {
  const session = await store.session(id).catch(ignoring('not_found'));
  try {
    return session && (await work(session).catch(ignoring('not_found')));
  } finally {
    session?.close();
  }
}

/** Returns the results of `work` for each element, in order; runs a few at a time. */
async function mapAll(each, work) {
  const made = [];
  for (let at = 0; at < each.length; at += 16) made.push(...(await Promise.all(each.slice(at, at + 16).map(work))));
  return made;
}

/**
 * Returns all names with a prefix. `known` caches names that only their sessions store; a session id never changes its
 * name.
 */
async function namesOf(store, prefix, known = new Map()) {
  const names = await mapAll(await store.sessionIds(), async (id) => {
    const name = nameOf(prefix, id);
    if (name !== null || known.has(id)) return name ?? known.get(id);
    const said = (await withSession(store, id, (session) => session.entry('name')))?.payload.name;
    if (said !== undefined) known.set(id, said);
    return said;
  });
  return names.filter((name) => name !== undefined);
}

module.exports = { sessionIdOf, nameOf, openNamed, storeOfCaller, withSession, mapAll, namesOf };
