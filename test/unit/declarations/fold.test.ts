// Declarations that differ in one reference alone are written as one, and load as what they were.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lint } from '../../../src/declarations/index.js';
import { writeDeclarations, type WrittenObject } from '../../../src/declarations/writing.js';
import {
  labelsIn,
  type Kind,
  type LabelOf,
  type Project,
  type Value,
} from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { drawn } from '../../support/drawn.js';
import { project } from './project.js';

const kindOf = (name: string): Kind => kinds.get(name) as Kind;
type Estate = ReadonlyMap<string, readonly WrittenObject[]>;

const names = ['acme', 'bravo', 'crow', 'delta'];
const accounts = names.map((name, index): WrittenObject => ({
  name,
  id: `${index + 1}`,
  values: { name: name.toUpperCase() },
}));
const pager: WrittenObject = { name: 'pager', id: 'd-1', values: { name: 'Pager' } };

const rule = (
  index: number,
  scope: readonly string[],
  more: Record<string, Value> = {},
): WrittenObject => ({
  name: `rule-${index}`,
  id: `r-${index}`,
  label: `label ${index}`,
  values: {
    associated_accounts: scope,
    filter_criteria: { alert_type__in: ['cpu_utilization'] },
    http_destinations: ['d-1'],
    ...more,
  },
});

const estateOf = (rules: readonly WrittenObject[]): Estate =>
  new Map([
    ['accounts', accounts],
    ['alert_push_destinations', [pager]],
    ['alert_rules', rules],
  ]);

const labels = labelsIn(
  new Map(
    [['accounts', accounts] as const, ['alert_push_destinations', [pager]] as const].map(
      ([name, objects]) => [
        name,
        {
          kind: kindOf(name),
          byId: new Map(objects.map(({ id, values }) => [id!, { id: id!, values }])),
        },
      ],
    ),
  ),
);

const textOf = (kind: string, estate: Estate): string =>
  writeDeclarations(kinds, estate, { labels }).get(`${kind}.yaml`) ?? '';

/** The section of the rules alone. */
const rulesIn = (rules: readonly WrittenObject[]): string => textOf('alert_rules', estateOf(rules));

