// An attribute that is fixed at creation, declared anew: another object takes the place of the old one. Planned as in
// Terraform, carried out as a create and a delete, and after a kill anywhere there is neither a second object nor a lost one.
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/emulator/index.js';
import {
  compareText,
  kindsOf,
  Reference,
  Secret,
  type Declaration,
  type Event,
  type JsonObject,
  type Kind,
  type Kinds,
  type Lifecycle,
  type Project,
  type Values,
} from '../../../src/model/index.js';
import type { Proposal } from '../../../src/reconciler/plan/plan.js';
import { importObject } from '../../../src/reconciler/apply/import.js';
import { scryptFingerprints } from '../../../src/state/index.js';
import { theirs } from '../../support/estate.js';
import { replaceable as kinds } from '../../support/fifth-kind.js';
import {
  blocked,
  codes,
  declare,
  entry,
  live,
  planScene,
  type Scene,
} from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const to = (target: string): Reference => new Reference('declared', target, 'id');
const beacon = (
  channel: number,
  more: Values = {},
  lifecycle: Lifecycle = {},
  name = 'b',
): Declaration => declare(`beacons.${name}`, { channel, ...more }, lifecycle);
const gate = (
  shape: string,
  more: Values = {},
  lifecycle: Lifecycle = {},
  name = 'g',
): Declaration => declare(`gates.${name}`, { name: 'North', shape, ...more }, lifecycle);
const mark = (channel: number): Declaration => declare('marks.m', { channel });

/** `[actions] address` of each change of the document that is no keep, in order. */
const actions = (document: {
  readonly resource_changes: readonly {
    readonly address: string;
    readonly deposed?: string;
    readonly change: { readonly actions: readonly string[] };
  }[];
}): readonly string[] =>
  document.resource_changes.flatMap(({ address, deposed, change }) =>
    change.actions[0] === 'no-op'
      ? []
      : [`${change.actions.join(', ')} ${address}${deposed === undefined ? '' : ` ${deposed}`}`],
  );
/** What is sent, in order: `action address`. */
const steps = ({ plan }: Proposal): readonly string[] =>
  plan.changes
    .filter(({ action }) => action !== 'keep')
    .map(({ action, address }) => `${action} ${address}`);

const scene = (more: Scene): Proposal => planScene({ ...more, more: { kinds, ...more.more } });
const recorded = { 'beacons.b': entry('beacons', '7', { channel: 1 }) };
const there = { beacons: [live('beacons', '7', { channel: 1 })] };
const gateRecorded = { 'gates.g': entry('gates', '8', { name: 'North', shape: 'round' }) };
const gateThere = { gates: [live('gates', '8', { name: 'North', shape: 'round' })] };

interface Row extends Scene {
  readonly title: string;
  readonly steps: readonly string[];
  readonly exit?: number;
  readonly codes?: readonly string[];
  readonly blocked?: readonly string[];
}

