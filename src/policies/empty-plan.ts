// The plan document of a plan without changes: a test of a policy gives only the members that differ.
import {
  didYouMean,
  isObject,
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

/** Members that not every plan document has. */
const SOMETIMES = ['trueup_version', 'compared', 'impact'];

/** What a test gives, in place of the same members of what is empty. */
export function filledIn(empty: JsonObject, given: JsonObject): JsonObject {
  const members = Object.entries(given).map(([name, value]): [string, Json] => {
    const inside = empty[name];
    return [name, isObject(inside) && isObject(value) ? filledIn(inside, value) : value];
  });
  return { ...empty, ...Object.fromEntries(members) };
}

/** What a test gives and nothing would read, such as `plan.summry`, with the nearest right word. */
export function unknownMembers(
  empty: JsonObject,
  given: JsonObject,
  path: string,
): readonly string[] {
  const known = [...Object.keys(empty), ...SOMETIMES];
  return Object.entries(given).flatMap(([name, value]): readonly string[] => {
    const inside = empty[name];
    if (!known.includes(name)) return [`\`${path}.${name}\`.${didYouMean(name, known)}`];
    // An empty one holds names of kinds.
    const isFixed = isObject(inside) && Object.keys(inside).length > 0;
    return isFixed && isObject(value) ? unknownMembers(inside, value, `${path}.${name}`) : [];
  });
}
