// How plans and audits end on a terminal: what is to be known, what is left alone, the target, the summary last.
import type { DriftDocument, PlanDocument } from '../model/index.js';
import { diagnosticLines } from './diagnostics-text.js';
import { aside, closing, type Lines } from './layout.js';
import type { Screen } from './style.js';
import { unmanagedSentence } from './words.js';

/** @param targeted whether the target is named: there is something to carry out or to look into */
export function* ending(
  document: PlanDocument | DriftDocument,
  sentence: string,
  targeted: boolean,
  screen: Screen,
): Lines {
  for (const one of document.diagnostics) yield* [...diagnosticLines(one, screen), ''];
  const unmanaged = unmanagedSentence(document.unmanaged);
  if (unmanaged !== undefined) yield* aside(unmanaged, screen);
  if (targeted) yield* aside(`Target: ${document.target}`, screen);
  yield* closing(sentence, screen);
}
