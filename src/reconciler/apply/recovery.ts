// Settles a create whose outcome is unknown: wait until it can no longer take effect, list until two listings agree,
// and bind the one new object of equal content. If it had no effect, the run may send it again, under a new intent. A
// person decides unclear cases.
import {
  ageOf,
  cached,
  defined,
  exits,
  keptMembers,
  objectsIn,
  refuse,
  Refusal,
  resultRecord,
  same,
  SENSITIVE,
  uuidTicks,
  writables,
  shellWord,
  type Diagnostic,
  type Entry,
  type Intent,
  type Json,
  type JsonObject,
  type Kind,
  type Kinds,
  type Live,
  type Moment,
  type Outcome,
  type Result,
  type RunRecord,
  type Spent,
  type State,
  redactAll,
} from '../../model/index.js';
import type { Session } from '../../state/store-port.js';
import { isApplied } from '../plan/diff.js';
import { unproven } from './write-proof.js';
import { nowOf, waitFor } from '../recent-writes.js';
import { RENEWAL } from './journal-intent.js';
import { comparableText, ownRoot } from '../plan/match.js';
import { secretless, storedValues } from '../live-collections.js';
import type { PlanContext } from '../plan/propose.js';

/** Listings of one kind before giving up on two that agree. */
const LISTINGS = 6;

export interface RecoveryContext extends Omit<PlanContext, 'rules'> {
  readonly signal: AbortSignal;
}

export type Settled =
  | {
      readonly intent: Intent;
      readonly verdict: 'applied';
      readonly live: Live;
      /** Attributes that the object holds otherwise than they were sent; its id was in the response. */
      readonly differing?: readonly string[];
    }
  | { readonly intent: Intent; readonly verdict: 'absent' }
  | Undecided;

/** A person has to decide whether one of the candidates is the created object. */
export interface Undecided {
  readonly intent: Intent;
  readonly verdict: 'undecided';
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  readonly id: string;
  /** Attributes that differ from the request; empty for an object of equal content. */
  readonly differing: readonly string[];
}

export const isUndecided = (settled: Settled): settled is Undecided =>
  settled.verdict === 'undecided';

/**
 * Settles creates without a response. Objects of `entries` are managed already; `age` is the least number of milliseconds
 * since the last request was sent.
 * @throws Refusal when a listing cannot be proven complete; the signal's reason when interrupted.
 */
export async function settle(
  looker: RecoveryContext,
  intents: readonly Intent[],
  entries: readonly Entry[],
  age: number,
): Promise<readonly Settled[]> {
  const owned = new Set(entries.flatMap(objectsIn));
  await waitUntilLanded(looker, intents, age);
  const names = [...new Set(intents.map((intent) => intent.kind))];
  const settled: Settled[] = [];
  for (const name of names) {
    const kind = looker.kinds.get(name)!;
    const objects = await stableListing(looker, kind);
    const byId = new Map(objects.map((live) => [live.id, live]));
    const root = redactAll(ownRoot({ kind, byId }));
    const mine = intents.filter((intent) => intent.kind === name);
    const free = objects.filter((live) => !owned.has(`${name} ${live.id}`));
    const alike = await hiddenAlike(looker, kind, mine, free);
    settled.push(
      ...decide(kind, mine, free, (intent, live) => [
        ...differing(kind, { ...root, ...intent.body }, live, intent.hidden?.names),
        ...(intent.hidden && !alike(intent, live) ? intent.hidden.names : []),
      ]),
    );
  }
  return settled;
}

/** Compares the values that an intent holds only as fingerprints. */
async function hiddenAlike(
  { fingerprints }: RecoveryContext,
  kind: Kind,
  intents: readonly Intent[],
  objects: readonly Live[],
): Promise<(intent: Intent, live: Live) => boolean> {
  const alike = new Set<string>();
  for (const intent of intents) {
    const { op, hidden } = intent;
    if (!hidden) continue;
    const asked = objects.filter((live) => isNew(intent, live));
    const known = asked.map(({ values }) => ({
      value: comparableText(kind, hidden.names, values),
      fingerprint: hidden.fingerprint,
      asked: true,
    }));
    const found = await fingerprints.compare({ secrets_salt: hidden.salt }, known, () => undefined);
    asked.forEach(({ id }, index) => found[index] && alike.add(`${op} ${id}`));
  }
  return ({ op }, { id }) => alike.has(`${op} ${id}`);
}

