// The compiler accepts only names that exist as the target of a reference. The compiler reads this file with all others,
// and refuses an expected error that does not come.
import { expect, test } from 'vitest';
import { ref } from '../../../src/resources/ref.js';

test('a reference takes the name of a kind, of a collection and of an external', () => {
  expect(
    [
      ref('An account.', 'accounts'),
      ref('A subscription.', 'subscriptions'),
      ref('A user.', 'users'),
    ].map(({ to }) => to),
  ).toEqual(['accounts', 'subscriptions', 'users']);
});

test('a reference to anything else does not compile', () => {
  // @ts-expect-error nothing has this name
  expect(ref('A gate.', 'gates').word).toBe('ref');
  // @ts-expect-error the name of a kind is plural
  expect(ref('An account.', 'account', { optional: true }).word).toBe('ref');
});
