// Near matches are suggested, never taken: a live object that resembles what is about to be made, and a new
// address that looks like an old one renamed.
import { munkres } from 'munkres';
import { same, shellWord, tryAddress, writables, type Change, type Create, type Delete, type Diagnostic, type Kind, type Kinds, type Live, type Values } from '../model/index.js';
import { identityKey, type Matcher } from './match.js';

/** Assignment is cubic: more than this is not compared. */
const BLOCK = 300;
/** Share of equal attributes from which two objects resemble each other. */
const RESEMBLANCE = 0.5;

export function suggestions(changes: readonly Change[], matcher: Matcher, kinds: Kinds): readonly Diagnostic[] {
  const creates = changes.filter((change): change is Create => change.action === 'create');
  const kindsMade = [...new Set(creates.map((change) => change.kind))].flatMap((name) => kinds.get(name) ?? []);
  const deletes = changes.filter((change): change is Delete => change.action === 'delete');
  return [
    ...kindsMade.flatMap((kind) =>
      renames(
        kind,
        creates.filter((one) => one.kind === kind.name),
        deletes,
      ),
    ),
    ...kindsMade.flatMap((kind) =>
      kind.identity === 'content'
        ? twins(
            kind,
            creates.filter((one) => one.kind === kind.name),
            matcher.unmanaged(kind),
          )
        : [],
    ),
  ];
}

function renames(kind: Kind, creates: readonly Create[], deletes: readonly Delete[]): readonly Diagnostic[] {
  const going = new Map(deletes.filter((one) => one.kind === kind.name).map((one) => [identityKey(kind, one.before), one]));
  return creates.flatMap((change): Diagnostic[] => {
    const old = going.size === 0 ? undefined : going.get(identityKey(kind, change.desired.declared));
    if (!old) return [];
    return [hint(change, 'looks-renamed', `${change.address} would be created with the identity of ${old.address}, which would be deleted.`, renaming(old, change))];
  });
}

/**
 * What to write or type to have nothing sent. A lifecycle stands beside a whole `for_each`: it can say that all
 * members had another name, but not that one of them had another key.
 */
function renaming(old: Delete, { address }: Create): string {
  const [former, now] = [tryAddress(old.address), tryAddress(address)];
  if (now?.key === undefined) return `If it was renamed, write lifecycle: { renamed_from: ${JSON.stringify(old.name)} }, and nothing is sent.`;
  const whole =
    now.key === former?.key ? `If the whole for_each was renamed, write lifecycle: { renamed_from: ${JSON.stringify(former.name)} } beside it, and nothing is sent.\n` : '';
  return `${whole}If ${whole === '' ? 'it' : 'this member alone'} was renamed, type this, and nothing is sent: trueup state mv ${shellWord(old.address)} ${shellWord(address)}`;
}

function twins(kind: Kind, creates: readonly Create[], unmanaged: readonly Live[]): readonly Diagnostic[] {
  if (creates.length === 0 || unmanaged.length === 0 || creates.length > BLOCK || unmanaged.length > BLOCK) return [];
  const likeness = creates.map((change) => unmanaged.map((live) => resemblance(kind, change.desired.declared, live.values)));
  return munkres(likeness.map((row) => row.map((value) => 1 - value))).flatMap(([row, column]): Diagnostic[] => {
    const change = creates[row];
    const live = unmanaged[column];
    if (!change || !live || (likeness[row]?.[column] ?? 0) < RESEMBLANCE) return [];
    const differing = writables(kind)
      .filter(([name, attribute]) => !same(attribute, change.desired.declared[name], live.values[name]))
      .map(([name]) => name);
    return [
      hint(
        change,
        'possible-duplicate',
        `${change.address} resembles the unmanaged ${kind.singular.replaceAll('_', ' ')} ${live.id} (it differs in ${differing.join(', ')}).`,
        `If it is the same, do not make it twice: trueup import ${shellWord(change.address)} ${shellWord(live.id)}`,
      ),
    ];
  });
}

/** Share of equal attributes among those that either side has. */
function resemblance(kind: Kind, declared: Values, live: Values): number {
  const present = writables(kind).filter(([name, attribute]) => !same(attribute, null, declared[name]) || !same(attribute, null, live[name]));
  const alike = present.filter(([name, attribute]) => same(attribute, declared[name], live[name]));
  return present.length === 0 ? 0 : alike.length / present.length;
}

const hint = (change: Create, code: string, summary: string, detail: string): Diagnostic => ({
  severity: 'info',
  code,
  summary,
  detail,
  address: change.address,
  ...(change.origin ? { origin: change.origin } : {}),
});
