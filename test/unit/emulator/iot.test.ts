// The IoT platform and the sample flow in the box: tokens, conditions, identifiers, pages, limits, and the change.
import { describe, expect, it, test } from 'vitest';
import {
  createEmulator,
  dummyCredentials,
  parseFault,
  type EmulatorOptions,
  type Estate,
} from '../../../src/emulator/index.js';
import { makeEstate } from '../../support/make-estate.js';
import type { Json, JsonObject } from '../../../src/model/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { seededRandom } from '../../support/simulated.js';
import { answerOf, handClock, ORIGIN, type Answer, type HandClock } from './rig.js';

const DETAILS = '/iot/api/subscriptions/details';
const FLOW = '/get_sim_info/activate_sim';
const sims: readonly JsonObject[] = [
  {
    imsi: '1',
    iccid: '89-1',
    msisdn: '46-1',
    state: 'ACTIVE',
    label: 'fleet-a',
    enterprise: 'Acme Ltd',
    detectedImei: '35',
    customFields: [{ fieldName: 'depot', fieldValue: 'North' }],
    customerNo: '7',
  },
  {
    imsi: '2',
    iccid: '89-2',
    msisdn: '46-2',
    state: 'PAUSE',
    label: 'fleet-a',
    enterprise: '',
    organizationId: 'o-1',
    customerNo: '7',
  },
  {
    imsi: '3',
    iccid: '89-3',
    msisdn: '46-3',
    state: 'TERMINATED',
    label: 'a;b',
    enterprise: 'Acme Ltd',
  },
];
const estate: Estate = {
  version: 1,
  records: { accounts: [{ id: '1', name: 'Headquarters', account: null }], subscriptions: sims },
};
const grant = {
  grant_type: 'password',
  client_id: 'cm-public-api-client',
  ...dummyCredentials.iot,
};

