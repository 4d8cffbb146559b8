// Tests the package as its users see it: node --test, with BOUGH_NODE_BINARY set to bough.node, or with the package
// installed.
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { BoughError, Store, assistantText, convert, message, userText } from 'bough';

import { withStore } from './folder.mjs';

const content = (entry) => entry.payload.message.content;

test('payloads come back byte for byte, as strings and as buffers', () =>
  withStore(async (store) => {
    const session = await store.create({ title: 'Test' });
    const raw = '{"dialect":"anthropic","message":{"role":"user","content":"\\u6728 1.50"},"n":1e400}';
    await session.append([{ payload: raw }, { payload: Buffer.from(raw) }]);
    assert.deepEqual((await session.history()).map((entry) => entry.payloadJson), [raw, raw]);
  }));

test('texts of every kind survive', () =>
  withStore(async (store) => {
    const session = await store.create();
    const long = Array.from({ length: 20 }, (_, number) => `${'x'.repeat(440 + number)}🌳木`); // around the size limit of
                                                                                             // a short text
    const texts = [...long, 'plain', '"quoted"\\', '東京 🌳', 'a\0b', 'line\nline', 'x'.repeat(300_000)];
    for (const text of texts) await session.append(userText(text));
    assert.deepEqual((await session.history()).map(content), texts);
  }));

test('one character that is not ASCII, at any place of what is loaded', () =>
  withStore(async (store) => {
    const session = await store.create();
    const texts = Array.from({ length: 24 }, (_, place) => `${'x'.repeat(place)}é${'x'.repeat(23 - place)}`);
    for (const text of [...texts, 'plain']) {
      const { lastId } = await session.append(userText(text));
      assert.equal(content(await session.entry(lastId)), text);
    }
    assert.deepEqual((await session.history()).map(content), [...texts, 'plain']);
  }));

test('a repeated append is a duplicate, another content a conflict of ids', () =>
  withStore(async (store) => {
    const session = await store.create();
    assert.deepEqual(await session.append(userText('once', { id: 'e-1' })), { lastId: 'e-1', appended: 1, duplicates: 0 });
    assert.deepEqual(session.appendSync(userText('once', { id: 'e-1' })), { lastId: 'e-1', appended: 0, duplicates: 1 });
    await assert.rejects(session.append(userText('other', { id: 'e-1' })), (error) => error instanceof BoughError && error.code === 'id_conflict' && error.batchPlace === 1);
    await assert.rejects(session.append(userText('x'), { expectedTail: 'e-0' }), (error) => error.code === 'conflict' && error.tail === 'e-1');
  }));

test('an append of a turn that is over is a conflict', () =>
  withStore(async (store) => {
    const session = await store.create();
    const first = await session.beginTurn();
    const second = await session.beginTurn();
    assert.ok(second > first);
    await assert.rejects(session.append(userText('late'), { turn: first }), { code: 'conflict' });
    await session.append(userText('now'), { turn: second });
  }));

test('two agents with a lease see one another', () =>
  withStore(async (store) => {
    const mine = await store.create({ id: 'shared' });
    const theirs = await store.session('shared');
    const turn = await mine.leaseTurn(60_000);
    await assert.rejects(theirs.leaseTurn(60_000), { code: 'busy', retryable: true });
    await mine.renewTurn(turn, 60_000);
    await mine.append(userText('one'), { turn });
    await mine.renewTurn(turn, 0);
    const later = await theirs.leaseTurn(60_000);
    await assert.rejects(mine.append(userText('late'), { turn }), { code: 'conflict' });
    await assert.rejects(mine.renewTurn(turn, 60_000), { code: 'conflict' });
    await theirs.renewTurn(later, 0);
    for (const wrong of [0, 3_600_001]) await assert.rejects(mine.leaseTurn(wrong), { code: 'invalid_argument' });
    for (const wrong of [-1, 1.5, NaN, '7', undefined]) await assert.rejects(mine.leaseTurn(wrong), { code: 'invalid_argument' });
    await assert.rejects(mine.renewTurn(later), { code: 'invalid_argument' });
  }));

