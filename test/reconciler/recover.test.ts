// The table of recovery: what was there, what was sent, what is live → whose object it is, if anyone's.
import { describe, expect, it } from 'vitest';
import { emptyState, type Entry, type Intent, type JsonObject, type Listing, type Live, type Result } from '../../src/model/index.js';
import { decide, recover, type Looker } from '../../src/reconciler/recover.js';
import { kinds } from '../../src/resources/index.js';
import type { Session } from '../../src/state/index.js';
import { entry, kindOf, live } from '../support/planning.js';
import { simulatedClock } from '../support/simulated.js';

const AT = '2026-01-02T03:04:05.000Z';
const body: JsonObject = { associated_accounts: ['1'], filter_criteria: { alert_type__in: ['login_success'] } };

/** A time-based UUID so many milliseconds after the intent. */
function uuid(after: number, tail = 1): string {
  const ticks = (BigInt(Date.parse(AT) + after) * 10_000n + 0x01b21dd213814000n).toString(16).padStart(15, '0');
  return `${ticks.slice(7)}-${ticks.slice(3, 7)}-1${ticks.slice(0, 3)}-8000-${String(tail).padStart(12, '0')}`;
}

const intent = (more: Partial<Intent> = {}): Intent => ({
  type: 'intent',
  op: 'op-1',
  address: 'alert_rules.r',
  kind: 'alert_rules',
  action: 'create',
  content: 'same',
  body,
  preimage: [],
  entry: entry('alert_rules', '', body),
  at: AT,
  server_at: AT,
  ...more,
});
const account = (more: Partial<Intent> = {}): Intent => intent({ address: 'accounts.a', kind: 'accounts', body: { name: 'A' }, highest: '41', ...more });
const rule = (id: string, more: JsonObject = {}): Live => live('alert_rules', id, { ...body, ...more });

/** In short: the id it was created as, `absent`, or the ids a person has to choose among. */
function verdicts(intents: readonly Intent[], objects: readonly Live[]): readonly string[] {
  return decide(kindOf(intents[0]?.kind ?? ''), intents, objects).map((one) =>
    one.verdict === 'applied' ? one.live.id : one.verdict === 'absent' ? 'absent' : `? ${one.candidates.toSorted().join(' ')}`,
  );
}

const [early, old, now, later] = [uuid(-3_600_000), uuid(-1500), uuid(0), uuid(5000, 2)];

describe('a create without an answer', () => {
  it.each<readonly [string, readonly Intent[], readonly Live[], readonly string[]]>([
    ['nothing is there', [intent()], [], ['absent']],
    ['exactly what was sent is new', [intent()], [rule(now)], [now]],
    ['what was sent was there before', [intent({ preimage: [now] })], [rule(now)], ['absent']],
    ['what was sent was there before, and is there once more', [intent({ preimage: [now] })], [rule(now), rule(later)], [later]],
    ['what was sent is older than the intent', [intent()], [rule(early), rule(old)], ['absent']],
    ['the clock of the server rules where it is known', [intent({ server_at: new Date(Date.parse(AT) - 7_200_000).toISOString() })], [rule(early)], [early]],
    ['two are new and only one was sent', [intent()], [rule(now), rule(later)], [`? ${[now, later].toSorted().join(' ')}`]],
    ['two are new and two were sent', [intent(), intent({ op: 'op-2', address: 'alert_rules.s' })], [rule(now), rule(later)], [now, later].toSorted()],
    ['one is new and two were sent', [intent(), intent({ op: 'op-2', address: 'alert_rules.s' })], [rule(now)], [now, 'absent']],
    ['something else is new', [intent()], [rule(now, { schedule: 'daily' })], [`? ${now}`]],
    ['something else is there, and old', [intent()], [rule(early, { schedule: 'daily' })], ['absent']],
    ['ids are numbers and the new one is above all that were', [account()], [live('accounts', '42', { name: 'A' })], ['42']],
    ['ids are numbers and it was there before', [account()], [live('accounts', '9', { name: 'A' })], ['absent']],
    ['ids are numbers beyond 2^53', [account({ highest: '9007199254740993' })], [live('accounts', '9007199254740992', { name: 'A' })], ['absent']],
  ])('%s', (_, intents, objects, expected) => {
    expect(verdicts(intents, objects)).toEqual(expected);
  });
});

/** Recovers over listings that come one after the other; gives what was recorded. */
async function recovered(listings: readonly (readonly Live[])[], resources: Readonly<Record<string, Entry>> = {}): Promise<readonly Result[]> {
  const results: Result[] = [];
  let turn = 0;
  const list = (): Promise<Listing> => Promise.resolve({ kind: 'alert_rules', objects: listings[Math.min(turn++, listings.length - 1)] ?? [] });
  const looker = { kinds, cloud: { list }, clock: simulatedClock(Date.parse(AT)), emit: () => undefined, signal: new AbortController().signal, settleMilliseconds: 1000 };
  const session = {
    snapshot: { state: { ...emptyState('lineage', 'target'), resources }, pending: [intent()], unfinished: true },
    record: async (...more: readonly Result[]) => void results.push(...more),
  };
  await recover(looker as unknown as Looker, session as unknown as Session);
  return results;
}

describe('recovery', () => {
  it('believes a listing only when the next one agrees', async () => {
    expect(await recovered([[], [rule(now)], [rule(now)]])).toMatchObject([{ class: 'applied', entry: { id: now } }]);
  });

  it('takes nothing that another address has', async () => {
    expect(await recovered([[rule(now)]], { 'alert_rules.other': entry('alert_rules', now, body) })).toMatchObject([{ class: 'not_sent', address: 'alert_rules.r' }]);
  });

  it('asks a person, and records nothing, where listings never rest or several are new', async () => {
    await expect(recovered([[], [rule(now)], [], [rule(now)], [], [rule(now)], []])).rejects.toMatchObject({ exit: 5 });
    await expect(recovered([[rule(now), rule(later)]])).rejects.toMatchObject({ exit: 5, diagnostics: [{ code: 'undecided' }] });
  });
});
