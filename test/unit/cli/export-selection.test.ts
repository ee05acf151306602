// What an export reads: kinds beyond the API reference only if the command or the settings name them.
import { describe, expect, test } from 'vitest';
import { exportRequest } from '../../../src/cli/export-selection.js';
import { kinds } from '../../../src/resources/index.js';

const read = (names: readonly string[], named: readonly string[] = []): readonly string[] =>
  exportRequest({ kinds, flags: {} }, names, { kinds: named }).read.map(({ name }) => name);

const published = [
  'accounts',
  'alert_push_destinations',
  'alert_rules',
  'account_authorizations',
  'configuration_managers',
];

describe('an export reads', () => {
  test.each<[what: string, names: string[], named: string[], read: string[]]>([
    ['the published kinds without names', [], [], published],
    ['what the settings name as well', [], ['users'], [...published, 'users']],
    ['a kind beyond the reference by its name', ['users'], [], ['users']],
    [
      'what a kind refers to, but nothing beyond',
      ['account_authorizations'],
      [],
      ['accounts', 'account_authorizations'],
    ],
    [
      'what a kind refers to, and the settings name',
      ['account_authorizations'],
      ['users'],
      ['accounts', 'account_authorizations', 'users'],
    ],
  ])('%s', (_, names, named, wanted) => expect(read(names, named)).toEqual(wanted));
});
