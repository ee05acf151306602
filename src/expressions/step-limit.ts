// Bounds the work of one evaluation, and refuses mappings that would lose a member and values that are not known yet. The library has no bound of its own: three loops inside one another over lists of
// 1,000 items take 10^9 steps. Steps are counted, not time, so that equal inputs give equal results.
import { Environment, EvaluationError, type SourceLocation } from '@marcbachmann/cel-js';
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

/** What is wrong with a value, in our words. The library adds the place where it calls a function. */
export const wrongValue = (
  message: string,
  node?: SourceLocation,
  code = 'wrong_value',
): EvaluationError =>
  new EvaluationError({
    code,
    message,
    ...(node && { range: { start: node.start, end: node.end } }),
  });

/** @throws where the value is not known before anything is read, or is a secret */
export function refuseUnknown(value: unknown, node?: SourceLocation): void {
  if (value instanceof UnknownValue) throw wrongValue(value.problem, node, value.code);
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

function evaluated(node: Node, evaluator: unknown, context: unknown): unknown {
  const { alternate, macro } = node.meta;
  try {
    if (alternate) return alternate.evaluate(evaluator, alternate, context);
    return macro
      ? macro.evaluate(evaluator, macro, context)
      : node.meta.evaluate(evaluator, node, context);
  } catch (error) {
    spend(ERROR_STEPS);
    keepOperands(error, (name) => name.evaluate(evaluator, name, context));
    throw error;
  }
}

/** The library leaves out `__proto__`, `prototype` and `constructor`, and of equal keys all but the last. */
function refuseLoss(node: Node, value: unknown): void {
  const written = Array.isArray(node.args) ? node.args.length : 0;
  if (Object.keys(value ?? {}).length < written)
    throw wrongValue(
      'a key appears twice in the mapping, or is `__proto__`, `prototype` or `constructor`',
      node,
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
  if (this.op === 'map') refuseLoss(this, value);
  const by = compared.get(this);
  // Of a mapping, `in` reads the keys only.
  if (by !== undefined && !(by === 'in' && membersOf(value))) spendMembers(value, this);
  return value;
};
