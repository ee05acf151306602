// What a plan makes of `moved`, `removed` and `import` blocks, and that carrying them out sends nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Reference,
  type Declaration,
  type Entry,
  type FindMention,
  type PlanRequest,
  type Project,
  type Refactoring,
} from '../../../src/model/index.js';
import { drawn } from '../../support/drawn.js';
import {
  blocked,
  codes,
  declare,
  entry,
  live,
  planScene,
  project as projectOf,
  steps,
} from '../../support/planning.js';
import { rig } from '../../support/rig.js';
import { project } from '../declarations/project.js';

const hq = { name: 'HQ', account: '1' };
const objects = [
  live('accounts', '1', { name: 'Root', account: null }),
  live('accounts', '2', hq),
  live('accounts', '3', { name: 'Depot', account: '1' }),
];
const held = (id: string, more: Partial<Entry> = {}): Entry =>
  entry('accounts', id, id === '2' ? hq : { name: 'Depot', account: '1' }, more);
const origin = { file: 'a.yaml', line: 9, column: 5 };
/** What is said of objects in a file that the PATHs leave out. */
const mentioning =
  (...names: readonly string[]): FindMention =>
  ({ addresses }) =>
    addresses.some((one) => names.includes(one))
      ? { file: 'a.yaml', origin, why: 'declares it' }
      : undefined;
const moved = (to: string, ...from: readonly string[]): Declaration => ({
  ...declare(`accounts.${to}`, hq),
  moved_from: from.map((name) => ({ address: `accounts.${name}`, origin })),
});
const range = (name: string, key?: string) => ({
  kind: 'accounts',
  name,
  members: key === undefined,
  ...(key !== undefined && { key }),
});
const move = (from: string, to: string, key?: string): Refactoring => ({
  block: 'moved',
  from: `accounts.${from}${key === undefined ? '' : `["${key}"]`}`,
  to: `accounts.${to}`,
  sources: [range(from, key)],
  origin,
});
const removal = (name: string, forgets: boolean, key?: string): Refactoring => ({
  block: 'removed',
  from: range(name, key),
  forgets,
  origin,
});
const importOf = (...to: readonly string[]): Refactoring => ({
  block: 'import',
  to: to.map((name) => `accounts.${name}`),
  origin,
});

interface Row {
  readonly request?: Partial<PlanRequest>;
  readonly declared: readonly Declaration[];
  readonly blocks?: readonly Refactoring[];
  readonly state?: Record<string, Entry>;
  readonly steps: readonly string[];
  readonly codes: readonly string[];
  readonly exit: number;
}

