// Services that show late what was written, or carry it out late, and clocks that are set or tell no time: whole runs.
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/client/index.js';
import { dummyCredentials, parseFault } from '../../../src/emulator/index.js';
import type { JsonObject } from '../../../src/model/index.js';
import { theirs } from '../../support/estate.js';
import { codes, declare, steps } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const rule = declare('alert_rules.r', {
  associated_accounts: ['2'],
  filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
});

it('a young object that a replica does not show is deleted, and not let go', async () => {
  let hidden = false;
  const cloud = rig({
    estate: theirs,
    async intercept({ method, path }, proceed) {
      const answer = await proceed();
      return hidden &&
        method === 'GET' &&
        path.includes('alert_rules') &&
        cloud.clock.elapsed() < 5000
        ? { ...answer, body: JSON.stringify({ data: [], meta: { next: null } }) }
        : answer;
    },
  });
  await cloud.apply(desire(rule));
  hidden = true;
  expect(await cloud.apply(desire(), { allow: ['all-removed'] })).toMatchObject({
    exit: 0,
    outcomes: [{ action: 'delete', outcome: 'done' }],
  });
  expect(cloud.objects('alert_rules')).toHaveLength(1);
});

it('a young object whose delete got no clear answer is not let go because a replica does not show it', async () => {
  let [failing, hidden] = [false, false];
  const cloud = rig({
    estate: theirs,
    async intercept({ method, path }, proceed) {
      if (failing && method === 'DELETE') {
        hidden = true;
        return { status: 500, headers: {}, body: '{}' };
      }
      const answer = await proceed();
      return hidden && method === 'GET' && path.includes('alert_rules')
        ? { ...answer, body: JSON.stringify({ data: [], meta: { next: null } }) }
        : answer;
    },
  });
  await cloud.apply(desire(rule));
  failing = true;
  const allow = ['all-removed'];
  expect(await cloud.apply(desire(), { allow })).toMatchObject({
    exit: 5,
    outcomes: [{ action: 'delete', outcome: 'unknown' }],
  });
  expect(cloud.objects('alert_rules')).toHaveLength(2);
  [failing, hidden] = [false, false];
  await cloud.clock.sleep(120_000);
  expect(await cloud.apply(desire(), { allow })).toMatchObject({
    exit: 0,
    outcomes: [{ action: 'delete', outcome: 'done' }],
  });
  expect(cloud.objects('alert_rules')).toHaveLength(1);
});

it.each([10_000, 59_000])(
  'an object that the state let go before any listing showed it, %i ms late, is waited for and not made again',
  async (lag) => {
    const cloud = rig({ estate: theirs, faults: [parseFault(`stale=${lag},method=POST`)] });
    await cloud.apply(desire(rule));
    const session = await cloud.open();
    await session.record({
      type: 'result',
      class: 'applied',
      address: rule.address,
      entry: null,
    });
    await session.release();
    const before = cloud.clock.elapsed();
    expect(steps(await cloud.plan(desire(rule)))).toEqual(['create alert_rules.r']);
    expect((await cloud.drift(desire(rule))).exit).toBe(2);
    expect(cloud.clock.elapsed() - before).toBeLessThan(1000);
    expect(await cloud.apply(desire(rule))).toMatchObject({
      exit: 0,
      outcomes: [{ action: 'adopt', outcome: 'done' }],
    });
    expect(cloud.mutations()).toEqual(['POST /api/v2/alert_rules/']);
  },
);

it('a deleted object that no listing showed is not waited for', async () => {
  const cloud = rig({ estate: theirs, faults: [parseFault('stale=2000,method=POST')] });
  await cloud.apply(desire(rule));
  await cloud.apply(desire(), { allow: ['all-removed'] });
  cloud.events.length = 0;
  expect((await cloud.apply(desire(rule))).exit).toBe(0);
  expect(cloud.events.filter(({ type }) => type === 'waiting')).toEqual([]);
});

it('a young object that a reading after its update lacks is read again', async () => {
  let hidden = 0;
  const cloud = rig({
    estate: theirs,
    async intercept({ method, path }, proceed) {
      const answer = await proceed();
      if (method === 'PATCH') hidden = 2;
      if (method !== 'GET' || !path.includes('alert_rules') || hidden === 0) return answer;
      hidden -= 1;
      return { ...answer, body: JSON.stringify({ data: [], meta: { next: null } }) };
    },
  });
  const other = {
    ...rule,
    values: { ...rule.values, filter_criteria: { alert_type__in: ['connection_state'] } },
  };
  await cloud.apply(desire(rule));
  expect(await cloud.apply(desire(other))).toMatchObject({
    exit: 0,
    outcomes: [{ action: 'update', outcome: 'done' }],
  });
  expect([hidden, (await cloud.plan(desire(other))).exit]).toEqual([0, 0]);
});

