// Documents of which a declaration holds a part: what differs, what is sent, what is lost, member by member; then whole
// runs over configuration managers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareText,
  digest,
  ExactNumber,
  Secret,
  wireText,
  type Declaration,
  type Json,
  type JsonObject,
  type Project,
  type Refusal,
  type Value,
} from '../../../src/model/index.js';
import { TransportError } from '../../../src/client/index.js';
import { dummyCredentials } from '../../../src/emulator/index.js';
import { writeDeclarations } from '../../../src/declarations/writing.js';
import {
  aftermath,
  literalsAtMasks,
  mergeChanges,
  isDocumentApplied,
} from '../../../src/reconciler/plan/document-diff.js';
import {
  additions,
  travellingMasks,
  wholeDocument,
} from '../../../src/reconciler/plan/document-merge.js';
import { renderPlan } from '../../../src/report/render.js';
import { kinds } from '../../../src/resources/index.js';
import { theirs } from '../../support/estate.js';
import { declare, kindOf, project as projectOf } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';
import { drawn } from '../../support/drawn.js';

const secret = (value = 'canary-1'): Secret => new Secret('env.PASSWORD', () => value);
const exact = new ExactNumber('9007199254740993') as unknown as Value;

interface Case {
  readonly declared: Value;
  readonly live: Value;
  readonly prior?: Value;
  readonly resend?: boolean;
}
const changesOf = ({ declared, live, prior, resend = false }: Case) =>
  mergeChanges({ path: 'c', wanted: declared, live, prior, resend: () => resend });
const told = (one: Case): readonly string[] =>
  changesOf(one).map(
    ({ path, before, after, drifted, edited }) =>
      `${path}: ${JSON.stringify(before) ?? 'none'} → ${JSON.stringify(after) ?? 'none'}${drifted ? ' (drifted)' : ''}${edited ? ' (edited)' : ''}`,
  );

