// What `export --format cdktf` writes is a program that says what it was made of, once the templates are undone.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeCdk, type WrittenObject } from '../../../src/declarations/writing.js';
import { ExactNumber, normalAll, type Kind, type Values } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { adopted, documents, estate, hostile } from './estates.js';
import { drawn } from '../../support/drawn.js';

const versions = {
  cdktf: '1',
  cdktn: '2',
  constructs: '3',
  trueup: '4',
  typescript: '5',
  types: '6',
};
const programOf = (live: ReadonlyMap<string, readonly WrittenObject[]>): string =>
  writeCdk(kinds, live, 'cdktf', versions).get('main.ts') as string;

interface Made {
  readonly type: string;
  readonly id: string;
  readonly props: Values;
  readonly imported?: string;
}

/** Runs the program with constructs that only take note of their arguments. */
function made(program: string): readonly Made[] {
  const all: { type: string; id: string; props: Values; imported?: string }[] = [];
  const noting = (type: string) =>
    function (_scope: unknown, id: string, props: Values = {}) {
      const one: (typeof all)[number] = { type, id, props };
      all.push(one);
      return new Proxy(
        {},
        {
          get: (_, name) =>
            name === 'importFrom'
              ? (imported: string) => void (one.imported = imported)
              : `${type}.${id}.${String(name)}`,
        },
      );
    };
  const [, list = ''] = /^import \{ (.*) \} from 'trueup\/cdktf';$/m.exec(program) ?? [];
  const names = list.split(', ');
  const body = program.replaceAll(/^import .*\n/gm, '');
  // oxlint-disable-next-line typescript/no-implied-eval -- a program is run to see what it does
  new Function('App', 'TerraformStack', ...names, body)(
    function () {
      return { synth: () => undefined };
    },
    noting('TerraformStack'),
    ...names.map(noting),
  );
  return all.filter(({ type }) => !['TerraformStack', 'DevicecloudProvider'].includes(type));
}

