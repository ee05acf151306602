// The rules of a fleet as tables and laws: selection, shards, lanes, stops, stages, environments.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitersByKey } from '../../../src/client/rate-limit.js';
import { printedVariables } from '../../../src/fleet/credential-command.js';
import { laneCount, stagesOf, stopping } from '../../../src/fleet/lanes.js';
import { repeatedLanes, type RepeatedLanes } from '../../../src/fleet/repeated-lanes.js';
import {
  entryOf,
  isFinal,
  mergedReport,
  statusOf,
  withoutResult,
} from '../../../src/fleet/merge.js';
import { selectionOf } from '../../../src/fleet/selection.js';
import { shardIn, shardOf } from '../../../src/fleet/shards.js';
import { commonPlace, tenantState, type Tenant } from '../../../src/fleet/tenant.js';
import { environmentFor, splitEnvironment } from '../../../src/fleet/tenant-environment.js';
import { exits, type Exit, type TenantResult } from '../../../src/model/index.js';
import { drawn } from '../../support/drawn.js';
import { tenantResult } from '../../support/tenant-result.js';

const origin = { file: 'trueup.fleet.yaml', line: 1, column: 1 };
const tenant = (name: string, more: Partial<Tenant> = {}): Tenant => ({
  name,
  paths: ['base'],
  variables: {},
  labels: {},
  credentials: { env_prefix: `${name.toUpperCase()}_` },
  origin,
  ...more,
});

describe('selection', () => {
  const all = [
    tenant('acme', { labels: { tier: 'canary', region: 'eu' } }),
    tenant('globex', { labels: { tier: 'std', region: 'eu-west' } }),
    tenant('initech', { labels: { region: 'us' } }),
  ];
  test.each([
    ['*', 'acme globex initech'],
    ['tier=canary', 'acme'],
    ['tier!=canary', 'globex initech'],
    ['tier', 'acme globex'],
    ['!tier', 'initech'],
    ['region=eu*', 'acme globex'],
    ['region=*u*t', 'globex'],
    ['region=e*eu', ''],
    ['tenant=globex', 'globex'],
    ['tier=std, region=eu-west', 'globex'],
    ['tier=std,region=us', ''],
  ])('%s', (expression, expected) => {
    const chosen = all.filter(selectionOf(expression, all, { what: '--select' }));
    expect(chosen.map(({ name }) => name).join(' ')).toBe(expected);
  });
  test('knows the labels of a tenant alone, and no members of objects', () => {
    const named = [tenant('acme', { labels: { constructor: 'x1' } }), tenant('globex')];
    const chosen = (expression: string) =>
      named.filter(selectionOf(expression, named, { what: '--select' })).map(({ name }) => name);
    expect(chosen('constructor')).toEqual(['acme']);
    expect(chosen('!constructor')).toEqual(['globex']);
    expect(chosen('constructor=x*')).toEqual(['acme']);
    expect(chosen('constructor!=x1')).toEqual(['globex']);
  });
  test('takes values with blanks inside', () => {
    const named = [tenant('acme', { labels: { city: 'New York' } }), tenant('globex')];
    const chosen = named.filter(selectionOf('city = New York', named, { what: '--select' }));
    expect(chosen.map(({ name }) => name)).toEqual(['acme']);
  });
  test.each([
    ['teir=a', /no tenant has a label `teir`. Did you mean `tier`/],
    ['tier==a', /is not a selection/],
    ['', /is not a selection/],
    ['a b', /is not a selection/],
  ])('%s is refused', (expression, expected) => {
    expect(() => selectionOf(expression, all, { what: '--select' })).toThrow(expected);
  });
});

