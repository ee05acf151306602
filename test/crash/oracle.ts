// Judges what a kill left, and what one more run made of it.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sha256, type JsonObject } from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { kinds } from '../../src/resources/index.js';
import type { Snapshot } from '../../src/state/index.js';
import type { Ran } from '../support/command.js';
import { theirs } from '../support/estate.js';
import { recordingEmulator } from '../support/recording-emulator.js';
import type { Lane } from './bench.js';
import { secrets, whole } from './scene.js';

const ids: Readonly<Record<string, string>> = Object.fromEntries(
  [...kinds.values()].map((kind) => [kind.name, kind.id]),
);
/** Objects by `<kind> <id>`. */
function objects({ emulator }: Pick<Lane, 'emulator'>): ReadonlyMap<string, JsonObject> {
  return new Map(
    Object.entries(ids).flatMap(([kind, id]) =>
      emulator.objects(kind).map((one) => [`${kind} ${String(one[id])}`, one] as const),
    ),
  );
}

/** What the service holds before anything runs, beside the estate also what it refers to: users and routers. */
const atStart = objects({
  emulator: recordingEmulator({
    kinds,
    clock: systemClock(),
    random: systemRandom(),
    estate: theirs,
  }),
});
const foreign = new Set(atStart.keys());
foreign.delete('account_authorizations 9');

/** Every byte of what is not ours. */
function foreignText(live: ReadonlyMap<string, JsonObject>): string {
  return JSON.stringify([...live].filter(([key]) => foreign.has(key)).map(([, one]) => one));
}
const untouched = foreignText(atStart);

/** Shows what was said where the exit code is another. */
export function expectCode({ code, stderr }: Ran, wanted: number): void {
  expect({ code, said: code === wanted ? '' : stderr }).toEqual({ code: wanted, said: '' });
}

/** What must hold at every instant: memory verifies, and knows or seeks every object that is ours. */
export async function expectKnown(lane: Lane): Promise<void> {
  const { state, pending } = (await lane.snapshot()) as Snapshot;
  const known = new Set(Object.values(state.resources).map(({ kind, id }) => `${kind} ${id}`));
  const sought = pending.filter(({ action }) => action === 'create').map(({ kind }) => kind);
  const unknown = [...objects(lane).keys()].filter((key) => !foreign.has(key) && !known.has(key));
  const unsought = unknown.filter((key) => {
    const at = sought.indexOf(key.slice(0, key.indexOf(' ')));
    return at === -1 || sought.splice(at, 1).length === 0;
  });
  expect({ unsought }).toEqual({ unsought: [] });
  expectNoSecret(lane);
}

/** What must hold in the end: each address is one live object and each of our objects one address; all else is as it was. */
export async function expectWhole(lane: Lane): Promise<void> {
  const live = objects(lane);
  const snapshot = await lane.snapshot();
  expect(snapshot).toMatchObject({ pending: [], unfinished: false });
  const bound = Object.entries(snapshot?.state.resources ?? {}).map(
    ([address, { kind, id }]) => [address, `${kind} ${id}`] as const,
  );
  expect(bound.map(([address]) => address).toSorted()).toEqual(Object.keys(whole).toSorted());
  for (const [address, key] of bound)
    expect([address, whole[address]?.(live.get(key) ?? {})]).toEqual([address, true]);
  expect([...live.keys()].filter((key) => !foreign.has(key)).toSorted()).toEqual(
    bound.map(([, key]) => key).toSorted(),
  );
  expect(foreignText(live)).toBe(untouched);
  expectSecretsSent(lane);
  expectNoSecret(lane);
  // A lock or a serial that was cut off half written is left where it lies: it could be of a process that is
  // about to finish it. What was kept for a remote state is recorded by now.
  const leftFiles = filesOf(lane).filter(
    (name) =>
      !/^(?:state\.json(?:\.[1-5]|\.lock\.[0-9a-f-]{36}\.tmp)?|serials\/[0-9a-f]{32}\.json(?:\.[0-9a-f-]{36}\.tmp)?)$/.test(
        name,
      ),
  );
  expect({ leftFiles }).toEqual({ leftFiles: [] });
}

/** What this machine keeps, by its path below `.trueup`. */
const filesOf = ({ cwd }: Lane): readonly string[] =>
  readdirSync(join(cwd, '.trueup'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(cwd, '.trueup', name)).isFile(),
  );

/** The last secret that each destination was sent. */
function expectSecretsSent({ emulator }: Lane): void {
  const sent = emulator.requests
    .filter(({ status, path }) => status === 200 && path.includes('alert_push_destinations'))
    .map(({ body }) => JSON.stringify(body));
  for (const name of ['PAGER_NEW', 'HOOK_A', 'HOOK_B'] as const)
    expect([name, sent.some((body) => body.includes(sha256(secrets[name])))]).toEqual([name, true]);
}

function expectNoSecret(lane: Lane): void {
  for (const name of filesOf(lane))
    expect(readFileSync(join(lane.cwd, '.trueup', name), 'utf8')).not.toContain('canary');
}

/** Whether there is nothing left to do. */
export async function expectQuiet(lane: Lane): Promise<void> {
  const { exit, plan } = await lane.plan();
  expect({
    exit,
    actions: [...new Set(plan.changes.map(({ action }) => action))],
    diagnostics: plan.diagnostics,
  }).toEqual({ exit: 0, actions: ['keep'], diagnostics: [] });
}
