// Changes single values in the text of a YAML file. Nothing but their characters is touched: comments, order, quotes and
// line ends of all else stay, byte for byte.
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  visit,
  type ParsedNode,
  type Scalar,
  type YAMLSeq,
} from 'yaml';
import { scalar } from '../export/yaml.js';
import { escapeText } from '../reference-syntax.js';
import { composedDocuments } from './reader.js';

/** Characters that are replaced by a text. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A value that stands in a file once, plainly. */
export type ScalarValue = string | number | boolean;

/** Why a value cannot be changed in its place. */
export interface Obstacle {
  readonly obstacle: 'absent' | 'alias' | 'anchor' | 'mapping' | 'comments';
  readonly offset: number;
}

export interface ScalarPlace {
  readonly offset: number;
  readonly value: unknown;
  replacedBy(value: ScalarValue): readonly TextEdit[];
}

export interface ListPlace {
  readonly offset: number;
  readonly items: readonly unknown[];
  /** Without the items that are not kept, and with others behind them. The comment of an item that goes stays. */
  replacedBy(isKept: (index: number) => boolean, added: readonly ScalarValue[]): ListEdit;
}

type ListEdit = readonly TextEdit[] | Obstacle;
type Place = ScalarPlace | ListPlace | Obstacle;

/** @param text without a byte order mark, read before without a fault */
export function editablePlaces(text: string) {
  const documents = [...composedDocuments(text)];
  const roots = documents.map(({ contents }) => contents);
  const aliased = new Set<string>();
  for (const one of documents) visit(one, { Alias: (_, { source }) => void aliased.add(source) });
  /** The value at a path, such as `['accounts', 'store', 'name']`. */
  return (path: readonly string[]): Place => {
    const [section = '', name = ''] = path;
    const root = roots.find((one) => memberOf(memberOf(one, section)?.node, name) !== undefined);
    let at: Member | undefined = { node: root ?? null, after: 0 };
    for (const step of path) {
      const found = blocking(at.node, aliased);
      if (found) return found;
      // An expression, or a value that is written another way.
      if (isScalar(at.node)) return scalarPlace(text, at.node);
      const inner = memberOf(at.node, step);
      if (!inner) return { obstacle: 'absent', offset: at.node?.range[0] ?? 0 };
      at = inner;
    }
    const { node, after } = at;
    const found = blocking(node, aliased);
    if (found) return found;
    if (isScalar(node)) return scalarPlace(text, node);
    return isSeq(node)
      ? listPlace({ text, node, after }, aliased)
      : { obstacle: 'mapping', offset: node?.range[0] ?? after };
  };
}

interface Member {
  readonly node: ParsedNode | null;
  /** The end of its key. */
  readonly after: number;
}

function memberOf(node: ParsedNode | null | undefined, step: string): Member | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item && { node: item, after: item.range[0] };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && key.value === escapeText(step));
  return pair && { node: pair.value, after: pair.key.range[1] };
}

/** What is written once and read several times cannot be changed for one of them. @param aliased anchors that have an alias */
function blocking(node: ParsedNode | null, aliased: ReadonlySet<string>): Obstacle | undefined {
  if (isAlias(node)) return { obstacle: 'alias', offset: node.range[0] };
  return node?.anchor !== undefined && aliased.has(node.anchor)
    ? { obstacle: 'anchor', offset: node.range[0] }
    : undefined;
}

function scalarPlace(text: string, node: Scalar.Parsed): ScalarPlace {
  const [start, end] = node.range;
  return {
    offset: start,
    value: node.value,
    replacedBy: (value) => [{ start, end, text: quotedAs(node, text.slice(start, end), value) }],
  };
}

/** In the quotes of before. */
function quotedAs({ type }: Scalar.Parsed, before: string, value: ScalarValue): string {
  const plain = scalar(value);
  if (typeof value !== 'string') return plain;
  if (type === 'QUOTE_SINGLE' && /^[\x20-\x7e]*$/.test(value))
    return `'${value.replaceAll("'", "''")}'`;
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') {
    const [comment = ''] = /[ \t]#[^\r\n]*/.exec(before.split('\n', 1)[0]!) ?? [];
    const [ending = ''] = /(?:\r?\n)?$/.exec(before) ?? [];
    return `${JSON.stringify(value)}${comment}${ending}`;
  }
  return type === 'QUOTE_DOUBLE' && !plain.startsWith('"') ? JSON.stringify(value) : plain;
}