test('branches, forks, labels, redaction', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append([userText('ask', { id: 'a' }), assistantText('one', { id: 'b' })]);
    await session.moveHead('a');
    await session.append(assistantText('two', { id: 'c' }));
    assert.deepEqual((await session.branches()).map((branch) => branch.leafId).sort(), ['b', 'c']);
    assert.deepEqual(await session.diff('b', 'c'), { common: ['a'], sameEntries: 1, left: ['b'], right: ['c'] });
    await session.label('b', 'first');
    assert.equal((await session.labels())[0].name, 'first');
    const fork = await session.fork('b');
    assert.deepEqual((await fork.history()).map((entry) => entry.id), ['a', 'b']);
    await session.redact('c', { by: 'test', reason: 'secret' });
    assert.equal((await session.entry('c')).redacted, true);
    assert.deepEqual((await session.tree()).entries.map((entry) => entry.entryId), ['a', 'b', 'c']);
    await session.append({ payload: { dialect: 'bough', message: { role: 'user', content: 'root' } }, parentId: null });
    assert.equal((await session.history()).length, 1);
  }));

test('iterating gives all entries; load gives a branch', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append(Array.from({ length: 20 }, (_, number) => userText(String(number), { id: `e-${number}` })));
    const ids = [];
    for await (const entry of session.entries({ count: 3 })) ids.push(entry.id);
    assert.equal(ids.length, 21);
    assert.deepEqual((await session.load({ branch: 'e-19', last: 2 })).map((entry) => entry.id), ['e-18', 'e-19']);
    assert.deepEqual(session.loadSync({ from: 1, limit: 2 }).map((entry) => entry.id), ['e-0', 'e-1']);
  }));

test('following gives what comes, and ends with its signal', () =>
  withStore(async (store) => {
    const session = await store.create();
    const abort = new AbortController();
    const seen = [];
    const following = (async () => {
      for await (const entry of session.follow({ signal: abort.signal })) {
        seen.push(entry.type);
        if (entry.id === 'last') abort.abort();
      }
    })();
    await session.append(userText('one'));
    await session.append(userText('two', { id: 'last' }));
    await following;
    assert.deepEqual(seen, ['session_header', 'message', 'message']);
  }));

test('a follower that waits ends with return() and with its store', () =>
  withStore(async (store) => {
    const session = await store.create();
    const returned = session.follow();
    await returned.next();
    const pending = returned.next();
    assert.deepEqual(await returned.return(), { value: undefined, done: true });
    assert.deepEqual(await pending, { value: undefined, done: true });
    assert.deepEqual(await session.follow().return(), { value: undefined, done: true });
    assert.deepEqual(await session.follow({ signal: AbortSignal.abort() }).next(), { value: undefined, done: true });
    await assert.rejects(session.follow({ signal: {} }).next(), TypeError);
    const cut = session.follow();
    await cut.next();
    const closed = assert.rejects(cut.next(), { code: 'closed' });
    const cursor = session.entries({ count: 1 });
    await cursor.next();
    await store.close();
    await closed;
    await assert.rejects(cursor.next(), { code: 'closed' });
  }));

test('calls are kept off the main thread', () =>
  withStore(async (store) => {
    const session = await store.create();
    let ticks = 0;
    const timer = setInterval(() => ++ticks, 0);
    await Promise.all(Array.from({ length: 200 }, (_, number) => session.append(userText(String(number)))));
    clearInterval(timer);
    assert.ok(ticks > 0);
    assert.equal((await session.load({ type: 'message' })).length, 200);
  }));

