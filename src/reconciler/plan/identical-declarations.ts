// Two declarations of one identity: both in the configuration, or one of them for an object in the state.
import {
  defined,
  duplicatesAllowed,
  formatAddress,
  mayBeDuplicates,
  redactAll,
  roughIdentity,
  sha256,
  shellWord,
  writes,
  type Change,
  type Declaration,
  type Diagnostic,
  type Live,
  type Values,
  type Json,
  isList,
  isObject,
  mapMembers,
} from '../../model/index.js';
import type { Draft, Planned } from './draft.js';
import { declarationError, movedBlock, nounOf, placeOf } from './plan-errors.js';
import { identityKey, ownRoot } from './match.js';
import type { PlanInput } from './plan-input.js';
import { movedAddresses, removedBlocks } from './recorded-addresses.js';
import { isAsLive, renaming } from './rename-hints.js';

/**
 * Two declarations of one identity would fight over one object, or make it twice. Of two that the plan does not cover
 * nothing is said. Two that both have an object are told apart by what is live of what they do not declare.
 */
export function identicalDeclarations(
  draft: Draft,
  others: ReadonlyMap<string, Planned>,
): readonly (readonly [Declaration, Declaration])[] {
  const seen = new Map<string, string>();
  const out: (readonly [Declaration, Declaration])[] = [];
  const valuesOf = ({ kind, declared }: Planned, live?: Live): Values => ({
    ...ownRoot(draft.input.liveObjects.get(kind.name)!),
    ...live?.values,
    ...declared,
  });
  const identityOf = (planned: Planned, live?: Live): string => {
    const { kind } = planned;
    const values = valuesOf(planned, live);
    // References stand for themselves, so that two declarations that name the same unknown object compare equal.
    return `${kind.name} ${identityKey(kind, values) ?? identityKey(kind, placeholders(values))}`;
  };
  const all = [...others, ...draft.planned];
  const rough = all.map(([, planned]) => roughIdentity(planned.kind, valuesOf(planned)));
  const crowded = repeats(rough);
  for (const [index, [address, planned]] of all.entries()) {
    if (!crowded.has(rough[index]!)) continue;
    const identity = identityOf(planned);
    const twin = seen.get(identity);
    if (twin === undefined) seen.set(identity, address);
    if (twin === undefined || !draft.planned.has(address)) continue;
    const one = draft.declared.get(address)!;
    const other = draft.declared.get(twin)!;
    const before = draft.planned.get(twin) ?? others.get(twin);
    const differ =
      before?.live &&
      planned.live &&
      identityOf(before, before.live) !== identityOf(planned, planned.live);
    if (!differ && !mayBeDuplicates(other.lifecycle, one.lifecycle)) out.push([one, other]);
  }
  return out;
}

/** The texts that occur more than once. */
function repeats(texts: readonly string[]): ReadonlySet<string> {
  const [once, more] = [new Set<string>(), new Set<string>()];
  for (const text of texts) (once.has(text) ? more : once).add(text);
  return more;
}

/** References as texts that no normal form alters: an address may hold what an id cannot. */
const placeholders = (values: Values): Values => mapMembers(redactAll(values), placeholder);
function placeholder(value: Json): Json {
  if (typeof value === 'string') return value.includes('${') ? sha256(value) : value;
  if (isList(value)) return value.map(placeholder);
  return isObject(value) ? mapMembers(value, placeholder) : value;
}

export function identicalError(
  { kinds }: PlanInput,
  [one, other]: readonly [Declaration, Declaration],
): Diagnostic {
  const kind = kinds.get(one.kind)!;
  const allow = `, or write ${duplicatesAllowed(one.origin, other.origin)} on both`;
  return declarationError(one, {
    code: 'identical-declarations',
    summary: `${one.address} and ${other.address} declare the same ${nounOf(kind)}.`,
    detail: `The other one is at ${placeOf(other.origin)}. Remove one${kind.operations.create ? allow : ''}.`,
  });
}

/** A block that moves the object leaves the `removed` block to other members, if it has any. */
function adviceOnForgotten(project: PlanInput['project'], holder: string, address: string): string {
  const [block] = removedBlocks(project)(holder);
  const isOwn = block && formatAddress(block.from) === holder;
  const isMoved = movedAddresses(project).pathOf(holder).length > 1;
  const move = `\`${movedBlock(holder, address)}\``;
  return [
    `This plan forgets ${holder}.${isMoved ? '' : ` To move it instead, ${isOwn ? 'replace the removed block by' : 'add'} ${move}.`}`,
    `To forget it first, and let the next plan adopt it: trueup apply --exclude ${shellWord(address)}`,
  ].join('\n');
}

const isForgotten = (changes: readonly Change[], holder: string): boolean =>
  changes.some(({ action, address }) => action === 'forget' && address === holder);

/**
 * Creations beside an object of the same identity that another address holds, and that still has it after this plan.
 * @param told addresses of which that was said already
 */
export function identityConflicts(
  { input, declared, matcher }: Draft,
  changes: readonly Change[],
  told: ReadonlySet<string>,
): readonly Diagnostic[] {
  const written = new Map(
    changes.flatMap((change) =>
      writes(change) && 'id' in change ? [[`${change.kind} ${change.id}`, change.write]] : [],
    ),
  );
  return changes.flatMap((change): Diagnostic | [] => {
    const { address } = change;
    if (change.action !== 'create' || told.has(address)) return [];
    const mine = declared.get(address)?.lifecycle ?? {};
    if (mine.allow_duplicate) return [];
    const kind = input.kinds.get(change.kind)!;
    const stays = ({ id, values }: Live): boolean => {
      const { verb, fields } = written.get(`${kind.name} ${id}`) ?? {};
      return (
        verb !== 'delete' &&
        identityKey(kind, { ...values, ...fields }) === identityKey(kind, values)
      );
    };
    const found = matcher
      .held(kind, change.declaredObject.declared)
      .find(([, live]) => stays(live));
    if (!found) return [];
    const [holder, live] = found;
    const { id } = live;
    const alone = {
      waiting: [],
      isWhole: true,
      isAsDeclared: isAsLive(kind, change.declaredObject.declared, live),
    };
    if (mayBeDuplicates(declared.get(holder)?.lifecycle ?? {}, mine)) return [];
    return {
      severity: 'error',
      code: 'exists-already',
      summary: `${address} cannot be created: ${holder} holds the ${nounOf(kind)} ${id}, which has the same identity.`,
      detail: isForgotten(changes, holder)
        ? adviceOnForgotten(input.project, holder, address)
        : `${renaming({ address: holder, name: holder.slice(kind.name.length + 1) }, change, alone)}\nOtherwise plan the whole project, without PATH, --target and --exclude. If both are wanted, write ${duplicatesAllowed(change.origin)}.`,
      address,
      ...defined({ origin: change.origin }),
    };
  });
}
