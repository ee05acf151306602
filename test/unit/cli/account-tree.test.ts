// The accounts of an export: which one is meant, what belongs to it, and whose customer an account is.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountsOf, accountTree } from '../../../src/cli/account-tree.js';
import { Refusal, type Values } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';

const account = (id: string, name: string, parent: string | null) => ({
  id,
  values: { name, account: parent, id },
});

const tree = accountTree([
  account('1', 'Headquarters', null),
  account('2', 'North', '1'),
  account('3', 'Depot', '2'),
  account('4', 'South', '1'),
  account('5', 'Depot', '4'),
  account('6', '3', '5'),
]);

function refusal(word: string): Refusal {
  try {
    tree.chosen(word);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`${word} was found`);
}

describe('the account that is asked for', () => {
  it.each([
    ['2', '2'],
    ['North', '2'],
    ['/accounts/3/', '3'],
    ['/api/v2/accounts/3/', '3'],
  ])('%j is %s', (word, id) => {
    expect(tree.chosen(word)).toBe(id);
  });

  it('is not guessed', () => {
    const { diagnostics, exit } = refusal('Nroth');
    expect([exit, diagnostics[0]?.code, diagnostics[0]?.summary]).toEqual([
      1,
      'unknown-account',
      'There is no account with the id or the name "Nroth". Did you mean `North`?',
    ]);
  });

  it('is asked for by its id where several have the name', () => {
    const { diagnostics, exit } = refusal('Depot');
    expect([exit, diagnostics[0]?.summary, diagnostics[0]?.detail]).toEqual([
      5,
      '2 accounts have the name "Depot": 3 (below North), 5 (below South).',
      'Give the id of one of them, as in: --account 3',
    ]);
  });
});

describe('an account whose name is the id of another', () => {
  it('is asked for by its path', () => {
    const { diagnostics, exit } = refusal('3');
    expect([exit, diagnostics[0]?.summary, diagnostics[0]?.detail]).toEqual([
      5,
      '2 accounts have the id or the name "3": 3 (below North), 6 (below Depot).',
      'Give the path of one of them, as in: --account /accounts/3/',
    ]);
    expect(tree.chosen('6')).toBe('6');
  });

  it('is meant by its own id', () => {
    expect(accountTree([account('5', '5', '1')]).chosen('5')).toBe('5');
  });
});

describe('the tree', () => {
  it.each([
    ['1', undefined, undefined],
    ['2', undefined, '2'],
    ['3', undefined, '2'],
    ['6', undefined, '4'],
    ['99', undefined, undefined],
    ['6', '4', '5'],
    ['5', '4', '5'],
    ['4', '4', undefined],
    ['3', '4', undefined],
  ])('the customer of %s below %s is %s', (id, root, customer) => {
    expect(tree.customerOf(id, root)).toBe(customer);
  });

  it('has a customer for each topmost account, where nothing listed is above them', () => {
    const forest = accountTree([
      account('2', 'North', '1'),
      account('3', 'Depot', '2'),
      account('4', 'South', '1'),
    ]);
    expect(['2', '3', '4'].map((id) => forest.customerOf(id, undefined))).toEqual(['2', '2', '4']);
  });

  it('ends, even where accounts are their own ancestors', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 8 }),
        fc.nat(5),
        fc.nat(5),
        (edges, one, other) => {
          const any = accountTree(edges.map(([id, up]) => account(`${id}`, 'x', `${up}`)));
          expect(any.isWithin(`${one}`, `${one}`)).toBe(true);
          const customer = any.customerOf(`${one}`, `${other}`);
          expect(customer === undefined || any.isWithin(`${other}`, `${one}`)).toBe(true);
        },
      ),
    );
  });
});

describe('the accounts of an object', () => {
  it.each<[string, Values, readonly string[]]>([
    ['accounts', { name: 'North', account: '1' }, ['7']],
    ['alert_rules', { account: '1', associated_accounts: ['2', '3'] }, ['2', '3']],
    ['alert_rules', { account: '1', associated_accounts: [] }, ['1']],
    ['alert_push_destinations', { account: '1', name: 'Pager' }, ['1']],
    ['account_authorizations', { user: '9', account: '2' }, ['2']],
    ['configuration_managers', { router: '5', account: '2' }, ['2']],
    ['alert_rules', {}, []],
  ])('%s %j: %j', (name, values, ids) => {
    expect(accountsOf(kinds.get(name)!, { id: '7', values })).toEqual(ids);
  });
});
