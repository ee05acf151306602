// Users, groups and routers, as they are recognised, adopted, protected and shown; and that each kind beyond the API
// reference says so.
import { describe, expect, test } from 'vitest';
import { isKind, type Json, type Kind } from '../../../src/model/index.js';
import { collections } from '../../../src/resources/index.js';
import { blocked, codes, declare, entry, live, planScene, steps } from '../../support/planning.js';

const hq = live('accounts', '1', { name: 'HQ', account: null });
type Members = Record<string, Json>;
const group = (id: string, name: string, account = '1') => live('groups', id, { name, account });
const router = (id: string, mac: string, name: string) => live('routers', id, { mac, name });
const user = (id: string, email: string) => live('users', id, { email, user_id: `u${id}` });

test('each of them says so, and what trueup declares has no verb of which nothing is known', () => {
  const beyond = [...collections.values()].filter((one) => one.beyond);
  expect(beyond.map(({ name }) => name)).toEqual([
    'users',
    'groups',
    'routers',
    'products',
    'firmwares',
  ]);
  for (const { doc } of beyond) expect(doc).toContain('Beyond the published API reference');
  const verbs = beyond
    .filter(isKind)
    .map(({ operations: { create, delete: remove } }: Kind) => [create, remove]);
  expect(verbs).toEqual([
    ['POST', 'DELETE'],
    ['POST', 'DELETE'],
    [undefined, undefined],
  ]);
});

describe('identity', () => {
  test.each<[string, string, Members, readonly ReturnType<typeof live>[], readonly string[]]>([
    [
      'an e-mail in another case',
      'users',
      { email: 'Dana@Example.com' },
      [user('7', 'dana@example.COM')],
      ['adopt users.x'],
    ],
    [
      'another e-mail',
      'users',
      { email: 'dana@example.com' },
      [user('7', 'dan@example.com')],
      ['create users.x'],
    ],
    [
      'two e-mails in two cases',
      'users',
      { email: 'dana@example.com' },
      [user('7', 'DANA@example.com'), user('8', 'Dana@example.com')],
      ['ambiguous'],
    ],
    [
      'a group of the account',
      'groups',
      { name: 'Stores', account: '1' },
      [group('40', 'Stores'), group('41', 'Stores', '2')],
      ['adopt groups.x'],
    ],
    [
      'a group of another account',
      'groups',
      { name: 'Stores', account: '1' },
      [group('41', 'Stores', '2')],
      ['create groups.x'],
    ],
    [
      'an escaped name',
      'groups',
      { name: "O'Brien", account: '1' },
      [group('40', 'O&#39;Brien')],
      ['adopt groups.x'],
    ],
    [
      'a mac with separators',
      'routers',
      { mac: '00:30:44:AB:00:01' },
      [router('12', '003044ab0001', 'a'), router('13', '003044ab0002', 'a')],
      ['adopt routers.x'],
    ],
    [
      'a mac, whatever the name',
      'routers',
      { mac: '003044AB0001', name: 'b' },
      [router('12', '003044ab0001', 'a'), router('13', '003044ab0002', 'b')],
      ['adopt routers.x'],
    ],
    [
      'a name',
      'routers',
      { name: 'b' },
      [router('12', '003044ab0001', 'a'), router('13', '003044ab0002', 'b')],
      ['adopt routers.x'],
    ],
    [
      'two of a name',
      'routers',
      { name: 'a' },
      [router('12', '003044ab0001', 'a'), router('13', '003044ab0002', 'a')],
      ['ambiguous'],
    ],
    [
      'no router',
      'routers',
      { mac: '003044ab0009' },
      [router('12', '003044ab0001', '003044ab0009')],
      ['cannot-create'],
    ],
    [
      'neither mac nor name',
      'routers',
      { custom1: 'rack' },
      [live('routers', '12', { mac: '003044ab0001', name: null })],
      ['cannot-create'],
    ],
  ])('%s', (_, kind, values, objects, expected) => {
    const proposal = planScene({
      declared: [declare(`${kind}.x`, values)],
      live: { accounts: [hq], [kind]: objects },
    });
    const errors = codes(proposal).filter((code) => ['ambiguous', 'cannot-create'].includes(code));
    expect(errors.length > 0 ? errors : steps(proposal)).toEqual(expected);
  });

  test('a new group that nearly has the name of another of its account is a possible duplicate', () => {
    const declared = [declare('groups.x', { name: 'stores ', account: '1' })];
    expect(blocked(planScene({ declared, live: { groups: [group('40', 'Stores')] } }))).toEqual([
      'possible-duplicate',
    ]);
    expect(
      blocked(planScene({ declared, live: { groups: [group('40', 'Stores', '2')] } })),
    ).toEqual([]);
  });

  test('two declarations of routers by their names are two', () => {
    const routers = [router('12', '003044ab0001', 'a'), router('13', '003044ab0002', 'b')];
    const scene = (...names: readonly string[]) =>
      planScene({
        declared: names.map((name, index) => declare(`routers.r${index}`, { name })),
        live: { routers },
      });
    expect(steps(scene('a', 'b'))).toEqual(['adopt routers.r0', 'adopt routers.r1']);
    expect(codes(scene('a', 'a'))).toContain('identical-declarations');
  });
});

