// Tests the contracts of a SessionStore of the Claude Agent SDK, one test per contract, and more.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Store } from 'bough';
import { BoughSessionStore } from 'bough/claude';

import { HOSTILE_NAMES, withFolder, withStore } from './folder.mjs';

const key = { projectKey: '-home-me-a b/木', sessionId: '11111111-2222-4333-8444-555555555555' };
const line = (uuid, text, more) => ({ type: 'user', uuid, timestamp: '2026-01-01T00:00:00.000Z', message: { role: 'user', content: text }, ...more });
const title = (text) => ({ type: 'custom-title', customTitle: text });

const contract = (name, use, options) =>
  test(name, () =>
    withFolder(async (location) => {
      const store = await BoughSessionStore.open(location, options);
      await use(store, location);
      await store.close();
    }),
  );

contract('1: what was appended is loaded, deep-equal', async (store) => {
  const lines = [
    line('u1', 'a', { parentUuid: null, isSidechain: false }),
    { type: 'assistant', uuid: 'a1', parentUuid: 'u1', message: { role: 'assistant', content: [{ type: 'text', text: '木 😀', n: 1.5, none: null }] }, extra: { list: [[], {}] } },
    { type: 'user', uuid: 'u2', message: 'not an object' },
    { type: 'summary', summary: 's', leafUuid: 'a1', message: { role: 'user' } },
  ];
  await store.append(key, lines);
  assert.deepEqual(await store.load(key), lines);
});

contract('2: a key that was never written loads as null', async (store) => {
  assert.equal(await store.load(key), null);
  await store.append(key, [line('u1', 'a')]);
  assert.equal(await store.load({ ...key, sessionId: 'other' }), null);
  assert.equal(await store.load({ ...key, subpath: 'subagents/agent-1' }), null);
});

contract('3: several appends keep their order', async (store) => {
  await Promise.all(Array.from({ length: 20 }, (_, number) => store.append(key, [line(`u${number}`, 'x'), title(`${number}`)])));
  const expected = Array.from({ length: 20 }, (_, number) => [line(`u${number}`, 'x'), title(`${number}`)]).flat();
  assert.deepEqual(await store.load(key), expected);
});

contract('4: an append of nothing changes nothing', async (store) => {
  await store.append(key, []);
  assert.equal(await store.load(key), null);
  assert.deepEqual(await store.listSessions(key.projectKey), []);
});

contract('5: a uuid is stored once, also after the store was opened again', async (store, location) => {
  await store.append(key, [line('u1', 'a'), line('u1', 'a'), line('u2', 'b')]);
  await store.append(key, [line('u2', 'b'), line('u3', 'c')]);
  const again = await BoughSessionStore.open(location);
  await again.append(key, [line('u1', 'a'), line('u3', 'c')]);
  assert.deepEqual((await again.load(key)).map((each) => each.uuid), ['u1', 'u2', 'u3']);
  await again.close();
});

contract('6: lines without a uuid are stored each time', async (store) => {
  await store.append(key, [title('t'), title('t')]);
  await store.append(key, [title('t')]);
  assert.deepEqual(await store.load(key), [title('t'), title('t'), title('t')]);
});

contract('7: a subpath is a transcript of its own', async (store) => {
  await store.append(key, [line('u1', 'main')]);
  await store.append({ ...key, subpath: 'subagents/agent-1' }, [line('u1', 'sub')]);
  assert.deepEqual(await store.load(key), [line('u1', 'main')]);
  assert.deepEqual(await store.load({ ...key, subpath: 'subagents/agent-1' }), [line('u1', 'sub')]);
});

contract('8: projects are kept apart', async (store) => {
  await store.append(key, [line('u1', 'here')]);
  await store.append({ ...key, projectKey: 'other' }, [line('u1', 'there')]);
  assert.deepEqual(await store.load({ ...key, projectKey: 'other' }), [line('u1', 'there')]);
  assert.deepEqual((await store.listSessions('other')).map((each) => each.sessionId), [key.sessionId]);
});

contract('9: sessions are listed with the time of their last write', async (store) => {
  const before = Date.now();
  await store.append(key, [line('u1', 'a')]);
  await store.append({ ...key, sessionId: 'second' }, [line('u1', 'b')]);
  await store.append({ ...key, sessionId: 'only-sub', subpath: 'subagents/x' }, [line('u1', 'c')]);
  const listed = await store.listSessions(key.projectKey);
  assert.deepEqual(listed.map((each) => each.sessionId).sort(), [key.sessionId, 'second'].sort());
  for (const { mtime } of listed) assert.ok(Number.isInteger(mtime) && mtime >= before && mtime <= Date.now());
  assert.deepEqual(await store.listSessions('nobody'), []);
});