test('context, conversion, lists, search, usage, attachments, trash', () =>
  withStore(async (store) => {
    const session = await store.create({ title: 'Trees' });
    await session.append(message('anthropic', '{"role":"user","content":"Where do oaks grow?"}'));
    assert.equal((await session.context({ dialect: 'gemini' })).messages[0].parts[0].text, 'Where do oaks grow?');
    await assert.rejects(session.context({ dialekt: 'gemini' }), { code: 'invalid_argument' });
    const document = '[{"role":"user","content":"Hello"}]';
    const there = await convert(document, 'anthropic', 'openai-chat');
    assert.equal((await convert(there.document, 'openai-chat', 'anthropic', there.wayBack)).document, document);
    assert.deepEqual((await store.list()).map((row) => row.title), ['Trees']);
    assert.deepEqual(await store.list({ after: (await store.list()).at(-1) }), []);
    assert.equal((await store.search('oaks')).length, 1);
    assert.equal((await store.usage({ by: 'model' })).total.inputTokens, 0);
    const sha256 = await store.putAttachment(Buffer.from([0, 1, 255]));
    assert.deepEqual(await store.attachment(sha256), Buffer.from([0, 1, 255]));
    assert.equal((await session.verify()).problemCount, 0);
    const trashId = await store.trash(session.id);
    assert.deepEqual(await store.sessionIds(), []);
    await store.restore(trashId);
    assert.deepEqual(await store.sessionIds(), [session.id]);
  }));

test('what was closed, and what is wrong, says so', () =>
  withStore(async (store) => {
    const session = await store.create();
    session.close();
    await assert.rejects(session.state(), { code: 'closed' });
    await assert.rejects(store.session('nobody'), { code: 'not_found' });
    await assert.rejects(store.session('../etc'), { code: 'invalid_argument' });
    await assert.rejects((await store.create()).append({ payload: '{"a":1,}' }), { code: 'invalid_argument' });
    assert.throws(() => store.createSync({ id: {} }), TypeError);
    for (const text of [undefined, null, 5, Buffer.from('x')]) assert.throws(() => userText(text), TypeError);
    await store.close();
    await assert.rejects(store.create(), { code: 'closed' });
  }));

test('numbers, words and texts of the wrong kind are refused', () =>
  withStore(async (store) => {
    const session = await store.create();
    for (const options of [{ last: -1 }, { limit: NaN }, { from: 1.5 }, { limit: Infinity }, { last: '3' }, { branch: 7 }]) {
      await assert.rejects(session.load(options), { code: 'invalid_argument' }, JSON.stringify(options));
    }
    for (const value of [true, false]) {
      await assert.rejects(session.load({ limit: value }), { code: 'invalid_argument' });
      await assert.rejects(session.append(userText('x'), { turn: value }), { code: 'invalid_argument' });
      await assert.rejects(session.leaseTurn(value), { code: 'invalid_argument' });
      await assert.rejects(session.entries({ count: value }).next(), { code: 'invalid_argument' });
      await assert.rejects(Store.open('memory:', { lockTimeoutMs: value }), { code: 'invalid_argument' });
    }
    await session.load({ showRedacted: true });
    await assert.rejects(session.append(userText('x'), { durability: 'maybe' }), TypeError);
    await assert.rejects(Store.open('memory:', { durability: 'maybe' }), TypeError);
    await assert.rejects(session.append({ payload: '{}', id: 7 }), TypeError);
    await assert.rejects(store.create({ id: {} }), TypeError);
    for (const payload of [Promise.resolve({}), new Map(), new Set(), undefined, () => 1]) await assert.rejects(session.append({ payload }), `${payload}`);
    for (const entry of [undefined, null, 'text', [undefined]]) await assert.rejects(session.append(entry), TypeError);
    await session.append({ type: 'custom', payload: new TextEncoder().encode('{"a":1}').buffer });
    assert.equal((await session.load({ last: 1 }))[0].payloadJson, '{"a":1}');
    await assert.rejects(Store.open('a\0b'), { code: 'invalid_argument' });
    for (const options of ['text', 7, [], () => 1]) {
      await assert.rejects(store.list(options), TypeError);
      await assert.rejects(store.usage(options), TypeError);
      await assert.rejects(store.search('x', options), TypeError);
      await assert.rejects(session.context(options), TypeError);
    }
    await assert.rejects(session.entries({ count: 0 }).next(), { code: 'invalid_argument' });
    for (const bytes of ['\ud800', 7, new Date(), [1]]) await assert.rejects(store.putAttachment(bytes), TypeError);
    assert.equal(String(await store.attachment(await store.putAttachment('\u6728'))), '\u6728');
    // JSON has an escape for half of a surrogate pair; UTF-8 cannot express it.
    await assert.rejects(session.setTitle('\ud800'), TypeError);
    await session.setTitle('\ufffd \u{1f333}');
    await session.append(userText('\ud800'));
    assert.equal(content((await session.history()).at(-1)), '\ud800');
  }));

