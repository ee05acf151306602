// Checks of the states in replies, and of the part to keep of a wrong one: Terraform would refuse a state that is not
// fully known or that holds a secret, and might lose the object after a write. Terraform checks its other rules itself.
import {
  isInside,
  memberOf,
  Unknown,
  type CtyType,
  type CtyValue,
  type Path,
} from './protocol/cty.js';
import type { SchemaAttribute, WireDiagnostic } from './protocol/provider-replies.js';
import { attributeType } from './terraform-schema.js';
import { wireError } from './wire-diagnostics.js';

type Attributes = readonly SchemaAttribute[];

/** A state is fully known, and holds no write-only value. */
export const stateReplyError = (attributes: Attributes, state: CtyValue) =>
  violations('The state', flawsIn(attributes, state, []));

/** A plan holds no write-only value, because it may be saved. */
export const planReplyError = (attributes: Attributes, planned: CtyValue) =>
  violations(
    'The plan',
    [...flawsIn(attributes, planned, [])].filter(([, says]) => says === LEAK),
  );

const violations = (what: string, found: Iterable<Flaw>): readonly WireDiagnostic[] =>
  Array.from(found, ([path, says]) =>
    wireError(
      path,
      'The provider would have returned a value that does not fit its own schema',
      `${what}: ${says}. It is a mistake in the provider; please report it. No value is shown, because it may be secret.`,
    ),
  );

type Flaw = readonly [path: Path, says: string];
const LEAK = 'a write-only value is not null';
const OPEN = 'not known, even now';

function* flawsIn(attributes: Attributes, value: CtyValue, path: Path): Generator<Flaw, void> {
  if (value instanceof Unknown) yield [path, OPEN];
  for (const { name, write_only, nested } of isInside(value) ? attributes : []) {
    const [item, at] = [memberOf(value, name), [...path, name]];
    if (write_only && item !== null) yield [at, LEAK];
    else if (nested && isInside(item))
      for (const one of nested.nesting === 'SINGLE' ? [item] : Object.values(item))
        yield* flawsIn(nested.attributes, one, at);
    else if (hasUnknown(item)) yield [at, OPEN];
  }
}

const hasUnknown = (value: CtyValue): boolean =>
  value instanceof Unknown || (isInside(value) && Object.values<CtyValue>(value).some(hasUnknown));

/** A state of this provider that Terraform kept: it holds no write-only value, unless somebody edited it. */
export function withoutSecretValues(attributes: Attributes, state: CtyValue): CtyValue {
  return flawsIn(attributes, state, []).next().done
    ? state
    : salvaged(attributes, state, () => true);
}

/** A state that must not be lost, as far as it is valid: unknown and write-only values become null, and so does every attribute that `fits` refuses. */
export function salvaged(
  attributes: Attributes,
  value: CtyValue,
  fits: (type: CtyType, value: CtyValue) => boolean,
): CtyValue {
  if (!isInside(value) || Array.isArray(value)) return null;
  const kept = attributes.map((attribute): readonly [string, CtyValue] => {
    const { name, write_only, nested } = attribute;
    const item = memberOf(value, name);
    if (write_only || item === null) return [name, null];
    if (nested?.nesting === 'SINGLE') return [name, salvaged(nested.attributes, item, fits)];
    return [name, !hasUnknown(item) && fits(attributeType(attribute), item) ? item : null];
  });
  return Object.fromEntries(kept);
}
