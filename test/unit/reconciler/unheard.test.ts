// Outcomes nobody heard of: when a request may still land, whose object it is, what counts against the limits.
import { describe, expect, it } from 'vitest';
import { dummyCredentials, parseFault } from '../../../src/emulator/index.js';
import {
  Reference,
  type Declaration,
  type Project,
  type RunRecord,
} from '../../../src/model/index.js';
import { decodeJournal, encodeRecord, type Journal } from '../../../src/state/journal-text.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const pager = (url = 'https://hooks.example.com/a'): Declaration =>
  declare('alert_push_destinations.pager', { name: 'Pager', enabled: true, endpoint: { url } });
const pagers = (from: number, to: number): Project =>
  desire(
    ...Array.from({ length: to - from }, (_, index) =>
      declare(`alert_push_destinations.p${from + index}`, {
        name: `P${from + index}`,
        endpoint: { url: 'https://hooks.example.com/a' },
      }),
    ),
  );
const destinations = (cloud: Rig): number => cloud.objects('alert_push_destinations').length;
const recorded = async (cloud: Rig): Promise<readonly string[]> =>
  Object.keys((await cloud.snapshot())?.state.resources ?? {});

/** Rewrites answers on their way. */
function between(
  cloud: Rig,
  rewrite: (request: Request, answer: Response) => Promise<Response>,
): void {
  const { fetch } = cloud.emulator;
  Object.assign(cloud.emulator, {
    fetch: async (request: Request) => rewrite(request.clone(), await fetch(request)),
  });
}

/** What another hand makes: a request with the credentials of the run. */
async function anotherHand(
  cloud: Rig,
  request: Request,
  collection: string,
  body: unknown,
): Promise<void> {
  const headers = new Headers(request.headers);
  headers.set('content-type', 'application/json');
  await cloud.emulator.fetch(
    new Request(`http://localhost/api/v2/${collection}/`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    }),
  );
}

