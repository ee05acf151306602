// What apply believes only after it looked, and what it keeps to itself meanwhile.
import { describe, expect, it } from 'vitest';
import { dummyCredentials, parseFault } from '../../../src/emulator/index.js';
import {
  Reference,
  Secret,
  type Declaration,
  type JsonObject,
  type Lifecycle,
  type Lookup,
  type Project,
} from '../../../src/model/index.js';
import { declare, steps } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const pager = (values: object = {}): Declaration =>
  declare('alert_push_destinations.pager', {
    name: 'Pager',
    enabled: true,
    endpoint: { url: 'https://hooks.example.com/a' },
    ...values,
  });

it('does not send a change again over what another hand changed meanwhile', async () => {
  const cloud = rig();
  await cloud.apply(desire(pager()));
  const { fetch } = cloud.emulator;
  const theirs = JSON.stringify({ name: 'Theirs' });
  Object.assign(cloud.emulator, {
    async fetch(request: Request) {
      if (request.method !== 'PATCH') return fetch(request);
      await fetch(
        new Request(request.url, { method: 'PATCH', headers: request.headers, body: theirs }),
      );
      return new Response(null, { status: 503 });
    },
  });
  const { exit, outcomes } = await cloud.apply(desire(pager({ enabled: false })));
  expect({ exit, outcomes }).toMatchObject({
    exit: 1,
    outcomes: [{ outcome: 'failed', diagnostic: { code: 'moved' } }],
  });
  expect(cloud.objects('alert_push_destinations')).toMatchObject([
    { name: 'Theirs', enabled: true },
  ]);
  expect(cloud.mutations()).toHaveLength(2);
});

it('does not believe a success that changed nothing', async () => {
  const cloud = rig();
  await cloud.apply(desire(pager()));
  cloud.emulator.setFaults([parseFault('status=200,method=PATCH,times=1')]);
  const changed = desire(pager({ enabled: false }));
  expect(await cloud.apply(changed)).toMatchObject({
    exit: 5,
    outcomes: [
      {
        outcome: 'unknown',
        diagnostic: {
          code: 'not-shown',
          summary: expect.stringMatching(/but enabled still shows the earlier value\.$/),
          detail: expect.stringContaining('If another apply ends in the same way'),
        },
      },
    ],
  });
  expect((await cloud.plan(changed)).exit).toBe(2);
  expect(await cloud.apply(changed)).toMatchObject({ exit: 0, outcomes: [{ outcome: 'done' }] });
});

it.each([
  ['PATCH', 5, 'not-shown'],
  ['DELETE', 1, 'still-there'],
])('does not believe a %s because a later reading fails', async (verb, exit, code) => {
  let reads = -1;
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      if (method === verb) {
        reads = 0;
        return { status: 200, headers: {}, body: '' };
      }
      if (reads >= 0 && method === 'GET') reads += 1;
      // The first reading shows the object as it was, and all others fail.
      return reads > 1 ? { status: 500, headers: {}, body: '' } : proceed();
    },
  });
  await cloud.apply(desire(pager()));
  await cloud.clock.sleep(600_000);
  const next = verb === 'PATCH' ? desire(pager({ enabled: false })) : desire();
  expect(await cloud.apply(next, { allow: ['all-removed'] })).toMatchObject({
    exit,
    outcomes: [{ diagnostic: { code } }],
  });
  expect(Object.keys((await cloud.snapshot())?.state.resources ?? {})).toHaveLength(1);
  reads = -1;
  // What is still there is no object that was deleted lately.
  const { plan } = await cloud.plan(next, { allow: ['all-removed'], settle: 600_000 });
  expect(plan.changes.map(({ action }) => action)).toEqual([
    verb === 'PATCH' ? 'update' : 'delete',
  ]);
});

