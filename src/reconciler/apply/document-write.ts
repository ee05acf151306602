// Writes that contain more than the declared attributes: a PUT of a whole object, and every write to an object with a
// document. Right before such a write the object is read again. Undeclared attributes are sent with their live values,
// and the declared members of a document are merged into the live one. Afterwards they are compared (write-proof.ts).
import {
  isPartialDocument,
  recordFrom,
  refuse,
  same,
  secretsIn,
  type Attribute,
  type CloudReader,
  type Kind,
  type Live,
  type Request,
  type Value,
  type Values,
  type Write,
} from '../../model/index.js';
import { isMerged, mergedNames, namedPart } from '../plan/document-diff.js';
import { maskedWrite, wholeDocument } from '../plan/document-merge.js';
import { isApplied, withKept } from '../plan/diff.js';
import { withoutSecrets } from '../live-collections.js';
import type { Visibility } from '../recent-writes.js';

/** The object as it was read right before a write, and what its documents, and what was not sent, should be after it, by attribute. */
export interface DocumentWrite {
  readonly before: Live;
  readonly expected: Values;
  readonly fields: Values;
}

/** A write, made from a new reading. */
export interface PreparedWrite {
  readonly request: Request;
  readonly fields: Values;
  /** The object shows all of it already. */
  readonly unneeded?: true;
  /** For a kind that holds a document: what to compare after the write. */
  readonly document?: DocumentWrite;
}

/** Names of the documents that a write replaces whole. */
const replaced = (kind: Kind, { verb, fields, patch }: Write): readonly string[] =>
  verb !== 'update' || patch ? [] : mergedNames(kind).filter((name) => Object.hasOwn(fields, name));

export const replacesDocument = (kind: Kind, write: Write): boolean =>
  replaced(kind, write).length > 0;

/** True for a write that sends a whole object, or that may alter a document, even unintentionally. */
export const needsReading = (kind: Kind, { verb, patch }: Write): boolean =>
  verb === 'update' &&
  (mergedNames(kind).length > 0 || (patch !== true && kind.operations.update === 'PUT'));

/** Attributes that a PUT of a whole object does not send and must leave as they are. */
const unsent = (kind: Kind, { patch }: Write, fields: Values, live: Values): readonly string[] =>
  patch || kind.operations.update !== 'PUT'
    ? []
    : Object.entries(kind.attributes).flatMap(([name, { computed, secret }]) =>
        computed || secret || Object.hasOwn(fields, name) || !Object.hasOwn(live, name)
          ? []
          : [name],
      );

/** Code of the refusal of a write that is not needed any more. */
export const UNNEEDED = 'unneeded';

export interface Preparing {
  readonly kind: Kind;
  readonly write: Write;
  /** For messages. */
  readonly address: string;
  /** The object as the plan saw it, of its documents no more than is declared. */
  readonly planned: Values;
  readonly isOld?: Visibility['isOld'] | undefined;
}

/**
 * Reads the object again and makes the request from what is live now. Undefined where it is, or may be, older than what the plan
 * was made from: the service shows a change late.
 * @throws Refusal if the object cannot be read, is gone, holds a document of unknown form, would be sent a mask, or is not
 * as the plan saw it; with the code `unneeded` if it is as it should be.
 */
