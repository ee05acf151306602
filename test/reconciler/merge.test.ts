// Documents that are merged: what differs, what is sent, and what is left alone, member by member; then whole runs over
// configuration managers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactNumber, Reference, Secret, wireText, type Declaration, type Json, type JsonObject, type Project, type Refusal, type Value } from '../../src/model/index.js';
import { dummyCredentials } from '../../src/emulator/index.js';
import { writeDeclarations } from '../../src/declarations/index.js';
import { mergeChanges, merged, mergeSent } from '../../src/reconciler/merge.js';
import { renderPlan } from '../../src/report/render.js';
import { kinds } from '../../src/resources/index.js';
import { theirs } from '../support/estate.js';
import { declare } from '../support/planning.js';
import { desire, rig, type Rig } from '../support/rig.js';

const secret = (value = 'canary-1'): Secret => new Secret('env.PASSWORD', () => value);
const exact = new ExactNumber('9007199254740993') as unknown as Value;

interface Case {
  readonly declared: Value;
  readonly live: Value;
  readonly prior?: Value;
  readonly resend?: boolean;
}
const changesOf = ({ declared, live, prior, resend = false }: Case) => mergeChanges({ path: 'c', wanted: declared, live, prior, resend: () => resend });
const told = (one: Case): readonly string[] =>
  changesOf(one).map(({ path, before, after, drifted }) => `${path}: ${JSON.stringify(before) ?? 'none'} → ${JSON.stringify(after) ?? 'none'}${drifted ? ' (drifted)' : ''}`);

