// Alerts on request: which rules fire, what is signed and sent, what is tried again and when, and what is never sent.
// The clock moves by hand and the network is a function.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Behaviours, DeliveryOptions, Estate } from '../../../src/emulator/index.js';
import type { Json, JsonObject } from '../../../src/model/index.js';
import { rig, type HandClock, type Rig } from './rig.js';

const MINUTE = 60_000;
const estate: Estate = {
  version: 1,
  next_id: 900,
  records: {
    accounts: [
      { id: '1', name: 'Headquarters', account: null },
      { id: '12', name: 'North', account: '1' },
      { id: '13', name: 'South', account: '1' },
      { id: '120', name: 'Depot', account: '12' },
    ],
    configuration_managers: [{ id: '6001', router: '5001', account: '120' }],
  },
};

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is undefined is left out. */
type Fields = Readonly<Record<string, Json | undefined>>;

interface Place extends Rig {
  readonly sent: Sent[];
  /** What the receiver answers next: statuses or errors, in order; then 200. */
  readonly answers: (number | Error)[];
  readonly destination: (fields?: Fields) => Promise<string>;
  readonly rule: (fields: JsonObject) => Promise<string>;
  readonly raise: (body: Json) => Promise<Raised>;
  readonly deliveries: () => Promise<readonly JsonObject[]>;
  /** Lets time pass, and what was waiting for it happen. */
  readonly pass: (milliseconds: number) => Promise<void>;
}

interface Raised {
  readonly status: number;
  readonly alert: JsonObject;
  readonly rules: readonly {
    readonly alert_config_id: string;
    readonly deliveries: readonly JsonObject[];
  }[];
}

