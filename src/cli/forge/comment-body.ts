// The text of a comment: the plan of this run, and below it the latest earlier ones, folded. What a person edited is
// folded as it was typed, without any effect.
import { fence, shorten } from '../../report/escaping.js';
import { LARGEST_POST, linesOf, sealOf } from './post-markers.js';

/** Earlier plans that are kept. */
const MOST_EARLIER = 3;
/** Characters that are kept of a text that a person edited. */
const MOST_EDITED = 8000;
const EARLIER = '<!-- trueup:earlier -->';
const ENTRY = '<!-- trueup:entry -->';
const END = '<!-- trueup:end -->';
const LINK = /^\[The run\]\(<.*>\)$/;

interface Entry {
  /** One line without markup. */
  readonly title: string;
  readonly lines: readonly string[];
}

interface Understood {
  /** Undefined where a person edited the comment. */
  readonly content: readonly string[] | undefined;
  readonly entries: readonly Entry[];
}

export interface CommentParts {
  readonly marker: string;
  /** Markdown whose lines do not begin with text from outside. */
  readonly content: string;
  /** The comment as it is, where there is one. */
  readonly before: string | undefined;
}

/** Undefined where the comment is like that already. */
export function commentBody({ marker, content, before }: CommentParts): string | undefined {
  const lines = linesOf(content);
  const past = before === undefined ? undefined : understood(linesOf(before));
  const body = withEntries(marker, lines, past ? entriesAfter(lines, past) : []);
  return before !== undefined && body === linesOf(before).join('\n') ? undefined : body;
}

/** A plan that is as before takes no entry. */
function entriesAfter(
  lines: readonly string[],
  { content, entries }: Understood,
): readonly Entry[] {
  if (!content || textOf(content) === textOf(lines)) return entries;
  return [{ title: titleOf(content), lines: content }, ...entries].slice(0, MOST_EARLIER);
}

const textOf = (lines: readonly string[]): string =>
  lines
    .filter((line) => !LINK.test(line))
    .join('\n')
    .trimEnd();

const titleOf = (lines: readonly string[]): string =>
  (lines.find((line) => line.startsWith('### ')) ?? 'Plan')
    .replace(/^### /, '')
    .replaceAll(/[^\p{L}\p{N} .,;:()]/gu, '')
    .slice(0, 200);

/** As many entries as fit; of one that does not, its title and its link. */
function withEntries(
  marker: string,
  content: readonly string[],
  entries: readonly Entry[],
): string {
  const kept: string[] = [];
  const frame =
    foldOf(entries.length, []).join('\n').length + sealOf([]).length + marker.length + 8;
  let left = LARGEST_POST - frame - content.join('\n').length;
  for (const { title, lines } of entries) {
    const short = [
      'Left out: the comment would be too long.',
      ...lines.filter((one) => LINK.test(one)),
    ];
    const fitting = [lines, short]
      .map((some) => entryLines(title, some).join('\n'))
      .find((text) => text.length < left);
    if (fitting === undefined) break;
    kept.push(fitting);
    left -= fitting.length + 1;
  }
  const below = [...content, ...(kept.length === 0 ? [] : foldOf(kept.length, kept))];
  return [marker, sealOf(below), ...below].join('\n').trimEnd();
}

const foldOf = (count: number, entries: readonly string[]): readonly string[] => [
  EARLIER,
  `<details><summary>Earlier plans: ${count}, the latest first</summary>`,
  '',
  ...entries,
  END,
  '</details>',
];

const entryLines = (title: string, lines: readonly string[]): readonly string[] => [
  ENTRY,
  `<details><summary>${title}</summary>`,
  '',
  ...lines,
  '',
  '</details>',
  '',
];

/** Only a text as trueup wrote it is taken apart: its lines are trueup's own. */
function understood([, seal = '', ...below]: readonly string[]): Understood {
  if (seal.trimEnd() !== sealOf(below))
    return { content: undefined, entries: [edited([seal, ...below])] };
  const at = below.indexOf(EARLIER);
  if (at === -1) return { content: below, entries: [] };
  const end = below.lastIndexOf(END);
  const entries: Entry[] = [];
  let from = below.indexOf(ENTRY, at);
  while (from !== -1) {
    const next = below.indexOf(ENTRY, from + 1);
    const lines = below.slice(from + 1, next === -1 ? end : next);
    const [, title = ''] = /^<details><summary>(.*)<\/summary>$/.exec(lines[0] ?? '') ?? [];
    entries.push({ title, lines: lines.slice(2, lines.lastIndexOf('</details>') - 1) });
    from = next;
  }
  return { content: below.slice(0, at), entries };
}

/** Each line is indented, so that none of them is a line of trueup, or a command of the forge. */
function edited(lines: readonly string[]): Entry {
  const text = shorten(lines.join('\n'), MOST_EDITED);
  const indented = text.split('\n').map((line) => ` ${line}`);
  return { title: 'Edited by a person', lines: [...fence('', indented)] };
}
