// The language inside `${…}`: splits a string into its parts, and writes the parts back as the same string.
import { closingBrace } from '../expressions/tokens.js';
import { NAME, didYouMean, tryJson, type Kinds } from '../model/index.js';

/** `["key"]`, or `[each.key]` before it is filled in. */
export type Index = { readonly key: string } | { readonly each: readonly string[] };

export type Expression = { readonly text: string } & (
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'var'; readonly name: string; readonly path: readonly string[] }
  | { readonly from: 'param'; readonly path: readonly string[] }
  | { readonly from: 'each'; readonly path: readonly string[] }
  | { readonly from: 'secret'; readonly source: string; readonly name: string }
  | { readonly from: 'lookup'; readonly name: string; readonly attribute: string }
  | {
      readonly from: 'declared';
      readonly kind: string;
      readonly name: string;
      readonly index?: Index;
      readonly attribute: string;
    }
  | {
      readonly from: 'cel';
      readonly source: string;
      /** What it is read as if there is a member of that name: keys of mappings may hold any character. */
      readonly member?: Expression;
    }
  /** One of a synthesised stack, by its number. */
  | { readonly from: 'stack'; readonly number: number }
  | { readonly from: 'nowhere'; readonly summary: string; readonly detail: string }
);

/** An expression of one source. */
export type ExpressionFrom<S extends Expression['from']> = Extract<
  Expression,
  { readonly from: S }
>;

export type Part = string | Expression;

/** Many objects refer to the same one, and members and instances repeat all texts of what they are made from. */
const known = new Map<string, readonly Part[]>();
const MOST_KNOWN = 2_000;

/** The parts of a text: literals with `$${` undone, and expressions. Literals never stand side by side; an empty one makes a text of the expression that it stands before. */
export function partsOf(text: string): readonly Part[] {
  if (!text.includes('${')) return [text];
  const before = known.get(text);
  if (before) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const parts = split(text);
  known.set(text, parts);
  return parts;
}

function split(text: string): readonly Part[] {
  const parts: Part[] = [];
  let literal = '';
  let emptied = false;
  let at = 0;
  for (let open = text.indexOf('${'); open >= 0; open = text.indexOf('${', at)) {
    if (text[open - 1] === '$' && open > at) {
      literal += `${text.slice(at, open - 1)}\${`;
      at = open + 2;
      continue;
    }
    literal += text.slice(at, open);
    const { expression, end } = readAt(text, open);
    if (end < 0) return [...parts, literal, expression].filter((part) => part !== '');
    at = end + 1;
    if (typeof expression === 'string') {
      literal += expression;
      emptied ||= expression === '';
    } else {
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(expression);
    }
  }
  literal += text.slice(at);
  if (literal !== '' || parts.length === 0) parts.push(literal);
  return emptied && parts.length === 1 && typeof parts[0] !== 'string' ? ['', ...parts] : parts;
}

/** The text that stands for itself once `$${` is undone; undefined where it holds an expression. */
export function literalOf(text: string): string | undefined {
  const [literal, ...more] = partsOf(text);
  return typeof literal === 'string' && more.length === 0 ? literal : undefined;
}

/** Stands for nothing. */
export const EMPTY = '${""}';

/** Text that reads back as the parts. */
export function textOf(parts: readonly Part[]): string {
  const [only, ...more] = parts.filter((part) => part !== '');
  let out = parts.length > 1 && more.length === 0 && typeof only === 'object' ? EMPTY : '';
  let literal = '';
  for (const part of parts) {
    if (typeof part === 'string') literal += part;
    else {
      out += `${escapeText(literal).replace(/\$+$/, (dollars) => `\${"${dollars}"}`)}${part.text}`;
      literal = '';
    }
  }
  return out + escapeText(literal);
}

/** Text that reads back as itself, whatever it holds. */
export function escapeText(literal: string): string {
  return literal.replaceAll('${', () => '$${');
}

