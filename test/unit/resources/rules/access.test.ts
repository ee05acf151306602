// Who may do what where: the matrix, what is inherited through the tree, and where it is not as declared.
import { describe, expect, it } from 'vitest';
import type { AccessReview, Live } from '../../../../src/model/index.js';
import { accessReview } from '../../../../src/resources/rules/access-review.js';
import { accessRows, accessSentence } from '../../../../src/report/access-text.js';
import { declare, live, planScene } from '../../../support/planning.js';

const tree = [
  live('accounts', '1', { name: 'Root', account: null }),
  live('accounts', '20', { name: 'South', account: '1' }),
  live('accounts', '3', { name: 'North', account: '1' }),
  live('accounts', '4', { name: 'Oslo', account: '3' }),
];
const holds = (id: string, user: string, account: string, role: string): Live =>
  live('account_authorizations', id, { user, account, role });

function review(
  authorizations: readonly Live[],
  declared: Parameters<typeof planScene>[0]['declared'] = [],
  accounts: readonly Live[] = tree,
): AccessReview {
  const { plan, liveObjects: world } = planScene({
    declared,
    live: { accounts, account_authorizations: authorizations },
  });
  return accessReview(world, plan.changes).access as AccessReview;
}
const cells = ({ cells: all }: AccessReview): readonly string[] =>
  all.map(({ user, account, role, inherited_from, own, declared }) =>
    [
      user,
      account,
      role,
      inherited_from && `from ${inherited_from}`,
      own && `own ${own.join(' ')}`,
      declared && `not ${declared}`,
    ]
      .filter(Boolean)
      .join(' '),
  );