describe('shards', () => {
  test('each tenant is in one shard, and another number of shards moves only those of the new one', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 30 }), (name, total) => {
        const [before, after] = [shardOf(name, total), shardOf(name, total + 1)];
        expect(before).toBeGreaterThanOrEqual(1);
        expect(before).toBeLessThanOrEqual(total);
        expect([before, total + 1]).toContain(after);
      }),
    );
  });
  test('are about equally large', () => {
    const sizes = [0, 0, 0, 0];
    for (let at = 0; at < 2000; at += 1) sizes[shardOf(`tenant-${at}`, 4) - 1]! += 1;
    for (const size of sizes) expect(size).toBeGreaterThan(420);
  });
  test.each<[string | undefined, Record<string, string>, unknown]>([
    ['2/8', {}, { index: 2, total: 8 }],
    [undefined, {}, undefined],
    [undefined, { CI_NODE_INDEX: '1', CI_NODE_TOTAL: '4' }, { index: 1, total: 4 }],
    [undefined, { CI_NODE_TOTAL: '1' }, undefined],
    [undefined, { CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '2' }, { index: 1, total: 2 }],
    [undefined, { JOB_COMPLETION_INDEX: '0', JOB_COMPLETIONS: '3' }, { index: 1, total: 3 }],
    [
      undefined,
      { BUILDKITE_PARALLEL_JOB: '0', BUILDKITE_PARALLEL_JOB_COUNT: '3' },
      { index: 1, total: 3 },
    ],
    [
      undefined,
      { SYSTEM_JOBPOSITIONINPHASE: '3', SYSTEM_TOTALJOBSINPHASE: '3' },
      { index: 3, total: 3 },
    ],
    ['1/1', { JOB_COMPLETION_INDEX: '5', JOB_COMPLETIONS: '9' }, { index: 1, total: 1 }],
  ])('%s %o', (flag, environment, expected) => {
    expect(shardIn(flag, environment)).toEqual(expected);
  });
  test.each<[string | undefined, Record<string, string>]>([
    ['0/8', {}],
    ['9/8', {}],
    ['1', {}],
    ['1/99999', {}],
    [undefined, { JOB_COMPLETION_INDEX: '0' }],
    [undefined, { JOB_COMPLETION_INDEX: '3', JOB_COMPLETIONS: '3' }],
    [undefined, { CI_NODE_INDEX: '1' }],
    [undefined, { BUILDKITE_PARALLEL_JOB: '3', BUILDKITE_PARALLEL_JOB_COUNT: '3' }],
    [undefined, { SYSTEM_JOBPOSITIONINPHASE: '0', SYSTEM_TOTALJOBSINPHASE: '3' }],
    [undefined, { CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '' }],
  ])('%s %o is refused', (flag, environment) => {
    expect(() => shardIn(flag, environment)).toThrow(/shard|jobs/);
  });
});

describe('lanes', () => {
  /** One pass over numbers. @returns what was not begun */
  const inLanes = async (items: readonly number[], how: RepeatedLanes<number>) => {
    const left = await repeatedLanes(how).pass(new Map(items.map((one) => [String(one), one])));
    return left.map(Number);
  };

  test('never run more than there are, and begin all', async () => {
    let [running, most] = [0, 0];
    const done: number[] = [];
    const items = [...Array(20).keys()];
    const work = async (item: number): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((go) => setImmediate(go));
      running -= 1;
      done.push(item);
    };
    const left = await inLanes(items, { lanes: () => 3, mayStart: () => true, work });
    expect({ most, left, done: done.toSorted((a, b) => a - b) }).toEqual({
      most: 3,
      left: [],
      done: items,
    });
  });

  test('begin nothing more after a stop, and end what runs', async () => {
    const ended: number[] = [];
    const left = await inLanes([1, 2, 3, 4], {
      lanes: () => 2,
      mayStart: () => ended.length === 0,
      work: async (item) => {
        await new Promise((go) => setImmediate(go));
        ended.push(item);
      },
    });
    expect(ended).toEqual([1, 2]);
    expect(left).toEqual([3, 4]);
  });

  test('end what runs after a failure, begin nothing more, and throw it', async () => {
    const ended: number[] = [];
    const running = inLanes([1, 2, 3, 4], {
      lanes: () => 2,
      mayStart: () => true,
      work: async (item) => {
        if (item === 1) throw new Error('mistake');
        await new Promise((go) => setImmediate(go));
        ended.push(item);
      },
    });
    await expect(running).rejects.toThrow('mistake');
    expect(ended).toEqual([2]);
  });

  test('a slow tenant holds one lane alone', async () => {
    const ended: number[] = [];
    let free = (): void => undefined;
    const slow = new Promise<void>((go) => (free = go));
    const running = inLanes([1, 2, 3, 4], {
      lanes: () => 2,
      mayStart: () => true,
      work: async (item) => {
        if (item === 1) await slow;
        ended.push(item);
      },
    });
    while (ended.length < 3) await new Promise((go) => setImmediate(go));
    expect(ended).toEqual([2, 3, 4]);
    free();
    await running;
  });

  test('are halved by five tenants in a row that one origin failed, and by no others', () => {
    const { lanes, ended } = laneCount(16);
    for (let at = 0; at < 4; at += 1) ended('a', true);
    ended('a', false);
    for (let at = 0; at < 4; at += 1) ended('a', true);
    for (let at = 0; at < 4; at += 1) ended('b', true);
    expect(lanes()).toBe(16);
    ended('a', true);
    expect(lanes()).toBe(8);
    for (let at = 0; at < 100; at += 1) ended('a', true);
    expect(lanes()).toBe(1);
  });
  test('are as many as before once the origin answers again', () => {
    const { lanes, ended } = laneCount(16);
    for (let at = 0; at < 100; at += 1) ended('a', true);
    for (let at = 0; at < 100; at += 1) ended('b', false);
    expect(lanes()).toBe(1);
    for (let at = 0; at < 4; at += 1) ended('a', false);
    expect(lanes()).toBe(1);
    ended('a', false);
    expect(lanes()).toBe(2);
    for (let at = 0; at < 100; at += 1) ended('a', false);
    expect(lanes()).toBe(16);
  });
});

