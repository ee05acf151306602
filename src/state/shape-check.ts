// Closed shapes of files on disk: a file that someone edited, damaged or invented is refused with the name of the wrong
// member, before any of it is used.
import {
  isObject,
  tryAddress,
  type Begin,
  type Entry,
  type Fingerprint,
  type Intent,
  type Moment,
  type PlanFile,
  type PlanOptions,
  type Recent,
  type RecordedRun,
  type Result,
  type SaltedFingerprint,
  type Seen,
  type Spent,
  type State,
} from '../model/index.js';

/** A fault, and the path of members to it. */
interface Flaw {
  readonly path: readonly string[];
  readonly problem: string;
}
export type ShapeCheck = (value: unknown) => Flaw | undefined;

/** Deeper values are refused, because later recursion would run out of stack. */
const DEEPEST = 512;

const here = (problem: string): Flaw => ({ path: [], problem });
export const rule =
  (test: (value: unknown) => boolean, problem: string): ShapeCheck =>
  (value) =>
    test(value) ? undefined : here(problem);

export const isText = rule((value) => typeof value === 'string', 'must be a string');
const textRule = (test: (text: string) => boolean, problem: string): ShapeCheck =>
  rule((value) => typeof value === 'string' && test(value), problem);
export const filled = textRule((text) => text !== '', 'must be a string and not empty');
export const word = textRule((text) => /^[\w-]{1,64}$/.test(text), 'must be a plain word');
const isFlag = rule((value) => typeof value === 'boolean', 'must be true or false');
export const time = textRule(
  (text) =>
    /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
  'must be a time in ISO 8601',
);
export const address = textRule(
  (text) => tryAddress(text) !== undefined,
  'must be an address such as alert_rules.wan-down',
);
export const isWhole = (least: number, most = Number.MAX_SAFE_INTEGER): ShapeCheck =>
  rule(
    (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most,
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
const anyObject: ShapeCheck = (value) =>
  isObject(value) ? anyJson(value) : here('must be an object');
const anyJson: ShapeCheck = (value) => {
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
  const members: Readonly<Record<string, unknown>> = Object(value);
  for (const name in members) {
    const problem = unfit(members[name], levels - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function listOf(shape: ShapeCheck): ShapeCheck {
  return (value) => {
    if (!Array.isArray(value)) return here('must be a list');
    for (const [index, item] of value.entries()) {
      const flaw = shape(item);
      if (flaw) return inside(String(index), flaw);
    }
    return undefined;
  };
}

export function mappingOf(key: ShapeCheck, shape: ShapeCheck): ShapeCheck {
  return (value) =>
    isObject(value)
      ? firstOf(value, (name, item) => key(name) ?? shape(item))
      : here('must be an object');
}

const stray: ShapeCheck = () => here('is not a member that belongs here');
type Members<T> = {
  readonly [K in keyof T & string as object extends Pick<T, K> ? `${K}?` : K]: ShapeCheck;
};

/**
 * An object with exactly the members of `T`, and the compiler sees that none is missing; those whose name ends in `?` may be absent.
 * @param others the check of any other member
 */
export function members<T>(shapes: Members<T>, others: ShapeCheck = stray): ShapeCheck {
  const known = new Map(
    Object.entries<ShapeCheck>(shapes).map(([name, shape]) => [name.replace('?', ''), shape]),
  );
  const needed = Object.keys(shapes).filter((name) => !name.endsWith('?'));
  return (value) => {
    if (!isObject(value)) return here('must be an object');
    const missing = needed.find((name) => !Object.hasOwn(value, name) || value[name] === undefined);
    if (missing !== undefined) return inside(missing, here('is missing'));
    return firstOf(value, (name, item) =>
      item === undefined ? undefined : (known.get(name) ?? others)(item),
    );
  };
}

/** An object with at least the members of `T`: what newer versions add is passed over. */
export const openMembers = <T>(shapes: Members<T>): ShapeCheck =>
  members<T>(shapes, () => undefined);

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

/** The mark of a state that moved, or is being moved; null without one. */
export const movedShape = orNull(
  members<{ to?: string; from?: string }>({ 'to?': filled, 'from?': filled }),
);

/** Of a `LockInfo`, but for its `url`. */
export const lockMembers = {
  id: filled,
  host: isText,
  pid: isWhole(1),
  operation: isText,
  created_at: time,
};

// The state.

// Bounded, so that a made-up state cannot ask for gigabytes of scrypt.
const cost = isWhole(1, 17);
const salted = members<SaltedFingerprint>({
  algorithm: oneOf('scrypt'),
  cost,
  block: isWhole(1, 8),
  parallel: isWhole(1, 4),
  salt: filled,
  hash: filled,
  keyed: isFlag,
});
const current = members<Fingerprint>({ of: filled, hash: filled, 'cost?': cost });
const fingerprint: ShapeCheck = (value) =>
  (isObject(value) && Object.hasOwn(value, 'algorithm') ? salted : current)(value);

const entryMembers = {
  kind: filled,
  file: isText,
  applied: anyObject,
  depends_on: listOf(isText),
  'secrets?': mappingOf(filled, fingerprint),
  'protect?': isFlag,
  'on_removal?': filled,
  'deposed?': listOf(filled),
  applied_at: time,
};
/** An entry before its id is known, as intents hold it. */
const entryShape = members<Entry>({ ...entryMembers, id: filled, observed: anyObject });
const plannedEntryShape = members<Omit<Entry, 'id' | 'observed'>>(entryMembers);
const momentMembers = {
  at: time,
  'server_at?': time,
  'boot?': members<NonNullable<Moment['boot']>>({ id: filled, milliseconds: isWhole(0) }),
} as const;
const spentShape = members<Spent>({
  ...momentMembers,
  action: oneOf('update', 'delete'),
  'kind?': filled,
  'id?': filled,
  'replaced?': listOf(filled),
});
const recentShape = members<Recent>({
  ...momentMembers,
  kind: filled,
  created: listOf(filled),
  unseen: listOf(filled),
  deleted: listOf(filled),
});

/** An entry on disk: what was applied and is observed alike stands once, under `observed`, and is named in `as_observed`. */
export type Packed = Entry & { readonly as_observed?: readonly string[] };
const packedMembers = members<Packed>({
  ...entryMembers,
  id: filled,
  observed: anyObject,
  'as_observed?': listOf(isText),
});
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members are checked
const packedShape: ShapeCheck = (value) => packedMembers(value) ?? strayName(value as Packed);

function strayName({ as_observed = [], applied, observed }: Packed): Flaw | undefined {
  const stray = as_observed.findIndex(
    (name) => !Object.hasOwn(observed, name) || Object.hasOwn(applied, name),
  );
  return stray === -1
    ? undefined
    : {
        path: ['as_observed', String(stray)],
        problem: 'must name a member of observed that is not in applied',
      };
}

export const stateShape = members<State>({
  format_version: isWhole(1),
  lineage: filled,
  serial: isWhole(0),
  target: isText,
  resources: mappingOf(address, packedShape),
  spent: listOf(spentShape),
  'recent?': listOf(recentShape),
  'secrets_salt?': filled,
  'secrets_together?': listOf(current),
  'runs?': listOf(
    members<RecordedRun>({
      serial: isWhole(1),
      at: time,
      operation: isText,
      user: isText,
      host: isText,
      'url?': filled,
      'digest?': filled,
      created: isWhole(0),
      updated: isWhole(0),
      deleted: isWhole(0),
      'adopted?': isWhole(0),
      'renamed?': isWhole(0),
      'forgotten?': isWhole(0),
      'failed?': isWhole(1),
      'skipped?': isWhole(1),
      'unknown?': isWhole(1),
      objects: isWhole(0),
      'resumed?': oneOf(true),
    }),
  ),
});

// The journal.

/** By the type of the record. */
export const recordShapes: ReadonlyMap<unknown, ShapeCheck> = new Map(
  Object.entries({
    begin: members<Begin>({
      type: isText,
      run: filled,
      lineage: filled,
      serial: isWhole(0),
      target: isText,
      at: time,
      'secrets_salt?': filled,
    }),
    intent: members<Omit<Intent, 'answered' | 'unclear'>>({
      type: isText,
      op: filled,
      address,
      kind: filled,
      action: oneOf('create', 'update', 'delete'),
      'id?': filled,
      'content?': filled,
      'body?': anyObject,
      'hidden?': members<NonNullable<Intent['hidden']>>({
        names: listOf(filled),
        salt: filled,
        fingerprint: current,
      }),
      'preimage?': listOf(isText),
      'highest?': isText,
      'newest?': isText,
      'entry?': plannedEntryShape,
      ...momentMembers,
    }),
    result: members<Result>({
      type: isText,
      'op?': filled,
      class: oneOf('not_sent', 'rejected', 'applied', 'unknown'),
      address,
      'entry?': orNull(entryShape),
      'spent?': spentShape,
      'lately?': members<NonNullable<Result['lately']>>({
        what: oneOf('created', 'deleted'),
        kind: filled,
        id: filled,
        ...momentMembers,
      }),
    }),
    seen: members<Seen>({ type: isText, kind: filled, ids: listOf(filled) }),
  }),
);

// Saved plans. What is in the document nobody needs to believe: it is compared with a plan that is made anew.

export const PLAN_FILE_VERSION = 1;

export const planFileShape = members<PlanFile>({
  plan_file_version: oneOf(PLAN_FILE_VERSION),
  expires_at: time,
  options: members<PlanOptions>({
    targets: listOf(isText),
    excludes: listOf(isText),
    allow: listOf(isText),
    destroy: isFlag,
    'env?': isText,
    variables: mappingOf(isText, isText),
    'valid_for?': isText,
    'encrypt_to?': listOf(isText),
  }),
  document: anyObject,
  digest: filled,
});
