// What became of a create that nobody heard of: which live object it is taken for, when a person is asked, and what is
// remembered of it. Of updates and deletes: which were carried out.
import { describe, expect, it } from 'vitest';
import type {
  CloudReader,
  Diagnostic,
  Entry,
  Event,
  Intent,
  Kind,
  Live,
  Refusal,
  Result,
  RunRecord,
} from '../../../src/model/index.js';
import {
  decide,
  outcomeOf,
  recordsOf,
  recover,
  settle,
  type RecoveryContext,
  type Settled,
} from '../../../src/reconciler/apply/recovery.js';
import { kinds } from '../../../src/resources/index.js';
import { scryptFingerprints, type Session } from '../../../src/state/index.js';
import { entry, live, stateWith } from '../../support/planning.js';
import { simulatedClock } from '../../support/simulated.js';

const NOW = Date.parse('2026-01-02T03:04:05Z');

/** A time-based UUID of a moment, in seconds after the intent. */
function uuid(seconds: number, last = 1): string {
  const ticks = (BigInt(NOW + seconds * 1000) * 10_000n + 0x01b21dd213814000n)
    .toString(16)
    .padStart(15, '0');
  return `${ticks.slice(-8)}-${ticks.slice(-12, -8)}-1${ticks.slice(0, 3)}-8000-${String(last).padStart(12, '0')}`;
}

const body = { name: 'Pager' };
const at = new Date(NOW).toISOString();
const intent = (more: Partial<Intent> = {}, kind = 'alert_push_destinations'): Intent => ({
  type: 'intent',
  op: 'op-1',
  address: `${kind}.pager`,
  kind,
  action: 'create',
  content: 'c',
  body,
  preimage: [],
  at,
  server_at: at,
  ...more,
});
const pager = (id: string, name = 'Pager'): Live => live('alert_push_destinations', id, { name });
const account = (id: string, name = 'Pager'): Live => live('accounts', id, { name });

const verdicts = (intents: readonly Intent[], objects: readonly Live[]): readonly string[] =>
  decide(kinds.get(intents[0]?.kind ?? '') as Kind, intents, objects).map((one) =>
    one.verdict === 'applied'
      ? one.live.id
      : one.verdict === 'undecided'
        ? `? ${one.candidates.map(({ id, differing }) => [id, ...differing].join(':')).join(' ')}`
        : 'absent',
  );