it('looks again where a reading failed', async () => {
  let reads = -1;
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      if (method === 'PATCH') reads = 0;
      if (reads >= 0 && method === 'GET') reads += 1;
      return reads > 0 && reads < 4 ? { status: 500, headers: {}, body: '' } : proceed();
    },
  });
  await cloud.apply(desire(pager()));
  expect((await cloud.apply(desire(pager({ enabled: false })))).exit).toBe(0);
  expect(reads).toBeGreaterThan(3);
});

it.each(['PATCH', 'DELETE'])('does not call a %s done that nobody could look at', async (verb) => {
  let isWritten = false;
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      if (method === verb) isWritten = true;
      return isWritten && method === 'GET' ? { status: 500, headers: {}, body: '' } : proceed();
    },
  });
  await cloud.apply(desire(pager()));
  const next = verb === 'PATCH' ? desire(pager({ enabled: false })) : desire();
  expect(await cloud.apply(next, { allow: ['all-removed'] })).toMatchObject({
    exit: 5,
    outcomes: [{ outcome: 'unknown', diagnostic: { code: 'unread' } }],
  });
  isWritten = false;
  expect((await cloud.apply(next, { allow: ['all-removed'] })).exit).toBe(0);
  expect(Object.keys((await cloud.snapshot())?.state.resources ?? {})).toHaveLength(
    verb === 'PATCH' ? 1 : 0,
  );
});

it('counts deletes over runs', async () => {
  const cloud = rig();
  const from = (first: number): ReturnType<typeof desire> =>
    desire(
      ...Array.from({ length: 8 - first }, (_, at) =>
        declare(`accounts.a${first + at}`, { name: `A${first + at}` }),
      ),
    );
  await cloud.apply(from(0));
  expect(await cloud.apply(from(3))).toMatchObject({ exit: 0 });
  expect(await cloud.apply(from(6))).toMatchObject({ exit: 3, outcomes: [] });
  expect(cloud.objects('accounts')).toHaveLength(6);
});

it.each([
  [
    'is put right after a success that changed nothing',
    'status=200,method=PATCH,times=1',
    'canary-2',
  ],
  ['is taken back after an answer that was lost', 'reset-after,method=PATCH', 'canary-1'],
])('sends a secret again that %s: nobody knows which one is live', async (_, fault, value) => {
  const sent: string[] = [];
  const cloud = rig({ intercept: ({ body = '' }, proceed) => (sent.push(body), proceed()) });
  const signing = (secret: string, enabled: boolean): ReturnType<typeof desire> =>
    desire(pager({ enabled, authentication: { secret: new Secret('env.S', () => secret) } }));
  await cloud.apply(signing('canary-1', true));
  cloud.emulator.setFaults([parseFault(fault)]);
  expect((await cloud.apply(signing('canary-2', false))).exit).not.toBe(0);
  cloud.emulator.setFaults([]);
  expect((await cloud.apply(signing(value, false))).exit).toBe(0);
  expect(sent.filter((body) => body !== '').at(-1)).toContain(value);
  const before = cloud.mutations().length;
  expect((await cloud.apply(signing(value, false))).exit).toBe(0);
  expect(cloud.mutations()).toHaveLength(before);
});

it.each(['status=200,method=PATCH,times=1', 'latency=0'])(
  'sends its secret to an object that another hand made in place of ours (%s)',
  async (fault) => {
    const sent: string[] = [];
    const cloud = rig({ intercept: ({ body = '' }, proceed) => (sent.push(body), proceed()) });
    const project = desire(
      pager({ authentication: { secret: new Secret('env.S', () => 'canary') } }),
    );
    await cloud.apply(project);
    const byHand = (method: string, path: string, body?: string): Promise<Response> =>
      cloud.emulator.fetch(
        new Request(`http://localhost/api/v2/alert_push_destinations/${path}`, {
          method,
          headers: {
            ...dummyCredentials.v2[0],
            accept: 'application/json',
            'content-type': 'application/json',
          },
          ...(body === undefined ? {} : { body }),
        }),
      );
    await byHand(
      'DELETE',
      `${String(cloud.objects('alert_push_destinations')[0]?.destination_config_id)}/`,
    );
    await byHand(
      'POST',
      '',
      sent
        .find((body) => body !== '')
        ?.replace('canary', 'theirs')
        .replace('true', 'false'),
    );
    cloud.emulator.setFaults([parseFault(fault)]);
    for (let run = 0; run < 2; run += 1) await cloud.apply(project);
    expect(sent.filter((body) => body !== '').at(-1)).toBe(
      '{"enabled":true,"authentication":{"secret":"canary"}}',
    );
    expect((await cloud.plan(project)).exit).toBe(0);
  },
);