test('what is erased is gone, and a receipt is left', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append([userText('hunter2', { id: 'a' }), userText('kept', { id: 'b' })]);
    const report = await session.erase(['a'], { by: 'test', reason: 'a password' });
    assert.deepEqual(report.entries.map((entry) => entry.entryId), ['a']);
    assert.equal((await session.load({ showRedacted: true }))[1].payloadJson.includes('hunter2'), false);
    await assert.rejects(session.erase(['nobody'], { by: 'test', reason: 'none' }), { code: 'not_found' });
  }));

test('a name that was mistyped is refused', () =>
  withStore(async (store) => {
    const session = await store.create();
    const entry = userText('hi');
    const wrong = [
      () => session.append(entry, { expectedTial: 'x' }),
      () => session.append({ ...entry, parentID: 'x' }),
      () => session.load({ lsat: 3 }),
      () => session.entries({ postion: 'x' }).next(),
      async () => session.follow({ singal: undefined }),
      () => store.create({ titel: 'x' }),
      () => Store.open('memory:', { lockTimeout: 5 }),
      () => session.context({ dialekt: 'gemini' }),
      () => store.list({ limt: 1 }),
      () => session.detach({ rset: true }),
      () => session.redact('a', { by: 'test', raeson: 'secret' }),
    ];
    for (const each of wrong) await assert.rejects(each, /there is no (option|member of an entry) "/);
    assert.equal((await session.load()).length, 1);
    // Stored entries can be appended elsewhere, unchanged and as JSON.
    await session.append({ ...entry, id: 'a' });
    const [stored] = await session.load({ last: 1 });
    await (await store.create()).append(stored);
    await (await store.create()).append(JSON.parse(JSON.stringify(stored)));
  }));

test('options that are not an object are refused', () =>
  withStore(async (store) => {
    const session = await store.create();
    const entry = userText('hi');
    const wrong = (options) => [
      () => session.append(entry, options),
      async () => session.appendSync(entry, options),
      () => session.load(options),
      async () => session.loadSync(options),
      () => session.entries(options).next(),
      async () => session.follow(options),
      () => session.detach(options),
      () => session.redact('a', options),
      () => session.erase(['a'], options),
      () => session.context(options),
      () => store.create(options),
      () => store.list(options),
      () => Store.open('memory:', options),
    ];
    for (const options of [20, 0, true, false, 1n]) {
      for (const each of wrong(options)) await assert.rejects(each, { name: 'TypeError', message: 'the options are not an object' });
    }
    assert.equal((await session.load()).length, 1);
  }));

test('a message is what a provider wrote', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append(message('gemini', Buffer.from('{"role":"user","parts":[{"text":"Eiche 🌳"}]}'), { id: 'a' }));
    assert.equal((await session.load()).at(-1).payload.message.parts[0].text, 'Eiche 🌳');
    assert.throws(() => message('anthropic', Buffer.from('{"content":"\xff"}', 'latin1')), TypeError);
    for (const absent of [null, undefined]) assert.throws(() => message('anthropic', absent), TypeError);
    assert.throws(() => message('klingon', '{}'), /dialect is none of anthropic.*: klingon/);
  }));