const table: readonly Row[] = [
  {
    title: 'another number: the new object first',
    declared: [beacon(2)],
    state: recorded,
    live: there,
    steps: ['create beacons.b', 'delete beacons.b'],
  },
  {
    title: 'the same identity: the old object first',
    declared: [beacon(1, { power: 5 })],
    state: recorded,
    live: there,
    steps: ['delete beacons.b', 'create beacons.b'],
  },
  {
    title: 'identified by a name: the old object first',
    declared: [gate('square')],
    state: gateRecorded,
    live: gateThere,
    steps: ['delete gates.g', 'create gates.g'],
  },
  {
    title: 'identified by another name: the old object first',
    declared: [gate('square', { name: 'South' })],
    state: gateRecorded,
    live: gateThere,
    steps: ['delete gates.g', 'create gates.g'],
  },
  {
    title: 'a member of an attribute that is fixed',
    declared: [gate('round', { hook: { url: 'https://b.example.com' } })],
    state: {
      'gates.g': entry('gates', '8', { name: 'North', hook: { url: 'https://a.example.com' } }),
    },
    live: {
      gates: [
        live('gates', '8', {
          name: 'North',
          shape: 'round',
          hook: { url: 'https://a.example.com' },
        }),
      ],
    },
    steps: ['delete gates.g', 'create gates.g'],
  },
  {
    title: 'identified by its content: the old object first',
    declared: [mark(2)],
    state: { 'marks.m': entry('marks', '9', { channel: 1 }) },
    live: { marks: [live('marks', '9', { channel: 1 })] },
    steps: ['delete marks.m', 'create marks.m'],
  },
  {
    title: 'an attribute beside it is no replacement',
    declared: [beacon(1, { label: 'North' })],
    state: recorded,
    live: there,
    steps: ['update beacons.b'],
  },
  {
    title: 'what is ignored is not replaced',
    declared: [beacon(2, {}, { ignore_changes: ['channel'] })],
    state: recorded,
    live: there,
    steps: [],
    exit: 0,
  },
  {
    title: 'changed outside',
    declared: [beacon(1)],
    state: recorded,
    live: { beacons: [live('beacons', '7', { channel: 3 })] },
    steps: ['create beacons.b', 'delete beacons.b'],
  },
  {
    title: 'what is not recorded is not replaced',
    declared: [beacon(2, {}, { adopt: '7' })],
    live: there,
    steps: [],
    exit: 1,
    codes: ['immutable'],
  },
  {
    title: 'what took the place of the recorded object by another hand is not replaced',
    declared: [beacon(1, { power: 5 })],
    state: recorded,
    live: { beacons: [live('beacons', '9', { channel: 1, power: 3 })] },
    steps: [],
    exit: 1,
    codes: ['immutable'],
  },
  {
    title: 'imported, and declared otherwise',
    declared: [beacon(2, {}, { adopt: '7' })],
    state: { 'beacons.b': entry('beacons', '7', {}) },
    live: there,
    steps: ['create beacons.b', 'delete beacons.b'],
  },
  {
    title: 'what stays when it is let go is not replaced',
    declared: [beacon(2, {}, { on_removal: 'forget' })],
    state: recorded,
    live: there,
    steps: [],
    exit: 1,
    codes: ['immutable'],
  },
  {
    title: 'an unmanaged object of the new identity is in the way',
    declared: [beacon(2)],
    state: recorded,
    live: { beacons: [...(there.beacons ?? []), live('beacons', '5', { channel: 2 })] },
    steps: [],
    exit: 1,
    codes: ['exists-already'],
  },
  {
    title: 'protected',
    declared: [beacon(2, {}, { protect: true })],
    state: recorded,
    live: there,
    steps: ['create beacons.b', 'delete beacons.b'],
    exit: 3,
    blocked: ['protected'],
  },
  {
    title: 'unprotected in the same run',
    declared: [beacon(2)],
    state: { 'beacons.b': entry('beacons', '7', { channel: 1 }, { protect: true }) },
    live: there,
    steps: ['create beacons.b', 'delete beacons.b'],
    exit: 3,
    blocked: ['protected'],
  },
  {
    title: 'over the limit of deletes',
    declared: [beacon(2)],
    state: recorded,
    live: there,
    settings: { policy: { max_deletes: 0, max_changed_percent: 100 } },
    steps: ['create beacons.b', 'delete beacons.b'],
    exit: 3,
    blocked: ['max-deletes'],
  },
  {
    title: 'a target alone',
    declared: [beacon(2), beacon(4, {}, {}, 'other')],
    state: { ...recorded, 'beacons.other': entry('beacons', '6', { channel: 3 }) },
    live: { beacons: [...(there.beacons ?? []), live('beacons', '6', { channel: 3 })] },
    request: { targets: ['beacons.b'] },
    steps: ['create beacons.b', 'delete beacons.b'],
  },
  {
    title: 'who names it takes the new id before the old object goes',
    declared: [beacon(2), gate('round', { beacon: to('beacons.b') })],
    state: {
      ...recorded,
      'gates.g': entry('gates', '8', { name: 'North', shape: 'round', beacon: '7' }),
    },
    live: { ...there, gates: [live('gates', '8', { name: 'North', shape: 'round', beacon: '7' })] },
    steps: ['create beacons.b', 'update gates.g', 'delete beacons.b'],
  },
  {
    title: 'what names something that is deleted first goes before it',
    declared: [gate('square'), beacon(2, { gate: to('gates.g') })],
    state: { ...gateRecorded, 'beacons.b': entry('beacons', '7', { channel: 1, gate: '8' }) },
    live: { ...gateThere, beacons: [live('beacons', '7', { channel: 1, gate: '8' })] },
    steps: ['delete beacons.b', 'delete gates.g', 'create gates.g', 'create beacons.b'],
  },
  {
    title: 'what is declared no more goes before what it names is deleted to be made anew',
    declared: [gate('square')],
    state: { ...gateRecorded, 'beacons.b': entry('beacons', '7', { channel: 1, gate: '8' }) },
    live: { ...gateThere, beacons: [live('beacons', '7', { channel: 1, gate: '8' })] },
    request: { allow: ['all-removed'] },
    steps: ['delete beacons.b', 'delete gates.g', 'create gates.g'],
  },
  {
    title: 'what an interrupted run left is deleted',
    declared: [beacon(2)],
    state: { 'beacons.b': entry('beacons', '10', { channel: 2 }, { deposed: ['7'] }) },
    live: { beacons: [...(there.beacons ?? []), live('beacons', '10', { channel: 2 })] },
    steps: ['delete beacons.b'],
  },
  {
    title: 'what an interrupted run left is gone',
    declared: [beacon(2)],
    state: { 'beacons.b': entry('beacons', '10', { channel: 2 }, { deposed: ['7'] }) },
    live: { beacons: [live('beacons', '10', { channel: 2 })] },
    steps: ['forget beacons.b'],
  },
  {
    title: 'declared no more, and something left: what takes the address away comes last',
    state: { 'beacons.b': entry('beacons', '10', { channel: 2 }, { deposed: ['7'] }) },
    live: { beacons: [...(there.beacons ?? []), live('beacons', '10', { channel: 2 })] },
    request: { allow: ['all-removed'] },
    steps: ['delete beacons.b', 'delete beacons.b'],
  },
  {
    title: 'replaced again, and something left',
    declared: [beacon(2, { power: 5 })],
    state: { 'beacons.b': entry('beacons', '10', { channel: 2 }, { deposed: ['7'] }) },
    live: { beacons: [...(there.beacons ?? []), live('beacons', '10', { channel: 2 })] },
    steps: ['delete beacons.b', 'delete beacons.b', 'create beacons.b'],
  },
];