export async function prepare(
  cloud: Pick<CloudReader, 'find' | 'compose'>,
  { kind, write, address, planned, isOld = () => false }: Preparing,
): Promise<PreparedWrite | undefined> {
  const refused = (code: string, summary: string, detail = 'Plan again.'): never =>
    refuse(code, `${address} ${summary}`, { detail });
  const [live] = await cloud.find(kind, [write.id!]);
  // One reading is no proof of absence: the response to the delete does.
  if (!live && write.verb === 'delete') return { request: cloud.compose(kind, write), fields: {} };
  if (!live) return refused('gone', 'was deleted outside of trueup since the plan.');
  if (write.verb === 'delete') {
    if (isUnmoved(kind, planned, live.values))
      return { request: cloud.compose(kind, write), fields: {} };
    if (isOld(kind, planned, live)) return undefined;
    return refused('changed-since-plan', 'was changed outside of trueup since the plan.');
  }
  const [planned_at, now_at] = [versionIn(kind, planned), versionIn(kind, live.values)];
  if (planned_at !== undefined && now_at !== undefined && now_at < planned_at) return undefined;
  const fields = withKept(write, live.values);
  const unneeded = secretsIn(fields).size === 0 && isApplied(kind, fields, live);
  // Without a version, this reading may be older than the one that showed a difference: it is sent all the same.
  if (unneeded && now_at !== undefined) return refused(UNNEEDED, 'is as declared already.');
  const unreadable = mergedNames(kind).find(
    (name) => Object.hasOwn(fields, name) && !isPartialDocument(live.values[name]),
  );
  if (unreadable !== undefined)
    return refused(
      'unknown-form',
      `cannot be written: the live ${unreadable} is missing, or is not a list of an object and a list of paths.`,
      `Look at it: trueup get ${kind.name} ${live.id} -o json`,
    );
  const part = (values: Values): Values => namedPart(kind, fields, values, planned);
  const [then, now] = [
    part(withKept({ ...write, fields: planned }, live.values)),
    part(live.values),
  ];
  const moved = movedSince(kind, fields, then, now);
  if (isOld(kind, moved, live)) return undefined;
  const [changedOutside] = Object.keys(moved);
  if (changedOutside !== undefined)
    return refused(
      'changed-since-plan',
      `was changed outside of trueup since the plan: ${changedOutside}.`,
    );
  const masked = maskedWrite(kind, { ...write, fields }, live);
  if (masked) {
    const { what, out } = masked;
    return refused(
      'masked-configuration',
      `cannot be written: ${what}.`,
      `${out.charAt(0).toUpperCase()}${out.slice(1)}.`,
    );
  }
  const laid = (name: string): Value => wholeDocument(fields[name]!, live.values[name]);
  const sent = recordFrom(replaced(kind, write), laid);
  const expected = [...mergedNames(kind), ...unsent(kind, write, fields, live.values)].map(
    (name) => [name, Object.hasOwn(fields, name) ? laid(name) : (live.values[name] ?? null)],
  );
  return {
    request: cloud.compose(kind, { ...write, fields: { ...fields, ...sent }, live }),
    fields,
    ...(unneeded && { unneeded }),
    ...(expected.length > 0 && {
      document: { before: live, expected: Object.fromEntries(expected), fields },
    }),
  };
}

/** Of what is sent, what is neither as it was then nor as it is to be, with its value then. */
function movedSince(kind: Kind, fields: Values, then: Values, now: Values): Values {
  const isMoved = (name: string): boolean => {
    const attribute = kind.attributes[name]!;
    const isWanted = !isMerged(attribute) && same(attribute, fields[name], now[name]);
    return !isWanted && !same(attribute, then[name], now[name]);
  };
  return recordFrom(Object.keys(fields).filter(isMoved), (name) => then[name] ?? null);
}

/** The version of an object, if its kind has one. */
export function versionIn({ version }: Kind, values: Values): number | undefined {
  const value = version === undefined ? undefined : values[version];
  return typeof value === 'number' ? value : undefined;
}

/** True if the version shows that a reading is older than the write. */
export function isFromBefore(kind: Kind, before: Live, now: Live): boolean {
  const [earlier, later] = [versionIn(kind, before.values), versionIn(kind, now.values)];
  return earlier !== undefined && later !== undefined && later < earlier;
}

/** True if no attribute that is writable and readable has changed. */
export const isUnmoved = (kind: Kind, base: Values, live: Values): boolean =>
  Object.entries(kind.attributes).every(
    ([name, attribute]: readonly [string, Attribute]) =>
      attribute.computed ||
      attribute.secret ||
      same(attribute, base[name], withoutSecrets(kind.attributes, live)[name]),
  );