test('forks, detaching, other providers, unused attachments', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append(message('anthropic', { role: 'user', content: 'hi' }, { id: 'a' }));
    const fork = await session.fork('a');
    assert.deepEqual(await session.forks(), [fork.id]);
    await assert.rejects(store.trash(session.id), { code: 'has_forks' });
    await fork.detach();
    await store.trash(session.id);
    const { session: other, report } = await fork.migrateProvider('gemini');
    assert.equal((await other.history()).at(-1).payload.dialect, 'gemini');
    assert.equal(report.compatible, true);
    const unused = await store.putAttachment(Buffer.from('nobody names this'));
    assert.deepEqual(await store.unusedAttachments(), [unused]);
    assert.equal(await store.removeAttachments([unused]), 1);
    assert.equal((await fork.torn()).fileBytes, 0);
  }));

test('a slow reader of a follower gets every entry once', () =>
  withStore(async (store) => {
    const session = await store.create();
    const seen = [];
    for (let i = 0; i < 5; ++i) await session.append(userText(String(i), { id: `e-${i}` }));
    for await (const entry of session.follow()) {
      seen.push(entry.id);
      if (entry.id === 'e-29') break;
      if (seen.length < 26) await session.append(userText('x', { id: `e-${seen.length + 4}` }));
      await new Promise(setImmediate);
    }
    assert.deepEqual(seen.slice(1), Array.from({ length: 30 }, (_, i) => `e-${i}`));
  }));

test('CommonJS has the same names', () => {
  const required = createRequire(import.meta.url)('bough');
  assert.equal(required.Store, Store);
});

test('throw() ends a follower that waits', () =>
  withStore(async (store) => {
    const session = await store.create();
    const entries = session.follow({ position: (await session.state()).tailId });
    const waiting = entries.next();
    await assert.rejects(entries.throw(new Error('enough')), /enough/);
    assert.equal((await waiting).done, true);
    assert.equal((await entries.next()).done, true);
    await assert.rejects(session.follow().throw(new Error('at once')), /at once/);
  }));

test('what JSON would write as nothing is refused, and shared bytes are stored', () =>
  withStore(async (store) => {
    const session = await store.create();
    for (const nothing of [new Map(), new Set(), Promise.resolve(), new WeakMap(), new WeakSet(), /x/, new Error('x'), new RangeError('x')]) {
      assert.throws(() => session.appendSync({ payload: nothing }), TypeError);
      assert.throws(() => session.appendSync({ payload: {}, meta: nothing }), TypeError);
    }
    class Message {
      text = 'kept';
    }
    const shared = new SharedArrayBuffer(7);
    new Uint8Array(shared).set(Buffer.from('{"a":1}'));
    await session.append([{ payload: shared }, { payload: new Message() }]);
    assert.deepEqual((await session.load({ type: 'message' })).map((entry) => entry.payloadJson), ['{"a":1}', '{"text":"kept"}']);
  }));

test('the head moves before the first entry only when null says so', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append(userText('a', { id: 'a' }));
    await assert.rejects(async () => session.moveHead(undefined), TypeError);
    assert.equal((await session.state()).headId, 'a');
    await session.moveHead(null);
    assert.equal((await session.state()).headId, '');
  }));

