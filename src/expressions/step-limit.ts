// Bounds the work of one evaluation, and refuses mappings that would lose a member and values that are not known yet. The library has no bound of its own: three loops inside one another over lists of
// 1,000 items take 10^9 steps. Steps are counted, not time, so that equal inputs give equal results.
import { Environment, EvaluationError, type SourceLocation } from '@marcbachmann/cel-js';
import { cached } from '../model/index.js';
import { UnknownValue } from './unknown-value.js';

/** About a quarter of a second. */
export const MOST_STEPS = 1_000_000;

/** As the library has it: what it evaluates a node with depends on what the parser and the type checker made of it. */
interface Node extends SourceLocation {
  readonly op: string;
  readonly args: unknown;
  readonly left?: Node;
  readonly right?: Node;
  readonly meta: {
    readonly alternate?: Node;
    readonly macro?: { evaluate(evaluator: unknown, macro: unknown, context: unknown): unknown };
    evaluate(evaluator: unknown, node: Node, context: unknown): unknown;
  };
  evaluate(evaluator: unknown, node: Node, context: unknown): unknown;
}

/** In our words. */
export const WRONG_VALUE = 'wrong_value';

interface WrongValue {
  readonly node?: SourceLocation | undefined;
  readonly code?: string;
  /** The part of the value that is wrong. It may come from the environment. */
  readonly cause?: unknown;
}

/** What is wrong with a value, without the value. The library adds the place where it calls a function. */
export const wrongValue = (
  message: string,
  { node, code = WRONG_VALUE, cause }: WrongValue = {},
): EvaluationError =>
  new EvaluationError({
    code,
    message,
    cause,
    ...(node && { range: { start: node.start, end: node.end } }),
  });

/** @throws where the value is not known before anything is read, or is a secret */
export function refuseUnknown(value: unknown, node?: SourceLocation): void {
  if (value instanceof UnknownValue) throw wrongValue(value.problem, { node, code: value.code });
}

let left = 0;
/** Operands that are compared member by member, by what compares them. */
const compared = new WeakMap<Node, string>();

/** One object, because thousands may be thrown: the library tries each item of `exists` and `all`. */
const exhausted = new Error('too many steps');

export const isExhausted = (): boolean => left < 0;

/** Counts steps. @throws after the last */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw exhausted;
}

export function startBudget(): void {
  left = MOST_STEPS;
}

/** Reading a string or a list costs by its length: functions read all of it. */
function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length >> 2 : 0;
}

/** Comparing reads all members. Members that stand at several places are read several times. */
function spendMembers(value: unknown, node: Node): void {
  spend(1);
  refuseUnknown(value, node);
  const members = Array.isArray(value) ? value : membersOf(value);
  for (const member of members ?? []) spendMembers(member, node);
}

/** Of a mapping. */
function membersOf(value: unknown): Iterable<unknown> | undefined {
  if (value instanceof Map) return value.values();
  return typeof value === 'object' && value?.constructor === Object
    ? Object.values(value)
    : undefined;
}

/** `exists` and `all` go on after an error, and making one takes long. */
const ERROR_STEPS = 50;

/** By error: the values of the names in the part that is wrong. */
const operands = new WeakMap<Error, ReadonlyMap<string, unknown>>();

export const operandsOf = (error: Error): ReadonlyMap<string, unknown> =>
  operands.get(error) ?? new Map();

const isNode = (value: unknown): value is Node =>
  value instanceof Object && 'op' in value && 'meta' in value;

/** The names in a part of an expression. Those that a macro gives have values inside of it alone. */
function* namesIn(part: unknown): Generator<readonly [name: string, node: Node]> {
  if (Array.isArray(part)) for (const one of part) yield* namesIn(one);
  if (!isNode(part)) return;
  const { op, args, meta } = part;
  if (op === 'id' && typeof args === 'string') yield [args, part];
  else yield* namesIn((meta.alternate ?? meta.macro) && Array.isArray(args) ? args[1] : args);
}

