// A new address that looks like an old one renamed: suggested, never taken.
import { type Change, type Create, type Delete, type Diagnostic, type Kind, type Kinds } from '../model/index.js';
import { identityKey } from './match.js';

export function suggestions(changes: readonly Change[], kinds: Kinds): readonly Diagnostic[] {
  const creates = changes.filter((change): change is Create => change.action === 'create');
  const deletes = changes.filter((change): change is Delete => change.action === 'delete');
  if (creates.length === 0 || deletes.length === 0) return [];
  return [...kinds.values()].flatMap((kind) =>
    renames(
      kind,
      creates.filter((one) => one.kind === kind.name),
      deletes.filter((one) => one.kind === kind.name),
    ),
  );
}

function renames(kind: Kind, creates: readonly Create[], deletes: readonly Delete[]): readonly Diagnostic[] {
  const going = new Map(deletes.map((one) => [identityKey(kind, one.before), one]));
  return creates.flatMap((change): Diagnostic[] => {
    const old = going.size === 0 ? undefined : going.get(identityKey(kind, change.desired.declared));
    if (!old) return [];
    return [
      hint(
        change,
        'looks-renamed',
        `${change.address} is what ${old.address} was, which goes.`,
        `If it was renamed, write lifecycle: { renamed_from: ${JSON.stringify(old.name)} }, and nothing is sent.`,
      ),
    ];
  });
}

const hint = (change: Create, code: string, summary: string, detail: string): Diagnostic => ({
  severity: 'info',
  code,
  summary,
  detail,
  address: change.address,
  ...(change.origin ? { origin: change.origin } : {}),
});
