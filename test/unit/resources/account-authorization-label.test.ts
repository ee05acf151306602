// What a role is called, which has no name: after the user and the account; and what to do where there is none.
import { describe, expect, test } from 'vitest';
import { labelOf, type Values } from '../../../src/model/index.js';
import { accountAuthorizations } from '../../../src/resources/account-authorizations.js';

const names: Readonly<Record<string, string>> = {
  'users 77': 'dana@example.com',
  'accounts 1': 'North',
  'accounts 3': 'O&#39;Brien &amp; Sons',
};

describe('a role is called after user and account', () => {
  test.each<readonly [Values, string]>([
    [{ user: '77', account: '1' }, 'dana@example.com on North'],
    [{ user: '78', account: '1' }, 'user 78 on North'],
    [{ user: '77', account: '3' }, "dana@example.com on O'Brien & Sons"],
    [{ user: '77', account: '2' }, 'dana@example.com on account 2'],
    [{ user: null, account: null }, 'no user on no account'],
  ])('%j', (values, expected) =>
    expect(labelOf(accountAuthorizations, values, (kind, id) => names[`${kind} ${id}`])).toBe(
      expected,
    ),
  );
});

const INVITE =
  /user 78\. Invite or authorise the user in the service first, then plan again\.(?!.*id space)/;

test.each<readonly [Values, RegExp]>([
  [{ user: '78', account: '1' }, INVITE],
  [{ user: '78', account: '2' }, INVITE],
  [
    { user: '77', account: '2' },
    /of account 2, only of 1\. If user 77 has no role there, authorise the user in the service first, then plan again\. Otherwise, v3 may know/,
  ],
  [{ user: '77', account: '1' }, /^undefined$/],
])('a role that nobody has: %j', (values, words) =>
  expect(String(accountAuthorizations.unmatched(values, [{ user: '77', account: '1' }]))).toMatch(
    words,
  ),
);
