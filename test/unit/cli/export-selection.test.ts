// What an export reads: kinds beyond the API reference only if the command or the settings name them. And what it warns of.
import { describe, expect, test } from 'vitest';
import { exportRequest, exportSelection } from '../../../src/cli/export-selection.js';
import {
  emptyState,
  maskingOf,
  type CloudReader,
  type Diagnostic,
} from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { entry } from '../../support/planning.js';

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

  test('the kinds that the state holds', () => {
    const resources = { 'groups.g': entry('groups', '9', {}) };
    const state = { ...emptyState('lineage', 'cloud'), resources };
    const snapshot = { state, pending: [], unfinished: false };
    const { wanted } = exportRequest({ kinds, flags: {} }, [], {}, snapshot);
    expect(wanted.map(({ name }) => name)).toEqual([...published, 'groups']);
  });
});

describe('a filter of an export', () => {
  const objects = ['Headquarters', 'North'].map((name, index) => {
    const values = { id: `${index + 1}`, name };
    return { id: values.id, values, record: values };
  });

  /** @param obeys whether the service obeys filters */
  async function warningsFor(filter: string, obeys: boolean): Promise<readonly string[]> {
    const told: Diagnostic[] = [];
    const flags = { filter: [filter] };
    const cloud: Pick<CloudReader, 'list' | 'records'> = {
      list: () => Promise.resolve({ objects, notes: [], at: 0 } as never),
      async *records() {
        yield await Promise.resolve(obeys ? objects.slice(0, 1) : objects);
      },
    };
    await exportSelection(
      {
        kinds,
        flags,
        masking: maskingOf(),
        tell: (some: readonly Diagnostic[]) => Promise.resolve(void told.push(...some)),
      },
      { cloud: cloud as CloudReader, snapshot: undefined },
      exportRequest({ kinds, flags }, ['accounts']),
    );
    return told.map(({ code, summary }) => `${code}: ${summary}`);
  }

  test.each([
    [
      'is told of if the service ignores it',
      false,
      ['filter-ignored: 1 of 2 accounts do not match --filter name=Headquarters.'],
    ],
    ['is not told of if the service obeys it', true, []],
  ])('%s', async (_, obeys, warnings) =>
    expect(await warningsFor('name=Headquarters', obeys)).toEqual(warnings),
  );
});
