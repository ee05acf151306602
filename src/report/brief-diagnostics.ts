// Shortens long lists of warnings, notes and blocking verdicts: many of one code say the same. Imports nothing that takes time to load.
import {
  defined,
  firstNamed,
  flagToAllow,
  groupedBy,
  tally,
  tryAddress,
  type Diagnostic,
  type Origin,
  type PlanDocument,
  type Verdict,
} from '../model/index.js';

/** How many of those that say the same are shown. */
const MOST_SHOWN = 3;

/** Every error; of the other codes the first few, and how many more there are. What holds for several objects of one place is one, and names a few of them. @param all the flag or the command that shows all of them */
export const briefly = (
  diagnostics: readonly Diagnostic[],
  all = '--verbose',
): readonly Diagnostic[] =>
  shortened(
    onceForPlaces(diagnostics).map(fewNamed),
    ({ severity, code }) => (severity === 'error' ? undefined : code),
    (more) => ({ summary: `and ${more} more like this`, detail: `All of them: ${all}` }),
  );

/** With the first few of the addresses, where the lines of the detail are addresses. */
function fewNamed(one: Diagnostic): Diagnostic {
  const lines = one.detail?.split('\n') ?? [];
  return lines.length > 1 && lines.every((line) => tryAddress(line))
    ? { ...one, detail: firstNamed(lines, MOST_SHOWN) }
    : one;
}

/** With one of the warnings and notes that are the same for several objects of a template or a `for_each`, and how many objects that are. */
const onceForPlaces = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  groupedBy(diagnostics, ({ severity, code, summary, detail, origin }) =>
    severity !== 'error' && origin
      ? JSON.stringify([code, placeOf(origin), summary, detail])
      : undefined,
  ).map(([one, ...more]) => {
    if (more.length === 0) return one!;
    const count = `This applies to ${more.length + 1} objects declared here.`;
    const { detail } = one!;
    return { ...one!, detail: detail === undefined ? count : `${detail}\n${count}` };
  });

/** Of the errors that say the same at one place, of a template, a `use` or a `for_each`, the first few, and how many more there are. */
export const errorsBriefly = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  shortened(
    diagnostics,
    (one) => (one.severity === 'error' ? topicAtPlace(one) : undefined),
    (more, { origin }) => ({
      summary: `and ${more} more like this at the same place`,
      ...defined({ origin }),
    }),
  );

/** Constructs of a program have a path in place of line and column. */
const placeOf = ({ file, line, column, path }: Origin): string =>
  JSON.stringify([file, line, column, path]);

/** The name with which an error in the parameters of a use begins. */
const OF_USE = /^`use\.[\w-]+(?:\["(?:[^"\\]|\\.)*"\])?`: /;
/** What differs between objects of one place: strings in quotes, numbers and addresses. What stands in backticks is what the template names. */
const DIFFERENT =
  /"(?:[^"\\]|\\.)*"|(?<![\w.`-])(?:\d+(?![\w-]|\.\w)|[a-z]\w*\.[A-Za-z][\w-]*(?:\["(?:[^"\\]|\\.)*"\])?)/g;

/** Equal for what is alike at one place; undefined without a place. */
function topicAtPlace({ code, summary, origin }: Diagnostic): string | undefined {
  if (!origin) return undefined;
  const said = summary.replace(OF_USE, '').replaceAll(DIFFERENT, '…');
  return JSON.stringify([code, placeOf(origin), said]);
}

/** @param topicOf equal for those that say the same; undefined for one that is always shown */
function shortened(
  diagnostics: readonly Diagnostic[],
  topicOf: (one: Diagnostic) => string | undefined,
  rest: (more: number, one: Diagnostic) => Pick<Diagnostic, 'summary' | 'detail' | 'origin'>,
): readonly Diagnostic[] {
  const withFrame = framesOnce();
  const topics = diagnostics.map(topicOf);
  const counts = tally(topics);
  const shown = new Map<string, number>();
  return diagnostics.flatMap((one, index) => {
    const topic = topics[index];
    if (topic === undefined) return [withFrame(one)];
    const at = (shown.get(topic) ?? 0) + 1;
    shown.set(topic, at);
    if (at <= MOST_SHOWN) return [withFrame(one)];
    if (at > MOST_SHOWN + 1) return [];
    const { severity, code } = one;
    return [{ severity, code, ...rest(counts.get(topic)! - MOST_SHOWN, one) }];
  });
}

/** Several objects have one place: its lines are shown once. */
function framesOnce(): (one: Diagnostic) => Diagnostic {
  const framed = new Set<string>();
  return (one) => {
    const { frame, ...bare } = one;
    if (frame === undefined || !one.origin) return one;
    const place = placeOf(one.origin);
    if (framed.has(place)) return bare;
    framed.add(place);
    return one;
  };
}

/** The advice for a blocked plan with errors: nothing can be applied before. */
export const CORRECT_FIRST = 'Correct the errors first.';

export interface BlockingRule {
  readonly rule: string;
  /** The first verdicts of the rule. */
  readonly shown: readonly Verdict[];
  /** How many verdicts are not shown. */
  readonly more: number;
  /** What allows it; absent where nothing does, and where errors stand. */
  readonly flag?: string;
}

/** Whether nothing can be applied before something is corrected. */
export const isWrong = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ severity }) => severity === 'error');

/** Blocking verdicts by their rule: the first few of each. @param whole all of them */
export const blockedByRule = (
  { policy, diagnostics }: Pick<PlanDocument, 'policy' | 'diagnostics'>,
  whole: boolean | undefined,
): readonly BlockingRule[] =>
  groupedBy(
    policy.filter(({ verdict }) => verdict === 'blocked'),
    ({ rule }) => rule,
  ).map((verdicts) => {
    const { rule } = verdicts[0]!;
    const shown = whole ? verdicts : verdicts.slice(0, MOST_SHOWN);
    return {
      rule,
      shown,
      more: verdicts.length - shown.length,
      ...defined({ flag: isWrong(diagnostics) ? undefined : flagToAllow(verdicts[0]!) }),
    };
  });