describe('while a person looks at the plan', () => {
  const estate = {
    version: 1 as const,
    root: '1',
    next_id: 50,
    records: {
      accounts: [
        { id: '1', name: 'Headquarters', account: null },
        { id: '2', name: 'Depot', account: '1' },
      ],
      account_authorizations: ['700', '701'].map((user, at) => ({
        id: `90${at}`,
        user,
        account: '1',
        role: 'administrator',
      })),
    },
  };
  const put = (cloud: Rig, path: string, body: object): Promise<Response> =>
    cloud.emulator.fetch(
      new Request(`http://localhost/api/${path}`, {
        method: 'PUT',
        headers: path.startsWith('v2')
          ? {
              ...dummyCredentials.v2[0],
              accept: 'application/json',
              'content-type': 'application/json',
            }
          : {
              authorization: `Bearer ${Object.keys(dummyCredentials.v3)[0]}`,
              accept: 'application/vnd.api+json',
              'content-type': 'application/vnd.api+json',
            },
        body: JSON.stringify(body),
      }),
    );
  const slowly = (cloud: Rig, meanwhile: () => Promise<Response>) => async (): Promise<boolean> => {
    await cloud.clock.sleep(6000);
    expect((await meanwhile()).status).toBe(200);
    return true;
  };

  it('demotes nobody who became the last administrator', async () => {
    const cloud = rig({ estate });
    const role = {
      data: { type: 'account_authorizations', id: '901', attributes: { role: 'no_access' } },
    };
    const approve = slowly(cloud, () => put(cloud, 'v3/beta/account_authorizations/901', role));
    const demotion = desire(
      declare('account_authorizations.u0', { user: '700', account: '1', role: 'read_only_user' }),
    );
    await expect(cloud.apply(demotion, { approve, allow: ['first-run'] })).rejects.toMatchObject({
      exit: 3,
      diagnostics: [{ code: 'last-administrator', address: 'account_authorizations.u0' }],
    });
    expect(cloud.objects('account_authorizations')[0]).toMatchObject({ role: 'administrator' });
  });

  it('deletes nothing once a lookup finds nothing any more', async () => {
    const cloud = rig({ estate });
    await cloud.apply(
      desire(declare('accounts.a', { name: 'A' }), declare('accounts.b', { name: 'B' })),
    );
    const approve = slowly(cloud, () => put(cloud, 'v2/accounts/2/', { name: 'Moved' }));
    const lookup: Lookup = {
      name: 'depot',
      kind: 'accounts',
      where: { name: 'Depot' },
      origin: { file: 'a.yaml', line: 1, column: 1 },
    };
    const project = { ...desire(declare('accounts.a', { name: 'A' })), lookups: [lookup] };
    await expect(cloud.apply(project, { approve })).rejects.toMatchObject({
      exit: 1,
      diagnostics: [{ code: 'lookup' }],
    });
    expect(cloud.objects('accounts')).toHaveLength(4);
  });
});

it('has no secret on the disk at any moment', async () => {
  const cloud = rig();
  const seen = new Set<string>();
  cloud.files.onBoundary = (contents) =>
    [...contents].forEach(([path, text]) => text.includes('canary') && seen.add(path));
  for (const value of ['canary-1', 'canary-2'])
    await cloud.apply(
      desire(pager({ authentication: { secret: new Secret('env.S', () => value) } })),
    );
  expect(cloud.mutations()).toHaveLength(2);
  expect([...seen]).toEqual([]);
});

