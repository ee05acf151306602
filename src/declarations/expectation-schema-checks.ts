// Checks the JSON Schema of an expectation; each error has its place. A schema without errors has no references and is
// finite, and no text makes one of its patterns slow.
import { didYouMean, isObject, own, type Json, type JsonObject } from '../model/index.js';
import { instead, keywords, schema, type Operand } from './schema-keywords.js';
import type { Violation } from './validation.js';

const MOST_VALUES = 2_000;
const DEEPEST = 48;

/** Why a pattern cannot be matched; undefined where it can. */
export type PatternFault = (source: string) => string | undefined;

/** Everything that is wrong with the schema of `every`, or with another one that stands at `root`. */
export function schemaComplaints(
  every: Json,
  patternFault: PatternFault,
  root = 'every',
): readonly Violation[] {
  const summary = measured(every);
  if (summary === undefined) return [...complaints(every, [root], patternFault)];
  const detail = root === 'every' ? 'Split the expectation into several.' : 'Write a smaller one.';
  return [{ path: [root], code: 'too-large', summary: `\`${root}\` ${summary}`, detail }];
}

/** Says where a tree is larger than what one expectation needs, without walking all of it. */
function measured(every: Json): string | undefined {
  let count = 0;
  const tooDeep = (tree: Json, depth: number): boolean => {
    count += 1;
    if (count > MOST_VALUES || typeof tree !== 'object' || tree === null) return false;
    return depth >= DEEPEST || Object.values(tree).some((inner: Json) => tooDeep(inner, depth + 1));
  };
  const deep = tooDeep(every, 0);
  if (count > MOST_VALUES) return `holds more than ${MOST_VALUES} values`;
  return deep ? `is nested more than ${DEEPEST} levels deep` : undefined;
}

function* complaints(
  tree: Json,
  path: readonly string[],
  patternFault: PatternFault,
): Generator<Violation> {
  if (typeof tree === 'boolean') return;
  if (!isObject(tree)) {
    yield wrong(path, schema, tree);
    return;
  }
  for (const [keyword, operand] of Object.entries(tree)) {
    const at = [...path, keyword];
    const known = own(keywords, keyword);
    if (!known) yield unknownKeyword(at, keyword);
    else if (!known.fits(operand)) yield wrong(at, known, operand);
    else if (keyword === 'pattern') yield* badPattern(at, patternFault(String(operand)));
    else
      for (const [step, inner] of known.inner?.(operand) ?? [])
        yield* complaints(inner, [...at, ...step], patternFault);
  }
  yield* lonely(tree, path);
}

const nameOf = (path: readonly string[]): string => `\`${path.join('.')}\``;

function wrong(path: readonly string[], { words }: Operand, value: Json): Violation {
  return {
    path,
    code: 'bad-schema',
    summary: `${nameOf(path)}: ${words} is expected, not ${foundWords(value)}`,
  };
}

function foundWords(value: Json): string {
  if (Array.isArray(value)) return 'this list';
  if (isObject(value)) return 'this mapping';
  return typeof value === 'string' ? 'this string' : String(value);
}

function unknownKeyword(path: readonly string[], keyword: string): Violation {
  const other = own(instead, keyword);
  const known = Object.keys(keywords);
  const right = other === undefined ? didYouMean(keyword, known) : '';
  return {
    path,
    code: 'unknown-keyword',
    summary: `\`${keyword}\` is not a keyword that a schema can have here.${right}`,
    detail: other ?? `Keywords: ${known.join(', ')}. Names of fields belong under \`properties\`.`,
  };
}

function* badPattern(path: readonly string[], fault: string | undefined): Generator<Violation> {
  if (fault !== undefined)
    yield { path, code: 'bad-pattern', summary: `${nameOf(path)} cannot be matched: ${fault}` };
}

/** Keywords that mean nothing without another. */
function* lonely(tree: JsonObject, inside: readonly string[]): Generator<Violation> {
  const has = (keyword: string): boolean => Object.hasOwn(tree, keyword);
  const useless = (keyword: string, why: string): Violation => {
    const path = [...inside, keyword];
    return { path, code: 'bad-schema', summary: `${nameOf(path)} ${why}` };
  };
  if (has('if') && !has('then') && !has('else'))
    yield useless('if', 'decides nothing: there is no `then` and no `else`');
  for (const keyword of ['then', 'else'])
    if (has(keyword) && !has('if')) yield useless(keyword, 'has no effect without `if`');
}
