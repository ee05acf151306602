// Shortens long lists of warnings and notes: many of one code say the same. Imports nothing that takes time to load.
import type { Diagnostic } from '../model/index.js';

/** Warnings and notes of one code that are shown. */
const MOST_OF_A_CODE = 3;

/** Every error; of the other codes the first few, and how many more there are. */
export function briefly(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const counts = new Map<string, number>();
  for (const { code } of diagnostics) counts.set(code, (counts.get(code) ?? 0) + 1);
  const shown = new Map<string, number>();
  return diagnostics.flatMap((one) => {
    const at = (shown.get(one.code) ?? 0) + 1;
    shown.set(one.code, at);
    if (one.severity === 'error' || at <= MOST_OF_A_CODE) return [one];
    if (at > MOST_OF_A_CODE + 1) return [];
    const more = counts.get(one.code)! - MOST_OF_A_CODE;
    const { severity, code } = one;
    return [
      { severity, code, summary: `and ${more} more like this`, detail: 'All of them: --verbose' },
    ];
  });
}
