// Attributes in messages about what a program made, as the program writes them.
import { expect, it } from 'vitest';
import { propNamer } from '../../../src/declarations/index.js';
import { camel, walk, type Diagnostic } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';

const program = { file: 'main.mjs', line: 4, column: 3, path: 'one/rule' };
const said = (summary: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: 'error',
  code: 'x',
  summary,
  origin: program,
  ...more,
});
const named = propNamer(kinds);

it.each([
  [
    '`alert_typ__in` is not an attribute of `filter_criteria`',
    '`alert_typ__in` is not an attribute of `filterCriteria`',
  ],
  ['Attributes: schedule, associated_accounts.', 'Attributes: schedule, associatedAccounts.'],
  ['`authentication.secret_wo` is secret', '`authentication.secretWo` is secret'],
  ['`secret_wo_version` is not a number', '`secretWoVersion` is not a number'],
  [
    '${accounts.a.resource_url} stands in `http_destinations.0`',
    '${accounts.a.resource_url} stands in `httpDestinations.0`',
  ],
  ['`lifecycle.ignore_changes` names', '`lifecycle.ignoreChanges` names'],
  ['an alert_rules of alert_push_destinations', 'an alert_rules of alert_push_destinations'],
  ['TRUEUP_MGR_API_ID and --is_disabled-x', 'TRUEUP_MGR_API_ID and --is_disabled-x'],
])('%s', (summary, expected) => {
  const { origin: _, ...elsewhere } = said(summary);
  expect(named(elsewhere)).toEqual(elsewhere);
  expect(named(said(summary, { detail: summary, attribute: 'is_disabled' }))).toEqual(
    said(expected, { detail: expected, attribute: 'isDisabled' }),
  );
});

it('every attribute of every kind is named as its prop', () => {
  for (const { attributes } of kinds.values())
    for (const [path] of walk(attributes))
      expect(named(said(`\`${path}\` is wrong`)).summary).toBe(
        `\`${path.split('.').map(camel).join('.')}\` is wrong`,
      );
});
