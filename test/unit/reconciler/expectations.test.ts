// Expectations checked over a reader that is made up: verdicts, counts, who offends and why, and what cannot be read.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  ExactNumber,
  exits,
  Refusal,
  type CloudReader,
  type Expectation,
  type Found,
  type Exit,
  type JsonObject,
  type Query,
} from '../../../src/model/index.js';
import { unverified, verifyExpectations } from '../../../src/reconciler/audit/expectations.js';
import { collections } from '../../../src/resources/index.js';
import { theirs } from '../../support/estate.js';
import { project } from '../../support/planning.js';
import { rig } from '../../support/rig.js';
import { seededRandom } from '../../support/simulated.js';

const origin = { file: 'a.yaml', line: 1, column: 1 };
const expectation = (more: Partial<Expectation>): Expectation => ({
  name: 'one',
  collection: 'subscriptions',
  where: { label: 'fleet-a' },
  origin,
  ...more,
});
const found = (record: JsonObject): Found => ({ record, values: record });

interface Asked {
  readonly collection: string;
  readonly query: Query;
}

type Pages = (asked: Asked) => Iterable<readonly Found[]> | AsyncIterable<readonly Found[]>;

function reader(pages: Pages): {
  readonly cloud: Pick<CloudReader, 'records'>;
  readonly asked: Asked[];
} {
  const asked: Asked[] = [];
  return {
    asked,
    cloud: {
      async *records({ name }, query) {
        asked.push({ collection: name, query });
        yield* pages({ collection: name, query });
      },
    },
  };
}

const of = (...records: readonly JsonObject[]): Pick<CloudReader, 'records'> =>
  reader(() => [records.map(found)]).cloud;
const checked = async (every: JsonObject, ...records: readonly JsonObject[]) =>
  (await verifyExpectations(of(...records), collections, [expectation({ every })]))[0];

const refusal = (exit: Exit = exits.error): Refusal =>
  new Refusal(
    [
      {
        severity: 'error',
        code: 'unavailable',
        summary: 'the service returned 503',
        detail: 'Try again later.',
      },
    ],
    exit,
  );

