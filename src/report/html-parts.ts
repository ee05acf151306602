// Shared parts of the pages of plans and audits: an object that can be opened, its attributes, diagnostics.
import { compareText, wireText, type Diagnostic, type Json, type Origin } from '../model/index.js';
import {
  inline,
  NOT_SET,
  oneLine,
  remark,
  rows,
  type Difference,
  type Row,
} from './differences.js';
import { shorten } from './escaping.js';
import { pageSection } from './html-page.js';
import { codeOf, markup, raw, type Markup } from './markup.js';
import type { Style } from './style.js';
import { diagnosticPlaces, place } from './words.js';

export interface Item {
  readonly kind: string;
  /** Objects that it stands for. Default: 1. */
  readonly count?: number;
  /** Action or status, where the filter asks for it. */
  readonly what?: string;
  /** Class of its colour. */
  readonly tone: string;
  readonly sign: string;
  readonly verb: string;
  readonly address: string;
  readonly why: string;
  readonly open: boolean;
  readonly body: readonly (Markup | undefined)[];
}

export function itemOf(one: Item): Markup {
  const { kind, count = 1, what, tone, sign, verb, address, why, open, body } = one;
  return markup`<details class="item ${tone}" data-kind="${kind}" data-count="${count}"${what === undefined ? undefined : markup` data-what="${what}"`}${raw(open ? ' open' : '')}>
<summary><span class="badge">${sign} ${verb}</span> <code class="address">${address}</code> <span class="muted text">${why}</span></summary>
<div class="body">
${body.filter((one) => one !== undefined)}</div>
</details>
`;
}

interface Grouping<T, Title extends string> {
  /** Title of the groups, in their order, by what its objects have in common: action or status. */
  readonly titles: Readonly<Record<Title, string>>;
  /** The name of the group. */
  readonly noun: string;
  readonly groupOf: (one: T) => Title;
  readonly kindOf: (one: T) => string;
  /** Objects that it stands for. */
  readonly countOf: (one: T) => number;
  readonly item: (one: T, open: boolean) => Markup;
}

/** The most items that are all shown open. */
const few = 12;

/** The filter form, and the items below headings; a heading is hidden if the filter hides all items below it. */
export function itemGroups<T, Title extends string>(
  all: readonly T[],
  { titles, noun, groupOf, kindOf, countOf, item }: Grouping<T, Title>,
): readonly Markup[] {
  if (all.length === 0) return [];
  const objects = (some: readonly T[]): number => some.reduce((sum, one) => sum + countOf(one), 0);
  const groups = Object.entries<string>(titles).map(([name, title]) => {
    const ones = all.filter((one) => groupOf(one) === name);
    const items = ones.map((one) => item(one, all.length <= few));
    return items.length === 0
      ? raw('')
      : markup`<div class="group">\n<h3>${title} <span class="number">${objects(ones)}</span></h3>\n${items}</div>\n`;
  });
  return [filterForm(all.map(kindOf), all.map(groupOf), noun, objects(all)), ...groups];
}

/** Hidden until the script, without which it could do nothing, shows it. */
function filterForm(
  kinds: readonly string[],
  what: readonly string[],
  noun: string,
  count: number,
): Markup {
  const options = (names: readonly string[]): Markup =>
    markup`<option value="">all</option>${[...new Set(names)].toSorted().map((name) => markup`<option>${name}</option>`)}`;
  return markup`<form id="filter" role="search" aria-label="Filter" hidden>
<label>Kind <select name="kind">${options(kinds)}</select></label>
<label>${noun} <select name="what">${options(what)}</select></label>
<label class="wide">Text <input type="search" name="words" autocomplete="off" spellcheck="false"></label>
<button type="reset">Show all</button>
<p id="found" class="muted" role="status" data-all="${count}"></p>
</form>
`;
}

/** Terms and what is said of them; what is undefined is left out. */
export function facts(
  all: readonly (readonly [term: string, said: string | Markup | undefined])[],
): Markup {
  const known = all.filter(([, said]) => said !== undefined);
  return known.length === 0
    ? raw('')
    : markup`<dl>\n${known.map(([term, said]) => markup`<dt>${term}</dt><dd>${said}</dd>\n`)}</dl>\n`;
}

/** The place of a declaration, with a link to its line where a forge shows it. */
export function placeMarkup(origin: Origin | null, { sourceUrl }: Style): Markup | undefined {
  if (origin === null) return undefined;
  const [shown, url] = [codeOf(place(origin)), sourceUrl?.(origin)];
  return url === undefined ? shown : markup`<a href="${url}">${shown}</a>`;
}

export function htmlTable(
  caption: string,
  titles: readonly string[],
  all: readonly Markup[],
  look = 'list',
): Markup {
  const head = titles.map((title) => markup`<th scope="col">${title}</th>`);
  return markup`<table class="${look}">\n<caption>${caption}</caption>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${all}</tbody>\n</table>\n`;
}

/** A table that is as wide as it needs, and scrolls by itself. */
export const wideTable = (
  {
    label,
    caption,
    look,
  }: { readonly label: string; readonly caption: Markup; readonly look: string },
  heads: readonly Markup[],
  all: readonly Markup[],
): Markup => markup`<div class="${look}" role="region" aria-label="${label}" tabindex="0">
<table>
<caption>${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${all}</tbody>
</table>
</div>
`;

/** As `htmlTable`; nothing where it would be empty. */
export const tableIfAny = (
  caption: string,
  titles: readonly string[],
  all: readonly Markup[],
): readonly Markup[] => (all.length === 0 ? [] : [htmlTable(caption, titles, all)]);
/** Lines of one difference at most. */
const mostRows = 200;

