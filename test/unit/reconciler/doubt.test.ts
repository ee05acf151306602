// What the service said is not what it did: successes that were none, answers that were lost, requests that land late,
// journals that are torn. Nothing is believed that the safety of others rests on, and nothing that left is forgotten.
import { describe, expect, it } from 'vitest';
import { TransportError, type HttpResponse } from '../../../src/client/index.js';
import { dummyCredentials } from '../../../src/emulator/index.js';
import { Reference, Secret, Template, type Project } from '../../../src/model/index.js';
import type { Applied } from '../../../src/reconciler/apply/apply.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const allow = [
  'privilege-escalation',
  'max-changed',
  'max-deletes',
  'destination-moved',
  'first-run',
] as const;
const reply = (status: number, body = '', type = 'application/json'): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body,
});
const told = ({ outcomes }: Applied): readonly string[] =>
  outcomes.map(({ address, outcome, diagnostic }) =>
    [address, outcome, ...(diagnostic ? [diagnostic.code] : [])].join(' '),
  );
const holds = (
  id: string,
  user: string,
  account: string,
  role: string,
): Record<string, string> => ({ id, user, account, role });
const pagers = (names: readonly string[], enabled = true): Project =>
  desire(
    ...names.map((name) =>
      declare(`alert_push_destinations.${name}`, {
        name,
        enabled,
        endpoint: { url: `https://${name}.example.com` },
      }),
    ),
  );

describe('a success that was none', () => {
  const tree = [
    { id: '1', name: 'A1', account: null },
    { id: '2', name: 'A2', account: '1' },
    { id: '3', name: 'A3', account: '1' },
  ];

  it.each([
    ['a move', '/accounts/2/', () => ''],
    ['a promotion that is only echoed', '/account_authorizations/901', (body: string) => body],
  ])('keeps who waits for %s from being demoted', async (_, path, answer) => {
    const estate = {
      version: 1 as const,
      root: '1',
      next_id: 50,
      records: {
        accounts: tree,
        account_authorizations: [
          holds('900', '700', '2', 'administrator'),
          holds('901', '701', '3', 'full_access_user'),
        ],
      },
    };
    const cloud = rig({
      estate,
      intercept: ({ method, path: at, body = '' }, proceed) =>
        method === 'PUT' && at.endsWith(path)
          ? Promise.resolve(reply(200, answer(body), 'application/vnd.api+json'))
          : proceed(),
    });
    const project = desire(
      declare('accounts.a2', { name: 'A2', account: '3' }, { adopt: '2' }),
      declare('account_authorizations.u0', { user: '700', account: '2', role: 'read_only_user' }),
      declare('account_authorizations.u1', { user: '701', account: '3', role: 'administrator' }),
    );
    const applied = await cloud.apply(project, { allow });
    expect(told(applied)).toContain('account_authorizations.u0 skipped skipped');
    expect(told(applied).some((line) => line.endsWith('unknown not-shown'))).toBe(true);
    expect(cloud.objects('account_authorizations')[0]?.role).toBe('administrator');
  });
});

describe('guards', () => {
  it('wait for nothing that waits for them', async () => {
    const accounts = [
      ['2', '4'],
      ['3', '4'],
      ['4', '1'],
      ['5', '1'],
    ].map(([id, account]) => ({ id: id as string, name: `A${id}`, account: account as string }));
    const estate = {
      version: 1 as const,
      root: '1',
      next_id: 50,
      records: {
        accounts: [{ id: '1', name: 'A1', account: null }, ...accounts],
        account_authorizations: [
          holds('900', '700', '4', 'administrator'),
          holds('901', '701', '5', 'administrator'),
        ],
      },
    };
    const a = declare('accounts.a', { name: 'A2', account: '3' }, { adopt: '2' });
    const b = declare('accounts.b', { account: '5' }, { adopt: '3' });
    const circle = {
      ...b,
      values: {
        account: '5',
        name: new Template(['B of ', new Reference('declared', 'accounts.a', 'name')]),
      },
    };
    const { plan, exit } = await rig({ estate }).plan(desire(a, circle), { allow });
    expect(exit).toBe(3);
    expect(plan.changes.map(({ address, depends_on }) => [address, depends_on])).toEqual([
      ['accounts.a', []],
      ['accounts.b', ['accounts.a']],
    ]);
  });

  it('order moves so that the tree is one at every step', async () => {
    const estate = {
      version: 1 as const,
      root: '1',
      next_id: 50,
      records: {
        accounts: [
          { id: '1', name: 'A1', account: null },
          { id: '2', name: 'A2', account: '1' },
          { id: '6', name: 'A6', account: '2' },
        ],
      },
    };
    const cloud = rig({ estate });
    const project = desire(
      declare('accounts.a2', { name: 'A2', account: '6' }, { adopt: '2' }),
      declare('accounts.a6', { name: 'A6', account: '1' }, { adopt: '6' }),
    );
    expect((await cloud.apply(project, { allow })).exit).toBe(0);
  });

  it('leave what depends on a demotion behind it', async () => {
    const estate = {
      version: 1 as const,
      root: '1',
      next_id: 50,
      records: {
        accounts: [{ id: '1', name: 'A1', account: null }],
        account_authorizations: [
          holds('900', '700', '1', 'administrator'),
          holds('901', '701', '1', 'administrator'),
          holds('902', '702', '1', 'full_access_user'),
        ],
      },
    };
    const project = desire(
      declare('account_authorizations.dana', { user: '700', account: '1', role: 'read_only_user' }),
      declare('account_authorizations.erin', {
        user: '702',
        account: '1',
        role: new Reference('declared', 'account_authorizations.dana', 'role'),
      }),
    );
    const { plan } = await rig({ estate }).plan(project, { allow });
    expect(plan.changes.map(({ address }) => address)).toEqual([
      'account_authorizations.dana',
      'account_authorizations.erin',
    ]);
  });
});