describe('a create without an answer', () => {
  it('is given the whole settle time from its sending, however long that waited for patience', async () => {
    const faults = ['status=429,method=POST,times=2', 'late=3900,method=POST,after=2,times=1'].map(
      parseFault,
    );
    const cloud = rig({ faults });
    expect(await cloud.apply(desire(pager()), { settle: 4 })).toMatchObject({ exit: 0 });
    await cloud.emulator.settled();
    expect(destinations(cloud)).toBe(1);
    expect((await cloud.plan(desire(pager()))).exit).toBe(0);
  });

  it.each([false, true])(
    'is found again where it holds a literal that no journal holds (killed: %s)',
    async (killed) => {
      const cloud = rig({ faults: [parseFault('reset-after,method=POST,times=1')] });
      const rule = declare('alert_rules.cap', {
        associated_accounts: ['1'],
        settings: { custom_alert: { token: 'abc', n: 1 } },
        filter_criteria: { alert_type__in: ['custom_alert'] },
      });
      const texts: string[] = [];
      if (killed) {
        cloud.onMutation = (when) => when === 'after' && cloud.files.crashAt(0);
        await cloud.apply(desire(rule), { settle: 1 }).catch(() => undefined);
        cloud.onMutation = undefined;
        cloud.files.reboot();
        texts.push(JSON.stringify(await cloud.snapshot()));
      }
      expect(await cloud.apply(desire(rule), { settle: 1 })).toMatchObject({ exit: 0 });
      expect(cloud.objects('alert_rules')).toHaveLength(1);
      expect(await cloud.plan(desire(rule))).toMatchObject({ exit: 0 });
      expect([...texts, JSON.stringify(await cloud.snapshot())].join('')).not.toContain('"abc"');
    },
  );

  it('is bound to the id of a response that shows it otherwise than it was sent', async () => {
    const cloud = rig();
    between(
      cloud,
      async (_, answer) =>
        new Response((await answer.text()).replaceAll('"daily"', '"DAILY"'), answer),
    );
    const rule = declare('alert_rules.wan', {
      associated_accounts: ['1'],
      schedule: 'daily',
      filter_criteria: { alert_type__in: ['login_success'] },
    });
    const { exit, outcomes } = await cloud.apply(desire(rule), { settle: 1 });
    expect([exit, outcomes[0]?.diagnostic]).toMatchObject([
      1,
      { code: 'not-taken', summary: expect.stringContaining('but schedule is not') as string },
    ]);
    expect(await recorded(cloud)).toEqual(['alert_rules.wan']);
    await cloud.apply(desire(rule), { settle: 1 });
    expect(cloud.objects('alert_rules')).toHaveLength(1);
  });

  it('is not made a second time beside an equal object, though its id claims to be older', async () => {
    const cloud = rig();
    await anotherHand(
      cloud,
      new Request('http://localhost', { headers: { ...dummyCredentials.v2[0] } }),
      'alert_push_destinations',
      {
        name: 'Theirs',
        endpoint: { url: 'https://theirs.example.com' },
      },
    );
    between(cloud, async (request, answer) => {
      const headers = new Headers(answer.headers);
      headers.delete('date');
      const old = JSON.stringify(JSON.parse(await answer.text()), (_, value: unknown) =>
        (value as { name?: unknown } | null)?.name === 'Pager'
          ? { ...(value as object), destination_config_id: '11111111-1111-11e0-8000-000000000001' }
          : value,
      );
      return request.method === 'POST'
        ? new Response('<html>', { headers: { 'content-type': 'text/html' } })
        : new Response(old, { status: answer.status, headers });
    });
    expect(await cloud.apply(desire(pager()))).toMatchObject({ exit: 5 });
    expect(cloud.mutations()).toHaveLength(2);
    await expect(cloud.apply(desire(pager()))).rejects.toMatchObject({
      exit: 5,
      diagnostics: [{ detail: expect.stringContaining('trueup import') as string }],
    });
    expect([cloud.mutations().length, destinations(cloud), await recorded(cloud)]).toEqual([
      2,
      2,
      [],
    ]);
  });

  it('takes an equal object that another hand made after the reading and before the intent, and makes no second one', async () => {
    const cloud = rig({
      faults: [parseFault('html,method=POST,path=alert_rules,after=1,times=1')],
    });
    const content = { filter_criteria: { alert_type__in: ['login_success'] } };
    between(cloud, async (request, answer) => {
      answer.headers.set('date', new Date(cloud.clock.now()).toUTCString());
      if (request.method !== 'POST' || !request.url.includes('/accounts/')) return answer;
      const { id } = (await answer.clone().json()) as { id: string };
      await anotherHand(cloud, request, 'alert_rules', {
        ...content,
        associated_accounts: [Number(id)],
      });
      await cloud.clock.sleep(5000);
      return answer;
    });
    const project = desire(
      declare('accounts.a', { name: 'A' }),
      declare('alert_rules.r', {
        ...content,
        associated_accounts: [new Reference('declared', 'accounts.a', 'id')],
      }),
    );
    expect(await cloud.apply(project)).toMatchObject({ exit: 0 });
    expect(await recorded(cloud)).toEqual(['accounts.a', 'alert_rules.r']);
    expect(cloud.objects('alert_rules')).toHaveLength(1);
  });

  it('is not believed where the answer names an object that was there before', async () => {
    const cloud = rig();
    await cloud.apply(
      desire(
        declare('alert_push_destinations.first', {
          name: 'First',
          endpoint: { url: 'https://hooks.example.com/a' },
        }),
      ),
    );
    const [first] = cloud.objects('alert_push_destinations');
    between(cloud, async (request, answer) =>
      request.method === 'POST'
        ? new Response(
            JSON.stringify({
              ...((await answer.json()) as object),
              destination_config_id: first?.destination_config_id,
            }),
            {
              headers: { 'content-type': 'application/json' },
            },
          )
        : answer,
    );
    const both = desire(
      declare('alert_push_destinations.first', {
        name: 'First',
        endpoint: { url: 'https://hooks.example.com/a' },
      }),
      pager(),
    );
    expect(await cloud.apply(both)).toMatchObject({ exit: 0 });
    const ids = Object.values((await cloud.snapshot())?.state.resources ?? {}).map(
      (entry) => entry.id,
    );
    expect([new Set(ids).size, destinations(cloud)]).toEqual([2, 2]);
  });
});

