// The store on a server of Terraform's http protocol: what every store promises, and what only this protocol can do wrong.
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/model/index.js';
import {
  documentStore,
  type DocumentStoreOptions,
} from '../../../src/state/backends/http/document-store.js';
import {
  stateAddress,
  stateServer,
  type StateServerOptions,
} from '../../../src/state/backends/http/state-server.js';
import { rescueIn } from '../../../src/state/backends/registers/rescue.js';
import type { Store } from '../../../src/state/index.js';
import { simulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import {
  GITLAB_PATH,
  PLAIN_PATH,
  STATE_USERS,
  stateRules,
  type StateAnswer,
  type StateRequest,
} from '../../support/state-rules.js';
import { conformance, refusal } from './conformance.js';
import { entry, intent, memory, result, TARGET } from './samples.js';

/** What becomes of a request: undefined for what the rules say. `lost`: it takes effect, without an answer; `dropped`: it does not arrive. */
type Fault = (request: StateRequest) => 'lost' | 'dropped' | StateAnswer | undefined;

const isDocument = ({ method, path }: StateRequest): boolean =>
  method === 'POST' && path.includes('?ID=');

function place(path = GITLAB_PATH, seed = 1) {
  const [clock, machine, files, random] = [
    simulatedClock(),
    simulatedMachine(),
    simulatedFiles(),
    seededRandom(seed),
  ];
  const rules = stateRules(() => new Date(clock.now()).toISOString());
  const seen: StateRequest[] = [];
  const said: Diagnostic[] = [];
  const faults: { now: Fault } = { now: () => undefined };
  const transport: StateServerOptions['transport'] = async ({
    method,
    url,
    headers,
    body = '',
  }) => {
    const { pathname, search } = new URL(url);
    const request = {
      method,
      path: `${pathname}${search}`,
      authorization: headers['authorization'],
      body,
    };
    seen.push(request);
    const fault = faults.now(request);
    if (fault === 'dropped') throw Object.assign(new Error('cut'), { code: 'ECONNREFUSED' });
    if (typeof fault === 'object') return { ...fault, headers: {} };
    const answer = rules.answer(request);
    if (fault === 'lost') throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    return { ...answer, headers: {} };
  };
  const server = (more: Partial<StateServerOptions> = {}) =>
    stateServer({
      url: new URL(`https://gitlab.example.com${path}/prod`),
      user: 'maintainer',
      password: STATE_USERS.maintainer,
      version: '0.1.0',
      transport,
      clock,
      random,
      ...more,
    });
  const store = (
    more: Partial<DocumentStoreOptions> = {},
    connection: Partial<StateServerOptions> = {},
  ): Store => {
    const one = server(connection);
    return documentStore({
      server: one,
      clock,
      random,
      lock: machine.start(),
      version: '0.1.0',
      project: 'default',
      rescue: rescueIn('/sim/rescue', one.location, { files, random, clock }),
      notify: (diagnostic) => void said.push(diagnostic),
      ...more,
    });
  };
  return {
    clock,
    machine,
    files,
    rules,
    seen,
    said,
    faults,
    server,
    store,
    kept: () => rules.kept.get('prod')!,
    document: () => JSON.parse(rules.document('prod')!),
    posts: () => seen.filter(isDocument),
    /** As in the page of GitLab: whoever holds it. */
    freeLock: () => void (rules.kept.get('prod')!.lock = undefined),
    /** A document, by the server's own hand. */
    put: (text: string) => {
      const state = rules.kept.get('prod') ?? { versions: new Map(), lock: undefined };
      rules.kept.set('prod', state);
      state.versions.clear();
      state.versions.set(0, text);
    },
  };
}

for (const [name, path] of [
  ['a server with the rules of GitLab', GITLAB_PATH],
  ['a server with LOCK and UNLOCK', PLAIN_PATH],
] as const)
  conformance(`the store on ${name}`, async () => {
    const { clock, store, rules, freeLock } = place(path);
    return {
      clock,
      store,
      bytes: async () => {
        const text = rules.document('prod');
        if (text === undefined) return undefined;
        const { lineage, trueup } = JSON.parse(text);
        return { lineage, state: trueup.state, journal: trueup.journal };
      },
      steal: async () => freeLock(),
    };
  });

describe('the document of a state', () => {
  it('has what GitLab asks for, and grows by one serial with each write', async () => {
    const { store, document, posts } = place();
    const session = await store().open('apply', TARGET);
    expect(document()).toMatchObject({ serial: 1, lineage: session.snapshot.state.lineage });
    await session.record(intent('1'));
    await session.record(result('1'));
    expect(document().serial).toBe(3);
    await session.compact();
    await session.release();
    expect(document()).toMatchObject({ serial: 5, trueup: { holder: null, journal: [] } });
    expect(document()).not.toHaveProperty('version');
    const serials = posts().map(({ body }) => JSON.parse(body).serial);
    // The first one is the proof that a document with another id is refused.
    expect(serials).toEqual([1, 1, 2, 3, 4, 5]);
  });

  it('is refused where it was cut, edited, put together or written by something else', async () => {
    const { store, rules, put, document } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'), result('1'));
    await session.compact();
    await session.release();
    const whole = rules.document('prod')!;
    const { serial, lineage, trueup } = document();
    const table: readonly (readonly [text: string, code: string, words: string])[] = [
      [whole.slice(0, -40), 'damaged-state', 'truncated'],
      ['<html>Sign in</html>', 'damaged-state', 'not JSON'],
      ['[]', 'foreign-state', 'not a state of trueup'],
      [
        '{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{},"resources":[]}',
        'foreign-state',
        'a state of Terraform',
      ],
      [JSON.stringify({ serial: serial + 1, lineage, trueup }), 'damaged-state', 'not what trueup'],
      [JSON.stringify({ serial, lineage: 'x', trueup }), 'damaged-state', 'not what trueup'],
      [
        JSON.stringify({ serial, lineage, trueup: { ...trueup, journal: ['x'] } }),
        'damaged-state',
        'not what trueup',
      ],
      [
        JSON.stringify({ serial, lineage, trueup: { ...trueup, more: 1 } }),
        'damaged-state',
        'not what trueup',
      ],
      [
        JSON.stringify({ serial, lineage, trueup: { ...trueup, format: 2 } }),
        'damaged-state',
        'newer trueup',
      ],
    ];
    for (const [text, code, words] of table) {
      put(text);
      const refused = await refusal(store().read());
      expect(refused).toMatchObject({ code, exit: 1 });
      expect(refused.words).toContain(words);
      expect(await refusal(store().open('apply', TARGET))).toMatchObject({ code });
      expect(rules.kept.get('prod')!.lock).toBeUndefined();
      expect(rules.document('prod')).toBe(text);
    }
    put(JSON.stringify(JSON.parse(whole), null, 2));
    expect((await store().read())?.state.resources).toEqual({ 'accounts.a1': entry('1') });
  });

  it('is of one project, and each project has an address of its own', async () => {
    const { store } = place();
    await (await store().open('apply', TARGET)).release();
    const other = { project: 'default.prod' };
    expect(await refusal(store(other).open('apply', TARGET))).toMatchObject({
      code: 'other-project',
      exit: 1,
    });
    expect(await refusal(store(other).read())).toMatchObject({ code: 'other-project' });
    const url = new URL('https://example.com/api/v4/projects/1/terraform/state/net/');
    const name = (project: string) => stateAddress(url, project).pathname.split('/').at(-1);
    expect(['default', 'default.prod', 'acme', 'acme.prod'].map(name)).toEqual([
      'net',
      'net-prod',
      'net-acme',
      'net-acme-prod',
    ]);
  });

  it('is refused where its serial went back behind the state in it', async () => {
    const { encodeDocument, decodeDocument } =
      await import('../../../src/state/backends/http/document.js');
    const { store, rules, put } = place();
    const session = await store().open('apply', TARGET);
    for (const op of ['1', '2', '3']) {
      await session.record(intent(op), result(op));
      await session.compact();
    }
    await session.release();
    const document = decodeDocument(rules.document('prod')!, 'here');
    put(encodeDocument({ ...document, serial: 2 }));
    const refused = await refusal(store().read());
    expect(refused).toMatchObject({ code: 'damaged-state' });
    expect(refused.words).toContain('its serial went back to 2, and the state in it has serial 3');
  });

  it('belongs to no cloud until something was recorded', async () => {
    const { store } = place();
    await (await store().open('apply', 'https://wrong.example.com')).release();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'));
    await session.release();
    expect(await refusal(store().open('apply', 'https://wrong.example.com'))).toMatchObject({
      code: 'other-target',
    });
  });
});

describe('the lock of a server', () => {
  it('is held while an intent is written, and a write of it answers for one request that follows soon', async () => {
    const { clock, store, posts } = place();
    const session = await store().open('apply', TARGET);
    const before = posts().length;
    await session.record(intent('1'));
    await session.assertHeld();
    expect(posts()).toHaveLength(before + 1);
    await session.assertHeld();
    expect(posts()).toHaveLength(before + 2);
    await session.record(intent('2'));
    await clock.sleep(5_001);
    await session.assertHeld();
    expect(posts()).toHaveLength(before + 4);
    await session.record(result('1'));
    await session.assertHeld();
    expect(posts()).toHaveLength(before + 6);
  });

  it('is asked for by one write for all who come before it is sent, and again for who comes later', async () => {
    const { store, posts } = place();
    const session = await store().open('apply', TARGET);
    const before = posts().length;
    await Promise.all([session.assertHeld(), session.assertHeld(), session.assertHeld()]);
    expect(posts()).toHaveLength(before + 2);
  });

  it('is lost for good once the server refuses the id, and the message names who has it', async () => {
    for (const path of [GITLAB_PATH, PLAIN_PATH]) {
      const { store, freeLock, seen, kept } = place(path);
      const first = await store().open('apply', TARGET);
      await first.record(intent('1'));
      freeLock();
      const second = await store({ url: 'https://ci.example.com/7' }).open('destroy', TARGET);
      expect(second.snapshot.pending).toEqual([intent('1')]);
      await first.assertHeld();
      const refused = await refusal(first.assertHeld());
      expect(refused).toMatchObject({ code: 'lock-lost', exit: 4 });
      expect(refused.words).toContain(
        'it was taken by "destroy", process 102 on "box", since 2026-01-01T00:00:00.000Z (https://ci.example.com/7)',
      );
      const before = seen.length;
      expect(await refusal(first.record(result('1')))).toMatchObject({ code: 'lock-lost' });
      expect(await refusal(first.compact())).toMatchObject({ code: 'lock-lost' });
      await first.release();
      expect(seen).toHaveLength(before);
      expect(kept().lock).toBeDefined();
      await second.assertHeld();
    }
  });

  it('that was lost is neither asked for again nor removed', async () => {
    for (const path of [GITLAB_PATH, PLAIN_PATH]) {
      const { store, freeLock, seen, kept, posts } = place(path);
      const asking = await store().open('apply', TARGET);
      freeLock();
      const before = posts().length;
      expect(await refusal(asking.assertHeld())).toMatchObject({ code: 'lock-lost' });
      // GitLab does not say that it refuses the id.
      expect(posts().length - before).toBe(path === GITLAB_PATH ? 4 : 1);
      expect(kept().lock).toBeUndefined();
      const ending = await store().open('apply', TARGET);
      freeLock();
      const next = await store().open('apply', TARGET);
      const from = seen.length;
      await ending.release();
      expect(seen.slice(from).filter(({ method }) => /^(?:DELETE|UNLOCK)$/.test(method))).toEqual(
        [],
      );
      await next.assertHeld();
    }
  });

  it('is taken and removed although the first answer to each gets lost', async () => {
    for (const path of [GITLAB_PATH, PLAIN_PATH]) {
      const { store, faults, kept, said } = place(path);
      const lost = new Set<string>();
      faults.now = ({ method, path: to, body }) => {
        if (to.includes('?ID=') && method === 'POST') return undefined;
        const one = `${method} ${to} ${body}`;
        if (method === 'GET' || lost.has(one)) return undefined;
        lost.add(one);
        return 'lost';
      };
      const session = await store().open('apply', TARGET);
      await session.release();
      expect(lost.size).toBe(3);
      expect(kept().lock).toBeUndefined();
      expect(said).toEqual([]);
    }
  });

  it('of a killed run stays until a person removes it, which names the holder no more', async () => {
    const { machine, store } = place();
    const first = await store().open('apply', TARGET);
    await first.record(intent('1'));
    const holder = (await store().holder())!;
    machine.kill(holder.pid);
    const refused = await refusal(store().open('apply', TARGET));
    expect(refused).toMatchObject({ code: 'locked', exit: 4 });
    expect(refused.words).toContain(
      'locked by "apply", process 101 on "box", since 2026-01-01T00:00:00.000Z',
    );
    await store().unlock(holder.id);
    expect(await store().holder()).toBeUndefined();
    expect((await store().open('apply', TARGET)).snapshot.pending).toEqual([intent('1')]);
  });

  it('of something else is told as the server tells it, and removed by its id alone', async () => {
    const { store, kept, server } = place();
    const foreign = {
      id: 'terraforms; x',
      operation: 'OperationTypeApply',
      host: 'laptop',
      pid: 1,
      created_at: '2026-01-01T00:00:00.000Z',
    };
    expect(await server().lock(foreign)).toBe('taken');
    const refused = await refusal(store().open('apply', TARGET));
    expect(refused).toMatchObject({ code: 'locked', exit: 4 });
    expect(refused.words).toContain('is locked by "maintainer", since "2026-01-01T00:00:00.000Z"');
    expect(refused.words).toContain("trueup unlock 'terraforms; x'");
    const wrong = await refusal(store().unlock('another'));
    expect(wrong).toMatchObject({ code: 'wrong-lock', exit: 4 });
    expect(wrong.words).toContain('not "another", but "terraforms; x"');
    await store().unlock('terraforms; x');
    expect(kept().lock).toBeUndefined();
  });

  it('that was freed in the page of the server names its holder no more once somebody asks', async () => {
    const { store, freeLock } = place();
    await store().open('apply', TARGET);
    const { id } = (await store().holder())!;
    freeLock();
    expect(await refusal(store().unlock(id))).toMatchObject({ code: 'not-locked' });
    expect(await store().holder()).toBeUndefined();
  });

  it('is proven before the first document: a server that ignores it is refused', async () => {
    for (const [lie, words] of [
      [(to: StateRequest) => to.path.endsWith('/lock') && to.method === 'POST', 'two runs'],
      [(to: StateRequest) => to.path.includes('?ID='), 'the id of another lock'],
    ] as const) {
      const { store, faults, rules } = place();
      faults.now = (request) => {
        if (!lie(request)) return undefined;
        if (request.path.includes('?ID='))
          rules.kept.get('prod')!.versions.set(JSON.parse(request.body).serial, request.body);
        return { status: 200, body: '' };
      };
      const refused = await refusal(store().open('apply', TARGET));
      expect(refused).toMatchObject({ code: 'backend-cannot-lock', exit: 1 });
      expect(refused.words).toContain(words);
    }
  });

  it('that cannot be removed at the end is said, with what to type', async () => {
    const { store, faults, said, kept, freeLock } = place();
    const session = await store().open('apply', TARGET);
    const isLeft = {
      code: 'lock-left',
      detail: `No run takes it over. Type: trueup unlock ${kept().lock!['ID']}`,
    };
    faults.now = ({ method }) => (method === 'DELETE' ? 'dropped' : undefined);
    await session.release();
    expect(said).toMatchObject([isLeft]);
    freeLock();
    expect(await refusal(store({ project: 'other' }).open('apply', TARGET))).toMatchObject({
      code: 'other-project',
    });
    expect(said).toMatchObject([isLeft, { code: 'lock-left' }]);
  });
});

describe('a server that fails', () => {
  it('loses no record and repeats none, whichever answers get lost', async () => {
    for (const path of [GITLAB_PATH, PLAIN_PATH]) {
      const { store, faults, freeLock, rules, document } = place(path, 7);
      const dice = seededRandom(11);
      const unlucky: Fault = () => {
        const drawn = dice.fraction();
        if (drawn < 0.2) return 'lost';
        if (drawn < 0.4) return 'dropped';
        return drawn < 0.5 ? { status: 502, body: 'bad gateway' } : undefined;
      };
      const known: string[] = [];
      for (let run = 0; run < 60; run += 1) {
        faults.now = unlucky;
        const session = await store()
          .open('apply', TARGET)
          .catch(() => undefined);
        for (let op = 0; session && op < 5; op += 1) {
          const name = `${run}x${op}`;
          const isRecorded = await session
            .record(intent(name), result(name))
            .then(() => session.assertHeld())
            .then(
              () => true,
              () => false,
            );
          if (!isRecorded) break;
          known.push(`accounts.a${name}`);
        }
        if (run % 3 === 0) await session?.compact().catch(() => undefined);
        if (run % 2 === 0) await session?.release();
        faults.now = () => undefined;
        if (rules.kept.has('prod')) freeLock();
      }
      const resources = (await store().read())?.state.resources ?? {};
      expect(known.length).toBeGreaterThan(60);
      expect(known.filter((address) => !Object.hasOwn(resources, address))).toEqual([]);
      const ops = document().trueup.journal.flatMap((line: string) => {
        const { type, op } = JSON.parse(line.slice(17));
        return type === 'intent' ? [op] : [];
      });
      expect(new Set(ops).size).toBe(ops.length);
    }
  });

  it('is asked what is there before a document is sent again', async () => {
    const { store, faults, seen } = place();
    const session = await store().open('apply', TARGET);
    const before = seen.length;
    let answers = 1;
    faults.now = ({ path }) => (path.includes('?ID=') && answers-- > 0 ? 'lost' : undefined);
    await session.record(intent('1'));
    expect(seen.slice(before).map(({ method }) => method)).toEqual(['POST', 'GET']);
    answers = 1;
    faults.now = ({ path }) => (path.includes('?ID=') && answers-- > 0 ? 'dropped' : undefined);
    await session.record(result('1'));
    expect(seen.slice(before + 2).map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
    expect((await store().read())?.state.resources).toEqual({ 'accounts.a1': entry('1') });
  });

  it('has another document after a lost answer: the lock is another run’s', async () => {
    const { store, faults, freeLock, kept } = place();
    const first = await store().open('apply', TARGET);
    let second: Promise<unknown> | undefined;
    faults.now = ({ path }) => {
      if (second || !path.includes('?ID=')) return undefined;
      freeLock();
      second = Promise.resolve();
      return 'dropped';
    };
    // Between the lost write and the look, another run takes the lock.
    const recorded = refusal(first.record(intent('1')));
    await store().open('destroy', TARGET);
    expect(await recorded).toMatchObject({ code: 'lock-lost', exit: 4 });
    expect(kept().lock).toBeDefined();
  });

  it('is set back during a run, which is noticed and stops it', async () => {
    const { store, faults, kept, rules } = place(PLAIN_PATH);
    const session = await store().open('apply', TARGET);
    const yesterday = rules.document('prod')!;
    await session.record(intent('1'));
    kept().versions.set(0, yesterday);
    faults.now = ({ path }) => (path.includes('?ID=') ? 'dropped' : undefined);
    const refused = await refusal(session.assertHeld().then(() => session.assertHeld()));
    expect(refused).toMatchObject({ code: 'state-moved', exit: 4 });
    expect(refused.words).toContain('was set back to serial 1 during this run');
  });

  it('ends a run with exit 5 where it cannot be reached, and its results reach the state by the next run', async () => {
    const { store, faults, files, freeLock } = place();
    const session = await store().open('apply', TARGET);
    await session.record(intent('1'), intent('2'));
    faults.now = () => 'dropped';
    const refused = await refusal(session.record(result('1')));
    expect(refused).toMatchObject({ code: 'backend-unreachable', exit: 5 });
    expect(refused.words).toContain('are kept in /sim/rescue/');
    expect(await refusal(session.assertHeld())).toMatchObject({ exit: 5 });
    await session.release();
    faults.now = () => undefined;
    freeLock();
    const next = await store().open('apply', TARGET);
    expect(next.snapshot.pending.map(({ op }) => op)).toEqual(['2']);
    expect(next.snapshot.state.resources).toEqual({ 'accounts.a1': entry('1') });
    expect(await files.list('/sim/rescue')).toEqual([]);
  });

  it('ends soon for a run that is interrupted while it waits, and names a lock that it may have', async () => {
    const { store, server, clock, kept, rules } = place();
    await (await store().open('apply', TARGET)).release();
    let [hangs, answer]: [string, () => void] = ['GET', () => undefined];
    const transport: StateServerOptions['transport'] = async (request) => {
      if (request.method === hangs) await new Promise<void>((go) => void (answer = go));
      const { pathname, search } = new URL(request.url);
      const { method, headers, body = '' } = request;
      const { authorization } = headers;
      const path = `${pathname}${search}`;
      return { ...rules.answer({ method, path, authorization, body }), headers: {} };
    };
    const interruptedIn = async () => {
      const stop = new AbortController();
      const asked = store({ server: server({ transport }), signal: stop.signal });
      const refused = refusal(asked.open('apply', TARGET));
      await clock.sleep(5_000);
      const begun = clock.elapsed();
      stop.abort(new Error('SIGINT'));
      const { code, exit, words } = await refused;
      expect({ code, exit }).toEqual({ code: 'interrupted', exit: 130 });
      return { words, milliseconds: clock.elapsed() - begun };
    };
    // The lock is taken, and the document is read.
    expect((await interruptedIn()).milliseconds).toBeLessThan(100);
    expect(kept().lock).toBeUndefined();
    hangs = 'POST';
    const { words, milliseconds } = await interruptedIn();
    expect(milliseconds).toBeGreaterThan(900);
    expect(milliseconds).toBeLessThan(1_100);
    expect(words).toMatch(/after all: trueup unlock [\da-f-]{36}/);
    hangs = '';
    answer();
    await clock.sleep(100);
    expect(kept().lock).toBeUndefined();
  });

  it.each([
    ['once it gave the lock', 0, 10_100],
    ['under the lock', Infinity, 20_100],
  ])(
    'soon names the lock that an interrupted run leaves at a server that became silent %s',
    async (_, answers, most) => {
      const { store, server, clock, kept, rules, said } = place();
      let left = answers;
      await (await store().open('apply', TARGET)).release();
      const transport: StateServerOptions['transport'] = async (request) => {
        const { pathname, search } = new URL(request.url);
        const { method, headers, body = '' } = request;
        if ((!pathname.endsWith('/lock') || method !== 'POST') && left-- <= 0) {
          await clock.sleep(30_000);
          throw Object.assign(new Error('late'), { code: 'aborted' });
        }
        const { authorization } = headers;
        const path = `${pathname}${search}`;
        return { ...rules.answer({ method, path, authorization, body }), headers: {} };
      };
      const stop = new AbortController();
      const asked = store({ server: server({ transport }), signal: stop.signal });
      const opened = asked.open('apply', TARGET);
      const refused = answers === 0 ? refusal(opened) : undefined;
      if (!refused) await opened;
      left = 0;
      await clock.sleep(5_000);
      const begun = clock.elapsed();
      stop.abort(new Error('SIGINT'));
      const ended = refused ?? (await opened).release();
      expect((await ended)?.exit).toBe(refused && 130);
      expect(clock.elapsed() - begun).toBeLessThan(most);
      expect(said).toMatchObject([
        {
          code: 'lock-left',
          summary: expect.stringContaining('could not be removed: it gave no response within 10 s'),
          detail: `No run takes it over. Type: trueup unlock ${String(kept().lock?.['ID'])}`,
        },
      ]);
    },
  );

  it('is written to under the lock as if no signal had come', async () => {
    const { store, server, clock, faults } = place();
    const stop = new AbortController();
    const plain = server();
    const slow = { ...plain, get: async () => clock.sleep(2_000).then(() => plain.get()) };
    const session = await store({ server: slow, signal: stop.signal }).open('apply', TARGET);
    await session.record(intent('1'));
    stop.abort(new Error('SIGINT'));
    let answers = 1;
    faults.now = ({ path }) => (path.includes('?ID=') && answers-- > 0 ? 'dropped' : undefined);
    await session.record(result('1'));
    await session.compact();
    await session.release();
    expect((await store().read())?.state.resources).toEqual({ 'accounts.a1': entry('1') });
  });

  it('removes a lock that it gets too late, but not that of another run', async () => {
    const { store, server, clock, kept, rules } = place(PLAIN_PATH);
    await (await store().open('apply', TARGET)).release();
    let answer: (() => void) | undefined;
    let hangs = true;
    const transport: StateServerOptions['transport'] = async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers, body = '' } = request;
      // It does not check whose lock it removes.
      if (method === 'UNLOCK') {
        kept().lock = undefined;
        return { status: 200, body: '', headers: {} };
      }
      const { authorization } = headers;
      const given = rules.answer({ method, path: `${pathname}${search}`, authorization, body });
      if (method === 'LOCK' && hangs) await new Promise<void>((go) => void (answer = go));
      return { ...given, headers: {} };
    };
    const stop = new AbortController();
    const asked = store({ server: server({ transport }), signal: stop.signal });
    const refused = refusal(asked.open('apply', TARGET));
    await clock.sleep(1_000);
    stop.abort(new Error('SIGINT'));
    await refused;
    kept().lock = undefined;
    await store().open('apply', TARGET);
    const holder = kept().lock?.['ID'];
    hangs = false;
    answer?.();
    await clock.sleep(100);
    expect(holder).toBeDefined();
    expect(kept().lock?.['ID']).toBe(holder);
  });

  it('says at the start what it refuses, before anything is written', async () => {
    const table: readonly (readonly [Fault, code: string, words: string])[] = [
      [() => 'dropped', 'backend-unreachable', 'ECONNREFUSED'],
      [() => ({ status: 503, body: '' }), 'backend-unreachable', 'status 503'],
      [() => ({ status: 401, body: '' }), 'backend-denied', 'status 401'],
      [() => ({ status: 403, body: '' }), 'backend-denied', 'let this user lock it'],
      [() => ({ status: 302, body: '' }), 'backend-error', 'redirect'],
      [() => ({ status: 405, body: '' }), 'backend-cannot-lock', '?lock=post'],
      [
        () => ({ status: 404, body: '{"message":"404 Project Not Found"}' }),
        'backend-error',
        'no such project',
      ],
      [
        (request) => (isDocument(request) ? { status: 403, body: '' } : undefined),
        'backend-denied',
        'let this user write it',
      ],
      [
        (request) => (isDocument(request) ? { status: 422, body: '' } : undefined),
        'backend-error',
        'status 422',
      ],
      [
        (request) =>
          isDocument(request) && request.body.includes('"pid"')
            ? { status: 413, body: '' }
            : undefined,
        'state-too-large',
        'PostgreSQL or S3',
      ],
      [
        (request) =>
          isDocument(request) && request.body.includes('"pid"')
            ? { status: 200, body: '' }
            : undefined,
        'backend-error',
        'does not show what was written last',
      ],
    ];
    for (const [fault, code, words] of table) {
      const { store, faults, rules } = place();
      faults.now = fault;
      const refused = await refusal(store().open('apply', TARGET));
      expect(refused).toMatchObject({ code, exit: 1 });
      expect(refused.words).toContain(words);
      expect(refused.words).not.toContain(STATE_USERS.maintainer);
      expect(rules.document('prod')).toBeUndefined();
      expect(rules.kept.get('prod')?.lock).toBeUndefined();
    }
    const { store } = place();
    const reader = { user: 'reader', password: STATE_USERS.reader };
    expect(await refusal(store({}, reader).open('apply', TARGET))).toMatchObject({
      code: 'backend-denied',
    });
    expect(await store({}, reader).read()).toBeUndefined();
  });

  it('tells whether this user may write, and keeps no lock', async () => {
    const { store, rules } = place();
    const reader = { user: 'reader', password: STATE_USERS.reader };
    const access = (user?: typeof reader) => store({}, user).access!();
    expect(await access()).toBe('absent');
    const session = await store().open('apply', TARGET);
    expect(await access()).toBe('may-write');
    await session.assertHeld();
    await session.release();
    expect(await access()).toBe('may-write');
    expect(await access(reader)).toBe('read-only');
    expect(rules.kept.get('prod')?.lock).toBeUndefined();
  });

  it('is told of 500 changes in one run, and of what became of them, and of no more', async () => {
    const { store } = place();
    const session = await store().open('apply', TARGET);
    const ops = Array.from({ length: 500 }, (_, index) => String(index));
    await session.record(...ops.map((op) => intent(op)));
    const refused = await refusal(session.record(intent('more')));
    expect(refused).toMatchObject({ code: 'journal-full', exit: 1 });
    expect(refused.words).toContain('postgres://');
    await session.record(...ops.map((op) => result(op)), memory('accounts.x', entry('x')));
    expect(Object.keys((await session.compact()).state.resources)).toHaveLength(501);
    await session.record(intent('more'));
  });
});

describe('requests to a server', () => {
  it('hold the user, the lock and the rest of the query, and no setting of trueup', async () => {
    const { store, seen } = place(PLAIN_PATH);
    const url = new URL('https://someone@example.com/states/prod?lock=lock&ref=main');
    await (await store({}, { url }).open('apply', TARGET)).release();
    expect(new Set(seen.map(({ method }) => method))).toEqual(
      new Set(['LOCK', 'GET', 'POST', 'UNLOCK']),
    );
    expect(seen.every(({ path }) => path.startsWith('/states/prod?ref=main'))).toBe(true);
    const [lock] = seen;
    expect(Object.keys(JSON.parse(lock!.body))).toEqual([
      'ID',
      'Operation',
      'Info',
      'Who',
      'Version',
      'Created',
      'Path',
    ]);
    expect(() => place().server({ url: new URL('https://example.com/s?lock=no') })).toThrow(
      'names no way to lock',
    );
  });
});
