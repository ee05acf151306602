// One run tells every error that is independent of the others, whatever stage finds it, and none that only follows
// from another one: what could not be read is not "declared nowhere".
import { describe, expect, it } from 'vitest';
import { folder, type Options } from '../support/cli.js';

const EMULATED = 'settings: { target: emulator }\n';
const account = (name: string, more = ''): string => `  ${name}: { name: ${name}${more} }\n`;
const REFERS = (name: string): string => `, account: "\${accounts.${name}.id}"`;

/** `file:line:column code` of every error, in order. */
function errorsIn(stderr: string): readonly string[] {
  return [
    ...stderr.matchAll(/^error: (?:.*\n)+? {2}(?:(\S+:\d+:\d+) · )?(?:.* · )?\[([a-z-]+)\]$/gm),
  ].map(([, place = '', code]) => `${place} ${code}`.trim());
}

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly errors: readonly unknown[];
  readonly args?: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'an unknown attribute hides no missing reference, in its own declaration and in another one',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a', `, colour: red${REFERS('lost')}`)}${account('b', REFERS('gone'))}`,
    },
    errors: [
      'a.yaml:3:17 unknown-attribute',
      'a.yaml:4:17 unknown-reference',
      'a.yaml:3:30 unknown-reference',
    ],
  },
  {
    name: 'a reference to a declaration with an error leads somewhere',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a', ', colour: red')}${account('b', REFERS('a'))}`,
    },
    errors: ['a.yaml:3:17 unknown-attribute'],
  },
  {
    name: 'a circle is told beside an unknown attribute, through a declaration that has one',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a', `${REFERS('b')}, colour: red`)}${account('b', REFERS('a'))}`,
    },
    errors: ['a.yaml:3:46 unknown-attribute', 'a.yaml:3:3 cycle'],
  },
  {
    name: 'identical declarations are told beside errors of other stages',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a')}  b: { name: a }\n${account('c', `, colour: red${REFERS('lost')}`)}`,
    },
    errors: [
      'a.yaml:5:17 unknown-attribute',
      'a.yaml:4:3 identical-declarations',
      'a.yaml:5:30 unknown-reference',
    ],
  },
  {
    name: 'members of a for_each that cannot be read are not missing',
    files: {
      'a.yaml': `${EMULATED}accounts:\n  a: { for_each: 7, name: "\${each.key}" }\n  b: 5\n${account('c', `, account: '\${accounts.a["x"].id}'`)}${account('d', REFERS('b'))}${account('e', REFERS('lost'))}`,
    },
    errors: ['a.yaml:3:8 bad-for-each', 'a.yaml:4:3 wrong-type', 'a.yaml:7:17 unknown-reference'],
  },
  {
    name: 'a key that cannot be computed names no member, and no other one is told instead',
    files: {
      'a.yaml': `${EMULATED}accounts:\n  a: { for_each: [n, s], name: "\${each.key}" }\n  b: { for_each: { x: { at: n } }, name: b, account: "\${accounts.a[each.value.ta].id}" }\n`,
    },
    errors: ['a.yaml:4:45 unknown-member'],
  },
  {
    name: 'what a template makes in a file that cannot be parsed is not missing',
    files: {
      'a.yaml': `${EMULATED}templates:\n  site: { accounts: { main: { name: M } } }\naccounts:\n${account('a', `, account: '\${accounts.acme-main["x"].id}'`)}${account('b', REFERS('acme'))}${account('c', REFERS('acm-main'))}`,
      'b.yaml': 'use:\n  acme: { template: site, for_each: [x }\n',
      'c.yaml': 'accounts:\n  acm: { name: [ }\n',
    },
    errors: ['b.yaml:2:40 yaml-syntax', 'c.yaml:2:18 yaml-syntax', 'a.yaml:7:17 unknown-reference'],
  },
  {
    name: 'members are not missing where `for_each` has another name',
    files: {
      'a.yaml': `${EMULATED}templates:\n  site: { accounts: { main: { name: M } } }\nuse: { u: { template: site, foreach: [x] } }\naccounts:\n  a: { count: 2, name: A }\n${account('b', `, account: '\${accounts.a["0"].id}'`)}${account('c', `, account: '\${accounts.u-main["x"].id}'`)}${account('d', REFERS('lost'))}`,
    },
    errors: [
      'a.yaml:6:8 unknown-attribute',
      'a.yaml:4:29 unknown-attribute',
      'a.yaml:9:17 unknown-reference',
    ],
  },
  {
    name: 'what stands in a file that cannot be parsed is not missing; what does not is',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a', REFERS('there'))}${account('b', REFERS('lost'))}${account('c', ', account: "${lookups.hq.id}", is_disabled: "${var.off}"')}`,
      'b.yaml': `accounts:\n  there: { name: "There }\n`,
      'c.yaml': 'variables: { off: true }\nlookups:\n  hq: { accounts: [ }\n',
    },
    errors: ['b.yaml:3:1 yaml-syntax', 'c.yaml:3:21 yaml-syntax', 'a.yaml:4:17 unknown-reference'],
  },
  {
    name: 'what stands in a section with a mistyped name, or that is no mapping, is not missing',
    files: {
      'a.yaml': `${EMULATED}acounts:\n  a: { name: A }\nalert_push_destinations: [pager]\naccounts:\n${account('b', REFERS('a'))}${account('c', REFERS('lost'))}alert_rules:\n  r: { http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"] }\n`,
    },
    errors: [
      'a.yaml:2:1 unknown-section',
      'a.yaml:4:1 wrong-type',
      'a.yaml:7:17 unknown-reference',
    ],
  },
  {
    name: 'wrong settings hide nothing',
    files: {
      'a.yaml': `settings: { target: emulator, polcy: {} }\naccounts:\n${account('a', REFERS('lost'))}${account('b', ', colour: red')}`,
    },
    errors: [
      'a.yaml:1:31 unknown-attribute',
      'a.yaml:4:17 unknown-attribute',
      'a.yaml:3:17 unknown-reference',
    ],
  },
  {
    name: 'a state that cannot be read hides no other error, and what it may know is not missing',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a', REFERS('lost'))}${account('b', ', colour: red')}`,
      '.trueup/state.json': '{',
    },
    errors: [
      'a.yaml:4:17 unknown-attribute',
      expect.stringMatching(/state\.json:1:2 damaged-file$/),
    ],
  },
  {
    name: 'a variable of a file that cannot be parsed is not missing',
    files: {
      'a.yaml': `${EMULATED}accounts:\n${account('a', ', is_disabled: "${var.off}"')}${account('b', REFERS('lost'))}`,
      'trueup.prod.yaml': 'variables: { off: [ }\n',
    },
    args: ['--env', 'prod'],
    errors: ['trueup.prod.yaml:1:21 yaml-syntax', 'a.yaml:4:17 unknown-reference'],
  },
];