function listPlace(whole: Omit<List, 'items'>, aliased: ReadonlySet<string>): Place {
  const { node } = whole;
  for (const item of node.items) {
    const found = blocking(item, aliased);
    if (found) return found;
    if (!isScalar(item)) return { obstacle: 'mapping', offset: item.range[0] };
  }
  const items = node.items.filter((item) => isScalar(item));
  const list = { ...whole, items };
  return {
    offset: node.range[0],
    items: items.map(({ value }) => value),
    replacedBy: (isKept, added) =>
      node.flow === true ? inBrackets(list, isKept, added) : inLines(list, isKept, added),
  };
}

interface List {
  readonly text: string;
  /** The end of its key. */
  readonly after: number;
  readonly node: YAMLSeq.Parsed;
  readonly items: readonly Scalar.Parsed[];
}

function inBrackets(
  { text, node, items }: List,
  isKept: (index: number) => boolean,
  added: readonly ScalarValue[],
): ListEdit {
  const [start, end] = node.range;
  const hasComment =
    text.slice(start, end).includes('\n') &&
    [node, ...items].some(({ comment, commentBefore }) => (comment ?? commentBefore ?? '') !== '');
  if (hasComment) return { obstacle: 'comments', offset: start };
  const kept = items.flatMap(({ range }, index) =>
    isKept(index) ? [text.slice(range[0], range[1])] : [],
  );
  const all = [...kept, ...added.map(scalar)].join(', ');
  const pad = /^\[[ \t]+\S/.test(text.slice(start, end)) && all !== '' ? ' ' : '';
  return [{ start, end, text: `[${pad}${all}${pad}]` }];
}

/** One item a line. */
function inLines(
  { text, node, items, after }: List,
  isKept: (index: number) => boolean,
  added: readonly ScalarValue[],
): ListEdit {
  const lines = items.map(({ range: [from, to] }) => {
    const start = text.lastIndexOf('\n', from - 1) + 1;
    const newline = text.indexOf('\n', to);
    const end = newline < 0 ? text.length : newline + 1;
    const [, margin] = /^([ \t]*)-[ \t]+(?:&\S+[ \t]+)?$/.exec(text.slice(start, from)) ?? [];
    const tail = /^[ \t]*(#[^\n]*\n?|\r?\n?)$/.exec(text.slice(to, end));
    return {
      start,
      end,
      margin,
      comment: tail?.[1]?.startsWith('#') ? tail[1] : '',
      isWhole: tail,
    };
  });
  const last = lines.at(-1);
  if (!last || lines.some((one) => one.margin === undefined || !one.isWhole))
    return { obstacle: 'comments', offset: node.range[0] };
  const gone = lines.filter((_, index) => !isKept(index));
  const edits = gone.map(({ start, end, margin, comment }) => ({
    start,
    end,
    text: comment === '' ? '' : `${margin}${comment}`,
  }));
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const isOpen = text[last.end - 1] !== '\n';
  const lineOf = (value: ScalarValue): string => `${last.margin}- ${scalar(value)}`;
  if (added.length > 0)
    edits.push({
      start: last.end,
      end: last.end,
      text: isOpen
        ? (isKept(lines.length - 1) || last.comment !== '' ? ending : '') +
          added.map(lineOf).join(ending)
        : added.map((one) => `${lineOf(one)}${ending}`).join(''),
    });
  if (gone.length < lines.length || added.length > 0) return edits;
  const colon = text.indexOf(':', after) + 1;
  const [anchor = ''] = /^[ \t]*&\S+/.exec(text.slice(colon)) ?? [];
  const start = colon + anchor.length;
  return [{ start, end: start, text: ' []' }, ...edits];
}

/** @param edits none inside of another */
export function edited(text: string, edits: readonly TextEdit[]): string {
  let out = '';
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    out += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return out + text.slice(at);
}
