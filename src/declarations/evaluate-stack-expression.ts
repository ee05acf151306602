// The expressions of synthesised stacks: what their names stand for, and what is said of those that are wrong or not
// evaluated here. Loaded only if there is one, because the parser is a program of its own.
import {
  evaluatedHcl,
  hclMemberAt,
  startHclBudget,
  type Budget,
} from '../expressions/hcl-evaluation.js';
import { counted, numberIn, numberText } from '../expressions/hcl-numbers.js';
import { parsedHcl, type HclExpression } from '../expressions/hcl-parser.js';
import { variableType } from '../expressions/hcl-types.js';
import {
  ANY,
  HclError,
  STRING,
  convertHcl,
  isItems,
  isMembers,
  isNumber,
  objectOf,
  ofBool,
  ofNull,
  ofNumber,
  ofString,
  tupleOf,
  type HclType,
  type HclValue,
} from '../expressions/hcl-values.js';
import {
  cached,
  defined,
  holdsExact,
  isList,
  isObject,
  own,
  parseJson,
  type Json,
} from '../model/index.js';
import { escapeText, literalOf } from './reference-syntax.js';
import {
  noStackExpression,
  spell,
  unknownVariable,
  type EvaluateStack,
  type Filling,
} from './interpolate.js';
import type { StackExpressions } from './stacks/stack.js';
import {
  isTraversal,
  templateParts,
  type TemplatePart,
  type TraversalStep,
} from './stacks/template.js';
import {
  OTHER_WAYS,
  blockAt,
  isSecret,
  onlyExpression,
  placeName,
  shownExpression,
  tokenComplaint,
  type Stack,
  type StackExpression,
  type StackPlace,
} from './stacks/values.js';
import type { Violation } from './validation.js';
import { isMap, jsonLevels, limits, type Raw } from './yaml/raw-values.js';

/** The syntax trees by text, and what is wrong with the texts that have none. */
type Parsed = ReadonlyMap<string, HclExpression | HclError>;

interface Evaluation extends Pick<StackPlace, 'stack' | 'forEach' | 'inside'> {
  readonly parsed: Parsed;
  readonly budget: Budget;
  readonly at: Filling;
  /** The values of those that were evaluated, by stack and text. */
  readonly loops: Map<string, HclValue>;
}

/** An error that is said in its own words. */
class Said extends HclError {
  constructor(readonly violation: Omit<Violation, 'path'>) {
    super(violation.summary, 'refused');
  }
}

export async function stackEvaluator({ kept, stacks }: StackExpressions): Promise<EvaluateStack> {
  const parsed = new Map<string, HclExpression | HclError>();
  for (const text of textsOf(kept, stacks))
    if (!parsed.has(text)) parsed.set(text, await tryParse(text));
  const loops = new Map<string, HclValue>();
  return (number, at) => {
    const expression = kept[number];
    if (!expression) return noStackExpression(at);
    const { stack, forEach } = expression.site;
    const known = { parsed, loops, budget: startHclBudget(), at, stack, inside: [] };
    return valueIn(expression, { ...known, ...defined({ forEach }) });
  };
}

async function tryParse(text: string): Promise<HclExpression | HclError> {
  try {
    return await parsedHcl(text);
  } catch (error) {
    if (error instanceof HclError) return error;
    throw error;
  }
}

/** Of the expressions, and of all that they may refer to. */
function* textsOf(kept: readonly StackExpression[], stacks: readonly Stack[]): Generator<string> {
  for (const { text, site } of kept) {
    yield quotedText(text);
    yield* textsIn(site.forEach ?? null, 0);
  }
  for (const { tree } of stacks) {
    yield* textsIn([blockAt(tree, 'locals'), blockAt(tree, 'output')], 0);
    for (const variable of Object.values(blockAt(tree, 'variable'))) {
      const type = isObject(variable) ? variable['type'] : undefined;
      if (typeof type === 'string') yield typeText(type);
    }
  }
}

