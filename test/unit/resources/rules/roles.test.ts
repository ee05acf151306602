// What roles are worth: those that the API names, custom ones that `settings.roles` ranks, and those nobody knows.
import { describe, expect, test } from 'vitest';
import { Reference, type Roles, type Value } from '../../../../src/model/index.js';
import { accessReview } from '../../../../src/resources/rules/access-review.js';
import { administers, escalates } from '../../../../src/resources/rules/roles.js';
import { kinds } from '../../../../src/resources/index.js';
import { emulator, folder } from '../../../support/cli.js';
import { blocked, declare, entry, live, planScene } from '../../../support/planning.js';

const made = new Reference('declared', 'accounts.new', 'id');
const roles: Roles = { site_auditor: 'read_only_user', owner: 'administrator' };

describe('whether a role rises', () => {
  test.each<[Value, Value, boolean]>([
    ['read_only_user', 'full_access_user', true],
    ['full_access_user', 'read_only_user', false],
    ['no_access', 'read_only_user', true],
    [null, 'read_only_user', true],
    // Unknown: the highest when given.
    ['read_only_user', 'super_root', true],
    ['administrator', 'super_root', true],
    ['no_access', 'super_root', true],
    ['another_root', 'super_root', true],
    // Unknown: the lowest when taken.
    ['super_root', 'administrator', true],
    ['super_root', 'read_only_user', true],
    ['super_root', 'no_access', false],
    // Ranked.
    ['read_only_user', 'site_auditor', false],
    ['full_access_user', 'site_auditor', false],
    ['no_access', 'site_auditor', true],
    ['site_auditor', 'full_access_user', true],
    ['site_auditor', 'read_only_user', false],
    ['administrator', 'owner', false],
    ['owner', 'administrator', false],
    ['full_access_user', 'owner', true],
    // Names that every object inherits something under.
    ['read_only_user', 'constructor', true],
    ['toString', 'read_only_user', true],
    // No text: nobody knows it either.
    ['administrator', made, true],
    ['no_access', 7, true],
    [true, 'read_only_user', true],
    [made, 'no_access', false],
  ])('from %s to %s: %s', (before, after, expected) =>
    expect(escalates(before, after, roles)).toBe(expected),
  );

  test('unknown roles are no administrators; ranked ones are what they are ranked like', () => {
    expect(
      ['administrator', 'owner', 'super_root', 'site_auditor', 'constructor', null].map((role) =>
        administers(role, roles),
      ),
    ).toEqual([true, true, false, false, false, false]);
    expect(administers('owner', {})).toBe(false);
  });
});

describe('a plan', () => {
  const change = (from: string, to: Value, ranked: Roles = {}) =>
    planScene({
      declared: [
        declare('accounts.new', { name: 'New' }),
        declare('account_authorizations.a', { user: '7', account: '1', role: to }),
      ],
      state: {
        'account_authorizations.a': entry('account_authorizations', '9', {
          user: '7',
          account: '1',
          role: from,
        }),
      },
      live: {
        accounts: [live('accounts', '1', { name: 'HQ', account: null })],
        account_authorizations: [
          live('account_authorizations', '9', { user: '7', account: '1', role: from }),
        ],
      },
      settings: { roles: ranked },
    });

  test.each<[string, string, Roles, readonly string[]]>([
    ['read_only_user', 'super_root', {}, ['privilege-escalation']],
    ['super_root', 'administrator', {}, ['privilege-escalation']],
    ['super_root', 'no_access', {}, []],
    ['no_access', 'site_auditor', roles, ['privilege-escalation']],
    ['full_access_user', 'site_auditor', roles, []],
    ['administrator', 'owner', roles, []],
    ['administrator', 'owner', {}, ['last-administrator', 'privilege-escalation']],
    ['owner', 'read_only_user', roles, ['last-administrator']],
    ['owner', 'read_only_user', {}, ['privilege-escalation']],
  ])('from %s to %s with %j is blocked by %j', (from, to, ranked, rules) =>
    expect(blocked(change(from, to, ranked))).toEqual(rules),
  );

  test('blocks a role that is known only after apply', () => {
    const scene = change('read_only_user', made);
    expect([scene.exit, blocked(scene), scene.plan.verdicts[0]?.detail]).toEqual([
      3,
      ['privilege-escalation'],
      'account_authorizations.a (user 7 on HQ) changes from read_only_user to a role that is known only after apply',
    ]);
    expect(blocked(change('administrator', made))).toEqual([
      'last-administrator',
      'privilege-escalation',
    ]);
  });

  test('says which role is not known, and what ranks it', () => {
    expect(change('read_only_user', 'super_root').plan.verdicts[0]?.detail).toBe(
      'account_authorizations.a (user 7 on HQ) changes from read_only_user to the role super_root; the rank of super_root is not known: set it in settings.roles',
    );
  });
});