describe('what differs', () => {
  it.each<[string, Case, readonly string[]]>([
    ['a member that is live', { declared: [{ a: { b: 1 } }], live: [{ a: { b: 1 } }, []] }, []],
    ['members nobody declared', { declared: [{ a: { b: 1 } }], live: [{ a: { b: 1, c: 2 }, d: 3 }, [['x']]] }, []],
    ['a member with another value', { declared: [{ a: { b: 2 } }], live: [{ a: { b: 1, c: 2 } }, []] }, ['c.a.b: 1 → 2']],
    ['a member that is not there', { declared: [{ a: { b: 2 } }], live: [{}, []] }, ['c.a: none → {"b":2}']],
    ['nothing live at all', { declared: [{ a: 1 }], live: null }, ['c.a: none → 1']],
    ['an object alone', { declared: { a: 1 }, live: [{ a: 2 }, []] }, ['c.a: 2 → 1']],
    ['nothing declared', { declared: [{}, []], live: [{ a: 1 }, []] }, []],
    ['what holds nothing', { declared: [{ a: {}, b: [], c: null, d: { e: {} } }], live: [{}, []] }, []],
    ['an object where a value is', { declared: [{ a: { b: 1 } }], live: [{ a: 'x' }, []] }, ['c.a: "x" → {"b":1}']],
    ['a list in another order', { declared: [{ a: [1, 2] }], live: [{ a: [2, 1] }, []] }, ['c.a: [2,1] → [1,2]']],
    ['a list whose item has one member more', { declared: [{ a: [{ b: 1 }] }], live: [{ a: [{ b: 1, c: 2 }] }, []] }, ['c.a: [{"b":1,"c":2}] → [{"b":1}]']],
    ['a text as the service escapes it', { declared: [{ a: "O'Brien & Sons" }], live: [{ a: 'O&#39;Brien &amp; Sons' }, []] }, []],
    ['a number that no double holds', { declared: [{ a: '9007199254740993' }], live: [{ a: exact }, []] }, []],
    ['another one', { declared: [{ a: '9007199254740992' }], live: [{ a: exact }, []] }, ['c.a: "9007199254740993" → "9007199254740992"']],
    ['a masked password', { declared: [{ p: 'literal' }], live: [{ p: '*' }, []] }, []],
    ['a password of several asterisks', { declared: [{ p: 'literal' }], live: [{ p: '********' }, []] }, []],
    ['a masked object', { declared: [{ p: { q: 1 } }], live: [{ p: '*' }, []] }, []],
    ['a masked password that was declared anew', { declared: [{ p: 'new' }], live: [{ p: '*' }, []], prior: [{ p: 'old' }] }, ['c.p: "*" → "new"']],
    ['a masked password as it was applied', { declared: [{ p: 'old' }], live: [{ p: '*' }, []], prior: [{ p: 'old' }] }, []],
    ['a masked password in a list', { declared: [{ l: [{ n: 1, p: 'x' }] }], live: [{ l: [{ n: 1, p: '*' }] }, []] }, []],
    ['a secret that was sent', { declared: [{ p: secret() }], live: [{ p: '*' }, []] }, []],
    ['a secret to be sent', { declared: [{ p: secret() }], live: [{ p: '*' }, []], resend: true }, ['c.p: "*" → "(sensitive)"']],
    ['a secret that is gone', { declared: [{ p: secret() }], live: [{}, []] }, ['c.p: none → "(sensitive)"']],
    ['a secret that the service shows', { declared: [{ p: secret() }], live: [{ p: 'clear' }, []], resend: true }, ['c.p: "*" → "(sensitive)"']],
    ['a secret in a list that was sent', { declared: [{ l: [{ p: secret() }] }], live: [{ l: [{ p: 'clear' }] }, []] }, []],
    ['a secret in a list to be sent', { declared: [{ l: [{ p: secret() }] }], live: [{ l: [{ p: 'clear' }] }, []], resend: true }, ['c.l: [{"p":"*"}] → [{"p":"(sensitive)"}]']],
    [
      'a secret in a list that others put in another order',
      {
        declared: [{ l: [{ n: 'a', p: secret() }] }],
        live: [
          {
            l: [
              { n: 'b', p: 'clear-b' },
              { n: 'a', p: 'clear-a' },
            ],
          },
          [],
        ],
      },
      ['c.l: [{"n":"b","p":"*"},{"n":"a","p":"*"}] → [{"n":"a","p":"(sensitive)"}]'],
    ],
    [
      'a secret as the state holds it, in another order',
      { declared: [{ l: [{ n: 'a', p: '*' }] }], live: [{ l: [{ n: 'b' }, { n: 'a', p: 'clear' }] }, []] },
      ['c.l: [{"n":"b"},{"n":"a","p":"*"}] → [{"n":"a","p":"*"}]'],
    ],
    [
      'a secret deep in a list',
      { declared: [{ l: [{ n: 1 }, { q: { p: [secret()] } }] }], live: [{ l: [{ q: { p: ['clear', 'clearer'] } }, { q: { p: [] } }] }, []] },
      ['c.l: [{"q":{"p":["*","*"]}},{"q":{"p":[]}}] → [{"n":1},{"q":{"p":["(sensitive)"]}}]'],
    ],
    ['a removed path that is live', { declared: [{}, [['a', 'b']]], live: [{ a: { b: { c: 1 }, d: 1 } }, []] }, ['c.a.b: {"c":1} → none']],
    ['a removed path as text', { declared: [{}, ['a.b']], live: [{ a: { b: 1 } }, []] }, ['c.a.b: 1 → none']],
    ['a removed path that is gone', { declared: [{}, [['a', 'b'], ['x']]], live: [{ a: {} }, []] }, []],
    ['a removed path that is inherited', { declared: [{}, [['constructor'], ['a', 'toString']]], live: [{ a: {} }, []] }, []],
    ['a number in a path', { declared: [{}, [['a', 0]]], live: [{ a: { 0: 'x', 1: 'y' } }, []] }, ['c.a.0: "x" → none']],
    ['a path into a list, which is one value', { declared: [{}, [['a', 0]]], live: [{ a: ['x', 'y'] }, []] }, []],
    ['a key with a dot', { declared: [{ a: { '10.0.0.1': 1 } }], live: [{ a: { '10.0.0.1': 2, other: 3 } }, []] }, ['c.a: {"10.0.0.1":2} → {"10.0.0.1":1}']],
    ['what changed outside', { declared: [{ a: 1, b: 1 }], live: [{ a: 2, b: 2 }, []], prior: [{ a: 1, b: 2 }] }, ['c.a: 2 → 1 (drifted)', 'c.b: 2 → 1']],
    ['a removed path that came back', { declared: [{}, [['a']]], live: [{ a: 1 }, []], prior: [{}, [['a']]] }, ['c.a: 1 → none (drifted)']],
  ])('%s', (_, one, expected) => {
    expect(told(one)).toEqual(expected);
  });
});

