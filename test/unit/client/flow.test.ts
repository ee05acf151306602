// The sample flow: one GET that changes something, sent once whatever comes of it, and nothing of the card's secrets kept.
import { describe, expect, it, test } from 'vitest';
import {
  connectFlow,
  TransportError,
  type HttpResponse,
  type FlowOptions,
  type HttpRequest,
} from '../../../src/client/index.js';
import type { Flipped } from '../../../src/model/index.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { json, lost, never, refusal, refused, secret } from './fake-cloud.js';

const IMSI = '240010000000001';
const info = {
  imsi: [IMSI],
  msisdn: ['46700000001'],
  pin1: ['1234'],
  puk1: ['12345678'],
  simSubscriptionStatus: ['Active'],
  apns: [],
};
const whole = {
  '2026-01-02T03:04:05Z': { serviceRequestId: 'r-7', statusRequestResponse: 'Completed' },
  SIMStatus: 'Pause',
  SIMInfo: info,
};

interface Called {
  readonly flipped: Flipped;
  readonly asked: readonly HttpRequest[];
}

async function call(
  answer: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  more: Partial<FlowOptions> = {},
): Promise<Called> {
  const asked: HttpRequest[] = [];
  const flip = connectFlow({
    flow: {
      url: 'https://flow.example.com/base/',
      username: secret('TRUEUP_FLOW_USERNAME', 'dana'),
      password: secret('TRUEUP_FLOW_PASSWORD', 'sesame'),
    },
    transport: async (request) => (asked.push(request), answer(request)),
    clock: simulatedClock(),
    random: seededRandom(),
    emit: () => undefined,
    signal: new AbortController().signal,
    ...more,
  });
  return { flipped: await flip({ by: 'imsi', value: IMSI, customer: 'A&B 1' }), asked };
}

it('is asked by the headers and the query of the reference, and tells the status after and the request', async () => {
  const { flipped, asked } = await call(() => json(whole));
  expect(flipped).toEqual({
    class: 'applied',
    status: 'Pause',
    request_id: 'r-7',
    request_status: 'Completed',
  });
  const [one] = asked;
  const { origin, pathname, searchParams } = new URL(one?.url ?? '');
  expect([asked.length, one?.method, one?.body, origin + pathname]).toEqual([
    1,
    'GET',
    undefined,
    'https://flow.example.com/base/get_sim_info/activate_sim',
  ]);
  expect(Object.fromEntries(searchParams)).toEqual({
    customerNo: 'A&B 1',
    filterKey: 'imsi',
    subscriptionStatus: 'Activate',
  });
  expect(one?.headers).toMatchObject({
    'X-Username': 'dana',
    'X-Password': 'sesame',
    filterValue: IMSI,
  });
});

