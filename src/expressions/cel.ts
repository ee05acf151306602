// Compiles and evaluates CEL expressions within limits: JSON in, JSON out. Loaded only where there is an expression.
import {
  Environment,
  EvaluationError,
  ParseError,
  TypeError as CelTypeError,
  type ParseResult,
} from '@marcbachmann/cel-js';
import {
  cached,
  defined,
  didYouMean,
  mapMembers,
  own,
  shownMembers,
  type Json,
} from '../model/index.js';
import {
  MOST_STEPS,
  WRONG_VALUE,
  isExhausted,
  operandsOf,
  positionsOf,
  startBudget,
} from './step-limit.js';
import { replaced, stringFunctions } from './string-functions.js';
import { tokensOf } from './tokens.js';
import { toAsked, toCel, toJson, type CelInput, type Members } from './cel-values.js';
import { UnknownValue } from './unknown-value.js';

/** What is wrong with an expression, and where in it. */
export interface Problem {
  readonly summary: string;
  readonly detail?: string;
  readonly start: number;
  readonly end: number;
  /** Of what refused a name. */
  readonly code?: string;
  /** A word that is no variable. */
  readonly unknown?: string;
  /** A member that is not there, and the variable or the member of it that lacks it, as in `['change', 'after']`. */
  readonly missing?: { readonly of: readonly string[]; readonly name: string };
}

type Result<T> = { readonly value: T } | { readonly problem: Problem };

/** A text that a member of a variable is compared with, as in `change.kind == "accounts"` or `one.kind in ["accounts"]`. */
export interface ComparedText extends Pick<Problem, 'start' | 'end'> {
  /** As in `plan.resource_changes[].kind`, with `[]` for any item of a list, also where a macro names it. */
  readonly member: string;
  readonly text: string;
}

export interface Compiled {
  comparisons(): readonly ComparedText[];
  /** Members that `has()` asks for, as in `ComparedText`. */
  askedFor(): readonly string[];
  /** What it gives, in the words of CEL, such as `bool` or `list<int>`; `dyn` if that depends on its variables. */
  readonly type: string;
  evaluate(values: Readonly<Record<string, CelInput | Members>>): Result<Json>;
}

/** `maxDepth` bounds brackets; what stands side by side nests as well, so the nodes are bounded for the stack. */
const LIMITS: Readonly<Record<string, readonly [most: number, what: string]>> = {
  maxAstNodes: [2_000, 'parts'],
  maxDepth: [100, 'levels'],
  maxListElements: [1_000, 'items in a list'],
  maxMapEntries: [1_000, 'members in a mapping'],
  maxCallArguments: [32, 'arguments'],
};
const LONGEST = 20_000;

/** Thrown by `Members` for a name that must not be read. */
export class RefusedName extends Error {
  constructor(readonly problem: Pick<Problem, 'summary' | 'detail' | 'code'>) {
    super(problem.summary);
  }
}

/** What `strings.quote` is a function of. */
class Strings {
  readonly name = 'strings';
}

const functions = stringFunctions.reduce(
  (all, [signature, call]) => all.registerFunction(signature, call, { async: false }),
  new Environment({
    homogeneousAggregateLiterals: false,
    limits: mapMembers(LIMITS, ([most]) => most),
  })
    .registerType('strings', Strings)
    .registerType('reference', UnknownValue)
    .registerConstant('strings', 'strings', new Strings()),
);

/** Words that CEL reserves, or that the library means otherwise: written in another way of the same length. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([['var', 'v_r'], ...replaced]);
const BACK = [...OTHERWISE].map(
  ([name, other]) => [new RegExp(`\\b${other}\\b`, 'g'), name] as const,
);

const restored = (text: string): string =>
  BACK.reduce((all, [other, name]) => all.replaceAll(other, name), text);

/** With the words that the library would misread under other names of the same length. */
function rewritten(source: string): string {
  const tokens = [...tokensOf(source)].filter(({ text }) => !/^\s/.test(text));
  let made = '';
  let end = 0;
  for (const [index, { text, start, word }] of tokens.entries()) {
    const isMember = tokens[index - 1]?.text === '.';
    const isCalled = tokens[index + 1]?.text === '(';
    const isOurs = word && (isMember ? isCalled && replaced.has(text) : text === 'var');
    made += source.slice(end, start) + (isOurs ? OTHERWISE.get(text) : text);
    end = start + text.length;
  }
  return made + source.slice(end);
}

