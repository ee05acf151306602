// Which recorded objects a file mentions, whatever the values of its variables are.
import { describe, expect, it } from 'vitest';
import { mentionsIn } from '../../../src/declarations/index.js';
import type { RemovedObject } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { DENIED, disk } from './project.js';

const DEPOT: RemovedObject = {
  addresses: ['accounts.depot'],
  kind: 'accounts',
  id: '1042',
  file: 'a.yaml',
};
const MEMBER = { ...DEPOT, addresses: ['accounts.site-main["k"]'] };

const mentioned = async (
  text: string,
  object: Partial<RemovedObject> = {},
  { file = 'b.yaml', adopts = true } = {},
): Promise<string | undefined> => {
  const files = disk({ [file]: text });
  const find = await mentionsIn({ files, kinds, cwd: '/project', adopts }, file);
  const mention = find({ ...DEPOT, ...object });
  expect(mention?.file).toBe(mention && file);
  return mention?.why;
};
const declaring = (lifecycle: string, more = ''): string =>
  `accounts: { hall: { name: Hall, ${more}lifecycle: ${lifecycle} } }\n`;
const stack = (tree: object): string => JSON.stringify(tree);
const inStack = (names: object): string => stack({ resource: { devicecloud_account: names } });

describe('an object', () => {
  it.each<[is: string, text: string, why: string | undefined, object?: Partial<RemovedObject>]>([
    ['is declared', 'accounts: { depot: { name: D } }', 'declares it'],
    ['is declared with an error', 'accounts: { depot: { nme: D } }', 'declares it'],
    [
      'is declared in a second document',
      'accounts: {}\n---\naccounts: { depot: {} }',
      'declares it',
    ],
    ['has the name of another kind', 'users: { depot: { name: D } }', undefined],
    ['has a name that another one begins with', 'accounts: { depot-2: { name: D } }', undefined],
    [
      'is a member',
      'accounts: { site-main: { for_each: "${var.s}", name: "${each.key}" } }',
      'declares it',
      MEMBER,
    ],
    [
      'may be made from a template',
      'use: { site: { template: t } }',
      'uses a template under the name site, and may declare it',
      MEMBER,
    ],
    ['has a name that a use does not begin', 'use: { sit: { template: u } }', undefined, MEMBER],
    ['has the whole name of a use', 'use: { site-main: { template: u } }', undefined, MEMBER],
    [
      'is moved',
      'moved: [{ from: accounts.depot, to: accounts.hall }]',
      'holds a moved block that names it',
    ],
    [
      'is moved on from where the PATHs moved it',
      'moved: [{ from: accounts.hall, to: accounts.b }]',
      'holds a moved block that names it',
      { addresses: ['accounts.depot', 'accounts.hall'] },
    ],
    [
      'is where another one is moved',
      'moved: [{ from: accounts.x, to: accounts.depot }]',
      'holds a moved block that names it',
    ],
    [
      'is where another one is imported',
      'import: [{ to: accounts.depot, id: "99" }]',
      'holds an import block that names it',
    ],
    [
      'may be where another one is imported',
      'import: [{ to: "accounts.${var.x}", id: "99" }]',
      undefined,
    ],
    [
      'is moved with its whole name',
      'moved: [{ from: accounts.site-main, to: accounts.hall }]',
      'holds a moved block that names it',
      MEMBER,
    ],
    [
      'is moved by its key',
      `moved: [{ from: 'accounts.site-main["\\u006b"]', to: accounts.hall }]`,
      'holds a moved block that names it',
      MEMBER,
    ],
    [
      'is another member than is moved',
      `moved: [{ from: 'accounts.site-main["q"]', to: accounts.hall }]`,
      undefined,
      MEMBER,
    ],
    [
      'may be what an expression names',
      'moved: [{ from: "accounts.${var.old}", to: accounts.hall }]',
      'holds a moved block that may name it',
    ],
    [
      'is of another kind than an expression names',
      'moved: [{ from: "users.${var.old}", to: users.hall }]',
      undefined,
    ],
    [
      'does not end as an expression does',
      'moved: [{ from: "accounts.${var.old}-2", to: accounts.hall }]',
      undefined,
    ],
    [
      'is in a block with another word for `from`',
      'moved: [{ form: accounts.depot, to: accounts.hall }]',
      'holds a moved block that names it',
    ],
    [
      'is moved by its name alone',
      'moved: [{ from: depot, to: hall }]',
      'holds a moved block that names it',
    ],
    [
      'is moved with a typo in its kind',
      'moved: [{ from: account.depot, to: accounts.hall }]',
      'holds a moved block that names it',
    ],
    [
      'is moved with blanks',
      'moved: [{ from: " accounts.depot ", to: accounts.hall }]',
      'holds a moved block that names it',
    ],
    [
      'is forgotten with a typo',
      'removed: [{ from: accounts.depot, lifecycle: { destroy: true, destory: false } }]',
      'holds a removed block that names it',
    ],
    [
      'is removed there with no lifecycle of its own',
      'removed: [{ from: accounts.depot, lifecycle: {} }]',
      undefined,
    ],
    [
      'is forgotten',
      'removed: [{ from: accounts.depot, lifecycle: { destroy: false } }]',
      'holds a removed block that names it',
    ],
    [
      'may be forgotten',
      'removed: [{ from: accounts.depot, lifecycle: { destroy: "${var.d}" } }]',
      'holds a removed block that names it',
    ],
    [
      'is removed there, too',
      'removed: [{ from: accounts.depot, lifecycle: { destroy: true } }, { from: accounts.depot }]',
      undefined,
    ],
    [
      'is imported by its id',
      'import: [{ to: accounts.hall, id: 1042 }]',
      'holds an import block that names it',
    ],
    [
      'may be imported by an id in a for_each',
      'import: [{ for_each: { a: "1042" }, to: "accounts.${each.key}", id: "${each.value}" }]',
      'holds an import block that names it',
    ],
    [
      'has an id that an expression may mean in an import',
      'import: [{ to: accounts.hall, id: "${var.id}" }]',
      undefined,
    ],
    [
      'is imported with a typo in the kind',
      'import: [{ to: account.hall, id: "1042" }]',
      'holds an import block that names it',
    ],
    ['is not imported as another kind', 'import: [{ to: users.hall, id: "1042" }]', undefined],
    [
      'is in a block of another program',
      'removed: [depot]\nimport: [1042]\nuse: { x: {} }',
      undefined,
    ],
    [
      'is in a block that is a text',
      'moved: ["accounts.depot to accounts.hall"]',
      'holds a moved block that names it',
    ],
    ['is adopted', declaring('{ adopt: "1042" }'), 'may adopt the same object'],
    ['is adopted by a number', declaring('{ adopt: 1042 }'), 'may adopt the same object'],
    [
      'is adopted by its path',
      declaring('{ adopt: /accounts/1042/ }'),
      'may adopt the same object',
    ],
    [
      'is adopted by a member',
      declaring('{ adopt: "${each.value}" }', 'for_each: { k: "1042" }, '),
      'may adopt the same object',
    ],
    [
      'is none of the members that are adopted',
      declaring('{ adopt: "${each.value}" }', 'for_each: { k: "7" }, '),
      undefined,
    ],
    ['has the key of a member', declaring('{}', 'for_each: ["1042"], '), undefined],
    [
      'is adopted by default in a template',
      'templates: { t: { parameters: { properties: { id: { default: "1042" } } }, accounts: { m: { lifecycle: { adopt: "${param.id}" } } } } }',
      'may adopt the same object',
    ],
    [
      'is adopted by the value of a variable of the file',
      `${declaring('{ adopt: "${var.i}" }')}variables: { i: "1042" }`,
      'may adopt the same object',
    ],
    ['has an id that an expression may mean', declaring('{ adopt: "${var.id}" }'), undefined],
    ['has the id of another kind', 'users: { x: { lifecycle: { adopt: 1042 } } }', undefined],
    ['is renamed', declaring('{ renamed_from: depot }'), 'declares it under another name'],
    [
      'is renamed with a typo',
      declaring('{ renamedfrom: depot }'),
      'declares it under another name',
    ],
    [
      'may be renamed',
      declaring('{ renamed_from: "${var.o}" }'),
      'may declare it under another name',
    ],
    [
      'is renamed by its address',
      declaring('{ renamed_from: accounts.depot }'),
      'declares it under another name',
    ],
    ['is not what was renamed', declaring('{ renamed_from: kiosk }'), undefined],
    [
      'is adopted by a template',
      'templates: { t: { accounts: { m: { name: M, lifecycle: { adopt: "1042" } } } } }',
      'may adopt the same object',
    ],
    [
      'is given to a template',
      'use: { w: { template: t, with: { id: "1042" } } }',
      'may adopt the same object',
    ],
    [
      'is the key of a member',
      'use: { w: { template: t, for_each: { "1042": x }, with: { id: "${each.key}" } } }',
      'may adopt the same object',
    ],
    [
      'is given to a template in a template',
      'templates: { u: { use: { w: { template: t, with: { id: "1042" } } } } }',
      'may adopt the same object',
    ],
    [
      'has a key with a dollar sign',
      `moved: [{ from: 'accounts.site-main["a$$\{b"]', to: accounts.hall }]`,
      'holds a moved block that names it',
      { addresses: ['accounts.site-main["a${b"]'] },
    ],
    [
      'has a name that a template had for one of its objects',
      'templates: { t: { accounts: { m: { name: M, lifecycle: { renamed_from: depot } } } } }',
      undefined,
    ],
    ['is referred to', 'accounts: { x: { account: "${accounts.depot.id}" } }', 'refers to it'],
    [
      'is waited for',
      'accounts: { x: { name: X, lifecycle: { depends_on: [accounts.depot] } } }',
      'refers to it',
    ],
    [
      'is not what is referred to',
      'accounts: { x: { account: "${accounts.depot-2.id}" } }',
      undefined,
    ],
    [
      'is the member that is referred to',
      `accounts: { x: { account: '\${accounts.site-main["k"].id}' } }`,
      'refers to it',
      MEMBER,
    ],
    [
      'is a member that is referred to with blanks',
      `accounts: { x: { account: '\${accounts.site-main[ "k" ].id}' } }`,
      'refers to it',
      MEMBER,
    ],
    [
      'is a member with a bracket in its key that is referred to',
      `accounts: { x: { account: '\${accounts.site-main["a]k"].id}' } }`,
      'refers to it',
      { addresses: ['accounts.site-main["a]k"]'] },
    ],
    [
      'is another member than is referred to',
      `accounts: { x: { account: '\${accounts.site-main["q"].id}' }, y: { account: '\${accounts.site-main[each.key].id}' } }`,
      undefined,
      MEMBER,
    ],
    [
      'has a name that a template refers to and has',
      'templates: { t: { accounts: { depot: { name: D }, x: { account: "${accounts.depot.id}" } } } }',
      undefined,
    ],
    [
      'is referred to in a template',
      'templates: { t: { accounts: { x: { account: "${accounts.depot.id}" } } } }',
      'refers to it',
    ],
    [
      'is in a text without an expression',
      'accounts: { x: { name: "accounts.depot, $${accounts.depot.id}" } }',
      undefined,
    ],
    ['is in a comment', '# accounts.depot\naccounts: { x: { name: X } }', undefined],
    ['is in a file of another program', 'jobs: { depot: { runs-on: x } }', undefined],
  ])('%s', async (_, text, why, object) => {
    expect(await mentioned(text, object)).toBe(why);
  });

  it('is not adopted by its id in a use if nothing in the project adopts', async () => {
    const use = 'use: { w: { template: t, with: { seats: 1042 } } }';
    expect(await mentioned(use, {}, { adopts: false })).toBeUndefined();
  });

  it.each<[is: string, text: string, isFound: boolean, object?: Partial<RemovedObject>]>([
    ['in a section with a typo', 'accouts: { depot: { name: D } }\nsettings: {}', true],
    ['in a section of another name', 'shops: { depot: { name: D } }\nsettings: {}', true],
    ['in a list', 'accounts: [{ depot: { name: D } }]', true],
    ['too deep', 'variables: {}\nall: { accounts: { depot: { name: D } } }', true],
    ['in a block with a typo', 'variables: {}\nmooved: [{ from: accounts.depot }]', true],
    ['by a reference there', 'accouts: { x: { account: "${accounts.depot.id}" } }', true],
    ['by an expression there', 'variables: {}\nrename: [{ from: "accounts.${var.x}" }]', true],
    ['by its former name there', 'accouts: { x: { lifecycle: { renamed_from: depot } } }', true],
    ['by its path there', 'accouts: { x: { lifecycle: { adopt: /accounts/1042/ } } }', true],
    ['by its id there', 'variables: {}\nadopt: { hall: 1042 }', true],
    [
      'by its id in a block with a typo',
      'variables: {}\nimports: [{ to: accounts.x, id: 1042 }]',
      true,
    ],
    ['not by a number of another program', 'variables: {}\nsize: 1042', false],
    ['not by another name', 'shops: { hall: { name: D } }\nsettings: {}', false],
    ['as the name of a use there', 'uses: { site: {} }\nvariables: {}', true, MEMBER],
    ['not as the name of a section', 'variables: {}\ndepot: { size: 1 }', false],
    ['not as a value', 'variables: {}\nsizes: [depot, { x: depot }]', false],
    ['not as a key of a value', 'variables: {}\nsizes: { all: { depot: 1 } }', false],
    ['not in settings', 'settings: { all: { depot: {} } }\nsizes: {}', false],
    ['as a key without a value', 'shops: { depot: }\nsettings: {}', true],
    [
      'as a key that is an address',
      'removed: { accounts.depot: { lifecycle: { destroy: false } } }',
      true,
    ],
    ['in a text that is no YAML', 'accounts:\n  depot: { name: D\n', true],
    ['not by a longer word there', 'accounts:\n  depot-2: { name: D\n', false],
    ['by an expression in such a text', 'moved: [{ from: "accounts.${var.x}", to: \n', true],
    ['not in such a text without a kind', 'settings: { depot: { name: D\n', false],
    [
      'by a part of an expression in such a text',
      'moved: [{ from: accounts.dep${var.x}, to: \n',
      true,
    ],
    [
      'not by a key with escapes in a text of another program',
      'variables: {}\nscript: [!x a, "\\x1b"]',
      false,
    ],
    ['by its id in such a text', 'accounts: { x: { adopt: "1042"\n', true],
    [
      'not by the id of an expression in such a text',
      'accounts: { x: { adopt: "${var.x}"\n',
      false,
    ],
    ['not by an expression of another program', 'settings: { x: "${var.x}"\n', false],
    ['behind escapes in such a text', 'accounts: { "d\\x65pot": { name: D\n', true],
    ['in a text of two bytes for each letter', 'accounts:\0 d\0e\0p\0o\0t\0', true],
    ['in what cannot be read', DENIED, true],
    ['not in a template of another program', '{{- if .Values.users }}\nusers:\n{{ end }}\n', false],
  ])('may be declared in a file with an error: %s', async (_, text, isFound, object) => {
    expect((await mentioned(text, object))?.startsWith('has an error, and may declare it')).toBe(
      isFound || undefined,
    );
  });

  it.each<[is: string, text: string, why: string | undefined]>([
    ['is declared', inStack({ depot: { name: 'D' } }), 'declares it'],
    ['is declared by no resource', inStack({ hall: { name: 'D' } }), undefined],
    [
      'is moved',
      stack({ moved: [{ from: 'devicecloud_account.depot', to: 'devicecloud_account.hall' }] }),
      'holds a moved block that names it',
    ],
    [
      'is of a type with a typo',
      stack({ resource: { devicecloud_acount: { depot: { name: 'D' } } } }),
      'has an error',
    ],
    [
      'is waited for',
      inStack({ x: { name: 'X', depends_on: ['devicecloud_account.depot'] } }),
      'refers to it',
    ],
    [
      'is in a block with an error',
      stack({ removed: [{ from: 'devicecloud_account.depot', provisioner: [{}] }] }),
      'has an error',
    ],
    [
      'is in a text that is no JSON',
      '{"resource":{"devicecloud_account":{"depot":',
      'has an error',
    ],
    ['is not in a stack with an error', stack({ module: { depot: { source: 'x' } } }), undefined],
  ])('%s in a stack', async (_, text, why) => {
    const found = await mentioned(text, {}, { file: 'out/stacks/a/cdk.tf.json' });
    expect(found?.startsWith(why ?? '')).toBe(why === undefined ? undefined : true);
  });
});