describe('decide', () => {
  const [old, fresh, other, third] = [uuid(-3600), uuid(2), uuid(3, 2), uuid(4, 3)] as [
    string,
    string,
    string,
    string,
  ];
  const after = intent({ newest: old });
  const twin = intent({ op: 'op-2', address: 'alert_push_destinations.twin' });
  const on = ['op-4', 'op-5'].map((op) =>
    intent({
      op,
      address: `alert_push_destinations.${op}`,
      content: 'e',
      body: { name: 'Pager', enabled: true },
    }),
  );
  const lit = (id: string): Live =>
    live('alert_push_destinations', id, { name: 'Pager', enabled: true });
  const desk = intent({
    op: 'op-3',
    address: 'alert_push_destinations.desk',
    content: 'd',
    body: { name: 'Desk' },
  });
  const types = { filter_criteria: { alert_type__in: ['login_success'] } };
  const rule = intent({ body: types }, 'alert_rules');
  const ruled = (more: Parameters<typeof live>[2]): Live =>
    live('alert_rules', fresh, { ...types, ...more });
  const numbered = (more: Partial<Intent>): Intent =>
    intent({ highest: '40', ...more }, 'accounts');
  it.each<
    [
      what: string,
      intents: readonly Intent[],
      objects: readonly Live[],
      expected: readonly string[],
    ]
  >([
    ['nothing there', [intent()], [], ['absent']],
    ['one new object of equal content', [intent()], [pager(fresh)], [fresh]],
    ['one newer than the newest that was there', [after], [pager(fresh)], [fresh]],
    [
      'one whose name cannot be compared, because it held a secret',
      [intent({ body: { name: '(sensitive)' } })],
      [pager(fresh)],
      [`? ${fresh}:name`],
    ],
    [
      'one newer than the newest that was there, by a clock of ours that was set an hour ahead',
      [{ ...after, at: new Date(NOW + 3_600_000).toISOString() }],
      [pager(fresh)],
      [fresh],
    ],
    [
      'one as old as the newest that was there, which the listing before did not show',
      [after],
      [pager(old)],
      [`? ${old}`],
    ],
    [
      'one older than the newest that was there, which the listing before did not show',
      [intent({ newest: fresh })],
      [pager(old)],
      [`? ${old}`],
    ],
    [
      'one of other content, older than the newest that was there',
      [intent({ newest: fresh })],
      [pager(old, 'Other')],
      ['absent'],
    ],
    ['one that existed before', [intent({ preimage: [fresh] })], [pager(fresh)], ['absent']],
    [
      'one that existed before and was changed since',
      [intent({ preimage: [fresh] })],
      [pager(fresh, 'Changed')],
      ['absent'],
    ],
    ['a new one of other content', [intent()], [pager(fresh, 'Other')], [`? ${fresh}:name`]],
    [
      'the new one beside a new stranger',
      [intent()],
      [pager(fresh), pager(other, 'Other')],
      [fresh],
    ],
    [
      'two new ones for one intent',
      [intent()],
      [pager(fresh), pager(other)],
      [`? ${fresh} ${other}`],
    ],
    [
      'two new ones for two intents',
      [intent(), twin],
      [pager(fresh), pager(other)],
      [fresh, other],
    ],
    [
      'two new ones for two intents, whatever the order of the listing',
      [intent(), twin],
      [pager(other), pager(fresh)],
      [fresh, other],
    ],
    ['one new one for two intents', [intent(), twin], [pager(fresh)], [fresh, 'absent']],
    [
      'three new ones for two intents',
      [intent(), twin],
      [pager(fresh), pager(other), pager(third)],
      Array.from({ length: 2 }, () => `? ${fresh} ${other} ${third}`),
    ],
    [
      'three new ones, of which one intent knew two',
      [intent({ preimage: [other, third] }), twin],
      [pager(fresh), pager(other), pager(third)],
      [fresh, `? ${other} ${third}`],
    ],
    [
      'two new ones that two later intents fit better',
      [intent(), ...on],
      [lit(fresh), lit(other)],
      [`? ${fresh} ${other}`, fresh, other],
    ],
    [
      'two new ones for two intents of other content',
      [intent(), { ...twin, content: 'd' }],
      [pager(fresh), pager(other)],
      [`? ${fresh} ${other}`, `? ${fresh} ${other}`],
    ],
    [
      'a stranger beside one of two intents',
      [intent(), desk],
      [pager(fresh), pager(other, 'Stranger')],
      [fresh, `? ${other}:name`],
    ],
    ['a number above all that were there', [numbered({})], [account('41')], ['41']],
    [
      'a number below the highest that was there, which the listing before did not show',
      [numbered({})],
      [account('9')],
      ['? 9'],
    ],
    ['the highest that was there', [numbered({ preimage: ['40'] })], [account('40')], ['absent']],
    ['a longer number', [numbered({ highest: '9' })], [account('10')], ['10']],
    [
      'a number where none was there',
      [numbered({ highest: undefined as never })],
      [account('41')],
      ['41'],
    ],
    ['an id that is not a number beside numbers', [numbered({})], [account('x41')], ['x41']],
    [
      'an id of capital letters that tells the time',
      [intent({ newest: fresh })],
      [pager(old.toUpperCase())],
      [`? ${old.toUpperCase()}`],
    ],
    [
      'an id of another version, which tells no time',
      [intent({ newest: fresh })],
      [pager(old.replace('-1', '-4'))],
      [old.replace('-1', '-4')],
    ],
    ['content that is identity', [rule], [ruled({})], [fresh]],
    [
      'content that is identity, and a field nobody sent',
      [rule],
      [ruled({ schedule: 'daily' })],
      [`? ${fresh}:schedule`],
    ],
    ['content that is none, and a field nobody sent', [intent()], [lit(fresh)], [fresh]],
  ])('%s', (_, intents, objects, expected) => {
    expect(verdicts(intents, objects)).toEqual(expected);
  });
});