describe('time', () => {
  const late = parseFault('stale=30000,method=POST');

  it('is told by the service, also where the clock of the machine is set during a run', async () => {
    const cloud = rig({ faults: [late] });
    cloud.onMutation = () => cloud.clock.step(-27 * 60_000);
    await cloud.apply(desire(pager()));
    cloud.clock.reboot();
    expect((await cloud.plan(desire(pager()))).exit).toBe(0);
  });

  it('is not told by an answer that took long', async () => {
    const cloud: Rig = rig({
      faults: [late],
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        if (method === 'POST') await cloud.clock.freeze(3_600_000);
        return answer;
      },
    });
    let posted = 0;
    cloud.onMutation = (when) => void (when === 'after' && (posted = cloud.clock.elapsed()));
    await cloud.apply(desire(pager()));
    expect(cloud.clock.elapsed() - posted).toBeGreaterThan(3_000_000);
    const [recent] = (await cloud.snapshot())?.state.recent ?? [];
    expect(Date.parse(recent?.server_at ?? '') - cloud.clock.service.now()).toBeGreaterThan(-5000);
  });

  it('passes while the machine sleeps: an intent that is older than it seems is written again', async () => {
    let sleeps = 0;
    const intents: number[] = [];
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        if (method !== 'POST') return proceed();
        intents.push(
          [...cloud.files.contents.values()].join('\n').split('"type":"intent"').length - 1,
        );
        sleeps += 1;
        if (sleeps > 1) return proceed();
        await cloud.clock.freeze(120_000, true);
        return { status: 429, headers: {}, body: '' };
      },
    });
    expect((await cloud.apply(desire(pager()))).exit).toBe(0);
    expect(intents).toEqual([1, 2]);
  });
});

it('judges what a second reading turns up by the rules that it needs', async () => {
  const id = (index: number): string =>
    `11111111-1111-11f0-8000-${String(index).padStart(12, '0')}`;
  const named = (name: string, enabled = true): JsonObject => ({
    name,
    enabled,
    endpoint: { url: `https://${name.toLowerCase()}.example.com` },
  });
  let pages = Infinity;
  const cloud: Rig = rig({
    estate: {
      version: 1,
      root: '1',
      next_id: 50,
      records: {
        accounts: [{ id: '1', name: 'Headquarters', account: null }],
        alert_push_destinations: Array.from({ length: 600 }, (_, index) => ({
          destination_config_id: id(index),
          ...named(`D${index}`),
        })),
        alert_rules: [
          {
            alert_config_id: '22222222-2222-11f0-8000-000000000001',
            associated_accounts: [1],
            filter_criteria: { alert_type__in: ['account_locked'] },
            http_destinations: [id(5)],
          },
        ],
      },
    },
    intercept: async ({ method, path }, proceed) => {
      const answer = await proceed();
      if (method !== 'GET' || !path.endsWith('/alert_push_destinations/') || (pages += 1) > 2)
        return answer;
      const body = JSON.parse(answer.body) as { readonly data: readonly JsonObject[] };
      return {
        ...answer,
        body: JSON.stringify({ ...body, data: body.data.filter(({ name }) => name !== 'D5') }),
      };
    },
  });
  const account = declare('accounts.a', { name: 'A' });
  await cloud.apply(desire(account));
  const project = desire(account, declare('alert_push_destinations.d', named('D5', false)));
  expect((await cloud.plan(project)).exit).toBe(3);
  pages = 0;
  const shifted = await cloud.plan(project);
  expect([steps(shifted), shifted.exit]).toEqual([
    ['keep accounts.a', 'adopt alert_push_destinations.d'],
    3,
  ]);
});

