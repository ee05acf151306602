// How long a command waits for the lock of a state: what is typed, then the settings, then what is usual at the place.
import { expect, test } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { fleetHere, tenantContext } from '../../../src/cli/fleet-context.js';
import { lockingOf } from '../../../src/cli/state-location.js';
import { exits } from '../../../src/model/index.js';
import { lockWaited } from '../../../src/state/waiting-store.js';
import { fleetOf } from '../../support/fleet-home.js';
import { inProcess } from '../../support/in-process.js';

/** Seconds, at a state whose lock is taken over, at one whose lock is not, and at a file. */
const waits = (context: Pick<Context, 'flags' | 'environment' | 'fleetVariables'>, wait?: string) =>
  ['s3://bucket/prefix', 'https://gitlab.example.com/state', '.trueup/state.json'].map((url) => {
    const settings = wait === undefined ? {} : { lock: { wait } };
    return lockingOf(context, { url, ...settings }).wait / 1000;
  });

test('a tenant of a fleet waits until the lock of a run that was killed is taken over', async () => {
  const { cwd, env } = await fleetOf(['a']);
  const seen: (readonly number[])[] = [];
  const run = async (context: Context) => {
    const site = await fleetHere(context);
    const of = (flags: Context['flags']) =>
      tenantContext(context, site, site.here[0]!, { flags, exchanges: undefined });
    const { context: own } = await of({});
    seen.push(waits(own), waits(own, '10s'), waits((await of({ lockWait: '0' })).context, '10s'));
    seen.push(waits({ ...own, environment: { CI: 'true' } }));
    return exits.done;
  };
  await inProcess(run, ['fleet', 'validate'], { cwd, env });
  const [usual, settings, typed, ci] = seen;
  expect({ usual, settings, typed, ci }).toEqual({
    usual: [120, 0, 0],
    settings: [10, 10, 10],
    typed: [0, 0, 0],
    ci: [300, 300, 0],
  });
});

test('a tenant says at once that it waits for a lock: as its status, or else in the log', async () => {
  const { cwd, env } = await fleetOf(['a']);
  const locked =
    'the state is locked by "apply", process 7 on "box", since 2026-01-01T00:00:00.000Z';
  const lines: (string | undefined)[] = [];
  const said = async (status?: (line: string | undefined) => void, held = locked) => {
    const run = async (context: Context) => {
      const site = await fleetHere(context);
      const ports = { flags: {}, exchanges: undefined, status };
      const own = await tenantContext(context, site, site.here[0]!, ports);
      await own.context.tell([
        lockWaited(held, 120_000),
        { severity: 'warning', code: 'other', summary: 'something else' },
      ]);
      expect(own.told.map(({ code }) => code)).toEqual(['lock-waited', 'other']);
      return exits.done;
    };
    return (await inProcess(run, ['fleet', 'validate'], { cwd, env })).stderr;
  };
  const waits = `a: The state is locked by "apply", process 7 on "box", since 2026-01-01T00:00:00.000Z. Waiting up to 120 s.`;
  const logged = await said();
  expect(logged).toContain(waits);
  expect(logged).not.toContain('something else');
  expect(await said((line) => lines.push(line))).toBe('');
  const audit = 'an audit is in progress: "fleet drift, run r", process 8 on "box", since 2026';
  expect(await said((line) => lines.push(line), audit)).toBe('');
  expect(lines).toEqual([
    'waits for the lock of "apply", process 7 on "box", since 2026-01-01T00:00:00.000Z',
    'waits for the audit "fleet drift, run r", process 8 on "box", since 2026',
  ]);
});

test('who waits by default waits until a lock with a long lease is taken over', () => {
  const url = 's3://bucket/prefix';
  const at = (
    lease: string,
    of: {
      readonly environment?: Record<string, string>;
      readonly fleetVariables?: readonly string[];
    },
    more: { readonly url?: string; readonly takeover?: boolean; readonly wait?: string } = {},
  ) => {
    const { url: place = url, ...lock } = more;
    const context = { flags: {}, environment: {}, fleetVariables: undefined, ...of };
    return lockingOf(context, { url: place, lock: { lease, ...lock } }).wait / 1000;
  };
  const [tenant, ci] = [{ fleetVariables: [] }, { environment: { CI: 'true' } }];
  expect([at('45s', tenant), at('90s', tenant), at('5m', tenant)]).toEqual([120, 210, 630]);
  expect([at('90s', ci), at('5m', ci)]).toEqual([300, 630]);
  expect(at('5m', {})).toBe(0);
  expect(at('5m', tenant, { wait: '10s' })).toBe(10);
  expect([at('5m', tenant, { takeover: false }), at('5m', ci, { takeover: false })]).toEqual([
    0, 300,
  ]);
  expect(at('5m', ci, { url: 'https://gitlab.example.com/state' })).toBe(300);
});

test('one project waits only where a CI system runs it', () => {
  const one = { flags: {}, fleetVariables: undefined };
  expect(waits({ ...one, environment: {} })).toEqual([0, 0, 0]);
  expect(waits({ ...one, environment: { CI: 'true' } })).toEqual([300, 300, 0]);
});

test('a tenant of a fleet does not wait for a lock that is never taken over', () => {
  const tenant = { flags: {}, environment: {}, fleetVariables: [] };
  const url = 's3://bucket/prefix';
  const waitOf = (takeover: boolean): number => lockingOf(tenant, { url, lock: { takeover } }).wait;
  expect([true, false].map(waitOf)).toEqual([120_000, 0]);
});