function place(
  options: Omit<DeliveryOptions, 'send'> = {},
  behaviours: Partial<Behaviours> = {},
  seed = estate,
): Place {
  const sent: Sent[] = [];
  const answers: (number | Error)[] = [];
  const send: DeliveryOptions['send'] = async (url, headers, body) => {
    sent.push({ url, headers, body });
    const answer = answers.shift() ?? 200;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const made = rig({ estate: seed, behaviours, deliveries: { ...options, send } });
  const create = async (collection: string, id: string, body: Fields): Promise<string> =>
    String((await made.ask('POST', `/api/v2/${collection}/`, JSON.stringify(body))).body[id]);
  return {
    ...made,
    sent,
    answers,
    destination: (fields = {}) =>
      create('alert_push_destinations', 'destination_config_id', {
        name: 'Pager',
        enabled: true,
        endpoint: { url: 'http://127.0.0.1:9/hook' },
        authentication: { secret: 'correct horse' },
        ...fields,
      }),
    rule: (fields) =>
      create('alert_rules', 'alert_config_id', {
        filter_criteria: { alert_type__in: ['account_locked'] },
        associated_accounts: [12],
        ...fields,
      }),
    raise: async (body) => {
      const { status, body: answer } = await made.ask('POST', '/emulator/alerts', body);
      return { ...answer, status } as unknown as Raised;
    },
    deliveries: async () => (await made.ask('GET', '/emulator/deliveries?limit=500')).body.data,
    pass: (milliseconds) => passing(made.clock, milliseconds),
  };
}

async function passing(clock: HandClock, milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  await new Promise((done) => setImmediate(done));
}

/** The plain case: one destination, one rule. */
async function plain(
  ...given: Parameters<typeof place>
): Promise<Place & { readonly id: string; readonly path: string }> {
  const one = place(...given);
  const id = await one.destination();
  await one.rule({ http_destinations: [id] });
  return { ...one, id, path: `/api/v2/alert_push_destinations/${id}/` };
}

const alert = { type: 'account_locked', account: '12' };
const shape = ({ status, reason }: JsonObject): unknown =>
  reason === undefined ? status : `${String(status)}: ${String(reason)}`;
const all = ({ rules }: Raised): readonly JsonObject[] =>
  rules.flatMap(({ deliveries }) => deliveries);

describe('an alert', () => {
  test('is a record, and is delivered signed', async () => {
    const { raise, sent, list, id } = await plain();
    const { status, alert: record, rules } = await raise(alert);
    expect([status, rules.length]).toEqual([200, 1]);
    expect(record).toMatchObject({
      type: 'account_locked',
      account: 'http://cloud.test/api/v2/accounts/12/',
      router: null,
      created_at: '2026-01-02T03:04:05.000Z',
    });
    expect(await list('/api/v2/alerts/')).toEqual([record]);
    expect(all({ status, alert: record, rules })).toEqual([
      {
        id: expect.any(String) as string,
        alert_config_id: rules[0]?.alert_config_id,
        destination_config_id: id,
        alerts: [record['created_at_timeuuid']],
        status: 'delivered',
        attempts: [{ at: '2026-01-02T03:04:05.000Z', status: 200 }],
      },
    ]);
    expect(sent.map(({ url }) => url)).toEqual(['http://127.0.0.1:9/hook']);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
      data: [{ ...record, router_details: null }],
    });
    expect(sent[0]?.headers['x-signature']).toBe(
      createHmac('sha256', 'correct horse')
        .update(sent[0]?.body ?? '')
        .digest('hex'),
    );
  });

  test('of a router names it alone, and tells of it what is known', async () => {
    const { raise, sent } = await plain();
    const { alert: record } = await raise({
      type: 'account_locked',
      account: '120',
      router: '5001',
    });
    expect(record).toMatchObject({
      account: null,
      router: 'http://cloud.test/api/v2/routers/5001/',
    });
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
      data: [{ router_details: { id: '5001' } }],
    });
    const extended = await plain({}, { dialect: 'public' });
    await extended.raise({
      type: 'account_locked',
      account: '120',
      router: 'https://www.example.com/api/v1/routers/5001/',
    });
    expect(JSON.parse(extended.sent[0]?.body ?? '')).toMatchObject({
      data: [{ router_details: { id: '5001', name: 'Router 5001' } }],
    });
  });

  test.each<[string, JsonObject, JsonObject, boolean]>([
    ['its type and account', {}, alert, true],
    ['another type', {}, { ...alert, type: 'login_success' }, false],
    [
      'a type that nobody knows',
      { filter_criteria: { alert_type__in: ['novel'] } },
      { ...alert, type: 'novel' },
      true,
    ],
    ['an account below', {}, { ...alert, account: '120' }, true],
    ['an account above', {}, { ...alert, account: '1' }, false],
    ['an account beside', {}, { ...alert, account: '13' }, false],
    ['no scope', { associated_accounts: [] }, alert, false],
    ['no types', { filter_criteria: {} }, alert, false],
    [
      'the group of the router',
      { associated_accounts: [], associated_groups: [40] },
      { type: 'account_locked', account: '13', router: '5002' },
      true,
    ],
    [
      'another group',
      { associated_accounts: [], associated_groups: [41] },
      { type: 'account_locked', account: '13', router: '5002' },
      false,
    ],
    [
      'a group, and no router',
      { associated_accounts: [], associated_groups: [40] },
      { type: 'account_locked', account: '13' },
      false,
    ],
  ])('a rule with %s: %j, %j', async (_, fields, body, fires) => {
    const groups = [
      { id: '40', name: 'Depots', account: '13' },
      { id: '41', name: 'Clinics', account: '13' },
    ];
    const seed = {
      ...estate,
      records: { ...estate.records, groups, routers: [{ id: '5002', account: '13', group: '40' }] },
    };
    const { destination, rule, raise, sent } = place({}, { dialect: 'public' }, seed);
    await rule({ http_destinations: [await destination()], ...fields });
    expect((await raise(body)).rules).toHaveLength(fires ? 1 : 0);
    expect(sent).toHaveLength(fires ? 1 : 0);
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ['without an account', { type: 'a' }, ['account']],
    ['without a type', { account: '12' }, ['type']],
    ['of an account that is not there', { type: 'a', account: '99' }, ['account']],
    ['of a router of another account', { type: 'a', account: '12', router: '5001' }, ['account']],
    ['with a member that nobody knows', { type: 'a', account: '12', colour: 'red' }, ['colour']],
  ])('%s is refused', async (_, body, paths) => {
    const { ask, list } = place();
    const answer = await ask('POST', '/emulator/alerts', body);
    expect([answer.status, answer.body.errors.map(({ path }) => path)]).toEqual([400, paths]);
    expect(await list('/api/v2/alerts/')).toEqual([]);
  });

  test('takes the keys of v2', async () => {
    const { ask } = place();
    expect(
      (await ask('POST', '/emulator/alerts', alert, { 'X-MGR-API-KEY': 'guessed' })).status,
    ).toBe(401);
    expect(
      (await ask('GET', '/emulator/deliveries', undefined, { 'X-MGR-API-KEY': 'guessed' })).status,
    ).toBe(401);
  });

  test('fires every rule that matches, to each of its destinations', async () => {
    const { destination, rule, raise, deliveries, sent } = place();
    const [a, b] = [await destination({ name: 'A' }), await destination({ name: 'B' })];
    await rule({ http_destinations: [a, b] });
    await rule({ http_destinations: [b], associated_accounts: [1] });
    expect(
      all(await raise(alert)).map((one) => [one['destination_config_id'], one['status']]),
    ).toEqual([
      [a, 'delivered'],
      [b, 'delivered'],
      [b, 'delivered'],
    ]);
    expect([sent.length, (await deliveries()).length]).toEqual([3, 3]);
  });
});

