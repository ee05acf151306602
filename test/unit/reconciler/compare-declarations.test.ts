// The plan from earlier declarations to later ones, without a cloud.
import { describe, expect, test } from 'vitest';
import {
  Reference,
  Refusal,
  Secret,
  Template,
  type AttributeChange,
  type Change,
  type Declaration,
  type Lookup,
  type Project,
  type Value,
  type Values,
  NOT_KNOWN,
} from '../../../src/model/index.js';
import { compareDeclarations } from '../../../src/reconciler/plan/compare-declarations.js';
import { replaceable } from '../../support/fifth-kind.js';
import { declare, project } from '../../support/planning.js';

const ref = (text: string): Reference => {
  const [, target = '', attribute = ''] = /^(.*)\.([^.]+)$/.exec(text) ?? [];
  return target.startsWith('lookups.')
    ? new Reference('lookup', target.slice('lookups.'.length), attribute)
    : new Reference('declared', target, attribute);
};

const secret = (source: string): Secret =>
  new Secret(source, () => {
    throw new Error('a comparison reads no secret');
  });

const lookup = (name: string, where: Values): Lookup => ({
  name,
  kind: 'accounts',
  where,
  origin: { file: 'a.yaml', line: 2, column: 3 },
});

type Side = readonly Declaration[] | Project;
const sideOf = (side: Side): Project => ('declarations' in side ? side : project(side));

const compare = (before: Side, after: Side) =>
  compareDeclarations({
    kinds: replaceable,
    before: sideOf(before),
    after: sideOf(after),
    label: 'main',
  });

const changesIn = (change: Change): readonly AttributeChange[] =>
  'changes' in change ? change.changes : [];