/** What each live object is declared as, whatever its address. */
const byAdopted = ({ declarations }: Project): ReadonlyMap<string, unknown> =>
  new Map(
    declarations
      .map(({ kind, values, lifecycle }) => [`${kind} ${lifecycle.adopt}`, values] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

const loaded = (estate: Estate): Promise<Project> =>
  project(Object.fromEntries(writeDeclarations(kinds, estate, { labels })));

describe('equal declarations', () => {
  it('become one, named after what they share', () => {
    expect(rulesIn([rule(1, ['1']), rule(2, ['2']), rule(3, ['3'])])).toBe(`alert_rules:
  # each account: cpu_utilization → Pager
  each-account-cpu-utilization-pager:
    for_each:
      acme: { account: "\${accounts.acme.id}", adopt: r-1 }
      bravo: { account: "\${accounts.bravo.id}", adopt: r-2 }
      crow: { account: "\${accounts.crow.id}", adopt: r-3 }
    associated_accounts: ["\${each.value.account}"]
    filter_criteria:
      alert_type__in: [cpu_utilization]
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    lifecycle: { adopt: "\${each.value.adopt}" }
`);
  });

  it('have keys after what is called so, where it is not exported', () => {
    const rules = [...['1', '2', '3'].map((id) => rule(Number(id), [id])), rule(9, ['9'])];
    const named = ['3M', '7-Eleven', '10023'];
    const more = named.map((_, index) => rule(20 + index, [`2${index}`]));
    const called: LabelOf = (kind, id) =>
      id.startsWith('2') && id.length > 1 ? named[Number(id.slice(1))] : labels(kind, id);
    const texts = writeDeclarations(kinds, new Map([['alert_rules', [...rules, ...more]]]), {
      labels: called,
    });
    const text = texts.get('alert_rules.yaml') ?? '';
    expect(text.match(/^ {6}\S+: \{ account.*\}$/gm)).toEqual([
      '      acme: { account: "1", adopt: r-1 }',
      '      bravo: { account: "2", adopt: r-2 }',
      '      crow: { account: "3", adopt: r-3 }',
      '      "9": { account: "9", adopt: r-9 }',
      '      "3m": { account: "20", adopt: r-20 }',
      '      "7-eleven": { account: "21", adopt: r-21 }',
      '      "10023": { account: "22", adopt: r-22 }',
    ]);
  });

  it.each<[string, readonly WrittenObject[]]>([
    ['two of them', [rule(1, ['1']), rule(2, ['2'])]],
    ['another schedule', [rule(1, ['1']), rule(2, ['2']), rule(3, ['3'], { schedule: 'daily' })]],
    ['nothing in the place of a reference', [rule(1, ['1']), rule(2, ['2']), rule(3, [])]],
    ['two references', [rule(1, ['1']), rule(2, ['2']), rule(3, ['3'], { http_destinations: [] })]],
    ['the same content', [rule(1, ['1']), rule(2, ['1']), rule(3, ['1'])]],
  ])('are written one by one: %s', (_, rules) => {
    expect(rulesIn(rules)).not.toContain('for_each');
  });

  it('stand one by one in their files, and become one where several lie in one', () => {
    const alone = new Map([
      ['r-5', 'e.yaml'],
      ['r-6', 'f.yaml'],
      ['r-7', 'g.yaml'],
    ]);
    const texts = writeDeclarations(
      kinds,
      estateOf([1, 2, 3, 4, 5, 6, 7].map((index) => rule(index, [`${index}`]))),
      { labels, fileOf: (_, id = '') => alone.get(id) ?? 'shared.yaml' },
    );
    const shared = texts.get('shared.yaml') ?? '';
    expect(shared.match(/adopt: r-\d/g)).toEqual([1, 2, 3, 4].map((index) => `adopt: r-${index}`));
    for (const [id, file] of alone) {
      expect(texts.get(file)).toContain(`  rule-${id.slice(2)}:\n`);
      expect(texts.get(file)).not.toContain('for_each');
      expect(texts.get(file)).toContain(`adopt: ${id} }`);
    }
  });

  it('are not folded where others can refer to them', async () => {
    const depots = names.map((_, index): WrittenObject => ({
      name: `depot-${index}`,
      id: `${index + 11}`,
      values: { name: 'Depot', account: `${index + 1}` },
    }));
    const estate = new Map([['accounts', [...accounts, ...depots]]]);
    expect(textOf('accounts', estate)).not.toContain('for_each');
  });

  it('take the attribute in which most of them differ', () => {
    const text = rulesIn([
      ...names.map((_, index) => rule(index, [`${index + 1}`])),
      rule(8, ['1'], { http_destinations: ['d-8'] }),
      rule(9, ['1'], { http_destinations: ['d-9'] }),
      rule(10, ['1'], { http_destinations: ['d-10'] }),
    ]);
    expect(text.match(/for_each/g)).toHaveLength(2);
    expect(text).toContain('delta: { account: "${accounts.delta.id}", adopt: r-3 }');
    expect(text).toContain('d-10: { alert_push_destination: d-10, adopt: r-10 }');
  });

  it('keep whole lists, ids without a declaration, and what is said of one of them', () => {
    const text = rulesIn([
      rule(1, ['1', '2']),
      { ...rule(2, ['77']), comments: ['77 is unknown', 'common'] },
      { ...rule(3, ['\u202e: x']), comments: ['common'] },
    ]);
    expect(text).toContain(`    for_each:
      acme-bravo:
        associated_accounts: ["\${accounts.acme.id}", "\${accounts.bravo.id}"]
        adopt: r-1
      # 77 is unknown
      # common
      "77":
        associated_accounts: ["77"]
        adopt: r-2
      # common
      x:
        associated_accounts: ["\\u202e: x"]
        adopt: r-3
    associated_accounts: "\${each.value.associated_accounts}"
`);
  });

  it('are folded by a plain reference, too, and their masks stay told', async () => {
    const grants = names.map((_, index): WrittenObject => ({
      name: `grant-${index}`,
      id: `g-${index}`,
      values: { user: '71', account: `${index + 1}`, role: 'administrator' },
    }));
    const managers = [12, 13, 14].map((router): WrittenObject => ({
      name: `manager-${router}`,
      id: `m-${router}`,
      values: {
        router: `${router}`,
        configuration: [{ lan: { mtu: 1400 }, users: { admin: { password: '*' } } }, []],
      },
    }));
    const estate: Estate = new Map([
      ['accounts', accounts],
      ['account_authorizations', grants],
      ['configuration_managers', managers],
    ]);
    expect(textOf('account_authorizations', estate)).toContain(`  # user 71 on each account
  user-71-on-each-account:
    for_each:
      acme: { account: "\${accounts.acme.id}", adopt: g-0 }
`);
    const text = textOf('configuration_managers', estate);
    expect(text).toContain(
      'configuration-manager-of-each-router:\n    # configuration.0.users.admin.password reads',
    );
    expect(text).toContain('      "13": { router: "13", adopt: m-13 }');
    expect((await loaded(estate)).declarations.map(({ address }) => address)).toContain(
      'configuration_managers.configuration-manager-of-each-router["13"]',
    );
  });

  it('load as what they were', async () => {
    const ids = fc.constantFrom('1', '2', '3', '4', '77');
    const hooks = fc.constantFrom(
      'd-1',
      'd-2',
      'x y',
      '${x',
      '${var.x}',
      '__proto__',
      'constructor',
    );
    const some = fc.uniqueArray(ids, { maxLength: 2 });
    const rules = fc.array(
      fc.record({
        associated_accounts: some,
        http_destinations: fc.uniqueArray(hooks, { maxLength: 2 }),
        schedule: fc.constantFrom(null, 'daily'),
        settings: fc.constantFrom(null, { a: ['${x}'] }),
        filter_criteria: fc.constant({ alert_type__in: ['cpu_utilization'] }),
      }),
      { minLength: 3, maxLength: 16 },
    );
    await fc.assert(
      fc.asyncProperty(rules, async (contents) => {
        const estate = estateOf(contents.map((values, index) => ({ ...rule(index, []), values })));
        const read = await loaded(estate);
        expect(lint(read, kinds).filter(({ severity }) => severity === 'error')).toEqual([]);
        // One file for each object folds nothing.
        const single = new Map<string, unknown>();
        for (const one of estate.get('alert_rules')!) {
          const alone = await loaded(estateOf([one]));
          for (const [key, values] of byAdopted(alone)) single.set(key, values);
        }
        expect([...byAdopted(read)]).toEqual([...single].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      }),
      { numRuns: drawn(60) },
    );
  });
});

describe('a file that could not be loaded', () => {
  it('becomes several, which hold everything', async () => {
    const many = Array.from({ length: 3000 }, (_, index): WrittenObject => ({
      name: `account-${index}`,
      id: `${index + 1}`,
      values: { name: `${index} ${'n'.repeat(900)}` },
    }));
    const texts = writeDeclarations(kinds, new Map([['accounts', many]]));
    expect([...texts.keys()]).toEqual(['accounts.yaml', 'accounts-2.yaml', 'accounts-3.yaml']);
    const { declarations } = await project(Object.fromEntries(texts));
    expect(declarations).toHaveLength(3000);
  });

  it('is not made of one declaration either: its members are divided', async () => {
    const rules = Array.from({ length: 5002 }, (_, index) => ({
      ...rule(index, [String(1000 + index)]),
      comments: ['c'.repeat(500)],
    }));
    const { declarations } = await loaded(estateOf(rules));
    expect(declarations.filter(({ kind }) => kind === 'alert_rules')).toHaveLength(5002);
  });
});
