// A create whose outcome nobody knows is settled by looking, never by sending again: wait until it can no longer
// land, list until two listings agree, and take the one new object of equal content. Anything unclear is a
// question to a person.
import {
  exits,
  Refusal,
  same,
  writables,
  shellWord,
  type CloudReader,
  type Diagnostic,
  type Emit,
  type Entry,
  type Intent,
  type JsonObject,
  type Kind,
  type Kinds,
  type Live,
  type Outcome,
  type Result,
  type Spent,
} from '../model/index.js';
import type { Clock } from '../ports/index.js';
import type { Session } from '../state/store.js';
import { taken } from './diff.js';
import { RENEWAL } from './execute.js';
import { remembered, withoutSecrets } from './observe.js';

/** Tolerated difference between our clock and the server's, where only ours is known. */
const SKEW = 60_000;
/** Listings of one kind before giving up on two that agree. */
const LISTINGS = 6;

export interface Looker {
  readonly kinds: Kinds;
  readonly cloud: CloudReader;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly settleMilliseconds: number;
}

export type Settled =
  | { readonly intent: Intent; readonly verdict: 'applied'; readonly live: Live }
  | { readonly intent: Intent; readonly verdict: 'absent'; readonly alike: readonly string[] }
  | Undecided;

/** A person has to say whether one of the candidates (ids) is what the intent made. */
export interface Undecided {
  readonly intent: Intent;
  readonly verdict: 'undecided';
  readonly candidates: readonly string[];
}

export const isUndecided = (settled: Settled): settled is Undecided => settled.verdict === 'undecided';

/**
 * What became of creates without an answer. What `entries` hold is managed already; `sent` tells when the
 * last of them may have left (milliseconds since 1970); what lies ahead counts as now.
 * @throws Refusal when a listing cannot be proven complete; the signal's reason when interrupted.
 */
export async function settle(looker: Looker, intents: readonly Intent[], entries: readonly Entry[], sent: number): Promise<readonly Settled[]> {
  const owned = new Set(entries.map((entry) => `${entry.kind} ${entry.id}`));
  await waitUntilLanded(looker, intents, sent);
  const names = [...new Set(intents.map((intent) => intent.kind))];
  const settled: Settled[] = [];
  for (const name of names) {
    const kind = looker.kinds.get(name) as Kind;
    const objects = (await stableListing(looker, kind)).filter((live) => !owned.has(`${name} ${live.id}`));
    settled.push(
      ...decide(
        kind,
        intents.filter((intent) => intent.kind === name),
        objects,
      ),
    );
  }
  return settled;
}

async function waitUntilLanded({ clock, emit, signal, settleMilliseconds }: Looker, intents: readonly Intent[], sent: number): Promise<void> {
  const wait = Math.min(sent + settleMilliseconds - clock.now(), settleMilliseconds);
  if (wait <= 0) return;
  emit({
    type: 'waiting',
    why: `until ${intents.length === 1 ? `the ${intents[0]?.action} of ${intents[0]?.address}` : `${intents.length} requests`} can no longer land`,
    milliseconds: wait,
  });
  await clock.sleep(wait, signal);
}

async function stableListing({ cloud, clock, signal, settleMilliseconds }: Looker, kind: Kind): Promise<readonly Live[]> {
  let before: string | undefined;
  for (let round = 0; round < LISTINGS; round += 1) {
    const { objects } = await cloud.list(kind);
    const ids = objects
      .map((live) => live.id)
      .toSorted()
      .join(' ');
    if (ids === before) return objects.map((live) => ({ ...live, values: withoutSecrets(kind.attributes, live.values) }));
    before = ids;
    await clock.sleep(Math.min(1000, settleMilliseconds), signal);
  }
  throw new Refusal(
    [
      {
        severity: 'error',
        code: 'unsettled',
        summary: `${kind.name} kept changing while an interrupted create was looked for.`,
        detail: 'Run apply again when nobody else is working on the account.',
      },
    ],
    exits.undecided,
  );
}