const environments = new Map<string, Environment>();

const environmentOf = (variables: readonly string[]): Environment =>
  cached(environments, variables.join(' '), () =>
    variables.reduce(
      (all, name) => all.registerVariable(OTHERWISE.get(name) ?? name, 'dyn'),
      functions.clone(),
    ),
  );

/** Parses and checks types. @param variables the names that the expression may use */
export function compileExpression(source: string, variables: readonly string[]): Result<Compiled> {
  const at = { start: 0, end: source.length };
  if (source.length > LONGEST)
    return {
      problem: { ...at, summary: `the expression is longer than ${LONGEST} characters` },
    };
  try {
    const parsed = environmentOf(variables).parse(rewritten(source));
    const { error, type } = parsed.check();
    if (error) {
      const problem = problemOf(error, source, variables);
      return { problem: wrongCall(parsed.ast, problem) ?? problem };
    }
    const words = new Set([...tokensOf(source)].map(({ text }) => text));
    const used = variables.filter((name) => words.has(name));
    let exhausted = 0;
    return {
      value: {
        comparisons: () => [...walked(parsed.ast, comparisonsOf)],
        askedFor: () => [...walked(parsed.ast, askedOf)],
        type: String(type),
        evaluate: (values) => {
          if (exhausted >= MOST_EXHAUSTED) return { problem: givenUp(source) };
          const result = evaluate(parsed, { source, used, values });
          if (isExhausted()) exhausted += 1;
          return result;
        },
      },
    };
  } catch (error) {
    return { problem: problemOf(error, source, variables) };
  }
}

interface Evaluation {
  readonly source: string;
  /** Variables whose names stand in it. */
  readonly used: readonly string[];
  readonly values: Readonly<Record<string, CelInput | Members>>;
}

function evaluate(parsed: ParseResult, { source, used, values }: Evaluation): Result<Json> {
  startBudget();
  try {
    const context: Record<string, unknown> = {};
    for (const name of used) {
      const value = values[name];
      if (value !== undefined)
        context[OTHERWISE.get(name) ?? name] =
          typeof value === 'function' ? toAsked(value) : toCel(value);
    }
    return { value: toJson(parsed(context)) };
  } catch (error) {
    if (!isExhausted()) return { problem: problemOf(error, source, Object.keys(values)) };
  }
  return { problem: tooLong(source) };
}

/** Evaluations of one expression that may take too many steps: about as many quarters of a second. */
const MOST_EXHAUSTED = 20;

const tooLong = (source: string): Problem => ({
  summary: `the expression takes more than ${MOST_STEPS} steps`,
  detail: 'Loop over fewer items, or move a loop out of another.',
  start: 0,
  end: source.length,
});

const givenUp = (source: string): Problem => ({
  ...tooLong(source),
  summary: `the expression took more than ${MOST_STEPS} steps ${MOST_EXHAUSTED} times, so it was not evaluated any more`,
});

function problemOf(error: unknown, source: string, variables: readonly string[]): Problem {
  const whole = { start: 0, end: source.length };
  if (error instanceof RangeError)
    return {
      ...whole,
      summary: 'the expression is nested too deeply, or what it makes is too long',
    };
  if (error instanceof RefusedName) return { ...whole, ...error.problem };
  if (
    error instanceof ParseError ||
    error instanceof CelTypeError ||
    error instanceof EvaluationError
  )
    return {
      ...whole,
      ...error.range,
      ...(misread(error, source) ?? withOperands(error, variables)),
    };
  throw error;
}

