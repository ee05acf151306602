// What a program told to wait for comes first, although nothing refers to it.
import { describe, expect, it } from 'vitest';
import type { Declaration } from '../../../src/model/index.js';
import { graph } from '../../../src/reconciler/plan/dependency-graph.js';

const declared = (
  waits: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, Declaration> => {
  const origin = { file: 'cdktf.json', line: 0, column: 0, path: 'base/x' };
  return new Map(
    Object.entries(waits).map(([address, depends_on]) => [
      address,
      {
        address,
        kind: 'accounts',
        name: address.slice('accounts.'.length),
        values: {},
        lifecycle: {},
        origin,
        at: () => origin,
        depends_on,
      },
    ]),
  );
};

describe('an explicit order', () => {
  it.each([
    ['one', { 'accounts.a': ['accounts.z'], 'accounts.z': [] }, ['accounts.z', 'accounts.a']],
    [
      'all members of a for_each',
      { 'accounts.a': ['accounts.z'], 'accounts.z["1"]': [], 'accounts.z["2"]': [] },
      ['accounts.z["1"]', 'accounts.z["2"]', 'accounts.a'],
    ],
    [
      'one member',
      { 'accounts.a': ['accounts.z["2"]'], 'accounts.z["1"]': [], 'accounts.z["2"]': [] },
      ['accounts.z["2"]', 'accounts.a', 'accounts.z["1"]'],
    ],
    [
      'a member and its own whole',
      { 'accounts.a["1"]': ['accounts.a'], 'accounts.a["2"]': [] },
      ['accounts.a["2"]', 'accounts.a["1"]'],
    ],
  ])('waits for %s', (_, waits, order) => {
    const found = graph(declared(waits), () => false);
    expect([found.order, found.diagnostics]).toEqual([order, []]);
  });

  it('complains of a circle, and of what is nowhere', () => {
    expect(
      graph(
        declared({ 'accounts.a': ['accounts.b'], 'accounts.b': ['accounts.a'] }),
        () => false,
      ).diagnostics.map(({ code }) => code),
    ).toEqual(['cycle']);
    const [found] = graph(
      declared({ 'accounts.a': ['accounts.bb'], 'accounts.b': [] }),
      () => false,
    ).diagnostics;
    expect([found?.code, found?.summary]).toEqual([
      'unknown-reference',
      'accounts.a depends on accounts.bb, which is declared nowhere. Did you mean `accounts.b`?',
    ]);
    const [circle] = graph(declared({ 'accounts.a': ['accounts.aa'] }), () => false).diagnostics;
    expect(circle?.summary).toBe('accounts.a depends on accounts.aa, which is declared nowhere.');
    expect(
      graph(declared({ 'accounts.a': ['accounts.bb'] }), (address) => address === 'accounts.bb')
        .diagnostics,
    ).toEqual([]);
  });
});
