// Writes to objects that hold a document. Right before such a write the object is read again. A PUT that replaces the
// document carries the whole: the declared members laid over what is live then. Afterwards everything is compared, also
// after a PATCH and a PUT without the document: what was live before and is gone or altered is an error.
import {
  isPartialDocument,
  Refusal,
  same,
  secretsIn,
  type Attribute,
  type CloudReader,
  type Diagnostic,
  type Kind,
  type Live,
  type Request,
  type Sent,
  type Value,
  type Values,
  type Write,
} from '../../model/index.js';
import { aftermath, mergedNames, ours, wholeDocument } from '../plan/document-diff.js';
import { taken } from '../plan/diff.js';
import { maskedWords, masksSent } from '../plan/masked-configuration.js';

/** The object as it was read right before a write, and what its documents should be after it, by attribute. */
export interface DocumentWrite {
  readonly before: Live;
  readonly expected: Values;
}

/** The request to send; what there is to say instead; or nothing to do, because the object is as it should be. */
export type Ready =
  | { readonly request: Request; readonly document: DocumentWrite }
  | { readonly refused: Sent }
  | 'unneeded';

/** Names of the documents that a write replaces whole. */
const replaced = (kind: Kind, { verb, fields, patch }: Write): readonly string[] =>
  verb !== 'update' || patch ? [] : mergedNames(kind).filter((name) => Object.hasOwn(fields, name));

export const replacesDocument = (kind: Kind, write: Write): boolean =>
  replaced(kind, write).length > 0;

/** Whether a write may alter a document, intended or not. */
export const touchesDocument = (kind: Kind, { verb }: Write): boolean =>
  verb === 'update' && mergedNames(kind).length > 0;

export interface Preparing {
  readonly kind: Kind;
  readonly write: Write;
  /** For messages. */
  readonly address: string;
  /** The object as the plan saw it, of its documents no more than is declared. */
  readonly planned: Values;
}

/**
 * Reads the object again and makes the request from what is live now. Refuses if the object cannot be read, is gone, holds
 * a document of unknown form, would be sent a mask, or (for a PUT) has a declared member that changed since the plan.
 */
export async function prepare(
  cloud: Pick<CloudReader, 'find' | 'compose'>,
  { kind, write, address, planned }: Preparing,
): Promise<Ready> {
  const refused = (code: string, summary: string, detail = 'Plan again.'): Ready => ({
    refused: {
      class: 'rejected',
      diagnostic: { severity: 'error', code, summary: `${address} ${summary}`, detail },
    },
  });
  let live: Live | undefined;
  try {
    [live] = await cloud.find(kind, [write.id as string]);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      refused: {
        class: 'not_sent',
        ...(error.diagnostics[0] && { diagnostic: error.diagnostics[0] }),
      },
    };
  }
  if (!live) return refused('gone', 'was deleted outside of trueup since the plan.');
  const { fields } = write;
  if (secretsIn(fields).size === 0 && taken(kind, fields, live)) return 'unneeded';
  const unreadable = mergedNames(kind).find(
    (name) => Object.hasOwn(fields, name) && !isPartialDocument(live.values[name]),
  );
  if (unreadable !== undefined)
    return refused(
      'unknown-form',
      `cannot be written: the live ${unreadable} is missing, or is no list of an object and a list of paths.`,
      `Look at it: trueup get ${kind.name} ${live.id} -o json`,
    );
  const now = ours(kind, fields, live.values, planned);
  // A PATCH takes nothing from others; a PUT must not undo what they did to the members that are declared.
  const changedOutside = write.patch
    ? undefined
    : Object.keys(fields).find(
        (name) => !same(kind.attributes[name] as Attribute, planned[name], now[name]),
      );
  if (changedOutside !== undefined)
    return refused(
      'changed-since-plan',
      `was changed outside of trueup since the plan: ${changedOutside}.`,
    );
  const masks = masksSent(kind, write, live);
  if (masks.length > 0) {
    const { what, out } = maskedWords(masks);
    return refused(
      'masked-configuration',
      `cannot be written: ${what}.`,
      `${out.charAt(0).toUpperCase()}${out.slice(1)}.`,
    );
  }
  const laid = (name: string): Value => wholeDocument(fields[name] as Value, live.values[name]);
  const sent = Object.fromEntries(replaced(kind, write).map((name) => [name, laid(name)]));
  const expected = Object.fromEntries(
    mergedNames(kind).map((name) => [
      name,
      Object.hasOwn(fields, name) ? laid(name) : (live.values[name] ?? null),
    ]),
  );
  return {
    request: cloud.compose(kind, { ...write, fields: { ...fields, ...sent } }),
    document: { before: live, expected },
  };
}

/** What a reading after the write says of the documents: an error for what is lost, notes for what came from elsewhere. */
export function verifyDocument(
  kind: Kind,
  address: string,
  { before, expected }: DocumentWrite,
  now: Live,
): { readonly lost?: Diagnostic; readonly notes: readonly Diagnostic[] } {
  const found = Object.entries(expected).map(([name, value]) =>
    aftermath(name, value, now.values[name]),
  );
  const [lost, added] = [found.flatMap((one) => one.lost), found.flatMap((one) => one.added)];
  const [earlier, later] = [versionOf(kind, before), versionOf(kind, now)];
  const further = earlier !== undefined && later !== undefined && later > earlier + 1;
  const versions = further
    ? `version_number went from ${earlier} to ${later}, and this write accounts for one step`
    : undefined;
  const notes = [
    ...(added.length > 0
      ? [`members that this write did not set are live: ${added.join(', ')}`]
      : []),
    ...(versions === undefined ? [] : [`${versions}: somebody else changed it meanwhile`]),
  ];
  return {
    ...(lost.length > 0 && {
      lost: {
        severity: 'error',
        code: 'members-lost',
        summary: `${address}: members that were live before the write are gone or altered: ${lost.join(', ')}.`,
        detail: `${versions === undefined ? '' : `${versions[0]?.toUpperCase()}${versions.slice(1)}. `}Look at the object now: trueup get ${kind.name} ${now.id} -o json`,
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

function versionOf({ version }: Kind, { values }: Live): number | undefined {
  const value = version === undefined ? undefined : values[version];
  return typeof value === 'number' ? value : undefined;
}
