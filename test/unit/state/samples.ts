// Records as a run would write them, short enough to read in a table.
import type { Entry, Intent, Result } from '../../../src/model/index.js';

export const TARGET = 'https://cloud.example.com/api/v2';

export function entry(id: string, more: Partial<Entry> = {}): Entry {
  return {
    kind: 'accounts',
    id,
    file: 'estate.yaml',
    applied: { name: `n${id}` },
    observed: { name: `n${id}` },
    depends_on: [],
    applied_at: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

export function intent(op: string, address = `accounts.a${op}`): Intent {
  return {
    type: 'intent',
    op,
    address,
    kind: 'accounts',
    action: 'create',
    content: 'c0ffee',
    body: { name: op },
    preimage: ['1'],
    highest: '9',
    at: '2026-01-01T00:00:00.000Z',
  };
}

export function result(op: string, more: Partial<Result> = {}): Result {
  return {
    type: 'result',
    op,
    class: 'applied',
    address: `accounts.a${op}`,
    entry: entry(op),
    ...more,
  };
}

/** A result that changes nothing: rejected, not sent, or unknown. */
export function failed(
  op: string,
  what: 'rejected' | 'not_sent' | 'unknown',
  more: Partial<Result> = {},
): Result {
  return { type: 'result', op, class: what, address: `accounts.a${op}`, ...more };
}

/** A result of memory alone: binds or lets go of an address. */
export function memory(address: string, bound: Entry | null, more: Partial<Result> = {}): Result {
  return { type: 'result', class: 'applied', address, entry: bound, ...more };
}
