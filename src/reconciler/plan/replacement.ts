// Replacements: whether an object can be replaced, and whether the new one is created before the old one is deleted.
import {
  shellWord,
  type Declaration,
  type Kind,
  type Live,
  type Values,
} from '../../model/index.js';
import type { Draft, FilledDeclaration } from './draft.js';
import { identityKey, type Match } from './match.js';
import { bindAdvice } from './plan-errors.js';

export type LiveMatch = Match & { readonly live: Live };

/** Why a live object cannot be replaced, and what to do then. @param isOtherLive whether an object as declared is live, too */
export function hindranceTo(
  kind: Kind,
  { address, lifecycle }: Declaration,
  { how, entry, live, renamedFrom = address }: LiveMatch,
  isOtherLive: boolean,
): string | undefined {
  const { create, delete: remove } = kind.operations;
  const other =
    create || isOtherLive
      ? 'Declare the other object under a new name'
      : 'No such object is live: correct the declaration';
  const forget = `${other}; or remove this declaration, and then forget its object: trueup state rm ${shellWord(renamedFrom)}`;
  const missing = [...(create ? [] : ['created']), ...(remove ? [] : ['deleted'])];
  if (missing.length > 0)
    return `${kind.name} cannot be ${missing.join(' or ')} through the API, so trueup cannot replace this object. ${forget}`;
  if (how !== 'recorded')
    return `trueup replaces only objects that it manages, and this one is not managed yet. Correct the declaration; or import the object, and the next plan replaces it.\n${bindAdvice(address, live.id, entry !== undefined)}`;
  const { on_removal: removal = 'delete' } = lifecycle;
  return removal === 'delete'
    ? undefined
    : `lifecycle.on_removal is ${removal}, so trueup may not delete the object, and cannot replace it. ${forget}`;
}

/** Whether a replacement creates the new object first (`+/-`), or deletes the old one first (`-/+`). */
export const firstWrite = (
  draft: Draft,
  one: FilledDeclaration,
  before: Values,
): 'create' | 'delete' => (fitsBeside(draft, one, before) ? 'create' : 'delete');

/**
 * True if the new object can exist together with the old one. It cannot if the name or the content is the identity, or
 * if its identity may be the same; and a reference to an object that is deleted first has to be removed before that.
 */
function fitsBeside(
  draft: Draft,
  { kind, declaration, filled }: FilledDeclaration,
  before: Values,
): boolean {
  if (
    kind.identity === 'content' ||
    kind.identity.some((name) => kind.attributes[name]?.word === 'text')
  )
    return false;
  const identity = identityKey(kind, filled);
  const waits = draft.graph.dependencies.get(declaration.address) ?? [];
  return (
    identity !== undefined &&
    identity !== identityKey(kind, before) &&
    !waits.some((one) => draft.vacated.has(one))
  );
}