describe('what differs', () => {
  it.each<[string, Case, readonly string[]]>([
    ['a member that is live', { declared: [{ a: { b: 1 } }], live: [{ a: { b: 1 } }, []] }, []],
    [
      'members nobody declared',
      { declared: [{ a: { b: 1 } }], live: [{ a: { b: 1, c: 2 }, d: 3 }, [['x']]] },
      [],
    ],
    [
      'a member with another value',
      { declared: [{ a: { b: 2 } }], live: [{ a: { b: 1, c: 2 } }, []] },
      ['c.0.a.b: 1 → 2'],
    ],
    [
      'a member that is not there',
      { declared: [{ a: { b: 2 } }], live: [{}, []] },
      ['c.0.a: none → {"b":2}'],
    ],
    ['nothing live at all', { declared: [{ a: 1 }], live: null }, ['c.0.a: none → 1']],
    ['an object alone', { declared: { a: 1 }, live: [{ a: 2 }, []] }, ['c.0.a: 2 → 1']],
    [
      'what holds nothing',
      { declared: [{ a: {}, b: [], c: null, d: { e: {} } }], live: [{}, []] },
      [],
    ],
    [
      'an object where a value is',
      { declared: [{ a: { b: 1 } }], live: [{ a: 'x' }, []] },
      ['c.0.a: "x" → {"b":1}'],
    ],
    [
      'a list in another order',
      { declared: [{ a: [1, 2] }], live: [{ a: [2, 1] }, []] },
      ['c.0.a: [2,1] → [1,2]'],
    ],
    [
      'a list whose item has one member more',
      { declared: [{ a: [{ b: 1 }] }], live: [{ a: [{ b: 1, c: 2 }] }, []] },
      ['c.0.a: [{"b":1,"c":2}] → [{"b":1}]'],
    ],
    [
      'a text as the service escapes it',
      { declared: [{ a: "O'Brien & Sons" }], live: [{ a: 'O&#39;Brien &amp; Sons' }, []] },
      [],
    ],
    [
      'a number that no double holds',
      { declared: [{ a: '9007199254740993' }], live: [{ a: exact }, []] },
      [],
    ],
    [
      'another one',
      { declared: [{ a: '9007199254740992' }], live: [{ a: exact }, []] },
      ['c.0.a: "9007199254740993" → "9007199254740992"'],
    ],
    [
      'a literal where the live value is a mask, which is an error by itself',
      { declared: [{ p: 'x', q: [1, 'y'] }], live: [{ p: '*', q: [1, '**'] }, []] },
      [],
    ],
    ['a secret that was sent', { declared: [{ p: secret() }], live: [{ p: '*' }, []] }, []],
    [
      'a secret behind several asterisks',
      { declared: [{ p: secret() }], live: [{ p: '********' }, []] },
      [],
    ],
    [
      'a secret to be sent',
      { declared: [{ p: secret() }], live: [{ p: '*' }, []], resend: true },
      ['c.0.p: "*" → "(sensitive)"'],
    ],
    [
      'a secret that is gone',
      { declared: [{ p: secret() }], live: [{}, []] },
      ['c.0.p: none → "(sensitive)"'],
    ],
    [
      'a secret that the service shows',
      { declared: [{ p: secret() }], live: [{ p: 'clear' }, []], resend: true },
      ['c.0.p: "*" → "(sensitive)"'],
    ],
    [
      'a secret in a list that was sent',
      { declared: [{ l: [{ p: secret() }] }], live: [{ l: [{ p: 'clear' }] }, []] },
      [],
    ],
    [
      'a secret in a list to be sent',
      { declared: [{ l: [{ p: secret() }] }], live: [{ l: [{ p: 'clear' }] }, []], resend: true },
      ['c.0.l: [{"p":"*"}] → [{"p":"(sensitive)"}]'],
    ],
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
      ['c.0.l: [{"n":"b","p":"*"},{"n":"a","p":"*"}] → [{"n":"a","p":"(sensitive)"}]'],
    ],
    [
      'a secret as the state holds it, in another order',
      {
        declared: [{ l: [{ n: 'a', p: '*' }] }],
        live: [{ l: [{ n: 'b' }, { n: 'a', p: 'clear' }] }, []],
      },
      ['c.0.l: [{"n":"b"},{"n":"a","p":"*"}] → [{"n":"a","p":"*"}]'],
    ],
    [
      'a literal in a list whose secrets read back masked',
      { declared: [{ l: ['y', secret()] }], live: [{ l: ['x', '*'] }, []] },
      ['c.0.l: ["x","*"] → ["y","(sensitive)"]'],
    ],
    [
      'the same where it changed outside',
      {
        declared: [{ l: ['y', secret()] }],
        live: [{ l: ['x', '*'] }, []],
        prior: [{ l: ['y', '*'] }],
      },
      ['c.0.l: ["x","*"] → ["y","(sensitive)"] (drifted)'],
    ],
    [
      'a list that shows one of two secrets',
      { declared: [{ l: [secret(), secret()] }], live: [{ l: ['clear', '*'] }, []], resend: true },
      ['c.0.l: ["*","*"] → ["(sensitive)","(sensitive)"]'],
    ],
    [
      'a secret deep in a list',
      {
        declared: [{ l: [{ n: 1 }, { q: { p: [secret()] } }] }],
        live: [{ l: [{ q: { p: ['clear', 'clearer'] } }, { q: { p: [] } }] }, []],
      },
      ['c.0.l: [{"q":{"p":["*","*"]}},{"q":{"p":[]}}] → [{"n":1},{"q":{"p":["(sensitive)"]}}]'],
    ],
    [
      'a member declared null that is live',
      { declared: [{ a: { b: null } }], live: [{ a: { b: { c: 1 }, d: 1 } }, []] },
      ['c.0.a.b: {"c":1} → none'],
    ],
    [
      'a member declared null that is not there',
      { declared: [{ a: { b: null }, x: null }], live: [{ a: {} }, []] },
      [],
    ],
    ['a member declared null in nothing', { declared: [{ a: { b: null } }], live: [{}, []] }, []],
    [
      'a section declared null',
      { declared: [{ a: null }], live: [{ a: { b: 1 }, c: 1 }, []] },
      ['c.0.a: {"b":1} → none'],
    ],
    [
      'a member declared null that is inherited',
      { declared: [{ constructor: null, a: { toString: null } }], live: [{ a: {} }, []] },
      [],
    ],
    [
      'a key with a dot',
      { declared: [{ a: { '10.0.0.1': 1 } }], live: [{ a: { '10.0.0.1': 2, other: 3 } }, []] },
      ['c.0.a: {"10.0.0.1":2} → {"10.0.0.1":1}'],
    ],
    [
      'a live null for a member declared null, beside and below keys with dots',
      {
        declared: [{ b: { c: null, x: 1 }, n: null, 'k.k': { d: null, y: { e: null } } }],
        live: [{ b: { c: null, x: 1 }, n: null, 'k.k': { d: null, y: { e: null } } }, []],
      },
      [],
    ],
    [
      'removed defaults nobody listed',
      { declared: [{ a: 1 }], live: [{ a: 1 }, [['lan', 'x']]] },
      [],
    ],
    [
      'removed defaults as they are, in another order and spelling',
      { declared: [{}, ['lan.0', ['wan']]], live: [{}, [['wan'], ['lan', 0]]] },
      [],
    ],
    [
      'removed defaults that are others',
      { declared: [{}, [['lan']]], live: [{}, [['wan']]] },
      ['c.1: [["wan"]] → [["lan"]]'],
    ],
    [
      'no removed defaults any more',
      { declared: [{ a: 1 }, []], live: [{ a: 1 }, [['wan']]] },
      ['c.1: [["wan"]] → []'],
    ],
    [
      'a document that is cleared',
      { declared: [{}, []], live: [{ a: { b: 1 }, d: '*' }, [['wan']]] },
      ['c.0.a: "(not shown)" → none', 'c.0.d: "(not shown)" → none', 'c.1: [["wan"]] → []'],
    ],
    ['a document that is cleared already', { declared: [{}, []], live: [{}, []] }, []],
    [
      'what changed outside',
      { declared: [{ a: 1, b: 1 }], live: [{ a: 2, b: 2 }, []], prior: [{ a: 1, b: 2 }] },
      ['c.0.a: 2 → 1 (drifted)', 'c.0.b: 2 → 1'],
    ],
    [
      'what changed outside, and in the declaration',
      {
        declared: [{ a: 3 }, [['x']]],
        live: [{ a: 2, b: 2 }, [['y']]],
        prior: [{ a: 1, b: 1 }, [['z']]],
      },
      ['c.0.a: 2 → 3 (drifted) (edited)', 'c.1: [["y"]] → [["x"]] (drifted) (edited)'],
    ],
    [
      'a member taken out that came back',
      { declared: [{ a: null }], live: [{ a: 1 }, []], prior: [{ a: null }] },
      ['c.0.a: 1 → none (drifted)'],
    ],
    [
      'removed defaults that changed outside',
      { declared: [{}, [['a']]], live: [{}, []], prior: [{}, [['a']]] },
      ['c.1: [] → [["a"]] (drifted)'],
    ],
  ])('%s', (_, one, expected) => {
    expect(told(one)).toEqual(expected);
  });

  it('counts as changed in the declaration only what was applied', () => {
    const prior = [{ a: { b: 1 }, n: null }];
    const declared = [{ a: { b: 2, c: 2 }, n: 1 }, [['x']]];
    expect(
      changesOf({ declared, live: [{ a: { b: 1 } }, []], prior }).map(({ path, drifted }) => [
        path,
        drifted,
      ]),
    ).toEqual([
      ['c.0.a.b', false],
      ['c.0.a.c', undefined],
      ['c.0.n', false],
      ['c.1', undefined],
    ]);
  });

  it.each<[string, Value, Value, readonly string[]]>([
    [
      'a literal',
      [{ a: { p: 'x', q: 1 } }],
      [{ a: { p: '*', q: 1 } }, []],
      ['configuration.0.a.p'],
    ],
    [
      'a literal inside of what is masked',
      [{ a: { b: { p: 'x' } } }],
      [{ a: '***' }, []],
      ['configuration.0.a.b.p'],
    ],
    [
      'a literal in a list whose items moved',
      [{ l: [{ n: 1 }, { p: 'x' }] }],
      [{ l: [{ p: '*' }] }, []],
      ['configuration.0.l.1.p'],
    ],
    [
      'a literal that is live in clear beside a secret',
      [{ l: ['x', secret()], m: [secret(), { h: 'a', k: secret() }] }],
      [{ l: ['x', '*'], m: ['**', { h: 'a', k: '*' }] }, []],
      [],
    ],
    [
      'a literal that is new beside a secret',
      [{ l: ['y', 'x', secret()], m: ['y', secret()], n: [secret(), { h: 'b', k: secret() }] }],
      [{ l: ['x', '*'], m: ['x', '*'], n: ['*', { h: 'a', k: '*' }] }, []],
      [],
    ],
    [
      'lists of them in a list',
      [{ l: [['x', secret()], { m: ['z', secret()] }, { m: ['y', secret()] }] }],
      [{ l: [['x', '*'], { m: ['w', '*'] }, { m: ['v', '*'] }] }, []],
      [],
    ],
    [
      'more literals than are live in clear, and more masks than secrets',
      [{ l: ['x', 'x'], m: ['x', secret()], n: ['x', 'y', secret()], o: ['y', secret()] }],
      [{ l: ['x', '*'], m: ['*', '*'], n: ['x', '*', '*'], o: ['*', 'x'] }, []],
      ['l.1', 'm.0', 'n.1', 'o.0'].map((path) => `configuration.0.${path}`),
    ],
    [
      'a literal that stands for a secret in another item',
      [
        {
          l: [
            { h: 'a', k: 'y' },
            { h: 'b', k: secret() },
          ],
        },
      ],
      [
        {
          l: [
            { h: 'a', k: 'x' },
            { h: 'b', k: '*' },
          ],
        },
        [],
      ],
      ['configuration.0.l.0.k'],
    ],
    [
      'a secret, a mask or null',
      [{ a: secret(), b: '*', c: null, l: [{ p: secret() }] }],
      [{ a: '*', b: '*', c: '*', l: [{ p: '*' }] }, []],
      [],
    ],
    ['a literal where nothing is masked', [{ a: 'x' }], [{ a: 'y', b: '*' }, []], []],
    [
      'what holds no literal, where the whole of it is masked',
      [{ a: {}, b: [], c: { d: null }, e: { p: secret() }, f: null }],
      [{ a: '*', b: '*', c: '*', e: '*', f: '*' }, []],
      ['a', 'b', 'c', 'e'].map((name) => `configuration.0.${name}`),
    ],
    [
      'what holds no literal, where something in it is masked',
      [{ a: {}, c: { p: null }, l: [{ p: secret() }, secret()] }],
      [{ a: { p: '*' }, c: { p: '*' }, l: [{ p: '*' }, '*'] }, []],
      [],
    ],
  ])('literals that nobody can compare: %s', (_, declared, live, expected) => {
    expect(
      literalsAtMasks(
        kindOf('configuration_managers'),
        { configuration: declared },
        { configuration: live },
      ),
    ).toEqual(expected);
  });
});