/** What is nested deeper is refused when it is asked for. */
function* textsIn(value: Json, level: number): Generator<string> {
  if (typeof value === 'string') {
    for (const part of templateParts(value))
      if (typeof part !== 'string' && !isTraversal(part)) yield quotedText(part.text);
  } else if (level < limits.levels && (isList(value) || isObject(value)))
    for (const one of Object.values<Json>(value)) yield* textsIn(one, level + 1);
}

/** A template with one expression, which may go over several lines. */
const quotedText = (text: string): string => `"${text}"`;
const typeText = (type: string): string => type.replace(/^\$\{([^]*)\}$/, '$1').trim();

function valueIn({ text, site }: StackExpression, evaluation: Evaluation): Raw | undefined {
  const { at } = evaluation;
  const { as } = site;
  try {
    const value = expressionValue(text, evaluation);
    if (as === undefined) return rawOf(value);
    const string = convertHcl(value, STRING).data;
    if (typeof string !== 'string') throw new HclError('null is not allowed inside a string');
    return as === 'text' ? escapeText(string) : documentOf(string, placeName(site));
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    return void at.complain({ path: at.path, ...violationOf(error, shownExpression(text)) });
  }
}

function violationOf(error: HclError, what: string): Omit<Violation, 'path'> {
  if (error instanceof Said) {
    const { summary, ...more } = error.violation;
    return { ...more, summary: `${what}: ${summary}` };
  }
  return error.how === 'refused'
    ? {
        code: 'unsupported-expression',
        summary: `${what} is not evaluated here: ${error.message}`,
        detail: OTHER_WAYS,
      }
    : {
        code: 'bad-expression',
        summary: `${what}: ${error.message}`,
        detail: 'Terraform refuses it, too, or gives no value: change it in the program.',
      };
}

function expressionValue(text: string, of: Evaluation): HclValue {
  const tree = of.parsed.get(quotedText(text));
  if (tree === undefined || tree instanceof HclError)
    throw tree ?? new HclError('this expression', 'refused');
  return evaluatedHcl(tree, (steps) => resolved(steps, of), of.budget);
}

/** A value of a stack: a template where it is a string. */
function jsonValue(value: Json, of: Evaluation): HclValue {
  of.budget.charge(1);
  return of.budget.deeper(() => {
    if (typeof value === 'string') return textValue(templateParts(value), of);
    if (typeof value === 'number') return ofNumber(numberIn(String(value)));
    if (typeof value === 'boolean') return ofBool(value);
    if (isList(value)) return tupleOf(value.map((one) => jsonValue(one, of)));
    if (!isObject(value)) return ofNull();
    return objectOf(Object.entries(value).map(([key, one]) => [keyOf(key), jsonValue(one, of)]));
  });
}

function keyOf(key: string): string {
  const [literal = '', ...more] = templateParts(key);
  if (typeof literal !== 'string' || more.length > 0)
    throw new HclError(`the key \`${key}\`, which is not a plain string`, 'refused');
  return literal.normalize('NFC');
}

function textValue(parts: readonly TemplatePart[], of: Evaluation): HclValue {
  for (const part of parts) {
    const complaint = tokenComplaint(part);
    if (complaint) throw new Said(complaint);
  }
  const only = onlyExpression(parts);
  if (only) return partValue(only, of);
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    const text = convertHcl(partValue(part, of), STRING).data;
    if (typeof text !== 'string') throw new HclError('null is not allowed inside a string');
    return text;
  });
  of.budget.charge(texts.reduce((length, one) => length + one.length, 0));
  return ofString(texts.join(''));
}

function partValue(part: Exclude<TemplatePart, string>, of: Evaluation): HclValue {
  if (!isTraversal(part)) return expressionValue(part.text, of);
  const [head, ...steps] = part.steps;
  return resolved([head, ...steps.map((step) => stepValue(step, of))], of);
}

function stepValue(step: TraversalStep, of: Evaluation): HclValue {
  if (typeof step === 'string') return ofString(step);
  if ('by' in step) {
    const [head = '', ...names] = step.by.split('.');
    return resolved([head, ...names.map(ofString)], of);
  }
  return typeof step.key === 'string' ? ofString(step.key) : ofNumber(counted(step.key));
}