describe('the plan', () => {
  it.each(table)('$title', (row) => {
    const proposal = scene(row);
    expect([steps(proposal), proposal.exit, codes(proposal), blocked(proposal)]).toEqual([
      row.steps,
      row.exit ?? 2,
      row.codes ?? [],
      row.blocked ?? [],
    ]);
  });

  it('deletes the left object before the one that holds the address', () => {
    const ids = table
      .slice(-2)
      .map((row) =>
        scene(row).plan.changes.flatMap((change) =>
          change.action === 'delete' ? [change.id] : [],
        ),
      );
    expect(ids).toEqual([
      ['7', '10'],
      ['7', '10'],
    ]);
  });

  it('names the commands that bind an object which is not replaced, or is in the way', () => {
    const details = table
      .filter(({ exit, state }) => exit === 1 && state !== undefined)
      .map((row) => scene(row).plan.diagnostics.map(({ detail }) => detail));
    expect(details).toEqual([
      [expect.stringMatching(/: trueup state rm beacons\.b\n.*: trueup import beacons\.b 9$/)],
      [expect.stringMatching(/on_removal is forget.*: trueup state rm beacons\.b$/)],
      [expect.stringMatching(/: trueup state rm beacons\.b\n.*: trueup import beacons\.b 5$/)],
    ]);
  });

  it('of what cannot be created or deleted is an error with attribute, place and way out', () => {
    const at = { file: 'estate.yaml', line: 4, column: 7 };
    const dana = {
      ...declare('account_authorizations.d', { user: '8', account: '2', role: 'administrator' }),
      at: () => at,
    };
    const { plan } = scene({
      declared: [dana],
      state: {
        'account_authorizations.d': entry('account_authorizations', 'z', {
          user: '7',
          account: '2',
        }),
      },
      live: {
        account_authorizations: [
          live('account_authorizations', 'z', { user: '7', account: '2', role: 'administrator' }),
        ],
      },
    });
    expect(plan.diagnostics).toMatchObject([
      { code: 'immutable', attribute: 'user', origin: at, address: 'account_authorizations.d' },
    ]);
    expect(plan.diagnostics[0]?.summary).toContain(
      'account_authorizations.d: user is immutable: it is "7" and cannot be updated to "8"',
    );
    expect(plan.diagnostics[0]?.detail).toMatch(
      /cannot be created or deleted through the API.*trueup state rm account_authorizations\.d$/,
    );
  });

  it.each([
    ['was deleted', [], ': users.u was deleted outside of trueup.'],
    ['is there', [live('users', '8', { email: 'u@example.com' })], 'to "8".'],
  ])('an error names the object that the new value refers to where it %s', (_, users, cause) => {
    const role = { account: '2', role: 'administrator' };
    const { plan } = scene({
      declared: [
        declare('users.u', { email: 'u@example.com' }),
        declare('account_authorizations.d', { ...role, user: to('users.u') }),
      ],
      state: {
        'users.u': entry('users', '7', { email: 'u@example.com' }),
        'account_authorizations.d': entry('account_authorizations', 'z', { ...role, user: '7' }),
      },
      live: {
        users,
        account_authorizations: [live('account_authorizations', 'z', { ...role, user: '7' })],
      },
    });
    const [error] = plan.diagnostics.filter(({ code }) => code === 'immutable');
    expect(error?.summary.endsWith(cause)).toBe(true);
  });
});