/** Intents of one kind against the objects nobody manages. */
export function decide(kind: Kind, intents: readonly Intent[], objects: readonly Live[]): readonly Settled[] {
  const claimed = new Set<string>();
  const out: Settled[] = [];
  for (const intent of intents) {
    const alike = objects.filter((live) => !claimed.has(live.id) && !intent.preimage?.includes(live.id) && holds(kind, intent.body ?? {}, live));
    const equals = alike.filter((live) => isNew(intent, live));
    const rivals = intents.filter((other) => other.content === intent.content && !out.some((done) => done.intent === other)).length;
    const live = equals.length <= rivals ? equals.toSorted((a, b) => (a.id < b.id ? -1 : 1))[0] : undefined;
    if (live) {
      claimed.add(live.id);
      out.push({ intent, verdict: 'applied', live });
    } else
      out.push(equals.length > 0 ? { intent, verdict: 'undecided', candidates: equals.map((one) => one.id) } : { intent, verdict: 'absent', alike: alike.map((one) => one.id) });
  }
  return out.map((one) => {
    const strangers = one.verdict === 'absent' ? objects.filter((live) => !claimed.has(live.id) && isNew(one.intent, live)) : [];
    return strangers.length > 0 ? { intent: one.intent, verdict: 'undecided', candidates: strangers.map((live) => live.id) } : one;
  });
}

/** Whether an object can have been made by an intent: its id tells the time, or is above those that were there. */
function isNew(intent: Intent, live: Live): boolean {
  if (intent.preimage?.includes(live.id)) return false;
  const born = uuidTime(live.id);
  if (born !== undefined) return born >= (intent.server_at === undefined ? Date.parse(intent.at) - SKEW : Date.parse(intent.server_at) - 1000);
  if (intent.highest !== undefined && /^\d+$/.test(live.id)) return BigInt(live.id) > BigInt(intent.highest);
  return true;
}

/** Milliseconds since 1970 in a time-based UUID (version 1), else undefined. */
function uuidTime(id: string): number | undefined {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-1([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}$/i.exec(id);
  if (!match) return undefined;
  const ticks = BigInt(`0x${match[3]}${match[2]}${match[1]}`) - 0x01b21dd213814000n;
  return Number(ticks / 10_000n);
}

/** Equal content: what was sent is live; where content is identity, nothing else is. */
function holds(kind: Kind, body: JsonObject, live: Live): boolean {
  return writables(kind).every(([name, attribute]) => {
    if (Object.hasOwn(body, name)) return same(attribute, body[name], live.values[name]);
    return kind.identity !== 'content' || same(attribute, null, live.values[name]);
  });
}

/**
 * Settles what an earlier run left behind, before anything is planned.
 * @throws Refusal (exit 5) with the commands to type where a person must decide.
 */
export async function recover(looker: Looker, session: Session): Promise<readonly Diagnostic[]> {
  const settled = await settleOld(looker, session);
  const undecided = settled.filter(isUndecided).map(question);
  if (undecided.length > 0) throw new Refusal(undecided, exits.undecided);
  return settled.map((one) => ({
    severity: 'info',
    code: 'recovered',
    summary:
      one.verdict === 'applied'
        ? `${one.intent.address} was created by an interrupted run as ${one.live.id}; it is recorded now.`
        : `${one.intent.address} was not created by the interrupted run.`,
    address: one.intent.address,
  }));
}

/**
 * Records what became of everything an earlier run left open, and returns it for creates. Updates and deletes are
 * planned again from what is live, once none of them can land any more and undo what is decided now.
 * @throws Refusal where a reading failed or kept changing.
 */
export async function settleOld(looker: Looker, session: Session): Promise<readonly Settled[]> {
  const { pending, state } = session.snapshot;
  // The latest of none is -Infinity: nothing is waited for then.
  const sent = Math.max(...pending.map((intent) => Date.parse(intent.at))) + RENEWAL;
  await waitUntilLanded(looker, pending, sent);
  const repeatable = pending.filter((intent) => intent.action !== 'create');
  if (repeatable.length > 0) await session.record(...(await whatWasDone(looker, repeatable)));
  const creates = pending.filter((intent) => intent.action === 'create');
  // All of them were waited for.
  const settled = await settle(looker, creates, Object.values(state.resources), -Infinity);
  const results = settled.flatMap((one) => resultOf(looker.kinds, one) ?? []);
  if (results.length > 0) await session.record(...results);
  return settled;
}

/** Updates and deletes are planned again from what is live; those that were carried out count against the limits. */
async function whatWasDone({ kinds, cloud }: Looker, intents: readonly Intent[]): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const name of new Set(intents.map((intent) => intent.kind))) {
    const kind = kinds.get(name) as Kind;
    const mine = intents.filter((intent) => intent.kind === name);
    const found = await cloud.find(
      kind,
      mine.map((intent) => intent.id as string),
    );
    const live = new Map(found.map((one) => [one.id, one]));
    for (const { op, address, action, id, body, at } of mine) {
      const now = live.get(id as string);
      const done = action === 'delete' ? now === undefined : now !== undefined && body !== undefined && Object.keys(body).length > 0 && taken(kind, body, now);
      results.push({ type: 'result', op, address, ...(done ? { class: 'applied', spent: { at, action: action as Spent['action'] } } : { class: 'not_sent' }) });
    }
  }
  return results;
}

