// The next steps for the drift issue, as a pure function of the findings of an audit and of the previous audit in the
// issue. An incomplete audit proves neither that the drift has ended nor that it has changed.
import { digest, type DriftDocument } from '../../model/index.js';

export interface AuditResult {
  /** `incomplete`: something could not be checked, or nothing at all. */
  readonly found: 'clean' | 'drift' | 'incomplete';
  /** Of what drifted; `none` where nothing did. */
  readonly digest: string;
}

/** The content of the hidden line of the issue. */
export interface StoredDigest {
  readonly digest: string | undefined;
  /** True if the previous audit was incomplete, and a comment reported that. */
  readonly outage: boolean;
}

export interface Steps {
  /** `create` makes the issue; `report` writes the whole of it; `note` its hidden line alone. */
  readonly write: 'create' | 'report' | 'note';
  readonly open?: boolean;
  readonly comment?: 'clean' | 'outage';
  readonly note: { readonly digest: string; readonly outage: boolean };
}

export const NONE = 'none';

/** Undefined where there is nothing to write. @param issue the newest with the marker */
export function stepsFor(
  audited: AuditResult,
  issue: { readonly open: boolean; readonly stored: StoredDigest } | undefined,
): Steps | undefined {
  if (audited.found === 'incomplete') return afterOutage(audited, issue);
  const note = { digest: audited.digest, outage: false };
  if (!issue) return audited.found === 'clean' ? undefined : { write: 'create', note };
  const { open, stored } = issue;
  if (audited.found === 'clean') {
    if (open) return { write: 'note', open: false, comment: 'clean', note };
    return stored.digest === NONE ? undefined : { write: 'note', note };
  }
  // A person may close the issue of drift that is to stay: only other drift opens it again.
  if (stored.digest !== audited.digest) return { write: 'report', open: true, note };
  return stored.outage ? { write: 'note', note } : undefined;
}

/** One comment for each outage. Drift that was found all the same is reported where no open issue reports any. */
function afterOutage(
  { digest: found }: AuditResult,
  issue: Parameters<typeof stepsFor>[1],
): Steps | undefined {
  const note = { digest: found, outage: true };
  if (!issue) return found === NONE ? undefined : { write: 'create', note };
  const { open, stored } = issue;
  if (!open)
    return found !== NONE && stored.digest === NONE
      ? { write: 'report', open: true, note }
      : undefined;
  if (stored.outage) return undefined;
  return {
    write: 'note',
    comment: 'outage',
    note: { digest: stored.digest ?? NONE, outage: true },
  };
}

/** The same for the same drift, whenever it is read. @param unmanagedCounts whether unmanaged objects are drift */
export function driftDigest(
  { drift, expectations, unmanaged_objects: unmanaged }: DriftDocument,
  { found, unmanagedCounts }: Pick<AuditResult, 'found'> & { readonly unmanagedCounts: boolean },
): string {
  const parts = {
    drift: drift
      .filter(({ status }) => status !== 'settled')
      .map(({ address, id, status, changes, changed_by: by }) => ({
        address,
        id,
        status,
        changes,
        by: by === 'unknown' ? null : { actor: by.actor, at: by.at },
      })),
    expectations: expectations
      .filter(({ verdict }) => verdict === 'failed')
      .map(({ name, offenders }) => ({ name, offenders: offenders.map(({ id }) => id) })),
    unmanaged: unmanagedCounts ? unmanaged.map(({ kind, id }) => ({ kind, id })) : [],
  };
  const nothing = Object.values(parts).every(({ length }) => length === 0);
  return nothing && found !== 'drift' ? NONE : digest(parts);
}