/** Kinds of the service, with attributes that are fixed. */
const fixed = (name: string, ...names: readonly string[]): Kinds => {
  const kind = kinds.get(name) as Kind;
  const attributes = Object.fromEntries(
    Object.entries(kind.attributes).map(([key, one]) => [
      key,
      names.includes(key) ? { ...one, immutable: true } : one,
    ]),
  );
  return kindsOf([...[...kinds.values()].filter((one) => one !== kind), { ...kind, attributes }]);
};
const pager = { name: 'Pager', enabled: true, endpoint: { url: 'https://a.example.com/x' } };
const rule = { associated_accounts: ['1'], filter_criteria: { alert_type__in: ['a'] } };

describe('policy', () => {
  const destination: Scene = {
    declared: [
      declare('alert_push_destinations.p', {
        ...pager,
        endpoint: { url: 'https://b.example.org/x' },
      }),
      declare('alert_rules.r', {
        ...rule,
        http_destinations: [
          new Reference('declared', 'alert_push_destinations.p', 'destination_config_id'),
        ],
      }),
    ],
    state: {
      'alert_push_destinations.p': entry('alert_push_destinations', 'd', pager),
      'alert_rules.r': entry('alert_rules', 'r', { ...rule, http_destinations: ['d'] }),
    },
    live: {
      alert_push_destinations: [live('alert_push_destinations', 'd', pager)],
      alert_rules: [live('alert_rules', 'r', { ...rule, http_destinations: ['d'] })],
    },
    more: { kinds: fixed('alert_push_destinations', 'endpoint') },
  };

  it('judges where the new destination delivers, and finds the rule heard that takes its id', () => {
    const proposal = scene(destination);
    expect([steps(proposal), blocked(proposal)]).toEqual([
      [
        'delete alert_push_destinations.p',
        'create alert_push_destinations.p',
        'update alert_rules.r',
      ],
      ['destination-moved'],
    ]);
  });

  it('sees the rule that no change gives the new destination', () => {
    const { declared = [], ...rest } = destination;
    expect(
      blocked(
        scene({
          ...rest,
          declared: declared.slice(0, 1),
          state: { 'alert_push_destinations.p': entry('alert_push_destinations', 'd', pager) },
        }),
      ),
    ).toEqual(['rule-without-destination', 'destination-moved']);
  });

  it('of an account that goes before anything else can leave it', () => {
    const values = { name: 'Depot', account: '1' };
    const proposal = scene({
      declared: [
        declare('accounts.d', { ...values, account: '3' }),
        declare('alert_rules.r', {
          ...rule,
          associated_accounts: [new Reference('declared', 'accounts.d', 'id')],
        }),
      ],
      state: {
        'accounts.d': entry('accounts', '2', values),
        'alert_rules.r': entry('alert_rules', 'r', { ...rule, associated_accounts: ['2'] }),
      },
      live: {
        accounts: [
          live('accounts', '1', { name: 'Root', account: null }),
          live('accounts', '3', { name: 'Other', account: '1' }),
          live('accounts', '2', values),
        ],
        alert_rules: [live('alert_rules', 'r', { ...rule, associated_accounts: [2] })],
      },
      more: { kinds: fixed('accounts', 'account') },
    });
    expect([steps(proposal), blocked(proposal)]).toEqual([
      ['delete accounts.d', 'create accounts.d', 'update alert_rules.r'],
      ['account-in-use'],
    ]);
  });

  it('takes the old object for no duplicate of the new one', () => {
    const proposal = scene({
      declared: [declare('accounts.d', { name: 'DEPOT', account: '1' })],
      state: { 'accounts.d': entry('accounts', '2', { name: 'Depot', account: '1' }) },
      live: {
        accounts: [
          live('accounts', '1', { name: 'Root', account: null }),
          live('accounts', '2', { name: 'Depot', account: '1' }),
        ],
      },
      more: { kinds: fixed('accounts', 'name') },
    });
    expect([steps(proposal), blocked(proposal), codes(proposal)]).toEqual([
      ['delete accounts.d', 'create accounts.d'],
      [],
      [],
    ]);
  });
});