/** Called where an error is first seen: there, names have the values that led to it. */
function keepOperands(error: unknown, valueOf: (name: Node) => unknown): void {
  if (!(error instanceof EvaluationError) || !error.node || operands.has(error)) return;
  const values = new Map<string, unknown>();
  operands.set(error, values);
  for (const [name, node] of namesIn(error.node))
    try {
      values.set(name, valueOf(node));
    } catch {
      // It is the name of a namespace, such as `cel` of `cel.bind`.
    }
}

/** By error: the positions, from 1, of the items that macros were at, by the names that they give them. */
const positions = new WeakMap<Error, Map<string, number>>();

export const positionsOf = (error: Error): ReadonlyMap<string, number> =>
  positions.get(error) ?? new Map();

/** By the node that makes it: the list that a macro runs over. */
const lists = new WeakMap<Node, unknown>();

interface Loop {
  readonly iterable: Node;
  readonly iterVarName: string;
}

function loopOf({ args }: Node): Loop | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the library makes it of a macro
  return args instanceof Object && 'iterVarName' in args ? (args as Loop) : undefined;
}

/** Called for each loop that an error leaves, the inner ones first. */
function keepPosition(error: unknown, { iterable, iterVarName: name }: Loop): void {
  if (!(error instanceof EvaluationError)) return;
  const known = cached(positions, error, () => new Map<string, number>());
  const items = lists.get(iterable);
  const index = Array.isArray(items) ? items.indexOf(operandsOf(error).get(name)) : -1;
  if (index >= 0 && !known.has(name)) known.set(name, index + 1);
}

/** Of an error that the engine throws, and not for its limits: without the value, which its text holds. */
function engineError(error: unknown, node: Node): EvaluationError | undefined {
  if (error instanceof SyntaxError) return wrongValue('the bytes are not JSON', { node });
  if (!(error instanceof RangeError) || /^Maximum |^Invalid [\w ]*length/.test(error.message))
    return undefined;
  return wrongValue(
    error.message.includes('time zone')
      ? 'there is no time zone of this name'
      : 'the value is out of range',
    { node },
  );
}

function evaluated(node: Node, evaluator: unknown, context: unknown): unknown {
  const { alternate, macro } = node.meta;
  const loop = alternate && loopOf(alternate);
  if (loop) lists.set(loop.iterable, undefined);
  try {
    if (alternate) return alternate.evaluate(evaluator, alternate, context);
    return macro
      ? macro.evaluate(evaluator, macro, context)
      : node.meta.evaluate(evaluator, node, context);
  } catch (error) {
    spend(ERROR_STEPS);
    const found = engineError(error, node) ?? error;
    keepOperands(found, (name) => name.evaluate(evaluator, name, context));
    if (loop) keepPosition(found, loop);
    throw found;
  }
}

/** The library leaves out `__proto__`, `prototype` and `constructor`, and of equal keys all but the last. */
function refuseLoss(node: Node, value: unknown): void {
  const written = Array.isArray(node.args) ? node.args.length : 0;
  if (Object.keys(value ?? {}).length < written)
    throw wrongValue(
      'a key appears twice in the mapping, or is `__proto__`, `prototype` or `constructor`',
      { node },
    );
}

const COMPARING = new Set(['==', '!=', 'in']);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of the library leave out how it evaluates
const prototype = Object.getPrototypeOf(new Environment().parse('1').ast) as Node;

prototype.evaluate = function evaluate(this: Node, evaluator, _, context) {
  spend(1);
  if (COMPARING.has(this.op))
    for (const operand of [this.left, this.right]) if (operand) compared.set(operand, this.op);
  const value = evaluated(this, evaluator, context);
  refuseUnknown(value, this);
  spend(lengthOf(value));
  if (lists.has(this)) lists.set(this, value);
  if (this.op === 'map') refuseLoss(this, value);
  const by = compared.get(this);
  // Of a mapping, `in` reads the keys only.
  if (by !== undefined && !(by === 'in' && membersOf(value))) spendMembers(value, this);
  return value;
};
