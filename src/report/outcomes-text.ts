// The end of an apply: changes that were made, that failed, and that were skipped, each with the reason; the summary last.
import { groupedBy, mayHaveFailed, type Outcome } from '../model/index.js';
import { addressList, byAddress } from './change-groups.js';
import { diagnosticLines } from './diagnostics-text.js';
import { closing, flow, type Lines } from './layout.js';
import { paintOf, screenOf, type Paint, type Screen, type Style } from './style.js';
import { GONE, past, outcomeSentence, signs } from './words.js';

/** Ends with a line feed. What is kept is counted, not listed. */
export function renderOutcomes(outcomes: readonly Outcome[], style: Style): string {
  const screen = screenOf(style);
  const acted = outcomes.filter(
    (one) => one.action !== 'keep' || one.outcome !== 'done' || isRenamed(one),
  );
  const ordered = (['done', 'failed', 'unknown'] as const).flatMap((wanted) =>
    acted.filter(({ outcome }) => outcome === wanted),
  );
  const skipped = acted.filter(({ outcome }) => outcome === 'skipped');
  const lines = [
    ...groupedBy(ordered, screen.verbose ? () => undefined : stateKind).flatMap((group) => [
      ...outcomeLines(group, screen),
    ]),
    ...groupedBy(skipped, ({ reason }) => reason).flatMap((all) => [...skippedLines(all, screen)]),
  ];
  if (acted.length > 0) lines.push('');
  return [...lines, ...closing(outcomeSentence(outcomes), screen), ''].join('\n');
}

/** Whether an object has another address now, and nothing was sent to it. */
const isRenamed = ({ action, outcome, renamed_from }: Outcome): boolean =>
  action === 'keep' && outcome === 'done' && renamed_from !== undefined;

/** The same for objects that were adopted, and for those that were renamed, without a request. */
function stateKind(one: Outcome): string | undefined {
  const { action, outcome, updates, kind } = one;
  if (isRenamed(one)) return `renamed ${kind}`;
  return action === 'adopt' && outcome === 'done' && !updates ? kind : undefined;
}

function* outcomeLines(group: readonly Outcome[], screen: Screen): Lines {
  const one = group[0]!;
  const { outcome, id, diagnostic } = one;
  const silent = id === undefined || outcome === 'failed';
  const [lead, paintLead] = leadOf(one, screen);
  const addresses = addressList(group.toSorted(byAddress), false);
  const former = isRenamed(one)
    ? `, was ${one.renamed_from}`
    : ` (id ${id}${one.gone ? GONE : ''})${one.forgets && outcome === 'done' ? ', then forgotten' : ''}`;
  const said = silent || group.length > 1 ? addresses : `${addresses}${former}`;
  yield* flow(said, screen, { lead, hang: 4, paintLead, breaks: /(?<=,) | (?=\(id )/ });
  if (diagnostic && !(screen.diagnosticsApart && mayHaveFailed(one)))
    for (const line of diagnosticLines(diagnostic, { ...screen, width: screen.width - 2 }))
      yield `  ${line}`;
}

/** Why, once, and below it what, by action and kind. */
function* skippedLines(all: readonly Outcome[], screen: Screen): Lines {
  const lead = '  skipped ';
  yield* flow(`because ${all[0]!.reason}:`, screen, { lead, hang: 4, paintLead: screen.yellow });
  const isSame = (one: Outcome): string => `${verb(one)} ${one.kind}`;
  for (const group of groupedBy(all, screen.verbose ? () => undefined : isSame))
    yield* flow(addressList(group.toSorted(byAddress), false), screen, {
      lead: `    ${verb(group[0]!)} `,
      hang: 6,
      breaks: /(?<=,) /,
    });
}

function verb({ action, updates, renamed_from }: Outcome): string {
  if (action === 'keep' && renamed_from !== undefined) return 'rename';
  return updates ? `${action}, update` : action;
}

function leadOf(one: Outcome, screen: Screen): readonly [string, Paint] {
  const { action, outcome, updates } = one;
  if (isRenamed(one)) return ['> renamed ', paintOf(screen, action)];
  // To adopt sends nothing, and is done by then.
  const sent = updates ? 'update' : action;
  switch (outcome) {
    case 'done':
      return [
        `${signs[action]} ${past[action]}${updates ? ', updated' : ''} `,
        paintOf(screen, action),
      ];
    case 'failed':
      return [`! FAILED: ${sent} `, screen.alarm];
    default:
      return [`? UNKNOWN: ${sent} `, (text) => screen.bold(screen.magenta(text))];
  }
}