contract('10: subkeys are listed', async (store) => {
  assert.deepEqual(await store.listSubkeys(key), []);
  await store.append(key, [line('u1', 'a')]);
  for (const subpath of ['subagents/b', 'subagents/a']) await store.append({ ...key, subpath }, [line('u1', 'x')]);
  await store.append({ ...key, sessionId: 'other', subpath: 'subagents/c' }, [line('u1', 'x')]);
  assert.deepEqual((await store.listSubkeys(key)).sort(), ['subagents/a', 'subagents/b']);
});

contract('11: delete takes the subagents along, and nothing else', async (store) => {
  await store.append(key, [line('u1', 'a')]);
  await store.append({ ...key, subpath: 'subagents/a' }, [line('u1', 'x')]);
  await store.append({ ...key, sessionId: 'other' }, [line('u1', 'stays')]);
  await store.delete(key);
  assert.equal(await store.load(key), null);
  assert.equal(await store.load({ ...key, subpath: 'subagents/a' }), null);
  assert.deepEqual(await store.listSubkeys(key), []);
  assert.deepEqual((await store.listSessions(key.projectKey)).map((each) => each.sessionId), ['other']);
  await store.append(key, [line('u1', 'new')]);
  assert.deepEqual(await store.load(key), [line('u1', 'new')]);
});

contract('12: delete of a subpath leaves the session; of what is not there, nothing happens', async (store) => {
  await store.append(key, [line('u1', 'a')]);
  await store.append({ ...key, subpath: 'subagents/a' }, [line('u1', 'x')]);
  await store.delete({ ...key, subpath: 'subagents/a' });
  await store.delete({ ...key, subpath: 'subagents/a' });
  await store.delete({ ...key, sessionId: 'nobody' });
  assert.deepEqual(await store.load(key), [line('u1', 'a')]);
  assert.deepEqual(await store.listSubkeys(key), []);
});

const fold = (before, { sessionId }, lines, { mtime }) => ({ sessionId, mtime, data: { lines: (before?.data.lines ?? 0) + lines.length } });

contract(
  '13: summaries are folded from all lines, on the clock of the list',
  async (store) => {
    await store.append(key, [line('u1', 'a')]);
    await store.append(key, [line('u2', 'b'), title('t')]);
    await store.append({ ...key, subpath: 'subagents/a' }, [line('u1', 'x')]);
    const [{ mtime }] = await store.listSessions(key.projectKey);
    assert.deepEqual(await store.listSessionSummaries(key.projectKey), [{ sessionId: key.sessionId, mtime, data: { lines: 3 } }]);
    assert.deepEqual(await store.listSessionSummaries('nobody'), []);
  },
  { foldSessionSummary: fold },
);

contract('hostile projects, sessions, subpaths and uuids stay what they are', async (store) => {
  const lines = HOSTILE_NAMES.map((name) => line(name, JSON.stringify(name)));
  for (const name of HOSTILE_NAMES) {
    await store.append({ projectKey: name, sessionId: name }, lines);
    await store.append({ projectKey: name, sessionId: name }, lines);
    await store.append({ projectKey: name, sessionId: name, subpath: name }, [line('u', name)]);
  }
  for (const name of HOSTILE_NAMES) {
    assert.deepEqual(await store.load({ projectKey: name, sessionId: name }), lines);
    assert.deepEqual((await store.listSessions(name)).map((each) => each.sessionId), [name]);
    assert.deepEqual(await store.listSubkeys({ projectKey: name, sessionId: name }), [name]);
  }
});

test('appends of one process keep their order, two processes lose nothing', () =>
  withFolder(async (location) => {
    const stores = await Promise.all([1, 2].map(() => BoughSessionStore.open(location)));
    await Promise.all(stores.flatMap((store, writer) => Array.from({ length: 20 }, (_, number) => store.append(key, [line(`${writer}-${number}`, 'x')]))));
    const loaded = (await stores[0].load(key)).map((each) => each.uuid);
    assert.equal(loaded.length, 40);
    for (const writer of [0, 1]) {
      assert.deepEqual(loaded.filter((uuid) => uuid.startsWith(`${writer}-`)), Array.from({ length: 20 }, (_, number) => `${writer}-${number}`));
    }
    for (const store of stores) await store.close();
  }));


contract('a transcript that another process deleted begins again', async (store, location) => {
  await store.append(key, [line('u1', 'old')]);
  const other = await BoughSessionStore.open(location);
  await other.delete(key);
  await other.close();
  assert.equal(await store.load(key), null);
  await store.append(key, [line('u1', 'new')]);
  assert.deepEqual(await store.load(key), [line('u1', 'new')]);
  const third = await BoughSessionStore.open(location);
  await third.delete(key);
  await third.append(key, [line('u2', 'begun again')]);
  await third.close();
  await store.append(key, [line('u1', 'newer')]);
  assert.deepEqual(await store.load(key), [line('u2', 'begun again'), line('u1', 'newer')]);
});