const undone = (text: string): string => text.replaceAll(/\$(?=\$\{)|%(?=%\{)/g, '');

describe('writeCdk', () => {
  it('writes references as properties, imports, documents and hints for secrets', () => {
    const texts = writeCdk(kinds, estate, 'cdktf', versions);
    expect([...texts.keys()]).toEqual(['main.ts', 'cdktf.json', 'package.json', 'tsconfig.json']);
    expect(texts.get('main.ts')).toMatchInlineSnapshot(`
      "// Written by trueup export. Once the objects are imported, the calls of importFrom may go. Under Terraform, what has
      // createBeforeDestroy is deleted after what names it was changed, from the apply on that follows the import.
      import { App, TerraformStack } from 'cdktf';
      import { Account, AlertPushDestination, AlertRule, DevicecloudProvider } from 'trueup/cdktf';

      const app = new App();
      const stack = new TerraformStack(app, 'estate');

      // Addresses and credentials come from the environment: TRUEUP_V2_URL and the others that trueup doctor names.
      new DevicecloudProvider(stack, 'devicecloud');

      const hq = new Account(stack, 'hq', { name: 'HQ', account: '9', lifecycle: { createBeforeDestroy: true } });
      hq.importFrom('1');

      new Account(stack, 'sub', { name: 'Sub: "a"', account: hq.id, isDisabled: true, lifecycle: { createBeforeDestroy: true } }).importFrom('2');

      // suspended since: yesterday
      // authentication.secret reads back masked and is left out; to manage it, write authentication.secretWo, a sensitive TerraformVariable, and authentication.secretWoVersion
      const pager = new AlertPushDestination(stack, 'pager', { name: 'yes', enabled: false, endpoint: { url: 'https://x.example/' }, lifecycle: { createBeforeDestroy: true } });
      pager.importFrom('d-1');

      new AlertRule(stack, 'r', {
        associatedAccounts: [hq.id, '7'],
        filterCriteria: { alertTypeIn: [] },
        httpDestinations: [pager.destinationConfigId],
        settings: { a: { b: [1, { c: '$\${x}' }] } },
      }).importFrom('r-1');

      app.synth();
      "
    `);
    expect(texts.get('package.json')).toContain('"cdktf": "1"');
    expect(writeCdk(kinds, estate, 'cdktn', versions).get('main.ts')).toBe(
      texts.get('main.ts')?.replaceAll('cdktf', 'cdktn'),
    );
  });

  it('tells constructs of one name apart', () => {
    expect(made(programOf(adopted)).map(({ type, id, imported }) => [type, id, imported])).toEqual([
      ['Account', 'hq', '1'],
      ['AlertPushDestination', 'hq-alert-push-destination', 'd-1'],
      ['AccountAuthorization', 'ada', '5'],
      ['ConfigurationManager', 'gate', '6'],
    ]);
    const [one] = made(
      programOf(
        new Map([
          [
            'accounts',
            [
              { name: 'new', id: '1', values: { name: 'a', account: '2' } },
              { name: 'app', id: '2', values: { name: 'b', account: '1' } },
            ],
          ],
        ]),
      ),
    );
    expect(one?.props).toEqual({
      name: 'b',
      account: '1',
      lifecycle: { createBeforeDestroy: true },
    });
  });

  it('gives nothing an id that no scope of the library can hold', () => {
    const [one] = made(
      programOf(new Map([['accounts', [{ name: 'constructor', id: '1', values: { name: 'c' } }]]])),
    );
    expect(one?.id).toBe('constructor-account');
  });

  it('makes what is referred to first, and one constant a name', () => {
    const account = (id: string, name: string, parent?: string): WrittenObject => ({
      id,
      name,
      values: { name, ...(parent !== undefined && { account: parent }) },
    });
    const live = new Map([
      [
        'accounts',
        [
          account('1', 'leaf', '2'),
          account('2', 'a-1', '3'),
          account('3', 'a1'),
          account('4', 'other', '3'),
        ],
      ],
    ]);
    expect(made(programOf(live)).map(({ id, props }) => [id, props['account']])).toEqual([
      ['a1', undefined],
      ['a-1', 'Account.a1.id'],
      ['leaf', 'Account.a-1.id'],
      ['other', 'Account.a1.id'],
    ]);
  });

  it('keeps the digits of numbers beyond a double', () => {
    const settings = { a: new ExactNumber('12345678901234567890') } as unknown as Values;
    const [rule] = made(
      programOf(new Map([['alert_rules', [{ name: 'r', values: { settings } }]]])),
    );
    expect(rule?.props['settings']).toBe('{"a":12345678901234567890}');
  });

  it('writes nothing of nothing', () => {
    expect(writeCdk(kinds, new Map([['accounts', []]]), 'cdktf', versions).size).toBe(0);
  });

  it('writes any name and any document so that the program says them', () => {
    fc.assert(
      fc.property(
        hostile,
        documents,
        fc.array(hostile, { maxLength: 3 }),
        (text, settings, comments) => {
          const name = text.replaceAll(/\p{Cs}/gu, '?');
          const program = programOf(
            new Map<string, readonly WrittenObject[]>([
              ['alert_push_destinations', [{ name: 'd', id: name, values: { name }, comments }]],
              ['alert_rules', [{ name: 'r', values: { associated_groups: ['1'], settings } }]],
            ]),
          );
          expect(program.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
          const [destination, rule] = made(program);
          expect(undone(destination?.props['name'] as string)).toBe(name);
          expect(undone(destination?.imported as string)).toBe(name);
          const document: unknown = JSON.parse(
            undone(JSON.stringify(rule?.props['settings'] ?? {})),
          );
          expect(document).toEqual(
            normalAll((kinds.get('alert_rules') as Kind).attributes, { settings })['settings'],
          );
        },
      ),
      { numRuns: drawn(300) },
    );
  });

  it('says which imports have to stay, and names no constant like a global', () => {
    const twin = { associated_groups: ['1'] };
    const program = programOf(
      new Map<string, readonly WrittenObject[]>([
        [
          'accounts',
          [
            { name: 'undefined', id: '1', values: { name: 'undefined' } },
            { name: 'global-this', id: '2', values: { name: 'Global this', account: '1' } },
            { name: 'leaf', id: '3', values: { name: 'Leaf', account: '2' } },
          ],
        ],
        ['alert_rules', ['7', '8'].map((id) => ({ name: `r${id}`, id, values: twin }))],
      ]),
    );
    expect(program.match(/const \w+/g)).toEqual([
      'const app',
      'const stack',
      'const undefinedAccount',
      'const globalThisAccount',
    ]);
    expect(
      program.match(
        /\/\/ Nothing but its identifier tells it from another: importFrom has to stay\nnew AlertRule\(stack, '\w+'/g,
      ),
    ).toHaveLength(2);
  });
});
