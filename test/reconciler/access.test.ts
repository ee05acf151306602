// Who may do what where: the matrix, what is inherited through the tree, and where it is not as declared.
import { describe, expect, it } from 'vitest';
import type { AccessReview, Live } from '../../src/model/index.js';
import { accessReview } from '../../src/reconciler/access.js';
import { declare, live, planScene } from '../support/planning.js';

const tree = [
  live('accounts', '1', { name: 'Root', account: null }),
  live('accounts', '20', { name: 'South', account: '1' }),
  live('accounts', '3', { name: 'North', account: '1' }),
  live('accounts', '4', { name: 'Oslo', account: '3' }),
];
const holds = (id: string, user: string, account: string, role: string): Live => live('account_authorizations', id, { user, account, role });

function review(authorizations: readonly Live[], declared: Parameters<typeof planScene>[0]['declared'] = [], accounts: readonly Live[] = tree): AccessReview {
  const { plan, world } = planScene({ declared, live: { accounts, account_authorizations: authorizations } });
  return accessReview(world, plan.changes) as AccessReview;
}
const cells = ({ cells: all }: AccessReview): readonly string[] =>
  all.map(({ user, account, role, inherited_from, declared }) =>
    [user, account, role, inherited_from && `from ${inherited_from}`, declared && `not ${declared}`].filter(Boolean).join(' '),
  );

describe('the access review', () => {
  it('goes down the tree, and counts who administers each account', () => {
    const found = review([holds('a', '7', '1', 'administrator'), holds('b', '8', '3', 'read_only_user'), holds('c', '10', '4', 'administrator')]);
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

  it.each([
    ['the higher of two', 'read_only_user', 'administrator', '7 3 administrator from 1'],
    ['its own where that is higher', 'administrator', 'read_only_user', '7 3 administrator'],
    ['what is inherited over none', 'no_access', 'full_access_user', '7 3 full_access_user from 1'],
    ['its own where none is inherited', 'read_only_user', 'no_access', '7 3 read_only_user'],
    ['its own that nobody knows', 'diagnostic', 'full_access_user', '7 3 diagnostic'],
    ['an administrator over what nobody knows', 'diagnostic', 'administrator', '7 3 administrator from 1'],
    ['its own over what nobody knows', 'read_only_user', 'diagnostic', '7 3 read_only_user'],
    ['what nobody knows over none', 'no_access', 'diagnostic', '7 3 diagnostic from 1'],
  ])('shows %s', (_, own, above, expected) => {
    expect(cells(review([holds('a', '7', '3', own), holds('b', '7', '1', above)]))).toContain(expected);
  });

  it('marks where a role is not as declared, and where it is declared', () => {
    const declared = [
      declare('account_authorizations.dana', { user: '7', account: '3', role: 'read_only_user' }),
      declare('account_authorizations.lee', { user: '8', account: '3', role: 'administrator' }),
    ];
    const found = review([holds('a', '7', '3', 'administrator'), holds('b', '8', '3', 'administrator'), holds('c', '9', '3', 'administrator')], declared);
    expect(found.cells.filter(({ account }) => account === '3')).toEqual([
      { user: '7', account: '3', role: 'administrator', address: 'account_authorizations.dana', declared: 'read_only_user' },
      { user: '8', account: '3', role: 'administrator', address: 'account_authorizations.lee' },
      { user: '9', account: '3', role: 'administrator' },
    ]);
  });

  it('names accounts that nobody listed, and survives a tree that goes in circles', () => {
    const circle = [live('accounts', '5', { name: 'Five', account: '6' }), live('accounts', '6', { name: 'Six', account: '5' })];
    const found = review([holds('a', '7', '99', 'administrator'), holds('b', '7', '5', 'read_only_user')], [], circle);
    expect(cells(found).toSorted()).toEqual(['7 5 read_only_user', '7 99 administrator']);
    expect(found.accounts.map(({ id, name }) => `${id} ${name}`).toSorted()).toEqual(['5 5', '99 99']);
  });

  it('leaves out where roles reach once the matrix would be too large', () => {
    const many = Array.from({ length: 150 }, (_, index) => live('accounts', String(1000 + index), { name: `A${index}`, account: '1' }));
    const users = Array.from({ length: 150 }, (_, index) => holds(`z${index}`, String(index), '1', 'read_only_user'));
    const found = review(users, [], [tree[0] as Live, ...many]);
    expect(found.complete).toBe(false);
    expect(found.cells).toHaveLength(150);
    expect(review(users.slice(0, 100), [], [tree[0] as Live, ...many]).cells).toHaveLength(100 * 151);
  });

  it('is none where authorizations were not read', () => {
    expect(accessReview(new Map(), [])).toBeNull();
  });
});
