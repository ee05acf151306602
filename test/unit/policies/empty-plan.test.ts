// What a test of a policy gives of a plan document, and what it misspells.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/index.js';
import { emptyPlan, filledIn, fullPlan, unknownMembers } from '../../../src/policies/empty-plan.js';

test('members that a test leaves out are those of an empty plan, at every level', () => {
  const plan = filledIn(emptyPlan, { summary: { delete: 6 }, unmanaged: { accounts: 1 } });
  expect(plan['summary']).toEqual({ ...(emptyPlan['summary'] as JsonObject), delete: 6 });
  expect(plan['unmanaged']).toEqual({ accounts: 1 });
  expect(plan['target']).toBe('');
});

test.each<[given: JsonObject, unknown: readonly string[]]>([
  [{ summary: { delete: 1, writes: { create: 1 } }, target: 'x' }, []],
  [{ unmanaged: { accounts: 1 }, api_requests: { accounts: 1 }, impact: {} }, []],
  [{ resource_changes: [{ kind: 'x', origin: { line: 1 }, change: { after: { zzz: 1 } } }] }, []],
  [
    { resource_changes: [{ kind: 'x' }, { addres: 'x', change: { action: [] } }] },
    [
      '`plan.resource_changes[1].addres`. Did you mean `address`?',
      '`plan.resource_changes[1].change.action`. Did you mean `actions`?',
    ],
  ],
  [
    { trueup_version: '', compared: {}, generated_from: { pathes: [] } },
    ['`plan.generated_from.pathes`. Did you mean `paths`?'],
  ],
  [{ policy: [{ rul: 'x' }] }, ['`plan.policy[0].rul`. Did you mean `rule`?']],
  [{ summry: { delete: 1 } }, ['`plan.summry`. Did you mean `summary`?']],
  [{ summary: { deletes: 1 } }, ['`plan.summary.deletes`. Did you mean `delete`?']],
  [{ summary: { writes: { zzz: 1 } } }, ['`plan.summary.writes.zzz`.']],
])('of %j nothing would read %j', (given, unknown) => {
  expect(unknownMembers(fullPlan, given, 'plan')).toEqual(unknown);
});

test('an empty plan has no member that a plan cannot have', () => {
  expect(unknownMembers(fullPlan, emptyPlan, 'plan')).toEqual([]);
});