describe('an update or delete without an answer', () => {
  it('is sent again only after the time that the service asked for', async () => {
    const cloud = rig();
    await cloud.apply(desire(pager()));
    cloud.emulator.setFaults([parseFault('status=503,method=PATCH,times=1')]);
    const at: number[] = [];
    cloud.onMutation = (when) => when === 'before' && at.push(cloud.clock.now());
    expect(await cloud.apply(desire(pager('https://hooks.example.com/b')))).toMatchObject({
      exit: 0,
    });
    expect(at).toHaveLength(2);
    expect((at[1] as number) - (at[0] as number)).toBeGreaterThanOrEqual(1000);
  });

  it('is done by us where the object is gone when the delete is sent again', async () => {
    let sent = 0;
    const cloud = rig({
      intercept: async ({ method }, proceed) => {
        if (method !== 'DELETE') return proceed();
        sent += 1;
        // The first takes effect after it was looked for.
        if (sent === 1) return { status: 503, headers: {}, body: '' };
        await proceed();
        return proceed();
      },
    });
    await cloud.apply(pagers(0, 2));
    const { exit, outcomes } = await cloud.apply(pagers(1, 2));
    expect([exit, sent, outcomes.map(({ gone }) => gone)]).toEqual([0, 2, [undefined, undefined]]);
  });

  it.each([404, 410])(
    'is done where %i says that the object is gone, and it is',
    async (status) => {
      const cloud = rig({
        intercept: async ({ method }, proceed) => {
          const answer = await proceed();
          return method === 'DELETE' ? { ...answer, status } : answer;
        },
      });
      await cloud.apply(pagers(0, 2));
      await cloud.clock.sleep(600_000);
      expect(await cloud.apply(pagers(1, 2))).toMatchObject({ exit: 0 });
      expect(await recorded(cloud)).toHaveLength(1);
    },
  );

  it.each(['status=200', 'status=404', 'status=410'])(
    'keeps the id where a delete was acknowledged and not done (%s)',
    async (fault) => {
      const cloud = rig();
      await cloud.apply(pagers(0, 2));
      cloud.emulator.setFaults([parseFault(`${fault},method=DELETE,times=1`)]);
      const { exit, outcomes } = await cloud.apply(pagers(1, 2));
      const failed = outcomes.find(({ outcome }) => outcome === 'failed');
      const ends = cloud.events.flatMap((event) => (event.type === 'end' ? [event] : []));
      expect(ends.slice(-2).map(({ outcome, late }) => [outcome.outcome, late])).toEqual([
        ['done', undefined],
        ['failed', true],
      ]);
      expect([exit, failed]).toEqual([1, expect.not.objectContaining({ gone: true })]);
      expect(failed?.diagnostic?.summary).toBe(
        fault === 'status=200'
          ? 'alert_push_destinations.p0: the service returned success, but the object is still there.'
          : 'alert_push_destinations.p0: the service returned that there is no such object, but it is still there.',
      );
      expect(await recorded(cloud)).toHaveLength(2);
      expect(await cloud.apply(pagers(1, 2))).toMatchObject({ exit: 0 });
      expect(destinations(cloud)).toBe(1);
    },
  );

  it.each([false, true])(
    'counts against the limits where the clock of the machine is ahead for one run (another boot: %s)',
    async (reboots) => {
      const cloud = rig();
      const allow = ['max-changed'];
      await cloud.apply(pagers(0, 30));
      await cloud.clock.sleep(600_000);
      expect((await cloud.apply(pagers(5, 30), { allow })).exit).toBe(0);
      expect((await cloud.apply(pagers(6, 30), { allow })).exit).toBe(3);
      if (reboots) cloud.clock.reboot();
      cloud.clock.step(25 * 3600_000);
      expect((await cloud.apply(pagers(10, 30), { allow })).exit).toBe(3);
      const more = desire(...pagers(5, 30).declarations, pager());
      expect((await cloud.apply(more)).exit).toBe(0);
      cloud.clock.step(-25 * 3600_000);
      expect((await cloud.apply(pagers(6, 30), { allow })).exit).toBe(3);
      await cloud.clock.sleep(25 * 3600_000);
      expect((await cloud.apply(pagers(6, 30), { allow: ['max-changed'] })).exit).toBe(0);
    },
  );

  it('counts against the limits although the run was killed before it could say so', async () => {
    const cloud = rig();
    await cloud.apply(pagers(0, 12));
    for (let from = 1; from <= 7; from += 1) {
      cloud.onMutation = (when) => when === 'after' && cloud.files.crashAt(0);
      await cloud.apply(pagers(from, 12), { allow: ['max-changed'] }).catch(() => undefined);
      cloud.files.reboot();
    }
    expect(destinations(cloud)).toBe(7);
  });
});

