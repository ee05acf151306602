// Apply against the emulator in process: what is sent, what is remembered, and what a second run finds.
import { describe, expect, it } from 'vitest';
import {
  compareText,
  Reference,
  Secret,
  type Declaration,
  type Project,
} from '../../../src/model/index.js';
import { dummyCredentials, parseFault } from '../../../src/emulator/index.js';
import type { Snapshot } from '../../../src/state/store-port.js';
import { theirs } from '../../support/estate.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const to = (target: string, attribute: string): Reference =>
  new Reference('declared', target, attribute);
const secret = (value: string | null): Secret =>
  new Secret('env.PAGER_SECRET', () => value ?? undefined);

const story = (value: string | null = 'canary-1', more: readonly Declaration[] = []): Project =>
  desire(
    declare('accounts.field', { name: 'Field' }),
    declare('accounts.depot', { name: 'Depot', account: to('accounts.field', 'id') }),
    declare('alert_push_destinations.pager', {
      name: 'Pager',
      enabled: true,
      endpoint: { url: 'https://hooks.example.com/a' },
      authentication: { secret: secret(value) },
    }),
    declare('alert_rules.down', {
      associated_accounts: [to('accounts.field', 'id'), to('accounts.depot', 'id')],
      filter_criteria: { alert_type__in: ['modem_wan_disconnected', 'account_locked'] },
      http_destinations: [to('alert_push_destinations.pager', 'destination_config_id')],
    }),
    declare('alert_rules.nightly', {
      associated_accounts: [to('accounts.field', 'id')],
      filter_criteria: { alert_type__in: ['login_success'] },
      http_destinations: [to('alert_push_destinations.pager', 'destination_config_id')],
      schedule: 'daily',
    }),
    ...more,
  );

const apply = async (
  cloud: Rig,
  project: Project,
  options: Parameters<Rig['apply']>[1] = {},
): Promise<Awaited<ReturnType<Rig['apply']>>> => cloud.apply(project, options);