/** `action address: paths` of what is not kept. */
function compared(before: Side, after: Side): readonly string[] {
  const { plan } = compare(before, after);
  expect(plan.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return plan.changes
    .filter(({ action }) => action !== 'keep')
    .map((change) => {
      const paths = changesIn(change).map(({ path }) => path);
      return `${change.action} ${change.address}${paths.length > 0 ? `: ${paths.join(', ')}` : ''}`;
    });
}

const account = declare('accounts.ops', { name: 'Ops' });
const pager = declare('alert_push_destinations.pager', {
  name: 'Pager',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/a' },
  authentication: { secret: secret('env.PAGER') },
});
const rule = declare('alert_rules.down', {
  associated_accounts: [ref('accounts.ops.id'), ref('lookups.hq.id')],
  filter_criteria: { alert_type__in: ['x'] },
  http_destinations: [ref('alert_push_destinations.pager.destination_config_id')],
});
const router = declare('configuration_managers.gate', {
  router: '12',
  configuration: [
    { system: { name: 'gate', users: { a: { password: secret('env.A') } }, x: null } },
  ],
});

describe('what is the same', () => {
  test('references, lookups, secrets and documents are no change', () => {
    const all = [account, pager, rule, router];
    const { plan, exit } = compare(all, all);
    expect(exit).toBe(0);
    expect(plan.changes.map(({ action }) => action)).toEqual(Array(4).fill('keep'));
    expect([plan.drift, plan.verdicts, plan.diagnostics, plan.unmanaged]).toEqual([[], [], [], {}]);
  });

  test.each<[string, Values]>([
    ['a whole object', { endpoint: ref('lookups.hq.endpoint') }],
    ['a text around a reference', { name: new Template(['x ', ref('lookups.hq.name')]) }],
    ['a computed attribute', { name: ref('accounts.ops.resource_url') }],
    ['an attribute that is not declared', { name: ref('accounts.ops.account') }],
  ])('%s', (_, values) => {
    const one = declare('alert_push_destinations.p', { name: 'P', enabled: true, ...values });
    expect(compared([account, one], [account, one])).toEqual([]);
  });

  test.each(['configuration_managers.other.configuration', 'lookups.hq.configuration'])(
    'a whole document from %s',
    (source) => {
      const other = declare('configuration_managers.other', {
        router: '13',
        configuration: [{ system: { name: 'o' } }],
      });
      const one = declare('configuration_managers.one', {
        router: '14',
        configuration: ref(source),
      });
      expect(compared([other, one], [other, one])).toEqual([]);
      const literal = declare('configuration_managers.one', {
        router: '14',
        configuration: [{ system: { name: 'z' } }],
      });
      expect(compared([other, one], [other, literal])).toHaveLength(1);
      expect(compared([other, literal], [other, one])).toHaveLength(1);
    },
  );

  test('what is declared no more stays as it is', () => {
    expect(compared([account], [declare('accounts.ops', {})])).toEqual([]);
  });

  test('a rename, and what refers to it', () => {
    const renamed = declare('accounts.field', { name: 'Ops' }, { renamed_from: 'ops' });
    const { associated_accounts: _, ...others } = rule.values;
    const moved = declare('alert_rules.down', {
      ...others,
      associated_accounts: [ref('accounts.field.id'), ref('lookups.hq.id')],
    });
    expect(compared([account, pager, rule], [renamed, pager, moved])).toEqual([]);
  });
});

describe('what differs', () => {
  test('creates, updates and deletes, with reasons that tell of declarations', () => {
    const { plan, exit } = compare(
      [account, pager],
      [
        declare('accounts.ops', { name: 'Field' }),
        rule,
        pager,
        declare('accounts.new', { name: 'N' }),
      ],
    );
    const later = compare([account, pager], [account]);
    expect(exit).toBe(2);
    expect(
      [...plan.changes, ...later.plan.changes]
        .filter(({ action }) => action !== 'keep')
        .map(({ action, address, reason }) => `${action} ${address}: ${reason}`),
    ).toEqual([
      'create accounts.new: it is not declared at main',
      'update accounts.ops: name changed in the declaration',
      'create alert_rules.down: it is not declared at main',
      'delete alert_push_destinations.pager: it is no longer declared in a.yaml',
    ]);
  });

  test.each([
    [true, false],
    [false, true],
  ])('an edited value may come from a variable, of before (%j) or after (%j)', (before, after) => {
    const renamed = declare('accounts.ops', { name: 'Field' });
    const { plan } = compare(
      { ...project([account]), uses_variables: before },
      { ...project([renamed]), uses_variables: after },
    );
    expect(plan.changes.map(({ reason }) => reason)).toEqual([
      'name changed in the declaration or in a variable',
    ]);
  });

  test('names the templates that a file uses as places where an object was declared', () => {
    const at = (file: string) => ({ file, line: 1, column: 1 });
    const made = (one: Declaration, file: string): Declaration => ({
      ...one,
      file: 'a.yaml',
      origin: { ...at(file), used_at: at('a.yaml') },
    });
    const two = declare('alert_push_destinations.pager-b', pager.values);
    const other = declare('accounts.two', { name: 'Two' });
    const { plan } = compare(
      [
        made(account, 'sites.yaml'),
        made(two, 'b.yaml'),
        made(other, 'c.yaml'),
        made(pager, 'd.yaml'),
      ],
      [made(account, 'sites.yaml'), made(two, 'b.yaml'), made(other, 'c.yaml')],
    );
    expect(plan.changes.find(({ action }) => action === 'delete')?.reason).toBe(
      'it is no longer declared in a.yaml or b.yaml',
    );
  });

  test('what is declared empty only now, because it may have had a value', () => {
    const one = declare('alert_rules.r', { filter_criteria: { alert_type__in: ['x'] } });
    const other = declare('alert_rules.r', {
      filter_criteria: { alert_type__in: ['x'] },
      associated_groups: [],
      schedule: null,
    });
    const { plan } = compare([one], [other]);
    expect(plan.changes.flatMap(changesIn).map(({ path, before }) => [path, before])).toEqual([
      ['schedule', NOT_KNOWN],
      ['associated_groups', NOT_KNOWN],
    ]);
    expect(compared([other], [other])).toEqual([]);
    expect(compared([other], [one])).toEqual([]);
    const manager = (configuration: Value): Declaration =>
      declare('configuration_managers.gate', { router: '12', configuration });
    const removing = manager([{ system: { name: 'gate' }, wan: { old: null, new: 1 } }]);
    expect(compared([manager([{ system: { name: 'gate' } }])], [removing])).toEqual([
      'update configuration_managers.gate: configuration.0.wan.old, configuration.0.wan.new',
    ]);
    const bare = declare('configuration_managers.gate', { router: '12' });
    expect(compared([bare], [manager([{}, []])])).toHaveLength(1);
  });

  test('a value reaches what refers to it', () => {
    const named = declare('accounts.sub', { name: ref('accounts.ops.name') });
    const { plan } = compare([account, named], [declare('accounts.ops', { name: 'Field' }), named]);
    expect(plan.changes.map(changesIn)).toEqual([
      [{ path: 'name', before: 'Ops', after: 'Field', drifted: false }],
      [{ path: 'name', before: 'Ops', after: 'Field', drifted: false }],
    ]);
  });

  test('another secret, by its source', () => {
    const other = declare('alert_push_destinations.pager', {
      ...pager.values,
      authentication: { secret: secret('env.OTHER') },
    });
    expect(compared([pager], [other])).toEqual([
      'update alert_push_destinations.pager: authentication.secret',
    ]);
    const hidden = declare('configuration_managers.gate', {
      router: '12',
      configuration: [{ system: { name: 'gate', users: { a: { password: secret('env.B') } } } }],
    });
    expect(compared([router], [hidden])).toEqual([
      'update configuration_managers.gate: configuration.0.system.users.a.password',
    ]);
    const plain = declare('configuration_managers.gate', {
      router: '12',
      configuration: [{ system: { name: 'gate', users: { a: { password: 'x' } }, x: null } }],
    });
    for (const [one, two] of [
      [router, plain],
      [plain, router],
    ] as const)
      expect(compared([one], [two])).toEqual([
        'update configuration_managers.gate: configuration.0.system.users.a.password',
      ]);
  });

  test('a fixed attribute replaces the object, and changes what refers to it', () => {
    const gate = declare('gates.g', { name: 'G', beacon: ref('beacons.b.id') });
    const [one, other] = [1, 2].map((channel) => declare('beacons.b', { channel }));
    const { plan } = compare([one!, gate], [other!, gate]);
    expect(plan.changes.map(({ action, address, reason }) => [action, address, reason])).toEqual([
      ['create', 'beacons.b', 'channel changed in the declaration, and cannot be updated'],
      ['update', 'gates.g', 'beacon refers to what changed'],
      ['delete', 'beacons.b', expect.any(String)],
    ]);
  });

  test('what cannot be deleted is forgotten', () => {
    expect(compared([router], [account])).toEqual([
      'create accounts.ops',
      'forget configuration_managers.gate',
    ]);
  });

  test('what exists already is adopted, and shows what is declared', () => {
    expect(compared([account], [account, router])).toEqual([
      'adopt configuration_managers.gate: configuration.0.system.x, configuration.0.system.name, configuration.0.system.users',
    ]);
    const adopted = declare('accounts.old', { name: 'Old' }, { adopt: '77' });
    expect(compared([account], [account, adopted])).toEqual(['adopt accounts.old: name']);
    // The id is known, and the adoption is over.
    const literal = declare('accounts.sub', { name: 'S', account: '77' });
    const named = declare('accounts.sub', { name: 'S', account: ref('accounts.old.id') });
    const after = declare('accounts.old', { name: 'Old' });
    expect(compared([adopted, named], [after, named])).toEqual([]);
    expect(compared([adopted, named], [after, literal])).toEqual([]);
  });

  test('members of a for_each whose keys an id could not hold', () => {
    const member = (key: string): string => `accounts.x[${JSON.stringify(key)}]`;
    for (const [one, other] of [
      ['a/b', 'c/b'],
      ['a?1', 'a?2'],
      ['a#1', 'a#2'],
      ['a ', 'a'],
      ['a%2Fb', 'a/b'],
    ] as const) {
      const both = [one, other].map((key) => declare(member(key), { name: key }));
      const below = (key: string): Declaration =>
        declare('accounts.sub', { name: 'S', account: ref(`${member(key)}.id`) });
      expect(compared([...both, below(one)], [...both, below(one)])).toEqual([]);
      expect(compared([...both, below(one)], [...both, below(other)])).toEqual([
        'update accounts.sub: account',
      ]);
    }
  });

  test('a lookup that finds another object changes what refers to it, also through another lookup', () => {
    const using = (name: string) =>
      declare('accounts.sub', { name: 'S', account: ref(`lookups.${name}.id`) });
    const side = (name: string, declared: Declaration): Project => ({
      ...project([declared]),
      lookups: [
        lookup('below', { account: ref('lookups.hq.id') }),
        lookup('hq', { name }),
        lookup('apart', { name: 'Apart' }),
      ],
    });
    for (const name of ['hq', 'below']) {
      const { plan, exit } = compare(side('HQ', using(name)), side('North', using(name)));
      expect(exit).toBe(2);
      const [change] = plan.changes.flatMap(changesIn);
      expect([String(change?.before), String(change?.after)]).toEqual([
        `\${lookups.${name}@main.id}`,
        `\${lookups.${name}.id}`,
      ]);
      expect(plan.diagnostics.map(({ code, summary }) => [code, summary.split(' ')[0]])).toEqual([
        ['lookup-changed', 'lookups.below'],
        ['lookup-changed', 'lookups.hq'],
      ]);
    }
    expect(compared(side('HQ', using('apart')), side('North', using('apart')))).toEqual([]);
  });
});

describe('without a cloud', () => {
  test('an account without a parent can be created beside others', () => {
    const parents = ['a', 'b'].map((name) =>
      declare(`accounts.${name}`, { name, account: ref(`lookups.${name}.id`) }),
    );
    expect(compared(parents, [...parents, declare('accounts.c', { name: 'C' })])).toEqual([
      'create accounts.c',
    ]);
  });

  test('no limit and no rule blocks', () => {
    const many = Array.from({ length: 40 }, (_, index) =>
      declare(`accounts.a${index}`, { name: `A${index}` }, { protect: true }),
    );
    const { plan, exit } = compare(many, [pager]);
    expect([exit, plan.verdicts, plan.changes.length]).toEqual([2, [], 41]);
  });

  test('no block is called finished, because no state was read', () => {
    const block = {
      block: 'moved',
      from: 'accounts.old',
      to: 'accounts.ops',
      sources: [{ kind: 'accounts', name: 'old', members: true }],
      origin: { file: 'a.yaml', line: 1, column: 1 },
    } as const;
    const { plan } = compare([account], { ...project([account]), refactorings: [block] });
    expect(plan.diagnostics).toEqual([]);
  });

  test('errors of the later declarations are those of a plan', () => {
    const broken = declare('accounts.sub', { name: 'S', account: ref('accounts.none.id') });
    const { plan, exit } = compare([account], [account, broken]);
    expect(exit).toBe(1);
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(['unknown-reference']);
  });

  test('errors of the earlier ones refuse the comparison', () => {
    const broken = declare('accounts.sub', { name: 'S', account: ref('accounts.none.id') });
    expect(() => compare([broken], [account])).toThrow(Refusal);
    const round = ['a', 'b'].map((name, index) =>
      declare(`accounts.${name}`, { name, account: ref(`accounts.${'ba'[index]}.id`) }),
    );
    expect(() => compare(round, [account])).toThrow('circle');
  });
});

describe('what PATHs leave out', () => {
  const inside = (...declarations: readonly Declaration[]) => ({
    ...project(declarations),
    paths: ['in'],
  });
  const within = (address: string, values: Values): Declaration =>
    declare(address, values, {}, 'in/a.yaml');

  test('is not planned, and can be referred to', () => {
    const sub = within('accounts.sub', {
      name: ref('accounts.ops.name'),
      account: ref('accounts.ops.id'),
    });
    const before = { ...inside(sub), outside_paths: [account, pager] };
    expect(compared(before, before)).toEqual([]);
    const renamed = declare('accounts.ops', { name: 'Field' });
    expect(compared(before, { ...inside(sub), outside_paths: [renamed] })).toEqual([
      'update accounts.sub: name',
    ]);
    const fresh = declare('accounts.fresh', { name: 'F' });
    const other = within('accounts.sub', { name: 'Ops', account: ref('accounts.fresh.id') });
    expect(compared(before, { ...inside(other), outside_paths: [account, fresh] })).toEqual([
      'update accounts.sub: account',
    ]);
  });

  test('is not deleted when it moves out, and is not created when it moves in', () => {
    const [here, there] = [within('accounts.ops', { name: 'Ops' }), account];
    const keep = within('accounts.k', { name: 'K' });
    const [one, two] = [
      { ...inside(keep, here), outside_paths: [] },
      { ...inside(keep), outside_paths: [there] },
    ];
    expect(compared(one, two)).toEqual([]);
    expect(compared(two, one)).toEqual([]);
  });
});
