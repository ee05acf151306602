// Closed shapes of what lies on disk: a file that someone edited, damaged or made up is refused with the name of the
// member that is wrong, before anything is believed.
import { isObject, tryAddress } from '../model/index.js';

/** What is wrong, and at which path of members; undefined where all is well. */
export interface Flaw {
  readonly path: readonly string[];
  readonly problem: string;
}
export type ShapeCheck = (value: unknown) => Flaw | undefined;

/** Deeper values are refused: whoever walks them later would run out of stack. */
export const DEEPEST = 512;

const here = (problem: string): Flaw => ({ path: [], problem });
const rule =
  (test: (value: unknown) => boolean, problem: string): ShapeCheck =>
  (value) =>
    test(value) ? undefined : here(problem);

export const isText = rule((value) => typeof value === 'string', 'must be text');
export const filled = rule(
  (value) => typeof value === 'string' && value !== '',
  'must be text and not empty',
);
export const word = rule(
  (value) => typeof value === 'string' && /^[\w-]{1,64}$/.test(value),
  'must be a plain word',
);
export const isFlag = rule((value) => typeof value === 'boolean', 'must be true or false');
export const time = rule(
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
  'must be a time in ISO 8601',
);
export const address = rule(
  (value) => typeof value === 'string' && tryAddress(value) !== undefined,
  'must be an address such as alert_rules.wan-down',
);
export const isWhole = (least: number, most = Number.MAX_SAFE_INTEGER): ShapeCheck =>
  rule(
    (value) =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    `must be a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`,
  );
export const oneOf = (...words: readonly unknown[]): ShapeCheck =>
  rule(
    (value) => words.includes(value),
    `must be ${words.map((word) => JSON.stringify(word)).join(' or ')}`,
  );
export const orNull =
  (shape: ShapeCheck): ShapeCheck =>
  (value) =>
    value === null ? undefined : shape(value);

/** Any JSON object: its members are someone else's, only their depth and their numbers are bounded. */
export const anyObject: ShapeCheck = (value) =>
  isObject(value) ? anyJson(value) : here('must be an object');
export const anyJson: ShapeCheck = (value) => {
  const problem = unfit(value, DEEPEST);
  return problem === undefined ? undefined : here(problem);
};

/** A number that overflows would be written back as null. */
function unfit(value: unknown, levels: number): string | undefined {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' && !Number.isFinite(value)
      ? 'holds a number that is too large'
      : undefined;
  if (levels === 0) return `is nested deeper than ${DEEPEST} levels`;
  for (const name in value) {
    const problem = unfit((value as Readonly<Record<string, unknown>>)[name], levels - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function listOf(shape: ShapeCheck): ShapeCheck {
  return (value) =>
    Array.isArray(value)
      ? first(value.entries(), ([index, item]: [number, unknown]) =>
          inside(String(index), shape(item)),
        )
      : here('must be a list');
}

export function mapOf(key: ShapeCheck, shape: ShapeCheck): ShapeCheck {
  return (value) =>
    isObject(value)
      ? firstOf(value, (name, item) => key(name) ?? shape(item))
      : here('must be an object');
}

const stray: ShapeCheck = () => here('is not a member that belongs here');

type Members<T> = {
  readonly [K in keyof T & string as object extends Pick<T, K> ? `${K}?` : K]: ShapeCheck;
};

/** An object with exactly the members of `T`, and the compiler sees that none is missing; those whose name ends in `?` may be absent. */
export function members<T>(shapes: Members<T>): ShapeCheck {
  const known = new Map(
    Object.entries<ShapeCheck>(shapes).map(([name, shape]) => [name.replace('?', ''), shape]),
  );
  const needed = Object.keys(shapes).filter((name) => !name.endsWith('?'));
  return (value) => {
    if (!isObject(value)) return here('must be an object');
    const missing = needed.find((name) => !Object.hasOwn(value, name) || value[name] === undefined);
    if (missing !== undefined) return inside(missing, here('is missing'));
    return firstOf(value, (name, item) =>
      item === undefined ? undefined : (known.get(name) ?? stray)(item),
    );
  };
}

/** For people: `resources["accounts.hq"].applied`. */
export function formatPath(path: readonly string[]): string {
  const steps = path.map((name) => {
    if (/^[A-Za-z_]\w*$/.test(name)) return `.${name}`;
    return /^\d+$/.test(name) ? `[${name}]` : `[${JSON.stringify(name)}]`;
  });
  return steps.join('').replace(/^\./, '') || 'the whole';
}

const inside = (name: string, flaw: Flaw | undefined): Flaw | undefined =>
  flaw && { path: [name, ...flaw.path], problem: flaw.problem };

/** Members as JSON gave them: own ones, and no lists of them made for a whole state. */
function firstOf(
  value: Readonly<Record<string, unknown>>,
  look: (name: string, item: unknown) => Flaw | undefined,
): Flaw | undefined {
  for (const name in value) {
    const flaw = look(name, value[name]);
    if (flaw) return inside(name, flaw);
  }
  return undefined;
}

function first<T>(items: Iterable<T>, look: (item: T) => Flaw | undefined): Flaw | undefined {
  for (const item of items) {
    const flaw = look(item);
    if (flaw) return flaw;
  }
  return undefined;
}