describe.each(['validate', 'plan'])('%s', (command) => {
  it.each(cases)('$name', async ({ files, errors, args = [] }) => {
    const { stderr } = await folder(files).expect(1, [command, ...args]);
    expect(errorsIn(stderr)).toEqual(errors);
  });
});

describe('plan', () => {
  const lost = `accounts:\n${account('a', REFERS('lost'))}${account('b')}`;
  const nowhere: Options = {
    env: Object.fromEntries([
      ['TRUEUP_V2_URL', 'http://127.0.0.1:9/api/v2'],
      ...['MGR_API_ID', 'MGR_API_KEY', 'VND_API_ID', 'VND_API_KEY'].map((name) => [
        `TRUEUP_${name}`,
        'x',
      ]),
    ]) as Readonly<Record<string, string>>,
  };

  it.each([
    ['credentials are missing', {}],
    ['nobody answers', nowhere],
  ])('tells a missing reference where %s', async (_, options) => {
    const { stderr } = await folder({ 'a.yaml': lost }).expect(1, ['plan'], options);
    expect(errorsIn(stderr)).toEqual([
      expect.not.stringContaining('unknown-reference'),
      'a.yaml:2:17 unknown-reference',
    ]);
  });

  it('tells none of what it does not cover', async () => {
    const { stderr } = await folder({ 'a.yaml': lost }).expect(1, [
      'plan',
      '--target',
      'accounts.b',
    ]);
    expect(stderr).not.toContain('unknown-reference');
  });

  it('says how to write a member that was quoted', async () => {
    const members = 'for_each: [x], name: A';
    const { stderr } = await folder({
      'a.yaml': `accounts:\n  a: { ${members} }\n  b: { ${members}, account: '\${accounts.a["\${each.key}"].id}' }\n`,
    }).expect(1, ['validate']);
    expect(stderr).toContain('Write the member without quotes: ${accounts.a[each.key].id}.');
  });

  it('says that nothing is filled in inside of a key', async () => {
    const { stderr } = await folder({
      'a.yaml': `variables: { k: x }\naccounts:\n  a: { for_each: [x], name: A }\n  b: { name: B, account: '\${accounts.a["\${var.k}"].id}' }\n`,
    }).expect(1, ['validate']);
    expect(stderr).toContain('Nothing is filled in inside the quotes of a key.');
    expect(stderr).not.toContain('Write the member without quotes');
  });
});
