// The sent form of a document: for a PUT the declared members merged into the live document, for a PATCH the members to
// add; and the masks of the live document that such a write would contain or replace.
import {
  below,
  documentOf,
  isClear,
  isEmpty,
  isMask,
  isTree,
  mapMembers,
  masksIn,
  mergeOf,
  own,
  pathSteps,
  secretsIn,
  type Kind,
  type Live,
  type Value,
  type Values,
  type Write,
} from '../../model/index.js';
import {
  holdsNothing,
  isAlike,
  mergedNames,
  pathKey,
  samePaths,
  type Merging,
} from './document-diff.js';

/** The whole document that a PUT sends: the live one with everything that is declared in it. */
export function wholeDocument(declared: Value, live: Value | undefined): Value {
  if (isClear(declared)) return [{}, []];
  const [{ tree }, now] = [mergeOf(declared), mergeOf(live)];
  return [laid(tree, now.tree), removedPaths(declared, live) ?? now.removed ?? []];
}

/** What is declared of a document, with the list of removed defaults as it is sent. */
export function membersToSend(declared: Value, live: Value | undefined): Value {
  const removed = isClear(declared) ? undefined : removedPaths(declared, live);
  return removed === undefined ? declared : [mergeOf(declared).tree, removed];
}

/** The same fields without the members of documents that change nothing, because they hold nothing and are not live. */
export const withoutIdle = (kind: Kind, fields: Values, live: Values): Values =>
  mapMembers(fields, (value, name) => {
    if (!mergedNames(kind).includes(name) || !Array.isArray(value)) return value;
    const { tree, removed } = mergeOf(value);
    const members = actingMembers(tree, mergeOf(live[name]).tree);
    // A document without any member would mean that it is cleared.
    return Object.keys(members).length === 0 ? value : documentOf({ tree: members, removed });
  });

const actingMembers = (tree: Values, live: Values): Values =>
  Object.fromEntries(
    Object.entries(tree).flatMap(([name, item]) => {
      const now = own<Value>(live, name);
      if (holdsNothing(item) && isEmpty(now)) return [];
      return [[name, isTree(item) ? actingMembers(item, isTree(now) ? now : {}) : item]];
    }),
  );

/** Each path as it is live already, else as a list of its steps. */
function removedPaths(declared: Value, live: Value | undefined): readonly Value[] | undefined {
  const known = new Map((mergeOf(live).removed ?? []).map((path) => [pathKey(path), path]));
  return mergeOf(declared).removed?.map((path) => known.get(pathKey(path)) ?? pathSteps(path));
}

function laid(wanted: Values, live: Value | undefined): Values {
  const items = new Map(Object.entries(isTree(live) ? live : {}));
  for (const [name, item] of Object.entries(wanted)) {
    if (item === null) items.delete(name);
    else if (holdsNothing(item) && isEmpty(items.get(name))) continue;
    else items.set(name, isTree(item) ? laid(item, items.get(name)) : item);
  }
  return Object.fromEntries(items);
}

/** Dotted paths of the masks that a write would send back, or replace with a list that holds them; a part of the document may be masked whole. A PATCH keeps what it does not send. */
export function travellingMasks(
  declared: Value,
  live: Value | undefined,
  patch = false,
): readonly string[] {
  if (isClear(declared)) return [];
  const parts = Array.isArray(live) ? (live as readonly Value[]) : [live];
  const kept = mergeOf(declared).removed === undefined ? parts : parts.slice(0, 1);
  const { tree } = mergeOf(patch ? declared : wholeDocument(declared, live));
  return [
    ...overwritten(mergeOf(live).tree, tree, '0'),
    ...(patch ? [] : kept).flatMap((part, index) => (isMask(part) ? [String(index)] : [])),
  ];
}

/** Masks of a live value that what is sent has no secret for. What is sent of an object may leave members out. */
function overwritten(live: Value, sent: Value | undefined, path: string): readonly string[] {
  if (sent === undefined || sent === null) return [];
  if (isTree(live) && isTree(sent))
    return Object.entries(live).flatMap(([name, item]) =>
      overwritten(item, own<Value>(sent, name), below(path, name)),
    );
  const secrets = secretsIn(sent, path);
  return masksIn(live, path).filter((mask) => !secrets.has(mask));
}