describe('rules', () => {
  const roleOf = (id: string, who: string, role: string, account = '1') =>
    live('account_authorizations', id, { user: who, account, role });
  const removal = (authorizations: readonly ReturnType<typeof live>[]) =>
    planScene({
      declared: [declare('users.other', { email: 'eve@example.com' })],
      state: {
        'users.x': entry('users', '7', { email: 'dana@example.com' }),
        'users.other': entry('users', '8', { email: 'eve@example.com' }),
      },
      live: {
        accounts: [hq, live('accounts', '2', { name: 'North', account: '1' })],
        users: [user('7', 'dana@example.com'), user('8', 'eve@example.com')],
        account_authorizations: authorizations,
      },
      request: { allow: ['max-changed'] },
    });

  test.each<[string, readonly ReturnType<typeof live>[], readonly string[]]>([
    ['the only administrator', [roleOf('90', '7', 'administrator')], ['last-administrator']],
    ['by its other identifier', [roleOf('90', 'u7', 'administrator')], ['last-administrator']],
    ['one of two', [roleOf('90', '7', 'administrator'), roleOf('91', '8', 'administrator')], []],
    [
      'one below another',
      [roleOf('90', '7', 'administrator', '2'), roleOf('91', '8', 'administrator')],
      [],
    ],
    [
      'one above another',
      [roleOf('90', '7', 'administrator'), roleOf('91', '8', 'administrator', '2')],
      ['last-administrator'],
    ],
    ['no administrator', [roleOf('90', '7', 'full_access_user')], []],
  ])('the deletion of a user who is %s', (_, authorizations, expected) => {
    expect(blocked(removal(authorizations))).toEqual(expected);
  });

  test('two deletions leave nobody', () => {
    const users = ['7', '8'];
    const scene = planScene({
      declared: [declare('users.last', { email: 'last@example.com' })],
      state: Object.fromEntries([
        ...users.map((id) => [`users.u${id}`, entry('users', id, { email: `${id}@example.com` })]),
        ['users.last', entry('users', '9', { email: 'last@example.com' })],
      ]),
      live: {
        accounts: [hq],
        users: [...users, '9'].map((id) =>
          user(id, id === '9' ? 'last@example.com' : `${id}@example.com`),
        ),
        account_authorizations: users.map((id) => roleOf(`9${id}`, id, 'administrator')),
      },
      request: { allow: ['max-changed'] },
    });
    expect(blocked(scene)).toEqual(['last-administrator']);
  });

  describe('the deactivation of a user', () => {
    const person = (id: string, is_active: boolean) =>
      live('users', id, { email: `${id}@example.com`, user_id: `u${id}`, is_active });
    /** Users 7 and 8 as they are and, if declared, as they will be. */
    const scene = (
      before: Readonly<Record<string, boolean>>,
      after: Readonly<Record<string, boolean>>,
      authorizations: readonly ReturnType<typeof live>[],
      declaredRoles: Readonly<Record<string, string>> = {},
    ) =>
      planScene({
        declared: [
          ...Object.entries(after).map(([id, is_active]) =>
            declare(`users.u${id}`, { email: `${id}@example.com`, is_active }),
          ),
          ...Object.entries(declaredRoles).map(([id, role]) =>
            declare(`account_authorizations.u${id}`, { user: id, account: '1', role }),
          ),
        ],
        live: {
          accounts: [hq],
          users: Object.entries(before).map(([id, is_active]) => person(id, is_active)),
          account_authorizations: authorizations,
        },
        request: { allow: ['max-changed', 'first-run', 'privilege-escalation'] },
      });
    const administrator = (id: string) => roleOf(`9${id}`, id, 'administrator');
    const last = ['last-administrator'];

    test.each<[string, ReturnType<typeof scene>, readonly string[]]>([
      ['the only administrator', scene({ 7: true }, { 7: false }, [administrator('7')]), last],
      [
        'the only one by the other identifier',
        scene({ 7: true }, { 7: false }, [roleOf('97', 'u7', 'administrator')]),
        last,
      ],
      [
        'one of two',
        scene({ 7: true, 8: true }, { 7: false }, [administrator('7'), administrator('8')]),
        [],
      ],
      [
        'both of two',
        scene({ 7: true, 8: true }, { 7: false, 8: false }, [
          administrator('7'),
          administrator('8'),
        ]),
        last,
      ],
      [
        'one of two, of whom the other one is inactive',
        scene({ 7: true, 8: false }, { 7: false }, [administrator('7'), administrator('8')]),
        last,
      ],
      [
        'no administrator',
        scene({ 7: true }, { 7: false }, [roleOf('97', '7', 'full_access_user')]),
        [],
      ],
      [
        'an administrator, where another user becomes one',
        scene(
          { 7: true, 8: true },
          { 7: false },
          [administrator('7'), roleOf('98', '8', 'read_only_user')],
          { 8: 'administrator' },
        ),
        [],
      ],
      [
        'an administrator, where an inactive user becomes one',
        scene(
          { 7: true, 8: false },
          { 7: false },
          [administrator('7'), roleOf('98', '8', 'read_only_user')],
          { 8: 'administrator' },
        ),
        last,
      ],
      [
        'one who becomes an administrator, where the only other one is demoted',
        scene(
          { 7: true, 8: true },
          { 7: false },
          [roleOf('97', '7', 'read_only_user'), administrator('8')],
          { 7: 'administrator', 8: 'read_only_user' },
        ),
        last,
      ],
      ['a user who stays active', scene({ 7: false }, { 7: true }, [administrator('7')]), []],
    ])('%s', (_, proposal, expected) => expect(blocked(proposal)).toEqual(expected));

    test('comes after the promotion that it waits for', () => {
      const found = scene(
        { 7: true, 8: true },
        { 7: false },
        [administrator('7'), roleOf('98', '8', 'read_only_user')],
        { 8: 'administrator' },
      );
      expect(steps(found)).toEqual(['adopt account_authorizations.u8', 'adopt users.u7']);
    });
  });

  test.each(['groups', 'routers'])('an account that holds %s is not deleted', (kind) => {
    const inside = live(kind, '40', { name: 'a', mac: '003044ab0001', account: '2' });
    const scene = (objects: readonly ReturnType<typeof live>[]) =>
      planScene({
        declared: [declare('accounts.hq', { name: 'HQ' })],
        state: {
          'accounts.hq': entry('accounts', '1', { name: 'HQ' }),
          'accounts.north': entry('accounts', '2', { name: 'North', account: '1' }),
        },
        live: {
          accounts: [hq, live('accounts', '2', { name: 'North', account: '1' })],
          [kind]: objects,
        },
        request: { allow: ['max-changed'] },
      });
    expect(blocked(scene([inside]))).toEqual(['account-in-use']);
    expect(blocked(scene([]))).toEqual([]);
  });

  describe('the deletion of a group', () => {
    const inside = live('routers', '12', { mac: '003044ab0001', name: 'a', group: '40' });
    const watching = live('alert_rules', 'r1', {
      associated_groups: ['40'],
      http_destinations: [],
      email_destinations: ['5'],
    });
    const scene = (
      objects: Readonly<Record<string, readonly ReturnType<typeof live>[]>>,
      declared: readonly ReturnType<typeof declare>[] = [],
    ) =>
      planScene({
        declared: [declare('groups.other', { name: 'Other', account: '1' }), ...declared],
        state: {
          'groups.g': entry('groups', '40', { name: 'Stores', account: '1' }),
          'groups.other': entry('groups', '41', { name: 'Other', account: '1' }),
        },
        live: { accounts: [hq], groups: [group('40', 'Stores'), group('41', 'Other')], ...objects },
        request: { allow: ['max-changed', 'first-run', 'rule-without-destination'] },
      });
    const moved = declare('routers.a', { mac: '003044ab0001', group: '41' });

    test.each<[string, ReturnType<typeof scene>, readonly string[]]>([
      ['that holds a router', scene({ routers: [inside] }), ['group-in-use']],
      ['that a rule names', scene({ alert_rules: [watching] }), ['group-in-use']],
      ['that holds nothing', scene({ routers: [], alert_rules: [] }), []],
      [
        'that another router is not in',
        scene({ routers: [live('routers', '12', { mac: '003044ab0001', group: '41' })] }),
        [],
      ],
      ['whose router goes to another one', scene({ routers: [inside] }, [moved]), []],
    ])('%s', (_, proposal, expected) => expect(blocked(proposal)).toEqual(expected));

    const more = ['r2', 'r3'].map((id) => ({ ...watching, id }));
    const managed = declare('routers.a', { mac: '003044ab0001', group: '40' });
    test.each<[string, ReturnType<typeof scene>, RegExp]>([
      [
        'unmanaged',
        scene({ routers: [inside] }),
        /still holds unmanaged routers .* \(12\); whether the service refuses the delete because of routers is not known/,
      ],
      [
        'managed',
        scene({ routers: [inside] }, [managed]),
        /still holds routers\.a; whether the service refuses the delete because of routers is not known/,
      ],
      [
        'many',
        scene({ routers: [inside], alert_rules: [watching, ...more] }),
        /still holds (unmanaged alert_rules .* \(r\d\)(, )?){3}unmanaged routers a \(12\);/,
      ],
    ])('says what holds it: %s', (_, { plan }, words) =>
      expect(plan.verdicts.find(({ rule }) => rule === 'group-in-use')?.detail).toMatch(words),
    );
  });

  test('a group goes before its account, and a rule that names it before the group', () => {
    const { plan } = planScene({
      declared: [declare('accounts.hq', { name: 'HQ' })],
      state: {
        'accounts.hq': entry('accounts', '1', { name: 'HQ' }),
        'accounts.north': entry('accounts', '2', { name: 'North', account: '1' }),
        'alert_rules.r': entry('alert_rules', 'r1', { associated_groups: ['40'] }),
        'groups.g': entry('groups', '40', { name: 'Stores', account: '2' }),
      },
      live: {
        accounts: [hq, live('accounts', '2', { name: 'North', account: '1' })],
        groups: [group('40', 'Stores', '2')],
        alert_rules: [live('alert_rules', 'r1', { associated_groups: ['40'] })],
      },
    });
    expect(
      plan.changes.filter(({ action }) => action === 'delete').map(({ address }) => address),
    ).toEqual(['alert_rules.r', 'groups.g', 'accounts.north']);
  });
});