const table: Readonly<Record<string, Row>> = {
  'a move': {
    declared: [moved('b', 'a')],
    blocks: [move('a', 'b')],
    state: { 'accounts.a': held('2') },
    steps: ['keep accounts.b'],
    codes: [],
    exit: 0,
  },
  'a move that is done': {
    declared: [moved('b', 'a')],
    blocks: [move('a', 'b')],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.b'],
    codes: ['finished-block'],
    exit: 0,
  },
  'a move from what never was': {
    declared: [declare('accounts.b', hq)],
    blocks: [move('zz', 'b')],
    state: { 'accounts.other': held('3') },
    steps: ['adopt accounts.b', 'delete accounts.other'],
    codes: ['moved-nothing'],
    exit: 2,
  },
  'a move that a killed run left half done': {
    declared: [moved('b', 'a')],
    blocks: [move('a', 'b')],
    state: { 'accounts.a': held('2'), 'accounts.b': held('2') },
    steps: ['keep accounts.b'],
    codes: [],
    exit: 0,
  },
  'a move without a state, where nobody can tell': {
    declared: [moved('b', 'a')],
    blocks: [move('a', 'b')],
    steps: ['adopt accounts.b'],
    codes: [],
    exit: 0,
  },
  'the first of two moves': {
    declared: [moved('c', 'b', 'a')],
    blocks: [
      move('a', 'b'),
      { ...move('b', 'c'), sources: [range('b'), range('a')] } as Refactoring,
    ],
    state: { 'accounts.a': held('2') },
    steps: ['keep accounts.c'],
    codes: [],
    exit: 0,
  },
  'the second of two moves': {
    declared: [moved('c', 'b', 'a')],
    blocks: [
      move('a', 'b'),
      { ...move('b', 'c'), sources: [range('b'), range('a')] } as Refactoring,
    ],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.c'],
    codes: ['finished-block'],
    exit: 0,
  },
  'a move onto another object': {
    declared: [moved('b', 'a')],
    blocks: [move('a', 'b')],
    state: { 'accounts.a': held('3'), 'accounts.b': held('2') },
    steps: ['delete accounts.a'],
    codes: ['renamed-bound'],
    exit: 1,
  },
  'two objects to one address': {
    declared: [moved('c', 'b', 'a')],
    state: { 'accounts.a': held('3'), 'accounts.b': held('2') },
    steps: ['delete accounts.a'],
    codes: ['renamed-bound'],
    exit: 1,
  },
  'a move from what is declared still': {
    declared: [moved('b', 'a'), declare('accounts.a', { name: 'Depot', account: '1' })],
    state: { 'accounts.a': held('3') },
    steps: [],
    codes: ['renamed-declared'],
    exit: 1,
  },
  'a target that is an earlier address': {
    declared: [moved('b', 'a')],
    state: { 'accounts.a': held('2') },
    request: { targets: ['accounts.a'] },
    steps: [],
    codes: ['renamed-address'],
    exit: 1,
  },
  'an earlier address excluded, which would exclude nothing': {
    declared: [moved('b["x"]', 'a["x"]')],
    state: { 'accounts.a["x"]': held('2') },
    request: { excludes: ['accounts.a'] },
    steps: [],
    codes: ['renamed-address'],
    exit: 1,
  },
  'an earlier name that others still have': {
    declared: [moved('b', 'a["x"]'), declare('accounts.a["y"]', { name: 'Depot', account: '1' })],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
    request: { targets: ['accounts.a'] },
    steps: ['keep accounts.a["y"]'],
    codes: [],
    exit: 0,
  },
  'a move from a file that is not covered': {
    declared: [moved('b', 'a')],
    state: { 'accounts.a': held('2', { file: '../x.yaml' }) },
    steps: [],
    codes: ['renamed-elsewhere'],
    exit: 1,
  },
  'a key that no new name has': {
    declared: [moved('b["x"]', 'a["x"]')],
    blocks: [move('a', 'b')],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
    steps: ['keep accounts.b["x"]', 'delete accounts.a["y"]'],
    codes: ['moved-nowhere'],
    exit: 2,
  },
  'a removed block that forgets': {
    declared: [declare('accounts.b', hq)],
    blocks: [removal('a', true)],
    state: { 'accounts.b': held('2'), 'accounts.a': held('3') },
    steps: ['keep accounts.b', 'forget accounts.a'],
    codes: [],
    exit: 2,
  },
  'a removed block that deletes': {
    declared: [declare('accounts.b', hq)],
    blocks: [removal('a', false)],
    state: { 'accounts.b': held('2'), 'accounts.a': held('3') },
    steps: ['keep accounts.b', 'delete accounts.a'],
    codes: [],
    exit: 2,
  },
  'a removed block of all members, but one': {
    declared: [declare('accounts.b', { name: 'Other', account: '1' })],
    blocks: [removal('a', true), removal('a', false, 'y')],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
    steps: ['create accounts.b', 'delete accounts.a["y"]', 'forget accounts.a["x"]'],
    codes: [],
    exit: 2,
  },
  'a removed block that is done': {
    declared: [declare('accounts.b', hq)],
    blocks: [removal('a', true)],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.b'],
    codes: ['finished-block'],
    exit: 0,
  },
  'a removed block of a member that its name moves there': {
    declared: [moved('b["x"]', 'a["x"]')],
    blocks: [move('a', 'b'), removal('b', true, 'y')],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
    steps: ['keep accounts.b["x"]', 'forget accounts.a["y"]'],
    codes: [],
    exit: 2,
  },
  'a removed block of a member that a block moves there': {
    declared: [declare('accounts.a["x"]', hq)],
    blocks: [move('a', 'a["w"]', 'y'), removal('a', true, 'w')],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
    steps: ['keep accounts.a["x"]', 'forget accounts.a["y"]'],
    codes: [],
    exit: 2,
  },
  'a removed block of a name that moves lead to, one after the other': {
    declared: [declare('accounts.x', hq)],
    blocks: [
      { ...move('b', 'c["k"]', 'k'), sources: [range('b', 'k'), range('a', 'k')] } as Refactoring,
      { ...move('c', 'd'), sources: [range('c'), range('b', 'k'), range('a', 'k')] } as Refactoring,
      move('a', 'b'),
      removal('d', true),
    ],
    state: { 'accounts.x': held('2'), 'accounts.a["k"]': held('3') },
    steps: ['keep accounts.x', 'forget accounts.a["k"]'],
    codes: [],
    exit: 2,
  },
  'a removed block of a name, of which a block moves this member elsewhere': {
    declared: [declare('accounts.x', hq)],
    blocks: [move('a', 'shop'), move('a', 'x["k"]', 'k'), removal('shop', true)],
    state: { 'accounts.x': held('2'), 'accounts.a["k"]': held('3') },
    steps: ['keep accounts.x', 'delete accounts.a["k"]'],
    codes: ['moved-nowhere', 'removed-nothing'],
    exit: 2,
  },
  'a removed block that deletes a member at its old address, and one that forgets its new name': {
    declared: [declare('accounts.x', hq)],
    blocks: [move('a', 'b'), removal('a', false, 'k'), removal('b', true)],
    state: { 'accounts.x': held('2'), 'accounts.a["k"]': held('3') },
    steps: ['keep accounts.x', 'delete accounts.a["k"]'],
    codes: [],
    exit: 2,
  },
  'removed blocks of one member that disagree: it stays': {
    declared: [declare('accounts.x', hq)],
    blocks: [move('a', 'b'), removal('a', true, 'k'), removal('b', false, 'k')],
    state: { 'accounts.x': held('2'), 'accounts.a["k"]': held('3') },
    steps: ['keep accounts.x', 'forget accounts.a["k"]'],
    codes: [],
    exit: 2,
  },
  'a removed block at the end of a move from what is removed already': {
    declared: [declare('accounts.x', hq)],
    blocks: [move('a', 'b'), removal('b', true)],
    state: { 'accounts.x': held('2') },
    steps: ['keep accounts.x'],
    codes: ['finished-block', 'finished-block'],
    exit: 0,
  },
  'a removed block at the end of a move that names almost what is deleted': {
    declared: [declare('accounts.x', hq)],
    blocks: [move('stores', 'b'), removal('b', true)],
    state: { 'accounts.x': held('2'), 'accounts.store': held('3') },
    steps: ['keep accounts.x', 'delete accounts.store'],
    codes: ['moved-nothing', 'finished-block'],
    exit: 2,
  },
  'a removed block of a member that a move takes away': {
    declared: [moved('b["x"]', 'a["x"]')],
    blocks: [move('a', 'b'), removal('a', true, 'y')],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
    steps: ['keep accounts.b["x"]', 'forget accounts.a["y"]'],
    codes: [],
    exit: 2,
  },
  'an import': {
    declared: [{ ...declare('accounts.b', hq, { adopt: '2' }), import_origin: origin }],
    blocks: [importOf('b')],
    state: { 'accounts.a': held('3') },
    steps: ['adopt accounts.b', 'delete accounts.a'],
    codes: [],
    exit: 2,
  },
  'an import that is done': {
    declared: [{ ...declare('accounts.b', hq, { adopt: '2' }), import_origin: origin }],
    blocks: [importOf('b')],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.b'],
    codes: ['finished-block'],
    exit: 0,
  },
  'an import of another object than the one that the address holds': {
    declared: [{ ...declare('accounts.b', hq, { adopt: '2' }), import_origin: origin }],
    blocks: [importOf('b')],
    state: { 'accounts.b': held('3') },
    steps: [],
    codes: ['adopt-bound'],
    exit: 1,
  },
  'an import of an object that does not exist to an address that holds one': {
    declared: [{ ...declare('accounts.b', hq, { adopt: '02' }), import_origin: origin }],
    blocks: [importOf('b')],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.b'],
    codes: ['imported-nothing'],
    exit: 0,
  },
  'a removed block that names almost what is deleted': {
    declared: [],
    blocks: [removal('stores', true)],
    state: { 'accounts.store': held('2') },
    steps: ['delete accounts.store'],
    codes: ['removed-nothing'],
    exit: 3,
  },
  'a removed block with almost the key of what is deleted, after a move to another name': {
    declared: [moved('b["x"]', 'a["x"]')],
    blocks: [move('a', 'b'), removal('b', true, 'ky')],
    state: { 'accounts.a["x"]': held('2'), 'accounts.a["key"]': held('3') },
    steps: ['keep accounts.b["x"]', 'delete accounts.a["key"]'],
    codes: ['moved-nowhere', 'removed-nothing'],
    exit: 2,
  },
  'a removed block that names almost what stays': {
    declared: [declare('accounts.store', hq)],
    blocks: [removal('stores', true)],
    state: { 'accounts.store': held('2') },
    steps: ['keep accounts.store'],
    codes: ['finished-block'],
    exit: 0,
  },
  'an import of two, one of which is done': {
    declared: [
      { ...declare('accounts.b', hq, { adopt: '2' }), import_origin: origin },
      {
        ...declare('accounts.c', { name: 'Depot', account: '1' }, { adopt: '3' }),
        import_origin: origin,
      },
    ],
    blocks: [importOf('b', 'c')],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.b', 'adopt accounts.c'],
    codes: [],
    exit: 0,
  },
  'an import of nothing': {
    declared: [declare('accounts.b', hq)],
    blocks: [importOf()],
    state: { 'accounts.b': held('2') },
    steps: ['keep accounts.b'],
    codes: [],
    exit: 0,
  },
};