describe('what is sent', () => {
  it.each<[string, Value, Value, string]>([
    [
      'everything that is live with what is declared in it',
      [{ a: { b: 1 } }],
      [{ a: { b: 0, c: 2 }, d: [3] }, [['x']]],
      '[{"a":{"b":1,"c":2},"d":[3]},[["x"]]]',
    ],
    [
      'without members declared null',
      [{ a: { b: null }, d: null }],
      [{ a: { b: 0, c: 2 }, d: [3] }, []],
      '[{"a":{"c":2}},[]]',
    ],
    [
      'with the removed defaults that are listed, as they are spelled live',
      [{}, ['x.0', 'y.z']],
      [{ a: 1 }, [['x', 0], ['w']]],
      '[{"a":1},[["x",0],["y","z"]]]',
    ],
    [
      'with secrets, also those that are unchanged',
      [{ p: secret() }],
      [{ p: '*', q: 1 }, []],
      '[{"p":"(sensitive)","q":1},[]]',
    ],
    [
      'with new sections, without nulls inside',
      [{ a: { b: null, c: { d: 1 } } }],
      [{}, []],
      '[{"a":{"c":{"d":1}}},[]]',
    ],
    ['nothing where it is cleared', [{}, []], [{ a: '*' }, [['x']]], '[{},[]]'],
    [
      'a number with all its digits',
      [{ a: 1 }],
      [{ b: exact }, []],
      '[{"b":9007199254740993,"a":1},[]]',
    ],
  ])('by PUT: %s', (_, declared, live, body) => {
    expect(wireText(wholeDocument(declared, live))).toBe(body);
  });

  it('by PUT masks would travel, but for those that are declared, taken out or cleared', () => {
    const live: Value = [{ a: { p: '*' }, b: '**', l: [{ q: '*' }], c: 1 }, []];
    expect(travellingMasks([{ c: 2 }], live)).toEqual(['0.a.p', '0.b', '0.l.0.q']);
    expect(travellingMasks([{ a: { p: secret() }, b: null, l: [{ q: secret() }] }], live)).toEqual(
      [],
    );
    expect(travellingMasks([{}, []], live)).toEqual([]);
  });

  it.each<[string, Value, readonly string[]]>([
    ['by a list without it', { l: [{ n: 1 }, { n: 3 }] }, ['0.l.0.p\\.q']],
    ['by a list with a secret at another place', { l: [{}, { 'p.q': secret() }] }, ['0.l.0.p\\.q']],
    ['by an empty list', { l: [] }, ['0.l.0.p\\.q']],
    ['by an object', { l: { n: 1 } }, ['0.l.0.p\\.q']],
    ['by a list with a secret at its place', { l: [{ 'p.q': secret() }] }, []],
    ['by nothing', { l: null }, []],
  ])('a mask in a list that is replaced %s', (_, declared, paths) => {
    const live: Value = [{ l: [{ n: 1, 'p.q': '*' }, { n: 2 }] }, []];
    expect(travellingMasks([declared], live)).toEqual(paths);
    expect(travellingMasks([declared], live, true)).toEqual(paths);
  });

  it.each<[string, Value, string]>([
    ['the whole document', '*', '0'],
    ['its members', ['***', [['x']]], '0'],
    ['its removed defaults', [{ a: 1 }, '*'], '1'],
  ])('by PUT a mask that stands for %s would be lost', (_, live, path) => {
    expect(travellingMasks([{ c: 2 }], live)).toEqual([path]);
    expect(travellingMasks([{ c: 2 }, [['y']]], live)).toEqual(path === '1' ? [] : [path]);
    expect(travellingMasks([{}, []], live)).toEqual([]);
  });

  it.each<[string, Value, Value, string | undefined]>([
    [
      'members that differ',
      [{ a: { b: 1, c: 2 }, d: 1 }],
      [{ a: { b: 1, c: 3 }, d: 1, e: '*' }, []],
      '[{"a":{"c":2}}]',
    ],
    [
      'with the id of each object on the way',
      [{ l: { u1: { b: 1 } } }],
      [{ l: { u1: { _id_: 'u1', b: 0 } } }, []],
      '[{"l":{"u1":{"_id_":"u1","b":1}}}]',
    ],
    ['no secret that is unchanged', [{ p: secret(), a: 1 }], [{ p: '*' }, []], '[{"a":1}]'],
    ['not where a member has to go', [{ a: null }], [{ a: 1 }, []], undefined],
    ['not where the removed defaults are others', [{ a: 1 }, [['x']]], [{}, []], undefined],
    ['not to clear', [{}, []], [{ a: 1 }, []], undefined],
  ])('by PATCH: %s', (_, wanted, live, body) => {
    const sent = additions({ path: 'c', wanted, live, resend: () => false });
    expect(sent && wireText(sent)).toBe(body);
  });

  it.each<[string, Value, Value, readonly string[], readonly string[]]>([
    ['all there', [{ a: { b: 1 } }, [['x']]], [{ a: { b: 1 } }, [['x']]], [], []],
    ['a section gone', [{ a: { b: 1 }, d: 1 }, []], [{ d: 1 }, []], ['c.0.a'], []],
    ['a member altered', [{ a: { b: 1 } }, []], [{ a: { b: 2 } }, []], ['c.0.a.b'], []],
    ['an item of a list gone', [{ a: [1, 2] }, []], [{ a: [1] }, []], ['c.0.a'], []],
    ['a removed default gone, another come', [{}, [['x']]], [{}, [['y']]], ['c.1'], ['c.1']],
    ['more than was sent', [{ a: {} }, []], [{ a: { b: 1 }, c: 2 }, []], [], ['c.0.a.b', 'c.0.c']],
    ['a text escaped by the service', [{ a: 'O & B' }, []], [{ a: 'O &amp; B' }, []], [], []],
    ['a text read escaped, shown plain', [{ a: '&lt;' }, []], [{ a: '<' }, []], [], []],
    ['a text escaped once more', [{ a: '&lt;' }, []], [{ a: '&amp;lt;' }, []], ['c.0.a'], []],
    [
      'one in a list',
      [{ a: [{ b: '&lt;' }] }, []],
      [{ a: [{ b: '&amp;lt;' }] }, []],
      ['c.0.a'],
      [],
    ],
    ['a secret behind its mask', [{ p: secret() }, []], [{ p: '*' }, []], [], []],
    ['a secret that is not there', [{ p: secret() }, []], [{}, []], ['c.0.p'], []],
  ])('and found afterwards: %s', (_, sent, live, lost, added) => {
    expect(aftermath('c', sent, live)).toEqual({ lost, added });
  });
});

const keys = fc.constantFrom('a', 'b', 'c', 'p.q');
const { tree: plain } = fc.letrec<{ tree: JsonObject; node: Json }>((tie) => ({
  tree: fc.dictionary(keys, tie('node'), { maxKeys: 3 }),
  node: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ max: 2, min: 0 }),
    fc.constant('x'),
    fc.array(fc.integer({ max: 1, min: 0 }), { maxLength: 2 }),
    tie('tree'),
  ),
}));
const { tree: declaredTrees } = fc.letrec<{ tree: JsonObject; node: Json }>((tie) => ({
  tree: fc.dictionary(keys, tie('node'), { maxKeys: 3 }),
  node: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ max: 2, min: 0 }),
    fc.constant('x'),
    fc.constant(null),
    tie('tree'),
  ),
}));

const managerRecord = (
  id: string,
  router: string,
  configuration: readonly [JsonObject, readonly Json[]],
  more: JsonObject = {},
): JsonObject => ({
  id,
  router,
  account: '1',
  configuration,
  target: configuration,
  actual: configuration,
  version_number: 4,
  ...more,
});
const withManagers = (records: readonly JsonObject[], more: Parameters<typeof rig>[0] = {}): Rig =>
  rig({
    estate: {
      version: 1,
      root: '1',
      records: {
        accounts: [{ id: '1', name: 'Headquarters', account: null }],
        configuration_managers: records,
      },
    },
    ...more,
  });

const cloudOf = (): Rig => rig({ estate: theirs });
const manager = (
  configuration: Value | undefined,
  more: Record<string, Value> = {},
  lifecycle: Declaration['lifecycle'] = {},
): Declaration =>
  declare(
    'configuration_managers.depot',
    { router: '12', ...(configuration === undefined ? {} : { configuration }), ...more },
    { adopt: '30', ...lifecycle },
  );
const withPassword = (value: string): Project =>
  desire(
    manager([
      {
        users: {
          list: [{ name: 'admin', password: secret(value) }],
          'a.b': { psk: secret(value) },
        },
      },
    ]),
  );
const patching = (...declarations: readonly Declaration[]): Project =>
  projectOf(declarations, { configuration_writes: 'patch' });

const sent = (cloud: Rig, verb = 'PUT'): readonly Json[] =>
  cloud.emulator.requests.filter(({ method }) => method === verb).map(({ body }) => body);
const configurationOf = (cloud: Rig): unknown =>
  cloud.objects('configuration_managers')[0]?.['configuration'];

/** Changes the first manager by another client. */
async function byOthers(cloud: Rig, body: JsonObject): Promise<void> {
  const headers = {
    ...dummyCredentials.v2[1],
    accept: 'application/json',
    'content-type': 'application/json',
  };
  const answer = await cloud.emulator.fetch(
    new Request('http://localhost/api/v2/configuration_managers/30/', {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    }),
  );
  expect(answer.status).toBe(200);
}

