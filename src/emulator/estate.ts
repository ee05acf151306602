// The whole cloud as one JSON document: the content of a seed file, of a snapshot and of the data file. Records are
// written as the API returns them or shorter: missing fields get their defaults, references may be ids or URLs.
import {
  defined,
  idOf,
  isObject,
  mapMembers,
  own,
  refuse,
  tryJson,
  type Attribute,
  type Collection,
  type Collections,
  type Json,
  type JsonObject,
  type Kinds,
  isList,
} from '../model/index.js';
import { LIVE_MASK, veiled } from './configuration.js';
import { blank, entriesOf, type StoredRecord } from './records.js';

export interface User {
  readonly id: string;
  readonly email: string;
}

export interface Estate {
  readonly version: 1;
  /** The account the keys belong to; absent: the first one without a parent. */
  readonly root?: string;
  /** The next numeric id to give. */
  readonly next_id?: number;
  /** By name of the kind or collection, in the order of listings. */
  readonly records: Readonly<Record<string, readonly JsonObject[]>>;
  readonly users?: readonly User[];
  /** Content that keeps an account from being deleted, beside sub-accounts, by account id: `{ "12": "routers" }`. */
  readonly occupied?: Readonly<Record<string, string>>;
  /** Oldest first, as the API gives them, with the id of the `account` beside. */
  readonly activity_logs?: readonly JsonObject[];
  /** Later changes, in order. */
  readonly changes?: readonly EstateStep[];
}

/** A change of one record, as a line of a data file holds it. */
export interface EstateStep {
  /** Name of the kind or collection, or `activity_logs`. */
  readonly in: string;
  /** Which record of a kind. */
  readonly id?: string;
  /** Which place of any other list; absent: a new one. */
  readonly at?: number;
  /** The new record; absent: it is deleted. */
  readonly put?: JsonObject;
  /** A new record stands before all others, not behind them. */
  readonly first?: true;
}

/** The smallest cloud there is: one account, the keys' own. */
export const bareEstate: Estate = {
  version: 1,
  root: '1',
  next_id: 2,
  records: { accounts: [{ id: '1', name: 'Headquarters', account: null }] },
};

/**
 * An estate as JSON, or the data file of an emulator that was not ended in good order: the estate in its first line,
 * then a list of steps a line. A torn last line is dropped.
 * @throws Refusal where the text is none of these. `file` is for the message.
 */
export function parseEstate(text: string, file: string): Estate {
  const complain = (why: string): never =>
    refuse('bad-estate', `${file} is not the data of an emulator: ${why}`, {
      detail: 'Expected {"version": 1, "records": {"accounts": [{"id": "1", "name": "…"}], …}}.',
    });
  const [first = '', ...lines] = text.split('\n');
  const head = tryJson(first);
  const value = isObject(head) ? head : tryJson(text);
  if (value === undefined) return complain('it is not JSON');
  if (!isObject(value) || value.version !== 1) return complain('its version is not 1');
  if (!isObject(value.records)) return complain('it has no records');
  for (const [kind, list] of Object.entries(value.records))
    if (!Array.isArray(list) || !list.every(isObject))
      complain(`records.${kind} is not a list of records`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked above
  const estate = value as unknown as Estate;
  return value === head
    ? { ...estate, changes: changesOf(lines, (line) => complain(`line ${line} holds no changes`)) }
    : estate;
}

/** @param complain is given the number of a line that is damaged and not the last one */
function changesOf(
  lines: readonly string[],
  complain: (line: number) => never,
): readonly EstateStep[] {
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, last + 1).flatMap((line, index) => {
    const steps = tryJson(line);
    if (steps === undefined && index === last) return [];
    return Array.isArray(steps) && steps.every(isStep) ? steps : complain(index + 2);
  });
}

function isStep(value: unknown): value is EstateStep {
  if (!isObject(value) || typeof value.in !== 'string') return false;
  const { id, at, put } = value;
  return (
    (id === undefined || typeof id === 'string') &&
    (at === undefined || Number.isSafeInteger(at)) &&
    (put === undefined || isObject(put))
  );
}

/** Gives what a seed left out and has no neutral default (ids, times, the own account). */
export type Fill = (name: string, attribute: Attribute) => Json | undefined;

/** The record as it is stored: every field present but `resource_url`, references as ids, secrets as their mask. */
export function completed(kind: Collection, seed: JsonObject, fill: Fill): StoredRecord {
  const out: Record<string, Json> = {};
  for (const [name, attribute] of entriesOf(kind.attributes)) {
    if (name === 'resource_url') continue;
    const given = own(seed, name);
    out[name] =
      given === undefined ? (fill(name, attribute) ?? blank(attribute)) : stored(attribute, given);
  }
  if (kind.id !== undefined) out[kind.id] = String(out[kind.id]);
  return out;
}

function stored(attribute: Attribute, value: Json): Json {
  if (attribute.secret === true) return LIVE_MASK;
  if (value === null) return null;
  if (attribute.wire === 'merge') return veiled(value);
  if (attribute.word === 'ref') return idOf(value);
  if ((attribute.word === 'list' || attribute.word === 'set') && isList(value))
    return value.map((item) => stored(attribute.of, item));
  if (attribute.word !== 'object' || !isObject(value)) return value;
  return mapMembers(value, (item, name) =>
    attribute.attributes[name] ? stored(attribute.attributes[name], item) : item,
  );
}

/** @throws Refusal for records of kinds that do not exist here. */
export function checkKinds(estate: Estate, kinds: Kinds, collections: Collections): void {
  const changed = (estate.changes ?? []).map((step) => step.in);
  const named = [
    ...Object.keys(estate.records),
    ...changed.filter((name) => name !== 'activity_logs'),
  ];
  const strange = named.find((name) => !kinds.has(name) && !collections.has(name));
  if (strange !== undefined)
    refuse('bad-estate', `the emulator has no kind named ${JSON.stringify(strange)}`, {
      detail: `Its kinds are ${[...new Set([...kinds.keys(), ...collections.keys()])].join(', ')}.`,
    });
}

/** The users and routers that an estate only mentions, as records: those with roles, and those with a configuration manager. */
export function withMentioned(estate: Estate, kinds: Kinds): Estate {
  const { records, users: people = [] } = estate;
  const managed = new Map(
    (records.configuration_managers ?? []).map(
      (one) => [idOf(one.router ?? null), one.account] as const,
    ),
  );
  const found = [...managed].flatMap(([router, account]): JsonObject[] =>
    router === null ? [] : [{ id: router, name: `Router ${router}`, ...defined({ account }) }],
  );
  const mentioned = {
    routers: found,
    users: people.map((one) => ({ ...one, user_id: one.id, is_active: true })),
  };
  const known = Object.entries(mentioned).filter(([name]) => kinds.has(name));
  return { ...estate, records: { ...Object.fromEntries(known), ...records } };
}