test('five requests in a row without a response are not repeated, until there is one', () => {
  const { responded, mayRepeat } = laneCount(16);
  for (let at = 0; at < 4; at += 1) responded('a', false);
  responded('a', true);
  for (let at = 0; at < 4; at += 1) responded('a', false);
  expect(mayRepeat('a')).toBe(true);
  responded('a', false);
  expect([mayRepeat('a'), mayRepeat('b')]).toEqual([false, true]);
  responded('a', true);
  expect(mayRepeat('a')).toBe(true);
});

describe('a stop', () => {
  const after = (codes: readonly Exit[], rules: Parameters<typeof stopping>[0]) => {
    const stop = stopping(rules);
    for (const code of codes) stop.ended(code);
    return stop.reason();
  };
  test.each<[readonly Exit[], Parameters<typeof stopping>[0], RegExp | undefined]>([
    [[1, 1], { failures: 3 }, undefined],
    [[1, 1, 0, 1], { failures: 3 }, undefined],
    [[1, 4, 7], { failures: 3 }, /3 tenants in a row failed/],
    [[2, 3, 0, 3], { failures: 1 }, undefined],
    [[1], { failures: 1 }, /^a tenant failed/],
    [[3, 0], { failures: 5, blocked: 1 }, /^1 tenant is blocked/],
    [[3, 0, 3], { failures: 5, blocked: 2 }, /^2 tenants are blocked/],
    [[3, 0], { failures: 5, blocked: 2 }, undefined],
  ])('%j %j', (codes, rules, expected) => {
    expect(after(codes, rules) ?? 'goes on').toMatch(expected ?? /^goes on$/);
  });
});

test('each tenant is in the first stage that selects it, the rest in the last', () => {
  const tenants = [
    tenant('a', { labels: { t: 'x' } }),
    tenant('b'),
    tenant('c', { labels: { t: 'x' } }),
  ];
  const order = [
    { select: 't=x', wait: 5, origin },
    { select: 'tenant=a', wait: 1, origin },
  ];
  const stages = stagesOf({ tenants, order, concurrency: 1, stop: { failures: 5 } }, tenants);
  expect(stages.map((one) => [one.wait, one.tenants.map(({ name }) => name).join('')])).toEqual([
    [5, 'ac'],
    [0, 'b'],
  ]);
});

