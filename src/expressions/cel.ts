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
  shownMembers,
  type Json,
} from '../model/index.js';
import { MOST_STEPS, isExhausted, failingItem, startBudget } from './step-limit.js';
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

function rewritten(source: string): string {
  let made = '';
  let before = '';
  for (const { text, word } of tokensOf(source)) {
    const isOurs = word && (before === '.' ? replaced.has(text) : text === 'var');
    made += isOurs ? OTHERWISE.get(text) : text;
    if (!/^\s/.test(text)) before = text;
  }
  return made;
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
    const { error } = parsed.check();
    if (error) {
      const problem = problemOf(error, source, variables);
      return { problem: wrongMacro(parsed.ast, problem) ?? problem };
    }
    const words = new Set([...tokensOf(source)].map(({ text }) => text));
    const used = variables.filter((name) => words.has(name));
    return {
      value: {
        comparisons: () => [...comparisonsIn(parsed.ast)],
        evaluate: (values) => evaluate(parsed, { source, used, values }),
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
  return {
    problem: {
      summary: `the expression takes more than ${MOST_STEPS} steps`,
      detail: 'Loop over fewer items, or move a loop out of another.',
      start: 0,
      end: source.length,
    },
  };
}

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
    return { ...whole, ...error.range, ...said(error, variables) };
  throw error;
}

type CelError = ParseError | CelTypeError | EvaluationError;

/** A type that is known when it is evaluated; its name may hold those of two further levels. */
const DYNAMIC = /dyn<((?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*)>/g;

function said(
  error: CelError,
  variables: readonly string[],
): Pick<Problem, 'summary' | 'detail' | 'code' | 'missing' | 'unknown'> {
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
      const missing = missingOf(node);
      return {
        summary: `there is no member \`${subject}\``,
        ...lackingItem(failingItem(error), missing, variables),
        ...defined({ missing }),
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
    case 'index_out_of_bounds':
      return { summary: text.replace('No such key: ', '') };
    case 'live-reference':
    case 'misplaced-secret':
    case 'bad-reference':
      return { summary, code };
    case 'limit_exceeded':
      return { summary: `the expression is too large: ${limitWords(text)}` };
    default:
      return { summary: `${text[0]?.toLowerCase()}${text.slice(1)}` };
  }
}

/** Members of an item that an error shows. */
const FEW = 5;

/** Which item of a list lacks a member, where a macro gives it a name. */
function lackingItem(
  item: unknown,
  missing: Problem['missing'],
  variables: readonly string[],
): Pick<Problem, 'detail'> {
  const [name = '', ...inner] = missing?.of ?? [];
  if (!(item instanceof Map) || variables.includes(name)) return {};
  const members: ReadonlyMap<string, unknown> = item;
  const meant = inner.length === 0 ? didYouMean(missing?.name ?? '', members.keys()) : '';
  return { detail: `Here, \`${name}\` has ${shownMembers(members, FEW)}.${meant}` };
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

function unknownFunction(text: string): Pick<Problem, 'summary' | 'detail'> {
  const [, receiver, name = '', given = ''] = /'(?:(.*)\.)?(\w+)\((.*)\)'/.exec(text) ?? [];
  // Optional values are not turned on: `optional.none` and `optional.of` are functions of the library alone.
  const all = functions
    .getDefinitions()
    .functions.filter(({ receiverType }) => receiverType !== 'OptionalNamespace');
  const names = new Set(all.map((one) => restored(one.name)));
  if (!names.has(name)) {
    const words = all
      .filter((one) => (one.receiverType === null) === (receiver === undefined))
      // `cel.bind` is a function of no value.
      .filter((one) => !one.receiverType?.endsWith('Namespace'))
      .map((one) => restored(one.name));
    return { summary: `\`${name}\` is not a function.${didYouMean(name, words)}` };
  }
  const takes = new Set(
    all.filter((one) => restored(one.name) === name).map((one) => restored(one.signature)),
  );
  return {
    summary: `\`${receiver === undefined ? '' : `${receiver}.`}${name}(${given})\`: the function does not take these types`,
    detail: `It is ${[...takes].map((one) => `\`${one}\``).join(', ')}.`,
  };
}

/** The macros of a list, with what they take: CEL has them for these counts only, and takes the name of an item for a variable otherwise. */
const MACROS: Readonly<Record<string, string>> = {
  map: 'var.names.map(name, name + ".example")',
  filter: 'var.names.filter(name, name != "old")',
  all: 'var.names.all(name, name != "old")',
  exists: 'var.names.exists(name, name == "new")',
  exists_one: 'var.names.exists_one(name, name == "new")',
};

/** A macro with another count of arguments, where that is what is wrong. */
function wrongMacro(ast: unknown, { start, end }: Problem): Problem | undefined {
  const calls = [...macroCalls(ast)].filter(
    (one) => one.inside <= start || (one.start === start && one.end === end),
  );
  const call = calls.findLast((one) => one.start <= start && end <= one.end);
  if (!call || call.count === 2 || (call.name === 'map' && call.count === 3)) return undefined;
  return {
    start: call.start,
    end: call.end,
    summary: `\`${call.name}\` takes two arguments, not ${call.count === 0 ? 'none' : call.count}`,
    detail: `A name for each item, and an expression: \`${MACROS[call.name]}\`.`,
  };
}

interface MacroCall extends Pick<Node, 'start' | 'end'> {
  readonly name: string;
  readonly count: number;
  /** Where its arguments begin, at the earliest. */
  readonly inside: number;
}

/** Calls of macros in a syntax tree, outer ones first. */
function* macroCalls(node: unknown): Generator<MacroCall> {
  if (Array.isArray(node)) for (const one of node) yield* macroCalls(one);
  if (!isNode(node)) return;
  const { op, args, start, end } = node;
  if (op === 'rcall' && Array.isArray(args)) {
    const [name, receiver, given]: readonly unknown[] = args;
    if (typeof name === 'string' && Object.hasOwn(MACROS, name) && Array.isArray(given))
      yield {
        name,
        count: given.length,
        start,
        end,
        inside: isNode(receiver) ? receiver.end : end,
      };
  }
  yield* macroCalls(args);
}

const COMPARING: ReadonlySet<string> = new Set(['==', '!=', 'in']);

/** What names stand for inside of a macro; undefined for what is no member of a variable. */
type Bindings = ReadonlyMap<string, string | undefined>;

function* comparisonsIn(node: unknown, names: Bindings = new Map()): Generator<ComparedText> {
  if (Array.isArray(node)) for (const one of node) yield* comparisonsIn(one, names);
  if (!isNode(node)) return;
  const { op, args } = node;
  if (COMPARING.has(op) && Array.isArray(args)) {
    const [left, right]: readonly unknown[] = args;
    yield* compared(left, right, names);
    yield* compared(right, left, names);
  }
  const [name, subject, given]: readonly unknown[] = Array.isArray(args) ? args : [];
  if (op === 'rcall' && Array.isArray(given)) {
    yield* comparisonsIn(subject, names);
    yield* comparisonsIn(given, boundIn(name, subject, given, names));
  } else yield* comparisonsIn(args, names);
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
