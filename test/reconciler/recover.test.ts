// What became of a create that nobody heard of: which live object it is taken for, and when a person is asked.
import { describe, expect, it } from 'vitest';
import type { CloudReader, Intent, JsonObject, Kind, Live } from '../../src/model/index.js';
import { decide, settle } from '../../src/reconciler/recover.js';
import { kinds } from '../../src/resources/index.js';
import { live } from '../support/planning.js';
import { simulatedClock } from '../support/simulated.js';

const NOW = Date.parse('2026-01-02T03:04:05Z');

/** A time-based UUID of a moment, in seconds after the intent. */
function uuid(seconds: number, last = 1): string {
  const ticks = (BigInt(NOW + seconds * 1000) * 10_000n + 0x01b21dd213814000n).toString(16).padStart(15, '0');
  return `${ticks.slice(-8)}-${ticks.slice(-12, -8)}-1${ticks.slice(0, 3)}-8000-${String(last).padStart(12, '0')}`;
}

const body = { name: 'Pager' };
const at = new Date(NOW).toISOString();
const intent = (more: Partial<Intent> = {}, kind = 'alert_push_destinations'): Intent => ({
  type: 'intent',
  op: 'op-1',
  address: `${kind}.pager`,
  kind,
  action: 'create',
  content: 'c',
  body,
  preimage: [],
  at,
  server_at: at,
  ...more,
});
const pager = (id: string, name = 'Pager'): Live => live('alert_push_destinations', id, { name });
const account = (id: string, name = 'Pager'): Live => live('accounts', id, { name });

const verdicts = (intents: readonly Intent[], objects: readonly Live[]): readonly string[] =>
  decide(kinds.get(intents[0]?.kind ?? '') as Kind, intents, objects).map((one) =>
    one.verdict === 'applied' ? one.live.id : one.verdict === 'undecided' ? `? ${one.candidates.join(' ')}` : `absent ${one.alike.join(' ')}`.trim(),
  );

describe('decide', () => {
  const [old, fresh, other] = [uuid(-3600), uuid(2), uuid(3, 2)] as [string, string, string];
  const twin = intent({ op: 'op-2', address: 'alert_push_destinations.twin' });
  const numbered = (more: Partial<Intent>): Intent => intent({ highest: '40', ...more }, 'accounts');
  it.each<[what: string, intents: readonly Intent[], objects: readonly Live[], expected: readonly string[]]>([
    ['nothing there', [intent()], [], ['absent']],
    ['one new object of equal content', [intent()], [pager(fresh)], [fresh]],
    ['made within the second that a clock rounds away', [intent()], [pager(uuid(-0.9))], [uuid(-0.9)]],
    ['one that existed before', [intent({ preimage: [fresh] })], [pager(fresh)], ['absent']],
    ['one that existed before and was changed since', [intent({ preimage: [fresh] })], [pager(fresh, 'Changed')], ['absent']],
    ['an older one, equal by now', [intent()], [pager(old)], [`absent ${old}`]],
    ['an older one of other content', [intent()], [pager(old, 'Other')], ['absent']],
    ['a new one of other content', [intent()], [pager(fresh, 'Other')], [`? ${fresh}`]],
    ['the new one beside a new stranger', [intent()], [pager(fresh), pager(other, 'Other')], [fresh]],
    ['two new ones for one intent', [intent()], [pager(fresh), pager(other)], [`? ${fresh} ${other}`]],
    ['two new ones for two intents', [intent(), twin], [pager(fresh), pager(other)], [fresh, other]],
    ['one new one for two intents', [intent(), twin], [pager(fresh)], [fresh, 'absent']],
    ['a clock of ours alone, a minute off', [intent({ server_at: undefined as never })], [pager(uuid(-59))], [uuid(-59)]],
    ['a clock of ours alone, more than a minute off', [intent({ server_at: undefined as never })], [pager(uuid(-61))], [`absent ${uuid(-61)}`]],
    ['a number above all that were there', [numbered({})], [account('41')], ['41']],
    ['a number that was there', [numbered({})], [account('9')], ['absent 9']],
    ['a longer number', [numbered({ highest: '9' })], [account('10')], ['10']],
  ])('%s', (_, intents, objects, expected) => {
    expect(verdicts(intents, objects)).toEqual(expected);
  });
});

describe('settle', () => {
  /** Listings in order, the last one again and again; tells when each was asked for. */
  async function settled(listings: readonly (readonly Live[])[], owned: readonly string[] = []): Promise<{ readonly found: JsonObject; readonly asked: readonly number[] }> {
    const clock = simulatedClock(NOW);
    const asked: number[] = [];
    const list = (): Promise<unknown> => {
      asked.push(clock.now() - NOW);
      return Promise.resolve({ kind: 'alert_push_destinations', objects: listings[Math.min(asked.length, listings.length) - 1] });
    };
    const looker = { kinds, cloud: { list } as unknown as CloudReader, clock, emit: () => undefined, signal: new AbortController().signal, settleMilliseconds: 5000 };
    const [one] = await settle(looker, [intent()], (_, id) => owned.includes(id), NOW);
    return { found: { verdict: one?.verdict ?? '', ...(one?.verdict === 'applied' ? { id: one.live.id } : {}) }, asked };
  }

  it('looks once nothing can land any more, and believes two listings that agree', async () => {
    const { found, asked } = await settled([[], [pager(uuid(1))], [pager(uuid(1))]]);
    expect(found).toEqual({ verdict: 'applied', id: uuid(1) });
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBe(5000);
  });

  it('does not take what another address has', async () => {
    expect((await settled([[pager(uuid(1))]], [uuid(1)])).found).toEqual({ verdict: 'absent' });
  });

  it('asks a person where listings never agree', async () => {
    const moving = Array.from({ length: 9 }, (_, index) => [pager(uuid(index))]);
    await expect(settled(moving)).rejects.toMatchObject({ exit: 5 });
  });
});
