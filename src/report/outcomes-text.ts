// The end of an apply: what was done, what was not and why, the summary last.
import type { Action, Outcome } from '../model/index.js';
import { diagnosticLines } from './diagnostics-text.js';
import { closing, flow, type Lines } from './layout.js';
import { paintOf, palette, widthOf, type Palette, type Style } from './style.js';
import { past, outcomeSentence, signs } from './words.js';

/** Ends with a line feed. What is kept is counted, not listed. */
export function renderOutcomes(outcomes: readonly Outcome[], style: Style): string {
  return [...outcomeText(outcomes, style), ''].join('\n');
}

function* outcomeText(outcomes: readonly Outcome[], style: Style): Lines {
  const color = palette(style);
  const width = widthOf(style);
  const acted = outcomes.filter(({ action, outcome }) => action !== 'keep' || outcome !== 'done');
  for (const wanted of ['done', 'skipped', 'failed', 'unknown'] as const) {
    for (const outcome of acted)
      if (outcome.outcome === wanted) yield* outcomeLines(outcome, color, width);
  }
  if (acted.length > 0) yield '';
  yield* closing(outcomeSentence(outcomes), color, width);
}

function* outcomeLines(
  { address, action, outcome, id, diagnostic }: Outcome,
  color: Palette,
  width: number,
): Lines {
  const about =
    id === undefined || outcome === 'failed' || outcome === 'skipped'
      ? address
      : `${address} (id ${id})`;
  const [lead, paintLead] = leadOf(action, outcome, color);
  yield* flow(about, { width, lead, hang: 4, paintLead });
  if (diagnostic)
    for (const line of diagnosticLines(diagnostic, color, width - 2)) yield `  ${line}`;
}

function leadOf(
  action: Action,
  outcome: Outcome['outcome'],
  color: Palette,
): readonly [string, (text: string) => string] {
  switch (outcome) {
    case 'done':
      return [`${signs[action]} ${past[action]} `, paintOf(color, action)];
    case 'skipped':
      return [`  skipped: ${action} `, color.dim];
    case 'failed':
      return [`! FAILED: ${action} `, (text) => color.bold(color.red(text))];
    case 'unknown':
      return [`? UNKNOWN: ${action} `, (text) => color.bold(color.magenta(text))];
  }
}