describe('the environment of a tenant', () => {
  const tenants = [
    tenant('acme', { variables: { site: 'B' } }),
    tenant('acme_eu'),
    tenant('globex'),
  ];
  const environment = {
    PATH: '/bin',
    TRUEUP_V2_URL: 'https://shared',
    TRUEUP_MGR_API_KEY: 'of nobody',
    TRUEUP_FINGERPRINT_KEY: 'of the state',
    OLD_TRUEUP_V3_TOKEN: 'of a tenant that is gone',
    ACME_TRUEUP_MGR_API_KEY: 'a',
    ACME_PAGER: 'pa',
    ACME_TRUEUP_VAR_site: 'A',
    ACME_EU_TRUEUP_MGR_API_KEY: 'e',
    GLOBEX_TRUEUP_MGR_API_KEY: 'g',
    GLOBEX_TRUEUP_V2_URL: 'https://own',
  };
  const split = splitEnvironment(environment, tenants, new Set(['TRUEUP_MGR_API_KEY']));
  const shared = { PATH: '/bin', TRUEUP_FINGERPRINT_KEY: 'of the state' };
  test.each([
    [
      0,
      {
        ...shared,
        TRUEUP_V2_URL: 'https://shared',
        TRUEUP_MGR_API_KEY: 'a',
        PAGER: 'pa',
        TRUEUP_VAR_site: 'B',
      },
    ],
    [1, { ...shared, TRUEUP_V2_URL: 'https://shared', TRUEUP_MGR_API_KEY: 'e' }],
    [2, { ...shared, TRUEUP_V2_URL: 'https://own', TRUEUP_MGR_API_KEY: 'g' }],
  ])('%i holds what is its own, and what is of nobody', (index, expected) => {
    expect(environmentFor(tenants[index]!, split)).toEqual(expected);
  });
  test('is split by one look at each variable: that of a process looks through all for each', () => {
    const looks: string[] = [];
    const looked = new Proxy(environment, {
      get: (all, name) => (looks.push(String(name)), Reflect.get(all, name)),
      getOwnPropertyDescriptor: (all, name) => (
        looks.push(String(name)),
        Reflect.getOwnPropertyDescriptor(all, name)
      ),
    });
    expect(splitEnvironment(looked, tenants, new Set(['TRUEUP_MGR_API_KEY']))).toEqual(split);
    expect(looks).toEqual(Object.keys(environment));
  });
  test.each(['TRUEUP_ENV', 'TRUEUP_STATE'])('has no %s of its own', (name) => {
    const alone = splitEnvironment({ [`GLOBEX_${name}`]: 'x', [name]: 'all' }, tenants, new Set());
    expect(environmentFor(tenants[0]!, alone)).toHaveProperty([name], 'all');
    expect(() => environmentFor(tenants[2]!, alone)).toThrow(
      `tenant globex has GLOBEX_${name}, which is not used`,
    );
    const one = tenant('b', { credentials: { command: ['x'] } });
    expect(() => environmentFor(one, alone, { [name]: 'x' })).toThrow(`tenant b has ${name}`);
  });
  test('has what its command printed', () => {
    const one = tenant('globex', { credentials: { command: ['x'] } });
    expect(environmentFor(one, split, { TRUEUP_MGR_API_KEY: 'printed' })).toMatchObject({
      TRUEUP_MGR_API_KEY: 'printed',
      PATH: '/bin',
    });
  });
});

test.each([
  ['{"TRUEUP_V2_URL":"u"}', { variables: { TRUEUP_V2_URL: 'u' } }],
  ['{"TRUEUP_VAR_night-hook":"u"}', { variables: { 'TRUEUP_VAR_night-hook': 'u' } }],
  [
    '{"TRUEUP_VAR_":"s3cret","hook":"x"}',
    { problem: expect.stringMatching(/^member 2 .* not named like/) as string },
  ],
  ['junk s3cret', { problem: 'it printed no JSON object' }],
  ['["s3cret"]', { problem: 'it printed no JSON object' }],
  ['{}', { problem: 'it printed an empty JSON object' }],
  [
    '{"s3cret key":"x"}',
    { problem: expect.stringMatching(/^member 1 .* not named like/) as string },
  ],
  ['{"A":"x","B":7}', { problem: 'member 2 of what it printed is not a string' }],
])('a credential command that prints %s', (text, expected) => {
  const read = printedVariables(text);
  expect(read).toEqual(expected);
  expect(JSON.stringify(read)).not.toContain('s3cret');
});

test.each([
  [{}, undefined, '.trueup/tenants/a/state.json'],
  [{}, 'prod', '.trueup/tenants/a/state.prod.json'],
  [{ state: 'x/a.json' }, undefined, 'x/a.json'],
  [{ state: 'x/a.json' }, 'prod', '.trueup/tenants/a/state.prod.json'],
  [{ state: 's3://b/a' }, 'prod', 's3://b/a'],
])('the state of %j with %s', (more, env, expected) => {
  expect(tenantState(tenant('a', more), env)).toBe(expected);
});

test.each([
  [undefined, undefined],
  ['states/${tenant}.json', undefined],
  ['s3://b', undefined],
  ['s3://b/${tenant}', 's3://b'],
  ['s3://b/p/${tenant}/x?region=eu', 's3://b/p?region=eu'],
  ['s3://${tenant}/p', undefined],
  ['postgres://h/db?schema=${TENANT}', 'postgres://h/db'],
  ['postgres://h/db?schema=t_${tenant}&sslmode=require', 'postgres://h/db?sslmode=require'],
])('results of states at %s are at %s', (state, expected) => {
  expect(commonPlace(state)).toBe(expected);
});