/** A cloud that answers listings in order, the last one again and again, and what it saw. */
function scene(
  listings: Readonly<Record<string, readonly (readonly Live[])[]>>,
  found: readonly Live[] = [],
  skew?: number,
) {
  const clock = simulatedClock(NOW);
  const [asked, looked, events]: [
    [kind: string, milliseconds: number][],
    [kind: string, ids: readonly string[]][],
    Event[],
  ] = [[], [], []];
  const abort = new AbortController();
  const cloud: Partial<CloudReader> = {
    skew: () => (asked.length === 0 ? undefined : skew),
    list({ name }) {
      asked.push([name, clock.now() - NOW]);
      const rounds = listings[name] ?? [[]];
      return Promise.resolve({
        kind: name,
        objects: rounds[
          Math.min(asked.filter(([one]) => one === name).length, rounds.length) - 1
        ] as readonly Live[],
      });
    },
    find({ name }, ids) {
      looked.push([name, ids]);
      return Promise.resolve(found.filter((one) => ids.includes(one.id)));
    },
  };
  const looker: RecoveryContext = {
    kinds,
    fingerprints: scryptFingerprints({ key: 'k' }),
    cloud: cloud as CloudReader,
    clock,
    emit: (event) => events.push(event),
    signal: abort.signal,
    settleMilliseconds: 5000,
  };
  return { looker, asked, looked, events, abort };
}

const verdictOf = (one: Settled | undefined): readonly unknown[] => [
  one?.intent.address,
  one?.verdict,
  one?.verdict === 'applied' ? one.live.id : undefined,
];
const none: readonly Entry[] = [];
const PUSH = 'alert_push_destinations';

