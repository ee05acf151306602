// Who changed it: only what a record shows, never a guess, and the window where no record tells.
import { describe, expect, it, test } from 'vitest';
import { exits, Refusal, type Activity, type JsonObject } from '../../src/model/index.js';
import { attribute, authorOf, logWindow, type Subject } from '../../src/reconciler/attribution.js';
import { kindOf, live } from '../support/planning.js';

const APPLIED = '2026-01-10T12:00:00.000Z';
/** Seconds after the last apply. */
const after = (seconds: number): string => new Date(Date.parse(APPLIED) + seconds * 1000).toISOString();
const NOW = Date.parse(after(3600));

let count = 0;
const record = (seconds: number, changes: JsonObject, by = 'dana@example.com', more: Partial<Activity> = {}): Activity => ({
  id: `r-${++count}`,
  object_id: '12',
  object_type: null,
  actor: by,
  actor_id: by,
  actor_type: by.includes('@') ? 'sso_user' : 'api_key',
  action: 'update',
  at: after(seconds),
  before: { name: 'Field' },
  after: changes,
  ...more,
});

const subject = (more: Partial<Subject> = {}): Subject => ({
  kind: kindOf('accounts'),
  id: '12',
  what: 'changed',
  prior: { applied: { name: 'Field' }, applied_at: APPLIED },
  drifted: ['name'],
  secrets: [],
  live: live('accounts', '12', { name: 'Camp', account: '1', is_disabled: false }),
  ...more,
});

const ours = (seconds = 0, more: Partial<Activity> = {}): Activity => record(seconds, { id: '12', name: 'Field', account: '/api/v2/accounts/1/' }, 'key-1', more);
const gone: Partial<Subject> = { what: 'gone', drifted: [] };
const stranger: Subject = { kind: kindOf('accounts'), id: '12', what: 'unmanaged', drifted: [], secrets: [] };
const deletion = (seconds: number, by?: string): Activity => record(seconds, {}, by, { action: 'delete', before: { name: 'Field' }, after: null });

/** Skew of 0 where a case names none: the clocks agree. */
const cases: readonly (readonly [title: string, records: readonly Activity[], author: string | undefined, more?: Partial<Subject>, skew?: number | null])[] = [
  ['nothing in the log', [], undefined],
  ['one change', [record(60, { name: 'Camp' })], 'dana@example.com'],
  ['the newest of several', [record(60, { name: 'Yard' }, 'ada@example.com'), record(70, { name: 'Camp' })], 'dana@example.com'],
  ['our own write alone', [ours()], undefined],
  ['our own write, then another hand', [ours(), record(60, { name: 'Camp' })], 'dana@example.com'],
  ['our own write a little before it was written down', [ours(-20), record(-10, { name: 'Camp' })], 'dana@example.com'],
  ['another hand, which we put right', [record(-30, { name: 'Camp' }), ours(-1)], undefined],
  ['the same key again, with other content', [ours(), record(60, { name: 'Camp' }, 'key-1')], 'key-1'],
  ['our content, written by a person', [record(1, { name: 'Field' }, 'ada@example.com', { before: { name: 'Camp' } })], undefined],
  ['our content at another time is no write of ours', [record(600, { name: 'Field' }, 'key-1', { before: { name: 'Camp' } }), record(-30, { name: 'Camp' })], 'dana@example.com'],
  ['a change of something else', [record(60, { name: 'Field', is_disabled: true }, 'ada@example.com', { before: { name: 'Field', is_disabled: false } })], undefined],
  [
    'a change of something else after the one in question',
    [record(60, { name: 'Camp' }), record(70, { name: 'Camp', is_disabled: true }, 'ada@example.com', { before: { name: 'Camp', is_disabled: false } })],
    'dana@example.com',
  ],
  ['a record that does not say what it changed', [record(60, {}, 'ada@example.com', { before: null, after: null })], 'ada@example.com'],
  ['a record that says what it changed is believed first', [record(60, { name: 'Camp' }), record(70, {}, 'ada@example.com', { before: null, after: null })], 'dana@example.com'],
  ['a report is no change', [record(60, {}, 'router-5', { action: 'report', actor_type: 'router', before: null, after: null })], undefined],
  ['a record about a router of the same number', [record(60, { name: 'Camp' }, 'ada@example.com', { object_type: 'router' })], undefined],
  ['a record without type about something of another kind', [record(60, { name: 'Camp', role: 'x' }, 'ada@example.com')], undefined],
  ['a record of the right type', [record(60, { name: 'Camp' }, 'ada@example.com', { object_type: 'account' })], 'ada@example.com'],
  ['an older change that shows nothing that is live', [record(-30, { name: 'Yard' })], undefined],
  ['an older change that shows what is live: the clocks are not exact', [record(-30, { name: 'Camp' })], 'dana@example.com'],
  ['too old to be a matter of clocks', [record(-90, { name: 'Camp' })], undefined],
  ['too old, but nobody compared the clocks', [record(-90, { name: 'Camp' })], 'dana@example.com', {}, null],
  ['a server ahead: our own write is later there', [ours(300), record(299, { name: 'Camp' })].toSorted((a, b) => (a.at < b.at ? -1 : 1)), undefined, {}, 300_000],
  ['a server ahead: what it calls later came before our write', [record(100, { name: 'Yard' })], undefined, {}, 300_000],
  ['a server behind', [record(-250, { name: 'Camp' })], 'dana@example.com', {}, -300_000],
  ['never applied: whoever came last', [record(-9000, { name: 'Camp' })], 'dana@example.com', { prior: undefined as never }],
  ['deleted', [ours(), deletion(60)], 'dana@example.com', gone],
  ['deleted after a change', [record(50, { name: 'Camp' }, 'ada@example.com'), deletion(60)], 'dana@example.com', gone],
  ['deleted with our key by another program', [ours(), deletion(60, 'key-1')], 'key-1', gone],
  ['gone, and nothing says by whom', [record(50, { name: 'Camp' }, 'ada@example.com')], undefined, gone],
  ['unmanaged: who made it', [record(10, { name: 'x' }, 'ada@example.com', { action: 'create', before: null }), record(20, { name: 'y' })], 'ada@example.com', stranger],
  ['unmanaged, made long ago: who changed it last', [record(10, { name: 'x' }, 'ada@example.com'), record(20, { name: 'y' })], 'dana@example.com', stranger],
];

