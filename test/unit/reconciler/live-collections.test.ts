// What is taken for live, and what for gone.
import { expect, it } from 'vitest';
import type { CloudReader, Kind, Live } from '../../../src/model/index.js';
import { nothingRecent } from '../../../src/reconciler/recent-writes.js';
import { observe, readAgain, storedValues } from '../../../src/reconciler/live-collections.js';
import { kinds } from '../../../src/resources/index.js';
import { entry, live } from '../../support/planning.js';

const pager = live('alert_push_destinations', 'd-1', {
  name: 'Pager',
  authentication: { secret: 'canary' },
});

/** Ids that are observed where a listing has these objects, and a look for single ids those. */
async function seen(
  listed: readonly Live[],
  found: readonly Live[],
): Promise<{
  readonly ids: readonly string[];
  readonly asked: readonly string[];
  readonly text: string;
}> {
  const asked: string[] = [];
  const cloud = {
    list: (kind: { readonly name: string }) =>
      Promise.resolve({ kind: kind.name, objects: listed }),
    find: (_: unknown, ids: readonly string[]) => {
      asked.push(...ids);
      return Promise.resolve(found);
    },
  } as unknown as CloudReader;
  const entries = [
    entry('alert_push_destinations', 'd-1', { name: 'Pager' }),
    entry('accounts', '7', { name: 'of another kind' }),
  ];
  const world = await observe(
    { cloud, kinds, entries, emit: () => undefined, visibility: nothingRecent },
    ['alert_push_destinations'],
  );
  const byId = world.get('alert_push_destinations')?.byId ?? new Map<string, Live>();
  return {
    ids: [...byId.keys()],
    asked,
    text: JSON.stringify([...byId.values()].map(({ values }) => values)),
  };
}

it('looks once more for a recorded id that a listing lacks, and only then takes it for gone', async () => {
  expect(await seen([pager], [])).toMatchObject({ ids: ['d-1'], asked: [] });
  expect(await seen([], [pager])).toMatchObject({ ids: ['d-1'], asked: ['d-1'] });
  expect(await seen([], [])).toMatchObject({ ids: [], asked: ['d-1'] });
});

it('keeps no secret, even where the service answers one in clear', async () => {
  for (const { text } of [await seen([pager], []), await seen([], [pager])]) {
    expect(text).toContain('Pager');
    expect(text).not.toContain('canary');
  }
});

it('remembers nothing that the service says in its own words', () => {
  const kind = kinds.get('alert_push_destinations') as Kind;
  const seen = storedValues(kind, {
    ...pager.values,
    last_error_at: '2026-01-01T00:00:00.000Z',
    last_error_text: 'whatever',
  });
  expect(Object.keys(seen).toSorted()).toEqual(['destination_config_id', 'last_error_at', 'name']);
});

it.each<
  [what: string, listed: readonly string[], filtered: readonly string[], exists: readonly string[]]
>([
  ['an account that moved between two pages is found by its name', ['1'], ['2'], ['1', '2']],
  [
    'an account that the filter withholds is there, as the listing shows it',
    ['1', '2'],
    [],
    ['1', '2'],
  ],
  [
    'a filter that is ignored brings everything, and harms nothing',
    ['1', '2'],
    ['1', '2', '3'],
    ['1', '2', '3'],
  ],
])(
  'before a creation, what either reading shows exists: %s',
  async (_, listed, filtered, exists) => {
    const kind = kinds.get('accounts') as Kind;
    const account = (id: string): Live => live('accounts', id, { name: `Site ${id}` });
    const asked: object[] = [];
    const cloud = {
      search: (_kind: Kind, filters: object) => {
        asked.push(filters);
        return Promise.resolve(filtered.map(account));
      },
    } as unknown as CloudReader;
    const collection = { kind, byId: new Map(listed.map((id) => [id, account(id)])), pages: 2 };
    const again = await readAgain({ cloud, visibility: nothingRecent }, collection, [
      { values: { name: 'Site 2' } },
    ]);
    expect({ asked, exists: [...again.byId.keys()].toSorted() }).toEqual({
      asked: [{ name: 'Site 2' }],
      exists,
    });
  },
);

it('before a creation, a nearly equal object is looked for in the listing, and an equal one also by its name', async () => {
  const kind = kinds.get('accounts') as Kind;
  const account = (id: string): Live => live('accounts', id, { name: `Site ${id}` });
  const cloud = {
    search: () => Promise.resolve([account('2')]),
    list: () => Promise.resolve({ objects: [account('1'), account('3')] }),
  } as unknown as CloudReader;
  const collection = { kind, byId: new Map([['1', account('1')]]), pages: 2 };
  const again = await readAgain({ cloud, visibility: nothingRecent }, collection, [
    { values: { name: 'Site 2' }, ofAnyName: true },
  ]);
  expect([...again.byId.keys()].toSorted()).toEqual(['1', '2', '3']);
});

it.each([
  [
    'until two show the same',
    [
      ['1', '3'],
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
    3,
    ['1', '2', '3'],
  ],
  ['once, where it shows what the first showed', [['1']], 1, ['1']],
  [
    'three times at most',
    [
      ['1', '3'],
      ['1', '4'],
      ['1', '5'],
    ],
    3,
    ['1', '3', '4', '5'],
  ],
])(
  'before a creation, a listing in which objects come and go is read again: %s',
  async (_, listings, count, exists) => {
    const kind = kinds.get('accounts') as Kind;
    const account = (id: string): Live => live('accounts', id, { name: `Site ${id}` });
    let turn = 0;
    const cloud = {
      search: () => Promise.resolve([]),
      list: () => Promise.resolve({ objects: listings[turn++]!.map(account) }),
    } as unknown as CloudReader;
    const collection = { kind, byId: new Map([['1', account('1')]]), pages: 2 };
    const again = await readAgain({ cloud, visibility: nothingRecent }, collection, [
      { values: { name: 'Site 2' }, ofAnyName: true },
    ]);
    expect([turn, [...again.byId.keys()].toSorted()]).toEqual([count, exists]);
  },
);