describe('a reading that is old', () => {
  it('says of a new object that it was not visible then, however late its answer comes', async () => {
    let reads = -Infinity;
    const cloud: Rig = rig({
      faults: [parseFault('stale=30000,method=POST')],
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        // The listing, and the look for the id that it lacks.
        if (method === 'GET' && (reads += 1) === 2) await cloud.clock.freeze(1_800_000, true);
        return answer;
      },
    });
    await cloud.apply(desire(pager()));
    reads = 0;
    await cloud.apply(desire(pager()));
    expect([reads >= 2, cloud.objects('alert_push_destinations').length]).toEqual([true, 1]);
  });

  it('knows its own account, where a new parent is not visible and its child is', async () => {
    let hidden = '';
    const region = declare('accounts.region', { name: 'Region' });
    const site = declare('accounts.site', {
      name: 'Site',
      account: new Reference('declared', 'accounts.region', 'id'),
    });
    const cloud: Rig = rig({
      estate: {
        version: 1,
        root: '1',
        next_id: 50,
        records: {
          accounts: [
            { id: '1', name: 'Headquarters', account: null },
            { id: '5', name: 'Depot', account: '1' },
          ],
        },
      },
      intercept: async ({ method, path }, proceed) => {
        const answer = await proceed();
        if (hidden === '' || method !== 'GET' || !path.includes('/accounts/')) return answer;
        const { data } = JSON.parse(answer.body) as {
          readonly data: readonly { readonly name: string }[];
        };
        return {
          ...answer,
          body: JSON.stringify({
            data: data.filter(({ name }) => name !== hidden),
            meta: { limit: 500, next: null, offset: 0, previous: null },
          }),
        };
      },
    });
    await cloud.apply(desire(region, site));
    hidden = 'Region';
    const { plan } = await cloud.plan(
      desire(region, site, declare('accounts.depot', { name: 'Depot' })),
    );
    expect(plan.changes.find(({ address }) => address === 'accounts.depot')).toMatchObject({
      action: 'adopt',
      id: '5',
    });
  });

  it('takes no other object in place of a new one that one reading shows and the next does not', async () => {
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        const ours =
          cloud.objects('alert_push_destinations').length > 1 &&
          method === 'GET' &&
          cloud.clock.elapsed() < 2000;
        return ours
          ? {
              ...answer,
              body: JSON.stringify({
                data: (JSON.parse(answer.body) as { data: unknown[] }).data.slice(1),
                meta: { limit: 500, next: null },
              }),
            }
          : answer;
      },
    });
    await cloud.apply(desire(pager()));
    const id = String(cloud.objects('alert_push_destinations')[0]?.destination_config_id);
    await cloud.emulator.fetch(
      new Request('http://localhost/api/v2/alert_push_destinations/', {
        method: 'POST',
        headers: {
          ...dummyCredentials.v2[1],
          accept: 'application/json',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'Pager', endpoint: { url: 'https://hooks.example.com/a' } }),
      }),
    );
    await cloud.apply(desire(pager()));
    expect((await cloud.snapshot())?.state.resources['alert_push_destinations.pager']?.id).toBe(id);
  });

  it('lets no object be forgotten that one reading shows and the next does not', async () => {
    let hidden = false;
    const other = declare('alert_push_destinations.other', {
      name: 'Other',
      endpoint: { url: 'https://hooks.example.com/b' },
    });
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        if (!hidden || method !== 'GET' || cloud.clock.elapsed() >= 2000) return answer;
        const { data } = JSON.parse(answer.body) as {
          readonly data: readonly { readonly name: string }[];
        };
        return {
          ...answer,
          body: JSON.stringify({
            data: data.filter(({ name }) => name === 'Other'),
            meta: { limit: 500, next: null },
          }),
        };
      },
    });
    await cloud.apply(desire(pager(), other));
    hidden = true;
    expect((await cloud.apply(desire(other))).exit).toBe(0);
    expect(cloud.objects('alert_push_destinations')).toMatchObject([{ name: 'Other' }]);
  });

  it.each([
    ['an equal object', 'Pager'],
    ['a nearly equal object', 'PAGER '],
  ])(
    'does not prove absence: %s that appeared meanwhile is not created beside',
    async (_, name) => {
      let frozen = false;
      const cloud: Rig = rig({
        intercept: async ({ method, path }, proceed) => {
          const answer = await proceed();
          if (frozen || method !== 'GET' || !path.includes('alert_push')) return answer;
          frozen = true;
          await cloud.clock.freeze(600_000);
          await cloud.emulator.fetch(
            new Request('http://localhost/api/v2/alert_push_destinations/', {
              method: 'POST',
              headers: {
                ...dummyCredentials.v2[1],
                accept: 'application/json',
                'content-type': 'application/json',
              },
              body: JSON.stringify({ name, endpoint: { url: 'https://hooks.example.com/a' } }),
            }),
          );
          return answer;
        },
      });
      expect(await cloud.apply(desire(pager()))).toMatchObject({
        exit: 1,
        outcomes: [{ diagnostic: { code: 'appeared' } }],
      });
      expect(cloud.objects('alert_push_destinations')).toHaveLength(1);
    },
  );
});

