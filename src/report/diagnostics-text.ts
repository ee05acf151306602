// Complaints for people: what happened, where, the lines of the file, and what to type next.
import type { Diagnostic, Severity } from '../model/index.js';
import { guard, visible } from './escaping.js';
import { flow, type Lines } from './layout.js';
import { palette, widthOf, type Paint, type Palette, type Style } from './style.js';
import { clip, columns } from './text-width.js';
import { place } from './words.js';

/** Every diagnostic, a blank line between; empty where there are none. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  const color = palette(style);
  return diagnostics
    .map((one) => [...diagnosticLines(one, color, widthOf(style))].join('\n') + '\n')
    .join('\n');
}

export function* diagnosticLines(
  { severity, summary, detail, code, address, attribute, origin, frame }: Diagnostic,
  color: Palette,
  width: number,
): Lines {
  const paint = paintOf(color, severity);
  yield* flow(summary, {
    width,
    lead: `${severity}: `,
    hang: 2,
    paint: color.bold,
    paintLead: paint,
  });
  const where = [origin && place(origin), address, attribute, `[${code}]`]
    .filter((one) => one !== undefined)
    .join(' · ');
  yield* flow(where, { width, lead: '  ', paint: color.dim });
  if (frame)
    for (const line of frame.replace(/\n+$/, '').split('\n'))
      yield clip(guard(`    ${visible(line)}`), width);
  if (detail !== undefined)
    for (const line of detail.replace(/\n+$/, '').split('\n')) yield* advice(line, width);
}

/** A command to type stays in one piece, on a line of its own where it is long: only so can it be copied. */
function* advice(line: string, width: number): Lines {
  const [, words = '', command = ''] =
    (columns(line) + 2 > width && /^(.*?: )((?:trueup|cp|mv|rm) \S.*)$/.exec(line)) || [];
  if (command === '') return yield* flow(line, { width, lead: '  ' });
  yield* flow(words.trimEnd(), { width, lead: '  ' });
  yield guard(`    ${visible(command)}`);
}

function paintOf(color: Palette, severity: Severity): Paint {
  return {
    error: (text: string) => color.bold(color.red(text)),
    warning: color.yellow,
    info: color.cyan,
  }[severity];
}