describe('is sent once, and what came of it', () => {
  type Row = readonly [
    what: string,
    answer: () => HttpResponse | Promise<HttpResponse>,
    outcome: Flipped['class'],
    code: string,
  ];
  const unclear = [408, 425, 500, 502, 503, 504].map((status): Row => [
    `a ${status}`,
    () => json({}, status),
    'unknown',
    'service-error',
  ]);
  const codes = {
    400: 'rejected',
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not-found',
    409: 'rejected',
    429: 'rate-limited',
  };
  const clear = Object.entries(codes).map(([status, code]): Row => [
    `a ${status}`,
    () =>
      json(
        {
          title: 'pin1 1234',
          detail: 'sesame',
          exception: 'puk1 12345678',
          errors: ['pin1 1234'],
          SIMInfo: info,
        },
        Number(status),
        { 'retry-after': '1' },
      ),
    'rejected',
    code,
  ]);
  test.each<Row>([
    ...unclear,
    ...clear,
    ...[405, 406, 410, 413, 415, 422].map((status): Row => [
      `a ${status}`,
      () => json({ title: 'pin1 1234' }, status),
      'unknown',
      status === 410 ? 'not-found' : 'rejected',
    ]),
    ['a 301', () => json({}, 301), 'unknown', 'redirected'],
    ['a lost connection', () => lost(), 'unknown', 'connection-lost'],
    ['a connection that was never made', () => refused(), 'not_sent', 'unreachable'],
    [
      'an untrusted one',
      () =>
        Promise.reject(
          new TransportError('self-signed', { sent: false, code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
        ),
      'not_sent',
      'untrusted',
    ],
    [
      'half an answer',
      () => json(JSON.stringify(whole).slice(0, 40)),
      'unknown',
      'unreadable-answer',
    ],
    ['nothing', () => json(''), 'unknown', 'unreadable-answer'],
    [
      'a page',
      () => json('<html>', 200, { 'content-type': 'text/html' }),
      'unknown',
      'unreadable-answer',
    ],
    ['a list', () => json([whole]), 'unknown', 'unreadable-answer'],
    ['no status', () => json({ ...whole, SIMStatus: null }), 'unknown', 'unreadable-answer'],
    [
      'no information',
      () => json({ ...whole, SIMInfo: undefined }),
      'unknown',
      'unreadable-answer',
    ],
    [
      'no request',
      () => json({ SIMStatus: 'Pause', SIMInfo: info }),
      'unknown',
      'unreadable-answer',
    ],
    [
      'a status that is prose',
      () => json({ ...whole, SIMStatus: 'Pause, pin1 1234' }),
      'unknown',
      'unreadable-answer',
    ],
    [
      'a request that ends in prose',
      () =>
        json({
          ...whole,
          '2026-01-02T03:04:05Z': {
            serviceRequestId: 'r-7',
            statusRequestResponse: 'Failed: pin1 1234',
          },
        }),
      'unknown',
      'unreadable-answer',
    ],
    [
      'a request without an id',
      () => json({ ...whole, '2026-01-02T03:04:05Z': {} }),
      'unknown',
      'unreadable-answer',
    ],
    [
      'another card',
      () => json({ ...whole, SIMInfo: { ...info, imsi: ['1'] } }),
      'unknown',
      'unreadable-answer',
    ],
  ])('%s', async (_, answer, outcome, code) => {
    const { flipped, asked } = await call(answer);
    expect([asked.length, flipped.class, flipped.diagnostic?.code]).toEqual([1, outcome, code]);
    expect(JSON.stringify(flipped)).not.toMatch(/sesame|1234/);
  });

  test.each<readonly [state: string, outcome: Flipped['class']]>([
    ['Completed', 'applied'],
    ['COMPLETED', 'applied'],
    ['Failed', 'rejected'],
    ['Rejected', 'rejected'],
    ['Pending', 'unknown'],
    ['constructor', 'unknown'],
  ])('a request that is %j', async (state, outcome) => {
    const { flipped } = await call(() =>
      json({
        ...whole,
        '2026-01-02T03:04:05Z': { serviceRequestId: 'r-7', statusRequestResponse: state },
      }),
    );
    expect(flipped).toEqual({
      class: outcome,
      status: 'Pause',
      request_id: 'r-7',
      request_status: state,
    });
  });

  it('no answer in time is unknown', async () => {
    const { flipped, asked } = await call(({ signal }) => never(signal));
    expect([asked.length, flipped.class, flipped.diagnostic?.code]).toEqual([
      1,
      'unknown',
      'timeout',
    ]);
  });

  it('an interruption before it sends nothing, and one after it lets it end', async () => {
    const stop = new AbortController();
    const { flipped } = await call(() => (stop.abort(), json(whole)), { signal: stop.signal });
    expect(flipped.class).toBe('applied');
    const { flipped: second, asked } = await call(() => json(whole), { signal: stop.signal });
    expect([second.class, second.diagnostic?.code, asked.length]).toEqual([
      'not_sent',
      'interrupted',
      0,
    ]);
  });
});

test.each([
  ['http://flow.example.com', 'bad-address'],
  ['https://dana:sesame@flow.example.com', 'bad-address'],
])('%s is not an address', async (url, code) => {
  const flow = { url, username: secret('u', 'dana'), password: secret('p', 'sesame') };
  expect((await refusal(call(() => json(whole), { flow }))).code).toBe(code);
});

test('without its password nothing is sent', async () => {
  const flow = {
    url: 'https://flow.example.com',
    username: secret('TRUEUP_FLOW_USERNAME', 'dana'),
    password: secret('TRUEUP_FLOW_PASSWORD', undefined),
  };
  const { code, text } = await refusal(call(() => json(whole), { flow }));
  expect(code).toBe('secret-missing');
  expect(text).toContain('TRUEUP_FLOW_PASSWORD');
});