/** What a reference stands for. @throws HclError for anything that is not known yet */
function resolved([head, ...steps]: readonly [string, ...HclValue[]], of: Evaluation): HclValue {
  const [first, ...rest] = steps;
  const name = typeof first?.data === 'string' ? first.data : '';
  const known = (value: HclValue): HclValue => rest.reduce(hclMemberAt, value);
  switch (head) {
    case 'var':
      return known(variableValue(name, of));
    case 'local':
      return known(namedValue(own(blockAt(of.stack.tree, 'locals'), name), `local.${name}`, of));
    case 'each':
      if (name === 'key' || name === 'value') return known(eachValue(name, of));
      break;
    case 'count':
      if (name === 'index') return known(countIndex(of));
      break;
    case 'terraform':
      if (name === 'workspace') return known(ofString(of.stack.workspace));
      break;
    case 'data':
      if (name !== 'terraform_remote_state') throw live([head, ...steps]);
      return outputValue(rest, of);
    default:
      if (of.stack.kinds.has(head) || Object.hasOwn(blockAt(of.stack.tree, 'resource'), head))
        throw live([head, ...steps]);
  }
  throw new HclError(`the reference \`${spelled([head, ...steps])}\``, 'refused');
}

const spelled = (steps: readonly (string | HclValue)[]): string => steps.map(wordOf).join('.');

function wordOf(step: string | HclValue): string {
  if (typeof step === 'string') return step;
  return isNumber(step.data) ? numberText(step.data) : String(step.data);
}

const live = (steps: readonly (string | HclValue)[]): Said =>
  new Said({
    code: 'live-reference',
    summary: `\`${spelled(steps)}\` is read from the service, and an expression is evaluated before anything is read`,
    detail: `A reference must be the whole value, or be in a string: \`Site \${TYPE.NAME.id}\`; in a document, with \`JSON.stringify\`. ${OTHER_WAYS}`,
  });

function namedValue(value: Json | undefined, name: string, of: Evaluation): HclValue {
  const mark = `${of.stack.name} ${name}`;
  if (value === undefined)
    throw new Said({
      code: name.startsWith('local.') ? 'unknown-local' : 'unknown-output',
      summary: `the stack ${of.stack.name} has no \`${name}\``,
    });
  if (of.inside.includes(mark))
    throw new Said({
      code: 'cycle',
      summary: `these lead back to each other: ${[...of.inside, mark].join(' → ')}`,
    });
  return jsonValue(value, { ...of, inside: [...of.inside, mark] });
}

function outputValue(steps: readonly HclValue[], of: Evaluation): HclValue {
  const [state = '', word, output = '', ...rest] = steps.map(({ data }) =>
    typeof data === 'string' ? data : '',
  );
  const stack = word === 'outputs' ? of.stack.remote(state) : undefined;
  if (!stack)
    throw new Said({
      code: 'unknown-stack',
      summary: `\`${spelled(steps)}\` is an output of a stack that is not at hand`,
      detail: 'Name the whole output folder of the program, or write the value itself.',
    });
  const { value } = blockAt(stack.tree, 'output', output);
  const found = namedValue(value, `output.${output}`, { ...of, stack });
  return steps.slice(steps.length - rest.length).reduce(hclMemberAt, found);
}

function variableValue(name: string, { stack, at, parsed, budget }: Evaluation): HclValue {
  const { [name]: variable } = blockAt(stack.tree, 'variable');
  if (!isObject(variable))
    throw new Said({
      code: 'unknown-variable',
      summary: `the stack ${stack.name} has no variable \`${name}\``,
    });
  if (isSecret(variable))
    throw new Said({
      code: 'misplaced-secret',
      summary: `the variable \`${name}\` is sensitive, and a secret is not allowed inside an expression`,
      detail: 'It is the whole value of a secret attribute: `${var.NAME}`.',
    });
  at.scope.using(name);
  const raw = at.scope.variables.get(name);
  if (raw === undefined) throw new Said(unknownVariable(name, at.scope));
  return convertHcl(rawValue(raw, budget), typeOf(variable['type'] ?? null, name, parsed));
}