for (const [title, records, author, more = {}, skew = 0] of cases) test(title, () => expect(authorOf(subject(more), records, skew ?? undefined)?.actor).toBe(author));

test('a role that our token wrote is ours, whoever the token belongs to', () => {
  const role = (value: string, seconds: number, by: string): Activity =>
    record(seconds, { user: '77', account: '1', role: value }, by, { before: { role: 'x' }, object_type: 'authorization' });
  const authorization = subject({
    kind: kindOf('account_authorizations'),
    prior: { applied: { user: '77', account: '1', role: 'read_only_user' }, applied_at: APPLIED },
    drifted: ['role'],
    live: live('account_authorizations', '12', { user: '77', account: '1', role: 'administrator' }),
  });
  const records = [role('administrator', -5, 'ada@example.com'), role('read_only_user', 0, 'emulator@example.com')];
  expect(authorOf(authorization, records, 0)).toBeUndefined();
  expect(authorOf(authorization, [...records, role('administrator', 5, 'ada@example.com')], 0)?.actor).toBe('ada@example.com');
});

describe('the window that is read', () => {
  const at = (applied_at: string): Subject => subject({ prior: { applied: {}, applied_at } });
  it.each([
    ['begins at the oldest apply, a minute early', [at(after(100)), at(APPLIED)], 0, after(-60)],
    ["is told by the server's clock", [at(APPLIED)], 90_000, after(30)],
    ['allows for clocks that nobody compared', [at(APPLIED)], undefined, after(-360)],
    ['is never longer than the log is kept', [at('2025-01-01T00:00:00.000Z')], 0, new Date(NOW - 30 * 24 * 3600_000).toISOString()],
    ['is the whole log for what was never applied', [at(APPLIED), stranger], 0, new Date(NOW - 30 * 24 * 3600_000).toISOString()],
  ])('%s', (_, subjects, skew, since) => expect(logWindow(subjects, NOW, skew)).toBe(since));
});