describe('a write whose answer was lost', () => {
  it.each([
    ['silence withholds the second sending', 8, (sends: number) => sends > 0],
    ['the second sending never leaves', 1, (sends: number) => sends === 1],
  ])('stays unknown where %s', async (_, count, isLost) => {
    const sends = new Map<string, number>();
    const cloud: Rig = rig({
      intercept: async ({ method, path }, proceed) => {
        if (method !== 'PATCH') return proceed();
        sends.set(path, (sends.get(path) ?? 0) + 1);
        if (!isLost(sends.get(path) as number))
          throw new TransportError('refused', { sent: false, code: 'ECONNREFUSED' });
        void cloud.clock.sleep(50_000).then(proceed);
        return reply(504);
      },
    });
    const names = Array.from({ length: count }, (__, index) => `d${index}`);
    await cloud.apply(pagers(names));
    const applied = await cloud.apply(pagers(names, false), { allow });
    expect(applied.exit).toBe(5);
    expect(new Set(applied.outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['unknown']));
    expect((await cloud.snapshot())?.pending).toHaveLength(count);
    expect((await cloud.apply(pagers(names, false), { allow })).exit).toBe(0);
    expect((await cloud.snapshot())?.state.spent).toHaveLength(count);
  });

  it('counts as deleted where a second delete finds nothing', async () => {
    let sends = 0;
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        if (method !== 'DELETE') return proceed();
        sends += 1;
        if (sends > 1) return proceed();
        void cloud.clock.sleep(1).then(proceed);
        return reply(504);
      },
    });
    await cloud.apply(pagers(['a', 'b']));
    expect((await cloud.apply(pagers(['a']), { allow })).exit).toBe(0);
    expect(Object.keys((await cloud.snapshot())?.state.resources ?? {})).toEqual([
      'alert_push_destinations.a',
    ]);
  });

  it('with a secret in it is sent again, not taken for another hand', async () => {
    let lost = 0;
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        return method === 'PATCH' && (lost += 1) === 1 ? reply(504) : answer;
      },
    });
    const project = (name: string, value: string): Project =>
      desire(
        declare('alert_push_destinations.d', {
          name,
          endpoint: { url: 'https://d.example.com' },
          authentication: { secret: new Secret('env.S', () => value) },
        }),
      );
    await cloud.apply(project('A', 'one'));
    expect((await cloud.apply(project('B', 'two'), { allow })).exit).toBe(0);
    expect(lost).toBe(2);
  });

  it('is waited for by the next run before anything is decided', async () => {
    const estate = {
      version: 1 as const,
      root: '1',
      next_id: 50,
      records: {
        accounts: [{ id: '1', name: 'A1', account: null }],
        account_authorizations: [
          holds('900', '700', '1', 'administrator'),
          holds('901', '701', '1', 'full_access_user'),
        ],
      },
    };
    let killed = false;
    const cloud: Rig = rig({
      estate,
      intercept: async ({ method, path }, proceed) => {
        if (method !== 'PUT' || !path.endsWith('900') || killed) return proceed();
        killed = true;
        cloud.files.crashAt(0);
        void cloud.clock.sleep(20_000).then(proceed);
        throw new TransportError('reset', { sent: true, code: 'ECONNRESET' });
      },
    });
    const roles = (first: string, second: string): Project =>
      desire(
        declare('account_authorizations.u0', { user: '700', account: '1', role: first }),
        declare('account_authorizations.u1', { user: '701', account: '1', role: second }),
      );
    await cloud.apply(roles('full_access_user', 'administrator'), { allow }).catch(() => undefined);
    cloud.files.reboot();
    expect((await cloud.apply(roles('administrator', 'full_access_user'), { allow })).exit).toBe(0);
    await cloud.clock.sleep(60_000);
    expect(cloud.objects('account_authorizations').map(({ role }) => role)).toEqual([
      'administrator',
      'full_access_user',
    ]);
  });

  it('is waited for by the next run although another hand was quicker', async () => {
    let sends = 0;
    const cloud: Rig = rig({
      intercept: async ({ method, path }, proceed) => {
        if (method !== 'PATCH' || (sends += 1) > 1) return proceed();
        void cloud.clock.sleep(20_000).then(proceed);
        const headers = {
          ...dummyCredentials.v2[0],
          accept: 'application/json',
          'content-type': 'application/json',
        };
        await cloud.emulator.fetch(
          new Request(`http://localhost${path}`, {
            method: 'PATCH',
            headers,
            body: '{"name":"theirs"}',
          }),
        );
        return reply(504);
      },
    });
    await cloud.apply(pagers(['ours']));
    const applied = await cloud.apply(pagers(['ours'], false), { allow });
    expect([applied.exit, ...told(applied)]).toEqual([
      1,
      'alert_push_destinations.ours failed moved',
    ]);
    const theirs = desire(
      declare('alert_push_destinations.ours', {
        name: 'theirs',
        enabled: true,
        endpoint: { url: 'https://ours.example.com' },
      }),
    );
    expect((await cloud.apply(theirs, { allow })).exit).toBe(0);
    await cloud.clock.sleep(60_000);
    expect(cloud.objects('alert_push_destinations')).toMatchObject([
      { name: 'theirs', enabled: true },
    ]);
  });

  it.each([
    [
      'demotes',
      ['administrator', 'administrator'],
      'full_access_user',
      ['administrator', 'full_access_user'],
      3,
    ],
    [
      'promotes',
      ['full_access_user', 'administrator'],
      'administrator',
      ['full_access_user', 'administrator'],
      2,
    ],
  ] as const)(
    'that %s is waited for by the next run where it was sent a second time',
    async (_, [first, second], role, back, spent) => {
      let sends = 0;
      const cloud: Rig = rig({
        estate: {
          version: 1,
          root: '1',
          next_id: 50,
          records: {
            accounts: [{ id: '1', name: 'A1', account: null }],
            account_authorizations: [
              holds('900', '700', '1', first),
              holds('901', '701', '1', second),
            ],
          },
        },
        intercept: async ({ method, path }, proceed) => {
          if (method !== 'PUT' || !path.endsWith('900') || (sends += 1) > 1) return proceed();
          void cloud.clock.sleep(20_000).then(proceed);
          return reply(504);
        },
      });
      const roles = (one: string, two: string): Project =>
        desire(
          declare('account_authorizations.u0', { user: '700', account: '1', role: one }),
          declare('account_authorizations.u1', { user: '701', account: '1', role: two }),
        );
      await cloud.apply(roles(first, second), { allow });
      expect((await cloud.apply(roles(role, 'administrator'), { allow })).exit).toBe(0);
      expect((await cloud.apply(roles(back[0], back[1]), { allow })).exit).toBe(0);
      await cloud.clock.sleep(60_000);
      expect(cloud.objects('account_authorizations').map((one) => one.role)).toEqual(back);
      const snapshot = await cloud.snapshot();
      expect([snapshot?.pending, snapshot?.state.spent.length]).toEqual([[], spent]);
    },
  );

  it('survives a wall clock that is set back between two sendings', async () => {
    let [sends, back] = [0, 0];
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        if (method !== 'PATCH') return proceed();
        sends += 1;
        if (sends === 1) return { ...reply(429), headers: { 'retry-after': '60' } };
        if (sends > 2) return proceed();
        back = 20_000;
        return reply(504);
      },
    });
    const { now } = cloud.clock;
    Object.assign(cloud.clock, { now: () => now() - back });
    await cloud.apply(pagers(['d']));
    expect((await cloud.apply(pagers(['d'], false), { allow })).exit).toBe(0);
    expect((await cloud.snapshot())?.pending).toEqual([]);
  });
});