it.each([120_000, -120_000])(
  'the clock is set by %i ms while a plan is looked at, and the machine starts again before the create lands',
  async (step) => {
    const cloud = rig({
      estate: theirs,
      faults: [parseFault('late=30000,mode=reset,method=POST,times=1')],
    });
    cloud.onMutation = () => cloud.files.crashAt(0);
    const approve = (): Promise<boolean> => {
      cloud.clock.step(step);
      return Promise.resolve(true);
    };
    await expect(cloud.apply(desire(rule), { approve })).rejects.toThrow('power cut');
    cloud.onMutation = undefined;
    cloud.files.reboot();
    cloud.clock.reboot();
    expect(await cloud.apply(desire(rule))).toMatchObject({ exit: 0 });
    await cloud.clock.sleep(60_000);
    expect([cloud.mutations(), cloud.objects('alert_rules').length]).toEqual([
      ['POST /api/v2/alert_rules/'],
      2,
    ]);
  },
);

it.each([
  'Tue, 01 Jan 12345 00:00:00 GMT',
  'Sat, 13 Sep 275760 00:00:00 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'yesterday',
])('a service whose Date is %s', async (date) => {
  const cloud = rig({
    estate: theirs,
    async intercept(_, proceed) {
      const answer = await proceed();
      return { ...answer, headers: { ...answer.headers, date } };
    },
  });
  for (const turn of [1, 2])
    expect([turn, await cloud.apply(desire(rule))]).toMatchObject([turn, { exit: 0 }]);
  expect(cloud.mutations()).toEqual(['POST /api/v2/alert_rules/']);
});

