// What a run counts, by the records of its journal.
import { describe, expect, it } from 'vitest';
import { countApplied, emptyState, type JournalRecord } from '../../../src/model/index.js';
import { entry, failed, intent, memory, result, TARGET } from '../state/samples.js';

const before = {
  ...emptyState('lineage', TARGET),
  resources: { 'accounts.a1': entry('1'), 'accounts.a2': entry('2', { deposed: ['9'] }) },
};
const write = (op: string, action: 'update' | 'delete') => ({ ...intent(op), action, id: op });
const lately = {
  what: 'deleted' as const,
  kind: 'accounts',
  id: '1',
  at: '2026-01-01T00:00:00.000Z',
};

describe('forgotten is an object that', () => {
  it.each<[string, number, readonly JournalRecord[]]>([
    ['leaves its address', 1, [memory('accounts.a1', null)]],
    ['leaves with what it replaced', 2, [memory('accounts.a2', null)]],
    ['was replaced, and is gone', 1, [memory('accounts.a2', entry('2'))]],
    ['was adopted before', 1, [memory('accounts.b', entry('7')), memory('accounts.b', null)]],
  ])('%s', (_, forgotten, records) => {
    expect(countApplied(before, records)).toMatchObject({ forgotten });
  });
});

describe('not forgotten is an object that', () => {
  it.each<[string, readonly JournalRecord[]]>([
    ['is renamed', [memory('accounts.b', entry('1')), memory('accounts.a1', null)]],
    [
      'is renamed, and retired by an update',
      [
        memory('accounts.b', entry('1')),
        memory('accounts.a1', null),
        write('1', 'update'),
        result('1', { address: 'accounts.b', entry: null }),
      ],
    ],
    ['is deleted', [write('1', 'delete'), result('1', { entry: null, lately })]],
    [
      'was deleted by an interrupted run',
      [
        write('1', 'delete'),
        { type: 'result', op: '1', class: 'applied', address: 'accounts.a1', lately },
        memory('accounts.a1', null),
      ],
    ],
    ['is retired by an update', [write('1', 'update'), result('1', { entry: null })]],
    [
      'is retired by an update that nobody can see yet',
      [write('1', 'update'), memory('accounts.a1', null), failed('1', 'unknown')],
    ],
    ['is created again', [intent('1'), result('1', { entry: entry('8') })]],
    ['is replaced outside of trueup', [memory('accounts.a1', entry('8'))]],
    ['is another address as well', [memory('accounts.b', entry('1')), memory('accounts.b', null)]],
  ])('%s', (_, records) => {
    expect(countApplied(before, records)).toMatchObject({ forgotten: 0 });
  });
});