async function waitUntilLanded(
  looker: RecoveryContext,
  intents: readonly Intent[],
  age: number,
): Promise<void> {
  const wait = looker.settleMilliseconds - Math.max(0, age);
  if (intents.length === 0 || wait <= 0) return;
  const [first] = intents;
  const what =
    intents.length === 1
      ? `the ${first!.action} of ${first!.address}`
      : `${intents.length} requests`;
  await waitFor(looker, `until ${what} can no longer take effect`, wait);
}

async function stableListing(
  { cloud, clock, signal, settleMilliseconds }: RecoveryContext,
  kind: Kind,
): Promise<readonly Live[]> {
  let before: string | undefined;
  for (let round = 0; round < LISTINGS; round += 1) {
    const { objects } = await cloud.list(kind);
    const ids = objects
      .map((live) => live.id)
      .toSorted()
      .join(' ');
    if (ids === before) return secretless(kind, objects);
    before = ids;
    await clock.sleep(Math.min(1000, settleMilliseconds), signal);
  }
  return refuse(
    'unsettled',
    `The listing of ${kind.name} kept changing while trueup searched it for an interrupted create.`,
    { detail: 'Run apply again when nobody else is changing objects of the service.' },
    exits.undecided,
  );
}

/**
 * Intents of one kind against the objects nobody manages. Nothing is made beside an object of equal content that was not
 * there before.
 * @param unlike names of attributes in which an object is not what was sent
 */
export function decide(
  kind: Kind,
  intents: readonly Intent[],
  objects: readonly Live[],
  unlike: (intent: Intent, live: Live) => readonly string[] = ({ body = {} }, live) =>
    differing(kind, body, live),
): readonly Settled[] {
  const claimed = new Set<string>();
  const out: Settled[] = [];
  for (const intent of intents) {
    const equals = objects.filter(
      (live) =>
        !claimed.has(live.id) &&
        !intent.preimage?.includes(live.id) &&
        unlike(intent, live).length === 0,
    );
    const equalIntents = intents.filter(
      (other) => other.content === intent.content && !out.some((done) => done.intent === other),
    ).length;
    const [live] = equals.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    if (live && equals.length <= equalIntents && equals.every((one) => isNew(intent, one))) {
      claimed.add(live.id);
      out.push({ intent, verdict: 'applied', live });
    } else
      out.push(
        live
          ? {
              intent,
              verdict: 'undecided',
              candidates: equals.map(({ id }) => ({ id, differing: [] })),
            }
          : { intent, verdict: 'absent' },
      );
  }
  return out.map((one) => {
    const others =
      one.verdict === 'absent'
        ? objects.filter((live) => !claimed.has(live.id) && isNew(one.intent, live))
        : [];
    const candidates = others.map((live) => ({ id: live.id, differing: unlike(one.intent, live) }));
    const live = others.find(({ id }) => id === one.intent.answered);
    if (live) {
      claimed.add(live.id);
      return { intent: one.intent, verdict: 'applied', live, differing: unlike(one.intent, live) };
    }
    return candidates.length > 0 ? { intent: one.intent, verdict: 'undecided', candidates } : one;
  });
}

/** True if an object was created after the listing before the intent: its id is above all ids of that listing. Uses no clock. */
function isNew({ preimage, newest, highest }: Intent, { id }: Live): boolean {
  if (preimage?.includes(id)) return false;
  const [born, last] = [uuidTicks(id), newest === undefined ? undefined : uuidTicks(newest)];
  if (born !== undefined) return last === undefined || born > last;
  return highest === undefined || !/^\d+$/.test(id) || BigInt(id) > BigInt(highest);
}