const scene = ({ declared, blocks, state, request }: Row) =>
  planScene({
    declared,
    ...(state && { state }),
    ...(request && { request }),
    live: { accounts: objects },
    more: { project: { ...projectOf(declared), ...(blocks && { refactorings: blocks }) } },
  });

describe('a plan with', () => {
  it.each(Object.entries(table))('%s', (_, row) => {
    const proposal = scene(row);
    expect([steps(proposal).toSorted(), codes(proposal), proposal.exit]).toEqual([
      row.steps.toSorted(),
      row.codes,
      row.exit,
    ]);
    for (const one of proposal.plan.diagnostics)
      expect(one.origin).toEqual(row.request ? undefined : origin);
  });

  it('removals of all objects does not count what is forgotten', () => {
    const proposal = scene({
      declared: [],
      blocks: [removal('a', true)],
      state: { 'accounts.a': held('2'), 'accounts.other': held('3') },
      steps: [],
      codes: [],
      exit: 3,
    });
    expect(proposal.plan.verdicts.find(({ rule }) => rule === 'all-removed')?.detail).toBe(
      'no declaration of accounts is left: 1 would be deleted or forgotten',
    );
  });

  it('an import of what another address holds', () => {
    const proposal = scene({
      declared: [
        { ...declare('accounts.b', hq, { adopt: '3' }), import_origin: origin },
        declare('accounts.a', { name: 'Depot', account: '1' }),
      ],
      blocks: [importOf('b')],
      state: { 'accounts.a': held('3') },
      steps: [],
      codes: [],
      exit: 1,
    });
    expect(proposal.plan.diagnostics).toMatchObject([
      {
        code: 'adopt-taken',
        summary: 'accounts.b is to adopt 3, which is managed as accounts.a.',
        detail:
          "Keep one of the two. If it was renamed, write `moved: [{ from: 'accounts.a', to: 'accounts.b' }]`, or type: trueup state mv accounts.a accounts.b",
        origin,
      },
    ]);
  });

  it('an import to what holds another object, and of what is not there', () => {
    const adopting = (id: string): Row => ({
      declared: [{ ...declare('accounts.b', hq, { adopt: id }), import_origin: origin }],
      state: id === '3' ? { 'accounts.b': held('2') } : {},
      steps: [],
      codes: [],
      exit: 1,
    });
    expect(
      ['3', '99'].flatMap((id) =>
        scene(adopting(id)).plan.diagnostics.map(({ code, detail, origin: at }) => [
          code,
          detail,
          at,
        ]),
      ),
    ).toEqual([
      [
        'adopt-bound',
        'Delete the block, or forget the bound object first: trueup state rm accounts.b',
        origin,
      ],
      ['adopt-missing', 'List what is live: trueup get accounts', origin],
    ]);
  });

  it('the last of a kind that is forgotten, which all-removed does not block', () => {
    const declared = [declare('alert_rules.r', { filter_criteria: { alert_type__in: ['a'] } })];
    const last = (forgets: boolean) =>
      scene({
        declared,
        blocks: [removal('a', forgets)],
        state: { 'accounts.a': held('3') },
        steps: [],
        codes: [],
        exit: 2,
      });
    expect([blocked(last(true)), blocked(last(false))]).toEqual([[], ['all-removed']]);
  });

  it('destroy: what a removed block forgets is forgotten, and nothing is said of the blocks', () => {
    const proposal = planScene({
      state: { 'accounts.a': held('3') },
      live: { accounts: objects },
      request: { destroy: true },
      more: {
        project: { ...projectOf([]), refactorings: [removal('a', true), move('x', 'y')] },
      },
    });
    expect([steps(proposal), codes(proposal)]).toEqual([['forget accounts.a'], []]);
  });

  it('destroy: what moves lead to a removed block is forgotten', () => {
    const proposal = planScene({
      state: { 'accounts.a': held('3') },
      live: { accounts: objects },
      request: { destroy: true },
      more: { project: { ...projectOf([]), refactorings: [removal('b', true), move('a', 'b')] } },
    });
    expect([steps(proposal), codes(proposal)]).toEqual([['forget accounts.a'], []]);
  });

  it('an import to what was not moved yet, which names the address in the state', () => {
    const { plan } = scene({
      declared: [{ ...moved('b', 'a'), lifecycle: { adopt: '3' }, import_origin: origin }],
      blocks: [move('a', 'b'), importOf('b')],
      state: { 'accounts.a': held('2') },
      steps: [],
      codes: [],
      exit: 1,
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'adopt-bound',
        detail: expect.stringContaining('trueup state rm accounts.a'),
      }),
    );
  });

  it('a creation with the identity of what it forgets, which says both ways on', () => {
    const { plan } = scene({
      declared: [declare('accounts.b', hq)],
      blocks: [removal('a', true)],
      state: { 'accounts.a': held('2') },
      steps: [],
      codes: [],
      exit: 1,
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'exists-already',
        detail: expect.stringMatching(
          /^This plan forgets accounts\.a\..*moved: \[\{ from: 'accounts\.a', to: 'accounts\.b' \}\].*\n.*: trueup apply --exclude accounts\.b$/,
        ),
      }),
    );
  });

  it.each([
    ['a whole name: the block stays', [removal('a', true)], /add `moved: /],
    [
      'an address to which it moves: no block is advised',
      [move('a', 'z', 'k'), removal('z', true)],
      /^This plan forgets accounts.a\["k"\]\.\n/,
    ],
  ])('a creation beside a removal of %s', (_, blocks, detail) => {
    const { plan } = scene({
      declared: [declare('accounts.b', hq)],
      blocks,
      state: { 'accounts.a["k"]': held('2'), 'accounts.a["l"]': held('3') },
      steps: [],
      codes: [],
      exit: 1,
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'exists-already', detail: expect.stringMatching(detail) }),
    );
  });

  describe('destroy', () => {
    const planned = (request: Partial<PlanRequest>) =>
      planScene({
        state: {
          'accounts.a': held('2'),
          'accounts.kid': held('3'),
        },
        live: { accounts: objects },
        request: { destroy: true, ...request },
        more: {
          project: projectOf([
            moved('b', 'a'),
            declare('accounts.kid', {
              name: 'Depot',
              account: new Reference('declared', 'accounts.b', 'id'),
            }),
          ]),
        },
      });

    it.each(['a', 'b'])('knows what was not moved yet by the address accounts.%s', (name) => {
      const address = `accounts.${name}`;
      expect(steps(planned({ targets: [address] }))).toEqual(['delete accounts.a']);
      expect(steps(planned({ excludes: [address] }))).toEqual([]);
    });

    it.each([
      [[], ['renamed-elsewhere']],
      [['accounts.b'], []],
    ])('says what was moved from a file that is not covered, without %j', (excludes, found) => {
      const proposal = planScene({
        state: { 'accounts.a': held('2', { file: '../x.yaml' }) },
        live: { accounts: objects },
        request: { destroy: true, excludes },
        more: { project: projectOf([moved('b', 'a')]) },
      });
      expect([steps(proposal), codes(proposal)]).toEqual([[], found]);
    });

    it('keeps what dependents of an excluded object refer to', () => {
      const account = (name: string) => new Reference('declared', `accounts.${name}`, 'id');
      const declared = [
        declare('accounts.p1', { name: 'HQ' }),
        declare('accounts.p2', { name: 'Depot' }),
        declare('alert_rules.r', { associated_accounts: [account('p1'), account('p2')] }),
      ];
      const proposal = planScene({
        state: {
          'accounts.p1': held('2'),
          'accounts.p2': held('3'),
          'alert_rules.r': entry('alert_rules', 'r-1', {}),
        },
        live: { accounts: objects, alert_rules: [live('alert_rules', 'r-1', {})] },
        request: { destroy: true, excludes: ['accounts.p1'] },
        more: { project: projectOf(declared) },
      });
      expect(steps(proposal)).toEqual([]);
    });

    it('keeps what is excluded by any address that moves lead it to', async () => {
      const of = (keys: string) =>
        `accounts:\n  c: { for_each: ${keys}, name: "Site \${each.key}", account: "1" }\n`;
      const declared = await project(
        `moved: [{ from: accounts.a, to: accounts.b }, { from: accounts.b, to: accounts.c }]
removed: [{ from: 'accounts.c["west"]', lifecycle: { destroy: false } }]
${of('[north]')}  kid: { name: Kid, account: '\${accounts.c["north"].id}' }\n`,
      );
      const planned = (request: Partial<PlanRequest>) =>
        planScene({
          state: {
            'accounts.a["north"]': held('2'),
            'accounts.a["west"]': held('3'),
            'accounts.a["south"]': held('5'),
            'accounts.kid': held('4'),
          },
          live: {
            accounts: [
              ...objects,
              live('accounts', '4', { name: 'Kid', account: '2' }),
              live('accounts', '5', { name: 'South', account: '1' }),
            ],
          },
          request,
          more: { project: declared },
        });
      const excludes = ['accounts.b'];
      expect(steps(planned({ destroy: true, excludes }))).toEqual([]);
      expect(codes(planned({ excludes }))).toContain('renamed-address');
    });

    it('keeps what an excluded object refers to', () => {
      expect(steps(planned({ excludes: ['accounts.kid'] }))).toEqual([]);
    });
  });

  it('a move of a name with keys to one address, which says why it moves nothing', () => {
    const { plan } = scene({
      declared: [declare('accounts.b["x"]', hq)],
      blocks: [
        { ...move('a', 'b["x"]'), sources: [{ ...range('a'), members: false }] } as Refactoring,
      ],
      state: { 'accounts.a["k"]': held('2'), 'accounts.a["l"]': held('3') },
      steps: [],
      codes: [],
      exit: 2,
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        code: 'moved-nothing',
        summary: expect.stringContaining('accounts.a has keys in the state'),
        detail: expect.stringContaining('accounts.a["k"]'),
      }),
    );
  });

  it('a member without a new address: the block that moves it is named', () => {
    const { plan } = scene({
      declared: [declare('accounts.a["x"]', hq), declare('accounts.b["z"]', hq)],
      blocks: [move('a', 'b'), move('a', 'a["w"]', 'y')],
      state: { 'accounts.a["x"]': held('2'), 'accounts.a["y"]': held('3') },
      steps: [],
      codes: [],
      exit: 2,
    });
    expect(plan.diagnostics.map(({ summary }) => summary)).toContain(
      'accounts.a["y"] is not moved: nothing is declared at its address after the move from accounts.a["y"] to accounts.a["w"]. It counts as removed.',
    );
  });
});

/** A project of accounts by key, under one name; the blocks of earlier names are written above it. */
const accounts = (
  name: string,
  keys: readonly string[] | undefined,
  blocks = '',
): Promise<Project> =>
  project(
    `${blocks}accounts:\n  ${name}:\n    name: "${keys ? 'Site ${each.key}' : 'Site'}"\n    account: "1"\n${keys ? `    for_each: ${JSON.stringify(keys)}\n` : ''}`,
  );

describe('a move to what is removed, where nothing is declared', () => {
  const blocks = [move('a', 'b'), move('b', 'c'), removal('c', true)];
  const planned = (
    state: Record<string, Entry>,
    request: Partial<PlanRequest> = {},
    refactorings: readonly Refactoring[] = blocks,
  ) =>
    planScene({
      state,
      request,
      live: { accounts: objects },
      more: {
        project: { ...projectOf([declare('accounts.root', { name: 'Root' })]), refactorings },
      },
    });

  it.each([
    ['forgets', blocks],
    ['has no effect', [move('a', 'b'), move('b', 'c'), removal('c', false)]],
    ['is not there', [move('a', 'b'), move('b', 'c')]],
  ])('is an error if both addresses hold an object, and the removal %s', (_, refactorings) => {
    const state = { 'accounts.a': held('2'), 'accounts.c': held('3') };
    const proposal = planned(state, {}, refactorings);
    expect(proposal.exit).toBe(1);
    expect(proposal.plan.diagnostics).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        code: 'renamed-bound',
        summary: 'accounts.a is moved to accounts.c, but both are recorded.',
        origin,
      }),
    );
  });

  it('is an error if a file that the PATHs leave out mentions an object', () => {
    const proposal = planScene({
      state: { 'accounts.a': held('2'), 'accounts.d': held('3') },
      live: { accounts: objects },
      more: {
        project: {
          ...projectOf([declare('accounts.root', { name: 'Root' })]),
          outside: mentioning('accounts.a'),
        },
      },
    });
    expect(proposal.exit).toBe(1);
    const errors = proposal.plan.diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors).toMatchObject([{ code: 'declared-elsewhere', address: 'accounts.a', origin }]);
  });

  it('is an error if a block that the PATHs leave out follows one of their own', () => {
    const proposal = planScene({
      state: { 'accounts.a': held('2') },
      live: { accounts: objects },
      more: {
        project: {
          ...projectOf([declare('accounts.root', { name: 'Root' })]),
          refactorings: [move('a', 'b')],
          outside: mentioning('accounts.b'),
        },
      },
    });
    expect(codes(proposal)).toContain('declared-elsewhere');
  });

  it.each([
    ['its object', ['a'], 'To leave it out: trueup destroy --exclude accounts.a'],
    [
      'all of its objects',
      ['a', 'd'],
      'To leave these out: trueup destroy --exclude accounts.d --exclude accounts.a',
    ],
  ])('is an error of a destroy, with the ways to keep or to destroy %s', (_, names, keep) => {
    const { plan } = planScene({
      state: Object.fromEntries(names.map((name, at) => [`accounts.${name}`, held(`${at + 2}`)])),
      live: { accounts: objects },
      request: { destroy: true },
      more: {
        project: {
          ...projectOf([]),
          outside: mentioning(...names.map((name) => `accounts.${name}`)),
        },
      },
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'declared-elsewhere',
        detail: expect.stringContaining(
          `${keep}\nIf the file is of this project, add it to the PATHs: a.yaml\n`,
        ),
      }),
    );
  });

  it('is an error of a destroy if the PATHs declare what was applied from another file', () => {
    const scene = (request: Partial<PlanRequest>) =>
      codes(
        planScene({
          state: { 'accounts.a': held('2', { file: 'x/a.yaml' }) },
          live: { accounts: objects },
          request: { destroy: true, ...request },
          more: {
            project: { ...projectOf([declare('accounts.a', { name: 'A' })]), paths: ['y'] },
          },
        }),
      );
    expect(scene({})).toContain('recorded-elsewhere');
    expect(scene({ excludes: ['accounts.a'] })).not.toContain('recorded-elsewhere');
  });

  it('is none of a destroy of what the PATHs declare themselves', () => {
    const proposal = planScene({
      state: { 'accounts.a': held('2') },
      live: { accounts: objects },
      request: { destroy: true },
      more: {
        project: {
          ...projectOf([declare('accounts.a', { name: 'A' })]),
          outside: mentioning('accounts.a'),
        },
      },
    });
    expect(codes(proposal)).not.toContain('declared-elsewhere');
  });

  it('is none of a destroy of what the PATHs declare under a new name', () => {
    const proposal = planScene({
      state: { 'accounts.a': held('2') },
      live: { accounts: objects },
      request: { destroy: true },
      more: {
        project: {
          ...projectOf([declare('accounts.b', { name: 'A' })]),
          refactorings: [move('a', 'b')],
          outside: mentioning('accounts.a', 'accounts.b'),
        },
      },
    });
    expect(codes(proposal)).not.toContain('declared-elsewhere');
  });

  it('prints a key with a dollar sign as a declaration file writes it', () => {
    const address = 'accounts.a["${x}"]';
    const { plan } = planScene({
      state: { [address]: held('2') },
      live: { accounts: objects },
      more: {
        project: {
          ...projectOf([declare('accounts.root', { name: 'Root' })]),
          outside: mentioning(address),
        },
      },
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({
        detail: expect.stringContaining(`removed: [{ from: 'accounts.a["$\${x}"]', lifecycle`),
      }),
    );
  });

  it.each([
    ['unknown key', 'unknown key.'],
    ['there is no template `s`. Did you mean `t`?', 'there is no template `s`. Did you mean `t`?'],
  ])('is told of a file with an error: %s', (summary, end) => {
    const { plan } = planScene({
      state: { 'accounts.a["k"]': held('2') },
      live: { accounts: objects },
      more: {
        project: {
          ...projectOf([declare('accounts.root', { name: 'Root' })]),
          outside: () => ({ file: 'a.yaml', origin, why: summary, isFaulty: true }),
        },
      },
    });
    expect(plan.diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'declared-elsewhere',
        summary: `accounts.a["k"] would be removed, but a.yaml, which the PATHs leave out, ${end}`,
        detail: expect.stringContaining('correct it, and add it to the PATHs: a.yaml'),
        address: 'accounts.a["k"]',
        origin,
      }),
    );
  });

  it('is none if a killed run left both with one object', () => {
    const proposal = planned({ 'accounts.a': held('2'), 'accounts.c': held('2') });
    expect([proposal.exit, steps(proposal)]).toEqual([
      2,
      ['create accounts.root', 'forget accounts.c', 'forget accounts.a'],
    ]);
  });

  it.each(['a', 'b', 'c'])('is selected by the address accounts.%s', (name) => {
    const target = `accounts.${name}`;
    const state = { 'accounts.a': held('2'), 'accounts.d': held('3') };
    expect(steps(planned(state, { targets: [target] }))).toEqual(['forget accounts.a']);
    const others = steps(planned(state, { excludes: [target] }));
    expect(others).not.toContain('forget accounts.a');
    expect(others).toContain('delete accounts.d');
  });

  it('which deletes is not selected by an address that it is not moved to', () => {
    const refactorings = [move('a', 'b'), move('b', 'c')];
    const state = { 'accounts.a': held('2') };
    const proposal = planned(state, { targets: ['accounts.c'] }, refactorings);
    expect([proposal.exit, codes(proposal)]).toEqual([1, ['unknown-address', 'moved-nothing']]);
  });
});

describe('a move that is carried out', () => {
  const moves = fc.record({
    keys: fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c d', '"', "'"), { minLength: 1 }), {
      nil: undefined,
    }),
    hops: fc.integer({ min: 1, max: 3 }),
    single: fc.boolean(),
    at: fc.nat({ max: 2 }),
    seed: fc.integer({ min: 1, max: 1_000_000 }),
  });

  it('sends nothing, shows what was renamed, and leaves an empty plan with or without the block', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async ({ keys, hops, single, at, seed }) => {
        const names = Array.from({ length: hops + 1 }, (_, index) => `n${index}`);
        const address = (name: string, key?: string): string =>
          key === undefined ? `accounts.${name}` : `accounts.${name}[${JSON.stringify(key)}]`;
        const pairs = names.slice(1).map((to, index) => [names[index]!, to] as const);
        const blocks = pairs.flatMap(([from, to]) =>
          single && keys
            ? keys.map((key) => ({ from: address(from, key), to: address(to, key) }))
            : [{ from: address(from), to: address(to) }],
        );
        const text = `moved: ${JSON.stringify(blocks)}\n`;
        // The state may be behind by any number of moves.
        const start = names[Math.min(at, hops - 1)]!;
        const end = names.at(-1)!;
        const cloud = rig({ seed });
        await cloud.apply(await accounts(start, keys));
        const sent = cloud.mutations().length;
        const after = await accounts(end, keys, text);
        const { plan, exit } = await cloud.plan(after);
        const expected = (keys ?? [undefined]).map(
          (key) => `keep ${address(end, key)} from ${address(start, key)}`,
        );
        expect(exit).toBe(0);
        expect(
          plan.changes
            .map((one) => `${one.action} ${one.address} from ${one.renamed_from}`)
            .toSorted(),
        ).toEqual(expected.toSorted());
        await cloud.apply(after);
        expect(cloud.mutations()).toHaveLength(sent);
        const done = await cloud.plan(after);
        expect(
          done.plan.changes.filter((one) => one.action !== 'keep' || one.renamed_from),
        ).toEqual([]);
        expect(done.plan.diagnostics.map(({ code }) => code)).toEqual(
          blocks.map(() => 'finished-block'),
        );
        const without = await cloud.plan(await accounts(end, keys));
        expect(
          without.plan.changes.every((one) => one.action === 'keep' && !one.renamed_from),
        ).toBe(true);
        expect([without.exit, without.plan.diagnostics]).toEqual([0, []]);
        expect(Object.keys((await cloud.snapshot())!.state.resources).toSorted()).toEqual(
          (keys ?? [undefined]).map((key) => address(end, key)).toSorted(),
        );
      }),
      { numRuns: drawn(25) },
    );
  });

  it('of an object that is forgotten leaves it alive, and importing it takes it back', async () => {
    const cloud = rig({ seed: 3 });
    await cloud.apply(await accounts('a', undefined));
    const [id] = Object.values((await cloud.snapshot())!.state.resources).map((one) => one.id);
    const sent = cloud.mutations().length;
    const forgotten = await project(
      'accounts: {}\nremoved:\n  - { from: accounts.a, lifecycle: { destroy: false } }\n',
    );
    expect((await cloud.apply(forgotten)).exit).toBe(0);
    expect(Object.keys((await cloud.snapshot())!.state.resources)).toEqual([]);
    expect((await cloud.plan(forgotten)).plan.diagnostics).toMatchObject([
      { code: 'finished-block' },
    ]);
    const block = `import:\n  - { to: accounts.b, id: "${id}" }\n`;
    const taken = await accounts('b', undefined, block);
    const { plan } = await cloud.plan(taken);
    expect(plan.changes).toMatchObject([
      {
        action: 'adopt',
        address: 'accounts.b',
        id,
        reason: 'an import block names it; it is as declared',
      },
    ]);
    await cloud.apply(taken);
    expect(cloud.mutations()).toHaveLength(sent);
    expect((await cloud.plan(taken)).plan.diagnostics).toMatchObject([{ code: 'finished-block' }]);
  });

  it('to what is removed: forgets it, however far the state is behind, and sends nothing', async () => {
    const hops = fc.record({
      keys: fc.option(fc.constant(['k', 'l']), { nil: undefined }),
      count: fc.integer({ min: 1, max: 3 }),
      single: fc.boolean(),
      named: fc.boolean(),
      seed: fc.integer({ min: 1, max: 1_000_000 }),
    });
    await fc.assert(
      fc.asyncProperty(hops, async ({ keys, count, single, named, seed }) => {
        const cloud = rig({ seed });
        await cloud.apply(await accounts('n0', keys));
        const sent = cloud.mutations().length;
        const at = (index: number, key?: string): string =>
          `accounts.n${index}${key === undefined ? '' : `["${key}"]`}`;
        const members = (keys && single ? keys : [undefined]) as readonly (string | undefined)[];
        const moves = Array.from({ length: count }, (_, index) =>
          members.map((key) => ({ from: at(index, key), to: at(index + 1, key) })),
        );
        const removed = (named ? [undefined] : members).map((key) => ({
          from: at(count, key),
          lifecycle: { destroy: false },
        }));
        const blocks = { accounts: {}, moved: moves.flat(), removed };
        const after = await project(JSON.stringify(blocks));
        const { plan } = await cloud.plan(after);
        expect(
          plan.changes.map(({ action, address }) => `${action} ${address}`).toSorted(),
        ).toEqual((keys ?? [undefined]).map((key) => `forget ${at(0, key)}`));
        expect(plan.diagnostics.filter(({ code }) => code === 'moved-nowhere')).toEqual([]);
        await cloud.apply(after);
        expect(cloud.mutations()).toHaveLength(sent);
        const done = await cloud.plan(after);
        expect([...new Set(done.plan.diagnostics.map(({ code }) => code))]).toEqual([
          'finished-block',
        ]);
      }),
      { numRuns: drawn(15) },
    );
  });
});
