// Evaluates the syntax tree of a Terraform expression whose operands are known: operators, conditions, indexes, string
// templates, and the functions of the table. Nothing else is evaluated.
import { called, type Charge } from './hcl-functions.js';
import {
  compareNumbers,
  integerOf,
  negated,
  numberIn,
  product,
  quotient,
  remainder,
  sum,
  type HclNumber,
} from './hcl-numbers.js';
import { nameAt, type HclExpression, type SyntaxNode, type TraversalPart } from './hcl-parser.js';
import {
  ANY,
  BOOL,
  HclError,
  NUMBER,
  STRING,
  convertHcl,
  equalValues,
  isItems,
  isMembers,
  isNumber,
  objectOf,
  ofBool,
  ofNull,
  ofNumber,
  ofString,
  tupleOf,
  typeWords,
  unified,
  type HclType,
  type HclValue,
} from './hcl-values.js';

/** What one evaluation may use, locals included. */
export interface Budget {
  readonly charge: Charge;
  /** Runs something one level deeper. */
  readonly deeper: <T>(run: () => T) => T;
}

/** Nodes, members and characters that one evaluation may make; levels it may nest. */
const MOST = 1_000_000;
const DEEPEST = 400;

export function startHclBudget(): Budget {
  let left = MOST;
  let depth = 0;
  return {
    charge(amount) {
      left -= amount;
      if (left < 0)
        throw new HclError('this takes too many steps, or too long a string', 'refused');
    },
    deeper(run) {
      if (depth >= DEEPEST) throw new HclError('this is nested too deeply', 'refused');
      depth += 1;
      try {
        return run();
      } finally {
        depth -= 1;
      }
    },
  };
}

/** What names stand for. @param steps of a traversal, its first name included @throws HclError */
export type Resolve = (steps: readonly [string, ...HclValue[]]) => HclValue;

interface Evaluation extends Budget {
  readonly source: string;
  readonly resolve: Resolve;
}

/** @throws HclError */
export const evaluatedHcl = (
  { root, source }: HclExpression,
  resolve: Resolve,
  budget: Budget,
): HclValue => valueOf(root, { ...budget, source, resolve });

function valueOf(node: SyntaxNode, at: Evaluation): HclValue {
  at.charge(1);
  return at.deeper(() => {
    const evaluate = Object.hasOwn(nodes, node.type) ? nodes[node.type] : undefined;
    if (!evaluate) throw new HclError(`\`${node.type}\` expressions`, 'refused');
    return evaluate(node, at);
  });
}

const childAt = ({ children }: SyntaxNode, index: number): SyntaxNode => {
  const child = children[index];
  if (!child) throw new HclError('this kind of expression', 'refused');
  return child;
};

const nodes: Readonly<Record<string, (node: SyntaxNode, at: Evaluation) => HclValue>> = {
  /** Parentheses. */
  '': (node, at) => valueOf(childAt(node, 0), at),
  templateWrap: (node, at) => valueOf(childAt(node, 0), at),
  template: templateValue,
  literalValue: literalValue,
  tuple: ({ children }, at) => tupleOf(children.map((one) => valueOf(one, at))),
  object: objectValue,
  scopeTraversal: ({ meta }, at) => {
    const [head, ...steps] = meta?.traversal ?? [];
    if (head?.segment === undefined) throw new HclError('this reference', 'refused');
    return at.resolve([head.segment, ...steps.map(stepOf)]);
  },
  relativeTraversal: (node, at) =>
    (node.meta?.traversal ?? []).map(stepOf).reduce(hclMemberAt, valueOf(childAt(node, 0), at)),
  index: (node, at) => hclMemberAt(valueOf(childAt(node, 0), at), valueOf(childAt(node, 1), at)),
  function: functionValue,
  conditional: conditionalValue,
  unaryOp: (node, at) => {
    const value = valueOf(childAt(node, 0), at);
    if (node.meta?.operator === 'logicalNot') return ofBool(!flagOf(value));
    return ofNumber(negated(numberOf(value)));
  },
  binaryOp: (node, at) => {
    const operator = node.meta?.operator ?? '';
    const [left, right] = [valueOf(childAt(node, 0), at), valueOf(childAt(node, 1), at)];
    if (operator === 'equal') return ofBool(equalValues(left, right));
    if (operator === 'notEqual') return ofBool(!equalValues(left, right));
    if (operator === 'logicalAnd') return ofBool([flagOf(left), flagOf(right)].every(Boolean));
    if (operator === 'logicalOr') return ofBool([flagOf(left), flagOf(right)].some(Boolean));
    const operation = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    if (!operation) throw new HclError(`the operator \`${operator}\``, 'refused');
    return operation(numberOf(left), numberOf(right));
  },
};