test('one entry appended at once is what it is in a batch', () =>
  withStore(async (store) => {
    const session = await store.create();
    const members = (entry) => [entry.parentId, entry.type, entry.runId, entry.payloadJson, entry.meta];
    const object = (text) => JSON.stringify({ text });
    // Around the size of the memory that a call has for its texts, for single texts and for texts after others.
    const lengths = [0, 1, 400, 4060, 4085, 4086, 4087, 4088, 4089, 4090, 4091, 4092, 4093, 4096, 5000, 300_000];
    const payloads = lengths.flatMap((length) => ['', 'é', '木', '🌳'].map((end) => object('x'.repeat(Math.max(0, length - 11)) + end)));
    const entries = [
      ...payloads.map((payload) => ({ payload })),
      ...payloads.map((payload) => ({ payload, meta: payload, type: 'custom', runId: 'run', parentId: null })),
      { payload: Buffer.from(object('bytes')), meta: Buffer.from(object('木')), timestamp: '2026-01-02T03:04:05.678Z' },
      { payload: { plain: 1 }, parentId: 'first', type: undefined, id: undefined },
    ];
    await session.append(userText('first', { id: 'first' }));
    for (const [number, entry] of entries.entries()) {
      await session.moveHead('first'); // so that both have the same parent
      const one = session.appendSync({ ...entry, id: `one-${number}` });
      assert.deepEqual(one, { lastId: `one-${number}`, appended: 1, duplicates: 0 });
      assert.deepEqual(session.appendSync({ ...entry, id: `one-${number}` }), { ...one, appended: 0, duplicates: 1 });
      await session.moveHead('first');
      session.appendSync([{ ...entry, id: `batch-${number}` }]);
      assert.deepEqual(members(await session.entry(`one-${number}`)), members(await session.entry(`batch-${number}`)));
    }
    const { entryCount } = await session.state();
    const wrong = [{ id: 5 }, { id: {} }, { parentId: false }, { type: true }, { timestamp: Symbol('x') }, { runId: () => 1 }, { meta: 5 }, { type: '\ud800' }, { runId: 1n }];
    for (const each of wrong) {
      assert.throws(() => session.appendSync({ payload: {}, ...each }), (error) => error instanceof TypeError || error.code === 'invalid_argument', JSON.stringify(Object.keys(each)));
    }
    for (const payload of ['', Buffer.alloc(0), '[]', 'x'.repeat(5000), object('x').replace('x', '\ud800'), Buffer.from([0x7b, 0xff, 0x7d])]) {
      assert.throws(() => session.appendSync({ payload }), (error) => error instanceof TypeError || error.code === 'invalid_argument');
    }
    assert.throws(() => session.appendSync(userText('x', { id: 'first' })), (error) => error instanceof BoughError && error.code === 'id_conflict' && error.batchPlace === 1);
    assert.equal((await session.state()).entryCount, entryCount);
    session.close();
    assert.throws(() => session.appendSync(userText('x')), { code: 'closed' });
  }));

test('large parts that are loaded without a pause do not fill the memory', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append(Array.from({ length: 20 }, (_, number) => userText('y'.repeat(100_000) + number)));
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 300; ++count) assert.equal(content(session.loadSync()[20]).length, 100_002);
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 400e6, `${grown} bytes more for 600 MB, one part of 2 MB after the other`);
  }));

test('an entry is shown with its own texts alone', () =>
  withStore(async (store) => {
    const session = await store.create();
    await session.append([userText('木'), userText('other')]);
    const shown = inspect((await session.history())[0], { depth: 5 });
    assert.match(shown, /^Entry \{[^]*content: '木'/);
    assert.ok(!shown.includes('other'), shown);
  }));

test('a wrong argument rejects, and is not thrown', () =>
  withStore(async (store) => {
    const session = await store.create();
    for (const call of ['redact', 'erase', 'detach', 'label', 'fork', 'entry', 'leaseTurn', 'renewTurn', 'dropTorn', 'moveHead', 'migrateProvider']) {
      const promise = session[call](...(call === 'detach' ? [null] : []));
      await assert.rejects(promise, call);
    }
    await assert.rejects(session.moveHead(''), { code: 'invalid_argument' });
    await assert.rejects(store.removeTrashed('mistyped'), { code: 'not_found' });
    await assert.rejects(convert(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), 'bough', 'bough'), { code: 'invalid_argument' });
  }));

// Package managers that only show a package its declared dependencies (Yarn's Plug'n'Play, pnpm without hoisting) need
// this.
test('frameworks that an adapter imports are optional peers', async () => {
  const folder = path.dirname(createRequire(import.meta.url).resolve('bough/package.json'));
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const imported = new Set();
  for (const file of await readdir(path.join(folder, 'lib'))) {
    const text = await readFile(path.join(folder, 'lib', file), 'utf8');
    for (const [, name] of text.matchAll(/ from '(?!node:|\.)((?:@[^/']+\/)?[^/']+)/g)) imported.add(name);
  }
  assert.deepEqual([...imported].sort(), Object.keys(peerDependencies));
  for (const name of imported) assert.equal(peerDependenciesMeta[name].optional, true);
});
