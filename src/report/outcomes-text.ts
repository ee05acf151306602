// The end of an apply: changes that were made, changes that were not and the reasons, the summary last.
import { groupedBy, mayHaveFailed, type Outcome } from '../model/index.js';
import { addressList, byAddress } from './change-groups.js';
import { diagnosticLines } from './diagnostics-text.js';
import { closing, flow, type Lines } from './layout.js';
import { paintOf, screenOf, type Paint, type Screen, type Style } from './style.js';
import { past, outcomeSentence, signs } from './words.js';

/** Ends with a line feed. What is kept is counted, not listed. */
export function renderOutcomes(outcomes: readonly Outcome[], style: Style): string {
  const screen = screenOf(style);
  const acted = outcomes.filter(
    (one) => one.action !== 'keep' || one.outcome !== 'done' || isRenamed(one),
  );
  const ordered = (['done', 'skipped', 'failed', 'unknown'] as const).flatMap((wanted) =>
    acted.filter(({ outcome }) => outcome === wanted),
  );
  const lines = groupedBy(ordered, screen.verbose ? () => undefined : stateKind).flatMap(
    (group) => [...outcomeLines(group, screen)],
  );
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
  const silent = id === undefined || outcome === 'failed' || outcome === 'skipped';
  const [lead, paintLead] = leadOf(one, screen);
  const addresses = addressList(group.toSorted(byAddress), false);
  const former = isRenamed(one) ? `, was ${one.renamed_from}` : ` (id ${id})`;
  const said = silent || group.length > 1 ? addresses : `${addresses}${former}`;
  yield* flow(said, screen, { lead, hang: 4, paintLead, breaks: /(?<=,) | (?=\(id )/ });
  if (diagnostic && !(screen.diagnosticsApart && mayHaveFailed(one)))
    for (const line of diagnosticLines(diagnostic, { ...screen, width: screen.width - 2 }))
      yield `  ${line}`;
}

function leadOf(one: Outcome, screen: Screen): readonly [string, Paint] {
  const { action, outcome, updates } = one;
  if (isRenamed(one)) return ['> renamed ', paintOf(screen, action)];
  switch (outcome) {
    case 'done':
      return [
        `${signs[action]} ${past[action]}${updates ? ', updated' : ''} `,
        paintOf(screen, action),
      ];
    case 'skipped':
      return [`  skipped: ${action} `, screen.dim];
    case 'failed':
      return [`! FAILED: ${action} `, screen.alarm];
    case 'unknown':
      return [`? UNKNOWN: ${action} `, (text) => screen.bold(screen.magenta(text))];
  }
}