describe('configuration managers', () => {
  it('are neither made nor guessed: an unknown router is an error', async () => {
    const { plan, exit } = await cloudOf().plan(
      desire(declare('configuration_managers.x', { router: '30', suspended: true })),
    );
    expect([exit, plan.diagnostics.map(({ code, detail }) => [code, detail])]).toEqual([
      1,
      [
        [
          'cannot-create',
          'Create it where such objects are created, or correct router. List what is live: trueup get configuration_managers',
        ],
      ],
    ]);
  });

  const full: JsonObject = {
    wan: { apn: 'canary-apn' },
    vpn: { tunnels: [{ peer: 'canary-peer' }] },
    lan: { mtu: 1400 },
  };
  const loaded = (more: Parameters<typeof rig>[0] = {}): Rig =>
    withManagers([managerRecord('30', '12', [full, [['lan', 'canary-default']]])], more);
  const mtu = (value: number): Project => desire(manager([{ lan: { mtu: value } }]));

  it.each([false, true])(
    'are written whole: the rest of the document travels, and is in no plan, state or report (a server that merges: %s)',
    async (merging) => {
      const cloud = loaded({ behaviours: { merging_configuration: merging } });
      const document = cloud.document(await cloud.plan(mtu(1500)));
      expect(document.resource_changes[0]?.requests).toEqual([
        {
          method: 'PUT',
          path: '/api/v2/configuration_managers/30/',
          body: { configuration: [{ lan: { mtu: 1500 } }] },
          base: { version_number: 4, sha256: digest([full, [['lan', 'canary-default']]]) },
        },
      ]);
      expect(document.resource_changes[0]?.change).toMatchObject({
        before: { configuration: [{ lan: { mtu: 1400 } }] },
        after: { configuration: [{ lan: { mtu: 1500 } }] },
      });
      const rendered = (['text', 'markdown', 'html', 'json'] as const).map((format) =>
        renderPlan(document, format, { color: false, width: 100 }),
      );
      expect(rendered[0]).toContain('configuration.0.lan.mtu  1400 → 1500');
      const seenOnDisk: string[] = [];
      cloud.onMutation = () => void seenOnDisk.push(...cloud.files.contents.values());
      expect(await cloud.apply(mtu(1500))).toMatchObject({ exit: 0, diagnostics: [] });
      expect(
        [
          ...rendered,
          ...seenOnDisk,
          ...cloud.files.contents.values(),
          JSON.stringify(cloud.events),
        ].join('\n'),
      ).not.toContain('canary');
      expect(sent(cloud)).toEqual([
        { configuration: [{ ...full, lan: { mtu: 1500 } }, [['lan', 'canary-default']]] },
      ]);
      expect(configurationOf(cloud)).toEqual([
        { ...full, lan: { mtu: 1500 } },
        [['lan', 'canary-default']],
      ]);
      expect([(await cloud.plan(mtu(1500))).exit, (await cloud.drift(mtu(1500))).drift]).toEqual([
        0,
        [],
      ]);
    },
  );

  it('are written without configuration where only something else changes, whatever is masked in it', async () => {
    const cloud = withManagers([managerRecord('30', '12', [{ ...full, psk: '*' }, []])]);
    expect(
      (await cloud.apply(desire(manager([{ lan: { mtu: 1400 } }], { suspended: true })))).exit,
    ).toBe(0);
    expect(sent(cloud)).toEqual([{ suspended: true }]);
  });

  it('take out members declared null, and keep or replace the list of removed defaults', async () => {
    const cloud = loaded();
    expect((await cloud.apply(desire(manager([{ wan: null, lan: { mtu: null } }])))).exit).toBe(0);
    expect(configurationOf(cloud)).toEqual([
      { vpn: full['vpn'], lan: {} },
      [['lan', 'canary-default']],
    ]);
    expect(
      (await cloud.apply(desire(manager([{ wan: null }, [['lan', 'a'], 'wan.b']])))).exit,
    ).toBe(0);
    expect(configurationOf(cloud)).toEqual([
      { vpn: full['vpn'], lan: {} },
      [
        ['lan', 'a'],
        ['wan', 'b'],
      ],
    ]);
    await byOthers(cloud, { configuration: [{ wan: { apn: 'x' } }, []] });
    const [record] = (await cloud.drift(desire(manager([{ wan: null }, [['lan', 'a'], 'wan.b']]))))
      .drift;
    expect(record?.changes.map(({ path, live }) => [path, live])).toEqual([
      ['configuration.0.wan', { apn: 'x' }],
      ['configuration.1', []],
    ]);
  });

  it('are cleared where that is declared and meant, masks and all', async () => {
    const cloud = withManagers([
      managerRecord('30', '12', [{ ...full, psk: '*' }, [['lan', 'x']]]),
    ]);
    const project = desire(manager([{}, []], {}, { clear: true }));
    const proposal = await cloud.plan(project);
    expect([proposal.exit, JSON.stringify(cloud.document(proposal))]).toEqual([
      2,
      expect.not.stringContaining('canary'),
    ]);
    expect(await cloud.apply(project)).toMatchObject({ exit: 0, diagnostics: [] });
    expect([configurationOf(cloud), (await cloud.plan(project)).exit, sent(cloud)]).toEqual([
      [{}, []],
      0,
      [{ configuration: [{}, []] }],
    ]);
  });

  it('rotate a secret with one PUT, send none that is unchanged, and leave it nowhere', async () => {
    const cloud = cloudOf();
    const puts = async (value: string): Promise<number> => {
      const before = sent(cloud).length;
      expect((await cloud.apply(withPassword(value))).exit).toBe(0);
      return sent(cloud).length - before;
    };
    expect([
      await puts('canary-1'),
      await puts('canary-1'),
      await puts('canary-2'),
      await puts('canary-2'),
    ]).toEqual([1, 0, 1, 0]);
    const proposal = await cloud.plan(withPassword('canary-1'));
    const document = cloud.document(proposal);
    const seen = [
      ...cloud.files.contents.values(),
      JSON.stringify(cloud.events),
      JSON.stringify(document),
      renderPlan(document, 'text', { color: false, width: 100 }),
    ].join('\n');
    expect(seen).not.toContain('canary');
    expect(document.resource_changes[0]?.change.actions).toEqual(['update']);
    expect(
      Object.keys(
        (await cloud.snapshot())?.state.resources['configuration_managers.depot']?.secrets ?? {},
      ).toSorted(),
    ).toEqual(['configuration.0.users.a\\.b.psk', 'configuration.0.users.list.0.password']);
  });

  it.each([
    ['again where it did not', false, 2, { added: 1 }, []],
    ['no more where it did, and say that others were quicker', true, 1, {}, ['changed-meanwhile']],
  ])(
    'without an answer wait until the request can no longer land, and are sent %s',
    async (_, lands, count, added, codes) => {
      let sends = 0;
      const cloud: Rig = loaded({
        intercept: async ({ method }, proceed) => {
          if (method !== 'PUT' || (sends += 1) > 1) return proceed();
          await byOthers(cloud, { configuration: [{ ...full, added: 1 }, []] });
          if (lands) void cloud.clock.sleep(20_000).then(proceed);
          return { status: 504, headers: {}, body: '' };
        },
      });
      const { exit, diagnostics } = await cloud.apply(mtu(1500));
      expect([exit, sends, diagnostics.map(({ code }) => code)]).toEqual([0, count, codes]);
      await cloud.clock.sleep(600_000);
      expect(configurationOf(cloud)).toMatchObject([
        { ...full, lan: { mtu: 1500 }, ...added },
        lands ? [['lan', 'canary-default']] : [],
      ]);
    },
  );

  it.each<[string, (psk: Value) => Value, live: Json, path: string]>([
    ['an object', (psk) => ({ name: 'a', psk }), { name: 'a' }, 'configuration.0.wlan.psk'],
    ['a list', (psk) => [{ name: 'a', psk }], [{ name: 'a' }], 'configuration.0.wlan'],
  ])(
    'are not in sync where a secret in %s is another one than was sent, or is gone',
    async (_, wlan, live, path) => {
      const cloud = cloudOf();
      const project = (value?: string): Project => desire(manager([{ wlan: wlan(secret(value)) }]));
      expect((await cloud.apply(project())).exit).toBe(0);
      const paths = async (value?: string): Promise<unknown> => {
        const { drift, exit } = await cloud.drift(project(value));
        return [exit, drift.map(({ status, changes }) => [status, changes.map((one) => one.path)])];
      };
      const changed = [2, [['changed', [path]]]];
      expect([await paths(), await paths('canary-2')]).toEqual([[0, []], changed]);
      await byOthers(cloud, { configuration: [{ wlan: live }, []] });
      expect(await paths()).toEqual(changed);
    },
  );

  it.each<[string, Value]>([
    ['taken out', [{ snmp: { community: null, of: null } }]],
    ['taken out with all around it', [{ snmp: null }]],
    ['replaced', [{ snmp: { community: 'public', of: [{ key: 1 }] } }]],
    ['replaced with all around it', [{ snmp: 'none' }]],
  ])('show no secret that is %s, though the service does', async (_, then) => {
    let lost = 1;
    const cloud = rig({
      estate: theirs,
      intercept: ({ method, body = '' }, proceed) =>
        method === 'PUT' && !body.includes('canary') && lost-- > 0
          ? Promise.resolve({ status: 500, headers: {}, body: '' })
          : proceed(),
    });
    await cloud.apply(
      desire(manager([{ snmp: { community: secret(), of: [{ key: secret() }] } }])),
    );
    expect(JSON.stringify(cloud.objects('configuration_managers')[0])).toContain('canary');
    const project = desire(manager(then));
    const [proposal, { drift }] = [await cloud.plan(project), await cloud.drift(project)];
    expect(JSON.stringify([cloud.document(proposal), drift])).not.toContain('canary');
    expect(proposal.plan.changes[0]?.action).toBe('update');
    // A write without an answer is sent again: nobody moved what is masked.
    expect([
      (await cloud.apply(project)).exit,
      lost < 1,
      (await cloud.plan(project)).exit,
      (await cloud.drift(project)).drift,
    ]).toEqual([0, true, 0, []]);
    expect(
      JSON.stringify([
        cloud.objects('configuration_managers')[0],
        ...cloud.files.contents.values(),
      ]),
    ).not.toContain('canary');
  });

  it.each<[string, (tree: Value) => Value, (tree: Value) => Value]>([
    ['an object', (tree) => tree, (tree) => tree],
    ['an object, and then a list', (tree) => tree, (tree) => [tree]],
    ['a list, and then an object', (tree) => [tree], (tree) => tree],
  ])('know a secret again that is written in %s', async (_, first, then) => {
    const cloud = cloudOf();
    const tree = { wlan: { psk: secret() } };
    expect((await cloud.apply(desire(manager(first(tree))))).exit).toBe(0);
    expect((await cloud.plan(desire(manager(then(tree))))).exit).toBe(0);
    expect((await cloud.apply(desire(manager(then(tree))))).exit).toBe(0);
    expect(sent(cloud)).toHaveLength(1);
  });

  it.each([
    ['once, and read again', 1, 0],
    ['each time, and not written', 9, 1],
  ])(
    'are not written from a reading that took longer than the settle time: %s',
    async (_, slow, exit) => {
      let [armed, readings] = [false, 0];
      const cloud: Rig = loaded({
        intercept: async ({ method, path }, proceed) => {
          const answer = await proceed();
          if (!armed || method !== 'GET' || !path.includes('configuration_managers')) return answer;
          readings += 1;
          if (readings === 1 || readings > slow + 1) return answer;
          if (readings === 2)
            await byOthers(cloud, { configuration: [{ ...full, added: { by: 'others' } }, []] });
          await cloud.clock.freeze(3_600_000);
          return answer;
        },
      });
      armed = true;
      expect((await cloud.apply(mtu(1500))).exit).toBe(exit);
      expect(JSON.stringify(cloud.objects('configuration_managers')[0])).toContain('others');
    },
  );

  const masked = (): Rig =>
    withManagers(
      [
        managerRecord('30', '12', [
          { ...full, users: [{ name: 'a', password: '*' }], psk: '***' },
          [],
        ]),
      ],
      { behaviours: { patching_configuration: true } },
    );

  it('are blocked where a mask would have to be written back, and nothing allows that', async () => {
    const cloud = masked();
    const { plan, exit } = await cloud.plan(mtu(1500), { allow: ['masked-configuration'] });
    expect([exit, plan.verdicts]).toEqual([
      3,
      [
        {
          rule: 'masked-configuration',
          verdict: 'blocked',
          allowable: false,
          address: 'configuration_managers.depot',
          detail:
            'configuration.0.users.0.password, configuration.0.psk read back masked, and the write would overwrite them; declare them as "${secret.env.NAME}", or, if the service takes PATCH there, set settings.configuration_writes: patch, which sends only what is declared',
        },
      ],
    ]);
    expect((await cloud.apply(mtu(1500), { allow: ['masked-configuration'] })).exit).toBe(3);
    expect(sent(cloud)).toEqual([]);
  });

  it.each<[string, Value]>([
    ['a member', [{ lan: { mtu: null } }]],
    ['a default that was removed', [{ lan: { mtu: 1500 } }, [['lan', 'mtu']]]],
  ])(
    'are blocked without the advice to use PATCH where the change removes %s',
    async (_, document) => {
      const cloud = masked();
      const { plan } = await cloud.plan(desire(manager(document)));
      expect(plan.verdicts.map(({ detail }) => detail)).toEqual([
        'configuration.0.users.0.password, configuration.0.psk read back masked, and the write would overwrite them; declare them as "${secret.env.NAME}"',
      ]);
    },
  );

  it('are blocked without the advice to use PATCH where another change removes something', async () => {
    const cloud = withManagers([
      managerRecord('30', '12', [{ ...full, psk: '***' }, []]),
      managerRecord('31', '13', [{ ...full }, []]),
    ]);
    const other = declare(
      'configuration_managers.other',
      { router: '13', configuration: [{ lan: { mtu: null } }] },
      { adopt: '31' },
    );
    const { plan } = await cloud.plan(desire(manager([{ lan: { mtu: 1500 } }]), other));
    expect(
      plan.verdicts.flatMap(({ rule, detail }) => (rule === 'masked-configuration' ? detail : [])),
    ).toEqual([
      'configuration.0.psk reads back masked, and the write would overwrite it; declare it as "${secret.env.NAME}"',
    ]);
  });

  it('of a group that is created do not show members that are declared null', async () => {
    const configuration = [{ system: { ntp: 'a', desc: null } }, []];
    const cloud = rig();
    const project = desire(declare('groups.g', { name: 'G', account: '1', configuration }));
    const { change, requests } = cloud.document(await cloud.plan(project)).resource_changes[0]!;
    const whole = [{ system: { ntp: 'a' } }, []];
    expect([change.after?.['configuration'], requests[0]?.body]).toEqual([
      whole,
      { account: '1', configuration: whole, name: 'G' },
    ]);
    expect((await cloud.apply(project)).exit).toBe(0);
    expect((await cloud.plan(project)).exit).toBe(0);
  });

  it('show no member that is not sent, because it holds nothing and is not live', async () => {
    const cloud = withManagers([managerRecord('30', '12', [full, []])]);
    const project = desire(manager([{ lan: { mtu: 1500, none: {} }, idle: [] }]));
    const { resource_changes } = cloud.document(await cloud.plan(project));
    expect(resource_changes[0]?.requests[0]?.body).toEqual({
      configuration: [{ lan: { mtu: 1500 } }],
    });
    expect((await cloud.apply(project)).exit).toBe(0);
    const less = await cloud.plan(desire(manager([{ lan: { mtu: 1500 } }])));
    expect([less.exit, less.plan.diagnostics]).toEqual([0, []]);
  });

  it('show the list of removed defaults as it is sent', async () => {
    const [steps, dotted] = [['wan', 'rules', 0], 'lan.dhcp'];
    const sentForm = [
      ['wan', 'rules', '0'],
      ['lan', 'dhcp'],
    ];
    const cloud = withManagers([managerRecord('30', '12', [full, []])]);
    const project = desire(manager([{ lan: { mtu: 1500 } }, [steps, dotted]]));
    const { resource_changes } = cloud.document(await cloud.plan(project));
    expect(resource_changes[0]?.requests[0]?.body).toMatchObject({
      configuration: [{ lan: { mtu: 1500 } }, sentForm],
    });
    expect((await cloud.apply(project)).exit).toBe(0);
    expect(sent(cloud)).toMatchObject([{ configuration: [{ lan: { mtu: 1500 } }, sentForm] }]);
    expect((await cloud.plan(project)).exit).toBe(0);
  });

  it('are written where every mask is declared as a secret', async () => {
    const cloud = masked();
    const project = desire(
      manager([{ lan: { mtu: 1500 }, users: [{ name: 'a', password: secret() }], psk: secret() }]),
    );
    expect((await cloud.apply(project)).exit).toBe(0);
    expect([configurationOf(cloud), (await cloud.plan(project)).exit]).toEqual([
      [{ ...full, lan: { mtu: 1500 }, users: [{ name: 'a', password: '*' }], psk: '*' }, []],
      0,
    ]);
  });

  it('show a PATCH as it is sent, also where it adds what holds nothing', async () => {
    const cloud = masked();
    const project = patching(manager([{ lan: { mtu: 1500, more: { none: {} } } }]));
    const { resource_changes } = cloud.document(await cloud.plan(project));
    expect((await cloud.apply(project)).exit).toBe(0);
    expect(sent(cloud, 'PATCH')).toEqual([resource_changes[0]?.requests[0]?.body]);
  });

  it('are added to by PATCH where the settings say so, and masks do not travel', async () => {
    const cloud = masked();
    const project = patching(manager([{ lan: { mtu: 1500 } }], { suspended: true }));
    expect(cloud.document(await cloud.plan(project)).resource_changes[0]?.requests).toEqual([
      {
        method: 'PATCH',
        path: '/api/v2/configuration_managers/30/',
        body: { configuration: [{ lan: { mtu: 1500 } }], suspended: true },
      },
    ]);
    expect((await cloud.apply(project)).exit).toBe(0);
    expect([sent(cloud), sent(cloud, 'PATCH')]).toEqual([
      [],
      [{ configuration: [{ lan: { mtu: 1500 } }], suspended: true }],
    ]);
    expect([configurationOf(cloud), (await cloud.plan(project)).exit]).toEqual([
      [{ ...full, lan: { mtu: 1500 }, users: [{ name: 'a', password: '*' }], psk: '*' }, []],
      0,
    ]);
    const { plan, exit } = await cloud.plan(patching(manager([{ lan: { mtu: null } }])));
    expect([exit, plan.diagnostics.map(({ code }) => code)]).toEqual([1, ['additions-only']]);
  });

  it.each([false, true])(
    'are blocked where a list that holds a mask would be replaced without it (by PATCH: %s)',
    async (patch) => {
      const cloud = masked();
      const users = (...items: readonly Value[]): Project =>
        projectOf([manager([{ lan: { mtu: 1500 }, users: items, psk: secret() }])], {
          ...(patch && { configuration_writes: 'patch' }),
        });
      const { plan, exit } = await cloud.plan(users({ name: 'a' }, { name: 'c' }));
      expect([exit, plan.verdicts.map(({ rule, detail }) => [rule, detail])]).toEqual([
        3,
        [
          [
            'masked-configuration',
            'configuration.0.users.0.password reads back masked, and the write would overwrite it; declare it as "${secret.env.NAME}"',
          ],
        ],
      ]);
      const project = users({ name: 'a', password: secret() }, { name: 'c' });
      expect((await cloud.apply(project)).exit).toBe(0);
      expect((await cloud.plan(project)).exit).toBe(0);
    },
  );

  it.each([
    [1400, [], ['configuration.0.psk, suspended']],
    [1500, ['masked-configuration'], ['suspended']],
  ])(
    'are not said to stay where the write would overwrite them, with an mtu of %i',
    async (size, rules, paths) => {
      const cloud = loaded();
      const all = manager([{ lan: { mtu: 1400 }, psk: secret() }], { suspended: false });
      expect((await cloud.apply(desire(all))).exit).toBe(0);
      const { plan } = await cloud.plan(desire(manager([{ lan: { mtu: size } }])));
      expect(plan.verdicts.map(({ rule }) => rule)).toEqual(rules);
      expect(plan.diagnostics.map(({ summary }) => summary.split(' of ')[0])).toEqual(paths);
    },
  );

  it('say of a member that nobody can read how to go on', async () => {
    const cloud = loaded({
      intercept: async (_, proceed) => {
        const answer = await proceed();
        return { ...answer, body: answer.body.replace('"lan":', '"__proto__":{"a":1},"lan":') };
      },
    });
    const { plan, exit } = await cloud.plan(mtu(1500));
    const blocked = plan.verdicts.filter(({ verdict }) => verdict === 'blocked');
    expect([exit, blocked.map(({ rule, detail }) => [rule, detail])]).toEqual([
      3,
      [
        [
          'masked-configuration',
          'configuration.0.__proto__ cannot be read, and a PUT would lose it; take this member out of the object by other means, or, if the service takes PATCH there, set settings.configuration_writes: patch, which sends only what is declared',
        ],
      ],
    ]);
  });

  it('say where a literal stands against a mask', async () => {
    const { plan, exit } = await masked().plan(
      desire(manager([{ lan: { mtu: 1500 }, psk: 'literal' }])),
    );
    expect([
      exit,
      plan.diagnostics.map(({ code, attribute }) => [code, attribute]),
      plan.diagnostics[0]?.detail,
    ]).toEqual([
      1,
      [['masked-value', 'configuration.0.psk']],
      expect.stringContaining('"${secret.env.NAME}"'),
    ]);
  });

  it.each<[string, Value]>([
    ['an empty object', {}],
    ['an empty list', []],
    ['a member to take out', { old: null }],
  ])('say where %s stands against a mask, and write nothing over it', async (_, psk) => {
    const cloud = withManagers([managerRecord('30', '12', [{ ...full, psk: '*' }, []])]);
    const project = desire(manager([{ lan: { mtu: 1500 }, psk }]));
    const { plan, exit } = await cloud.plan(project);
    expect([exit, plan.diagnostics.map(({ code, attribute }) => [code, attribute])]).toEqual([
      1,
      [['masked-value', expect.stringContaining('configuration.0.psk')]],
    ]);
    expect((await cloud.apply(project)).exit).toBe(1);
    expect(sent(cloud)).toEqual([]);
    expect((await cloud.apply(desire(manager([{ psk: null }])))).exit).toBe(0);
    expect(configurationOf(cloud)).toEqual([full, []]);
  });

  it('take a secret whose value is not at hand as unchanged, and need it where something is written', async () => {
    const cloud = cloudOf();
    await cloud.apply(withPassword('canary-1'));
    expect((await cloud.plan(withPassword('canary-1'))).plan.diagnostics).toEqual([]);
    const password = new Secret('env.PASSWORD', () => undefined);
    const blind = (more: JsonObject): Project =>
      desire(manager([{ users: { list: [{ name: 'admin', password }] }, ...more }]));
    const { plan, exit } = await cloud.plan(blind({}));
    expect([exit, plan.diagnostics.map(({ summary }) => summary)]).toEqual([
      0,
      [
        expect.stringMatching(/^The secret of .* is not available here/),
        'configuration.0.users.a\\.b of configuration_managers.depot is no longer declared.',
      ],
    ]);
    const refused = await cloud
      .apply(blind({ open: true }))
      .catch((error: unknown) => (error as Refusal).diagnostics.map(({ code }) => code));
    expect(refused).toEqual(['secret-missing']);
  });

  it('drift by member, in the words of the document, whatever others do beside', async () => {
    const cloud = loaded();
    const project = desire(
      manager([
        { lan: { mtu: 1500 }, users: { list: [{ name: 'admin', password: secret() }] }, vpn: null },
      ]),
    );
    await cloud.apply(project);
    expect((await cloud.drift(project)).drift).toEqual([]);
    await byOthers(cloud, {
      configuration: [
        {
          lan: { mtu: 9000, dhcp: true },
          users: { list: [{ name: 'admin', password: 'x' }] },
          vpn: { tunnels: [] },
          others: 1,
        },
      ],
    });
    const [record] = (await cloud.drift(project)).drift;
    expect([record?.status, record?.changes]).toEqual([
      'changed',
      [
        { path: 'configuration.0.lan.mtu', declared: 1500, applied: 1500, live: 9000 },
        { path: 'configuration.0.vpn', declared: null, applied: null, live: { tunnels: [] } },
      ],
    ]);
    expect((await cloud.apply(project)).exit).toBe(0);
    expect(configurationOf(cloud)).toEqual([
      {
        lan: { mtu: 1500, dhcp: true },
        users: { list: [{ name: 'admin', password: '*' }] },
        others: 1,
      },
      [],
    ]);
  });

  it('are let go, and not touched, when they are declared no more', async () => {
    const cloud = cloudOf();
    await cloud.apply(desire(manager([{ lan: { mtu: 1500 } }])));
    const { outcomes } = await cloud.apply(desire(), { allow: ['all-removed'] });
    expect([outcomes.map(({ action, outcome }) => [action, outcome]), sent(cloud).length]).toEqual([
      [['forget', 'done']],
      1,
    ]);
  });

  it.each<[string, JsonObject, string, string | undefined]>([
    ['what is not ours', { wan: { apn: 'new' }, added: 1, lan: { mtu: 1400 } }, 'done', undefined],
    ['what is ours', { ...full, lan: { mtu: 9000 } }, 'failed', 'changed-since-plan'],
    ['what is ours, into what is wanted', { ...full, lan: { mtu: 1500 } }, 'done', undefined],
    ['a mask', { ...full, psk: 'hidden' }, 'failed', 'masked-configuration'],
  ])(
    'are merged onto what is live when they are written, after others changed %s',
    async (_, tree, outcome, code) => {
      const cloud = loaded();
      const approve = async (): Promise<boolean> => {
        await byOthers(cloud, { configuration: [tree, [['new']]] });
        return true;
      };
      const { outcomes, exit } = await cloud.apply(mtu(1500), { approve });
      expect([outcomes.map((one) => [one.outcome, one.diagnostic?.code]), exit]).toEqual([
        [[outcome, code]],
        outcome === 'done' ? 0 : 1,
      ]);
      const mine = outcome === 'done' ? { ...tree, lan: { mtu: 1500 } } : tree;
      expect(JSON.stringify(configurationOf(cloud))).toBe(
        JSON.stringify([Object.hasOwn(mine, 'psk') ? { ...mine, psk: '*' } : mine, [['new']]]),
      );
      expect((await cloud.snapshot())?.pending ?? []).toEqual([]);
    },
  );

  it.each<[string, JsonObject, number | undefined]>([
    ['what is not ours', { wan: { apn: 'new' }, lan: { mtu: 1400 } }, undefined],
    ['what is ours', { ...full, lan: { mtu: 9000 } }, 6],
    ['a mask', { ...full, psk: 'hidden' }, 6],
  ])('are held to a saved plan after others changed %s', async (_, tree, exit) => {
    const cloud = loaded();
    const saved = cloud.document(await cloud.plan(mtu(1500)));
    await byOthers(cloud, { configuration: [tree] });
    const ended = await cloud
      .apply(mtu(1500), { saved })
      .catch((error: unknown) => error as Refusal);
    expect(ended.exit).toBe(exit ?? 0);
    expect(sent(cloud)).toHaveLength(exit === undefined ? 2 : 1);
  });

  /** A server that changes what a PUT brings. */
  const altering = (change: (tree: Record<string, Json>) => unknown): Rig =>
    loaded({
      alter: (body) => {
        const { configuration } = JSON.parse(body) as {
          configuration: [Record<string, Json>, Json];
        };
        change(configuration[0]);
        return JSON.stringify({ configuration });
      },
    });

  it.each<[string, (tree: Record<string, Json>) => unknown, string, RegExp]>([
    [
      'drops a member',
      (tree) => delete tree['wan'],
      'members-lost',
      /gone or altered: configuration\.0\.wan\.$/,
    ],
    [
      'alters a member',
      (tree) => (tree['vpn'] = { tunnels: [] }),
      'members-lost',
      /gone or altered: configuration\.0\.vpn\.tunnels\.$/,
    ],
    [
      'takes something else',
      (tree) => (tree['lan'] = { mtu: 9000 }),
      'not-taken',
      /but configuration\.0\.lan\.mtu is not what was sent\.$/,
    ],
  ])('are compared afterwards: a server that %s', async (_, change, code, summary) => {
    const { outcomes, exit } = await altering(change).apply(mtu(1500));
    expect([exit, outcomes.map((one) => [one.outcome, one.diagnostic?.code])]).toEqual([
      1,
      [['failed', code]],
    ]);
    expect(outcomes[0]?.diagnostic?.summary).toMatch(summary);
    expect(JSON.stringify(outcomes)).not.toContain('canary');
  });

  it.each<[string, (body: JsonObject) => unknown, string]>([
    ['replaces by PATCH', ({ configuration }) => ({ configuration }), 'configuration.0.wan'],
    [
      'takes the removed defaults back',
      () => ({ configuration: [{ ...full, lan: { mtu: 1500 } }, []] }),
      'configuration.1',
    ],
  ])('are compared after a PATCH: a server that %s', async (_, stored, lost) => {
    const cloud: Rig = loaded({
      behaviours: { patching_configuration: true },
      intercept: async ({ method, body = '' }, proceed) => {
        const answer = await proceed();
        if (method === 'PATCH')
          await byOthers(cloud, stored(JSON.parse(body) as JsonObject) as JsonObject);
        return answer;
      },
    });
    const { outcomes, exit } = await cloud.apply(patching(manager([{ lan: { mtu: 1500 } }])));
    expect([exit, outcomes.map((one) => [one.outcome, one.diagnostic?.code])]).toEqual([
      1,
      [['failed', 'members-lost']],
    ]);
    expect(outcomes[0]?.diagnostic?.summary).toContain(lost);
    expect(outcomes[0]?.diagnostic?.detail).toContain('ersion_number went from 4 to 6');
  });

  it('are compared after a PUT without configuration: a server that replaces the whole record', async () => {
    const cloud: Rig = loaded({
      intercept: async ({ method }, proceed) => {
        const answer = await proceed();
        if (method === 'PUT') await byOthers(cloud, { configuration: [{}, []] });
        return answer;
      },
    });
    const { outcomes, exit } = await cloud.apply(desire(manager(undefined, { suspended: true })));
    expect([exit, outcomes.map((one) => one.diagnostic?.code)]).toEqual([1, ['members-lost']]);
  });

  it.each<[string, Json]>([
    ['a third part', [full, [], 'third']],
    ['an object alone', full],
    ['a text', 'on'],
    ['paths that are no list', [full, { lan: 1 }]],
  ])(
    'are not written where the live document has an unknown form: %s',
    async (_, configuration) => {
      const cloud = withManagers([managerRecord('30', '12', configuration as never)]);
      const { outcomes, exit } = await cloud.apply(mtu(1500));
      expect([exit, outcomes.map((one) => one.diagnostic?.code), sent(cloud)]).toEqual([
        1,
        ['unknown-form'],
        [],
      ]);
      expect(configurationOf(cloud)).toEqual(configuration);
    },
  );

  it.each(['put', 'patch'] as const)(
    'are not written where the record lacks the configuration (%s), and are where it is null',
    async (configuration_writes) => {
      let shown = '';
      const cloud = loaded({
        behaviours: { patching_configuration: true },
        intercept: async ({ method }, proceed) => {
          const answer = await proceed();
          return method !== 'GET'
            ? answer
            : { ...answer, body: answer.body.replace(/"configuration":\[.*?\]\],/, shown) };
        },
      });
      const project = projectOf([manager([{ lan: { mtu: 1500 } }])], { configuration_writes });
      const { outcomes, exit } = await cloud.apply(project);
      expect([exit, outcomes.map((one) => one.diagnostic)]).toMatchObject([
        1,
        [
          {
            code: 'unknown-form',
            summary:
              'configuration_managers.depot cannot be written: the live configuration is missing, or is not a list of an object and a list of paths.',
          },
        ],
      ]);
      expect(cloud.mutations()).toEqual([]);
      shown = '"configuration":null,';
      await cloud.apply(project);
      expect(cloud.mutations()).toHaveLength(1);
    },
  );

  it('leave settings of a rule out of the state where a secret is written in them, and notice changes of them', async () => {
    const cloud = cloudOf();
    const rule = (settings: JsonObject): Project =>
      desire(
        declare(
          'alert_rules.locked',
          {
            associated_accounts: ['2'],
            filter_criteria: { alert_type__in: ['account_locked'] },
            email_destinations: ['7'],
            settings,
          },
          { adopt: '22222222-2222-11f0-8000-000000000001' },
        ),
      );
    const project = rule({ api_token: 'canary-settings', every: 5 });
    const seenOnDisk: string[] = [];
    cloud.onMutation = () => void seenOnDisk.push(...cloud.files.contents.values());
    expect((await cloud.apply(project)).exit).toBe(0);
    expect([...seenOnDisk, ...cloud.files.contents.values()].join('\n')).not.toContain('canary');
    expect([(await cloud.plan(project)).exit, (await cloud.drift(project)).drift]).toEqual([0, []]);
    const other = rule({ api_token: 'canary-other', every: 5 });
    expect((await cloud.plan(other)).plan.changes[0]?.action).toBe('update');
  });

  it('leave literals under names of secrets out of the state, and notice changes of them all the same', async () => {
    const cloud = cloudOf();
    const project = desire(
      manager([
        {
          users: { api_key: 'canary-literal', name: 'a' },
          peers: [{ 'auth-token': 'canary-peer', host: 'h' }],
        },
      ]),
    );
    const seenOnDisk: string[] = [];
    cloud.onMutation = () => void seenOnDisk.push(...cloud.files.contents.values());
    expect((await cloud.apply(project)).exit).toBe(0);
    expect([...seenOnDisk, ...cloud.files.contents.values()].join('\n')).not.toContain('canary');
    expect([(await cloud.plan(project)).exit, (await cloud.drift(project)).drift]).toEqual([0, []]);
    await byOthers(cloud, {
      configuration: [
        {
          users: { api_key: 'other', name: 'a' },
          peers: [{ 'auth-token': 'canary-peer', host: 'h' }],
        },
        [],
      ],
    });
    expect((await cloud.plan(project)).plan.changes[0]).toMatchObject({
      action: 'update',
      changes: [{ path: 'configuration.0.users.api_key' }],
    });
    expect((await cloud.drift(project)).drift.map(({ address }) => address)).toEqual([
      'configuration_managers.depot',
    ]);
  });

  it.each([true, false])(
    'count an interrupted write with secrets against the limits if it was carried out: %s',
    async (lands) => {
      const users = (mtu: number): Project =>
        desire(
          manager([
            { lan: { mtu }, wlan: [{ name: 'a', key: secret() }], web: { api_key: 'canary' } },
          ]),
        );
      let killed = false;
      const cloud: Rig = loaded({
        intercept: async ({ method }, proceed) => {
          if (method !== 'PUT' || killed) return proceed();
          killed = true;
          cloud.files.crashAt(0);
          if (lands) await proceed();
          throw new TransportError('reset', { sent: true, code: 'ECONNRESET' });
        },
      });
      await cloud.apply(users(1500)).catch(() => undefined);
      cloud.files.reboot();
      expect([killed, (await cloud.apply(users(1400))).exit]).toEqual([true, 0]);
      expect((await cloud.snapshot())?.state.spent).toHaveLength(lands ? 2 : 1);
      expect([...cloud.files.contents.values()].join('\n')).not.toContain('canary');
    },
  );

  it('are compared afterwards: a server that does not take ours', async () => {
    const { outcomes, exit } = await altering((tree) => (tree['lan'] = { mtu: 1400 })).apply(
      mtu(1500),
    );
    expect([exit, outcomes.map((one) => [one.outcome, one.diagnostic?.code])]).toEqual([
      5,
      [['unknown', 'not-shown']],
    ]);
  });

  it('are compared afterwards: additions and a further version are noted, by path', async () => {
    const added = await altering((tree) => (tree['extra'] = 'canary')).apply(mtu(1500));
    expect([
      added.exit,
      added.diagnostics.map(({ severity, code, summary }) => [severity, code, summary]),
    ]).toEqual([
      0,
      [
        [
          'info',
          'changed-meanwhile',
          'configuration_managers.depot: members that this write did not set are live: configuration.0.extra.',
        ],
      ],
    ]);
    const cloud = loaded();
    let first = true;
    cloud.onMutation = (when) => {
      if (when === 'after' && first) {
        first = false;
        void byOthers(cloud, { suspended: true });
      }
    };
    const moved = await cloud.apply(mtu(1500));
    expect([moved.exit, moved.diagnostics.map(({ summary }) => summary)]).toEqual([
      0,
      [
        'configuration_managers.depot: members that this write did not set are live: suspended.',
        'configuration_managers.depot: version_number went from 4 to 6, and this write accounts for one step: somebody else changed it meanwhile.',
      ],
    ]);
  });

  it.each<[string, JsonObject, string, number]>([
    ['what is not ours', { others: 1, lan: { mtu: 1400 } }, 'done', 2],
    ['what is ours', { lan: { mtu: 9000 } }, 'failed', 1],
  ])(
    'without an answer are sent again, unless others changed ours: %s',
    async (_, tree, outcome, count) => {
      const cloud = loaded();
      cloud.emulator.setFaults([{ name: 'status', value: 503, method: 'PUT', times: 1 }]);
      cloud.onMutation = (when) => {
        if (when !== 'after') return;
        cloud.onMutation = undefined;
        void byOthers(cloud, { configuration: [tree, []] });
      };
      const { outcomes } = await cloud.apply(mtu(1500));
      expect([outcomes.map((one) => one.outcome), sent(cloud).length]).toEqual([
        [outcome],
        count + 1,
      ]);
      expect(configurationOf(cloud)).toEqual([
        outcome === 'done' ? { ...tree, lan: { mtu: 1500 } } : tree,
        [],
      ]);
    },
  );

  it('are exported with their removed defaults and without masks', async () => {
    const cloud = withManagers([
      managerRecord('30', '12', [{ lan: { mtu: 1400 } }, [['lan', 'x']]]),
      managerRecord('31', '7', [
        { system: { system_id: 'theirs', users: { admin: { password: '*' } } } },
        [],
      ]),
      managerRecord('32', '8', [{}, [['wan']]]),
      managerRecord('33', '9', [{}, []]),
    ]);
    const live = cloud.objects('configuration_managers').map((one) => ({
      name: `router-${String(one['router'])}`,
      id: String(one['id']),
      values: one as Record<string, Value>,
    }));
    const text = writeDeclarations(kinds, new Map([['configuration_managers', live]])).get(
      'configuration_managers.yaml',
    );
    expect(text).toBe(`configuration_managers:
  router-12:
    router: "12"
    configuration:
      - lan: { mtu: 1400 }
      - [[lan, x]]
    lifecycle: { adopt: "30" }

  router-7:
    # configuration.0.system.users.admin.password reads back masked and is left out; to manage it, write "\${secret.env.NAME}"
    router: "7"
    configuration:
      - system:
          system_id: theirs
          users:
            admin: {}
    lifecycle: { adopt: "31" }

  router-8:
    router: "8"
    configuration:
      - {}
      - [[wan]]
    lifecycle: { adopt: "32" }

  router-9:
    router: "9"
    lifecycle: { adopt: "33" }
`);
  });
});

