// Core's own rules about what a provider may answer to a plan and an apply: it calls a violation a bug of the provider.
import { ExactNumber, isObject } from '../../src/model/index.js';
import {
  isInside,
  memberOf,
  Unknown,
  type CtyType,
  type CtyValue,
  type Path,
  type PathStep,
} from '../../src/terraform/protocol/cty.js';
import type {
  SchemaAttribute,
  WireDiagnostic,
} from '../../src/terraform/protocol/provider-replies.js';
import { stateReplyError } from '../../src/terraform/reply-checks.js';
import { attributeType, typeOf } from '../../src/terraform/terraform-schema.js';
import { wireError } from '../../src/terraform/wire-diagnostics.js';

type Attributes = readonly SchemaAttribute[];

/** Text that two values of a type share exactly where core takes them to be equal. */
export function valueKeyOf(type: CtyType, value: CtyValue): string {
  if (value === null) return 'null';
  if (value instanceof Unknown) return `unknown ${String(value.refinements)}`;
  if (value instanceof ExactNumber) return value.text;
  if (typeof value === 'string') return JSON.stringify(value.normalize());
  if (typeof value !== 'object') return String(value);
  const parts = members(type, value).map(
    ({ step, of, item }) =>
      `${typeof step === 'object' ? JSON.stringify(step.key) : step}:${valueKeyOf(of, item)}`,
  );
  if (type[0] !== 'set') return `{${type[0] === 'map' ? parts.toSorted().join() : parts.join()}}`;
  return `{${[...new Set(parts.map((part) => part.slice(part.indexOf(':') + 1)))].toSorted().join()}}`;
}

interface Member {
  readonly step: PathStep;
  readonly of: CtyType;
  readonly item: CtyValue;
}

/** What is inside a known list, set, map or object, as its type has it. */
function members(type: CtyType, value: CtyValue): readonly Member[] {
  if (typeof type === 'string') return [];
  if (Array.isArray(value))
    return (value as readonly CtyValue[]).map((item, step) => ({
      step,
      of: type[1] as CtyType,
      item,
    }));
  if (!isObject(value)) return [];
  if (type[0] === 'object')
    return Object.entries(type[1]).map(([step, of]) => ({ step, of, item: memberOf(value, step) }));
  const of = type[1];
  return Object.entries(value).map(([key, item]) => ({ step: { key }, of, item }));
}

const byStep = (type: CtyType, value: CtyValue): ReadonlyMap<string, Member> =>
  new Map(members(type, value).map((member) => [JSON.stringify(member.step), member]));

function violations(what: string, found: Iterable<readonly [path: Path, says: string]>) {
  return Array.from(found, ([path, says]) => wireError(path, `${what}: ${says}`));
}

type Found = Generator<readonly [Path, string], void>;

/** A plan keeps what is configured (or, spelt otherwise, what was there), and makes up only what is computed. */
export function corePlanErrors(
  attributes: Attributes,
  prior: CtyValue,
  config: CtyValue,
  planned: CtyValue,
): readonly WireDiagnostic[] {
  return violations('The plan', plannedWhole(attributes, prior, config, planned));
}

function* plannedWhole(
  attributes: Attributes,
  prior: CtyValue,
  config: CtyValue,
  planned: CtyValue,
): Found {
  if (config !== null && planned !== null)
    yield* plannedObject(attributes, prior, config, planned, []);
  else if (config !== null) yield [[], 'nothing is planned for what is configured'];
  else if (planned !== null) yield [[], 'an object that is to go is planned to stay'];
}

function* plannedObject(
  attributes: Attributes,
  prior: CtyValue,
  config: CtyValue,
  planned: CtyValue,
  path: Path,
): Found {
  for (const attribute of attributes) {
    const { name } = attribute;
    const [before, wanted] = [memberOf(prior, name), memberOf(config, name)];
    yield* plannedAttribute(attribute, before, wanted, memberOf(planned, name), [...path, name]);
  }
}

function* plannedAttribute(
  attribute: SchemaAttribute,
  prior: CtyValue,
  config: CtyValue,
  planned: CtyValue,
  path: Path,
): Found {
  if (attribute.write_only) {
    if (planned !== null) yield [path, 'a write-only value is not null'];
    return;
  }
  if (config === null) {
    if (planned !== null && !attribute.computed)
      yield [path, 'a value that is neither configured nor computed'];
    return;
  }
  const { nested } = attribute;
  if (nested && nested.nesting !== 'SET' && isInside(config) && isInside(planned))
    return yield* plannedNested(nested, prior, config, planned, path);
  const type = attributeType(attribute);
  const key = valueKeyOf(type, planned);
  if (key !== valueKeyOf(type, config) && (prior === null || key !== valueKeyOf(type, prior)))
    yield [path, 'neither the configured value nor the one before'];
}

function* plannedNested(
  { nesting, attributes }: NonNullable<SchemaAttribute['nested']>,
  prior: CtyValue,
  config: CtyValue,
  planned: CtyValue,
  path: Path,
): Found {
  if (nesting === 'SINGLE') return yield* plannedObject(attributes, prior, config, planned, path);
  const type: CtyType = [nesting === 'LIST' ? 'list' : 'map', typeOf(attributes)];
  const [before, wanted] = [byStep(type, prior), byStep(type, config)];
  const given = byStep(type, planned);
  if (given.size !== wanted.size) yield [path, 'more or fewer elements than are configured'];
  for (const [at, { step, item }] of wanted)
    yield* plannedObject(
      attributes,
      before.get(at)?.item ?? null,
      item,
      given.get(at)?.item ?? null,
      [...path, step],
    );
}

/** What was planned and known is what is there now; what was not known is, and is as it was promised to be. */
export function coreResultErrors(
  attributes: Attributes,
  planned: CtyValue,
  result: CtyValue,
): readonly WireDiagnostic[] {
  return [
    ...violations('The result', differing(typeOf(attributes), planned, result, [])),
    ...stateReplyError(attributes, result),
  ];
}

function* differing(type: CtyType, planned: CtyValue, actual: CtyValue, path: Path): Found {
  if (planned instanceof Unknown) {
    if (planned.refinements && actual === null) yield [path, 'not as the plan promised'];
  } else if (!isInside(planned) || !isInside(actual)) {
    if (!(actual instanceof Unknown) && valueKeyOf(type, planned) !== valueKeyOf(type, actual))
      yield [path, 'not what was planned'];
  } else if (type[0] === 'set') {
    if (!sameSet(type[1] as CtyType, planned as readonly CtyValue[], actual as readonly CtyValue[]))
      yield [path, 'not the elements that were planned'];
  } else {
    const [wanted, given] = [byStep(type, planned), byStep(type, actual)];
    if (wanted.size !== given.size) yield [path, 'more or fewer elements than were planned'];
    for (const [at, { step, of, item }] of wanted)
      yield* differing(of, item, given.get(at)?.item ?? null, [...path, step]);
  }
}

/** Each element has a partner on the other side; several unknown ones may turn out to be the same. */
function sameSet(of: CtyType, planned: readonly CtyValue[], actual: readonly CtyValue[]): boolean {
  const keys = new Set(actual.map((item) => valueKeyOf(of, item)));
  const open = planned.filter((item) => !keys.delete(valueKeyOf(of, item)));
  const left = actual.filter((item) => keys.has(valueKeyOf(of, item)));
  const fits = (a: CtyValue, b: CtyValue): boolean => differing(of, a, b, []).next().done === true;
  return (
    actual.length <= planned.length &&
    open.every((a) => actual.some((b) => fits(a, b))) &&
    left.every((b) => open.some((a) => fits(a, b)))
  );
}