describe('what is sent', () => {
  it.each<[string, Value, Value, string]>([
    ['all that is declared, and the paths that are there', [{ a: 1, b: 2 }, [['x'], ['y', 'z'], 'y.w']], [{ a: 1, x: 1, y: { w: 1 } }, []], '[{"a":1,"b":2},[["x"],"y.w"]]'],
    ['an object alone', { a: 1 }, null, '[{"a":1},[]]'],
    ['no mask, and no list with one', [{ a: { p: '*', q: 1 }, l: [{ p: '***' }], m: ['x'] }], [{}, []], '[{"a":{"q":1},"m":["x"]},[]]'],
  ])('%s', (_, declared, live, body) => {
    expect(wireText(mergeSent({ path: 'c', wanted: declared, live }, () => true))).toBe(body);
  });
});

const keys = fc.constantFrom('a', 'b', 'c', 'p.q');
const { tree: trees } = fc.letrec<{ tree: JsonObject; node: Json }>((tie) => ({
  tree: fc.dictionary(keys, tie('node'), { maxKeys: 3 }),
  node: fc.oneof({ maxDepth: 3 }, fc.integer({ max: 2, min: 0 }), fc.constantFrom('x', '*'), fc.array(fc.integer({ max: 1, min: 0 }), { maxLength: 2 }), tie('tree')),
}));
const plain = fc.letrec<{ tree: JsonObject; node: Json }>((tie) => ({
  tree: fc.dictionary(keys, tie('node'), { maxKeys: 3 }),
  node: fc.oneof({ maxDepth: 3 }, fc.integer({ max: 2, min: 0 }), fc.constant('x'), tie('tree')),
})).tree;

describe('laws of merging', () => {
  it('what was applied is live, its neighbours are as they were, and nothing more is to be done', async () => {
    const paths = fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 2 }), { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(trees, plain, paths, async (live, declared, removed) => {
        const free = removed.filter(([first]) => !Object.hasOwn(declared, first as string));
        const record = { id: '30', router: '12', account: '1', configuration: [{ ...live, theirs: { kept: 1 } }, []], actual: [live, []], target: [live, []] };
        const cloud = rig({ estate: { version: 1, root: '1', records: { accounts: [{ id: '1', name: 'Headquarters', account: null }], configuration_managers: [record] } } });
        const project = desire(declare('configuration_managers.x', { router: '12', configuration: [declared, free] }));
        expect((await cloud.apply(project)).outcomes.map((one) => one.outcome)).toEqual(['done']);
        expect((await cloud.plan(project)).exit).toBe(0);
        const [done] = cloud.objects('configuration_managers') as readonly [{ readonly configuration: readonly [JsonObject] }];
        const [after] = done.configuration;
        expect(merged([declared, free], [after, []])).toBe(true);
        const touched = (name: string): boolean => Object.hasOwn(declared, name) || free.some(([first]) => first === name);
        const rest = (tree: JsonObject): JsonObject => Object.fromEntries(Object.entries(tree).filter(([name]) => !touched(name)));
        expect(rest(after)).toEqual({ ...rest(live), theirs: { kept: 1 } });
      }),
      { numRuns: 150 },
    );
  });
});

const cloudOf = (): Rig => rig({ estate: theirs });
const manager = (configuration: Value | undefined, more: Record<string, Value> = {}, lifecycle: Declaration['lifecycle'] = {}): Declaration =>
  declare('configuration_managers.depot', { router: '12', ...(configuration === undefined ? {} : { configuration }), ...more }, lifecycle);
const withPassword = (value: string): Project => desire(manager([{ users: { list: [{ name: 'admin', password: secret(value) }], 'a.b': { psk: secret(value) } } }]));