/** Attributes in which an object is not what was sent; where content is identity, what was not sent has to be empty. */
function differing(
  kind: Kind,
  body: JsonObject,
  live: Live,
  hidden: readonly string[] = [],
): readonly string[] {
  return writables(kind).flatMap(([name, attribute]) => {
    if (hidden.includes(name)) return [];
    const alike = Object.hasOwn(body, name)
      ? same(attribute, body[name], live.values[name])
      : kind.identity !== 'content' || same(attribute, null, live.values[name]);
    return alike ? [] : [name];
  });
}

/**
 * Settles what an earlier run left behind, before anything is planned.
 * @throws Refusal (exit 5) with the commands to type where a person must decide.
 */
export async function recover(
  looker: RecoveryContext,
  session: Session,
): Promise<readonly Diagnostic[]> {
  const { pending, state } = session.snapshot;
  const { settled, results } = await settleOld(looker, session);
  const undecided = settled.filter(isUndecided).map(question);
  const recovered = settled
    .filter((one) => !isUndecided(one))
    .map((one): Diagnostic => ({
      severity: 'info',
      code: 'recovered',
      summary:
        one.verdict === 'applied'
          ? `${one.intent.address} was created by an interrupted run as ${one.live.id}; the state holds it now.`
          : `${one.intent.address} was not created by the interrupted run.`,
      address: one.intent.address,
    }));
  const repeated = carriedOut(looker, results, { pending, state });
  const found = [...recovered, ...repeated];
  if (undecided.length > 0) throw new Refusal([...found, ...undecided], exits.undecided);
  return found;
}

/** What is said of the updates and deletes of an interrupted run that were carried out. @param snapshot of before */
function carriedOut(
  { kinds }: RecoveryContext,
  results: readonly Result[],
  { pending, state }: Pick<Session['snapshot'], 'pending' | 'state'>,
): readonly Diagnostic[] {
  const intents = new Map(pending.map((intent) => [intent.op, intent]));
  return results.flatMap(({ class: outcome, op = '', address }): Diagnostic | [] => {
    const intent = intents.get(op);
    if (outcome !== 'applied' || !intent) return [];
    const { kind, action, body, at } = intent;
    const before = holderOf(state, intent)?.entry;
    // Recorded and told by its run, which left the intent open: an earlier request of it could still take effect.
    if (action === 'update' && before && before.applied_at > at) return [];
    const summary =
      action === 'delete'
        ? `${address}, whose delete an interrupted run began, no longer exists.`
        : updateWords(address, wasSoBefore(kinds.get(kind)!, body, before));
    return { severity: 'info', code: 'recovered', summary, address };
  });
}

const updateWords = (address: string, wasSo: boolean): string =>
  wasSo
    ? `Whether ${address} was updated by an interrupted run is not known: the values that the service shows are those of the last apply.`
    : `${address} was updated by an interrupted run.`;

/**
 * Records what became of everything an earlier run left open, and returns it: for creates what was found, for updates
 * and deletes the records. These are planned again from the live objects, once none of their requests can take effect
 * any more.
 * @throws Refusal where a reading failed or kept changing.
 */
export async function settleOld(
  looker: RecoveryContext,
  session: Session,
): Promise<{ readonly settled: readonly Settled[]; readonly results: readonly Result[] }> {
  const { pending, state } = session.snapshot;
  await waitUntilLanded(looker, pending, (await youngestAge(looker, pending)) - RENEWAL);
  const repeatable = pending.filter((intent) => intent.action !== 'create');
  const done = repeatable.length > 0 ? await whatWasDone(looker, repeatable, state) : [];
  if (done.length > 0) await session.record(...done);
  const creates = pending.filter((intent) => intent.action === 'create');
  // All of them were waited for.
  const entries = Object.values(state.resources);
  const settled = await settle(looker, creates, entries, Infinity).catch((error: unknown) => {
    // What was recorded is told once: by the run that recorded it.
    const told = carriedOut(looker, done, { pending, state });
    throw error instanceof Refusal
      ? new Refusal([...told, ...error.diagnostics], error.exit)
      : error;
  });
  const results = settled.flatMap((one) => recordsOf(looker.kinds, one));
  if (results.length > 0) await session.record(...results);
  return { settled, results: done };
}

