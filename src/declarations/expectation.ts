// Expectations: conditions on records that can only be read. Turns a piece of a file into one, or into diagnostics.
import {
  defined,
  filterMeant,
  unaskable,
  type Expectation,
  type JsonObject,
} from '../model/index.js';
import type { RawEntry } from './collect.js';
import { schemaComplaints, type PatternFault } from './expectation-schema-checks.js';
import { complain, read, type DeclarationForm, type ResolveRun } from './resolve-declaration.js';
import { found, type Violation } from './validation.js';
import { isMap } from './yaml/raw-values.js';
import { expectation } from './vocabulary.js';

/** The shape that ajv has seen to. */
interface Written extends Pick<Expectation, 'collection' | 'every' | 'count'> {
  readonly where?: Readonly<Record<string, string | number | boolean>>;
}

export function expectationOf(
  run: ResolveRun,
  piece: RawEntry,
  patternFault: PatternFault,
): Expectation | undefined {
  if (!isMap(piece.raw))
    return void complain(run, piece, {
      path: [],
      code: 'wrong-type',
      summary: `${piece.path.join('.')}: a mapping is expected, not ${found(piece.raw)}`,
      detail: EXAMPLE,
    });
  const form: DeclarationForm = {
    attributes: expectation(run.collections),
    validator: run.validators.expectation,
    what: 'an expectation',
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of expectations was applied
  const values = read(run, piece, form) as Written | undefined;
  if (!values) return undefined;
  const { collection, where = {}, every, count } = values;
  const filters = new Map<string, string>();
  const wrong = [
    ...whereComplaints(run, collection, where, filters),
    ...sizeComplaints(piece.name, every, count),
    ...(every === undefined ? [] : schemaComplaints(every, patternFault)),
  ];
  for (const complaint of wrong) complain(run, piece, complaint);
  if (wrong.length > 0) return undefined;
  return {
    name: piece.name,
    collection,
    where: Object.fromEntries(filters),
    ...defined({ every, count }),
    origin: piece.origin,
  };
}

const EXAMPLE =
  'As in `one-account: { collection: accounts, where: { name: Headquarters }, count: { min: 1, max: 1 } }`.';

/** @param filters filled with the API's names of the filters */
function* whereComplaints(
  run: ResolveRun,
  name: string,
  where: NonNullable<Written['where']>,
  filters: Map<string, string>,
): Generator<Violation> {
  const collection = run.collections.get(name);
  if (!collection) return;
  for (const [word, value] of Object.entries(where)) {
    const meant = filterMeant(collection, word);
    const path = ['where', word];
    if (typeof meant !== 'string') yield { path, code: 'unknown-filter', ...meant };
    else if (filters.has(meant)) {
      const summary = `\`where\` names the filter \`${meant}\` twice`;
      yield { path, code: 'duplicate-filter', summary };
    } else if (value === '') {
      const summary = `\`where.${word}\` is empty`;
      yield { path, code: 'empty-filter', summary, detail: 'Give it a value, or leave it out.' };
    } else filters.set(meant, String(value));
  }
  const wrong = unaskable(collection, Object.fromEntries(filters));
  if (!wrong) return;
  const { filter, summary, ...rest } = wrong;
  yield {
    path: filter === undefined ? ['where'] : ['where', filter],
    summary: `\`where\`: ${summary}`,
    ...rest,
  };
}

function* sizeComplaints(
  name: string,
  every: JsonObject | undefined,
  count: Written['count'],
): Generator<Violation> {
  const missing = (path: readonly string[], summary: string, detail?: string): Violation => ({
    path,
    code: 'missing-attribute',
    summary,
    ...defined({ detail }),
  });
  if (every === undefined && count === undefined) {
    const summary = `the expectation \`${name}\` expects nothing: \`every\` or \`count\` is missing`;
    yield missing([], summary, EXAMPLE);
  }
  if (every !== undefined && Object.keys(every).length === 0)
    yield missing(['every'], '`every` says nothing', 'Any record would do.');
  if (count === undefined) return;
  const { min, max } = count;
  if (min === undefined && max === undefined)
    yield missing(['count'], '`count` says nothing: `min` or `max` is missing');
  const outOfRange = (word: string, summary: string): Violation => ({
    path: ['count', word],
    code: 'out-of-range',
    summary,
  });
  for (const [word, bound] of Object.entries(count))
    if (bound < 0) yield outOfRange(word, `\`count.${word}\` must be at least 0`);
  if (min !== undefined && max !== undefined && min > max)
    yield outOfRange('max', '`count.max` is less than `count.min`');
}
