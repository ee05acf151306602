// Objects whose declaration was removed: deleted, retired or forgotten.
import {
  cached,
  compareText,
  defined,
  firstNamed,
  keyOf,
  labelOf,
  labelsIn,
  removals,
  type Change,
  type Diagnostic,
  type Entry,
  type Kind,
  type Live,
  type RemovedBlock,
  type State,
  type Write,
} from '../../model/index.js';
import { diff } from './diff.js';
import { declaredPart } from './document-diff.js';
import { composedUpdate, current, type Draft } from './draft.js';
import { formerAddressInState } from './match.js';
import { nounOf, placeOf } from './plan-errors.js';
import type { Selection } from './target-selection.js';

/** `<kind> <id>` of what an address holds that stays. A rename that was cut off leaves two addresses with one object. */
export function heldElsewhere({ removed }: Selection, state: State | undefined): Set<string> {
  const goes = new Set(removed.map(([address]) => address));
  return new Set(
    Object.entries(state?.resources ?? {}).flatMap(([address, { kind, id }]) =>
      goes.has(address) ? [] : [`${kind} ${id}`],
    ),
  );
}

/** Also deletes what an interrupted replacement left behind. What takes the address out of the state comes after that. */
export function afterDeposed(
  draft: Draft,
  declared: readonly Change[],
  removed: readonly Change[],
): readonly [readonly Change[], readonly Change[]] {
  const { state } = draft.input;
  const recorded = [...draft.selection.declarations.values()].flatMap((one) => {
    const entry = state?.resources[formerAddressInState(one, state) ?? one.address];
    return entry ? [[one.address, entry] as const] : [];
  });
  const left = [...recorded, ...draft.selection.removed].flatMap(([address, entry]) =>
    (entry.deposed ?? []).flatMap(
      (id) => planRemoved(draft, address, { ...entry, id }, 'another object took its place') ?? [],
    ),
  );
  if (left.length === 0) return [declared, removed];
  const waiting = (change: Change): Change => {
    const keys =
      change.deposed || !('declaredObject' in change && change.declaredObject)
        ? left.filter(({ address }) => address === change.address).map(keyOf)
        : [];
    return keys.length === 0 ? change : { ...change, depends_on: [...change.depends_on, ...keys] };
  };
  return [declared.map(waiting), [...removed.map(waiting), ...left]];
}

/** By file and the first word of a name, with which names from one use begin: the files of the templates. */
const templateFiles = new WeakMap<Draft['declared'], ReadonlyMap<string, ReadonlySet<string>>>();

const useIn = (file: string, address: string): string =>
  `${file} ${/\.([^-[]*)/.exec(address)?.[1] ?? ''}`;

function templatesUsedIn(declared: Draft['declared']): ReadonlyMap<string, ReadonlySet<string>> {
  const files = new Map<string, Set<string>>();
  for (const { address, origin } of declared.values()) {
    const user = origin.used_at?.file;
    if (user !== undefined && user !== origin.file)
      cached(files, useIn(user, address), () => new Set<string>()).add(origin.file);
  }
  templateFiles.set(declared, files);
  return files;
}

/** Files that a listing of them names. */
const FEW = 3;

/** Where an object was declared: in the file that the state names, or in a template that this file uses. */
function filesOf({ declared }: Draft, address: string, { file }: Entry): string {
  const files = templateFiles.get(declared) ?? templatesUsedIn(declared);
  const templates = files.get(useIn(file, address)) ?? [];
  return firstNamed([file, ...[...templates].toSorted(compareText)], FEW, ' or ', ' or ');
}

const unknownKindError = (address: string): Diagnostic => ({
  severity: 'error',
  code: 'unknown-kind',
  summary: `The state holds ${address}, whose kind this version does not know.`,
  detail: 'Use the version of trueup that wrote the state.',
});