describe('a reading that shows what trueup replaced less than the settle time ago', () => {
  /** An account, changed by PUT, and a rule, changed by PATCH, each in several versions. */
  const kinds = {
    accounts: (version: number) =>
      desire(declare('accounts.a', { name: `version ${version}`, account: '1' })),
    alert_rules: (version: number) =>
      desire(
        declare('alert_rules.r', {
          associated_accounts: ['2'],
          schedule: `version ${version}`,
          filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
        }),
      ),
  };
  type Name = keyof typeof kinds;
  const names = Object.keys(kinds) as Name[];

  interface Lagging extends Rig {
    /** For each further reading, whether a replica that lags behind answers it; the last one stands for all others. */
    old: (number | false)[];
    /** What lags behind shows from now on. */
    keep(as: number): Promise<void>;
    /** As others write. */
    byOthers(body: JsonObject): Promise<void>;
    readonly version: () => unknown;
    onWrite: ((proceed: () => Promise<HttpResponse>) => Promise<HttpResponse>) | undefined;
  }

  /** Versions 1 and 2 are applied, 6 s apart. */
  async function lagging(kind: Name): Promise<Lagging> {
    const kept = new Map<number, string>();
    const path = `/api/v2/${kind}/`;
    const base = rig({
      estate: theirs,
      async intercept({ method, path: asked }, proceed) {
        if (method !== 'GET') return cloud.onWrite ? cloud.onWrite(proceed) : proceed();
        const old = asked === path && (cloud.old.length > 1 ? cloud.old.shift() : cloud.old[0]);
        const answer = await proceed();
        return typeof old === 'number' ? { ...answer, body: kept.get(old) as string } : answer;
      },
    });
    const fetch = (method: string, at: string, body?: JsonObject): Promise<Response> =>
      base.emulator.fetch(
        new Request(`http://localhost${at}`, {
          method,
          headers: {
            ...dummyCredentials.v2[1],
            accept: 'application/json',
            'content-type': 'application/json',
          },
          ...(body && { body: JSON.stringify(body) }),
        }),
      );
    const ours = (): JsonObject => base.objects(kind).at(-1) as JsonObject;
    const cloud: Lagging = Object.assign(base, {
      old: [false] as (number | false)[],
      onWrite: undefined,
      async keep(as: number) {
        kept.set(as, await (await fetch('GET', `${path}?limit=500`)).text());
      },
      async byOthers(body: JsonObject) {
        const one = ours();
        const id = (one['alert_config_id'] ?? one['id']) as string;
        const method = kind === 'accounts' ? 'PUT' : 'PATCH';
        expect((await fetch(method, `${path}${id}/`, body)).status).toBe(200);
      },
      version: () => ours()['schedule'] ?? ours()['name'],
    });
    for (const one of [1, 2]) {
      expect((await cloud.apply(kinds[kind](one))).exit).toBe(0);
      await cloud.keep(one);
      if (one === 1) await cloud.clock.sleep(6000);
    }
    return cloud;
  }
  it.each(names)('is a note, and neither drift nor a change (%s)', async (kind) => {
    const cloud = await lagging(kind);
    cloud.old = [1];
    const began = cloud.clock.elapsed();
    const same = await cloud.plan(kinds[kind](2));
    expect([same.exit, same.plan.drift, codes(same)]).toEqual([0, [], ['not-visible-yet']]);
    expect(await cloud.drift(kinds[kind](2))).toMatchObject({ exit: 0, drift: [] });
    const back = await cloud.plan(kinds[kind](1));
    expect([back.exit, steps(back)[0]?.split(' ')[0]]).toEqual([2, 'update']);
    expect(cloud.clock.elapsed() - began).toBeLessThan(1000);
  });

  it.each(names)('is read again before a rollback counts as done (%s)', async (kind) => {
    const cloud = await lagging(kind);
    cloud.old = [1, 1, false];
    expect((await cloud.apply(kinds[kind](1))).exit).toBe(0);
    expect(cloud.version()).toBe('version 1');
    expect((await cloud.plan(kinds[kind](1))).exit).toBe(0);
  });

  it('is not known where a literal under the name of a secret was replaced', async () => {
    const cloud = rig({ estate: theirs });
    const replaced: unknown[] = [];
    for (const [token, n] of [
      ['abc', 1],
      ['abd', 2],
    ] as const) {
      const settings = { custom_alert: { token, n } };
      const rule = {
        associated_accounts: ['2'],
        filter_criteria: { alert_type__in: ['a'] },
        schedule: `version ${n}`,
        settings,
      };
      expect(await cloud.apply(desire(declare('alert_rules.s', rule)))).toMatchObject({ exit: 0 });
      replaced.push((await cloud.snapshot())?.state.spent?.at(-1)?.replaced?.length);
    }
    expect(replaced).toEqual([undefined, 1]);
  });

  it('is believed once the settle time is over: then others wrote it', async () => {
    const cloud = await lagging('alert_rules');
    await cloud.byOthers({ schedule: 'version 1' });
    const began = cloud.clock.elapsed();
    expect((await cloud.apply(kinds.alert_rules(2))).exit).toBe(0);
    expect([cloud.version(), cloud.clock.elapsed() - began < 70_000]).toEqual(['version 2', true]);
    await cloud.clock.sleep(60_000);
    await cloud.byOthers({ schedule: 'version 1' });
    expect((await cloud.drift(kinds.alert_rules(2))).exit).toBe(2);
  });

  it('is another thing than a value that others wrote: that is drift at once', async () => {
    const cloud = await lagging('alert_rules');
    await cloud.byOthers({ schedule: 'theirs' });
    const began = cloud.clock.elapsed();
    expect((await cloud.drift(kinds.alert_rules(2))).exit).toBe(2);
    expect((await cloud.apply(kinds.alert_rules(2))).exit).toBe(0);
    expect([cloud.version(), cloud.clock.elapsed() - began < 1000]).toEqual(['version 2', true]);
  });

  it.each([
    ['right before a PUT', 'accounts', [false, 1, 1, false]],
    ['after a PUT', 'accounts', [false, false, 1, 2, false]],
    ['after a PATCH', 'alert_rules', [false, 1, 2, false]],
  ] as const)('is not held against others %s', async (_, kind, old) => {
    const cloud = await lagging(kind);
    cloud.old = [...old];
    expect(await cloud.apply(kinds[kind](3))).toMatchObject({ exit: 0, diagnostics: [] });
    expect([cloud.version(), cloud.old]).toEqual(['version 3', [false]]);
  });

  it('is not held against others after a write without an answer', async () => {
    const cloud = await lagging('alert_rules');
    cloud.old = [false, 1, false];
    cloud.onWrite = async () => {
      cloud.onWrite = undefined;
      return { status: 500, headers: {}, body: '' };
    };
    expect((await cloud.apply(kinds.alert_rules(3))).exit).toBe(0);
    expect(cloud.version()).toBe('version 3');
  });

  it('is not held against others right before a delete, and not planned from', async () => {
    const cloud = await lagging('alert_rules');
    cloud.old = [1, false, 1, false];
    cloud.onWrite = async () => {
      cloud.onWrite = undefined;
      return { status: 429, headers: { 'retry-after': '10' }, body: '' };
    };
    expect((await cloud.apply(desire(), { allow: ['all-removed'] })).exit).toBe(0);
    expect(cloud.objects('alert_rules')).toHaveLength(1);
  });
});