/** The minimum age of the latest intent. After a reboot it is measured with the clock of the service, which takes one request. */
async function youngestAge(
  { clock, cloud, kinds }: RecoveryContext,
  intents: readonly Intent[],
): Promise<number> {
  const boot = clock.boot();
  const elsewhere = intents.find(
    (intent) => intent.boot?.id !== boot.id && intent.server_at !== undefined,
  );
  if (elsewhere && cloud.skew() === undefined) await cloud.list(kinds.get(elsewhere.kind)!);
  const now = nowOf(clock, cloud.skew());
  return Math.min(Infinity, ...intents.map((intent) => ageOf(intent, now)));
}

const sentAt = ({ at, server_at, boot }: Intent): Moment => ({
  at,
  ...defined({ server_at, boot }),
});

/** Updates and deletes are planned again from what is live; those that were carried out count against the limits. */
async function whatWasDone(
  { kinds, cloud }: RecoveryContext,
  intents: readonly Intent[],
  state: State,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const name of new Set(intents.map((intent) => intent.kind))) {
    const kind = kinds.get(name)!;
    const mine = intents.filter((intent) => intent.kind === name);
    const found = await cloud.find(
      kind,
      mine.map((intent) => intent.id!),
    );
    const live = new Map(found.map((one) => [one.id, one]));
    for (const intent of mine) {
      const { op, action, id = '', body } = intent;
      const holder = holderOf(state, intent);
      const address = holder?.address ?? intent.address;
      const now = live.get(id);
      const done =
        action === 'delete'
          ? now === undefined
          : now !== undefined &&
            body !== undefined &&
            Object.keys(body).length > 0 &&
            isApplied(kind, shownOnly(body), now);
      const moment = sentAt(intent);
      const lately = { ...moment, what: 'deleted' as const, kind: kind.name, id };
      const spent: Spent = {
        ...moment,
        action: action === 'delete' ? action : 'update',
        kind: kind.name,
        id,
      };
      const entry = now && updatedEntry(kind, intent, holder?.entry, now);
      const was = { op, spent, ...defined({ entry }), ...(action === 'delete' && { lately }) };
      results.push(
        done ? resultRecord(address, 'applied', was) : resultRecord(address, 'not_sent', { op }),
      );
    }
  }
  return results;
}

/** Made once for a state: many intents may have lost their address. */
const addressesByObject = new WeakMap<State['resources'], ReadonlyMap<string, string>>();

/** What holds the object of an intent now: the state may have been changed since. */
function holderOf({ resources }: State, { kind, id, address }: Intent) {
  const isIt = (entry: Entry | undefined): entry is Entry =>
    entry?.kind === kind && entry.id === id;
  const own = resources[address];
  if (isIt(own)) return { address, entry: own };
  const byObject = cached(
    addressesByObject,
    resources,
    () =>
      new Map(Object.entries(resources).map(([one, entry]) => [`${entry.kind} ${entry.id}`, one])),
  );
  const holder = byObject.get(`${kind} ${id}`);
  return holder === undefined ? undefined : { address: holder, entry: resources[holder]! };
}

/** The entry after an update that is proven: what was sent is not taken for a change by others. Of documents only the declared part is recorded, which the request does not tell. */
function updatedEntry(
  kind: Kind,
  { at, body = {} }: Intent,
  before: Entry | undefined,
  live: Live,
): Entry | undefined {
  if (!before || before.applied_at > at) return undefined;
  const isSent = (value: Json, name: string): boolean => {
    const attribute = kind.attributes[name];
    if (attribute === undefined || attribute.wire === 'merge') return false;
    // A PUT repeats what is not declared.
    return Object.hasOwn(before.applied, name) || !same(attribute, value, before.observed[name]);
  };
  return {
    ...before,
    applied: { ...before.applied, ...keptMembers(body, isSent) },
    applied_at: at,
    observed: storedValues(kind, live.values),
  };
}