/** An expression or literal, and the offset of the `}` that ends it; -1 where it is never closed. */
function readAt(text: string, open: number): { readonly expression: Part; readonly end: number } {
  const close = closing(text, open + 2);
  const plain = close < 0 ? unclosed(text.slice(open)) : expressionOf(text.slice(open, close + 1));
  if (typeof plain === 'string' || !mayBeCel(plain)) return { expression: plain, end: close };
  const inside = closingBrace(text.slice(open + 2, open + 2 + LONGEST), 0);
  const end = inside < 0 ? close : open + 2 + inside;
  if (end < 0) return { expression: plain, end };
  const isMember = end === close && 'path' in plain;
  const expression: Expression = {
    from: 'cel',
    source: text.slice(open + 2, end),
    text: text.slice(open, end + 1),
    ...(isMember && { member: plain }),
  };
  return { expression, end };
}

/** Of an expression, with its mappings and strings. */
const LONGEST = 20_000;

function unclosed(text: string): Expression {
  const detail = 'Close it with `}`, or write `$${` for a literal `${`.';
  return nowhere(text, 'a `${` is never closed', detail);
}

const WORDS = /^[\w.-]*$/;
/** Of CEL: no reference begins like a number or with a minus, or is one word. */
const LITERAL = /^(?:true|false|null|[-\d].*)$/s;
/** Begins as a reference to a member of a `for_each`. */
const MEMBER_OF = /^(?!(?:var|each|env|param)\.)[A-Za-z_][\w-]*\.[A-Za-z][\w-]*\[/;

/** Whether the text is no reference, or one to a name that no attribute has. */
function mayBeCel(plain: Expression): boolean {
  switch (plain.from) {
    case 'var':
    case 'each':
    case 'param':
      return !plain.path.every((step) => WORDS.test(step));
    case 'lookup':
    case 'declared':
      return !WORDS.test(plain.attribute);
    case 'nowhere': {
      const body = plain.text.slice(2).replace(/\}$/, '').trim();
      return LITERAL.test(body) || (!WORDS.test(body) && !MEMBER_OF.test(body));
    }
    case 'cel':
    case 'env':
    case 'secret':
    case 'stack':
      return false;
  }
}

/** Offset of the `}` that ends an expression; quoted keys may hold others. */
function closing(text: string, from: number): number {
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (quoted && character === '\\') at += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === '}' && !quoted) return at;
  }
  return -1;
}

function nowhere(text: string, summary: string, detail: string): Expression {
  return { from: 'nowhere', text, summary, detail };
}

const FORMS =
  'References are `${<kind>.<name>.<attribute>}`, `${lookups.<name>.<attribute>}`, `${var.<name>}`, `${env.<NAME>}`, `${each.key}`, `${each.value}`, `${param.<name>}`, `${secret.env.<NAME>}`, `${secret.file.<path>}` and `${secret.<manager>.<key>}`, or an expression; `$${` is a literal `${`.';
export const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const DECLARED = /^([A-Za-z_][\w-]*)\.([A-Za-z][A-Za-z0-9_-]*)(\[.*\])?\.([^[\]]+)$/s;

/** Nobody writes this character, which means nothing. */
const STACK = /^\uE000(\d+)$/;

/** What stands for an expression of a synthesised stack until variables are known. */
export const stackExpressionText = (number: number): string => `\${\uE000${number}}`;

