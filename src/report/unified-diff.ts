// A unified diff of one file, as reviewers and `git apply` read it, made from the edits that are known.

/** Characters of the earlier text that are replaced. */
interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Whole lines that are replaced; the last of the earlier ones is excluded. */
interface Region {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Lines around a change. */
const AROUND = 3;

/** @param splices none inside of another */
export function unifiedDiff(file: string, before: string, splices: readonly Splice[]): string {
  const lines = linesOf(before);
  const regions = regionsOf(before, lines, splices);
  if (regions.length === 0) return '';
  let shift = 0;
  const hunks = grouped(regions).map((group) => {
    const from = Math.max(0, group[0]!.from - AROUND);
    const to = Math.min(lines.length, group.at(-1)!.to + AROUND);
    const body: string[] = [];
    let [at, added] = [from, 0];
    for (const region of group) {
      body.push(...lines.slice(at, region.from).map((line) => ` ${line}`));
      body.push(...lines.slice(region.from, region.to).map((line) => `-${line}`));
      body.push(...region.lines.map((line) => `+${line}`));
      added += region.lines.length - (region.to - region.from);
      at = region.to;
    }
    body.push(...lines.slice(at, to).map((line) => ` ${line}`));
    const head = `@@ -${span(from, to - from)} +${span(from + shift, to - from + added)} @@\n`;
    shift += added;
    return head + body.map(ended).join('');
  });
  return `--- a/${file}\n+++ b/${file}\n${hunks.join('')}`;
}

const span = (from: number, count: number): string => `${count === 0 ? from : from + 1},${count}`;

/** With their ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const ended = (line: string): string =>
  line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`;

function regionsOf(
  before: string,
  lines: readonly string[],
  splices: readonly Splice[],
): readonly Region[] {
  const starts: number[] = [];
  let offset = 0;
  for (const line of lines) {
    starts.push(offset);
    offset += line.length;
  }
  const startOf = (line: number): number => starts[line] ?? before.length;
  const lineAt = (at: number): number => {
    const found = starts.findLastIndex((start) => start <= at);
    return at === before.length && (before === '' || before.endsWith('\n')) ? lines.length : found;
  };
  const spans: { from: number; to: number; inner: Splice[] }[] = [];
  for (const one of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const from = lineAt(one.start);
    const isWhole =
      one.end === startOf(lineAt(one.end)) && (one.text === '' || one.text.endsWith('\n'));
    const to =
      isWhole && one.start === startOf(from)
        ? lineAt(one.end)
        : Math.min(lineAt(one.end) + 1, lines.length);
    const last = spans.at(-1);
    if (last && from <= last.to) {
      last.to = Math.max(last.to, to);
      last.inner.push(one);
    } else spans.push({ from, to, inner: [one] });
  }
  return spans.map(({ from, to, inner }) => {
    let text = '';
    let at = startOf(from);
    for (const one of inner) {
      text += before.slice(at, one.start) + one.text;
      at = one.end;
    }
    return { from, to, lines: linesOf(text + before.slice(at, startOf(to))) };
  });
}

/** Changes whose surroundings touch stand in one hunk. */
function grouped(regions: readonly Region[]): readonly (readonly Region[])[] {
  const groups: Region[][] = [];
  for (const one of regions) {
    const last = groups.at(-1)?.at(-1);
    if (last && one.from - last.to <= 2 * AROUND) groups.at(-1)!.push(one);
    else groups.push([one]);
  }
  return groups;
}