describe('verify', () => {
  const active = { required: ['state'], properties: { state: { const: 'ACTIVE' } } };

  it('says what is met, and what is not and where', async () => {
    const records = [{ imsi: '1', state: 'ACTIVE' }, { imsi: '2', state: 'PAUSE' }, { imsi: '3' }];
    expect(
      await verifyExpectations(of(...records), collections, [
        expectation({ every: active }),
        expectation({ name: 'two', every: { required: ['imsi'] }, count: { min: 3, max: 3 } }),
      ]),
    ).toEqual([
      {
        name: 'one',
        collection: 'subscriptions',
        origin,
        verdict: 'failed',
        checked: 3,
        failed: 2,
        offenders: [
          { id: '2', why: 'state must be "ACTIVE"' },
          { id: '3', why: 'the record must have "state"' },
        ],
      },
      {
        name: 'two',
        collection: 'subscriptions',
        origin,
        verdict: 'met',
        checked: 3,
        failed: 0,
        offenders: [],
      },
    ]);
  });

  it.each([
    [{ min: 1 }, 0, '0 records, at least 1 is expected'],
    [{ min: 3, max: 5 }, 2, '2 records, at least 3 are expected'],
    [{ min: 3, max: 5 }, 3, undefined],
    [{ min: 3, max: 5 }, 5, undefined],
    [{ min: 3, max: 5 }, 6, '6 records, at most 5 are expected'],
    [{ max: 0 }, 1, '1 record, at most 0 are expected'],
    [{ max: 0 }, 0, undefined],
  ])('expects %j, finds %i', async (count, there, says) => {
    const records = Array.from({ length: there }, (_, index) => ({ imsi: String(index) }));
    const [one] = await verifyExpectations(of(...records), collections, [expectation({ count })]);
    expect([one?.verdict, one?.count, one?.checked, one?.failed]).toEqual([
      says === undefined ? 'met' : 'failed',
      says,
      there,
      0,
    ]);
  });

  it('finds every record of an empty collection as expected', async () => {
    expect(await checked(active)).toMatchObject({ verdict: 'met', checked: 0 });
  });

  it('reads what several ask for once, and what they ask for differently apart', async () => {
    const { cloud, asked } = reader(() => []);
    const all = [
      expectation({ name: 'a', where: { label: 'x', company: 'y' }, count: { min: 0 } }),
      expectation({ name: 'b', where: { company: 'y', label: 'x' }, every: active }),
      expectation({ name: 'c', where: { label: 'z' }, every: active }),
      expectation({ name: 'd', collection: 'accounts', where: {}, every: active }),
    ];
    expect((await verifyExpectations(cloud, collections, all)).map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    expect(asked).toEqual([
      { collection: 'subscriptions', query: { filters: { label: 'x', company: 'y' } } },
      { collection: 'subscriptions', query: { filters: { label: 'z' } } },
      { collection: 'accounts', query: { filters: {} } },
    ]);
  });

  it('does not know what it cannot read, says what it saw until then, and knows the rest', async () => {
    const { cloud } = reader(function* ({ collection }) {
      yield [found({ imsi: '1', id: '1', state: 'PAUSE' })];
      if (collection === 'subscriptions') throw refusal();
    });
    const all = await verifyExpectations(cloud, collections, [
      expectation({ every: active, count: { min: 5 } }),
      expectation({ name: 'two', collection: 'accounts', where: {}, every: active }),
    ]);
    expect(all).toMatchObject([
      {
        verdict: 'unknown',
        checked: 1,
        failed: 1,
        offenders: [{ id: '1' }],
        diagnostic: { code: 'unavailable', summary: 'the service returned 503' },
      },
      { name: 'two', verdict: 'failed', checked: 1 },
    ]);
    expect(all[0]?.count).toBeUndefined();
    expect(unverified(all)).toEqual([
      {
        severity: 'error',
        code: 'unavailable',
        summary: 'expectations.one could not be checked: the service returned 503',
        detail: 'Try again later.',
        origin,
      },
    ]);
  });

  it('ends where the run does, and where there is a bug', async () => {
    const throwing = (error: Error) => verifyExpectations(reader(() => ({ [Symbol.iterator]: () => { throw error; } })).cloud, collections, [expectation({ every: active })]); // prettier-ignore
    await expect(throwing(refusal(exits.interrupted))).rejects.toMatchObject({
      exit: exits.interrupted,
    });
    await expect(throwing(new TypeError('a bug'))).rejects.toThrow('a bug');
  });

  it('names the first twenty, each by what identifies it, else by its place', async () => {
    const many = await verifyExpectations(
      of(...Array.from({ length: 45 }, (_, index) => ({ imsi: String(index), state: 'PAUSE' }))),
      collections,
      [expectation({ every: active })],
    );
    expect(many[0]).toMatchObject({ checked: 45, failed: 45 });
    expect(many[0]?.offenders.map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, index) => String(index)),
    );
    const logs = await verifyExpectations(of({ a: 1 }, { a: 2 }), collections, [
      expectation({
        collection: 'audit_logs',
        where: {},
        every: { properties: { a: { maximum: 1 } } },
      }),
    ]);
    expect(logs[0]?.offenders).toEqual([{ id: 'record 2', why: 'a must be <= 1' }]);
    const log = await verifyExpectations(
      reader(() => [[{ record: {}, values: { action: { id: 'x-1' } } }]]).cloud,
      collections,
      [expectation({ collection: 'activity_logs', where: {}, every: { required: ['a'] } })],
    );
    expect(log[0]?.offenders[0]?.id).toBe('x-1');
    expect((await checked({ required: ['state'] }, { imsi: null }))?.offenders[0]?.id).toBe(
      'record 1',
    );
  });

  it('keeps no record: pages are gone when the next one is asked for', async () => {
    const pages: WeakRef<readonly Found[]>[] = [];
    let alive = 0;
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const { cloud } = reader(async function* () {
      for (let page = 0; page < 40; page += 1) {
        const records = Array.from({ length: 500 }, (_, index) =>
          found({ imsi: `${page}-${index}`, state: 'PAUSE', note: 'x'.repeat(100) }),
        );
        pages.push(new WeakRef(records));
        yield records;
        await new Promise((done) => setImmediate(done));
        gc();
        alive = Math.max(alive, pages.filter((one) => one.deref() !== undefined).length);
      }
    });
    const [one] = await verifyExpectations(cloud, collections, [expectation({ every: active })]);
    expect([one?.checked, one?.failed, one?.offenders.length]).toEqual([20_000, 20_000, 20]);
    expect(alive).toBeLessThanOrEqual(3);
  });
});

