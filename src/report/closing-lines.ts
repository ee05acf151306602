// How plans and audits end on a terminal: what is to be known, what is left alone, the target, the summary last.
import type { DriftDocument, PlanDocument } from '../model/index.js';
import { diagnosticLines } from './diagnostics-text.js';
import { closing, flow, type Lines } from './layout.js';
import type { Palette } from './style.js';
import { unmanagedSentence } from './words.js';

interface Ending {
  readonly sentence: string;
  /** Whether the target is named: there is something to carry out or to look into. */
  readonly targeted: boolean;
}

export function* ending(
  document: PlanDocument | DriftDocument,
  { sentence, targeted }: Ending,
  color: Palette,
  width: number,
): Lines {
  for (const diagnostic of document.diagnostics) {
    yield* diagnosticLines(diagnostic, color, width);
    yield '';
  }
  const unmanaged = unmanagedSentence(document.unmanaged);
  if (unmanaged !== undefined) yield* flow(unmanaged, { width, paint: color.dim });
  if (targeted) yield* flow(`Target: ${document.target}`, { width, paint: color.dim });
  yield* closing(sentence, color, width);
}
