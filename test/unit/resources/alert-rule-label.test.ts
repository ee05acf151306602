// What a rule is called, which has no name.
import { describe, expect, test } from 'vitest';
import { labelOf, type Values } from '../../../src/model/index.js';
import { alertRules } from '../../../src/resources/alert-rules.js';

const names: Readonly<Record<string, string>> = {
  'accounts 1': 'North',
  'alert_push_destinations d-1': 'Pager',
  'alert_push_destinations d-2': 'Desk',
  'accounts 9': `${'x'.repeat(28)}\ud83d\ude00 and more`,
};
const label = (values: Values): string | null =>
  labelOf(alertRules, values, (kind, id) => names[`${kind} ${id}`]);
const rule: Values = {
  associated_accounts: ['1'],
  filter_criteria: { alert_type__in: ['a'] },
  http_destinations: ['d-1'],
};

describe('a rule is called after what it sends where', () => {
  test.each<readonly [Values, string]>([
    [{}, 'North: a → Pager'],
    [{ associated_accounts: ['1', '2'] }, 'North and 1 more: a → Pager'],
    [{ associated_accounts: ['2'] }, 'account 2: a → Pager'],
    [{ associated_accounts: null, associated_groups: ['5'] }, 'group 5: a → Pager'],
    [{ associated_accounts: [] }, 'no account: a → Pager'],
    [{ filter_criteria: { alert_type__in: ['a', 'b', 'c'] } }, 'North: a and 2 more → Pager'],
    [{ filter_criteria: null }, 'North: no alert type → Pager'],
    [{ http_destinations: ['d-1', 'd-2'] }, 'North: a → Pager, 1 more'],
    [{ http_destinations: ['d-8', 'd-2'] }, 'North: a → Desk, 1 more'],
    [{ http_destinations: ['d-8', 'd-9'] }, 'North: a → 2 by webhook'],
    [{ email_destinations: ['7', '8'] }, 'North: a → Pager, 2 by e-mail'],
    [{ http_destinations: [], email_destinations: ['7'] }, 'North: a → 1 by e-mail'],
    [{ http_destinations: null }, 'North: a → nobody'],
  ])('%j', (more, expected) => expect(label({ ...rule, ...more })).toBe(expected));

  test('long names are shortened between characters', () =>
    expect(label({ ...rule, associated_accounts: ['9'] })).toBe(`${'x'.repeat(28)}…: a → Pager`));
});