const secret = new Secret('env.S', () => 'canary-secret');
const hook = (url: string): Values => ({ hook: { url, token: secret } });
const before: Project = desire(
  beacon(1),
  gate('round', hook('https://a.example.com')),
  mark(1),
  declare('gates.user', { name: 'South', beacon: to('beacons.b') }),
);
const after: Project = desire(
  beacon(2),
  gate('square', hook('https://a.example.com')),
  mark(2),
  declare('gates.user', { name: 'South', beacon: to('beacons.b') }),
);

const cloudOf = (options: Parameters<typeof rig>[0] = {}): Rig =>
  rig({ kinds, estate: theirs, ...options });
const attempt = (cloud: Rig, project: Project): Promise<unknown> =>
  cloud.apply(project, { allow: ['max-changed'], parallelism: 2 }).catch((error: unknown) => error);
const values = (cloud: Rig, kind: string, name: string): readonly unknown[] =>
  cloud.objects(kind).map((one: JsonObject) => one[name]);

/** One object an address, the ones that are declared, the state knows them all and nothing else, and nothing is left to do. */
async function expectWhole(cloud: Rig): Promise<void> {
  expect(values(cloud, 'beacons', 'channel')).toEqual([2]);
  expect(values(cloud, 'marks', 'channel')).toEqual([2]);
  expect(
    cloud
      .objects('gates')
      .map(({ name, shape }) => `${String(name)} ${String(shape)}`)
      .toSorted(),
  ).toEqual(['North square', 'South null']);
  const snapshot = await cloud.snapshot();
  const resources = snapshot?.state.resources ?? {};
  expect(snapshot?.pending).toEqual([]);
  const ids = ['beacons', 'gates', 'marks'].flatMap((kind) =>
    cloud.objects(kind).map(({ id }) => `${kind} ${String(id)}`),
  );
  const holds = Object.values(resources).map(({ kind, id, deposed = [] }) =>
    [`${kind} ${id}`, ...deposed].join(' '),
  );
  expect(holds.toSorted(compareText)).toEqual(ids.toSorted(compareText));
  expect(cloud.objects('gates').find(({ name }) => name === 'South')).toMatchObject({
    beacon: resources['beacons.b']?.id,
  });
  expect(await cloud.plan(after)).toMatchObject({ exit: 0 });
  expect([...cloud.files.contents.values()].join('\n')).not.toContain('canary-secret');
}

