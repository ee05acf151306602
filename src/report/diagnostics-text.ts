// Diagnostics as text: summary, place, lines of the file, and the command to run; and the end of a report.
import type { Diagnostic, DriftDocument, PlanDocument } from '../model/index.js';
import { allBriefly } from './brief-diagnostics.js';
import { guard, visible } from './escaping.js';
import { aside, closing, flow, type Flow, type Lines } from './layout.js';
import { screenOf, type Screen, type Style } from './style.js';
import { clip, columns } from './text-width.js';
import { cloudSentence, COMPARED, diagnosticPlaces, unmanagedSentence } from './words.js';

/** All diagnostics, separated by blank lines. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  const screen = screenOf(style);
  return diagnostics.map((one) => [...diagnosticLines(one, screen), ''].join('\n')).join('\n');
}

export function* diagnosticLines(diagnostic: Diagnostic, screen: Screen): Lines {
  const { severity, summary, detail, code, frame } = diagnostic;
  const paintLead = { error: screen.alarm, warning: screen.yellow, info: screen.cyan }[severity];
  yield* flow(summary, screen, { lead: `${severity}: `, hang: 2, paint: screen.bold, paintLead });
  yield* aside([...diagnosticPlaces(diagnostic), `[${code}]`].join(' · '), screen, 2);
  if (frame)
    for (const line of frame.replace(/\n+$/, '').split('\n'))
      yield clip(guard(`    ${visible(line)}`), screen.width);
  if (detail !== undefined)
    for (const line of detail.replace(/\n+$/, '').split('\n')) yield* advice(line, screen);
}

/** A command to type stays in one piece, on a line of its own where it is long, and so does an indented line: only so can they be copied. */
export function* advice(
  line: string,
  screen: Screen,
  { lead = '  ', ...how }: Pick<Flow, 'lead' | 'paint'> = {},
): Lines {
  if (line.startsWith('  ')) return yield guard(`${lead}${visible(line)}`);
  const isLong = columns(lead + line) > screen.width;
  const [, words = '', command = ''] =
    (isLong && /^(.*?: )((?:trueup|cp|mv|rm) \S.*)$/.exec(line)) || [];
  if (command === '') return yield* flow(line, screen, { lead, ...how });
  yield* flow(words.trimEnd(), screen, { lead, ...how });
  yield guard(`${lead}  ${visible(command)}`);
}

interface Ending {
  /** A sentence above the last ones. */
  readonly before?: string | undefined;
  /** The last one. */
  readonly sentence: string;
  /** Whether the cloud is named: there is something to carry out or to look into. */
  readonly isTargeted: boolean;
}

/** How plans and audits end on a terminal: errors and notes, what is left alone, the cloud, the summary last. */
export function* ending(
  document: PlanDocument | DriftDocument,
  { before, sentence, isTargeted }: Ending,
  screen: Screen,
): Lines {
  const diagnostics = screen.diagnosticsApart ? [] : document.diagnostics.filter(screen.takes);
  for (const one of screen.verbose ? diagnostics : allBriefly(diagnostics))
    yield* [...diagnosticLines(one, screen), ''];
  // An audit lists them above.
  const unmanaged =
    'unmanaged_objects' in document ? undefined : unmanagedSentence(document.unmanaged);
  if (unmanaged !== undefined) yield* aside(unmanaged, screen);
  if (before !== undefined) yield* closing(before, screen, String);
  if (isTargeted)
    yield* aside(document.compared ? COMPARED : `Cloud: ${cloudSentence(document)}`, screen);
  yield* closing(sentence, screen);
}