/** Field by field. Sides on which nothing is set anywhere have no column. */
export function fieldTable(
  caption: string,
  differences: readonly Difference[],
  [before, after]: readonly [string, string],
): Markup | undefined {
  if (differences.length === 0) return undefined;
  const sides = {
    old: differences.some((one) => one.before !== undefined),
    now: differences.some((one) => one.after !== undefined),
  };
  const titles = ['Attribute', ...(sides.old ? [before] : []), ...(sides.now ? [after] : [])];
  const body = differences.map((one) => fieldRow(one, sides));
  return htmlTable(caption, titles, body, 'fields');
}

function fieldRow(
  difference: Difference,
  { old, now }: { readonly old: boolean; readonly now: boolean },
): Markup {
  const { path, before, after, sensitive, isSent } = difference;
  const said = remark(difference).trim();
  const later = said === '' ? undefined : markup` <span class="muted">${said}</span>`;
  const head = markup`<tr><th scope="row"><code>${path}</code></th>`;
  if (oneLine(difference) === undefined)
    return markup`${head}<td${raw(old && now ? ' colspan="2"' : '')}>${lines(rows(difference))}${later}</td></tr>\n`;
  const resent =
    isSent && sensitive && before !== undefined && after !== undefined
      ? markup` <span class="muted">(is sent)</span>`
      : undefined;
  const left = old ? markup`<td>${ends(difference, 'before')}</td>` : undefined;
  const right = now ? markup`<td>${ends(difference, 'after')}${later}${resent}</td>` : undefined;
  return markup`${head}${left}${right}</tr>\n`;
}

/** One side of a difference; of a group the first value and the last one. */
function ends(difference: Difference, at: 'before' | 'after'): Markup {
  const { others = [difference] } = difference;
  const [first, last] = [others[0]!, others.at(-1)!].map((one) => side(one, at));
  return others.length === 1 ? first! : markup`${first} … ${last}`;
}

/** The whole difference in one cell. */
export function differenceMarkup(difference: Difference): Markup {
  if (oneLine(difference) === undefined) return lines(rows(difference));
  const [before, after] = (['before', 'after'] as const).map((at) =>
    difference[at] === undefined ? undefined : side(difference, at),
  );
  return markup`${before}${raw(before && after ? ' → ' : '')}${after}`;
}

function side({ labels, ...sides }: Difference, at: 'before' | 'after'): Markup {
  const value = sides[at];
  if (value === undefined) return markup`<span class="muted">${NOT_SET}</span>`;
  const element = raw(at === 'before' ? 'del' : 'ins');
  return markup`<${element}><code>${inline(value, labels)}</code></${element}>`;
}

const elements: Readonly<Record<Row['sign'], string>> = { '-': 'del', '+': 'ins', ' ': 'span' };

/** Lines with their signs, so that they differ without colour. */
function lines(all: readonly Row[]): Markup {
  const shown = all
    .slice(0, mostRows)
    .map(
      ({ sign, text }) =>
        markup`<${raw(elements[sign])}>${sign} ${text}</${raw(elements[sign])}>${raw(sign === ' ' ? '\n' : '')}`,
    );
  const more =
    all.length > mostRows ? markup`<span>… ${all.length - mostRows} more lines</span>` : undefined;
  return markup`<pre>${shown}${more}</pre>`;
}

/** JSON as people read it, each line inside an element of its own. */
export function json(value: Json): Markup {
  const all = wireText(value, 2).split('\n');
  return lines(all.map((text) => ({ sign: ' ', text: shorten(text, 20_000) })));
}

/** @param idOf the fragment of the URL that leads to a note, by its index */
export function diagnosticNotes(
  diagnostics: readonly Diagnostic[],
  idOf?: (index: number) => string | undefined,
): readonly Markup[] {
  const tones = { error: 'delete', warning: 'update', info: 'adopt' } as const;
  return diagnostics.map((diagnostic, index) => {
    const id = idOf?.(index);
    const { severity, summary, detail = '', code, frame } = diagnostic;
    const where = diagnosticPlaces(diagnostic).map((one) => markup`<code>${one}</code> · `);
    return markup`<div class="note ${tones[severity]}"${id === undefined ? undefined : markup` id="${id}"`}>
<p><span class="badge">${severity}</span> <strong class="text">${summary}</strong></p>
<p class="muted">${where}<code>${code}</code></p>
${frame === undefined ? undefined : markup`<pre>${frame.replace(/\n+$/, '').split('\n').map(framed)}</pre>\n`}${detail.split('\n').map((line) => (line === '' ? undefined : markup`<p>${line}</p>\n`))}</div>
`;
  });
}

export const diagnosticSection = (diagnostics: readonly Diagnostic[]) =>
  pageSection('diagnostics', 'To be known', diagnosticNotes(diagnostics), diagnostics.length);

const framed = (line: string): Markup => markup`<span>${line}</span>\n`;

/** Kinds with the counts of what is live and managed by nothing here. */
export function countTable(counts: Readonly<Record<string, number>>): readonly Markup[] {
  const all = Object.entries(counts).filter(([, count]) => count > 0);
  const body = all
    .toSorted(([a], [b]) => compareText(a, b))
    .map(
      ([kind, count]) =>
        markup`<tr><th scope="row"><code>${kind}</code></th><td>${count}</td></tr>\n`,
    );
  return tableIfAny(
    'Live objects in no state, and not matched by a declaration',
    ['Kind', 'Objects'],
    body,
  );
}

/** The signs of the terminal as they are typeset. */
export const typeset = (sign: string): string => (sign === '-' ? '−' : sign);
