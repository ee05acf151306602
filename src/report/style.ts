// The style of terminal output: colour, width, and the colour of each action.
import colors from 'picocolors';
import type { Diagnostic, Origin } from '../model/index.js';
import type { Again, SummaryKey } from './words.js';

export interface Style {
  readonly color: boolean;
  /** Columns of the output; below 40 is taken as 40. Infinity: lines are not wrapped. */
  readonly width: number;
  /** Of a plan: each change by itself, and every note. */
  readonly verbose?: boolean;
  /** Of a plan: the requests with their bodies. */
  readonly requests?: boolean;
  /** Of text: its errors, warnings and notes are printed on another stream. */
  readonly diagnosticsApart?: boolean;
  /** Of text: whether the log level takes a diagnostic; default all. */
  readonly takes?: (one: Diagnostic) => boolean;
  /** Of a saved plan, which takes no flag. */
  readonly again?: Again | undefined;
  /** Of a page: the address at which a forge shows the line; undefined where it shows none. */
  readonly sourceUrl?: (origin: Origin) => string | undefined;
  /** Of the page of one tenant: its name, and the address of the page of its fleet. */
  readonly tenant?: { readonly name: string; readonly fleet: string };
  /** Of the page of a fleet: the address of the page of a tenant; undefined where there is none. */
  readonly pageOf?: (tenant: string) => string | undefined;
}

export type Paint = (text: string) => string;

/** The colours and the width of a terminal. */
export interface Screen
  extends
    ReturnType<typeof colors.createColors>,
    Required<Pick<Style, 'width' | 'verbose' | 'diagnosticsApart' | 'takes'>> {
  readonly alarm: Paint;
}

export function screenOf({ color, width, ...style }: Style): Screen {
  const { verbose = false, diagnosticsApart = false, takes = () => true } = style;
  const paints = colors.createColors(color);
  const alarm: Paint = (text) => paints.bold(paints.red(text));
  return { ...paints, alarm, width: Math.max(width, 40), verbose, diagnosticsApart, takes };
}

export function paintOf(screen: Screen, action: SummaryKey): Paint {
  const { green: create, yellow: update, cyan: adopt, magenta: forget, dim: keep, alarm } = screen;
  return { create, update, adopt, forget, keep, replace: alarm, delete: alarm }[action];
}