describe('carried out', () => {
  it('sends the create and the delete that the plan shows, in order, and counts them', async () => {
    const cloud = cloudOf();
    await attempt(cloud, before);
    const [old] = cloud.objects('beacons');
    const document = cloud.document(await cloud.plan(after));
    expect(actions(document)).toEqual([
      'create, delete beacons.b',
      'delete, create gates.g',
      'update gates.user',
      'delete, create marks.m',
    ]);
    expect(document.summary).toMatchObject({
      create: 0,
      update: 1,
      replace: 3,
      delete: 0,
      writes: { create: 3, update: 1, delete: 3 },
    });
    expect(document.resource_changes.find(({ address }) => address === 'beacons.b')).toMatchObject({
      change: { before: { channel: 1 }, after: { channel: 2 }, replace_paths: [['channel']] },
      reason: 'channel changed in the declaration, and cannot be updated',
      depends_on: [],
      requests: [
        { method: 'POST' },
        { method: 'DELETE', path: `/api/v2/beacons/${String(old?.id)}/` },
      ],
    });
    const sent = cloud.mutations().length;
    const applied = await cloud.apply(after, { parallelism: 1 });
    expect(applied.exit).toBe(0);
    expect(
      cloud
        .mutations()
        .slice(sent)
        .map((one) => one.replace(/\d+\/$/, '').replace('/api/v2/', '')),
    ).toEqual([
      'DELETE gates/',
      'DELETE marks/',
      'POST beacons/',
      'POST gates/',
      'POST marks/',
      'PATCH gates/',
      'DELETE beacons/',
    ]);
    expect(
      applied.outcomes.map(({ action, address, outcome }) => `${action} ${address} ${outcome}`),
    ).toContain('delete beacons.b done');
    await expectWhole(cloud);
    expect(
      (await cloud.snapshot())?.state.spent
        .map(({ action, kind }) => `${action} ${kind}`)
        .toSorted(),
    ).toEqual(['delete beacons', 'delete gates', 'delete marks', 'update gates']);
  });

  it('moves the old object to the new address first where the declaration was renamed', async () => {
    const cloud = cloudOf();
    await attempt(cloud, desire(beacon(1), gate('round')));
    const renamed = desire(
      beacon(2, {}, { renamed_from: 'b' }, 'c'),
      gate('square', {}, { renamed_from: 'g' }, 'h'),
    );
    expect(await cloud.apply(renamed)).toMatchObject({ exit: 0 });
    const resources = (await cloud.snapshot())?.state.resources ?? {};
    expect(Object.keys(resources).toSorted()).toEqual(['beacons.c', 'gates.h']);
    expect([values(cloud, 'beacons', 'channel'), values(cloud, 'gates', 'shape')]).toEqual([
      [2],
      ['square'],
    ]);
    expect((await cloud.plan(renamed)).exit).toBe(0);
  });

  it('keeps the old object where the new one is refused', async () => {
    const cloud = cloudOf();
    await attempt(cloud, desire(beacon(1)));
    cloud.emulator.setFaults([parseFault('status=400,method=POST,times=9')]);
    expect(await cloud.apply(desire(beacon(2)))).toMatchObject({
      exit: 1,
      outcomes: [
        { action: 'create', outcome: 'failed' },
        { action: 'delete', outcome: 'skipped' },
      ],
    });
    expect(values(cloud, 'beacons', 'channel')).toEqual([1]);
    cloud.emulator.setFaults([]);
    expect(await cloud.apply(desire(beacon(2)))).toMatchObject({ exit: 0 });
    expect(values(cloud, 'beacons', 'channel')).toEqual([2]);
  });

  it('keeps the old object as long as something that names it could not be given the new one', async () => {
    const cloud = cloudOf();
    const user = declare('gates.user', { name: 'South', beacon: to('beacons.b') });
    await attempt(cloud, desire(beacon(1), user));
    cloud.emulator.setFaults([parseFault('status=400,method=PATCH,times=9')]);
    const sent = cloud.mutations().length;
    const { exit, outcomes } = await cloud.apply(desire(beacon(2), user));
    expect([exit, outcomes.map(({ action, outcome }) => `${action} ${outcome}`)]).toEqual([
      7,
      ['create done', 'update failed', 'delete skipped'],
    ]);
    expect(
      cloud
        .mutations()
        .slice(sent)
        .filter((one) => one.startsWith('DELETE')),
    ).toEqual([]);
    cloud.emulator.setFaults([]);
    expect(await cloud.apply(desire(beacon(2), user))).toMatchObject({ exit: 0 });
    expect(values(cloud, 'beacons', 'channel')).toEqual([2]);
  });

  it('creates nothing where the old object does not go, or only seems to', async () => {
    for (const fault of ['status=409,method=DELETE,times=9', 'ignored']) {
      const cloud = cloudOf(
        fault === 'ignored'
          ? {
              intercept: (request, proceed) =>
                request.method === 'DELETE'
                  ? Promise.resolve({ status: 204, headers: {}, body: '' })
                  : proceed(),
            }
          : {},
      );
      await attempt(cloud, desire(gate('round')));
      if (fault !== 'ignored') cloud.emulator.setFaults([parseFault(fault)]);
      const { exit, outcomes } = await cloud.apply(desire(gate('square')), { settle: 5 });
      expect([exit, outcomes.map(({ action, outcome }) => `${action} ${outcome}`)]).toEqual([
        1,
        ['delete failed', 'create skipped'],
      ]);
      expect([
        values(cloud, 'gates', 'shape'),
        Object.keys((await cloud.snapshot())?.state.resources ?? {}),
      ]).toEqual([['round'], ['gates.g']]);
    }
  });

  it('is done once where the service shows late what was written', async () => {
    const cloud = cloudOf();
    await attempt(cloud, before);
    cloud.emulator.setFaults([parseFault('stale=4000')]);
    for (const turn of [1, 2])
      expect([turn, await cloud.apply(after, { allow: ['max-changed'] })]).toMatchObject([
        turn,
        { exit: 0 },
      ]);
    cloud.emulator.setFaults([]);
    await expectWhole(cloud);
    expect(cloud.mutations().filter((one) => one.startsWith('POST'))).toHaveLength(
      before.declarations.length + 3,
    );
  });

  it('remembers an old object that could not be deleted, and deletes it with the next run', async () => {
    const cloud = cloudOf();
    await attempt(cloud, desire(beacon(1)));
    const id = String(cloud.objects('beacons')[0]?.id);
    cloud.emulator.setFaults([parseFault('status=409,method=DELETE,times=9')]);
    expect(await cloud.apply(desire(beacon(2)))).toMatchObject({ exit: 7 });
    cloud.emulator.setFaults([]);
    expect((await cloud.snapshot())?.state.resources['beacons.b']?.deposed).toEqual([id]);
    expect(actions(cloud.document(await cloud.plan(desire(beacon(2)))))).toEqual([
      `delete beacons.b ${id}`,
    ]);
    expect((await cloud.drift(desire(beacon(2)))).drift).toMatchObject([
      { address: 'beacons.b', id, status: 'undeclared' },
    ]);
    // Changed meanwhile, and declared no more: whatever is written of the address, the old object is not forgotten.
    expect(
      await cloud.apply(desire(beacon(2, { label: 'new' })), { allow: ['max-deletes'] }),
    ).toMatchObject({ exit: 0 });
    expect(values(cloud, 'beacons', 'channel')).toEqual([2]);
    expect((await cloud.snapshot())?.state.resources['beacons.b']?.deposed).toBeUndefined();
  });

  it('keeps what is left in memory while the address is written, moved and let go', async () => {
    const cloud = cloudOf();
    await attempt(cloud, desire(beacon(1)));
    const id = String(cloud.objects('beacons')[0]?.id);
    cloud.emulator.setFaults([parseFault('status=409,method=DELETE,times=99')]);
    await attempt(cloud, desire(beacon(2)));
    await attempt(cloud, desire(beacon(2, { label: 'new' }, { renamed_from: 'b' }, 'c')));
    expect((await cloud.snapshot())?.state.resources['beacons.c']).toMatchObject({
      applied: { label: 'new' },
      deposed: [id],
    });
    expect(await cloud.apply(desire(), { allow: ['all-removed'] })).toMatchObject({
      outcomes: [{ outcome: 'failed', id }, { outcome: 'skipped' }],
    });
    expect((await cloud.snapshot())?.state.resources['beacons.c']).toMatchObject({ deposed: [id] });
    cloud.emulator.setFaults([]);
    expect(await cloud.apply(desire(), { allow: ['all-removed'] })).toMatchObject({ exit: 0 });
    expect([cloud.objects('beacons'), (await cloud.snapshot())?.state.resources]).toEqual([[], {}]);
  });

  it('says of an attribute that was changed outside that it is changed, by the id of the live object', async () => {
    const cloud = cloudOf();
    await attempt(cloud, desire(beacon(1)));
    const estate = cloud.emulator.snapshot();
    const id = String(cloud.objects('beacons')[0]?.id);
    for (const record of estate.records['beacons'] ?? [])
      (record as Record<string, unknown>)['channel'] = 3;
    const moved = cloudOf({ estate });
    for (const [path, text] of cloud.files.contents) moved.files.put(path, text);
    const { drift, in_sync } = await moved.drift(desire(beacon(1)));
    expect([drift, in_sync]).toMatchObject([
      [
        {
          address: 'beacons.b',
          id,
          status: 'changed',
          changes: [{ path: 'channel', declared: 1, applied: 1, live: 3 }],
        },
      ],
      [],
    ]);
  });
});

