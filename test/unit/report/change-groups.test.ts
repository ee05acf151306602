// Which changes are read at once: one table, by the addresses of each block.
import { expect, test } from 'vitest';
import type { ResourceChange } from '../../../src/model/index.js';
import { addressesOf, groupsOf, shownDifferences } from '../../../src/report/change-groups.js';
import { patchBetween } from '../../../src/report/patch.js';

const objects = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `accounts.c["${index}"]`);

function update(address: string, name: string, more: Partial<ResourceChange> = {}): ResourceChange {
  const [before, after] = [{ name: `Old ${address}` }, { name }];
  return {
    address,
    kind: 'accounts',
    name: 'c',
    origin: null,
    change: {
      actions: ['update'],
      before,
      after,
      after_unknown: {},
      before_sensitive: {},
      after_sensitive: {},
    },
    reason: 'name changed in the declaration',
    depends_on: [],
    fingerprint: null,
    patch: patchBetween(before, after),
    requests: [{ method: 'PUT', path: `/api/v2/accounts/${address}/`, body: after }],
    ...more,
  };
}

/** From equal values. */
function equalUpdate(address: string): ResourceChange {
  const [before, after] = [{ name: 'a' }, { name: 'b' }];
  const different = update(address, 'b');
  const change = { ...different.change, before, after };
  return { ...different, change, patch: patchBetween(before, after) };
}

const requests = [{ method: 'PATCH', path: '/api/v2/accounts/1/', body: null }] as const;
const importing = (address: string): ResourceChange => {
  const one = update(address, `${address} Ltd`);
  return { ...one, change: { ...one.change, importing: { id: address } } };
};

test.each<[what: string, changes: readonly ResourceChange[], blocks: readonly string[]]>([
  [
    'three members with values of their own',
    objects(3).map((one) => update(one, `${one} Ltd`)),
    ['accounts.c["0", "1", "2"]'],
  ],
  [
    'two of them',
    objects(2).map((one) => update(one, `${one} Ltd`)),
    ['accounts.c["0"]', 'accounts.c["1"]'],
  ],
  [
    'three that are carried out in another order',
    objects(3)
      .toReversed()
      .map((one) => update(one, `${one} Ltd`)),
    ['accounts.c["0", "1", "2"]'],
  ],
  [
    'many with numbers in their keys',
    Array.from({ length: 20 }, (_, index) => `accounts.c["c${index + 1}"]`)
      .toSorted()
      .map((one) => update(one, `${one} Ltd`)),
    ['accounts.c["c1"…"c20"] (20)'],
  ],
  ['three that are adopted', objects(3).map(importing), ['accounts.c["0", "1", "2"]']],
  [
    'three of no for_each',
    ['a', 'b', 'c'].map((name) => update(`accounts.${name}`, `${name} Ltd`)),
    ['accounts.a', 'accounts.b', 'accounts.c'],
  ],
  [
    'many equal ones, and two others',
    [
      ...objects(7).map(equalUpdate),
      ...['x', 'y'].map((key) => update(`accounts.c["${key}"]`, `${key} Ltd`)),
    ],
    ['accounts.c["0"…"6"] (7)', 'accounts.c["x"]', 'accounts.c["y"]'],
  ],
  [
    'equal ones of two for_each',
    [...objects(3), ...objects(3).map((one) => one.replace('.c', '.d'))].map(equalUpdate),
    ['accounts: c["0"], c["1"], c["2"], d["0"], d["1"], d["2"]'],
  ],
  [
    'one with another reason',
    objects(4).map((one, index) =>
      update(one, `${one} Ltd`, index === 3 ? { reason: 'name changed outside of trueup' } : {}),
    ),
    ['accounts.c["0", "1", "2"]', 'accounts.c["3"]'],
  ],
  [
    'equal ones that are renamed with their for_each, and one that is renamed alone',
    objects(4).map((one, index) => ({
      ...equalUpdate(one),
      previous_address: index === 3 ? 'accounts.old["z"]' : one.replace('.c', '.old'),
    })),
    ['accounts.c["0", "1", "2"]', 'accounts.c["3"]'],
  ],
  [
    'one with another request',
    objects(4).map((one, index) => update(one, `${one} Ltd`, index === 3 ? { requests } : {})),
    ['accounts.c["0", "1", "2"]', 'accounts.c["3"]'],
  ],
])('%s', (_, changes, blocks) => {
  expect(groupsOf(changes, false).map(addressesOf)).toEqual(blocks);
  expect(groupsOf(changes, true).map(addressesOf)).toEqual(changes.map(({ address }) => address));
});

test('updates show each value, and what is created the first and the last', () => {
  const created = objects(3).map((one): ResourceChange => {
    const { change } = update(one, one);
    return update(one, one, { change: { ...change, actions: ['create'], before: null } });
  });
  const paths = (changes: readonly ResourceChange[]) =>
    groupsOf(changes, false)
      .flatMap(shownDifferences)
      .map(({ path }) => path);
  expect(paths(objects(3).map((one) => update(one, `${one} Ltd`)))).toEqual(
    objects(3).map((_, index) => `["${index}"].name`),
  );
  expect(paths(objects(3).map(equalUpdate))).toEqual(['name']);
  expect(paths(created)).toEqual(['name']);
});
