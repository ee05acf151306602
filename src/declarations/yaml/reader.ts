// The full YAML reader: YAML 1.2 core, without the parts that a declaration file may not hold. Tokens are counted
// before values are composed, so that the cost of a file is limited by its size. All error messages are written here,
// because those of the library can quote the text, and with it a secret.
import { defined } from '../../model/index.js';
import {
  Composer,
  CST,
  Lexer,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type ParsedNode,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import {
  limits,
  plainText,
  withKeys,
  type SyntaxFault,
  type Marks,
  type Raw,
  type RawDocument,
} from './raw-values.js';

/** How many values aliases may stand for, all together. */
const MOST_ALIASED = 10_000;

export type Reading =
  { readonly documents: readonly RawDocument[] } | { readonly faults: readonly SyntaxFault[] };

/** The documents of `text`, empty ones left out, with the keys of containers down to depth `marked` marked; or what is wrong. */
export function readYaml(
  text: string,
  marked: number,
  mostTokens: number = limits.tokens,
): Reading {
  const [fault] = scan(text, mostTokens);
  if (fault) return { faults: [fault] };
  return readEach(text, (document) => {
    const [first, next] = document.errors;
    return first
      ? { faults: [inOurWords(first, next, text)], documents: [] }
      : converted(document, marked);
  });
}

interface Read {
  readonly faults: readonly SyntaxFault[];
  readonly documents: readonly RawDocument[];
}

/** All documents of a text, or all that is wrong with them. */
function readEach(text: string, read: (document: Document.Parsed) => Read): Reading {
  const all = Array.from(composedDocuments(text), read);
  const faults = all.flatMap((one) => one.faults);
  return faults.length > 0
    ? { faults: faults.toSorted((a, b) => a.offset - b.offset) }
    : { documents: all.flatMap((one) => one.documents) };
}

/** The document, unless it is empty. */
function converted({ contents }: Document.Parsed, marked: number): Read {
  const walk: Walk = { marked, marks: new Map(), anchors: new Map(), faults: [], aliased: 0 };
  const root = contents === null ? null : convert(walk, contents, 1).value;
  const { faults, marks, inKeys } = walk;
  return { faults, documents: root === null ? [] : [{ root, marks, ...defined({ inKeys }) }] };
}

/** The documents of a text, with the offsets of all nodes. */
export const composedDocuments = (text: string): Generator<Document.Parsed, void> =>
  new Composer({
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: 'silent',
    strict: true,
  }).compose(new Parser().parse(text));

const LONGEST_INDENT = 100;

/** A key `settings` that a broken document may hide. */
const MAY_HIDE = /(?:^|\r|[{,][ \t]*)["']?settings["']?[ \t]*:/m;

/**
 * As `readYaml`, of the top-level keys that are `kept` alone: what is wrong below another one does not matter. Where no
 * `settings` are found, and what is wrong may hide them, it does.
 * @param known what is known to be wrong with the text
 */
export function readKeys(
  text: string,
  marked: number,
  kept: (key: string) => boolean,
  known: readonly SyntaxFault[] = [],
): Reading {
  const scanned = [...known, ...scan(text, limits.tokens)];
  const limit = scanned.find(({ code }) => code === 'too-large' || code === 'too-deep');
  if (limit) return { faults: [limit] };
  return readEach(text, (document) => {
    const { contents, errors, range } = document;
    const read = converted(document, marked);
    const within = scanned.filter(({ offset }) => offset >= range[0] && offset <= range[2]);
    const keys = isMap(contents)
      ? contents.items.flatMap(({ key }) =>
          isScalar(key) ? [{ name: String(key.value), from: key.range[0] }] : [],
        )
      : [];
    const areThere =
      isMap(contents) &&
      (keys.some(({ name }) => name === 'settings') ||
        !MAY_HIDE.test(text.slice(range[0], range[2])));
    const matters = (offset: number): boolean => {
      const key = keys.findLast(({ from }) => from <= offset);
      return !areThere || key === undefined || kept(key.name);
    };
    // What is not closed is found where the next key begins, and a wrong indentation before the key that has it.
    const broken = errors
      .map((one, index) => inOurWords(one, errors[index + 1], text))
      .filter(({ offset }) => {
        const key = offset + text.slice(offset, offset + LONGEST_INDENT).search(/[^ \t]|$/);
        return matters(text[key - 1] === '\n' ? key - 1 : key);
      });
    const others = [...within, ...read.faults].filter(({ offset }) => matters(offset));
    return {
      faults: [...broken, ...others],
      documents: read.documents.flatMap((one) => withKeys(one, kept)),
    };
  });
}

/** Tokens that a level of nesting begins with, in a block. */
const BEGINNERS: ReadonlySet<string | null> = new Set([
  'seq-item-ind',
  'explicit-key-ind',
  'scalar',
  'single-quoted-scalar',
  'double-quoted-scalar',
]);

/** Looks at the tokens alone: how many, how deep, and those that no declaration file may hold. */
function* scan(text: string, mostTokens: number): Generator<SyntaxFault, void> {
  let [offset, lineStart, tokens, flow] = [0, 0, 0, 0];
  const columns: number[] = [];
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    tokens += 1;
    if (tokens > mostTokens) {
      yield {
        offset,
        code: 'too-large',
        summary: `the file holds more than ${mostTokens} tokens`,
        detail: 'Split it into several files.',
      };
      return;
    }
    const forbidden = forbids(type, token, { offset, isFirst: offset === lineStart });
    if (forbidden) yield forbidden;
    if (type === 'flow-map-start' || type === 'flow-seq-start') flow += 1;
    else if (type === 'flow-map-end' || type === 'flow-seq-end') flow -= 1;
    else if (flow === 0 && BEGINNERS.has(type)) {
      while (columns.length > 0 && columns.at(-1)! >= offset - lineStart) columns.pop();
      columns.push(offset - lineStart);
    }
    if (columns.length + flow > 2 * limits.levels) {
      yield tooDeep(offset);
      return;
    }
    if (type === 'newline') lineStart = offset + token.length;
    if (type !== 'doc-mode' && type !== 'flow-error-end' && token !== CST.SCALAR)
      offset += token.length;
  }
}

const tooDeep = (offset: number): SyntaxFault => ({
  offset,
  code: 'too-deep',
  summary: `nested deeper than ${limits.levels} levels`,
});

function forbids(
  type: string | null,
  token: string,
  { offset, isFirst }: { readonly offset: number; readonly isFirst: boolean },
): SyntaxFault | undefined {
  if (type === 'tag')
    return {
      offset,
      code: 'yaml-tag',
      summary: 'tags are not allowed',
      detail: 'Remove the word that begins with `!`, or write the string in quotes.',
    };
  if (type !== 'directive-line') return undefined;
  if (!isFirst)
    return {
      offset,
      code: 'yaml-syntax',
      summary: 'a plain string cannot begin with `%`',
      detail: 'Write it in quotes.',
    };
  if (/^%YAML[ \t]+1\.2[ \t]*(?:#.*)?$/.test(token.trimEnd())) return undefined;
  return {
    offset,
    code: 'yaml-directive',
    summary: 'only the directive `%YAML 1.2` is allowed',
    detail: 'Remove the line: YAML 1.2 is what is read anyway.',
  };
}

const words: Readonly<Partial<Record<string, Words>>> = {
  ALIAS_PROPS: ['an alias cannot have an anchor of its own'],
  BAD_ALIAS: [
    'the alias or anchor is not valid',
    'A plain string cannot begin with `*` or `&`: write it in quotes.',
  ],
  BAD_DIRECTIVE: [
    'the directive is not valid',
    'A plain string cannot begin with `%`: write it in quotes.',
  ],
  BAD_DQ_ESCAPE: [
    'unknown escape in double quotes',
    'Write a backslash as `\\\\`, or use single quotes.',
  ],
  BAD_INDENT: ['the indentation does not fit', 'Keys of one mapping begin in the same column.'],
  BAD_SCALAR_START: ['a plain string cannot begin like this', 'Write it in quotes.'],
  BLOCK_AS_IMPLICIT_KEY: [
    'two keys on one line, or a list where a string is expected',
    'Write the string in quotes if it holds `: `, or put the inner key on a line of its own.',
  ],
  BLOCK_IN_FLOW: ['an indented block is not allowed inside `[…]` or `{…}`'],
  KEY_OVER_1024_CHARS: ['the key is longer than 1,024 characters'],
  MISSING_CHAR: [
    'a character is missing here',
    'Look for a quote or bracket that is not closed, or a key without `: ` behind it.',
  ],
  MULTILINE_IMPLICIT_KEY: [
    'a key must stand on one line',
    'Look for a missing `:` in the line before, or a quote that is not closed.',
  ],
  TAB_AS_INDENT: ['a tab is used as indentation', 'Indent with spaces.'],
};

/** Of an indentation that is wrong because of a bracket before it. */
const OPEN = [
  'a `[` or `{` is not closed before this line',
  'Close it, or indent its other lines further than the key that it belongs to.',
] as const;

/** What is said of an error: the sentence, and what to write. */
type Words = readonly [summary: string, detail?: string];

/** Of an error at a place whose line shows the cause for certain. */
interface PlaceOfError {
  /** The line up to the place, and from it on, as far as one looks. */
  readonly before: string;
  readonly after: string;
}

const UNQUOTED: Words = [
  'a `${…}` inside `[…]` or `{…}` is not in quotes',
  'Write it in quotes: `"${…}"`, or `\'${…}\'` if it holds a `"`.',
];

const QUOTED_COLON: Words = [
  'a string that holds `: ` is not in quotes',
  'Write the string in quotes, or an inner key and its value in `{…}`.',
];

const DEEPER: Words = [
  'a line below is indented further than this key, which has a value',
  'Begin the keys of one mapping in the same column, and write a string of several lines in quotes.',
];

const INNER_QUOTE: Readonly<Record<string, Words>> = {
  '"': [
    'a `"` inside the `${…}` ends the string that began with `"`',
    'Write the whole string in `\'…\'`, or each inner `"` as `\\"`.',
  ],
  "'": [
    "a `'` inside the `${…}` ends the string that began with `'`",
    "Write the whole string in `\"…\"`, or each inner `'` as `''`.",
  ],
};

/** Whether a `${` is not closed in a text. */
const isInside = (text: string): boolean => text.lastIndexOf('${') > text.lastIndexOf('}');

/** Of a string that ends at the place, or begins there, with a quote inside of its `${…}`. */
function innerQuote({ before, after }: PlaceOfError): Words | undefined {
  const ended = /(["'])([^"']*)\1$/.exec(before);
  const begun = /^(["'])([^"']*)\1/.exec(after);
  const [, quote = '', inside = ''] = ended ?? begun ?? [];
  return isInside(inside) ? INNER_QUOTE[quote] : undefined;
}

const isUnquoted = ({ before, after }: PlaceOfError): boolean =>
  before.endsWith('$') && after.startsWith('{');

/** A key before the place, and `: ` in the string that begins there. */
const isKeyInString = ({ before, after }: PlaceOfError): boolean =>
  /:[ \t]+$/.test(before) && /^[^,[\]{}]*:(?:[ \t]|$)/.test(after);

/** How far one looks on each side of an error: a line may have megabytes, and each of its places an error. */
const LOOKED_AT = 300;

function placeIn(text: string, offset: number): PlaceOfError {
  const before = text.slice(Math.max(0, offset - LOOKED_AT), offset);
  const after = text.slice(offset, offset + LOOKED_AT);
  return { before: before.split(/[\r\n]/).at(-1)!, after: after.split(/[\r\n]/)[0]! };
}

/** Codes of errors that a missing quote, or one too many, can have. */
const OF_QUOTES: ReadonlySet<string> = new Set([
  'BLOCK_AS_IMPLICIT_KEY',
  'MISSING_CHAR',
  'UNEXPECTED_TOKEN',
]);

function causeAt({ code, pos: [offset] }: YAMLError, text: string): Words | undefined {
  const place = placeIn(text, offset);
  if (code === 'BLOCK_IN_FLOW') return isKeyInString(place) ? QUOTED_COLON : undefined;
  if (!OF_QUOTES.has(code)) return undefined;
  return isUnquoted(place) ? UNQUOTED : innerQuote(place);
}

const COMMENT: Words = [
  'a `]` or `}` in a comment closes nothing: a comment begins with ` #`',
  'Write the string with the `#` in quotes.',
];

/** Whether the line before the place where an open bracket is noticed ends in a plain string and a comment, which hides what closes the bracket. */
function hidesEnd(text: string, offset: number): boolean {
  const lines = text.slice(Math.max(0, offset - LOOKED_AT), offset).split(/[\r\n]/);
  const [type, , , comment = ''] = [
    ...new Lexer().lex(lines.findLast((line) => /^\s*[^\s#]/.test(line)) ?? ''),
  ].slice(-4);
  return type === CST.SCALAR && /^#[^[{]*[\]}]/.test(comment);
}

/** What is said of a bracket that is not closed, and of a value that goes on in a line that holds a key. */
function causeBefore(
  { code, message, pos: [offset] }: YAMLError,
  next: YAMLError | undefined,
  text: string,
): Words | undefined {
  if (code === 'BAD_INDENT' && message.startsWith('Flow'))
    return hidesEnd(text, offset) ? COMMENT : OPEN;
  const goesOn = code === 'BLOCK_AS_IMPLICIT_KEY' && next?.code === 'MULTILINE_IMPLICIT_KEY';
  return goesOn ? DEEPER : undefined;
}

/** @param next the error behind it, which tells more of its cause */
function inOurWords(error: YAMLError, next: YAMLError | undefined, text: string): SyntaxFault {
  const [summary, detail] = causeBefore(error, next, text) ??
    causeAt(error, text) ??
    words[error.code] ?? [
      'this is not valid YAML',
      'Look for a wrong indentation, a missing `: `, or a quote or bracket that is not closed.',
    ];
  return { offset: error.pos[0], code: 'yaml-syntax', summary, ...defined({ detail }) };
}

interface Walk {
  readonly marked: number;
  readonly marks: Marks;
  readonly anchors: Map<string, Converted>;
  readonly faults: SyntaxFault[];
  aliased: number;
  /** A key holds `${`. */
  inKeys?: true;
}

/** A value and how many values it is made of, aliases counted out in full. */
interface Converted {
  readonly value: Raw;
  readonly size: number;
}

function convert(walk: Walk, node: ParsedNode | null, depth: number): Converted {
  if (node === null) return { value: null, size: 1 };
  if (depth > limits.levels) return wrong(walk, tooDeep(node.range[0]));
  if (isAlias(node)) return convertAlias(walk, node.source, node.range[0]);
  const made = convertNode(walk, node, depth);
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, made);
  return made;
}

function convertNode(walk: Walk, node: ParsedNode, depth: number): Converted {
  if (isMap(node)) return convertMap(walk, node, depth);
  return isSeq(node)
    ? convertItems(walk, node.items, depth)
    : { value: convertScalar(walk, node), size: 1 };
}

function wrong(walk: Walk, fault: SyntaxFault): Converted {
  walk.faults.push(fault);
  return { value: null, size: 1 };
}

function convertAlias(walk: Walk, name: string, offset: number): Converted {
  const target = walk.anchors.get(name);
  if (!target)
    return wrong(walk, {
      offset,
      code: 'yaml-alias',
      summary: 'the alias names no anchor before it',
      detail: 'An anchor comes before its aliases and does not contain them.',
    });
  if (walk.aliased > MOST_ALIASED) return { value: null, size: 1 };
  walk.aliased += target.size;
  if (walk.aliased <= MOST_ALIASED) return target;
  return wrong(walk, {
    offset,
    code: 'yaml-alias',
    summary: `aliases stand for more than ${MOST_ALIASED} values`,
    detail: 'Write the values out, or use `for_each` and variables.',
  });
}

function convertScalar(walk: Walk, node: ParsedNode): Raw {
  if (!isScalar(node)) return null;
  const value: unknown = node.value;
  const refused = (code: string, summary: string, detail: string): Raw =>
    wrong(walk, { offset: node.range[0], code, summary, detail }).value;
  if (typeof value === 'bigint') {
    if (value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER))
      return Number(value);
    return refused(
      'integer-range',
      'the integer is beyond 2^53 and would lose digits',
      'Write it in quotes: identifiers are strings.',
    );
  }
  if (typeof value === 'number')
    return Number.isFinite(value)
      ? value
      : refused('number-range', 'not a finite number', 'Write it in quotes if a string is meant.');
  if (typeof value === 'string') return node.type === 'PLAIN' ? plainText(value) : value;
  return typeof value === 'boolean' ? value : null;
}

function convertMap(walk: Walk, node: YAMLMap.Parsed, depth: number): Converted {
  const out: Record<string, Raw> = {};
  const marks = new Map<string, number>();
  if (depth <= walk.marked) walk.marks.set(out, marks);
  let size = 1;
  for (const { key, value } of node.items) {
    const name = keyOf(walk, key, node.range[0], marks);
    const inner = convert(walk, value, depth + 1);
    size += inner.size;
    if (name === undefined) continue;
    marks.set(name, key.range[0]);
    out[name] = inner.value;
  }
  return { value: out, size };
}

/** The text of a key, or undefined after a complaint. */
function keyOf(
  walk: Walk,
  key: ParsedNode | null,
  outer: number,
  seen: ReadonlyMap<string, number>,
): string | undefined {
  const offset = key?.range[0] ?? outer;
  const complain = (code: string, summary: string, detail: string, first?: number): undefined => {
    walk.faults.push({ offset, code, summary, detail, ...defined({ first }) });
  };
  if (!isScalar(key) || typeof key.value !== 'string')
    return complain('yaml-key', 'a key must be a string', 'Write it in quotes.');
  if (key.anchor !== undefined) walk.anchors.set(key.anchor, { value: key.value, size: 1 });
  if (key.type === 'PLAIN' && key.value === '<<')
    return complain(
      'yaml-merge',
      'merge keys (`<<`) are not allowed',
      'Write the keys out, or use `for_each` and variables.',
    );
  if (key.value === '__proto__')
    return complain('yaml-key', 'the key `__proto__` is not allowed', 'Rename it.');
  if (seen.has(key.value))
    return complain(
      'duplicate-key',
      'the key appears twice in this mapping',
      'Remove one of them.',
      seen.get(key.value),
    );
  if (key.value.includes('${')) walk.inKeys = true;
  return key.value;
}

function convertItems(walk: Walk, items: readonly ParsedNode[], depth: number): Converted {
  const inner = items.map((item) => convert(walk, item, depth + 1));
  const value = inner.map((one) => one.value);
  if (depth <= walk.marked)
    walk.marks.set(value, new Map(items.map(({ range }, index) => [String(index), range[0]])));
  return { value, size: inner.reduce((sum, { size }) => sum + size, 1) };
}