type Operator = (left: HclNumber, right: HclNumber) => HclValue;
const comparison =
  (holds: (order: number) => boolean): Operator =>
  (left, right) =>
    ofBool(holds(compareNumbers(left, right)));

const operators: Readonly<Record<string, Operator>> = {
  add: (left, right) => ofNumber(sum(left, right)),
  subtract: (left, right) => ofNumber(sum(left, negated(right))),
  multiply: (left, right) => ofNumber(product(left, right)),
  divide: (left, right) => {
    if (right.integer === 0n) throw new HclError('a division by zero', 'refused');
    return ofNumber(quotient(left, right));
  },
  modulo: (left, right) => ofNumber(remainder(left, right)),
  lessThan: comparison((order) => order < 0),
  lessThanOrEqual: comparison((order) => order <= 0),
  greaterThan: comparison((order) => order > 0),
  greaterThanOrEqual: comparison((order) => order >= 0),
};

function notNull(value: HclValue): HclValue {
  if (value.data === null) throw new HclError('an operand is null');
  return value;
}

function numberOf(value: HclValue): HclNumber {
  const { data } = notNull(convertHcl(value, NUMBER));
  if (!isNumber(data)) throw new HclError('a number is expected');
  return data;
}

const flagOf = (value: HclValue): boolean => notNull(convertHcl(value, BOOL)).data === true;

/** A value, or what was wrong with it. */
function tried(node: SyntaxNode, at: Evaluation): HclValue | HclError {
  try {
    return valueOf(node, at);
  } catch (error) {
    if (error instanceof HclError && error.how === 'wrong') return error;
    throw error;
  }
}

/** Both branches have one type. What is wrong with the other one does not matter, where its type is known in spite of it. */
function conditionalValue(node: SyntaxNode, at: Evaluation): HclValue {
  const condition = valueOf(childAt(node, 0), at);
  const branches = [childAt(node, 1), childAt(node, 2)].map(
    (one) => [one, tried(one, at)] as const,
  );
  if (condition.data === null) throw new HclError('the condition is null');
  const taken = branches[flagOf(condition) ? 0 : 1]?.[1];
  if (taken instanceof HclError || taken === undefined)
    throw taken ?? new HclError('this condition', 'refused');
  return convertHcl(taken, commonType(branches, at));
}

function commonType(
  branches: readonly (readonly [SyntaxNode, HclValue | HclError])[],
  at: Evaluation,
): HclType {
  const empty = branches.filter(
    ([, one]) => !(one instanceof HclError) && one.data === null && one.type.kind === 'any',
  );
  const types = branches
    .filter((one) => empty.length === branches.length || !empty.includes(one))
    .map(([node, one]) => (one instanceof HclError ? typeOfWrong(node, one, at) : one.type));
  const common = types.some(({ kind }) => kind === 'any') ? ANY : unified(types);
  if (!common) throw new HclError('the branches are of types that have nothing in common');
  return common;
}

/** The type that something wrong has for the other branch. @throws HclError where that is not worked out here */
function typeOfWrong(node: SyntaxNode, wrong: HclError, at: Evaluation): HclType {
  const { type, children } = node;
  const [child] = children;
  if (child && (type === '' || type === 'templateWrap')) return typeOfWrong(child, wrong, at);
  if (type === 'template') return STRING;
  const isStep = type === 'index' || type === 'relativeTraversal';
  const isMissing = isStep && !children.some((one) => tried(one, at) instanceof HclError);
  if (isMissing || type === 'function' || type === 'scopeTraversal') return ANY;
  throw new HclError(`a branch that is not taken and has an error (${wrong.message})`, 'refused');
}

