// Judges a reading after a write: whether the write took effect, and whether it changed anything else of the object.
import {
  keyOf,
  type Change,
  type Diagnostic,
  type Entry,
  type Kind,
  type Live,
  type Outcome,
  type Values,
} from '../../model/index.js';
import { diff, driftOf } from '../plan/diff.js';
import { verifyDocument } from './document-write.js';
import type { SentFields, Shown } from './read-back.js';

export interface Proof {
  readonly change: Change;
  readonly shown: Shown;
  readonly live?: Live;
  /** Why the write counts as not done after all. */
  readonly failure?: {
    readonly outcome: Extract<Outcome['outcome'], 'failed' | 'unknown'>;
    readonly diagnostic: Diagnostic;
  };
  readonly notes: readonly Diagnostic[];
}

interface Compared extends Partial<SentFields> {
  readonly kind: Kind;
  readonly change: Change;
}

/** Compares what a write did not send: the rest of a document, and what else is declared. */
export function compare(
  { kind, change, document, fields }: Compared,
  live: Live | undefined,
  entry: Entry | undefined,
): Pick<Proof, 'failure' | 'notes'> {
  if (!live || !fields) return { notes: [] };
  const { lost, notes } = document
    ? verifyDocument(kind, change.address, document, live)
    : { notes: [] };
  const paths =
    entry?.id === live.id ? driftOf(kind, entry.applied, live).map(({ path }) => path) : [];
  const diagnostic = lost ?? (paths.length > 0 ? notAsDeclared(change.address, paths) : undefined);
  return { ...(diagnostic && { failure: { outcome: 'failed', diagnostic } }), notes };
}

const notAsDeclared = (address: string, paths: readonly string[]): Diagnostic => ({
  severity: 'error',
  code: 'not-as-declared',
  summary: `${address}: the update took effect, but ${paths.join(', ')} is not as declared after it.`,
  detail: 'Plan again to see what is there.',
  address,
});

export const stillThere = (change: Change): Diagnostic => ({
  severity: 'error',
  code: 'still-there',
  summary: `${keyOf(change)}: the service answered with success, but the object is still there.`,
  detail: 'Plan again to see what is there.',
  address: change.address,
});

/** Dotted paths in which a reading is not what was sent. */
export const differing = (
  kind: Kind,
  fields: Values | undefined,
  live: Live | undefined,
): readonly string[] =>
  fields && live
    ? diff({ kind, declared: fields, live, secret: () => 'same' }).map(({ path }) => path)
    : [];

/** A success that a reading does not bear out. */
export function unproven(
  address: string,
  shown: Exclude<Shown, 'taken'>,
  paths: readonly string[] = [],
): Diagnostic {
  const [code, seen] = (
    {
      unread: ['unread', 'the reading after it failed'],
      earlier: ['not-shown', `${paths.join(', ') || 'it'} still shows the earlier value`],
      other: ['not-taken', `${paths.join(', ') || 'what it holds'} is not what was sent`],
    } as const
  )[shown];
  return {
    severity: 'error',
    code,
    summary: `${address}: the service answered with success, but ${seen}.`,
    detail: 'Plan again to see what is there.',
    address,
  };
}