test('a limiter belongs to a credential: a pause and a rate of one hold no other', () => {
  let now = 0;
  const limiterOf = limitersByKey({ monotonic: () => now });
  const [a, again, b] = [limiterOf('a', 60), limiterOf('a', 600), limiterOf('b', 600)];
  expect(again).toBe(a);
  a.hold(5000);
  expect([a.held(), b.held()]).toEqual([5000, 0]);
  now = 10_000;
  // The lower rate counts: 56 a minute after a burst of three are at most 60 in any minute.
  const waits = Array.from({ length: 5 }, () => a.take());
  expect(waits).toEqual([0, 0, 0, 1072, 2143]);
  limiterOf('b', 60);
  const slowed = Array.from({ length: 5 }, () => b.take());
  expect(slowed).toEqual([0, 0, 0, 1072, 2143]);
});

test('no 60 seconds see more requests of a key than its rate, whatever shares it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 900 }),
      fc.array(fc.nat(3000), { minLength: 1, maxLength: 300 }),
      (rate, gaps) => {
        let time = 0;
        const gate = limitersByKey({ monotonic: () => time })('a', rate);
        const sent = gaps.map((gap) => {
          time += gap;
          return time + gate.take();
        });
        sent.sort((a, b) => a - b);
        for (const first of sent)
          expect(
            sent.filter((at) => at >= first && at < first + 60_000).length,
          ).toBeLessThanOrEqual(rate);
      },
    ),
    { numRuns: drawn(100) },
  );
});

describe('the merged report', () => {
  const about = { trueup_version: '1', generated_at: '2026-01-01T00:00:00Z' };
  test('names a tenant without a result, and fails', () => {
    const report = mergedReport(
      { run: 'r', command: 'drift', tenants: ['a', 'b'] },
      new Map(),
      about,
    );
    expect(report.exit).toBe(exits.error);
    expect(report.summary).toEqual({ tenants: 2, missing: 2 });
    expect(report.tenants.map(({ tenant: name, status }) => [name, status])).toEqual([
      ['a', 'missing'],
      ['b', 'missing'],
    ]);
  });
  test.each<[Exit, boolean, Exit]>([
    [3, true, 3],
    [143, true, 143],
    // Beside a tenant that nobody knows of.
    [3, false, 3],
    [0, false, 1],
  ])(
    'of a run that stopped with exit %i, without a missing tenant: %s, fails with %i',
    (exit, whole, expected) => {
      const entries = new Map([['a', withoutResult('a', 'not-run', 'x')]]);
      const tenants = whole ? ['a'] : ['a', 'b'];
      const stops = [{ exit, diagnostics: [] }];
      const run = { run: 'r', command: 'apply', tenants } as const;
      const report = mergedReport(run, entries, about, stops);
      expect(report.exit).toBe(expected);
    },
  );
  test.each<[Partial<TenantResult>, number | undefined]>([
    [{ started_at: '2026-01-01T00:00:01.500Z', ended_at: '2026-01-01T00:01:02.750Z' }, 61.25],
    // It was not begun.
    [{ exit: null, status: 'not-run' }, undefined],
    // The clock was set back.
    [{ started_at: '2026-01-01T00:00:02Z', ended_at: '2026-01-01T00:00:01Z' }, undefined],
    [{ started_at: 'damaged' }, undefined],
  ])('the result %j took %j seconds', (more, seconds) => {
    const at = '2026-01-01T00:00:00Z';
    const result = tenantResult('a', { started_at: at, ended_at: at, ...more });
    expect(entryOf(result).elapsed_seconds).toBe(seconds);
  });
  test.each<[Exit, boolean]>([
    [0, true],
    [1, false],
    [2, true],
    [3, false],
    [4, false],
    [5, false],
    [6, true],
    [7, false],
    [130, false],
    [143, false],
  ])('a result with exit %i stands: %s', (exit, stands) => {
    expect(isFinal({ exit })).toBe(stands);
  });
  test.each([
    ['plan', 2, false, 'changes'],
    ['drift', 2, false, 'drift'],
    ['apply', 0, true, 'applied'],
    ['apply', 0, false, 'unchanged'],
    ['apply', 7, true, 'partial'],
    ['validate', 0, false, 'valid'],
    ['plan', 143, false, 'interrupted'],
  ] as const)('%s with exit %i is %s', (command, exit, applied, expected) => {
    expect(statusOf(command, exit, applied)).toBe(expected);
  });
});
