// The folders of customers, whatever their accounts are called.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountTree } from '../../../src/cli/account-tree.js';
import { splitFiles } from '../../../src/cli/export-folders.js';
import type { ExportedObject, ExportSelection } from '../../../src/cli/export-selection.js';
import { declarationName } from '../../../src/declarations/writing.js';
import type { Kind } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';

const accounts = kinds.get('accounts') as Kind;
const rules = kinds.get('alert_rules') as Kind;

/** Customers 2, 3, … below account 1, and rules of these accounts. */
function selection(names: readonly string[], scopes: readonly (readonly string[])[] = []) {
  const objects = ['Headquarters', ...names].map((name, index): ExportedObject => {
    const id = `${index + 1}`;
    const values = { name, account: index === 0 ? null : '1' };
    return { id, values, comments: [], accounts: [id] };
  });
  const byId = new Map(objects.map(({ id }, index) => [id, ['Headquarters', ...names][index]]));
  return {
    chosen: new Map([
      [accounts, objects],
      [
        rules,
        scopes.map((ids, index) => ({ id: `r${index}`, values: {}, comments: [], accounts: ids })),
      ],
    ]),
    labels: (_, id) => byId.get(id),
    taken: new Map(),
    tree: accountTree(objects),
  } satisfies ExportSelection;
}

const foldersOf = (names: readonly string[]): readonly string[] => {
  const fileOf = splitFiles(selection(names), declarationName);
  return names.map((_, index) => fileOf(accounts, `${index + 2}`));
};

describe('the folders of customers', () => {
  it.each([
    [
      ['Acme', 'Bravo & Sons'],
      ['acme', 'bravo-sons'],
    ],
    [
      ['../../etc', 'a/b\\c', '.hidden', '..'],
      ['etc', 'a-b-c', 'hidden', 'account-5'],
    ],
    [
      ['nul', 'COM1', 'con', 'Con Account'],
      ['nul-account', 'com1-account', 'con-account', 'con-account-2'],
    ],
    [
      ['ACME', 'acme', 'Ａcme'],
      ['acme', 'acme-2', 'acme-3'],
    ],
    [
      ['Caf\u00e9', 'Cafe\u0301', 'cafe\0'],
      ['cafe', 'cafe-2', 'cafe-3'],
    ],
    [
      ['node_modules', 'trueup.out', 'shared.yaml'],
      ['node-modules', 'trueup-out', 'shared-yaml'],
    ],
    [
      ['日本', ''],
      ['account-2', 'account-3'],
    ],
  ])('%j: %j', (names, folders) => {
    expect(foldersOf(names)).toEqual(folders.map((folder) => `${folder}/account.yaml`));
  });

  it('are names on every disk, no two alike', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('aux', 'AUX', 'lpt9', 'x'.repeat(300), 'X'.repeat(300), 'con', 'con-account'),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 12 }), (names) => {
        const folders = foldersOf(names);
        expect(new Set(folders).size).toBe(names.length);
        for (const folder of folders) {
          expect(folder).toMatch(/^[a-z][a-z0-9-]{0,64}\/account\.yaml$/);
          expect(folder).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)\//);
        }
      }),
    );
  });

  it('hold what belongs to one customer alone', () => {
    const fileOf = splitFiles(
      selection(['Acme', 'Bravo'], [['2'], ['2', '3'], ['1'], [], ['3']]),
      declarationName,
    );
    expect(['r0', 'r1', 'r2', 'r3', 'r4'].map((id) => fileOf(rules, id))).toEqual([
      'acme/account.yaml',
      'shared.yaml',
      'shared.yaml',
      'shared.yaml',
      'bravo/account.yaml',
    ]);
    expect(fileOf(accounts, '1')).toBe('shared.yaml');
  });
});