function typeOf(type: Json, name: string, parsed: Parsed): HclType {
  if (type === null) return ANY;
  const text = typeof type === 'string' ? typeText(type) : JSON.stringify(type);
  const tree = parsed.get(text);
  const known = tree === undefined || tree instanceof HclError ? undefined : variableType(tree);
  if (!known)
    throw new HclError(
      `the variable \`${name}\` is of the type \`${text}\`, to which no value is converted here`,
      'refused',
    );
  return known;
}

/** The value has the type that it has in the `for_each`; items of a set are texts. */
function eachValue(name: 'key' | 'value', of: Evaluation): HclValue {
  const { each } = of.at.scope;
  const { forEach = null } = of;
  if (!each) throw new HclError(`\`each.${name}\` outside of a \`for_each\``);
  if (name === 'key') return ofString(each.key);
  if (isObject(forEach) && Object.hasOwn(forEach, each.key))
    return jsonValue(forEach[each.key]!, of);
  const whole = typeof forEach === 'string' ? loopValue(forEach, of) : undefined;
  if (!whole || !isMembers(whole.data)) return rawValue(each.value, of.budget);
  const value = hclMemberAt(whole, ofString(each.key));
  chargeFor(value, of.budget);
  return value;
}

function chargeFor({ data }: HclValue, budget: Budget): void {
  budget.charge(typeof data === 'string' ? data.length : 1);
  if (isItems(data) || isMembers(data)) for (const one of data.values()) chargeFor(one, budget);
}

/** Once for all members. */
function loopValue(text: string, of: Evaluation): HclValue {
  return cached(of.loops, `${of.stack.name} ${text}`, () => textValue(templateParts(text), of));
}

function countIndex({ at }: Evaluation): HclValue {
  const index = at.scope.each?.value;
  if (typeof index !== 'number') throw new HclError('`count.index` outside of a `count`');
  return ofNumber(counted(index));
}

/** @throws HclError where it holds what is not known yet */
function rawValue(raw: Raw, budget: Budget): HclValue {
  budget.charge(1);
  if (typeof raw === 'string') {
    const text = literalOf(raw);
    if (text === undefined) throw live(['each', 'value']);
    budget.charge(text.length);
    return ofString(text);
  }
  if (typeof raw === 'number') return ofNumber(numberIn(String(raw)));
  if (typeof raw === 'boolean') return ofBool(raw);
  if (isList(raw)) return tupleOf(raw.map((one) => rawValue(one, budget)));
  if (!isMap(raw)) return raw === null ? ofNull() : ofString(String(raw));
  return objectOf(
    Object.entries(raw).map(([key, one]) => [key.normalize('NFC'), rawValue(one, budget)]),
  );
}

const tooDeep = (): Said =>
  new Said({ code: 'too-deep', summary: `a value nested deeper than ${limits.levels} levels` });

function rawOf({ data }: HclValue, level = 0): Raw {
  if (level > limits.levels) throw tooDeep();
  if (typeof data === 'string') return escapeText(data);
  if (isNumber(data)) {
    const text = numberText(data);
    const number = Number(text) + 0;
    if (numberText(numberIn(String(number)) ?? data) === text.replace(/^-0$/, '0')) return number;
    throw new HclError('a number with more digits than are held here; make it a string', 'refused');
  }
  if (isItems(data)) return data.map((one) => rawOf(one, level + 1));
  if (!isMembers(data)) return data;
  if (data.has('__proto__')) throw new HclError('the key `__proto__`', 'refused');
  return Object.fromEntries([...data].map(([name, one]) => [name, rawOf(one, level + 1)]));
}

/** Of what stands for JSON. */
function documentOf(text: string, place: string): Raw {
  if (jsonLevels(text) > limits.levels) throw tooDeep();
  let value: Json;
  let shadows = false;
  try {
    value = parseJson(text);
    JSON.parse(text, (key, one: unknown) => ((shadows ||= key === '__proto__'), one));
  } catch {
    throw new Said({ code: 'bad-json', summary: `${place}: the value is not valid JSON` });
  }
  if (shadows) throw new HclError('the key `__proto__`', 'refused');
  if (holdsExact(value))
    throw new Said({
      code: 'integer-range',
      summary: `${place}: a number would lose digits`,
      detail: 'Make it a string: `tostring(…)`.',
    });
  return spell(value);
}