describe('a reading that grows old while near-equal objects are created', () => {
  const rule = (index: number, lifecycle: Lifecycle = {}): Declaration =>
    declare(
      `alert_rules.r${index}`,
      { filter_criteria: { alert_type__in: ['a', 'b', `c${index}`] } },
      lifecycle,
    );
  const rules = (lifecycle: Lifecycle): Project =>
    desire(...[...Array(6).keys()].map((index) => rule(index, lifecycle)));

  it.each<[what: string, lifecycle: Lifecycle, foreign: readonly string[], made: number]>([
    ['takes none of them for an object of others', {}, [], 6],
    ['finds an object of others among them', {}, ['a', 'b'], 2],
    ['does not mind a near-equal object that is allowed', { allow_duplicate: true }, ['a', 'b'], 6],
    ['finds an equal object all the same', { allow_duplicate: true }, ['a', 'b', 'c5'], 5],
    ['finds a second one that equals one of them', {}, ['a', 'b', 'c0'], 2],
    ['finds another one that equals one of them, which is answered', {}, ['a', 'b', 'c1'], 2],
  ])('%s', async (_, lifecycle, foreign, made) => {
    let isFirst = foreign.length > 0;
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        if (method !== 'POST') return answer;
        if (isFirst) {
          isFirst = false;
          await cloud.emulator.fetch(
            new Request('http://localhost/api/v2/alert_rules/', {
              method: 'POST',
              headers: {
                ...dummyCredentials.v2[1],
                accept: 'application/json',
                'content-type': 'application/json',
              },
              body: JSON.stringify({ filter_criteria: { alert_type__in: foreign } }),
            }),
          );
        }
        await cloud.clock.service.sleep(1500);
        return answer;
      },
    });
    const { outcomes } = await cloud.apply(rules(lifecycle), { settle: 1, parallelism: 2 });
    expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(made);
    expect(new Set(outcomes.flatMap(({ diagnostic }) => diagnostic?.code ?? []))).toEqual(
      new Set(made === 6 ? [] : ['appeared']),
    );
  });
});

it('an object that somebody made while a create waited to be sent again is not of an earlier attempt', async () => {
  let posts = 0;
  const cloud: Rig = rig({
    intercept: async ({ method, body }, proceed) => {
      if (method !== 'POST' || (posts += 1) > 1) return proceed();
      await cloud.emulator.fetch(
        new Request('http://localhost/api/v2/alert_push_destinations/', {
          method,
          headers: {
            ...dummyCredentials.v2[1],
            accept: 'application/json',
            'content-type': 'application/json',
          },
          ...(body !== undefined && { body }),
        }),
      );
      return { status: 429, headers: { 'retry-after': '100' }, body: '' };
    },
  });
  await cloud.apply(desire(pager()));
  expect(cloud.objects('alert_push_destinations')).toHaveLength(1);
});

