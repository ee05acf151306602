// Resolves references to known objects. A reference to an unknown one stays a reference.
import {
  isKnown,
  mapMembers,
  normal,
  recordFrom,
  Reference,
  referencesIn,
  stepsIn,
  Template,
  isTree,
  type Attributes,
  type Value,
  type Values,
  isList,
  own,
} from '../../model/index.js';

/** Returns the value of a reference, or undefined if it is not known yet. */
export type Resolver = (reference: Reference) => Value | undefined;

/** Copy with every reference that `resolver` knows replaced; mixed text becomes a string once all its parts are known. */
export function fill(value: Value, resolver: Resolver): Value {
  if (value instanceof Reference) return resolver(value) ?? value;
  if (value instanceof Template) {
    const parts = value.parts.map((part) =>
      typeof part === 'string' ? part : (resolver(part) ?? part),
    );
    return parts.every((part) => !(part instanceof Reference))
      ? parts.map(String).join('')
      : new Template(parts.map((part) => (part instanceof Reference ? part : String(part))));
  }
  if (Array.isArray(value)) return value.map((item: Value) => fill(item, resolver));
  if (!isTree(value)) return value;
  return mapMembers(value, (item) => fill(item, resolver));
}

/** `fill` for all attributes, in normal form again: a filled set is sorted again. What holds no reference is shared, not copied. */
export function fillAll(attributes: Attributes, values: Values, resolver: Resolver): Values {
  if (referencesIn(values).length === 0) return values;
  const open = Object.keys(values).filter((name) => !isKnown(values[name]));
  return {
    ...values,
    ...recordFrom(open, (name) => normal(attributes[name]!, fill(values[name]!, resolver))),
  };
}

/** The value at a dotted path, as in `endpoint.url` or `configuration.0.lan.mtu`. */
export function declaredValueAt(values: Values, path: string): Value | undefined {
  let value: Value | undefined = values;
  for (const name of stepsIn(path)) {
    value = isTree(value) || isList(value) ? own<Value>(value, name) : undefined;
  }
  return value;
}