describe('a saved plan', () => {
  it('is carried out as long as the same object is replaced by the same, and what an interruption left of it too', async () => {
    const cloud = cloudOf();
    await attempt(cloud, before);
    const saved = cloud.document(await cloud.plan(after));
    cloud.emulator.setFaults([parseFault('status=409,method=DELETE,times=9')]);
    expect(await cloud.apply(after, { saved })).toMatchObject({ exit: 7 });
    cloud.emulator.setFaults([]);
    expect(actions(cloud.document(await cloud.plan(after)))).toContain('delete, create gates.g');
    expect(
      await cloud.apply(after, { saved, allow: ['max-changed', 'max-deletes'] }),
    ).toMatchObject({ exit: 0 });
    await expectWhole(cloud);
  });

  it('is refused where another change was saved, or the old object is another now', async () => {
    const cloud = cloudOf();
    await attempt(cloud, desire(beacon(1)));
    const update = cloud.document(await cloud.plan(desire(beacon(1, { label: 'new' }))));
    await expect(cloud.apply(desire(beacon(2)), { saved: update })).rejects.toMatchObject({
      exit: 6,
    });
    const saved = cloud.document(await cloud.plan(desire(beacon(2))));
    await attempt(cloud, desire(beacon(1, { label: 'new' })));
    await expect(cloud.apply(desire(beacon(2)), { saved })).rejects.toMatchObject({ exit: 6 });
  });
});