describe('a journal that fails', () => {
  it.each([500, 504])(
    'while creates answered with %i are settled tells each once, and of those that left none as skipped',
    async (status) => {
      for (let writes = 0; writes < 12; writes += 1) {
        const left = new Set<string>();
        const cloud: Rig = rig({
          seed: writes + 1,
          intercept: async ({ method, body = '' }, proceed) => {
            if (method !== 'POST') return proceed();
            const [, name = ''] = /"name":"(\w+)"/.exec(body) ?? [];
            left.add(name);
            const answer = await proceed();
            return name === 'b' || name === 'd' ? reply(status) : answer;
          },
        });
        const { append } = cloud.files;
        let count = 0;
        cloud.files.append = async (path, mode) => {
          const appender = await append(path, mode);
          const full = (): Promise<void> =>
            Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', path }));
          return {
            ...appender,
            write: (text) => (count++ < writes ? appender.write(text) : full()),
          };
        };
        const applied = await cloud.apply(pagers(['a', 'b', 'c', 'd', 'e']), { parallelism: 2 });
        for (const { address, outcome } of applied.outcomes)
          expect([
            address,
            left.has(address.split('.')[1] as string),
            outcome === 'skipped',
          ]).not.toEqual([address, true, true]);
        const ends = cloud.events.flatMap((event) =>
          event.type === 'end' ? [event.outcome.address] : [],
        );
        expect(new Set(ends).size).toBe(ends.length);
        cloud.files.append = append;
        expect((await cloud.apply(pagers(['a', 'b', 'c', 'd', 'e']))).exit).toBe(0);
        expect(cloud.objects('alert_push_destinations')).toHaveLength(5);
      }
    },
  );

  it.each([0, 1, 2, 3, 4])(
    'after %i of four readings that disprove a success tells all four, one by one',
    async (written) => {
      const names = ['a', 'b', 'c', 'd'];
      let [patches, left] = [0, Infinity];
      const cloud: Rig = rig({
        intercept: async ({ method }, proceed) => {
          if (method === 'PATCH') patches += 1;
          if (method === 'GET' && patches === names.length) left = Math.min(left, written);
          return method === 'PATCH' ? reply(200) : proceed();
        },
      });
      await cloud.apply(pagers(names));
      const { append } = cloud.files;
      cloud.files.append = async (path, mode) => {
        const appender = await append(path, mode);
        const full = (): Promise<void> =>
          Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', path }));
        return { ...appender, write: (text) => ((left -= 1) >= 0 ? appender.write(text) : full()) };
      };
      cloud.events.length = 0;
      const applied = await cloud.apply(pagers(names, false), { allow, settle: 1 });
      expect(applied.exit).toBe(5);
      expect(applied.diagnostics).toHaveLength(written < names.length ? 1 : 0);
      for (const { outcome, diagnostic } of applied.outcomes)
        expect([outcome, diagnostic?.code]).toEqual(['unknown', 'not-shown']);
      const ends = cloud.events.flatMap((event) =>
        event.type === 'end' && event.outcome.outcome === 'unknown' ? [event.outcome.address] : [],
      );
      expect(ends).toEqual(names.map((name) => `alert_push_destinations.${name}`));
      cloud.files.append = append;
    },
  );
});