/** An expression, or the literal that `${"…"}` stands for. */
function expressionOf(text: string): Part {
  const body = text.slice(2, -1).trim();
  const [, number] = STACK.exec(body) ?? [];
  if (number !== undefined) return { from: 'stack', number: Number(number), text };
  const dot = body.indexOf('.');
  const [source, rest] = dot < 0 ? [body, ''] : [body.slice(0, dot), body.slice(dot + 1)];
  switch (source) {
    case 'var': {
      const [name = '', ...path] = rest.split('.');
      return NAME.test(name) && path.every((step) => MEMBER.test(step))
        ? { from: 'var', name, path, text }
        : malformed(text, 'write `${var.<name>}` or `${var.<name>.<member>}`');
    }
    case 'param': {
      const path = rest.split('.');
      return path.every((step) => MEMBER.test(step))
        ? { from: 'param', path, text }
        : malformed(text, 'write `${param.<name>}` or `${param.<name>.<member>}`');
    }
    case 'env':
      return ENV_NAME.test(rest)
        ? { from: 'env', name: rest, text }
        : malformed(text, 'write `${env.<NAME>}`');
    case 'each':
      return EACH.test(rest)
        ? { from: 'each', path: rest.split('.'), text }
        : malformed(text, 'write `${each.key}`, `${each.value}` or `${each.value.<member>}`');
    case 'secret':
      return secretOf(text, rest);
    case 'lookups': {
      const [name = '', attribute = '', ...more] = rest.split('.');
      return NAME.test(name) && attribute !== '' && more.length === 0
        ? { from: 'lookup', name, attribute, text }
        : malformed(text, 'write `${lookups.<name>.<attribute>}`');
    }
    default:
      return body.startsWith('"')
        ? (tryText(body) ?? malformed(text, FORMS))
        : declaredOf(text, body);
  }
}

const malformed = (text: string, detail: string): Expression =>
  nowhere(
    text,
    'the reference is incomplete or has a form that does not exist',
    `${detail[0]?.toUpperCase()}${detail.slice(1)}${detail === FORMS ? '' : '.'}`,
  );

const MEMBER = /^[^.[\]]+$/;
const EACH = /^(?:key|value(?:\.[^.[\]]+)*)$/;

function secretOf(text: string, rest: string): Expression {
  const [source, name] = [rest.slice(0, rest.indexOf('.')), rest.slice(rest.indexOf('.') + 1)];
  const isName = source === 'env' ? ENV_NAME.test(name) : NAME.test(source) && name !== '';
  return isName
    ? { from: 'secret', source, name, text }
    : malformed(
        text,
        'write `${secret.env.<NAME>}`, `${secret.file.<path>}` or `${secret.<manager>.<key>}`',
      );
}

function tryText(body: string): string | undefined {
  const value = tryJson(body);
  return typeof value === 'string' ? value : undefined;
}

function declaredOf(text: string, body: string): Expression {
  const [matched, kind = '', name = '', brackets, attribute = ''] = DECLARED.exec(body) ?? [];
  if (matched === undefined) return malformed(text, FORMS);
  const declared = { from: 'declared', kind, name, attribute, text } as const;
  if (brackets === undefined) return declared;
  const inner = brackets.slice(1, -1).trim();
  const key = tryText(inner);
  if (key !== undefined) return { ...declared, index: { key } };
  const each = inner.replace(/^each\./, '');
  if (each !== inner && EACH.test(each)) return { ...declared, index: { each: each.split('.') } };
  return KEY_VALUE.test(inner)
    ? noKey(declared, inner)
    : malformed(text, 'write the key in quotes, as in `["a"]`, or `[each.key]`');
}

/** A value that no key can be. */
const KEY_VALUE = /^(?:param|var|env)\.[\w.-]+$/;

function noKey(
  { kind, name, attribute, text }: Omit<ExpressionFrom<'declared'>, 'from'>,
  value: string,
): Expression {
  const [source, parameter = ''] = value.split('.');
  const passed = `with: { ${parameter}: '\${${kind}.${name}["a"].${attribute}}' }`;
  return nowhere(
    text,
    `\`${value}\` cannot be the key in a reference`,
    source === 'param'
      ? `Give the whole reference to the template where it is used, as in \`${passed}\`. Here, write \`\${param.${parameter}}\`.`
      : 'Write the key in quotes, as in `["a"]`, or `[each.key]` beside a `for_each`.',
  );
}

/** The complaint about a reference whose first word is no kind. */
export function unknownSource(
  kind: string,
  kinds: Kinds,
): { readonly summary: string; readonly detail: string } {
  const right = didYouMean(kind, [
    ...kinds.keys(),
    'lookups',
    'var',
    'env',
    'each',
    'param',
    'secret',
  ]);
  return {
    summary: `\`${kind}\` is neither a kind nor anything else that can be referred to.${right}`,
    detail: FORMS,
  };
}