type CelError = ParseError | CelTypeError | EvaluationError;

type Said = Pick<Problem, 'summary' | 'detail' | 'code' | 'missing' | 'unknown'>;

/** What the library calls those tokens that it may miss. */
const TOKENS: Readonly<Record<string, string>> = {
  COLON: '`:`',
  IDENTIFIER: 'name',
  RBRACE: '`}`',
  RBRACKET: '`]`',
  RPAREN: '`)`',
};

/** Of a text that is no expression: what is missing, or stands where nothing can. */
function misread({ code, summary, range }: CelError, source: string): Said | undefined {
  const found = source.slice(range?.start, range?.end);
  // A string may be long.
  const shown = /^(?:\w+|[^\w"']{1,2})$/.test(found) ? `\`${found}\`` : 'this';
  const place = found === '' ? 'at the end' : `before ${shown}`;
  switch (code) {
    case 'expected_token':
      return {
        summary: `a ${TOKENS[/Expected (\w+)/.exec(summary)?.[1] ?? '']} is missing ${place}`,
        detail: 'Look for a bracket that is not closed, or a missing `,` or operator.',
      };
    case 'unexpected_token':
      return { summary: `a value is missing ${place}` };
    case 'unexpected_character':
      return { summary: `${shown} is not expected here` };
    default:
      return undefined;
  }
}

/** A type that is known when it is evaluated; its name may hold those of two further levels. */
const DYNAMIC = /dyn<((?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*)>/g;

/** With the items of lists in the part that is wrong, where macros give them names, and with what lacks a member. */
function withOperands(error: CelError, variables: readonly string[]): Said {
  const made = said(error, variables);
  if (made.code !== undefined) return made;
  const { detail, missing } = made;
  const operands = new Map(
    Array.from(operandsOf(error), ([name, value]) => [restored(name), value]),
  );
  const items = [...operands].filter(([name]) => !variables.includes(name));
  const [root = '', ...steps] = missing?.of ?? [];
  // All members of a variable are named elsewhere, or are not all known.
  if (steps.length > 0 && variables.includes(root))
    items.push([[root, ...steps].join('.'), steps.reduce(memberOf, operands.get(root))]);
  const positions = positionsOf(error);
  const shown = items.flatMap(([name, value]) => {
    const position = positions.get(name);
    if (value instanceof Map) return shownMapping({ name, value, position }, missing);
    return position === undefined ? [] : `\`${name}\` is item ${position}.`;
  });
  if (shown.length === 0) return made;
  return { ...made, detail: [detail ?? [], `Here, ${shown.join(' ')}`].flat().join(' ') };
}

const memberOf = (value: unknown, name: string): unknown =>
  value instanceof Map ? value.get(name) : undefined;

interface Mapping {
  readonly name: string;
  readonly value: ReadonlyMap<string, unknown>;
  /** Of an item of a list. */
  readonly position: number | undefined;
}

function shownMapping({ name, value, position }: Mapping, missing: Problem['missing']): string {
  const meant = missing?.of.join('.') === name ? didYouMean(missing.name, value.keys()) : '';
  const item = position === undefined ? '' : ` (item ${position})`;
  return `\`${name}\`${item} has ${shownMembers(value.keys())}.${meant}`;
}

function said(error: CelError, variables: readonly string[]): Said {
  const { code, summary, node } = error;
  const text = restored(summary).replaceAll(DYNAMIC, '$1');
  const [, subject = ''] = /: (.*)$/.exec(text) ?? [];
  switch (code) {
    case 'unknown_variable':
      return {
        summary: `\`${subject}\` is not a variable.${didYouMean(subject, variables)}`,
        detail: `Variables: ${variables.join(', ')}.`,
        unknown: subject,
      };
    case 'no_such_key': {
      const name = writtenMember(node);
      return {
        summary: `there is no member ${name === undefined ? 'of this name' : `\`${name}\``}`,
        ...defined({ missing: missingOf(node) }),
      };
    }
    case 'no_such_overload':
      return {
        summary: `these types do not go together: ${subject}`,
        ...(/\bint\b/.test(subject) &&
          /\bdouble\b/.test(subject) && {
            detail:
              'Integers and decimal numbers are two types: write `double(…)` or `int(…)` around one of them.',
          }),
      };
    case 'no_matching_overload':
      return unknownFunction(text);
    case 'reserved_identifier':
      return { summary: `\`${subject}\` is a reserved word of CEL` };
    case 'live-reference':
    case 'misplaced-secret':
    case 'bad-reference':
      return { summary, code };
    case 'limit_exceeded':
      return { summary: `the expression is too large: ${limitWords(text)}` };
    case WRONG_VALUE:
      return { summary: `${summary}${writtenCause(error)}` };
    default:
      return {
        summary:
          error instanceof EvaluationError && !NAMING_TYPES.has(code)
            ? (own<string>(OF_VALUES, code) ?? 'the value cannot be used here')
            : `${text[0]?.toLowerCase()}${text.slice(1)}`,
      };
  }
}

/** Codes of the library for what it finds while it evaluates, where it names types alone. */
const NAMING_TYPES: ReadonlySet<string> = new Set([
  'invalid_comparison_type',
  'invalid_comprehension_range',
  'invalid_condition_type',
  'invalid_logical_operand',
  'unsupported_type',
  'variable_type_mismatch',
]);

/** What is said for its other codes: its own texts hold values, and a value may come from the environment. */
const OF_VALUES = {
  bool_conversion_error: '`bool` does not take this string; it takes `"true"` and `"false"`',
  division_by_zero: 'division by zero',
  double_conversion_error: '`double` does not take this string',
  index_out_of_bounds: 'the index is outside of the list',
  index_out_of_range: 'the index is outside of the bytes',
  int_conversion_error: '`int` does not take this string',
  invalid_duration: '`duration` does not take this string; it takes one such as `"1h30m"`',
  invalid_timestamp:
    '`timestamp` does not take this value; it takes one such as `"2026-01-02T03:04:05Z"`',
  modulo_by_zero: 'modulo by zero',
  numeric_overflow: 'the integer does not fit in 64 bits',
  uint_conversion_error: '`uint` does not take this value',
};

/** The name of a member that is not there, where the expression holds it. */
function writtenMember(node: unknown): string | undefined {
  if (!isNode(node) || !Array.isArray(node.args)) return undefined;
  const [, name]: readonly unknown[] = node.args;
  if (typeof name === 'string') return restored(name);
  return isNode(name) && name.op === 'value' ? String(name.args) : undefined;
}

/** The part of the argument that is wrong, where the expression holds the argument. */
function writtenCause({ cause, node }: CelError): string {
  const args: unknown = node?.args;
  const [, , given]: readonly unknown[] = Array.isArray(args) ? args : [];
  const [argument]: readonly unknown[] = Array.isArray(given) ? given : [];
  const isWritten = isNode(argument) && argument.op === 'value';
  return isWritten && typeof cause === 'string' ? `: \`${cause}\`` : '';
}

const limitWords = (text: string): string => {
  const [, name = '', most] = /Exceeded (\w+) \((\d+)\)/.exec(text) ?? [];
  return `it has more than ${most} ${LIMITS[name]?.[1] ?? ''}`;
};

/** A member that does not exist, as in `var.name`; undefined where an expression makes what lacks it. */
function missingOf(node: unknown): Problem['missing'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the library documents a node
  const { op, args } = (node ?? {}) as ParseResult['ast'];
  if (op !== '.') return undefined;
  const [inner, name] = args;
  if (inner.op === 'id') return { of: [restored(inner.args)], name };
  const outer = missingOf(inner);
  return outer && { of: [...outer.of, outer.name], name };
}

/** Optional values are not turned on: `optional.none` and `optional.of` are functions of the library alone. */
const definitions = () =>
  functions
    .getDefinitions()
    .functions.filter(({ receiverType }) => receiverType !== 'OptionalNamespace')
    .map((one) => ({ ...one, name: restored(one.name), signature: restored(one.signature) }));

function unknownFunction(text: string): Pick<Problem, 'summary' | 'detail'> {
  const [, receiver, name = '', given = ''] = /'(?:(.*)\.)?(\w+)\((.*)\)'/.exec(text) ?? [];
  const takes = new Set(definitions().flatMap((one) => (one.name === name ? [one.signature] : [])));
  if (takes.size === 0) return noFunction(name, receiver !== undefined);
  return {
    summary: `\`${receiver === undefined ? '' : `${receiver}.`}${name}(${given})\`: the function does not take these types`,
    detail: `It is ${[...takes].map((one) => `\`${one}\``).join(', ')}.`,
  };
}

/** @param isOfValue whether it is called on a value, as in `x.name()` */
function noFunction(name: string, isOfValue: boolean): Pick<Problem, 'summary'> {
  const words = definitions()
    .filter(({ receiverType }) => (receiverType !== null) === isOfValue)
    // `cel.bind` is a function of no value.
    .filter(({ receiverType }) => !receiverType?.endsWith('Namespace'))
    .map((one) => one.name);
  return { summary: `\`${name}\` is not a function.${didYouMean(name, words)}` };
}

/** The macros of a list, with what they take: CEL has them for these counts only, and takes the name of an item for a variable otherwise. */
const MACROS: Readonly<Record<string, string>> = {
  map: 'var.names.map(name, name + ".example")',
  filter: 'var.names.filter(name, name != "old")',
  all: 'var.names.all(name, name != "old")',
  exists: 'var.names.exists(name, name == "new")',
  exists_one: 'var.names.exists_one(name, name == "new")',
};

/** A call whose macro takes another count of arguments, or does not exist, where that is what is wrong: the name of an item is then taken for a variable. */
function wrongCall(ast: unknown, { start, end, unknown }: Problem): Problem | undefined {
  const functionNames = new Set(definitions().map(({ name }) => name));
  const call = [...callsIn(ast)].findLast(
    (one) =>
      (Object.hasOwn(MACROS, one.name) || !functionNames.has(one.name)) &&
      (one.inside <= start || (one.start === start && one.end === end)) &&
      one.start <= start &&
      end <= one.end,
  );
  if (!call) return undefined;
  const { name, count, inside: _, ...place } = call;
  if (!Object.hasOwn(MACROS, name))
    return unknown === undefined ? undefined : { ...place, ...noFunction(name, true) };
  if (count === 2 || (name === 'map' && count === 3)) return undefined;
  return {
    ...place,
    summary: `\`${name}\` takes two arguments, not ${count === 0 ? 'none' : count}`,
    detail: `A name for each item, and an expression: \`${MACROS[name]}\`.`,
  };
}

interface Call extends Pick<Node, 'start' | 'end'> {
  readonly name: string;
  readonly count: number;
  /** Where its arguments begin, at the earliest. */
  readonly inside: number;
}

/** Calls on a value in a syntax tree, outer ones first. */
function* callsIn(node: unknown): Generator<Call> {
  if (Array.isArray(node)) for (const one of node) yield* callsIn(one);
  if (!isNode(node)) return;
  const { op, args, start, end } = node;
  if (op === 'rcall' && Array.isArray(args)) {
    const [name, receiver, given]: readonly unknown[] = args;
    if (typeof name === 'string' && isNode(receiver) && Array.isArray(given))
      yield { name: restored(name), count: given.length, start, end, inside: receiver.end };
  }
  yield* callsIn(args);
}

const COMPARING: ReadonlySet<string> = new Set(['==', '!=', 'in']);

/** What names stand for inside of a macro; undefined for what is no member of a variable. */
type Bindings = ReadonlyMap<string, string | undefined>;

/** What is found of the nodes of a syntax tree, outer ones first. */
function* walked<T>(
  node: unknown,
  of: (node: Node, names: Bindings) => Iterable<T>,
  names: Bindings = new Map(),
): Generator<T> {
  if (Array.isArray(node)) for (const one of node) yield* walked(one, of, names);
  if (!isNode(node)) return;
  yield* of(node, names);
  const { op, args } = node;
  const [name, subject, given]: readonly unknown[] = Array.isArray(args) ? args : [];
  if (op === 'rcall' && Array.isArray(given)) {
    yield* walked(subject, of, names);
    yield* walked(given, of, boundIn(name, subject, given, names));
  } else yield* walked(args, of, names);
}

function* comparisonsOf({ op, args }: Node, names: Bindings): Generator<ComparedText> {
  if (!COMPARING.has(op) || !Array.isArray(args)) return;
  const [left, right]: readonly unknown[] = args;
  yield* compared(left, right, names);
  yield* compared(right, left, names);
}

function* askedOf({ op, args }: Node, names: Bindings): Generator<string> {
  const [name, given]: readonly unknown[] = Array.isArray(args) ? args : [];
  if (op !== 'call' || name !== 'has' || !Array.isArray(given)) return;
  const member = memberPath(given[0], names);
  if (member !== undefined) yield member;
}

/** With the variable of a macro, such as that of `exists`, or of `cel.bind`. */
function boundIn(
  name: unknown,
  subject: unknown,
  [variable, value]: readonly unknown[],
  names: Bindings,
): Bindings {
  if (!isNode(variable) || variable.op !== 'id' || typeof variable.args !== 'string') return names;
  if (name === 'bind') return new Map([...names, [variable.args, memberPath(value, names)]]);
  if (typeof name !== 'string' || !Object.hasOwn(MACROS, name)) return names;
  const list = memberPath(subject, names);
  return new Map([...names, [variable.args, list === undefined ? undefined : `${list}[]`]]);
}

function* compared(side: unknown, other: unknown, names: Bindings): Generator<ComparedText> {
  const member = memberPath(side, names);
  if (member === undefined) return;
  for (const { args: text, start, end } of textsIn(other))
    if (typeof text === 'string') yield { member, text, start, end };
}

/** Literals that a value is compared with: itself, the items of a list, the keys of a mapping. */
function textsIn(node: unknown): readonly Node[] {
  if (!isNode(node)) return [];
  const { op, args } = node;
  if (op === 'value') return [node];
  if (!Array.isArray(args)) return [];
  const parts: readonly unknown[] = args;
  const isLists = op === '+' && parts.every((one) => isNode(one) && one.op === 'list');
  if (op === 'list' || isLists) return parts.flatMap(textsIn);
  return op === 'map' ? parts.flatMap((one) => (Array.isArray(one) ? textsIn(one[0]) : [])) : [];
}

/** A member of a variable, as in `change.kind`, with `[]` for any item of a list; undefined for anything else. */
function memberPath(node: unknown, names: Bindings): string | undefined {
  if (!isNode(node)) return undefined;
  const { op, args } = node;
  if (op === 'id' && typeof args === 'string') return names.has(args) ? names.get(args) : args;
  if (!Array.isArray(args)) return undefined;
  const [first, second, given]: readonly unknown[] = args;
  if (op === 'rcall' && first === 'filter') return memberPath(second, names);
  if (op === 'rcall' && first === 'map' && Array.isArray(given) && given.length === 2)
    return memberPath(given[1], boundIn(first, second, given, names));
  if (op !== '.' && op !== '[]') return undefined;
  const path = memberPath(first, names);
  const name = isNode(second) && second.op === 'value' ? second.args : second;
  if (path === undefined) return undefined;
  if (typeof name === 'string') return `${path}.${name}`;
  return op === '[]' ? `${path}[]` : undefined;
}

interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value && 'end' in value;