describe('a rename', () => {
  const rule = (name: string, type: string, lifecycle = {}): Project =>
    desire(
      declare(
        `alert_rules.${name}`,
        { associated_accounts: ['1'], filter_criteria: { alert_type__in: [type] } },
        lifecycle,
      ),
    );
  const renamed = rule('b', 'login_success', { renamed_from: 'a' });

  it('survives a power cut at every boundary, torn anywhere', async () => {
    for (let seed = 1; seed <= 12; seed += 1)
      for (let boundary = 1; boundary < 22; boundary += 1) {
        const cloud = rig({ seed });
        await cloud.apply(rule('a', 'account_locked'));
        cloud.files.crashAt(cloud.files.boundaries + boundary);
        await cloud.apply(renamed, { allow }).catch(() => undefined);
        cloud.files.reboot();
        expect((await cloud.apply(renamed, { allow })).exit).toBe(0);
        expect(cloud.objects('alert_rules')).toHaveLength(1);
        expect(Object.keys((await cloud.snapshot())?.state.resources ?? {})).toEqual([
          'alert_rules.b',
        ]);
      }
  });

  it('whose object is gone leaves one address behind', async () => {
    const cloud = rig();
    await cloud.apply(desire(declare('accounts.a', { name: 'A' })));
    const other = rig({
      estate: {
        ...cloud.emulator.snapshot(),
        records: { accounts: [{ id: '1', name: 'Root', account: null }] },
      },
    });
    for (const [path, text] of cloud.files.contents) other.files.put(path, text);
    const project = desire(declare('accounts.b', { name: 'A' }, { renamed_from: 'a' }));
    expect((await other.apply(project)).exit).toBe(0);
    expect(Object.keys((await other.snapshot())?.state.resources ?? {})).toEqual(['accounts.b']);
    expect((await other.plan(project)).exit).toBe(0);
  });
});