describe('laws of writing a configuration', () => {
  it.each([false, true])(
    'what was applied is live, everything else is as it was, and nothing more is to be done (a server that merges: %s)',
    async (merging) => {
      const paths = fc.uniqueArray(
        fc.array(fc.constantFrom('lan', 'wan', '0'), { minLength: 1, maxLength: 2 }),
        { maxLength: 2, selector: String },
      );
      await fc.assert(
        fc.asyncProperty(
          plain,
          declaredTrees,
          paths,
          fc.option(paths, { nil: undefined }),
          async (live, declared, before, removed) => {
            // A server that merges takes nothing out.
            const cleared = removed?.length === 0 && Object.keys(declared).length === 0;
            fc.pre(!merging || (!cleared && !JSON.stringify(declared).includes('null')));
            const record = managerRecord('30', '12', [{ ...live, theirs: { kept: 1 } }, before]);
            const cloud = withManagers([record], {
              behaviours: { merging_configuration: merging },
            });
            const project = desire(
              declare(
                'configuration_managers.x',
                {
                  router: '12',
                  configuration: removed === undefined ? [declared] : [declared, removed],
                },
                { adopt: '30', clear: true },
              ),
            );
            const { outcomes, exit } = await cloud.apply(project);
            expect([exit, outcomes.map((one) => one.outcome)]).toEqual([0, ['done']]);
            expect((await cloud.plan(project)).exit).toBe(0);
            expect((await cloud.drift(project)).drift).toEqual([]);
            const [done] = cloud.objects('configuration_managers') as readonly [
              { readonly configuration: readonly [JsonObject, Json] },
            ];
            const [after, defaults] = done.configuration;
            const sorted = (one: readonly (readonly string[])[]): string =>
              JSON.stringify(one.map(String).toSorted(compareText));
            expect(defaults).toEqual(
              removed !== undefined && sorted(removed) !== sorted(before) ? removed : before,
            );
            expect(isDocumentApplied([declared], [after, []])).toBe(true);
            const rest = (tree: JsonObject): JsonObject =>
              Object.fromEntries(
                Object.entries(tree).filter(([name]) => !Object.hasOwn(declared, name)),
              );
            expect(rest(after)).toEqual(cleared ? {} : { ...rest(live), theirs: { kept: 1 } });
          },
        ),
        { numRuns: drawn(150) },
      );
    },
  );
});