test('the access review ranks custom roles, and counts administrators among them', () => {
  const of = (name: string, objects: readonly ReturnType<typeof live>[]) => ({
    kind: kinds.get(name)!,
    byId: new Map(objects.map((one) => [one.id, one])),
  });
  const world = new Map([
    [
      'accounts',
      of('accounts', [
        live('accounts', '1', { name: 'HQ', account: null }),
        live('accounts', '2', { name: 'Depot', account: '1' }),
      ]),
    ],
    [
      'account_authorizations',
      of('account_authorizations', [
        live('account_authorizations', '90', { user: '7', account: '1', role: 'owner' }),
        live('account_authorizations', '91', { user: '7', account: '2', role: 'site_auditor' }),
      ]),
    ],
  ]);
  const reviewed = (ranked: Roles) => {
    const { access } = accessReview(world, [], ranked);
    return [
      access?.accounts.map(({ administrators }) => administrators),
      access?.cells.map(({ account, role }) => `${account} ${role}`),
    ];
  };
  expect(reviewed(roles)).toEqual([
    [1, 1],
    ['1 owner', '2 owner'],
  ]);
  expect(reviewed({})).toEqual([
    [0, 0],
    ['1 owner', '2 site_auditor'],
  ]);
});

describe('through the command', () => {
  const estate = {
    version: 1,
    root: '1',
    users: [{ id: '7', email: 'ada@example.com' }],
    records: {
      accounts: [{ id: '1', account: null, name: 'HQ' }],
      account_authorizations: [{ id: '90', user: '7', account: '1', role: 'read_only_user' }],
    },
  };
  const wanting = (role: string, settings = '') =>
    `${settings}account_authorizations:\n  ada: { user: "7", account: "1", role: ${role}, lifecycle: { adopt: "90" } }\n`;

  test('a custom role blocks until it is ranked', async () => {
    const home = folder({
      'estate.json': JSON.stringify(estate),
      'trueup.yaml': wanting('super_root'),
    });
    const there = await emulator(home, ['--seed', 'estate.json']);
    const { stdout, stderr } = await home.expect(3, ['plan', 'trueup.yaml'], there);
    expect(stdout).toContain('BLOCKED privilege-escalation');
    expect(stderr).toContain('unknown-value');
    home.write(
      'trueup.yaml',
      wanting('super_root', 'settings: { roles: { super_root: read_only_user } }\n'),
    );
    expect((await home.expect(0, ['plan', 'trueup.yaml'], there)).stderr).not.toContain(
      'unknown-value',
    );
  });

  test.each([
    ['{ site_auditor: reader }', /`roles\.site_auditor` is not one of its words/],
    ['{ administrator: no_access }', /`administrator` is a known role, which has its rank already/],
    ['[site_auditor]', /a mapping is expected/],
  ])('%s is refused', async (mapping, words) => {
    const home = folder({
      'trueup.yaml': wanting('no_access', `settings: { roles: ${mapping} }\n`),
    });
    expect((await home.expect(1, ['validate'])).stderr.replaceAll(/\s+/g, ' ')).toMatch(words);
  });
});
