// How a rendering for a terminal looks: colour or none, how wide, and the colour of each action.
import colors from 'picocolors';
import type { SummaryKey } from './words.js';

export interface Style {
  readonly color: boolean;
  /** Columns of the output; below 40 is taken as 40. */
  readonly width: number;
}

export type Paint = (text: string) => string;
export type Palette = ReturnType<typeof colors.createColors>;

export function palette(style: Style): Palette {
  return colors.createColors(style.color);
}

export function widthOf(style: Style): number {
  return Math.max(style.width, 40);
}

export function paintOf(color: Palette, action: SummaryKey): Paint {
  if (action === 'delete' || action === 'replace') return (text) => color.bold(color.red(text));
  return {
    create: color.green,
    update: color.yellow,
    adopt: color.cyan,
    forget: color.magenta,
    keep: color.dim,
  }[action];
}
