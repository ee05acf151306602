// What may leave as a state, and what has to stay of one: core would refuse a state that is not known as a whole or
// that holds a secret, and after a write it might lose the object over it. Its other rules it holds itself.
import {
  isInside,
  memberOf,
  Unknown,
  type CtyObject,
  type CtyType,
  type CtyValue,
  type Path,
} from './protocol/cty.js';
import type { SchemaAttribute, WireDiagnostic } from './protocol/provider-server.js';
import { attributeType } from './terraform-schema.js';
import { wireError } from './wire-diagnostics.js';

type Attributes = readonly SchemaAttribute[];

/** A state is known as a whole, and holds nothing that is write-only. */
export const stateReplyError = (attributes: Attributes, state: CtyValue) =>
  violations('The state', flawsIn(attributes, state, []));

/** A plan holds nothing that is write-only: it may be saved. */
export const planReplyError = (attributes: Attributes, planned: CtyValue) =>
  violations(
    'The plan',
    [...flawsIn(attributes, planned, [])].filter(([, says]) => says === LEAK),
  );

const violations = (what: string, found: Iterable<Flaw>): readonly WireDiagnostic[] =>
  Array.from(found, ([path, says]) =>
    wireError(
      path,
      'The provider would have answered against its own schema',
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
      for (const one of nested.nesting === 'SINGLE' ? [item] : Object.values(item as CtyObject))
        yield* flawsIn(nested.attributes, one, at);
    else if (hasUnknown(item)) yield [at, OPEN];
  }
}

const hasUnknown = (value: CtyValue): boolean =>
  value instanceof Unknown ||
  (isInside(value) && Object.values(value as CtyObject).some(hasUnknown));

/** A state of ours that terraform kept: it holds nothing that is write-only, unless a hand put it there. */
export function withoutSecretValues(attributes: Attributes, state: CtyValue): CtyValue {
  return flawsIn(attributes, state, []).next().done
    ? state
    : salvaged(attributes, state, () => true);
}

/** What can stay of a state that must not be lost: unknown and write-only values become null, and so does every attribute that `fits` refuses. */
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