it('a new object that a person has to point out is bound by import, and the old one is still deleted', async () => {
  const cloud = cloudOf();
  await attempt(cloud, desire(beacon(1)));
  const [old] = cloud.objects('beacons');
  cloud.files.reboot();
  cloud.onMutation = (when) => when === 'after' && cloud.files.crashAt(0);
  await attempt(cloud, desire(beacon(2)));
  cloud.onMutation = undefined;
  cloud.files.reboot();
  const made = String(cloud.objects('beacons').find(({ channel }) => channel === 2)?.id);
  const session = await cloud.open();
  const { clock, events } = cloud;
  const desk = {
    rules: [],
    kinds,
    cloud: cloud.connect(new AbortController().signal),
    fingerprints: scryptFingerprints({ cost: 4 }),
    clock,
    emit: (event: Event) => events.push(event),
    settleMilliseconds: 60_000,
  };
  expect(
    await importObject({ ...desk, session }, desire(beacon(2)), 'beacons.b', made),
  ).toMatchObject({
    outcome: 'done',
    id: made,
  });
  await session.release();
  expect((await cloud.snapshot())?.state.resources['beacons.b']).toMatchObject({
    id: made,
    deposed: [old?.id],
  });
  expect(await cloud.apply(desire(beacon(2)))).toMatchObject({ exit: 0 });
  expect(values(cloud, 'beacons', 'channel')).toEqual([2]);
});

/** How many boundaries of the disk a run has. */
async function boundariesOf(first: Project, second: Project): Promise<number> {
  const cloud = cloudOf();
  await attempt(cloud, first);
  cloud.files.reboot();
  await attempt(cloud, second);
  return cloud.files.boundaries;
}

describe('killed anywhere, then run again', async () => {
  const all = await boundariesOf(before, after);
  it.each(Array.from({ length: all }, (_, index) => index + 1))(
    `boundary %i of ${all} of the disk`,
    async (boundary) => {
      const cloud = cloudOf({ seed: boundary });
      await attempt(cloud, before);
      cloud.files.reboot();
      cloud.files.crashAt(boundary);
      await attempt(cloud, after);
      cloud.files.reboot();
      expect(await attempt(cloud, after)).toMatchObject({ exit: 0 });
      await expectWhole(cloud);
    },
  );

  const [old, renamed] = [
    desire(beacon(1), gate('round')),
    desire(
      beacon(2, {}, { renamed_from: 'b' }, 'c'),
      gate('square', {}, { renamed_from: 'g' }, 'h'),
    ),
  ];
  const renaming = await boundariesOf(old, renamed);
  it.each(Array.from({ length: renaming }, (_, index) => index + 1))(
    `renamed as well, boundary %i of ${renaming} of the disk`,
    async (boundary) => {
      const cloud = cloudOf({ seed: boundary });
      await attempt(cloud, old);
      cloud.files.reboot();
      cloud.files.crashAt(boundary);
      await attempt(cloud, renamed);
      cloud.files.reboot();
      expect(await attempt(cloud, renamed)).toMatchObject({ exit: 0 });
      expect([values(cloud, 'beacons', 'channel'), values(cloud, 'gates', 'shape')]).toEqual([
        [2],
        ['square'],
      ]);
      expect(Object.keys((await cloud.snapshot())?.state.resources ?? {}).toSorted()).toEqual([
        'beacons.c',
        'gates.h',
      ]);
      expect((await cloud.plan(renamed)).exit).toBe(0);
    },
  );

  const faults = ['', 'reset-before', 'reset-after', 'truncate', 'status=503', 'late=30000'];
  const rows = faults.flatMap((fault) =>
    ['before', 'after'].flatMap((when) =>
      Array.from({ length: 7 }, (_, nth) => ({ fault, when, nth })),
    ),
  );
  it.each(rows)('$fault, $when request $nth', async ({ fault, when, nth }) => {
    const cloud = cloudOf({ seed: nth + 1 });
    await attempt(cloud, before);
    cloud.files.reboot();
    if (fault)
      cloud.emulator.setFaults(
        ['POST', 'PATCH', 'DELETE'].map((method) =>
          parseFault(`${fault},method=${method},after=${Math.floor(nth / 3)},times=1`),
        ),
      );
    let count = 0;
    cloud.onMutation = (moment) => {
      if (moment === when && (count += 1) === nth + 1) cloud.files.crashAt(0);
    };
    await attempt(cloud, after);
    cloud.onMutation = undefined;
    cloud.emulator.setFaults([]);
    cloud.files.reboot();
    expect(await attempt(cloud, after)).toMatchObject({ exit: 0 });
    await expectWhole(cloud);
  });
});