/** @param deposed why the object goes although its address stays */
function planRemoved(
  draft: Draft,
  address: string,
  entry: Entry,
  deposed?: string,
): Change | undefined {
  const { kinds, liveObjects, compose, request } = draft.input;
  const kind = kinds.get(entry.kind);
  if (!kind) {
    draft.diagnostics.push(unknownKindError(address));
    return undefined;
  }
  const read = liveObjects.get(kind.name)?.byId.get(entry.id);
  const live = read && deposed === undefined ? current(draft, address, entry, read) : read;
  const block = draft.forgetting(address);
  const wanted = block ? 'forget' : (entry.on_removal ?? removals(kind)[0]);
  const how = deposed === undefined ? wanted : 'delete';
  const removed = `it is no longer declared${entry.file === '' ? '' : ` in ${filesOf(draft, address, entry)}`}`;
  const why = deposed ?? (request.destroy ? 'destroy covers it' : removed);
  const declaration =
    request.destroy || deposed !== undefined ? draft.declared.get(address) : undefined;
  const base = {
    address,
    kind: kind.name,
    name: address.slice(kind.name.length + 1),
    ...defined({ origin: declaration?.origin }),
    depends_on: [],
    id: entry.id,
    before: live ? declaredPart(kind, entry.applied, live.values) : entry.observed,
    ...(deposed === undefined ? {} : { deposed: true as const }),
    ...(live && kind.label && { label: labelOf(kind, live.values, labelsIn(liveObjects))! }),
  };
  const created = live ? undefined : draft.input.visibility.created(kind.name, entry.id);
  // Some replicas may show a new object and others not: trueup forgets none before the settle time is over.
  if (created !== undefined) draft.awaited.add(address);
  if (created === 'unseen') {
    draft.unseen.add(address);
    return undefined;
  }
  if (!live) {
    if (deposed === undefined) draft.drift.push({ address, kind: kind.name, id: entry.id });
    return { action: 'forget', ...base, reason: `${why}, and it no longer exists` };
  }
  const object = `${entry.kind} ${entry.id}`;
  if (draft.held.has(object))
    return { action: 'forget', ...base, reason: `${why}; another address manages its object` };
  draft.held.add(object);
  if (how === 'delete' && kind.operations.delete) {
    const write: Write = { verb: 'delete', id: entry.id, fields: {}, live };
    return { action: 'delete', ...base, reason: why, write, request: compose(kind, write) };
  }
  const retired = kind.retire?.[how!];
  const changes = retired ? diff({ kind, declared: retired, live, secret: () => 'same' }) : [];
  if (!retired || changes.length === 0)
    return {
      action: 'forget',
      ...base,
      reason: `${why}; ${whyForgotten(kind, entry, live, block)}`,
    };
  const written = composedUpdate(draft, { kind, declared: retired, live, changes }, live);
  if (!written) throw new Error(`${kind.name} cannot be retired by additions alone`);
  return {
    action: 'update',
    ...base,
    reason: `${why}; on_removal: ${how}, then forgotten`,
    changes,
    ...written,
  };
}

/** What is removed. Of each object that is forgotten it says what sort of object it refers to is deleted: it may end with that. */
export function removalsOf(draft: Draft): readonly Change[] {
  const { kinds, selection, state } = draft.input;
  const removals = selection.removed.flatMap(
    ([address, entry]) => planRemoved(draft, address, entry) ?? [],
  );
  const deleted = new Map(
    removals.flatMap(({ action, address, kind }) =>
      action === 'delete' ? [[address, nounOf(kinds.get(kind)!)] as const] : [],
    ),
  );
  return removals.map((change) => {
    const { depends_on = [] } = state?.resources[change.address] ?? {};
    const ends =
      change.action === 'forget' ? depends_on.flatMap((one) => deleted.get(one) ?? []) : [];
    if (ends.length === 0) return change;
    // Without addresses, so that those of many objects are alike.
    const nouns = [...new Set(ends)];
    const what = nouns.map((noun) => `its ${noun}`).join(' and ');
    const is = nouns.length === 1 ? 'is' : 'are';
    return { ...change, reason: `${change.reason}; ${what} ${is} to be deleted` };
  });
}

/** Why a live object is only forgotten, and what that means. */
function whyForgotten(
  kind: Kind,
  { on_removal: how }: Entry,
  { values }: Live,
  block: RemovedBlock | undefined,
): string {
  const kept = kind.kept?.(values) ?? 'it stays as it is';
  if (block) return `the removed block in ${placeOf(block.origin)} forgets it, so ${kept}`;
  if (how === undefined) return `the API cannot delete it, so ${kept}`;
  return how === 'forget'
    ? `on_removal: forget, so ${kept}`
    : `on_removal: ${how} needs no request`;
}