describe('the access review', () => {
  it('goes down the tree, and counts who administers each account', () => {
    const found = review([
      holds('a', '7', '1', 'administrator'),
      holds('b', '8', '3', 'read_only_user'),
      holds('c', '10', '4', 'administrator'),
    ]);
    expect(found.accounts).toEqual([
      { id: '1', name: 'Root', depth: 0, administrators: 1 },
      { id: '3', name: 'North', depth: 1, administrators: 1 },
      { id: '4', name: 'Oslo', depth: 2, administrators: 2 },
      { id: '20', name: 'South', depth: 1, administrators: 1 },
    ]);
    expect(found.users.map(({ id }) => id)).toEqual(['7', '8', '10']);
    expect(cells(found)).toEqual([
      '7 1 administrator',
      '7 3 administrator from 1',
      '8 3 read_only_user',
      '7 4 administrator from 1',
      '8 4 read_only_user from 3',
      '10 4 administrator',
      '7 20 administrator from 1',
    ]);
  });

  it('counts no inactive user among those who administer an account, and says who is', () => {
    const { liveObjects } = planScene({
      live: {
        accounts: tree,
        account_authorizations: [
          holds('a', '7', '1', 'administrator'),
          holds('b', '8', '1', 'administrator'),
        ],
        users: [
          live('users', '7', { email: 'ada@example.com', user_id: '8', is_active: false }),
          live('users', '8', { email: 'ben@example.com', user_id: '9', is_active: true }),
        ],
      },
    });
    const { access } = accessReview(liveObjects, []);
    expect(access?.users).toEqual([
      { id: '7', email: 'ada@example.com', inactive: true },
      { id: '8', email: 'ben@example.com' },
    ]);
    expect(access?.accounts.map(({ administrators }) => administrators)).toEqual([1, 1, 1, 1]);
    const texts = accessRows(access!).map((row) => row.join(' '));
    expect(texts[0]).toContain('ada@example.com (inactive) administrator');
    expect(texts[1]).toContain('ben@example.com administrator');
  });

  it.each([
    [
      'the higher of two',
      'read_only_user',
      'administrator',
      '7 3 administrator from 1 own read_only_user',
    ],
    ['its own where that is higher', 'administrator', 'read_only_user', '7 3 administrator'],
    [
      'what is inherited over none',
      'no_access',
      'full_access_user',
      '7 3 full_access_user from 1 own no_access',
    ],
    ['its own where none is inherited', 'read_only_user', 'no_access', '7 3 read_only_user'],
    ['its own that nobody knows', 'diagnostic', 'full_access_user', '7 3 diagnostic'],
    [
      'an administrator over what nobody knows',
      'diagnostic',
      'administrator',
      '7 3 administrator from 1 own diagnostic',
    ],
    ['its own over what nobody knows', 'read_only_user', 'diagnostic', '7 3 read_only_user'],
    [
      'what nobody knows over none',
      'no_access',
      'diagnostic',
      '7 3 diagnostic from 1 own no_access',
    ],
  ])('shows %s', (_, own, above, expected) => {
    expect(cells(review([holds('a', '7', '3', own), holds('b', '7', '1', above)]))).toContain(
      expected,
    );
  });

  it('leaves out, aloud, what names nobody or no account: it administers nothing', () => {
    const nameless = [
      live('account_authorizations', 'x', { user: null, account: '3', role: 'administrator' }),
      live('account_authorizations', 'y', { user: '8', role: 'administrator' }),
    ];
    const { liveObjects: world } = planScene({
      live: {
        accounts: tree,
        account_authorizations: [holds('a', '7', '1', 'read_only_user'), ...nameless],
      },
    });
    const { access, diagnostics } = accessReview(world, []);
    expect(access?.users).toEqual([{ id: '7' }]);
    expect(access?.accounts.map(({ id, administrators }) => [id, administrators])).toEqual([
      ['1', 0],
      ['3', 0],
      ['4', 0],
      ['20', 0],
    ]);
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        code: 'nameless-authorizations',
        summary: expect.stringContaining('x, y') as string,
      },
    ]);
  });

  it('lets nobody but a user be the last administrator', () => {
    const { plan } = planScene({
      declared: [
        declare('account_authorizations.dana', { user: '7', account: '3', role: 'read_only_user' }),
      ],
      request: { allow: ['first-run'] },
      live: {
        accounts: tree,
        account_authorizations: [
          holds('a', '7', '3', 'administrator'),
          live('account_authorizations', 'x', { user: null, account: '1', role: 'administrator' }),
        ],
      },
    });
    expect(plan.verdicts.filter(({ verdict }) => verdict === 'blocked')).toMatchObject([
      { rule: 'last-administrator' },
    ]);
  });

  it('marks where a role is not as declared, and where it is declared', () => {
    const declared = [
      declare('account_authorizations.dana', { user: '7', account: '3', role: 'read_only_user' }),
      declare('account_authorizations.lee', { user: '8', account: '3', role: 'administrator' }),
    ];
    const found = review(
      [
        holds('a', '7', '3', 'administrator'),
        holds('b', '8', '3', 'administrator'),
        holds('c', '9', '3', 'administrator'),
      ],
      declared,
    );
    expect(found.cells.filter(({ account }) => account === '3')).toEqual([
      {
        user: '7',
        account: '3',
        role: 'administrator',
        address: 'account_authorizations.dana',
        declared: 'read_only_user',
      },
      { user: '8', account: '3', role: 'administrator', address: 'account_authorizations.lee' },
      { user: '9', account: '3', role: 'administrator' },
    ]);
  });

  it('marks a role that is not as declared, though a higher one reaches there', () => {
    const declared = [
      declare('account_authorizations.dana', { user: '7', account: '3', role: 'read_only_user' }),
    ];
    const found = review(
      [holds('a', '7', '3', 'full_access_user'), holds('b', '7', '1', 'administrator')],
      declared,
    );
    expect(found.cells.filter(({ account }) => account === '3')).toEqual([
      {
        user: '7',
        account: '3',
        role: 'administrator',
        inherited_from: '1',
        own: ['full_access_user'],
        address: 'account_authorizations.dana',
        declared: 'read_only_user',
      },
    ]);
    expect(accessSentence(found)).toContain('1 role not as declared');
  });

  it('takes the highest of several roles that one user has in one account, and loses none', () => {
    const found = review([
      holds('a', '7', '3', 'no_access'),
      holds('b', '7', '3', 'administrator'),
      holds('c', '7', '3', 'diagnostic'),
    ]);
    expect(cells(found)).toEqual([
      '7 3 administrator own administrator diagnostic no_access',
      '7 4 administrator from 3',
    ]);
    expect(found.accounts.map(({ administrators }) => administrators)).toEqual([0, 1, 1, 0]);
  });

  it('finds the highest role past one that nobody knows, from wherever it comes', () => {
    const found = review([
      holds('a', '7', '1', 'full_access_user'),
      holds('b', '7', '3', 'diagnostic'),
      holds('c', '7', '4', 'read_only_user'),
    ]);
    expect(cells(found)).toEqual([
      '7 1 full_access_user',
      '7 3 diagnostic',
      '7 4 full_access_user from 1 own read_only_user',
      '7 20 full_access_user from 1',
    ]);
  });

  it('lets nothing of one branch reach another', () => {
    const found = review([
      holds('a', '7', '3', 'administrator'),
      holds('b', '7', '4', 'administrator'),
    ]);
    expect(cells(found)).toEqual(['7 3 administrator', '7 4 administrator']);
    expect(found.accounts.map(({ id, administrators }) => [id, administrators])).toEqual([
      ['1', 0],
      ['3', 1],
      ['4', 1],
      ['20', 0],
    ]);
  });

  it('puts accounts that nobody listed at the end, and knows of no administrators above them', () => {
    const found = review(
      [holds('a', '7', '99', 'read_only_user'), holds('b', '7', '1', 'administrator')],
      [],
      tree.slice(0, 1),
    );
    expect(cells(found)).toEqual(['7 1 administrator', '7 99 read_only_user']);
    expect(found.accounts.at(-1)).toEqual({ id: '99', name: '99', depth: 0, administrators: null });
    expect(accessSentence(found)).toBe(
      'Access review: 1 user, 2 accounts; the account tree above 1 account is not known.',
    );
  });

  it('shows accounts that are below one another in a circle as tops, with those below them, and says so', () => {
    const circle = [
      live('accounts', '5', { name: 'Five', account: '6' }),
      live('accounts', '6', { name: 'Six', account: '5' }),
      live('accounts', '7', { name: 'Own parent', account: '7' }),
      live('accounts', '8', { name: 'Below', account: '5' }),
    ];
    const { liveObjects: world } = planScene({
      declared: [],
      live: {
        accounts: [...tree, ...circle],
        account_authorizations: [holds('a', '7', '5', 'administrator')],
      },
    });
    const { access, diagnostics } = accessReview(world, []);
    expect(
      access?.accounts.map(({ name, depth, administrators }) => [name, depth, administrators]),
    ).toEqual([
      ['Five', 0, null],
      ['Below', 1, null],
      ['Own parent', 0, null],
      ['Root', 0, 0],
      ['North', 1, 0],
      ['Oslo', 2, 0],
      ['South', 1, 0],
      ['Six', 0, null],
    ]);
    expect(diagnostics).toMatchObject([
      {
        severity: 'warning',
        code: 'accounts-in-a-circle',
        summary: expect.stringContaining('5, 6, 7.') as unknown,
      },
    ]);
  });

  it('takes the room of an account for each account, however deep they are', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      live('accounts', String(index), {
        name: `A${index}`,
        account: index === 0 ? null : String(index - 1),
      }),
    );
    const before = process.memoryUsage().heapUsed;
    const found = review([holds('a', '7', '0', 'administrator')], [], chain);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(300 * 1024 * 1024);
    expect(found.cells).toHaveLength(20_000);
    expect(found.accounts.at(-1)).toEqual({
      id: '19999',
      name: 'A19999',
      depth: 19_999,
      administrators: 1,
    });
  });

  it('leaves out where roles reach once the matrix would be too large', () => {
    const many = Array.from({ length: 150 }, (_, index) =>
      live('accounts', String(1000 + index), { name: `A${index}`, account: '1' }),
    );
    const users = Array.from({ length: 150 }, (_, index) =>
      holds(`z${index}`, String(index), '1', 'read_only_user'),
    );
    const found = review(users, [], [tree[0] as Live, ...many]);
    expect(found.complete).toBe(false);
    expect(found.cells).toHaveLength(150);
    expect(review(users.slice(0, 100), [], [tree[0] as Live, ...many]).cells).toHaveLength(
      100 * 151,
    );
  });

  it('is none where authorizations were not read', () => {
    expect(accessReview(new Map(), [])).toEqual({ access: null, diagnostics: [] });
  });
});