test('a redacted line is left out with all that it said, and the lines after it keep their chain', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const sessions = new BoughSessionStore(store);
    const key = { projectKey: 'p', sessionId: 's' };
    const line = (uuid, parentUuid, more = {}) => ({ type: 'user', uuid, parentUuid, message: { role: 'user', content: `said ${uuid}` }, ...more });
    const lines = [line('a', null), line('b', 'a', { toolUseResult: { stdout: 'secret' } }), line('odd uuid', 'b'), line('d', 'odd uuid')];
    await sessions.append(key, lines);
    assert.deepEqual(await sessions.load(key), lines);
    const session = await store.session((await store.sessionIds())[0]);
    const [, , b, odd] = await session.load();
    for (const entry of [b, odd]) await session.redact(entry.id, { by: 'test', reason: 'secret' });
    assert.deepEqual(await sessions.load(key), [lines[0], { ...lines[3], parentUuid: 'a' }]);
    assert.ok(!JSON.stringify(await session.load()).includes('stdout'));
    await store.close();
  }));

test('listing goes on while another process deletes', () =>
  withFolder(async (location) => {
    const store = await Store.open(location);
    const sessions = new BoughSessionStore(store);
    // Only the session of a long name stores the name.
    const keys = ['short', 'x'.repeat(200), 'y'.repeat(200)].map((sessionId) => ({ projectKey: 'p', sessionId }));
    for (const key of keys) await sessions.append(key, [{ type: 'user', uuid: '1', message: { role: 'user', content: 'hi' } }]);
    const gone = { sessionIds: async () => [...(await store.sessionIds()), `claude-_h${'0'.repeat(64)}`, 'claude-_5b_22p_22_2c_22gone_22_5d'], session: (id) => store.session(id) };
    assert.deepEqual((await new BoughSessionStore(gone).listSessions('p')).map((each) => each.sessionId).sort(), keys.map((each) => each.sessionId).sort());
    await store.close();
  }));

test('sessions of other programs whose ids begin like ours are not transcripts', () =>
  withStore(async (store) => {
    for (const id of ['claude-', 'claude-notes', 'claude-5', 'claude-_5b_5d', 'claude-_5b1_2c2_5d', 'claude-_7b_7d', 'claude-_hx']) await store.create({ id });
    const sessions = new BoughSessionStore(store);
    const key = { projectKey: 'p', sessionId: 's' };
    await sessions.append(key, [{ type: 'user', uuid: 'u' }]);
    assert.deepEqual((await sessions.listSessions('p')).map(({ sessionId }) => sessionId), ['s']);
    assert.deepEqual(await sessions.listSubkeys(key), []);
    await sessions.delete(key);
    assert.equal(await sessions.load(key), null);
    await sessions.close();
  }));

test('a transcript whose first line was never stored is not listed', () =>
  withStore(async (store) => {
    const sessions = new BoughSessionStore(store);
    const keys = ['s', 'x'.repeat(200)].map((sessionId) => ({ projectKey: 'p', sessionId }));
    for (const key of keys) await assert.rejects(sessions.append(key, [{ type: 'user', uuid: 'u', message: { content: 1n } }]));
    assert.equal((await store.sessionIds()).length, 2);
    assert.deepEqual(await sessions.listSessions('p'), []);
    for (const key of keys) await sessions.append(key, [{ type: 'user', uuid: 'u' }]);
    assert.equal((await sessions.listSessions('p')).length, 2);
    await sessions.close();
  }));

test('a key of anything else than texts is refused', () =>
  withStore(async (store) => {
    const sessions = new BoughSessionStore(store);
    for (const key of [{}, { projectKey: 'p' }, { projectKey: 'p', sessionId: 5 }, { projectKey: 'p', sessionId: 's', subpath: null }]) {
      await assert.rejects(sessions.append(key, [{ type: 'user', uuid: 'u' }]), TypeError);
      await assert.rejects(sessions.load(key), TypeError);
    }
    assert.deepEqual(await store.sessionIds(), []);
  }));

test('a name that only its session knows is read once', () =>
  withStore(async (store) => {
    let opened = 0;
    const counting = new Proxy(store, {
      get: (target, name) => (...given) => {
        opened += name === 'session' ? 1 : 0;
        return target[name](...given);
      },
    });
    const long = { projectKey: 'p'.repeat(200), sessionId: 's' };
    await new BoughSessionStore(store).append({ ...long, subpath: 'agent/1' }, [{ type: 'user', uuid: 'u' }]);
    const sessions = new BoughSessionStore(counting);
    assert.deepEqual(await sessions.listSubkeys(long), ['agent/1']);
    assert.equal(opened, 1);
    assert.deepEqual(await sessions.listSubkeys(long), ['agent/1']);
    assert.equal(opened, 1);
  }));