describe('apply', () => {
  it('makes no twin of what a target leaves out', async () => {
    const cloud = rig();
    const project = desire(
      declare('accounts.a', { name: 'Twin' }),
      declare('accounts.b', { name: 'Twin', account: '1' }),
    );
    for (const target of ['accounts.a', 'accounts.b'])
      expect((await apply(cloud, project, { targets: [target] })).exit).toBe(1);
    expect(cloud.mutations()).toEqual([]);
  });

  it('makes everything in order, and the next plan is empty', async () => {
    const cloud = rig();
    const applied = await apply(cloud, story());
    expect(applied.exit).toBe(0);
    expect(cloud.mutations().map((line) => line.split(' ')[0])).toEqual([
      'POST',
      'POST',
      'POST',
      'POST',
      'POST',
    ]);
    expect(
      cloud.objects('alert_rules').map((rule) => (rule.associated_accounts as unknown[]).length),
    ).toEqual(expect.arrayContaining([1, 2]));
    expect((await cloud.plan(story())).exit).toBe(0);
    expect((await apply(cloud, story())).exit).toBe(0);
    expect(cloud.mutations()).toHaveLength(5);
  });

  it('keeps what is as declared if the update of what it refers to fails', async () => {
    const cloud = rig({
      intercept: async ({ method }, proceed) =>
        method === 'PATCH' ? { status: 400, headers: {}, body: '{}' } : proceed(),
    });
    await apply(cloud, story());
    const changed = story();
    const { outcomes } = await apply(cloud, {
      ...changed,
      declarations: changed.declarations.map((one): Declaration => {
        if (one.address === 'alert_push_destinations.pager')
          return { ...one, values: { ...one.values, name: 'Beeper' } };
        return one.address === 'alert_rules.nightly'
          ? { ...one, address: 'alert_rules.daily', lifecycle: { renamed_from: 'nightly' } }
          : one;
      }),
    });
    expect(outcomes.map(({ address, outcome }) => [address, outcome])).toEqual(
      expect.arrayContaining([
        ['alert_push_destinations.pager', 'failed'],
        ['alert_rules.down', 'done'],
        ['alert_rules.daily', 'done'],
      ]),
    );
  });

  it('leaves the state bytes alone when nothing changes', async () => {
    const cloud = rig();
    await apply(cloud, story());
    const before = new Map(cloud.files.contents);
    await apply(cloud, story());
    expect(cloud.files.contents.get('/sim/state.json')).toBe(before.get('/sim/state.json'));
  });

  it('sends a changed secret once and an unchanged one never; keeps no trace of it', async () => {
    const cloud = rig();
    await apply(cloud, story('canary-1'));
    await apply(cloud, story('canary-2'));
    expect(cloud.mutations().slice(5)).toHaveLength(1);
    await apply(cloud, story('canary-2'));
    await apply(cloud, story(null));
    expect(cloud.mutations()).toHaveLength(6);
    expect([...cloud.files.contents.values()].join()).not.toContain('canary');
  });

  it('sends nothing at all where a secret that has to be sent is not there', async () => {
    const cloud = rig();
    await expect(apply(cloud, story(null))).rejects.toMatchObject({
      exit: 1,
      diagnostics: [{ code: 'secret-missing', address: 'alert_push_destinations.pager' }],
    });
    expect(cloud.mutations()).toEqual([]);
  });

  it('adopts everything when the state is lost', async () => {
    const cloud = rig();
    await apply(cloud, story());
    const { emulator } = cloud;
    const fresh = rig({ estate: emulator.snapshot() });
    const { plan } = await fresh.plan(story(null));
    expect(plan.changes.map((change) => change.action)).toEqual(
      Array.from({ length: 5 }, () => 'adopt'),
    );
    expect((await apply(fresh, story())).exit).toBe(3);
    const { exit, outcomes } = await apply(fresh, story(), { allow: ['first-run'] });
    expect([exit, outcomes.flatMap(({ address, updates }) => (updates ? [address] : []))]).toEqual([
      0,
      ['alert_push_destinations.pager'],
    ]);
    expect(fresh.mutations()).toEqual([expect.stringMatching(/^PATCH .*alert_push_destinations/)]);
    expect((await fresh.plan(story())).exit).toBe(0);
  });

  it('deletes in reverse, rules before what they refer to', async () => {
    const cloud = rig();
    await apply(cloud, story());
    const applied = await apply(cloud, story(), { destroy: true, allow: ['max-changed'] });
    expect(
      applied.outcomes.map((one) => [one.address, one.outcome, one.diagnostic?.summary]),
    ).toEqual(applied.outcomes.map((one) => [one.address, 'done', undefined]));
    expect(
      cloud
        .mutations()
        .slice(5)
        .map((line) =>
          line
            .replace(/[^/]+\/$/, '')
            .split('/')
            .at(-2),
        ),
    ).toEqual(['alert_rules', 'alert_rules', 'alert_push_destinations', 'accounts', 'accounts']);
    expect(cloud.objects('accounts')).toHaveLength(1);
    expect(Object.keys((await cloud.snapshot())?.state.resources ?? {})).toEqual([]);
  });

  it('goes on with what does not depend on a failure, and a rerun resumes', async () => {
    const cloud = rig({
      author: { user: 'dana', host: 'laptop' },
      faults: [parseFault('status=400,method=POST,path=/accounts/,times=1')],
    });
    const first = await apply(cloud, story());
    expect(Object.fromEntries(first.outcomes.map((one) => [one.address, one.outcome]))).toEqual({
      'accounts.field': 'failed',
      'accounts.depot': 'skipped',
      'alert_push_destinations.pager': 'done',
      'alert_rules.down': 'skipped',
      'alert_rules.nightly': 'skipped',
    });
    // The cause of all, and not the nearest change that was skipped for it.
    expect(first.outcomes.flatMap(({ reason }) => reason ?? [])).toEqual(
      Array.from({ length: 3 }, () => 'accounts.field did not succeed'),
    );
    expect(first.exit).toBe(7);
    expect((await apply(cloud, story())).exit).toBe(0);
    expect(cloud.objects('accounts')).toHaveLength(3);
    expect(cloud.objects('alert_push_destinations')).toHaveLength(1);
    const [second, partly] = (await cloud.snapshot())?.state.runs ?? [];
    expect(partly).toMatchObject({ created: 1, failed: 1, skipped: 3 });
    expect([second?.failed, second?.skipped, partly?.unknown]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each(['reset-after', 'truncate', 'late=20000', 'late=20000,mode=reset'])(
    'settles a create that was answered %s, and makes it once',
    async (fault) => {
      const [name, ...more] = fault.split(',');
      const cloud = rig({
        faults: [
          parseFault(
            [name, 'method=POST', 'path=/alert_push_destinations/', 'times=1', ...more].join(','),
          ),
        ],
      });
      const applied = await apply(cloud, story());
      expect(applied.exit).toBe(0);
      expect(cloud.objects('alert_push_destinations')).toHaveLength(1);
      expect(
        cloud.mutations().filter((line) => line.includes('alert_push_destinations')),
      ).toHaveLength(1);
      expect((await cloud.plan(story())).exit).toBe(0);
    },
  );

  it('sends a create that never landed again, after looking', async () => {
    const cloud = rig({
      faults: [parseFault('reset-before,method=POST,path=/alert_rules/,times=1')],
    });
    expect((await apply(cloud, story())).exit).toBe(0);
    expect(cloud.objects('alert_rules')).toHaveLength(2);
  });

  it('ends when the service stays silent, and sends nothing twice', async () => {
    const cloud = rig({ faults: [parseFault('status=503,method=POST')] });
    const applied = await apply(cloud, story());
    expect(applied.exit).toBe(1);
    expect(applied.outcomes.map(({ diagnostic }) => diagnostic?.summary)).toContainEqual(
      expect.stringMatching(
        /was not created: the service gave no clear response \(.*503.*\), and readings after it show no such object\.$/,
      ),
    );
    expect(cloud.mutations()).toHaveLength(4);
    cloud.emulator.setFaults([]);
    expect((await apply(cloud, story())).exit).toBe(0);
    expect(cloud.objects('accounts')).toHaveLength(3);
  });

  it('looks before it patches again', async () => {
    const cloud = rig();
    await apply(cloud, story());
    cloud.emulator.setFaults([parseFault('reset-after,method=PATCH,times=1')]);
    const changed = desire(
      ...story().declarations.filter((one) => one.address !== 'alert_rules.nightly'),
      declare('alert_rules.nightly', { ...story().declarations[4]?.values, schedule: null }),
    );
    expect((await apply(cloud, changed)).exit).toBe(0);
    expect(cloud.mutations().filter((line) => line.startsWith('PATCH'))).toHaveLength(1);
    expect((await cloud.plan(changed)).exit).toBe(0);
  });

  it('refuses to read an incomplete listing, and writes nothing', async () => {
    const cloud = rig({ faults: [parseFault('html,path=/accounts/')] });
    await expect(apply(cloud, story())).rejects.toMatchObject({ exit: 1 });
    expect(cloud.mutations()).toEqual([]);
  });

  it('refuses a saved plan once the cloud moved, and takes one that is done', async () => {
    const cloud = rig();
    const saved = cloud.document(await cloud.plan(story()));
    await apply(cloud, desire(declare('accounts.field', { name: 'Field' })));
    expect((await apply(cloud, story(), { saved })).exit).toBe(0);
    expect((await apply(cloud, story(), { saved })).exit).toBe(0);
    const changed = desire(
      ...story().declarations.slice(0, 4),
      declare('alert_rules.nightly', { ...story().declarations[4]?.values, schedule: null }),
    );
    const plan = cloud.document(await cloud.plan(changed));
    cloud.emulator.setFaults([]);
    await apply(
      cloud,
      desire(
        ...story().declarations.slice(0, 4),
        declare('alert_rules.nightly', { ...story().declarations[4]?.values, schedule: 'weekly' }),
      ),
    );
    await expect(apply(cloud, changed, { saved: plan })).rejects.toMatchObject({ exit: 6 });
  });

  it('does not pass over a secret that a saved plan sends and whose value is not there', async () => {
    const cloud = rig();
    await apply(cloud, story('canary-1'));
    const rotated = cloud.document(await cloud.plan(story('canary-2')));
    const unchanged = cloud.document(await cloud.plan(story('canary-1')));
    await expect(apply(cloud, story(null), { saved: rotated })).rejects.toMatchObject({
      exit: 1,
      diagnostics: [
        {
          code: 'secret-missing',
          summary: expect.stringContaining('${secret.env.PAGER_SECRET}') as string,
        },
      ],
    });
    expect((await apply(cloud, story(null), { saved: unchanged })).exit).toBe(0);
    const { outcomes } = await apply(cloud, story('canary-2'), { saved: rotated });
    expect(outcomes.map(({ action }) => action)).toContain('update');
    expect((await apply(cloud, story('canary-2'), { saved: rotated })).exit).toBe(0);
  });

  it('takes a saved plan with a delete of an object that is gone, and no other one', async () => {
    const cloud = rig();
    const both = desire(declare('accounts.a', { name: 'A' }), declare('accounts.b', { name: 'B' }));
    const less = desire(declare('accounts.a', { name: 'A' }));
    const remove = async (): Promise<void> => {
      await cloud.clock.sleep(600_000);
      const { state } = (await cloud.snapshot()) as Snapshot;
      const url = `http://localhost/api/v2/accounts/${state.resources['accounts.b']?.id}/`;
      const headers = { ...dummyCredentials.v2[1] };
      expect((await cloud.emulator.fetch(new Request(url, { method: 'DELETE', headers }))).ok).toBe(
        true,
      );
    };
    await apply(cloud, both);
    const saved = cloud.document(await cloud.plan(less));
    await remove();
    expect((await apply(cloud, less, { saved })).exit).toBe(0);
    expect(Object.keys((await cloud.snapshot())?.state.resources ?? {})).toEqual(['accounts.a']);
    await apply(cloud, both);
    await remove();
    await expect(apply(cloud, less, { saved })).rejects.toMatchObject({ exit: 6 });
  });

  it('says of what somebody else deleted since the plan that it is gone', async () => {
    const cloud = rig();
    const all = (enabled: boolean, ...names: readonly string[]): Project =>
      desire(
        ...names.map((name) =>
          declare(`alert_push_destinations.${name}`, {
            name,
            enabled,
            endpoint: { url: 'https://hooks.example.com/a' },
          }),
        ),
      );
    await apply(cloud, all(true, 'a', 'b', 'c'));
    await cloud.clock.sleep(600_000);
    const { state } = (await cloud.snapshot())!;
    const removed = async (): Promise<boolean> => {
      for (const name of ['a', 'b']) {
        const { id } = state.resources[`alert_push_destinations.${name}`]!;
        const url = `http://localhost/api/v2/alert_push_destinations/${id}/`;
        const headers = { ...dummyCredentials.v2[1] };
        await cloud.emulator.fetch(new Request(url, { method: 'DELETE', headers }));
      }
      return true;
    };
    const { exit, outcomes } = await apply(cloud, all(false, 'a'), {
      approve: removed,
      allow: ['max-changed'],
    });
    expect([exit, cloud.mutations().at(-3)]).toEqual([7, expect.stringMatching(/^PATCH/)]);
    const [a, b, c] = outcomes.toSorted((one, other) => compareText(one.address, other.address));
    expect(a).toMatchObject({
      outcome: 'failed',
      diagnostic: {
        code: 'gone',
        summary: 'alert_push_destinations.a was deleted outside of trueup since the plan.',
        detail: 'Plan again.',
      },
    });
    expect(b).toMatchObject({ outcome: 'done', gone: true });
    expect([c?.outcome, c?.gone]).toEqual(['done', undefined]);
    expect((await apply(cloud, all(false, 'a'))).exit).toBe(0);
  });

  it.each([
    [true, 'A reading after it shows that the object still exists. Plan again.'],
    [false, 'It is not known whether the object still exists. Plan again.'],
  ])(
    'does not say that an object is gone because of the response to an update (it is read: %s)',
    async (isRead, detail) => {
      let isRefused = false;
      const cloud = rig({
        intercept: async ({ method }, proceed) => {
          if (method === 'PATCH') isRefused = true;
          if (method === 'PATCH') return { status: 404, headers: {}, body: '' };
          return isRefused && !isRead ? { status: 500, headers: {}, body: '' } : proceed();
        },
      });
      const pager = (enabled: boolean): Project =>
        desire(
          declare('alert_push_destinations.a', {
            name: 'a',
            enabled,
            endpoint: { url: 'https://hooks.example.com/a' },
          }),
        );
      await apply(cloud, pager(true));
      const { exit, outcomes } = await apply(cloud, pager(false));
      expect([exit, outcomes]).toMatchObject([
        1,
        [
          {
            outcome: 'failed',
            diagnostic: {
              code: 'not-found',
              summary: expect.stringMatching(/^PATCH .* returned 404$/),
              detail,
            },
          },
        ],
      ]);
    },
  );

  it('says what it does not know when it is interrupted while a create is unclear, and the next run looks', async () => {
    const cloud = rig({
      faults: [parseFault('reset-after,method=POST,path=/alert_push_destinations/,times=1')],
    });
    const stop = new AbortController();
    cloud.onMutation = (when, _, path) =>
      when === 'before' &&
      path.endsWith('/alert_push_destinations/') &&
      stop.abort(new Error('stop'));
    const first = await apply(cloud, story(), { signal: stop.signal });
    expect(
      first.outcomes.find((one) => one.address === 'alert_push_destinations.pager'),
    ).toMatchObject({
      outcome: 'unknown',
      diagnostic: {
        code: 'unread',
        summary:
          'It is not known whether alert_push_destinations.pager was created: the run was interrupted before it was read.',
      },
    });
    expect(first.exit).toBe(5);
    cloud.onMutation = undefined;
    // A plan does not know whether the run still holds the lock.
    expect((await cloud.plan(story())).plan.diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'unfinished',
        summary:
          'The outcome of the create of alert_push_destinations.pager is not known: a run is in progress, or ended before it was known.',
      }),
    );
    expect((await apply(cloud, story())).exit).toBe(0);
    expect(cloud.objects('alert_push_destinations')).toHaveLength(1);
  });

  it('does not say that a reading failed where the run was interrupted before it', async () => {
    const stop = new AbortController();
    const pager = (name: string): Project =>
      desire(
        declare('alert_push_destinations.a', {
          name,
          enabled: true,
          endpoint: { url: 'https://hooks.example.com/a' },
        }),
      );
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        if (method !== 'PATCH') return answer;
        stop.abort(new Error('stop'));
        // It shows another name than was sent, so trueup would read the object.
        const [object] = cloud.objects('alert_push_destinations');
        return { ...answer, body: JSON.stringify({ ...object, name: 'old' }) };
      },
    });
    await apply(cloud, pager('old'));
    const { outcomes } = await apply(cloud, pager('new'), { signal: stop.signal });
    expect(outcomes.map(({ outcome, diagnostic }) => [outcome, diagnostic?.summary])).toEqual([
      [
        'unknown',
        'alert_push_destinations.a: the service returned success, but it was not read after that.',
      ],
    ]);
  });

  it('does not say that what may have been created did not succeed', async () => {
    let isSent = false;
    const cloud = rig({
      intercept: async ({ method, path }, proceed) => {
        if (method !== 'POST' || !path.endsWith('/alert_push_destinations/'))
          return isSent && method === 'GET' ? { status: 500, headers: {}, body: '' } : proceed();
        isSent = true;
        await proceed();
        return { status: 503, headers: {}, body: '' };
      },
    });
    const { exit, outcomes } = await apply(cloud, story());
    expect(exit).toBe(5);
    expect(
      outcomes.map(({ address, outcome, reason, diagnostic }) => [
        address,
        outcome,
        reason ?? diagnostic?.summary,
      ]),
    ).toEqual(
      expect.arrayContaining([
        [
          'alert_push_destinations.pager',
          'unknown',
          'It is not known whether alert_push_destinations.pager was created: the reading after the request failed.',
        ],
        ['alert_rules.down', 'skipped', 'alert_push_destinations.pager has an unknown outcome'],
      ]),
    );
  });

  it('says of what it leaves alone that it lost the lock, not that something failed', async () => {
    const cloud = rig();
    cloud.onMutation = (when) => when === 'after' && cloud.files.put('/sim/state.json.lock', '{}');
    const all = ['a', 'b', 'c', 'd'].map((name) => declare(`accounts.${name}`, { name }));
    const { outcomes } = await apply(cloud, desire(...all), { parallelism: 1 });
    const skipped = outcomes.filter(({ outcome }) => outcome === 'skipped');
    expect(skipped.map(({ diagnostic }) => diagnostic?.summary)).toEqual(
      ['b', 'c', 'd'].map((name) => `accounts.${name} was skipped: the run was cut short.`),
    );
  });

  it('stops when it is interrupted, and the next run goes on', async () => {
    const cloud = rig();
    const stop = new AbortController();
    cloud.onMutation = (when) => when === 'after' && stop.abort(new Error('stop'));
    const first = await apply(cloud, story(), { signal: stop.signal, parallelism: 1 });
    cloud.onMutation = undefined;
    expect(first.outcomes.map((one) => one.outcome)).toEqual([
      'done',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
    ]);
    expect((await apply(cloud, story())).exit).toBe(0);
    expect(cloud.mutations()).toHaveLength(5);
  });
});