describe('an update that an earlier run left in the journal', () => {
  const renamed = (name: string): Project =>
    desire(declare('accounts.a', { name }), declare('accounts.other', { name: 'Other' }));
  const older = { name: 'B', account: '1' };

  it.each([
    ['the body of this version', 'as written', true, false, 1],
    ['the body of this version, beside a later change', 'as written', true, true, 1],
    // Older versions wrote what is sent as it was live, too.
    ['the body of an older version', older, true, false, 1],
    ['the body of an older version, beside a later change', older, true, true, 0],
    ['the body of an older version, and did nothing', older, false, false, 1],
    ['no body', undefined, true, false, 0],
    ['no body, and did nothing', undefined, false, false, 1],
  ] as const)('with %s is settled, and planned again', async (_, body, lands, later, spent) => {
    let [lost, sent] = [false, 0];
    const cloud: Rig = rig({
      intercept: async ({ method }, proceed) => {
        if (lost && method === 'GET') return { status: 500, headers: {}, body: '' };
        if (method !== 'PUT') return proceed();
        if ((sent += 1) > 1) return proceed();
        lost = true;
        if (lands) await proceed();
        return { status: 504, headers: {}, body: '' };
      },
    });
    await cloud.apply(renamed('A'), { parallelism: 1 });
    expect((await cloud.apply(renamed('B'))).exit).toBe(5);
    lost = false;
    const path = '/sim/state.json.journal';
    const { begin, records } = decodeJournal(cloud.files.contents.get(path) ?? '', path) as Journal;
    const rewritten = records.map((record): RunRecord => {
      if (record.type !== 'intent' || body === 'as written') return record;
      const { body: _body, ...rest } = record;
      return body === undefined ? rest : { ...rest, body };
    });
    expect(rewritten.map(({ type }) => type)).toEqual(['intent', 'result']);
    cloud.files.put(path, [begin, ...rewritten].map(encodeRecord).join(''));
    // Another hand moves the account.
    if (later)
      await cloud.emulator.fetch(
        new Request('http://localhost/api/v2/accounts/2/', {
          method: 'PUT',
          headers: { ...dummyCredentials.v2[0], 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'B', account: '/api/v2/accounts/3/' }),
        }),
      );
    expect((await cloud.apply(renamed('B'))).exit).toBe(0);
    expect([sent, (await cloud.snapshot())?.pending]).toEqual([lands ? 1 : 2, []]);
    expect(cloud.objects('accounts').find(({ id }) => id === '2')).toMatchObject({
      name: 'B',
      account: later ? '3' : '1',
    });
    expect((await cloud.snapshot())?.state.spent).toHaveLength(spent);
  });
});