/** The fields of a request that the journal holds in clear: a write counts as done unless one of them shows that it was not. */
const shownOnly = (body: JsonObject): JsonObject =>
  keptMembers(body, (value) => value !== SENSITIVE);

/** Whether the object was as an update sent it before the update, as far as its values can be read: a new secret alone shows nothing. */
function wasSoBefore(kind: Kind, body: JsonObject = {}, entry: Entry | undefined): boolean {
  const values = { ...entry?.applied, ...entry?.observed };
  return isApplied(kind, shownOnly(body), { id: entry?.id ?? '', values });
}

/** The records for a create that was looked for: none where a person has to decide. A listing has shown what was found. */
export function recordsOf(kinds: Kinds, settled: Settled): readonly RunRecord[] {
  const { intent } = settled;
  const { op, address, kind } = intent;
  if (settled.verdict === 'undecided') return [];
  if (settled.verdict === 'absent') return [resultRecord(address, 'not_sent', { op })];
  const { id, values } = settled.live;
  const entry: Entry = {
    ...intent.entry!,
    ...(settled.differing && { applied: {} }),
    id,
    observed: storedValues(kinds.get(kind)!, values),
  };
  const lately = { ...sentAt(intent), what: 'created' as const, kind, id };
  return [
    resultRecord(address, 'applied', { op, entry, lately }),
    { type: 'seen', kind, ids: [id] },
  ];
}

/** The most candidates that are listed. */
const LISTED = 5;

export function question({ intent, candidates }: Undecided): Diagnostic {
  const address = shellWord(intent.address);
  const shown = candidates
    .slice(0, LISTED)
    .map(
      ({ id, differing: names }) =>
        `  ${id}: ${names.length === 0 ? 'equal to what was sent' : `differs in ${names.join(', ')}`}`,
    );
  const rest = candidates.length > LISTED ? [`  and ${candidates.length - LISTED} more`] : [];
  const equal = candidates.find(({ differing: names }) => names.length === 0);
  const advice = equal
    ? `If ${equal.id} is the object that was created: trueup import ${address} ${shellWord(equal.id)}`
    : 'None of them equals what was sent, so they were probably created outside of trueup.';
  return {
    severity: 'error',
    code: 'undecided',
    summary: `It is not clear whether ${intent.address} was created: ${candidates.length === 1 ? 'one object' : `${candidates.length} objects`} may be new since the request.`,
    detail: [
      ...shown,
      ...rest,
      advice,
      `If it was not created, remove the recorded attempt: trueup state rm ${address}`,
    ].join('\n'),
    address: intent.address,
  };
}

/**
 * The outcome of a create without a response; `settled` is absent where no reading succeeded.
 * @param why nobody read it, if it was not tried
 */
export function outcomeOf(
  intent: Intent,
  settled: Settled | undefined,
  why = 'the reading after the request failed',
): Outcome {
  const base = { address: intent.address, kind: intent.kind, action: 'create' as const };
  const error = (code: string, summary: string, detail: string): Diagnostic => ({
    severity: 'error',
    code,
    summary,
    detail,
    address: intent.address,
  });
  switch (settled?.verdict) {
    case 'applied':
      return settled.differing
        ? {
            ...base,
            outcome: 'failed',
            id: settled.live.id,
            diagnostic: unproven(intent.address, 'other', settled.differing),
          }
        : { ...base, outcome: 'done', id: settled.live.id };
    case 'absent':
      return {
        ...base,
        outcome: 'failed',
        diagnostic: error(
          'no-answer',
          `${intent.address} was not created: the service gave no clear response${intent.unclear === undefined ? '' : ` (${intent.unclear})`}, and readings after it show no such object.`,
          'Run apply again later.',
        ),
      };
    case 'undecided':
      return { ...base, outcome: 'unknown', diagnostic: question(settled) };
    default:
      return {
        ...base,
        outcome: 'unknown',
        diagnostic: error(
          'unread',
          `It is not known whether ${intent.address} was created: ${why}.`,
          'Run apply again: it reads before it sends anything.',
        ),
      };
  }
}