describe('drift', () => {
  it('tells what differs from what was applied, and counts what nobody manages', async () => {
    const cloud = rig();
    await apply(cloud, story());
    const quiet = await cloud.drift(story());
    expect(quiet).toMatchObject({ drift: [], exit: 0, unmanaged: { accounts: 1 } });
    expect(quiet.in_sync).toHaveLength(5);
    const id = String(cloud.objects('alert_push_destinations')[0]?.destination_config_id);
    await handChange(cloud, 'PATCH', `/api/v2/alert_push_destinations/${id}/`, { enabled: false });
    const audit = await cloud.drift(story());
    expect(audit.exit).toBe(2);
    expect(audit.drift).toEqual([
      expect.objectContaining({
        address: 'alert_push_destinations.pager',
        status: 'changed',
        changes: [{ path: 'enabled', declared: true, applied: true, live: false }],
      }),
    ]);
  });

  it('does not take our own requests for those of another hand', async () => {
    const cloud = rig({ faults: [parseFault('latency=400,method=POST')] });
    await apply(cloud, story());
    const { id, applied_at } =
      (await cloud.snapshot())?.state.resources['alert_push_destinations.pager'] ?? {};
    const logged =
      cloud.emulator
        .snapshot()
        .activity_logs?.filter(
          (entry) => (entry as { object?: { id?: unknown } }).object?.id === id,
        ) ?? [];
    expect(logged.length).toBe(1);
    expect(
      Date.parse((logged[0] as { action: { timestamp: string } }).action.timestamp),
    ).toBeLessThanOrEqual(Date.parse(String(applied_at)));
  });
});

async function handChange(cloud: Rig, method: string, path: string, body: unknown): Promise<void> {
  const { dummyCredentials } = await import('../../../src/emulator/index.js');
  const answer = await cloud.emulator.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...dummyCredentials.v2[0],
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    }),
  );
  expect(answer.status).toBe(200);
}

it('a role that is retired is said to be forgotten after its update', async () => {
  const cloud = rig({ estate: theirs });
  const declared = declare(
    'account_authorizations.ben',
    { user: '77', account: '1', role: 'full_access_user' },
    { on_removal: 'no_access' },
  );
  await cloud.apply(desire(declared), { allow: ['first-run'] });
  const { outcomes } = await cloud.apply(desire(), { allow: ['all-removed'] });
  expect(outcomes).toMatchObject([{ action: 'update', outcome: 'done', forgets: true }]);
});
