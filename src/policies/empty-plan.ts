// The plan document of a plan without changes: a test of a policy gives only the members that differ.
import planSchema from '../../schemas/plan.schema.json' with { type: 'json' };
import {
  didYouMean,
  isList,
  isObject,
  mapMembers,
  NO_WRITES,
  summarise,
  type Json,
  type JsonObject,
} from '../model/index.js';

export const emptyPlan: JsonObject = {
  format_version: '1.0',
  target: '',
  generated_at: '1970-01-01T00:00:00.000Z',
  generated_from: { paths: [], digest: '' },
  state: { lineage: null, serial: 0 },
  api_requests: {},
  resource_changes: [],
  resource_drift: [],
  unmanaged: {},
  policy: [],
  summary: { ...summarise([]), writes: NO_WRITES },
  diagnostics: [],
};

const definitions: JsonObject = planSchema.definitions;

/** A value of each type that a schema names for what is no object and no list. */
const samples: Readonly<Record<string, Json>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
};

/** A value that a schema allows, with every member that it names; a list holds one item. */
function fullOf(schema: Json | undefined): Json {
  if (!isObject(schema)) return null;
  const { $ref: name, anyOf, properties, items, type } = schema;
  if (typeof name === 'string') return fullOf(definitions[name.replace('#/definitions/', '')]);
  if (isList(anyOf)) {
    const [first = null, ...others] = anyOf.map(fullOf);
    return [first, ...others].find(isObject) ?? first;
  }
  if (items !== undefined) return [fullOf(items)];
  if (isObject(properties)) return mapMembers(properties, fullOf);
  if (schema['const'] !== undefined) return schema['const'];
  if (isList(schema['enum'])) return schema['enum'][0] ?? null;
  return typeof type === 'string' ? (samples[type] ?? null) : null;
}

/** A document with every member that a plan can have. */
export const fullPlan = fullOf(planSchema);

/** What policies read, with every member that it can have. */
export const fullInput = {
  plan: isObject(fullPlan) ? fullPlan : {},
  declarations: [
    {
      address: '',
      kind: '',
      name: '',
      attributes: {},
      lifecycle: { protect: false },
      origin: { file: '', line: 1, column: 1 },
    },
  ],
};

/** What a test gives, in place of the same members of what is empty. */
export function filledIn(empty: JsonObject, given: JsonObject): JsonObject {
  const members = mapMembers(given, (value, name) => {
    const inside = empty[name];
    return isObject(inside) && isObject(value) ? filledIn(inside, value) : value;
  });
  return { ...empty, ...members };
}

/** What a test gives and nothing would read, such as `plan.summry`, with the nearest right word. @param full with every member; a list holds one item */
export function unknownMembers(full: Json, given: Json, path: string): readonly string[] {
  if (isList(full) && isList(given)) {
    const [item = null] = full;
    return given.flatMap((one, index) => unknownMembers(item, one, `${path}[${index}]`));
  }
  // An empty one holds names of kinds, or of attributes.
  if (!isObject(full) || !isObject(given) || Object.keys(full).length === 0) return [];
  const known = Object.keys(full);
  return Object.entries(given).flatMap(([name, value]) =>
    known.includes(name)
      ? unknownMembers(full[name]!, value, `${path}.${name}`)
      : [`\`${path}.${name}\`.${didYouMean(name, known)}`],
  );
}