describe('what is not sent', () => {
  test.each<[string, Fields, string]>([
    ['disabled', { enabled: false }, 'skipped: the destination is disabled'],
    [
      'elsewhere',
      { endpoint: { url: 'https://hooks.example.com/x' } },
      'refused: hooks.example.com is another machine: to deliver there, start the emulator with --deliver-anywhere',
    ],
    [
      'a name that begins like this machine',
      { endpoint: { url: 'http://127.0.0.1.example.com/' } },
      'refused: 127.0.0.1.example.com is another',
    ],
    [
      'an address of this machine in a user name',
      { endpoint: { url: 'http://127.0.0.1@hooks.example.com/' } },
      'refused: its endpoint.url holds a user name',
    ],
    ['no URL', { endpoint: { url: 'pager' } }, 'refused: its endpoint.url is not a URL'],
    [
      'another scheme',
      { endpoint: { url: 'file://localhost/x' } },
      'refused: its endpoint.url is neither',
    ],
    [
      'no secret',
      { authentication: undefined },
      'refused: it has no authentication.secret to sign with',
    ],
  ])('%s', async (_, fields, why) => {
    const { destination, rule, raise, sent, pass, emulator } = place();
    await rule({ http_destinations: [await destination(fields)] });
    expect(all(await raise(alert)).map(shape)).toEqual([expect.stringContaining(why)]);
    await pass(300 * MINUTE);
    expect([sent, emulator.objects('alert_push_destinations')[0]?.suspended]).toEqual([[], false]);
  });

  test.each(['http://localhost:1/', 'http://127.1/', 'https://[::1]:8443/'])(
    '%s is this machine',
    async (url) => {
      const { destination, rule, raise } = place();
      await rule({ http_destinations: [await destination({ endpoint: { url } })] });
      expect(all(await raise(alert)).map(shape)).toEqual(['delivered']);
    },
  );

  test.each([
    ['https://hooks.example.com/x', 'delivered'],
    ['https://hooks.example.com:8443/x', 'delivered'],
    [
      'https://hooks.example.com:444/x',
      'refused: the service delivers to https on port 443 or 8443',
    ],
    ['http://hooks.example.com/x', 'refused: the service delivers to https on port 443 or 8443'],
  ])('where it is allowed, %s: %s', async (url, outcome) => {
    const { destination, rule, raise } = place({ anywhere: true });
    await rule({ http_destinations: [await destination({ endpoint: { url } })] });
    expect(all(await raise(alert)).map(shape)).toEqual([outcome]);
  });

  test('without a network, nothing', async () => {
    const { emulator, ask } = rig({ estate });
    const { body } = await ask('POST', '/api/v2/alert_push_destinations/', {
      name: 'Pager',
      enabled: true,
      endpoint: { url: 'http://127.0.0.1/' },
      authentication: { secret: 's' },
    });
    await ask('POST', '/api/v2/alert_rules/', {
      filter_criteria: { alert_type__in: ['account_locked'] },
      associated_accounts: [12],
      http_destinations: [body.destination_config_id as string],
    });
    expect((await ask('POST', '/emulator/alerts', alert)).text).toContain(
      'this emulator has no network',
    );
    expect(emulator.objects('alerts')).toHaveLength(1);
  });
});