describe('settle', () => {
  const [top, old] = [
    live('accounts', '1', { name: 'Root', account: null }),
    live('accounts', '3', { name: 'Pager', account: '2' }),
  ];
  it.each<[what: string, listing: readonly Live[], verdict: string, id?: string]>([
    ['below another account, which was there', [old], 'absent'],
    [
      'below another account, which was not',
      [live('accounts', '41', { name: 'Pager', account: '2' })],
      'undecided',
    ],
    [
      'below the root of the tree',
      [old, live('accounts', '41', { name: 'Pager', account: '1' })],
      'applied',
      '41',
    ],
  ])(
    'reads a parent that nobody declared as the root of the tree: a name %s',
    async (_, listing, verdict, id) => {
      const { looker } = scene({
        accounts: [[top, live('accounts', '2', { name: 'Two', account: '1' }), ...listing]],
      });
      const settled = await settle(looker, [intent({ highest: '40' }, 'accounts')], none, 0);
      expect(settled.map(verdictOf)).toEqual([['accounts.pager', verdict, id]]);
    },
  );

  it('looks once nothing can land any more, and believes two listings that agree', async () => {
    const { looker, asked, events } = scene({ [PUSH]: [[], [pager(uuid(1))], [pager(uuid(1))]] });
    const settled = await settle(looker, [intent()], none, 0);
    expect(settled.map(verdictOf)).toEqual([[`${PUSH}.pager`, 'applied', uuid(1)]]);
    expect(asked).toEqual([5000, 6000, 7000].map((milliseconds) => [PUSH, milliseconds]));
    expect(events).toEqual([
      {
        type: 'waiting',
        why: `until the create of ${PUSH}.pager can no longer take effect`,
        milliseconds: 5000,
      },
    ]);
  });

  it('waits no longer than the settle time, between listings neither', async () => {
    const { looker, asked } = scene({});
    await settle({ ...looker, settleMilliseconds: 500 }, [intent()], none, -3_600_000);
    expect(asked).toEqual([500, 1000].map((milliseconds) => [PUSH, milliseconds]));
  });

  it('neither waits nor says so where nothing can land', async () => {
    const { looker, asked, events } = scene({});
    await settle(looker, [intent()], none, 5000);
    expect([asked[0], events]).toEqual([[PUSH, 0], []]);
  });

  it('lists each kind by itself, and says how many requests are waited for', async () => {
    const { looker, asked, events } = scene({
      [PUSH]: [[pager(uuid(1)), pager(uuid(1, 2))]],
      accounts: [[top, live('accounts', '41', { name: 'Pager', account: '1' })]],
    });
    const intents = [
      intent(),
      intent({ highest: '40' }, 'accounts'),
      intent({ op: 'op-2', address: `${PUSH}.twin` }),
    ];
    expect((await settle(looker, intents, none, 0)).map(verdictOf)).toEqual([
      [`${PUSH}.pager`, 'applied', uuid(1)],
      [`${PUSH}.twin`, 'applied', uuid(1, 2)],
      ['accounts.pager', 'applied', '41'],
    ]);
    expect(asked.map(([kind]) => kind)).toEqual([PUSH, PUSH, 'accounts', 'accounts']);
    expect(events).toMatchObject([{ why: 'until 3 requests can no longer take effect' }]);
  });

  it('does not mind the order of a listing', async () => {
    const [one, two] = [pager(uuid(1)), pager(uuid(2, 2), 'Owned')];
    const { looker, asked } = scene({ [PUSH]: [[one, two], [two, one], []] });
    await settle(looker, [intent()], none, 0);
    expect(asked).toHaveLength(2);
  });

  it('does not take what another address has', async () => {
    const { looker } = scene({ [PUSH]: [[pager(uuid(1))]] });
    const settled = await settle(
      looker,
      [intent()],
      [entry(PUSH, uuid(1), {}), entry('accounts', uuid(2), {})],
      0,
    );
    expect(settled.map(verdictOf)).toEqual([[`${PUSH}.pager`, 'absent', undefined]]);
  });

  it('compares by fingerprint what an intent does not hold in clear', async () => {
    const { looker } = scene({ [PUSH]: [[pager(uuid(1))]] });
    const hiding = async (name: string): Promise<Intent> => ({
      ...intent({ body: { name: '(sensitive)' } }),
      hidden: {
        names: ['name'],
        salt: 's',
        fingerprint: await looker.fingerprints.make('s', 'name', JSON.stringify([name])),
      },
    });
    expect((await settle(looker, [await hiding('Pager')], none, 0)).map(verdictOf)).toEqual([
      [`${PUSH}.pager`, 'applied', uuid(1)],
    ]);
    expect(await settle(looker, [await hiding('Siren')], none, 0)).toMatchObject([
      { verdict: 'undecided', candidates: [{ id: uuid(1), differing: ['name'] }] },
    ]);
  });

  it('takes the new object that the response named, whatever it holds, unless another is equal', async () => {
    const renamed = pager(uuid(1), 'PAGER');
    const one = intent({ answered: uuid(1) });
    const settled = await settle(scene({ [PUSH]: [[renamed]] }).looker, [one], none, 0);
    expect(settled).toMatchObject([
      { verdict: 'applied', live: { id: uuid(1) }, differing: ['name'] },
    ]);
    expect(outcomeOf(one, settled[0])).toMatchObject({
      outcome: 'failed',
      diagnostic: { code: 'not-taken', summary: expect.stringContaining('name') as string },
    });
    expect(recordsOf(kinds, settled[0] as Settled)).toMatchObject([
      { entry: { id: uuid(1), applied: {}, observed: { name: 'PAGER' } } },
      { type: 'seen' },
    ]);
    const equal = scene({ [PUSH]: [[renamed, pager(uuid(2, 2))]] }).looker;
    expect((await settle(equal, [one], none, 0)).map(verdictOf)).toEqual([
      [`${PUSH}.pager`, 'applied', uuid(2, 2)],
    ]);
    const before = { ...one, preimage: [uuid(1)] };
    expect(
      (await settle(scene({ [PUSH]: [[renamed]] }).looker, [before], none, 0)).map(verdictOf),
    ).toEqual([[`${PUSH}.pager`, 'absent', undefined]]);
  });

  it('hands on no secret that the service gave back', async () => {
    const masked = live(PUSH, uuid(1), { name: 'Pager', authentication: { secret: 'canary' } });
    const { looker } = scene({ [PUSH]: [[masked]] });
    expect(JSON.stringify(await settle(looker, [intent()], none, 0))).not.toContain('canary');
  });

  it('asks a person where listings never agree', async () => {
    const { looker, asked } = scene({
      [PUSH]: Array.from({ length: 9 }, (_, index) => [pager(uuid(index))]),
    });
    await expect(settle(looker, [intent()], none, 0)).rejects.toMatchObject({
      exit: 5,
      diagnostics: [{ code: 'unsettled', summary: expect.stringContaining(PUSH) as string }],
    });
    expect(asked).toHaveLength(6);
  });

  it.each([
    ['before it looks', 0, 5000],
    ['between two listings', 1, 0],
  ])('ends at once when it is interrupted %s', async (_, listings, settleMilliseconds) => {
    const { looker, asked, abort } = scene({});
    const stop = {
      ...looker.clock,
      sleep: (milliseconds: number, signal?: AbortSignal) => (
        abort.abort(new Error('interrupted')),
        looker.clock.sleep(milliseconds, signal)
      ),
    };
    await expect(
      settle({ ...looker, clock: stop, settleMilliseconds }, [intent()], none, 0),
    ).rejects.toThrow('interrupted');
    expect(asked).toHaveLength(listings);
  });
});