it('takes a new object for gone once the reading of a later apply has shown it', async () => {
  const cloud = rig({ faults: [parseFault('stale=10000,method=POST')] });
  const project = desire(pager());
  await cloud.apply(project);
  await cloud.clock.service.sleep(11_000);
  await cloud.apply(project);
  await cloud.emulator.fetch(
    new Request(
      `http://localhost/api/v2/alert_push_destinations/${String(cloud.objects('alert_push_destinations')[0]?.destination_config_id)}/`,
      {
        method: 'DELETE',
        headers: { ...dummyCredentials.v2[1], accept: 'application/json' },
      },
    ),
  );
  expect((await cloud.plan(project)).exit).toBe(2);
});

it.each([
  ['that the declaration ignores', {}, { ignore_changes: ['endpoint.url'] }],
  ['that a create does not send', { suspended: false }, {}],
] as const)('holds no attribute against a new object %s', async (_, more, lifecycle) => {
  const cloud = rig({
    intercept: async ({ method }, proceed) => {
      const answer = await proceed();
      const body = answer.body.replaceAll('.example.com"', '.example.com/"');
      const shown = body.replaceAll(/,"suspended":(?:true|false)/g, '');
      return method === 'POST' ? answer : { ...answer, body: shown };
    },
  });
  const endpoint = { url: `https://x.example.com${'suspended' in more ? '/' : ''}` };
  const one = declare(
    'alert_push_destinations.x',
    { name: 'X', enabled: true, endpoint, ...more },
    lifecycle,
  );
  expect((await cloud.apply(desire(one))).exit).toBe(0);
});

it('takes a flag that the service leaves out for one that is not set', async () => {
  const cloud = rig({
    intercept: async (_, proceed) => {
      const answer = await proceed();
      return {
        ...answer,
        body: answer.body.replaceAll(/,"(?:is_disabled|enabled|suspended)":false/g, ''),
      };
    },
  });
  const project = desire(
    declare('accounts.ops', { name: 'Ops', is_disabled: false }),
    pager({ enabled: false, suspended: false }),
  );
  expect((await cloud.apply(project)).exit).toBe(0);
  expect([(await cloud.plan(project)).exit, (await cloud.drift(project)).exit]).toEqual([0, 0]);
  const changed = desire(declare('accounts.ops', { name: 'Ops', is_disabled: true }), pager());
  expect((await cloud.apply(changed)).exit).toBe(0);
  expect((await cloud.apply(project)).exit).toBe(0);
});

it('does not believe a create whose answer says nothing, and whose object is another one in the listing', async () => {
  const cloud = rig({
    intercept: async ({ method }, proceed) => {
      const answer = await proceed();
      const { destination_config_id } = JSON.parse(answer.body) as JsonObject;
      return method === 'POST'
        ? { ...answer, body: JSON.stringify({ destination_config_id }) }
        : { ...answer, body: answer.body.replaceAll('"Pager"', '"Pag"') };
    },
  });
  const { exit, outcomes } = await cloud.apply(desire(pager()));
  expect([exit, outcomes[0]?.outcome, outcomes[0]?.diagnostic]).toMatchObject([
    1,
    'failed',
    {
      code: 'not-taken',
      summary: expect.stringMatching(/but name is not what was sent\.$/),
    },
  ]);
  const entry = (await cloud.snapshot())?.state.resources['alert_push_destinations.pager'];
  expect([entry?.applied, entry?.observed['name']]).toEqual([{}, 'Pag']);
  expect((await cloud.plan(desire(pager()))).plan.changes).toMatchObject([
    { action: 'update', reason: 'name is not as declared' },
  ]);
});