interface Rig {
  readonly clock: HandClock;
  readonly emulator: ReturnType<typeof createEmulator>;
  readonly grants: (form: Readonly<Record<string, string>>, type?: string) => Promise<Answer>;
  readonly token: () => Promise<string>;
  readonly details: (
    query: string,
    body?: Json,
    token?: string,
  ) => Promise<Answer & { readonly list: readonly JsonObject[] }>;
  readonly flow: (
    query: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
}

function rig(options: Partial<EmulatorOptions> = {}): Rig {
  const clock = handClock();
  const emulator = createEmulator({
    kinds,
    collections,
    clock,
    random: seededRandom(),
    estate,
    ...options,
  });
  const ask = async (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer> =>
    answerOf(
      await emulator.fetch(
        new Request(ORIGIN + path, { method, headers, ...(body !== undefined && { body }) }),
      ),
    );
  const grants: Rig['grants'] = (form, type = 'application/x-www-form-urlencoded') =>
    ask(
      'POST',
      '/iot/api/auth/token',
      { 'content-type': type },
      new URLSearchParams(form).toString(),
    );
  const token = async (): Promise<string> => String((await grants(grant)).body['access_token']);
  return {
    clock,
    emulator,
    grants,
    token,
    async details(query, body, given) {
      const headers = {
        accept: 'application/json',
        authorization: `Bearer ${given ?? (await token())}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const answer = await ask(
        body === undefined ? 'GET' : 'POST',
        `${DETAILS}${query}`,
        headers,
        body === undefined ? undefined : JSON.stringify(body),
      );
      return { ...answer, list: (answer.body['subscriptions'] ?? []) as readonly JsonObject[] };
    },
    flow: (query, headers = {}) =>
      ask('GET', `${FLOW}?${new URLSearchParams(query).toString()}`, {
        'X-Username': dummyCredentials.flow.username,
        'X-Password': dummyCredentials.flow.password,
        filterValue: '1',
        ...headers,
      }),
  };
}

describe('tokens', () => {
  it('are given for a password and end in time', async () => {
    const { grants, details, clock } = rig({ behaviours: { token_seconds: 60 } });
    const { status, body } = await grants(grant);
    expect([status, body]).toEqual([
      200,
      { access_token: expect.stringMatching(/./), token_type: 'JWT', expires_in: 60 },
    ]);
    const ask = async (): Promise<number> =>
      (await details('?q=label==fleet-a', undefined, String(body['access_token']))).status;
    clock.advance(59_999);
    expect(await ask()).toBe(200);
    clock.advance(1);
    expect(await ask()).toBe(401);
  });

  test.each([
    [{ ...grant, password: 'guess' }, 401],
    [{ ...grant, username: 'nobody' }, 401],
    [{ ...grant, client_id: 'other' }, 400],
    [{ ...grant, grant_type: 'client_credentials' }, 400],
    [{ ...grant, scope: 'all' }, 400],
    [{}, 400],
  ])('%j is answered %i as a problem', async (form, status) => {
    const answer = await rig().grants(form);
    expect([answer.status, answer.headers.get('content-type'), answer.body['status']]).toEqual([
      status,
      'application/problem+json',
      status,
    ]);
  });

  it('want a form, and without one nothing is told', async () => {
    const { grants, details } = rig();
    expect((await grants(grant, 'application/json')).status).toBe(415);
    expect((await details('?q=label==fleet-a', undefined, 'guess')).status).toBe(401);
    expect(
      (await details('', { identifierType: 'IMSI', identifierValues: ['1'] }, 'guess')).status,
    ).toBe(401);
  });
});

describe('a condition', () => {
  test.each([
    ['label==fleet-a', ['1', '2']],
    ['label=="a;b"', ['3']],
    ["company=='Acme Ltd'", ['1', '3']],
    ['customField==North', ['1']],
    ['label==none', []],
  ])('%s', async (q, wanted) => {
    const { list, body } = await rig().details(`?q=${encodeURIComponent(q)}`);
    expect([list.map(({ imsi }) => imsi), body['size']]).toEqual([wanted, wanted.length]);
  });

  test.each([
    '',
    'label',
    'label=fleet-a',
    'state==ACTIVE',
    'label==a;state==ACTIVE',
    'label==a or label==b',
    'label=="a" or label=="b"',
    'label==Acme Ltd',
    'label=="a\\"',
  ])('%j is none', async (q) => {
    expect((await rig().details(`?q=${encodeURIComponent(q)}`)).status).toBe(400);
  });

  it('gives what the reference says, without label and custom fields', async () => {
    const { list } = await rig().details('?q=label==fleet-a');
    expect(list).toEqual([
      {
        imsi: '1',
        iccid: '89-1',
        msisdn: '46-1',
        state: 'ACTIVE',
        enterprise: 'Acme Ltd',
        detectedImei: '35',
      },
      {
        imsi: '2',
        iccid: '89-2',
        msisdn: '46-2',
        state: 'PAUSE',
        enterprise: '',
        organizationId: 'o-1',
      },
    ]);
  });

  test.each([
    [false, /^\/iot\/api\/subscriptions\/details\?q=label%3D%3Dfleet-a&limit=1&cursor=[\w-]+$/],
    [true, /^[\w-]+$/],
  ])(
    'goes on in pages where they are asked for (bare cursors: %s)',
    async (bare_cursors, shape) => {
      const { details } = rig({ behaviours: { bare_cursors } });
      const { list, body } = await details('?q=label==fleet-a&limit=1');
      expect([list.map(({ imsi }) => imsi), body['size']]).toEqual([['1'], 1]);
      expect(body['next']).toMatch(shape);
      const cursor =
        new URLSearchParams(String(body['next']).replace(/^[^?]*\?/, '')).get('cursor') ??
        String(body['next']);
      const second = await details(`?q=label==fleet-a&limit=1&cursor=${cursor}`);
      expect([second.list.map(({ imsi }) => imsi), 'next' in second.body]).toEqual([['2'], false]);
    },
  );

  test.each(['&limit=0', '&limit=10001', '&cursor=x', '&offset=1', '&limit=1&limit=2'])(
    '%s is refused',
    async (more) => {
      expect((await rig().details(`?q=label==fleet-a${more}`)).status).toBe(400);
    },
  );
});

describe('identifiers', () => {
  test.each([
    ['IMSI', ['2', '9', '1'], ['1', '2']],
    ['ICC', ['89-3'], ['3']],
    ['MSISDN', ['46-2'], ['2']],
  ])('%s', async (identifierType, identifierValues, wanted) => {
    const { list, body } = await rig().details('', { identifierType, identifierValues });
    expect(list.map(({ imsi }) => imsi)).toEqual(wanted);
    expect(Object.keys(body)).toEqual(['subscriptions']);
  });

  it('bring label and custom fields where they are asked for and there are some', async () => {
    const body = { identifierType: 'IMSI', identifierValues: ['1', '2'] };
    const keys = async (query: string): Promise<unknown> =>
      (await rig().details(query, body)).list.map((one) =>
        ['label', 'customFields', 'detectedImei'].filter((name) => name in one),
      );
    expect(await keys('')).toEqual([[], []]);
    expect(
      await keys('?additionalFields=LABEL&additionalFields=CUSTOM_FIELDS&additionalFields=DATES'),
    ).toEqual([['label', 'customFields'], ['label']]);
  });

  test.each<[string, Json]>([
    ['', { identifierType: 'IMEI', identifierValues: ['1'] }],
    ['', { identifierType: 'toString', identifierValues: ['1'] }],
    ['', { identifierType: 'IMSI', identifierValues: [] }],
    ['', { identifierType: 'IMSI', identifierValues: [1] }],
    ['', { identifierType: 'IMSI', identifierValues: '1' }],
    ['', { identifierType: 'IMSI', identifierValues: ['1'], more: true }],
    ['', ['1']],
    ['?additionalFields=SECRETS', { identifierType: 'IMSI', identifierValues: ['1'] }],
    ['?q=label==a', { identifierType: 'IMSI', identifierValues: ['1'] }],
  ])('%s %j is refused', async (query, body) => {
    expect((await rig().details(query, body)).status).toBe(400);
  });
});

describe('the flow', () => {
  const asked = { customerNo: '7', filterKey: 'imsi', subscriptionStatus: 'Activate' };
  const states = ({ emulator }: Rig): unknown[] =>
    emulator.objects('subscriptions').map(({ state }) => state);

  it('changes an active subscription to paused and back, and tells the log nothing', async () => {
    const made = rig();
    let told = 0;
    made.emulator.onChange(() => (told += 1));
    const { status, body } = await made.flow(asked);
    const [key = ''] = Object.keys(body).filter((name) => name.endsWith('Z'));
    expect([status, body['SIMStatus'], body[key]]).toEqual([
      200,
      'Pause',
      { serviceRequestId: expect.stringMatching(/./), statusRequestResponse: 'Completed' },
    ]);
    expect(body['SIMInfo']).toMatchObject({
      imsi: ['1'],
      msisdn: ['46-1'],
      icc: ['89-1'],
      customerLabel: ['fleet-a'],
      customerNo: ['7'],
      simSubscriptionStatus: ['Active'],
    });
    expect(Object.keys(body['SIMInfo'] as JsonObject)).toHaveLength(41);
    expect([states(made), told]).toEqual([['PAUSE', 'PAUSE', 'TERMINATED'], 1]);
    expect(
      (await made.flow({ ...asked, filterKey: 'msisdn' }, { filterValue: '46-1' })).body[
        'SIMStatus'
      ],
    ).toBe('Active');
    expect(states(made)).toEqual(['ACTIVE', 'PAUSE', 'TERMINATED']);
    expect(made.emulator.snapshot().activity_logs).toEqual([]);
  });

  test.each<[Readonly<Record<string, string>>, Readonly<Record<string, string>>, number]>([
    [asked, { 'X-Password': 'guess' }, 401],
    [asked, { 'X-Username': '' }, 401],
    [{ ...asked, filterKey: 'icc' }, {}, 400],
    [{ ...asked, subscriptionStatus: 'Terminate' }, {}, 400],
    [{ filterKey: 'imsi', subscriptionStatus: 'Activate' }, {}, 400],
    [{ ...asked, more: '1' }, {}, 400],
    [asked, { filterValue: '' }, 400],
    [asked, { filterValue: '9' }, 404],
    [{ ...asked, customerNo: '8' }, {}, 404],
    [asked, { filterValue: '3' }, 409],
  ])('%j %j is answered %i, and nothing changes', async (query, headers, status) => {
    const made = rig();
    const answer = await made.flow(query, headers);
    expect([answer.status, answer.headers.get('content-type'), states(made)]).toEqual([
      status,
      'application/problem+json',
      ['ACTIVE', 'PAUSE', 'TERMINATED'],
    ]);
  });

  it('changes, or not, as the fault says', async () => {
    for (const [fault, state] of [
      ['reset-after', 'PAUSE'],
      ['reset-before', 'ACTIVE'],
      ['status=503', 'ACTIVE'],
      ['truncate', 'PAUSE'],
    ] as const) {
      const made = rig({ faults: [parseFault(`${fault},path=${FLOW}`)] });
      await made.flow(asked).catch(() => undefined);
      expect([fault, states(made)[0]]).toEqual([fault, state]);
    }
  });
});

describe('limits', () => {
  it('are told and hold, where the behaviour is on', async () => {
    const { details, token, clock } = rig({ behaviours: { platform_limits: true } });
    const held = await token();
    const ask = (): ReturnType<typeof details> => details('?q=label==fleet-a', undefined, held);
    const first = await ask();
    expect(
      ['Limit-Second', 'Remaining-Second', 'Limit-Minute', 'Remaining-Minute'].map((name) =>
        first.headers.get(`x-ratelimit-${name}`),
      ),
    ).toEqual(['10', '9', '150', '149']);
    for (let turn = 0; turn < 9; turn += 1) expect((await ask()).status).toBe(200);
    const over = await ask();
    expect([
      over.status,
      over.headers.get('x-ratelimit-remaining-second'),
      over.headers.get('content-type'),
    ]).toEqual([429, '0', 'application/problem+json']);
    clock.advance(1000);
    expect((await ask()).status).toBe(200);
  });

  it('are those of the reference otherwise: none', async () => {
    const { details } = rig();
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => details('?q=label==fleet-a')),
    );
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(statuses[0]?.headers.get('x-ratelimit-limit-second')).toBeNull();
  });
});

describe('faults', () => {
  test.each([
    ['status=429', 429, 'application/problem+json'],
    ['html', 200, 'text/html; charset=utf-8'],
  ])('%s reach the platform', async (fault, status, type) => {
    const answer = await rig({ faults: [parseFault(`${fault},path=details`)] }).details(
      '?q=label==fleet-a',
    );
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);
  });

  it('loop-next leads to the page it stands on', async () => {
    const { body } = await rig({ faults: [parseFault('loop-next,path=details')] }).details(
      '?q=label==fleet-a&limit=1',
    );
    expect(body['next']).toBe(`${ORIGIN}${DETAILS}?q=label==fleet-a&limit=1`);
  });
});

it('keeps subscriptions over a restart, and makes as many as are wanted', () => {
  const clock = handClock();
  const made = makeEstate({ subscriptions: 300, random: seededRandom(), clock });
  const emulator = createEmulator({
    kinds,
    collections,
    clock,
    random: seededRandom(),
    estate: made,
  });
  expect(emulator.snapshot().records['subscriptions']).toEqual(made.records['subscriptions']);
  expect(new Set(emulator.objects('subscriptions').map(({ imsi }) => imsi)).size).toBe(300);
});
