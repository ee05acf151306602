// A new address that is probably an old one renamed: suggested, never assumed.
import {
  append,
  defined,
  firstNamed,
  shellWord,
  tryAddress,
  type Change,
  type Create,
  type Delete,
  type Diagnostic,
  type Observed,
} from '../../model/index.js';
import { identityKey, ownRoot } from './match.js';
import { movedBlock } from './plan-errors.js';
import type { LiveCollections } from '../live-collections.js';

/** What a note names at most. */
const FEW = 3;

export function renameHints(
  changes: readonly Change[],
  liveObjects: LiveCollections,
): readonly Diagnostic[] {
  const creates = changes.filter((change): change is Create => change.action === 'create');
  const deletes = changes.filter(
    (change): change is Delete => change.action === 'delete' && !change.deposed,
  );
  if (creates.length === 0 || deletes.length === 0) return [];
  const waiting = new Map<string, string[]>();
  for (const { address, depends_on } of creates)
    for (const one of depends_on) append(waiting, one, address);
  return [...liveObjects.values()].flatMap(({ kind, byId }) =>
    renames(
      { kind, byId },
      creates.filter((one) => one.kind === kind.name),
      deletes.filter((one) => one.kind === kind.name),
      waiting,
    ),
  );
}

/** @param waiting what is created, by what it depends on */
function renames(
  { kind, byId }: Observed,
  creates: readonly Create[],
  deletes: readonly Delete[],
  waiting: ReadonlyMap<string, readonly string[]>,
): readonly Diagnostic[] {
  const root = ownRoot({ kind, byId });
  const going = new Map(deletes.map((one) => [identityKey(kind, one.before), one]));
  return creates.flatMap((change): Diagnostic | [] => {
    const old =
      going.size === 0
        ? undefined
        : going.get(identityKey(kind, { ...root, ...change.declaredObject.declared }));
    if (!old) return [];
    const { address } = change;
    const summary = `${address} would be created with the identity of ${old.address}, which would be deleted.`;
    return {
      severity: 'info',
      code: 'looks-renamed',
      summary,
      detail: renaming(old, change, waiting.get(address)),
      address,
      ...defined({ origin: change.origin }),
    };
  });
}

/** Begins the line with the command that changes the state. */
export const WITHOUT_REVIEW = 'The same without a review: ';

/**
 * The declaration or command with which a rename sends nothing. A lifecycle applies to a whole `for_each`: it can say
 * that all members had another name, but not that one of them had another key. In a template it applies
 * to every use, and a stack of a CDK program has none.
 * @param waiting what depends on the object and would still be created
 */
export function renaming(
  old: Pick<Delete, 'address' | 'name'>,
  { address, origin }: Pick<Create, 'address' | 'origin'>,
  waiting: readonly string[] = [],
): string {
  const [former, now] = [tryAddress(old.address), tryAddress(address)];
  const isMade = origin?.used_at !== undefined || origin?.path !== undefined;
  const written = (name: string, from: string, to: string): string =>
    isMade
      ? `write \`${movedBlock(from, to)}\``
      : `write \`lifecycle: { renamed_from: ${JSON.stringify(name)} }\``;
  const [nothing, still] =
    waiting.length === 0
      ? ['and nothing is sent.', '']
      : [
          'and nothing is sent for it.',
          `\nWhat depends on it would still be created, unless it is renamed, too: ${firstNamed(waiting, FEW)}`,
        ];
  const command = `${WITHOUT_REVIEW}trueup state mv ${shellWord(old.address)} ${shellWord(address)}${still}`;
  if (now?.key === undefined)
    return `If it was renamed, ${written(old.name, old.address, address)}, ${nothing}\n${command}`;
  const whole =
    now.key === former?.key
      ? `If the whole for_each was renamed, ${written(former.name, `${former.kind}.${former.name}`, `${now.kind}.${now.name}`)}${isMade ? '' : ' beside it'}, ${nothing}\n`
      : '';
  return `${whole}If ${whole === '' ? 'it' : 'this member alone'} was renamed, write \`${movedBlock(old.address, address)}\`, ${nothing}\n${command}`;
}