export function resultOf(kinds: Kinds, settled: Settled): Result | undefined {
  const { intent } = settled;
  if (settled.verdict === 'undecided') return undefined;
  if (settled.verdict === 'absent') return { type: 'result', op: intent.op, class: 'not_sent', address: intent.address };
  const entry: Entry = { ...(intent.entry as Omit<Entry, 'id' | 'observed'>), id: settled.live.id, observed: remembered(kinds.get(intent.kind) as Kind, settled.live.values) };
  return { type: 'result', op: intent.op, class: 'applied', address: intent.address, entry };
}

export function question({ intent, candidates }: Undecided): Diagnostic {
  const address = shellWord(intent.address);
  return {
    severity: 'error',
    code: 'undecided',
    summary: `Whether ${intent.address} was created is not clear: ${candidates.length === 1 ? 'one object' : `${candidates.length} objects`} appeared since (${candidates.slice(0, 5).join(', ')}).`,
    detail: `If one of them is it: trueup import ${address} ${candidates[0]}\nIf none is, drop the attempt: trueup state rm ${address}`,
    address: intent.address,
  };
}

/** Nothing is made beside an object of equal content, however old: within a run nobody is shown it. */
export function besideNone(settled: Settled): Settled {
  return settled.verdict === 'absent' && settled.alike.length > 0 ? { intent: settled.intent, verdict: 'undecided', candidates: settled.alike } : settled;
}

/** What a create without an answer came to; `settled` is absent where nobody could look. */
export function outcomeOf(intent: Intent, settled: Settled | undefined): Outcome {
  const base = { address: intent.address, kind: intent.kind, action: 'create' as const };
  const trouble = (code: string, summary: string, detail: string): Diagnostic => ({ severity: 'error', code, summary, detail, address: intent.address });
  switch (settled?.verdict) {
    case 'applied':
      return { ...base, outcome: 'done', id: settled.live.id };
    case 'absent':
      return { ...base, outcome: 'failed', diagnostic: trouble('no-answer', `${intent.address} was not created: the service gave no clear answer.`, 'Run apply again later.') };
    case 'undecided':
      return { ...base, outcome: 'unknown', diagnostic: question(settled) };
    default:
      return {
        ...base,
        outcome: 'unknown',
        diagnostic: trouble('unread', `Whether ${intent.address} was created is not known: nobody could look.`, 'Run apply again: it looks first, and sends nothing twice.'),
      };
  }
}
