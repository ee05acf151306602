// Judges a reading after a write: whether the write took effect, and whether it changed anything else of the object.
import {
  keyOf,
  same,
  type Change,
  type Diagnostic,
  type Entry,
  type Kind,
  type Live,
  type Outcome,
  type Values,
} from '../../model/index.js';
import { diff, driftOf, isApplied } from '../plan/diff.js';
import { aftermath, isMerged } from '../plan/document-diff.js';
import { isFromBefore, versionIn, type DocumentWrite } from './document-write.js';
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

/**
 * Compares the documents with a reading after the write, also after a PATCH and a PUT without the document: an error for members that were
 * live and are missing or altered, notes for what came from elsewhere.
 */
function verifyDocument(
  kind: Kind,
  address: string,
  { before, expected, fields }: DocumentWrite,
  now: Live,
): { readonly lost?: Diagnostic; readonly notes: readonly Diagnostic[] } {
  const [earlier, later] = [versionIn(kind, before.values), versionIn(kind, now.values)];
  const further = earlier !== undefined && later !== undefined && later > earlier + 1;
  const found = Object.entries(expected).map(([name, value]) => {
    const attribute = kind.attributes[name]!;
    if (isMerged(attribute)) return aftermath(name, value, now.values[name]);
    // If the version shows another write, the difference may come from that write.
    const altered = same(attribute, value, now.values[name]) ? [] : [name];
    return further ? { lost: [], added: altered } : { lost: altered, added: [] };
  });
  const [lost, added] = [found.flatMap((one) => one.lost), found.flatMap((one) => one.added)];
  const versions = further
    ? `${kind.version} went from ${earlier} to ${later}, and this write accounts for one step`
    : undefined;
  const notes = [
    ...(added.length > 0
      ? [`members that this write did not set are live: ${added.join(', ')}`]
      : []),
    ...(versions === undefined ? [] : [`${versions}: somebody else changed it meanwhile`]),
    ...(isFromBefore(kind, before, now) ||
    (later !== undefined && later === earlier && isApplied(kind, fields, before))
      ? [`${kind.version} is still ${later}, so the reading may be from before the write`]
      : []),
  ];
  return {
    ...(lost.length > 0 && {
      lost: {
        severity: 'error',
        code: 'members-lost',
        summary: `${address}: members that were live before the write are gone or altered: ${lost.join(', ')}.`,
        detail: `${versions === undefined ? '' : `${versions[0]?.toUpperCase()}${versions.slice(1)}. `}What is declared was written. To have them again, declare them. Look at the object now: trueup get ${kind.name} ${now.id} -o json`,
        address,
      },
    }),
    notes: notes.map((text) => ({
      severity: 'info',
      code: 'changed-meanwhile',
      summary: `${address}: ${text}.`,
      address,
    })),
  };
}

const doubtful = (address: string, code: string, summary: string): Diagnostic => ({
  severity: 'error',
  code,
  summary,
  detail: 'Plan again to see what is there.',
  address,
});

const notAsDeclared = (address: string, paths: readonly string[]): Diagnostic =>
  doubtful(
    address,
    'not-as-declared',
    `${address}: the update took effect, but ${paths.join(', ')} is not as declared after it.`,
  );

/** What the service returned to a request that counts as done. */
const returned = (toldGone: boolean): string =>
  `the service returned ${toldGone ? 'that there is no such object' : 'success'}`;

export const stillThere = (change: Change, toldGone = false): Diagnostic =>
  doubtful(
    change.address,
    'still-there',
    `${keyOf(change)}: ${returned(toldGone)}, but ${toldGone ? 'it' : 'the object'} is still there.`,
  );

/** Dotted paths in which a reading is not what was sent. */
export const differing = (
  kind: Kind,
  fields: Values | undefined,
  live: Live | undefined,
): readonly string[] =>
  fields && live
    ? diff({ kind, declared: fields, live, secret: () => 'same' }).map(({ path }) => path)
    : [];

const IGNORED =
  'If another apply ends in the same way, the service ignores this part of the request: change it in the service, or leave it out of the declaration.';

/** A success that a reading does not bear out. */
export function unproven(
  address: string,
  shown: Exclude<Shown, 'taken'> | 'interrupted',
  paths: readonly string[] = [],
  toldGone = false,
): Diagnostic {
  const [code, seen] = (
    {
      unread: ['unread', 'the reading after it failed'],
      interrupted: ['unread', 'it was not read after that'],
      earlier: ['not-shown', `${paths.join(', ') || 'it'} still shows the earlier value`],
      other: ['not-taken', `${paths.join(', ') || 'what it holds'} is not what was sent`],
    } as const
  )[shown];
  const one = doubtful(address, code, `${address}: ${returned(toldGone)}, but ${seen}.`);
  return shown === 'earlier' ? { ...one, detail: `${one.detail}\n${IGNORED}` } : one;
}