const bodies = (cloud: Rig): readonly Json[] => cloud.emulator.requests.filter(({ method }) => method === 'PUT').map(({ body }) => body);

describe('configuration managers', () => {
  it('are neither made nor guessed: an unknown router is an error', async () => {
    const { plan, exit } = await cloudOf().plan(desire(declare('configuration_managers.x', { router: '30', suspended: true })));
    expect([exit, plan.diagnostics.map(({ code, detail }) => [code, detail])]).toEqual([
      1,
      [['cannot-create', 'Make it where it is made, or correct router. What is there: trueup get configuration_managers']],
    ]);
  });

  it('send what is declared, no router, and nothing that is not declared', async () => {
    const cloud = cloudOf();
    await cloud.apply(desire(manager([{ lan: { mtu: 1500 } }, [['wan', 'rules', 'old'], ['gone']]])));
    await cloud.apply(desire(manager(undefined, { suspended: true })));
    expect(bodies(cloud)).toEqual([{ configuration: [{ lan: { mtu: 1500 } }, [['wan', 'rules', 'old']]] }, { suspended: true }]);
    expect(cloud.objects('configuration_managers')[0]).toMatchObject({ configuration: [{ lan: { mtu: 1500 }, wan: { rules: { new: { prio: 2 } } } }, []], version_number: 3 });
  });

  it('rotate a secret with one PUT, send none that is unchanged, and leave it nowhere', async () => {
    const cloud = cloudOf();
    const puts = async (value: string): Promise<number> => {
      const before = bodies(cloud).length;
      expect((await cloud.apply(withPassword(value))).exit).toBe(0);
      return bodies(cloud).length - before;
    };
    expect([await puts('canary-1'), await puts('canary-1'), await puts('canary-2'), await puts('canary-2')]).toEqual([1, 0, 1, 0]);
    const proposal = await cloud.plan(withPassword('canary-1'));
    const document = cloud.document(proposal);
    const seen = [...cloud.files.contents.values(), JSON.stringify(cloud.events), JSON.stringify(document), renderPlan(document, 'text', { color: false, width: 100 })].join('\n');
    expect(seen).not.toContain('canary');
    expect(document.resource_changes[0]?.change.actions).toEqual(['update']);
    expect(Object.keys((await cloud.snapshot())?.state.resources['configuration_managers.depot']?.secrets ?? {}).toSorted()).toEqual([
      'configuration.0.users.a\\.b.psk',
      'configuration.0.users.list.0.password',
    ]);
  });

  it.each<[string, Value]>([
    ['taken out', [{}, [['snmp', 'community'], 'snmp.of']]],
    ['taken out with all around it', [{}, [['snmp']]]],
    ['replaced', [{ snmp: { community: 'public', of: [{ key: 1 }] } }]],
    ['replaced with all around it', [{ snmp: 'none' }]],
  ])('show no secret that is %s, though the service does', async (_, then) => {
    let lost = 1;
    const cloud = rig({
      estate: theirs,
      intercept: ({ method, body = '' }, proceed) =>
        method === 'PUT' && !body.includes('canary') && lost-- > 0 ? Promise.resolve({ status: 500, headers: {}, body: '' }) : proceed(),
    });
    await cloud.apply(desire(manager([{ snmp: { community: secret(), of: [{ key: secret() }] } }])));
    expect(JSON.stringify(cloud.objects('configuration_managers')[0])).toContain('canary');
    const project = desire(manager(then));
    const [proposal, { drift }] = [await cloud.plan(project), await cloud.drift(project)];
    expect(JSON.stringify([cloud.document(proposal), drift])).not.toContain('canary');
    expect(proposal.plan.changes[0]?.action).toBe('update');
    // A write without an answer is sent again: nobody moved what is masked.
    expect([(await cloud.apply(project)).exit, lost < 1, (await cloud.plan(project)).exit, (await cloud.drift(project)).drift]).toEqual([0, true, 0, []]);
    expect(JSON.stringify([cloud.objects('configuration_managers')[0], ...cloud.files.contents.values()])).not.toContain('canary');
  });

  it.each<[string, (tree: Value) => Value, (tree: Value) => Value]>([
    ['an object', (tree) => tree, (tree) => tree],
    ['an object, and then a list', (tree) => tree, (tree) => [tree, []]],
    ['a list, and then an object', (tree) => [tree], (tree) => tree],
  ])('know a secret again that is written in %s', async (_, first, then) => {
    const cloud = cloudOf();
    const tree = { wlan: { psk: secret() } };
    expect((await cloud.apply(desire(manager(first(tree))))).exit).toBe(0);
    expect((await cloud.plan(desire(manager(then(tree))))).exit).toBe(0);
    expect((await cloud.apply(desire(manager(then(tree))))).exit).toBe(0);
    expect(bodies(cloud)).toHaveLength(1);
  });

  const record = (id: string, router: string, tree: JsonObject): JsonObject => ({ id, router, account: '1', configuration: [tree, []], target: [tree, []], actual: [tree, []] });
  const users = [{ name: 'a', password: '*' }];
  const neighbours = (): Rig =>
    rig({ estate: { ...theirs, records: { ...theirs.records, configuration_managers: [record('30', '12', { users }), record('31', '7', { users, psk: '***' })] } } });
  const source = (tree?: JsonObject): Declaration => declare('configuration_managers.source', { router: '7', ...(tree && { configuration: [tree] }) });
  const from = (path: string): Reference => new Reference('declared', 'configuration_managers.source', path);

  it.each<[string, Value, readonly string[]]>([
    ['beside a member that changes', { users: [{ name: 'b', password: '*' }] }, ['configuration.users.0.password']],
    ['of a neighbour', { copied: { users: from('configuration.users'), psk: from('configuration.psk') } }, ['configuration.copied.users.0.password', 'configuration.copied.psk']],
  ])('say that a mask cannot be sent: %s', async (_, tree, paths) => {
    const cloud = neighbours();
    const { plan, exit } = await cloud.plan(desire(manager([tree]), source()));
    expect([exit, plan.diagnostics.map(({ code, attribute }) => [code, attribute])]).toEqual([1, paths.map((path) => ['masked-value', path])]);
    expect(plan.diagnostics[0]?.detail).toContain('"${secret.env.NAME}"');
  });

  it('say nothing of a mask that is live as it is declared', async () => {
    expect((await neighbours().plan(desire(manager([{ users: from('configuration.users') }]), source()))).exit).toBe(0);
  });

  it('take a secret whose value is not at hand as unchanged', async () => {
    const cloud = cloudOf();
    await cloud.apply(withPassword('canary-1'));
    const blind = desire(manager([{ users: { list: [{ name: 'admin', password: new Secret('env.PASSWORD', () => undefined) }] } }]));
    const { plan, exit } = await cloud.plan(blind);
    expect([exit, plan.diagnostics.map(({ code }) => code)]).toEqual([0, ['secret-unseen']]);
  });

  it('are changed without a secret that is unchanged and not at hand, and not where it has to be sent', async () => {
    const cloud = cloudOf();
    await cloud.apply(withPassword('canary-1'));
    const password = new Secret('env.PASSWORD', () => undefined);
    const blind = (name: string): Project => desire(manager([{ users: { list: [{ name, password }], 'a.b': { psk: password, open: true } } }]));
    expect((await cloud.apply(blind('admin'))).exit).toBe(0);
    expect(bodies(cloud).at(-1)).toEqual({ configuration: [{ users: { 'a.b': { open: true } } }, []] });
    expect((await cloud.plan(withPassword('canary-1'))).exit).toBe(0);
    const refused = await cloud.apply(blind('root')).catch((error: unknown) => (error as Refusal).diagnostics.map(({ code }) => code));
    expect(refused).toEqual(['secret-missing']);
  });

  it('drift by member, in the words of the document, whatever others do beside', async () => {
    const cloud = cloudOf();
    const project = desire(manager([{ lan: { mtu: 1500 }, users: { list: [{ name: 'admin', password: secret() }] } }, [['wan', 'rules', 'old']]]));
    await cloud.apply(project);
    expect((await cloud.drift(project)).drift).toEqual([]);
    const elsewhere = rig({ estate: cloud.emulator.snapshot() });
    await elsewhere.apply(desire(manager([{ lan: { mtu: 9000, dhcp: true }, wan: { rules: { old: { prio: 7 } } }, others: 1 }])));
    const moved = rig({ estate: elsewhere.emulator.snapshot() });
    for (const [path, text] of cloud.files.contents) moved.files.put(path, text);
    const [record] = (await moved.drift(project)).drift;
    expect([record?.status, record?.changes]).toEqual([
      'changed',
      [
        { path: 'configuration.lan.mtu', declared: 1500, applied: 1500, live: 9000 },
        { path: 'configuration.wan.rules.old', declared: null, applied: null, live: { prio: 7 } },
      ],
    ]);
    expect((await moved.apply(project)).exit).toBe(0);
    expect(moved.objects('configuration_managers')[0]?.['configuration']).toEqual([
      { lan: { mtu: 1500, dhcp: true }, wan: { rules: { new: { prio: 2 } } }, users: { list: [{ name: 'admin', password: '*' }] }, others: 1 },
      [],
    ]);
  });

  it('keep no configuration of others in plan or state', async () => {
    const cloud = cloudOf();
    const project = desire(manager([{ lan: { mtu: 1500 } }]));
    const document = cloud.document(await cloud.plan(project));
    expect(document.resource_changes[0]?.change.before).toMatchObject({ configuration: { lan: { mtu: 1400 } } });
    await cloud.apply(project);
    expect([JSON.stringify(document), ...cloud.files.contents.values()].join('\n')).not.toContain('prio');
  });

  it('are let go, and not touched, when they are declared no more', async () => {
    const cloud = cloudOf();
    await cloud.apply(desire(manager([{ lan: { mtu: 1500 } }])));
    const { outcomes } = await cloud.apply(desire(), { allow: ['all-removed'] });
    expect([outcomes.map(({ action, outcome }) => [action, outcome]), bodies(cloud).length]).toEqual([[['forget', 'done']], 1]);
  });

  it.each<[string, JsonObject, string, number]>([
    ['what is not ours', { others: 1 }, 'done', 3],
    ['what is ours', { lan: { mtu: 9000 } }, 'failed', 2],
  ])('without an answer are sent again, unless another hand changed ours: %s', async (_, tree, outcome, sent) => {
    const cloud = cloudOf();
    cloud.emulator.setFaults([{ name: 'status', value: 503, method: 'PUT', after: 1, times: 1 }]);
    cloud.onMutation = (when) => {
      if (when !== 'before') return;
      cloud.onMutation = undefined;
      const headers = { ...dummyCredentials.v2[0], accept: 'application/json', 'content-type': 'application/json' };
      void cloud.emulator.fetch(new Request('http://localhost/api/v2/configuration_managers/30/', { method: 'PUT', headers, body: JSON.stringify({ configuration: [tree] }) }));
    };
    const { outcomes } = await cloud.apply(desire(manager([{ lan: { mtu: 1500 } }])));
    expect([outcomes.map((one) => one.outcome), bodies(cloud).length]).toEqual([[outcome], sent]);
  });

  it('are exported without masks, and the plan over it is empty', async () => {
    const cloud = rig({ estate: theirs });
    const live = cloud.objects('configuration_managers').map((one) => ({ name: `router-${String(one['router'])}`, id: String(one['id']), values: one as Record<string, Value> }));
    const text = writeDeclarations(kinds, new Map([['configuration_managers', live]])).get('configuration_managers');
    expect(text).toBe(`configuration_managers:
  router-12:
    router: "12"
    configuration:
      - lan: { mtu: 1400 }
        wan:
          rules:
            old: { prio: 1 }
            new: { prio: 2 }
    lifecycle: { adopt: "30" }

  router-7:
    # configuration.system.users.admin.password reads back masked and is left out; to manage it, write "\${secret.env.NAME}"
    router: "7"
    configuration:
      - system:
          system_id: theirs
          users:
            admin: {}
    lifecycle: { adopt: "31" }
`);
  });
});