/** Ends the name of a member that JSON text may hold and no object. */
const NOT_READ = ' (not read)';

/** What a write must not do to the masks of a live object, and the ways out. */
export interface MaskedWrite {
  readonly what: string;
  readonly out: string;
}

/** Undefined if no mask of the live object would be sent back or replaced, in a document or a list that holds it. @param canRestPatch whether PATCH can make the other changes of the plan, too: the setting is for all of them */
export function maskedWrite(
  kind: Kind,
  write: Write,
  live: Live | undefined,
  canRestPatch: () => boolean = () => true,
): MaskedWrite | undefined {
  if (!live) return undefined;
  const names = mergedNames(kind).filter((name) => Object.hasOwn(write.fields, name));
  const masks = names.flatMap((name) =>
    travellingMasks(write.fields[name]!, live.values[name], write.patch).map(
      (path) => `${name}.${path}`,
    ),
  );
  if (masks.length === 0) return undefined;
  const isPatchable =
    !write.patch && names.every((name) => addsOnly(name, write, live)) && canRestPatch();
  const patch = isPatchable
    ? ', or, if the service takes PATCH there, set settings.configuration_writes: patch, which sends only what is declared'
    : '';
  const unread = masks.find((path) => path.endsWith(NOT_READ));
  if (unread !== undefined)
    return {
      what: `${unread.slice(0, -NOT_READ.length)} cannot be read, and a PUT would lose it`,
      out: `take this member out of the object by other means${patch}`,
    };
  const [reads, they] = masks.length === 1 ? ['reads', 'it'] : ['read', 'them'];
  return {
    what: `${masks.join(', ')} ${reads} back masked, and the write would overwrite ${they}`,
    out: `declare ${they} as "\${secret.env.NAME}"${patch}`,
  };
}

/** Whether a PATCH can make the same changes of the documents of an object. */
export const canPatch = (kind: Kind, write: Write, live: Live): boolean =>
  mergedNames(kind)
    .filter((name) => Object.hasOwn(write.fields, name))
    .every((path) =>
      additions({ path, wanted: write.fields[path]!, live: live.values[path], resend: () => true }),
    );

/** Whether a PATCH can make the same change of a document, and keeps its masks. */
function addsOnly(path: string, { fields }: Write, { values }: Live): boolean {
  const live = values[path];
  const added = additions({ path, wanted: fields[path]!, live, resend: () => true });
  return added !== undefined && travellingMasks(added, live, true).length === 0;
}

/**
 * The body of a PATCH: declared members that differ, each object with its `_id_`, by which the service finds it.
 * Undefined if a member would have to be removed, which a PATCH cannot do.
 */
export function additions({
  path,
  wanted,
  live,
  resend,
}: Omit<Merging, 'prior'>): Value | undefined {
  const { tree, removed } = mergeOf(wanted);
  const now = mergeOf(live);
  if (isClear(wanted) || (removed !== undefined && !samePaths(removed, now.removed ?? [])))
    return undefined;
  const added = addedTo({ resend }, tree, now.tree, `${path}.0`);
  return added && [added];
}

function addedTo(
  run: Pick<Merging, 'resend'>,
  wanted: Values,
  live: Values,
  path: string,
): Values | undefined {
  const items: [string, Value][] = [];
  for (const [name, item] of Object.entries(wanted)) {
    const [now, at] = [own<Value>(live, name), below(path, name)];
    if (item === null && isEmpty(now)) continue;
    if (item === null) return undefined;
    if (isTree(item) && isTree(now)) {
      const inner = addedTo(run, item, now, at);
      if (inner === undefined) return undefined;
      if (Object.keys(inner).length > 0)
        items.push([name, Object.hasOwn(now, '_id_') ? { _id_: now['_id_']!, ...inner } : inner]);
    } else if (!isAlike(run, item, now, at))
      items.push([name, isTree(item) ? laid(item, undefined) : item]);
  }
  return Object.fromEntries(items);
}