describe('why a record is not as expected', () => {
  const sim = (more: JsonObject): JsonObject => ({ imsi: '1', ...more });
  it.each<readonly [every: JsonObject, record: JsonObject, why: string | undefined]>([
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, 'a must be string'],
    [{ properties: { a: { type: ['string', 'null'] } } }, { a: 1 }, 'a must be string,null'],
    [{ properties: { a: { enum: ['x', 1] } } }, { a: 2 }, 'a must be one of "x", 1'],
    [
      { properties: { a: { properties: { b: { items: { minimum: 3 } } } } } },
      { a: { b: [3, 2] } },
      'a.b.1 must be >= 3',
    ],
    [{ properties: { 'a/b~c': { const: 1 } } }, { 'a/b~c': 2 }, 'a/b~c must be 1'],
    [
      { additionalProperties: false, properties: { imsi: true } },
      { stranger: 1 },
      'the record must not have "stranger"',
    ],
    [{ propertyNames: { maxLength: 4 } }, { longer: 1 }, 'the record must not have "longer"'],
    [{ properties: { a: false } }, { a: 1 }, 'a must not be there'],
    [{ not: { required: ['a'] } }, { a: 1 }, 'the record must not be what `not` describes'],
    [
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      'the record must match a schema in anyOf',
    ],
    [
      { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { a: 1, b: 1 },
      'the record must match exactly one schema in oneOf',
    ],
    // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word
    [{ if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, 'the record must have "b"'],
    [
      { properties: { a: { contains: { const: 1 } } } },
      { a: [2] },
      'a must contain at least 1 valid item(s)',
    ],
    [{ properties: { a: { minItems: 1 } } }, { a: [] }, 'a must NOT have fewer than 1 items'],
    [
      { properties: { a: { pattern: '^x+$' }, b: { pattern: '^y+$' } } },
      { a: 'xx', b: 'xx' },
      'b must match pattern "^y+$"',
    ],
    [
      { properties: { a: { pattern: '^x+$' }, b: { pattern: '^y+$' } } },
      { a: 'xx', b: 'yy' },
      undefined,
    ],
    [{ required: ['constructor'] }, {}, 'the record must have "constructor"'],
    [{ properties: { constructor: { type: 'string' }, toString: false } }, {}, undefined],
  ])('%j of %j', async (every, record, why) => {
    expect((await checked(every, sim(record)))?.offenders.map((one) => one.why)).toEqual(
      why === undefined ? [] : [why],
    );
  });

  it('takes a number beyond a double for the number it is', async () => {
    const record = { a: { b: [new ExactNumber('9007199254740993')] } } as unknown as JsonObject;
    const every = (b: JsonObject): JsonObject => ({
      properties: { a: { properties: { b: { items: b } } } },
    });
    expect(
      (await checked(every({ type: 'integer', minimum: 9_007_199_254_740_000 }), record))?.verdict,
    ).toBe('met');
    expect((await checked(every({ type: 'string' }), record))?.verdict).toBe('failed');
  });

  it('never says what stands in the record', async () => {
    const record = { imsi: '1', a: 'sesame', b: { sesame: 'sesame' }, c: ['sesame'] };
    const rules: readonly JsonObject[] = [
      { type: 'integer' },
      { const: 1 },
      { enum: [1] },
      { pattern: '^x$' },
      { maxLength: 1 },
      { not: { type: 'string' } },
      { anyOf: [{ const: 1 }] },
    ];
    for (const rule of rules) {
      const one = await checked({ properties: { a: rule } }, record);
      expect(one?.failed).toBe(1);
      expect(JSON.stringify(one)).not.toContain('sesame');
    }
  });

  it('ends soon with a text of ten megabytes, whatever the pattern', async () => {
    const text = 'a'.repeat(10_000_000);
    for (const pattern of ['^(a+)+$', '(a|a)*b', '^[b-z]*$']) {
      const one = await checked(
        { properties: { a: { pattern, maxLength: 20_000_000 } } },
        { imsi: text, a: `${text}!`, [text]: 1 },
      );
      expect(one).toMatchObject({ verdict: 'failed', failed: 1 });
      expect(JSON.stringify(one).length).toBeLessThan(2_000);
    }
  });
});

describe('a pattern of many steps', () => {
  const pattern = 'a[ab]{240}c';
  const { fraction } = seededRandom();
  const noise = Array.from({ length: 200_000 }, () => (fraction() < 0.5 ? 'a' : 'b')).join('');

  it('judges texts that are long and without order', async () => {
    const records = [
      { imsi: '1', a: noise },
      { imsi: '2', a: `${noise}a${'b'.repeat(240)}c` },
    ];
    const [one] = await verifyExpectations(of(...records), collections, [
      expectation({ every: { properties: { a: { pattern } } } }),
    ]);
    expect(one).toMatchObject({
      verdict: 'failed',
      checked: 2,
      failed: 1,
      offenders: [{ id: '1', why: `a must match pattern "${pattern}"` }],
    });
  });

  it('holds nothing else up for more than a few records', async () => {
    let [turns, ended] = [0, false];
    const count = (): void => void (ended || ((turns += 1), setImmediate(count)));
    setImmediate(count);
    const records = Array.from({ length: 200 }, (_, index) =>
      found({ imsi: String(index), a: noise.slice(0, 100) }),
    );
    await verifyExpectations(
      reader(() => [records, [], [records[0] as Found]]).cloud,
      collections,
      [expectation({ every: { properties: { a: { pattern } } } })],
    );
    ended = true;
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});

describe('an audit', () => {
  const fails = expectation({
    name: 'fails',
    collection: 'accounts',
    where: {},
    count: { max: 1 },
  });
  const holds = expectation({
    name: 'holds',
    collection: 'account_authorizations',
    where: { 'filter[role]': 'administrator' },
    count: { min: 1, max: 1 },
  });
  const unknown = expectation({ name: 'unknown', count: { min: 1 } });

  it.each([
    ['met', [holds], exits.done],
    ['failed', [holds, fails], exits.changes],
    ['unknown', [unknown, fails], exits.error],
  ] as const)('whose expectations are %s', async (_, expectations, exit) => {
    const run = rig({ estate: theirs });
    const audit = await run.drift({ ...project([]), expectations });
    expect(audit.exit).toBe(exit);
    expect(audit.expectations.map(({ name, verdict }) => [name, verdict])).toEqual(
      expectations.map(({ name }) => [
        name,
        name === 'holds' ? 'met' : name === 'fails' ? 'failed' : 'unknown',
      ]),
    );
    expect(
      audit.diagnostics.filter(({ severity }) => severity === 'error').map(({ origin: at }) => at),
    ).toEqual(expectations.includes(unknown as never) ? [origin] : []);
    expect(run.mutations()).toEqual([]);
  });
});
