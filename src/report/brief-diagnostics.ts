// Shortens long lists of warnings, notes and blocking verdicts: many of one code say the same. Imports nothing that takes time to load.
import { defined, flagToAllow, groupedBy, type Diagnostic, type Verdict } from '../model/index.js';

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

export interface BlockingRule {
  readonly rule: string;
  /** The first verdicts of the rule. */
  readonly shown: readonly Verdict[];
  /** How many verdicts are not shown. */
  readonly more: number;
  /** What allows it; absent where nothing does. */
  readonly flag?: string;
}

/** Blocking verdicts by their rule: the first few of each. @param whole all of them */
export const blockedByRule = (
  blocked: readonly Verdict[],
  whole: boolean | undefined,
): readonly BlockingRule[] =>
  groupedBy(blocked, ({ rule }) => rule).map((verdicts) => {
    const { rule } = verdicts[0]!;
    const shown = whole ? verdicts : verdicts.slice(0, MOST_OF_A_CODE);
    return {
      rule,
      shown,
      more: verdicts.length - shown.length,
      ...defined({ flag: flagToAllow(verdicts[0]!) }),
    };
  });
