// A power cut at every boundary of the disk, at any byte of an append: whatever was acknowledged is there again,
// whatever was not is there whole or not at all, and everything verifies.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyState, fold, pending, type Intent, type Result } from '../../../src/model/index.js';
import type { LockPort } from '../../../src/platform/index.js';
import { fileStore, type Session, type Snapshot, type Store } from '../../../src/state/index.js';
import { PowerCut, simulatedFiles, type SimulatedFiles } from '../../support/simulated-files.js';
import { simulatedMachine } from '../../support/simulated-machine.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { entry, failed, intent, memory, result, TARGET } from './samples.js';
import { drawn } from '../../support/drawn.js';

const PATH = '/sim/state.json';
type Records = readonly (Intent | Result)[];
type Step =
  { readonly do: 'compact' | 'reopen' } | { readonly do: 'record'; readonly records: Records };

const storeOn = (files: SimulatedFiles, lock: LockPort): Store =>
  fileStore({
    path: PATH,
    files,
    clock: simulatedClock(),
    random: seededRandom(3),
    lock,
    version: '0.1.0',
  });

/** What a snapshot says, without what a compaction may change. */
const essence = ({ state, pending: open }: Snapshot): unknown => ({
  resources: state.resources,
  spent: state.spent,
  pending: open,
});
const told = (records: Records): unknown =>
  essence({
    state: fold(emptyState('', ''), records),
    pending: pending(records),
    unfinished: false,
  });

/** Plays the steps. `acknowledged` grows as the store says yes; `inFlight` is what it was asked and has not answered. */
interface Play {
  acknowledged: Records;
  inFlight: Records;
}

async function play(
  files: SimulatedFiles,
  lock: LockPort,
  steps: readonly Step[],
  so: Play,
): Promise<void> {
  let session: Session = await storeOn(files, lock).open('apply', TARGET);
  for (const step of steps) {
    if (step.do === 'record') {
      so.inFlight = step.records;
      await session.record(...step.records);
      so.acknowledged = [...so.acknowledged, ...step.records];
      so.inFlight = [];
    } else if (step.do === 'compact') await session.compact();
    else {
      await session.release();
      session = await storeOn(files, lock).open('apply', TARGET);
    }
  }
  await session.compact();
  await session.release();
}

/** Everything that may be there after a power cut: what was acknowledged, and any beginning of what was in flight. */
const allowed = ({ acknowledged, inFlight }: Play): readonly unknown[] =>
  Array.from({ length: inFlight.length + 1 }, (_, taken) =>
    told([...acknowledged, ...inFlight.slice(0, taken)]),
  );

function diskOf(contents: ReadonlyMap<string, string>, seed: number): SimulatedFiles {
  const files = simulatedFiles(seed);
  for (const [path, text] of contents) files.put(path, text);
  return files;
}

const spent = { at: '2026-01-01T00:00:00.000Z', action: 'delete' } as const;

/** Steps in which each intent has a name of its own, and results answer intents that were made. */
const steps: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }) },
      { weight: 2, arbitrary: fc.constant('compact' as const) },
      { weight: 1, arbitrary: fc.constant('reopen' as const) },
    ),
    { maxLength: 8 },
  )
  .map((plan) => {
    let ops = 0;
    const open: string[] = [];
    const make = (choice: number): Intent | Result => {
      const op = choice > 0 ? open.shift() : undefined;
      if (op === undefined) {
        open.push(String((ops += 1)));
        return intent(String(ops));
      }
      if (choice === 1) return failed(op, 'rejected');
      if (choice === 2) return failed(op, 'unknown', { spent });
      if (choice === 3) return memory(`accounts.a${Number(op) - 1}`, null, { spent });
      return result(op, { entry: entry(op) });
    };
    return plan.map((step): Step =>
      typeof step === 'string' ? { do: step } : { do: 'record', records: step.map(make) },
    );
  });

describe('a power cut', () => {
  it('at any boundary and any byte leaves a state that verifies, reopens, and lacks nothing', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (plan, seed) => {
        const files = simulatedFiles(seed);
        const so: Play = { acknowledged: [], inFlight: [] };
        const cuts: {
          readonly contents: ReadonlyMap<string, string>;
          readonly allowed: readonly unknown[];
        }[] = [];
        files.onBoundary = (contents) => cuts.push({ contents, allowed: allowed(so) });
        await play(files, simulatedMachine().start(), plan, so);
        cuts.push({ contents: files.contents, allowed: [told(so.acknowledged)] });

        for (const cut of cuts) {
          const [after, machine] = [diskOf(cut.contents, seed), simulatedMachine()];
          machine.start();
          machine.restart();
          const read = await storeOn(after, machine.start()).read();
          const seen = read ? essence(read) : told([]);
          expect(cut.allowed).toContainEqual(seen);
          expect(after.contents).toEqual(cut.contents);

          const whileOpening: ReadonlyMap<string, string>[] = [];
          after.onBoundary = (contents) => whileOpening.push(contents);
          const session = await storeOn(after, machine.start()).open('apply', TARGET);
          after.onBoundary = undefined;
          expect(essence(session.snapshot)).toEqual(seen);
          for (const contents of whileOpening) {
            const again = await storeOn(diskOf(contents, seed), machine.start()).read();
            expect(again ? essence(again) : told([])).toEqual(seen);
          }
          await session.record(memory('accounts.later', entry('later')));
          await session.compact();
          await session.release();
          const later = await storeOn(after, machine.start()).read();
          expect(later?.state.resources['accounts.later']).toEqual(entry('later'));
          expect(later?.pending).toEqual(read?.pending ?? []);
          expect(later?.state.spent).toEqual(read?.state.spent ?? []);
          expect(later?.state.serial).toBe((read?.state.serial ?? 0) + 1);
          expect(
            [...after.contents.keys()].filter(
              (path) => path.endsWith('.tmp') && !path.includes('.lock.'),
            ),
          ).toEqual([]);
          expect([...after.contents.keys()].filter((path) => path.includes('journal'))).toEqual(
            later?.pending.length === 0 ? [] : [`${PATH}.journal`],
          );
        }
      }),
      { numRuns: drawn(40) },
    );
  });

  it('in the middle of a run ends that run, and the next one goes on', async () => {
    const plan: readonly Step[] = [
      { do: 'record', records: [intent('1'), result('1')] },
      { do: 'compact' },
      { do: 'record', records: [intent('2'), intent('3'), result('3')] },
      { do: 'compact' },
      { do: 'record', records: [result('2'), intent('4')] },
    ];
    let boundary = 1;
    for (let finished = false; !finished; boundary += 1) {
      const [files, machine] = [simulatedFiles(boundary), simulatedMachine()];
      const so: Play = { acknowledged: [], inFlight: [] };
      files.crashAt(boundary);
      finished = await play(files, machine.start(), plan, so).then(
        () => true,
        (error: unknown) => {
          expect(error).toBeInstanceOf(PowerCut);
          return false;
        },
      );
      machine.restart();
      files.reboot();
      const session = await storeOn(files, machine.start()).open('apply', TARGET);
      expect(allowed(so)).toContainEqual(essence(session.snapshot));
    }
    expect(boundary).toBeGreaterThan(60);
  });
});
