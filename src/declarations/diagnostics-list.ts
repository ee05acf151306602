// Gathers complaints. Making one costs a look into its file, so that beyond a number nobody reads they are only counted.
import type { Declaration, Diagnostic } from '../model/index.js';

/** An error about an attribute of a declaration. */
export const errorAt = (
  one: Declaration,
  attribute: string,
  said: Pick<Diagnostic, 'code' | 'summary' | 'detail'>,
): Diagnostic => ({
  severity: 'error',
  ...said,
  address: one.address,
  attribute,
  origin: one.at(attribute),
});

const MOST = 1_000;

export interface Report {
  add(make: () => Diagnostic): void;
  /** Whether an error is among them. */
  failed(): boolean;
  all(): readonly Diagnostic[];
}

export function reportOf(first: readonly Diagnostic[]): Report {
  const list = [...first];
  let more = 0;
  return {
    add(make) {
      if (list.length < MOST) list.push(make());
      else more += 1;
    },
    failed: () => more > 0 || list.some(({ severity }) => severity === 'error'),
    all() {
      if (more === 0) return list;
      const summary = `${more} more complaints are not shown`;
      const detail = 'Fix those above first.';
      return [...list, { severity: 'error', code: 'more-complaints', summary, detail }];
    },
  };
}
