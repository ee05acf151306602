// Writes to a configuration manager: a PUT replaces the configuration, a PATCH merges into it, secrets are masked at
// once, and the router applies everything at the same moment unless its synchronisation is paused.
import {
  canonical,
  isObject,
  own,
  type Json,
  type JsonObject,
  mapMembers,
  isList,
} from '../model/index.js';

export const LIVE_MASK = '*';

const SECRET_NAME = /password|passphrase|secret|psk/i;

/** A document with every secret inside replaced. The service recognises them by their names. */
export function veiled(value: Json): Json {
  if (Array.isArray(value)) return value.map(veiled);
  if (!isObject(value)) return value;
  return mapMembers(value, (item, name) =>
    SECRET_NAME.test(name) && typeof item === 'string' ? LIVE_MASK : veiled(item),
  );
}

/** Why a body is no `[object, list of paths]`; undefined where it is. A mask is no secret. */
export function misfit(value: unknown): string | undefined {
  const [tree, paths = []] =
    Array.isArray(value) && value.length <= 2 ? (value as readonly Json[]) : [];
  if (!isObject(tree) || !Array.isArray(paths))
    return 'must be a configuration object and a list of the paths that are removed from the defaults';
  return holdsMask(tree) ? 'must hold a secret, not its mask' : undefined;
}

function holdsMask(value: Json): boolean {
  if (typeof value === 'string') return /^\*+$/.test(value);
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((item) => holdsMask(item))
  );
}

const part = (value: Json | undefined): JsonObject =>
  isList(value) && isObject(value[0]) ? value[0] : {};
const removals = (value: Json | undefined): readonly Json[] =>
  isList(value) && isList(value[1]) ? value[1] : [];

/** How the configuration of a record is written: `replace` drops what the body leaves out, `merge` keeps it. */
export type ConfigurationWrite = 'replace' | 'merge';

/** The record once `after` was written over `before`. The second part of a configuration is stored as it is: paths removed from the defaults. */
export function settled(
  before: JsonObject,
  after: JsonObject,
  how: ConfigurationWrite,
): JsonObject {
  const written = (): Json =>
    how === 'replace'
      ? [part(after.configuration), removals(after.configuration)]
      : mergedInto(before, after);
  const target = after.configuration === before.configuration ? before.configuration! : written();
  const taken =
    after.suspended === true
      ? { pending: difference(part(before.actual), part(target)), actual: before.actual! }
      : { pending: [{}, []], actual: target };
  const synched = canonical(part(taken.actual)) === canonical(part(target));
  return {
    ...after,
    ...taken,
    configuration: target,
    target,
    version_number: Number(before.version_number) + 1,
    synched,
  };
}

/** The configuration of `before` with what `after` names laid over it. */
export function mergedInto(before: JsonObject, after: JsonObject): Json {
  const { configuration } = after;
  const given = Array.isArray(configuration) && configuration.length > 1;
  return [
    merged(part(before.configuration), part(configuration)),
    given ? removals(configuration) : removals(before.configuration),
  ];
}

function merged(tree: JsonObject, over: JsonObject): JsonObject {
  const members = mapMembers(over, (item, name) => {
    const live = own(tree, name);
    return isObject(item) ? merged(isObject(live) ? live : {}, item) : item;
  });
  return { ...tree, ...members };
}

/** The difference of two trees, at their top. */
function difference(from: JsonObject, to: JsonObject): Json {
  const changed = Object.entries(to).filter(
    ([name, item]) => !Object.hasOwn(from, name) || canonical(from[name]) !== canonical(item),
  );
  return [
    Object.fromEntries(changed),
    Object.keys(from)
      .filter((name) => !Object.hasOwn(to, name))
      .map((name) => [name]),
  ];
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The additions of a PATCH to a document, or why it is refused: it takes nothing out, and a member under a UUID repeats it as `_id_`. */
export function mergedAdditions(live: Json, sent: Json): readonly [tree: JsonObject] | string {
  const removed = removals(sent);
  if (removed.length > 0 && canonical(removed) !== canonical(removals(live)))
    return 'cannot take anything out by PATCH';
  return unnamed(part(sent)) ? 'must repeat the UUID of a member as its _id_' : [part(sent)];
}

function unnamed(value: Json): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, item]) => unnamed(item) || (UUID.test(name) && isObject(item) && item['_id_'] !== name),
  );
}
