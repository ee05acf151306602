// The engine knows no vendor: no name of a kind, a collection, a role or a policy rule of the service stands in it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collections } from '../../../src/resources/index.js';
import { roleLadder } from '../../../src/resources/role-ladder.js';
import { ruleNames } from '../../../src/resources/rules/names.js';

const names = [...collections.values()].flatMap(({ name, singular }) =>
  singular.includes('_') ? [name, singular] : [name],
);

/** What is left in the model: published documents, settings and the provider block name parts of the service. */
const left: Readonly<Record<string, readonly string[]>> = {
  'documents/drift-document.ts': ['accounts', 'alerts', 'groups', 'routers', 'users'],
  'names/terraform-names.ts': ['last-administrator'],
};

const lines = (folder: string): readonly (readonly [file: string, line: string])[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .map((line) => [file, line] as const),
    );

test.each(['src/reconciler', 'src/model'])('%s names nothing of the service', (folder) => {
  // "accounts for" is a verb.
  const word = new RegExp(
    String.raw`(?<![\w-])(?:${[...names, ...ruleNames, ...roleLadder].join('|')})(?![\w-]| for\b)`,
    'g',
  );
  const found = lines(folder).flatMap(([file, line]) =>
    (line.match(word) ?? [])
      .filter((name) => left[file]?.includes(name) !== true)
      .map((name) => `${file}: ${name} in ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test('the list of what is left is no longer than it has to be', () => {
  const text = new Map(
    Object.keys(left).map((file) => [file, readFileSync(join('src/model', file), 'utf8')]),
  );
  for (const [file, some] of Object.entries(left))
    for (const name of some)
      expect([file, name, text.get(file)?.includes(name)]).toEqual([file, name, true]);
});