describe('the secret', () => {
  test('of a destination that was made before the emulator began is not known: nothing is sent until it is set again', async () => {
    const { emulator } = await plain();
    const again = place({}, {}, emulator.snapshot());
    const [{ destination_config_id: id } = {}] = again.emulator.objects('alert_push_destinations');
    expect(all(await again.raise(alert)).map(shape)).toEqual([
      'refused: its secret was set before the emulator was started: send authentication.secret again, by PATCH',
    ]);
    await again.ask('PATCH', `/api/v2/alert_push_destinations/${String(id)}/`, {
      authentication: { secret: 'new' },
    });
    expect(all(await again.raise(alert)).map(shape)).toEqual(['delivered']);
    expect(
      again.sent.map(
        ({ headers, body }) =>
          headers['x-signature'] === createHmac('sha256', 'new').update(body).digest('hex'),
      ),
    ).toEqual([true]);
  });

  test('that is not known lets a delivery go unsigned where that is asked for', async () => {
    const { emulator } = await plain();
    const again = place({}, { unsigned_deliveries: true }, emulator.snapshot());
    expect(all(await again.raise(alert)).map(shape)).toEqual(['delivered']);
    expect(again.sent.map(({ headers }) => 'x-signature' in headers)).toEqual([false]);
  });

  test('is in no record, answer, kept request or snapshot, whatever happens', async () => {
    const { raise, ask, emulator, answers, pass, path, deliveries } = await plain(
      {},
      { dialect: 'public' },
    );
    answers.push(500, new Error('the connection failed'));
    const answered = [
      await raise(alert),
      await ask('GET', path),
      await ask('GET', '/api/v2/activity_logs/'),
    ];
    await pass(MINUTE);
    await pass(15 * MINUTE);
    const everything = JSON.stringify([
      answered,
      await deliveries(),
      emulator.snapshot(),
      emulator.requests,
      emulator.objects('alert_push_destinations'),
    ]);
    expect(everything).not.toContain('horse');
  });

  test('signs in the header that is asked for', async () => {
    const { raise, sent } = await plain({}, { signature_header: 'x-hub-signature' });
    await raise(alert);
    expect(sent[0]?.headers['x-hub-signature']).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a delivery that fails', () => {
  const suspended = ({ emulator }: Rig): unknown =>
    emulator
      .objects('alert_push_destinations')
      .map((one) => [one['suspended'], one['last_error_text'], one['last_error_at']])[0];

  test('is tried again after 1, 15, 45, 90 and 120 minutes, each time the same; then the destination is suspended', async () => {
    const one = await plain();
    const { raise, sent, answers, pass, deliveries, clock } = one;
    answers.push(500, new Error('the connection failed (ECONNREFUSED)'), 404, 302, 503, 429, 200);
    const [first] = all(await raise(alert));
    expect(first).toMatchObject({
      status: 'retrying',
      next_attempt_at: '2026-01-02T03:05:05.000Z',
      attempts: [{ status: 500 }],
    });
    expect(suspended(one)).toEqual([
      false,
      'the receiver returned 500',
      '2026-01-02T03:04:05.000Z',
    ]);
    for (const [index, minutes] of [1, 15, 45, 90, 120].entries()) {
      await pass(minutes * MINUTE - 1);
      expect([sent.length, (suspended(one) as Json[])[0]]).toEqual([index + 1, false]);
      await pass(1);
      expect(sent).toHaveLength(index + 2);
    }
    expect(new Set(sent.map(({ body, headers }) => body + headers['x-signature'])).size).toBe(1);
    expect(suspended(one)).toEqual([
      true,
      'the receiver returned 429',
      new Date(clock.now()).toISOString(),
    ]);
    const [ended = {}] = await deliveries();
    expect(ended).toMatchObject({
      status: 'failed',
      reason: 'after 6 attempts: the receiver returned 429',
    });
    expect(
      (ended['attempts'] as readonly JsonObject[]).map(({ status, error }) => status ?? error),
    ).toEqual([500, 'the connection failed (ECONNREFUSED)', 404, 302, 503, 429]);
    expect(ended).not.toHaveProperty('next_attempt_at');
    expect(all(await raise(alert)).map(shape)).toEqual(['skipped: the destination is suspended']);
    await pass(500 * MINUTE);
    expect(sent).toHaveLength(6);
  });

  test('is done once an attempt succeeds', async () => {
    const one = await plain();
    one.answers.push(500, 500);
    await one.raise(alert);
    for (const minutes of [1, 15, 45, 90]) await one.pass(minutes * MINUTE);
    expect([
      one.sent.length,
      (await one.deliveries()).map(shape),
      (suspended(one) as Json[])[0],
    ]).toEqual([3, ['delivered'], false]);
  });

  test('goes to the address that the destination has by then, and to nobody where it takes nothing any more', async () => {
    const { raise, sent, answers, pass, ask, path, deliveries } = await plain();
    answers.push(500, 500);
    await raise(alert);
    await ask('PATCH', path, { endpoint: { url: 'http://127.0.0.1:8/other' } });
    await pass(MINUTE);
    await ask('PATCH', path, { enabled: false });
    await pass(15 * MINUTE);
    expect(sent.map(({ url }) => url)).toEqual([
      'http://127.0.0.1:9/hook',
      'http://127.0.0.1:8/other',
    ]);
    expect((await deliveries()).map(shape)).toEqual(['skipped: the destination is disabled']);
  });

  test('waits as long as a minute is said to last', async () => {
    const { raise, sent, answers, pass } = await plain({ minute: 100 });
    answers.push(500, 500);
    await raise(alert);
    await pass(100);
    await pass(1500);
    expect(sent).toHaveLength(3);
  });
});

describe('schedules', () => {
  test('a daily rule gathers its alerts for a day, sends them in one, and notes when', async () => {
    const { destination, rule, raise, sent, pass, emulator, deliveries } = place();
    await rule({ http_destinations: [await destination()], schedule: 'daily' });
    expect(all(await raise(alert))).toMatchObject([
      { status: 'queued', next_attempt_at: '2026-01-03T03:04:05.000Z', attempts: [] },
    ]);
    await pass(60 * MINUTE);
    expect(all(await raise({ ...alert, account: '120' }))).toMatchObject([
      { status: 'queued', alerts: [expect.any(String), expect.any(String)] },
    ]);
    await pass(23 * 60 * MINUTE);
    expect(
      sent.map(
        ({ body }) => (JSON.parse(body) as { readonly data: readonly unknown[] }).data.length,
      ),
    ).toEqual([2]);
    expect(emulator.objects('alert_rules')[0]?.last_summary_ts).toBe('2026-01-03T03:04:05.000Z');
    expect((await deliveries()).map(shape)).toEqual(['delivered']);
    expect(all(await raise(alert)).map(shape)).toEqual(['queued']);
  });

  test('a rule that is deleted before then sends nothing', async () => {
    const { destination, rule, raise, sent, pass, ask, deliveries } = place();
    const id = await rule({ http_destinations: [await destination()], schedule: 'daily' });
    await raise(alert);
    await ask('DELETE', `/api/v2/alert_rules/${id}/`);
    await pass(24 * 60 * MINUTE);
    expect([sent, (await deliveries()).map(shape)]).toEqual([
      [],
      ['skipped: the rule was deleted'],
    ]);
  });

  test('a schedule that nobody knows sends nothing, and says so', async () => {
    const { destination, rule, raise, sent } = place();
    await rule({ http_destinations: [await destination()], schedule: 'weekly' });
    expect([all(await raise(alert)).map(shape), sent]).toEqual([
      ['refused: what the schedule "weekly" means is not known'],
      [],
    ]);
  });
});

describe('test_alert_push_destinations', () => {
  const path = '/api/v2/test_alert_push_destinations/';

  test('sends one empty list, signed, even where the destination is disabled', async () => {
    const { ask, sent, id, path: one, answers } = await plain({}, { dialect: 'public' });
    await ask('PATCH', one, { enabled: false });
    expect((await ask('POST', path, { destination_config_id: id })).body).toEqual({
      success: true,
      details: '',
    });
    expect(sent.map(({ body, headers }) => [body, headers['x-signature']])).toEqual([
      ['{"data":[]}', createHmac('sha256', 'correct horse').update('{"data":[]}').digest('hex')],
    ]);
    answers.push(500);
    expect((await ask('POST', path, { destination_config_id: id })).body).toEqual({
      success: false,
      details: 'the receiver returned 500',
    });
  });

  test('is refused for what is no destination, and not there in the dialect of the reference', async () => {
    const { ask, id } = await plain({}, { dialect: 'public' });
    expect((await ask('POST', path, {})).status).toBe(400);
    expect((await ask('POST', path, { destination_config_id: id.replace(/.$/, 'x') })).status).toBe(
      400,
    );
    expect((await ask('GET', path)).status).toBe(405);
    expect((await place().ask('POST', path, { destination_config_id: id })).status).toBe(404);
  });
});