describe('attribute', () => {
  const clock = { now: () => NOW };
  const answering = (found: readonly Activity[] | Error) => {
    const asked: (readonly [readonly string[], string])[] = [];
    const activity = async (ids: readonly string[], since: string): Promise<readonly Activity[]> => {
      asked.push([ids, since]);
      if (found instanceof Error) throw found;
      return found;
    };
    return { asked, witnesses: { cloud: { activity }, clock } };
  };

  it('asks once for all of them, and answers in their order', async () => {
    const { asked, witnesses } = answering([record(60, { name: 'Camp' }), record(61, { name: 'Yard' }, 'ada@example.com', { object_id: '13' })]);
    const { told } = await attribute(witnesses, [subject({ id: '13' }), subject(), subject({ id: '14' })], 0);
    expect(asked).toEqual([[['13', '12', '14'], after(-60)]]);
    expect(told.map(({ changed_by }) => (changed_by === 'unknown' ? changed_by : changed_by.actor))).toEqual(['ada@example.com', 'dana@example.com', 'unknown']);
  });

  it('shows what changed, in the words of the declarations, and no secret', async () => {
    const destination = { ...kindOf('alert_push_destinations'), unlogged: undefined as never };
    const state = (url: string, secret: string): JsonObject => ({
      destination_config_id: 'd-1',
      name: 'Pager',
      endpoint: { url },
      authentication: { secret },
      account: 'https://shard.test/api/v2/accounts/1/',
      updated_at: url,
      note: 'kept',
    });
    const records = [record(60, state('https://b.test', 'two'), 'dana@example.com', { object_type: 'alert_push_destination', before: state('https://a.test', 'one') })];
    const { told } = await attribute(answering(records).witnesses, [subject({ kind: destination, drifted: ['endpoint'] })], 0);
    expect(told[0]?.changed_by).toEqual({
      actor: 'dana@example.com',
      actor_type: 'sso_user',
      at: after(60),
      action: 'update',
      before: { endpoint: { url: 'https://a.test' } },
      after: { endpoint: { url: 'https://b.test' } },
    });
  });

  it('shows nothing of a configuration that is declared as a secret or reads masked', async () => {
    const tree = (id: string, more: JsonObject): JsonObject => ({ configuration: [{ system: { id, ...more } }, []] });
    const manager = subject({
      kind: kindOf('configuration_managers'),
      drifted: ['configuration'],
      prior: { applied: { router: '12' }, applied_at: APPLIED },
      secrets: ['configuration.0.system.key'],
      live: live('configuration_managers', '12', { router: '12', configuration: [{ system: { id: 'b', password: '*' } }, []] }),
    });
    const records = [record(60, tree('b', { key: 'clear-2', password: 'clear-4' }), undefined, { before: tree('a', { key: 'clear-1', password: 'clear-3' }) })];
    const { told } = await attribute(answering(records).witnesses, [manager], 0);
    expect(told[0]?.changed_by).toMatchObject({ before: { configuration: { system: { id: 'a' } } }, after: { configuration: { system: { id: 'b' } } } });
    expect(JSON.stringify(told)).not.toContain('clear');
  });

  it('asks nothing about what the log does not know, and gives the window', async () => {
    const { asked, witnesses } = answering([]);
    const rule = subject({ kind: kindOf('alert_rules'), id: 'r-1', live: live('alert_rules', 'r-1', { updated_at: '2026-01-10T12:30:00+00:00' }) });
    const { told } = await attribute(witnesses, [rule, { ...rule, what: 'gone' }, subject({ kind: kindOf('alert_rules'), prior: undefined as never })], 0);
    expect(asked).toEqual([]);
    expect(told).toEqual([
      { changed_by: 'unknown', window: { after: APPLIED, before: '2026-01-10T12:30:00.000Z' } },
      { changed_by: 'unknown', window: { after: APPLIED, before: new Date(NOW).toISOString() } },
      { changed_by: 'unknown', window: { after: null, before: new Date(NOW).toISOString() } },
    ]);
  });

  it('believes no time of an update that was before the apply', async () => {
    const rule = subject({ kind: kindOf('alert_rules'), live: live('alert_rules', 'r-1', { updated_at: after(-3000) }) });
    expect((await attribute(answering([]).witnesses, [rule], 0)).told[0]?.window.before).toBe(new Date(NOW).toISOString());
  });

  const refusal = (code: string, exit?: 1 | 130): Refusal => new Refusal([{ severity: 'error', code, summary: 'activity_logs cannot be read: 403' }], exit);

  it('goes on without authors where the log cannot be read, and says so', async () => {
    const { told, diagnostics } = await attribute(answering(refusal('rejected')).witnesses, [subject(), stranger], 0);
    expect(told.map(({ changed_by }) => changed_by)).toEqual(['unknown', 'unknown']);
    expect(diagnostics).toEqual([
      { severity: 'warning', code: 'rejected', summary: 'Who changed it is not known, because the activity log could not be read. activity_logs cannot be read: 403' },
    ]);
  });

  it('is quiet about keys that only the authors of what is unmanaged would need', async () => {
    expect((await attribute(answering(refusal('secret-missing')).witnesses, [stranger], 0)).diagnostics).toEqual([]);
    expect((await attribute(answering(refusal('secret-missing')).witnesses, [stranger, subject()], 0)).diagnostics).toHaveLength(1);
    expect((await attribute(answering(refusal('rejected')).witnesses, [stranger], 0)).diagnostics).toHaveLength(1);
  });

  it('ends with the run, and hides no bug', async () => {
    await expect(attribute(answering(refusal('interrupted', exits.interrupted)).witnesses, [subject()], 0)).rejects.toThrow(Refusal);
    await expect(attribute(answering(new TypeError('a bug')).witnesses, [subject()], 0)).rejects.toThrow(TypeError);
  });
});
