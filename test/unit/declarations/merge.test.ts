// Documents that are merged, as they are declared: what their form is, that secrets may stand inside, and that nobody
// can refer to what may be secret. What is written of a live one loads, and plans empty.
import { describe, expect, it } from 'vitest';
import { writeDeclarations } from '../../../src/declarations/writing.js';
import {
  ExactNumber,
  Secret,
  type Json,
  type Value,
  type Values,
} from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { rig } from '../../support/rig.js';
import { errors, project } from './project.js';

const file = (configuration: string): string =>
  `configuration_managers:\n  m:\n    router: "12"\n    configuration: ${configuration}\n`;
const declared = async (configuration: string): Promise<Value | undefined> =>
  (await project(file(configuration), { environment: { KEY: 'k', ID: 'x' } })).declarations[0]
    ?.values['configuration'];

describe('a document that is merged', () => {
  it.each<[string, Json]>([
    [
      '[{ a: { b: [1, true, null, { c: d }] } }, [[a, c, 0], "x.y"]]',
      [{ a: { b: [1, true, null, { c: 'd' }] } }, [['a', 'c', 0], 'x.y']],
    ],
    ['[{ a: 1 }]', [{ a: 1 }]],
    ['{ a: yes, b: "${env.ID}", c: "$${x}" }', { a: 'yes', b: 'x', c: '${x}' }],
    ['[{ a: null }, []]', [{ a: null }, []]],
  ])('%s', async (text, value) => {
    expect(JSON.parse(JSON.stringify(await declared(text)))).toEqual(value);
  });

  it.each([
    '[]',
    'text',
    'null',
    '[text]',
    '[{}, {}]',
    '[{}, [], []]',
    '[{}, [[]]]',
    '[{}, [1]]',
    '[{}, [[{ a: 1 }]]]',
  ])('has a form: %s', async (text) => {
    const found = await errors(file(text));
    expect(found.map(({ code }) => code)).toEqual([text === 'null' ? 'null-value' : 'wrong-type']);
    expect(found[0]?.summary).toContain(
      'a list of an object and of the paths removed from the defaults, is expected',
    );
  });

  it('takes secrets anywhere inside, and shows none', async () => {
    const value = await declared(
      '[{ users: [{ password: "${secret.env.KEY}" }], a: { psk: "${secret.env.KEY}" } }]',
    );
    const { users, a } = (
      value as readonly { readonly users: readonly Values[]; readonly a: Values }[]
    )[0] as { readonly users: readonly Values[]; readonly a: Values };
    for (const one of [users[0]?.['password'], a['psk']])
      expect([one instanceof Secret, (one as Secret).reveal()]).toEqual([true, 'k']);
  });

  it.each([
    ['"${secret.env.KEY}"', 'misplaced-secret'],
    ['[{ a: "id ${secret.env.KEY}" }]', 'misplaced-secret'],
    ['[{ a: "${configuration_managers.m.configuration}" }]', 'secret-reference'],
    ['[{ a: "${configuration_managers.m.actual}" }]', 'secret-reference'],
  ])('refuses %s', async (text, code) => {
    expect((await errors(file(text))).map((one) => one.code)).toEqual([code]);
  });

  it('is written without masks, loads as it was written, and plans empty', async () => {
    const tree = {
      'a b': {
        c: ['x', 'y'],
        d: '${x}',
        list: [{ name: 'n', password: '*' }],
        exact: '9007199254740993',
      },
      system: { users: { admin: { password: '********', role: 'a' } } },
      b: { c: null, x: 1 },
      'k.k': { d: [null] },
      gone: null,
    };
    const record = {
      id: '30',
      router: '12',
      account: '1',
      configuration: [tree, [['lan', 'x']]],
      suspended: true,
    };
    const cloud = rig({
      estate: {
        version: 1,
        root: '1',
        records: {
          accounts: [{ id: '1', name: 'Headquarters', account: null }],
          configuration_managers: [record],
        },
      },
    });
    const seen = {
      ...tree,
      'a b': { ...tree['a b'], exact: new ExactNumber('9007199254740993') as unknown as Json },
    };
    const values = {
      ...(cloud.objects('configuration_managers')[0] as Values),
      configuration: [seen, [['lan', 'x']]] as Value,
    };
    const text = writeDeclarations(
      kinds,
      new Map([['configuration_managers', [{ name: 'm', id: '30', values }]]]),
    ).get('configuration_managers.yaml') as string;
    expect(text).toContain('    # configuration.0.a b.list.0.password reads back masked');
    expect(text).toContain('    # configuration.0.system.users.admin.password reads back masked');
    const written = await project(text);
    expect(written.declarations[0]?.values).toEqual({
      router: '12',
      suspended: true,
      configuration: [
        {
          'a b': { c: ['x', 'y'], d: '${x}', exact: '9007199254740993' },
          system: { users: { admin: { role: 'a' } } },
          b: { x: 1 },
          'k.k': { d: [null] },
        },
        [['lan', 'x']],
      ],
    });
    expect((await cloud.plan(written)).exit).toBe(0);
  });

  it('is written so that no name in it ends its comment', () => {
    const values = { router: '12', configuration: [{ 'a\n  evil: { router: "1" }\n#': '*' }, []] };
    const text = writeDeclarations(
      kinds,
      new Map([['configuration_managers', [{ name: 'm', id: '30', values }]]]),
    ).get('configuration_managers.yaml') as string;
    expect(text.split('\n').filter((line) => line.includes('evil'))).toEqual([
      expect.stringMatching(/^ {4}# /),
    ]);
  });
});