const ESCAPE = /\\u[\da-fA-F]{4}|\\U[\da-fA-F]{8}|\\.|([$%])\1(?=\{)/gs;
const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** The text that a part of a quoted template stands for: the tree has it as it is written. */
const unescaped = (text: string): string =>
  text.replace(ESCAPE, (found) => {
    const [first, letter = ''] = found;
    if (first !== '\\') return letter;
    return found.length > 2
      ? String.fromCodePoint(Number.parseInt(found.slice(2), 16))
      : (letters[letter] ?? letter);
  });

function templateValue({ children }: SyntaxNode, at: Evaluation): HclValue {
  const parts = children.map((child) => {
    const { meta } = child;
    if (child.type === 'literalValue' && meta?.type === 'string') return unescaped(meta.value);
    const value = valueOf(child, at);
    if (value.data === null) throw new HclError('null is not allowed inside a string');
    const text = convertHcl(value, STRING).data;
    return typeof text === 'string' ? text : '';
  });
  at.charge(parts.reduce((length, one) => length + one.length, 0));
  return ofString(parts.join(''));
}

function literalValue({ meta }: SyntaxNode): HclValue {
  switch (meta?.type) {
    case 'number':
      return ofNumber(numberIn(meta.value));
    case 'bool':
      return ofBool(meta.value === 'true');
    case 'dynamic':
      return ofNull();
    default:
      throw new HclError('this literal', 'refused');
  }
}

/** Keys and values by turns. A key without children is a name, which stands in the source only. */
function objectValue({ children }: SyntaxNode, at: Evaluation): HclValue {
  const members: (readonly [string, HclValue])[] = [];
  for (let index = 0; index < children.length; index += 2) {
    const key = childAt({ type: '', children }, index);
    members.push([keyOf(key, at), valueOf(childAt({ type: '', children }, index + 1), at)]);
  }
  return objectOf(members);
}

function keyOf(node: SyntaxNode, at: Evaluation): string {
  const bare = nameAt(node, at.source);
  if (bare !== undefined) return bare;
  const key = childAt(node, 0);
  if (key.type === 'scopeTraversal') throw new HclError('a key that is neither a name nor quoted');
  const name = convertHcl(valueOf(key, at), STRING).data;
  if (typeof name !== 'string') throw new HclError('a key is null');
  return name;
}

function functionValue({ meta, children }: SyntaxNode, at: Evaluation): HclValue {
  const given = children.map((one) => valueOf(one, at));
  const last = meta?.expandedFinalArgument === true ? given.pop() : undefined;
  if (last && !isItems(last.data))
    throw new HclError(`expected a list, found ${typeWords(last.type)}`);
  const more = last && isItems(last.data) ? last.data : [];
  at.charge(more.length);
  return called(meta?.name ?? '', [...given, ...more], at.charge);
}

/** A step of a traversal as the key that it is: text in quotes or a name, or a number. */
function stepOf({ type, segment }: TraversalPart): HclValue {
  // The parser leaves out a boolean or null.
  if (segment === undefined)
    throw new HclError('an index that is neither a string nor a number', 'refused');
  if (type === 'nameTraversal') return ofString(segment);
  if (segment.startsWith('"')) return ofString(segment.slice(1, -1));
  return ofNumber(numberIn(segment));
}

/** @throws HclError */
export function hclMemberAt({ type, data }: HclValue, key: HclValue): HclValue {
  if (data === null) throw new HclError('null has no members');
  if (key.data === null) throw new HclError('an index is null');
  if (isMembers(data)) {
    const name = convertHcl(key, STRING).data;
    const found = typeof name === 'string' ? data.get(name) : undefined;
    if (!found) throw new HclError(`there is no member \`${String(name)}\``);
    return found;
  }
  if (!isItems(data) || type.kind === 'set')
    throw new HclError(`${typeWords(type)} has no members`);
  const index = integerOf(numberOf(key));
  if (index === undefined || index < 0n || index >= BigInt(data.length))
    throw new HclError(`the list has ${data.length} items, and none with this index`);
  return data[Number(index)]!;
}