describe('recover', () => {
  const planned: Omit<Entry, 'id' | 'observed'> = {
    kind: PUSH,
    file: 'a.yaml',
    applied: { name: 'Pager' },
    depends_on: [],
    applied_at: at,
  };
  const left = (more: Partial<Intent> = {}): Intent => intent({ entry: planned, ...more });
  const change = (action: 'update' | 'delete', id: string, more: Partial<Intent> = {}): Intent => ({
    type: 'intent',
    op: `op-${id}`,
    address: `${PUSH}.a${id}`,
    kind: PUSH,
    action,
    id,
    at,
    ...more,
  });

  interface Recovery {
    readonly pending: readonly Intent[];
    readonly resources?: Readonly<Record<string, Entry>>;
    readonly objects?: readonly Live[];
    /** What one listing after the other shows, instead of these objects. */
    readonly rounds?: readonly (readonly Live[])[];
    readonly found?: readonly Live[];
    /** Milliseconds since the intents by the clock of the machine, and since it was started. */
    readonly now?: number;
    readonly uptime?: number;
    readonly skew?: number;
  }
  /** What it says, what it records in each call, and what it asked for. */
  async function recovery({
    pending,
    resources = {},
    objects = [],
    rounds = [objects],
    found = [],
    now = 0,
    uptime = now,
    skew,
  }: Recovery) {
    const { looker, asked, looked, events } = scene({ [PUSH]: rounds }, found, skew);
    const records: (readonly RunRecord[])[] = [];
    const session: Partial<Session> = {
      snapshot: { state: stateWith({ ...resources }), pending, unfinished: true },
      record: async (...more) => void records.push(more),
    };
    const clock = {
      ...looker.clock,
      now: () => looker.clock.now() + now,
      boot: () => ({ id: 'boot-1', milliseconds: looker.clock.boot().milliseconds + uptime }),
    };
    const said = await recover({ ...looker, clock }, session as Session).catch(
      (error: unknown) => error,
    );
    return { said, records, asked, looked, events };
  }

  it('does nothing where nothing was left behind', async () => {
    expect(await recovery({ pending: [] })).toEqual({
      said: [],
      records: [],
      asked: [],
      looked: [],
      events: [],
    });
  });

  it('records what was created, and says so', async () => {
    const { said, records } = await recovery({ pending: [left()], objects: [pager(uuid(1))] });
    expect(said).toEqual([
      {
        severity: 'info',
        code: 'recovered',
        summary: `${PUSH}.pager was created by an interrupted run as ${uuid(1)}; the state holds it now.`,
        address: `${PUSH}.pager`,
      },
    ]);
    const observed = { name: 'Pager', destination_config_id: uuid(1) };
    const lately = { what: 'created', kind: PUSH, id: uuid(1), at, server_at: at };
    expect(records).toEqual([
      [
        {
          type: 'result',
          op: 'op-1',
          class: 'applied',
          address: `${PUSH}.pager`,
          entry: { ...planned, id: uuid(1), observed },
          lately,
        },
        { type: 'seen', kind: PUSH, ids: [uuid(1)] },
      ],
    ]);
  });

  it('records what was not created, and says so', async () => {
    const { said, records } = await recovery({ pending: [left()] });
    expect(said).toMatchObject([
      { code: 'recovered', summary: `${PUSH}.pager was not created by the interrupted run.` },
    ]);
    expect(records).toEqual([
      [{ type: 'result', op: 'op-1', class: 'not_sent', address: `${PUSH}.pager` }],
    ]);
  });

  it('takes nothing that the state holds under another address', async () => {
    const { said } = await recovery({
      pending: [left()],
      resources: { [`${PUSH}.other`]: entry(PUSH, uuid(1), { name: 'Pager' }) },
      objects: [pager(uuid(1))],
    });
    expect(said).toMatchObject([{ summary: expect.stringContaining('was not created') as string }]);
  });

  it('asks a person with the commands to type, and records nothing of that one', async () => {
    const strangers = Array.from({ length: 6 }, (_, index) => pager(uuid(1, index), 'Stranger'));
    const address = `${PUSH}.each["a"]`;
    const { said, records } = await recovery({ pending: [left({ address })], objects: strangers });
    expect(said).toMatchObject({
      exit: 5,
      diagnostics: [
        {
          severity: 'error',
          code: 'undecided',
          summary: `It is not clear whether ${address} was created: 6 objects may be new since the request.`,
          detail: [
            ...strangers.slice(0, 5).map((one) => `  ${one.id}: differs in name`),
            '  and 1 more',
            'None of them equals what was sent, so they were probably created outside of trueup.',
            `If it was not created, remove the recorded attempt: trueup state rm '${address}'`,
          ].join('\n'),
          address,
        },
      ],
    });
    expect(records).toEqual([]);
  });

  it('advises to import what is equal to what was sent', async () => {
    const { said, records } = await recovery({
      pending: [left({ newest: uuid(9) })],
      objects: [pager(uuid(1)), pager(uuid(10), 'Stranger')],
    });
    expect(said).toMatchObject({
      exit: 5,
      diagnostics: [
        {
          summary: `It is not clear whether ${PUSH}.pager was created: one object may be new since the request.`,
          detail: [
            `  ${uuid(1)}: equal to what was sent`,
            `If ${uuid(1)} is the object that was created: trueup import ${PUSH}.pager ${uuid(1)}`,
            `If it was not created, remove the recorded attempt: trueup state rm ${PUSH}.pager`,
          ].join('\n'),
        },
      ],
    });
    expect(records).toEqual([]);
  });

  it('records what is clear before it asks about the rest', async () => {
    const desk = left({
      op: 'op-2',
      address: `${PUSH}.desk`,
      content: 'd',
      body: { name: 'Desk' },
    });
    const { said, records } = await recovery({
      pending: [left(), desk],
      objects: [pager(uuid(1)), pager(uuid(2, 2), 'Stranger')],
    });
    expect(said).toMatchObject({
      exit: 5,
      diagnostics: [
        { code: 'recovered', address: `${PUSH}.pager` },
        {
          summary: expect.stringContaining('one object may be new') as string,
          address: `${PUSH}.desk`,
        },
      ],
    });
    expect(records).toMatchObject([[{ op: 'op-1', class: 'applied' }, { type: 'seen' }]]);
  });

  it.each([
    ['the whole settle time after what was just sent', 0, [0], 5000],
    ['for the last of several', 29_000, [-3_600_000, -3000, -3_600_000], 3000],
    ['for what may have waited behind its intent', 31_000, [0], 4000],
    ['not for what can no longer land', 36_000, [0], 0],
  ])('waits %s', async (_, later, written, expected) => {
    const pending = written.map((milliseconds, index) =>
      left({ op: `op-${index}`, boot: { id: 'boot-1', milliseconds } }),
    );
    for (const now of [later, 0, later + 120_000])
      expect((await recovery({ pending, now, uptime: later })).asked[0]).toEqual([PUSH, expected]);
  });

  it.each([
    ['by the clock of the service, less what its answers may be off', 39_000, 1000, 0, 1000],
    ['the same where the clock of the machine is two minutes ahead', 159_000, 1000, -120_000, 1000],
    ['the same where the clock of the machine was set back', -3_600_000, 1000, 3_639_000, 1000],
    [
      'the whole settle time where the clock of the service went backwards',
      40_000,
      1000,
      -80_000,
      5000,
    ],
    ['the whole settle time where the service tells no time', 40_000, 1000, undefined, 5000],
  ])('waits after another start of the machine %s', async (_, now, uptime, skew, expected) => {
    const pending = [left({ boot: { id: 'boot-0', milliseconds: 500 } })];
    const { asked } = await recovery({ pending, now, uptime, ...(skew !== undefined && { skew }) });
    // The first listing is there to tell the time.
    expect(asked[1]).toEqual([PUSH, expected]);
  });

  it.each([
    ['the update', [change('update', '3')], `the update of ${PUSH}.a3`],
    ['a create and an update together', [left(), change('update', '3')], '2 requests'],
  ])('waits once for %s', async (_, pending, what) => {
    const { events } = await recovery({ pending });
    expect(events).toEqual([
      { type: 'waiting', why: `until ${what} can no longer take effect`, milliseconds: 5000 },
    ]);
  });

  it('tells updates and deletes that were carried out from those that were not', async () => {
    const body = { name: 'New' };
    const { said, records, looked, asked } = await recovery({
      pending: [
        change('delete', '1'),
        change('delete', '2'),
        change('update', '3', { body }),
        change('update', '4', { body }),
        change('update', '5', { body }),
        change('update', '6'),
        change('update', '7', { body: {} }),
        change('update', '8', { body: { name: '(sensitive)' } }),
        change('delete', '9', { kind: 'accounts' }),
      ],
      found: [pager('2'), pager('3', 'New'), pager('4', 'Old'), pager('6'), pager('7'), pager('8')],
    });
    expect(records).toHaveLength(1);
    const applied = (action: 'update' | 'delete', id: string, kind = PUSH): Partial<Result> => ({
      class: 'applied',
      spent: { at, action, kind, id },
      ...(action === 'delete' && { lately: { what: 'deleted', kind, id, at } }),
    });
    const expected = [
      applied('delete', '1'),
      { class: 'not_sent' },
      applied('update', '3'),
      ...Array.from({ length: 4 }, () => ({ class: 'not_sent' })),
      applied('update', '8'),
      applied('delete', '9', 'accounts'),
    ];
    expect(records[0]).toEqual(
      expected.map((one, index) => ({
        type: 'result',
        op: `op-${index + 1}`,
        address: `${PUSH}.a${index + 1}`,
        ...one,
      })),
    );
    expect(looked).toEqual([
      [PUSH, ['1', '2', '3', '4', '5', '6', '7', '8']],
      ['accounts', ['9']],
    ]);
    expect(
      (said as readonly Diagnostic[]).map(({ code, summary }) => `${code}: ${summary}`),
    ).toEqual([
      `recovered: ${PUSH}.a1, whose delete an interrupted run began, no longer exists.`,
      `recovered: ${PUSH}.a3 was updated by an interrupted run.`,
      `recovered: Whether ${PUSH}.a8 was updated by an interrupted run is not known: the values that the service shows are those of the last apply.`,
      `recovered: ${PUSH}.a9, whose delete an interrupted run began, no longer exists.`,
    ]);
    expect(asked).toEqual([]);
  });

  it('tells what was carried out, although a listing of creates fails afterwards', async () => {
    const { said, records } = await recovery({
      pending: [change('delete', '2'), left()],
      rounds: Array.from({ length: 9 }, (_, index) => [pager(uuid(index + 2))]),
    });
    expect(records).toHaveLength(1);
    expect((said as Refusal).diagnostics.map(({ code }) => code)).toEqual([
      'recovered',
      'unsettled',
    ]);
  });

  it('records what a proven update sent: it is no change by others', async () => {
    const body = { name: 'New', account: '1', is_disabled: true, enabled: false };
    const configuration = [{ lan: { mtu: 1500 } }, []];
    const intent = { ...change('update', '3', { body: { ...body, configuration } }) };
    const entry = {
      ...planned,
      kind: 'groups',
      id: '3',
      applied: { name: 'Old' },
      observed: { name: 'Old', account: '1' },
    };
    const { records } = await recovery({
      pending: [{ ...intent, kind: 'groups', address: 'groups.g' }],
      resources: { 'groups.g': entry },
      found: [{ id: '3', values: { ...body, configuration } }],
    });
    expect(records[0]).toMatchObject([{ class: 'applied', entry: { applied_at: at } }]);
    expect(records[0]).toMatchObject([
      { entry: { applied: { name: 'New' }, observed: { name: 'New', account: '1' } } },
    ]);
    const [{ entry: recorded }] = records[0] as readonly [Result];
    expect(recorded?.applied).toEqual({ name: 'New' });
  });

  it('looks for the object of an update at the address that it has now', async () => {
    const entryOf = (id: string, name: string) => {
      const values = { name };
      return {
        ...planned,
        id,
        applied: values,
        observed: values,
        applied_at: '2026-01-01T00:00:00Z',
      };
    };
    const { said, records } = await recovery({
      pending: [change('update', '3', { body: { name: 'New' } })],
      resources: { [`${PUSH}.a3`]: entryOf('4', 'Other'), [`${PUSH}.moved`]: entryOf('3', 'Old') },
      found: [pager('3', 'New')],
    });
    expect(said).toMatchObject([{ summary: `${PUSH}.moved was updated by an interrupted run.` }]);
    expect(records[0]).toMatchObject([
      { op: 'op-3', address: `${PUSH}.moved`, entry: { id: '3', applied: { name: 'New' } } },
    ]);
  });

  it('says nothing of an update that its own run recorded, and left open', async () => {
    const later = new Date(NOW + 1).toISOString();
    const entry = { ...planned, id: '3', applied: { name: 'New' }, applied_at: later };
    const { said, records } = await recovery({
      pending: [change('update', '3', { body: { name: 'New' } })],
      resources: { [`${PUSH}.a3`]: { ...entry, observed: { name: 'New' } } },
      found: [pager('3', 'New')],
    });
    expect(said).toEqual([]);
    expect(records[0]).toMatchObject([{ class: 'applied' }]);
    expect(records[0]?.[0]).not.toHaveProperty('entry');
  });

  const configuration = (n: string) => [{ lan: { list: [{ key: '*', n }] } }, []];
  it.each([
    ['a name of before', { name: 'New' }, { name: 'New' }, false],
    ['a new name', { name: 'New' }, { name: 'Old' }, true],
    [
      'a secret in a document',
      { name: 'New', configuration: configuration('a') },
      { name: 'New', configuration: configuration('a') },
      false,
    ],
    [
      'a secret and another value in a document',
      { name: 'New', configuration: configuration('b') },
      { name: 'New', configuration: configuration('a') },
      true,
    ],
  ])('an update that sent %s is told', async (_, body, applied, isKnown) => {
    const kind = 'groups';
    const intent = { ...change('update', '3', { body }), kind, address: 'groups.g' };
    const { said } = await recovery({
      pending: [intent],
      resources: { 'groups.g': { ...planned, kind, id: '3', applied, observed: {} } },
      found: [{ id: '3', values: body }],
    });
    expect(said).toMatchObject([
      {
        summary: isKnown
          ? 'groups.g was updated by an interrupted run.'
          : 'Whether groups.g was updated by an interrupted run is not known: the values that the service shows are those of the last apply.',
      },
    ]);
  });
});
