// Signals end a run in good order, a second one ends it at once, and whoever comes while a run goes on is turned away.
// The real command, at moments that the service chooses: while it holds an answer back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLY, openBench, type Bench, type Lane } from './bench.js';
import { expectCode, expectKnown, expectQuiet, expectWhole } from './oracle.js';
import type { Running } from '../support/command.js';

let bench: Bench;
beforeAll(async () => void (bench = await openBench(2)));
afterAll(() => bench.close());

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** A run that stands still with its `nth` mutating request landed and not answered, until `go`. */
async function held(lane: Lane, nth: number): Promise<{ readonly run: Running; go(): void }> {
  let go = (): void => undefined;
  const arrived = new Promise<void>((landed) => {
    lane.meddle = async (count, carryOut) => {
      const answer = await carryOut();
      if (count === nth) {
        landed();
        await new Promise<void>((release) => (go = release));
      }
      return answer;
    };
  });
  const run = lane.command([...APPLY, '--parallelism', '2', '--var', 'note=x']);
  await Promise.race([
    arrived,
    run.ended.then(({ stderr }) => Promise.reject(new Error(`it ended by itself: ${stderr}`))),
  ]);
  return { run, go: () => go() };
}

const said = (running: Running, text: string): Promise<void> =>
  new Promise((resolve) => {
    let all = '';
    running.process.stderr?.on(
      'data',
      (chunk: Buffer) => (all += chunk.toString()).includes(text) && resolve(),
    );
  });

async function finish(lane: Lane): Promise<void> {
  await expectKnown(lane);
  const again = await lane.command(APPLY).ended;
  expectCode(again, 0);
  await expectWhole(lane);
  await expectQuiet(lane);
}

describe.each(SIGNALS)('%s', (signal, code) => {
  it.concurrent.each([1, 4, 9])(`ends a run in good order at request %i, with ${code}`, (nth) =>
    bench.inLane(async (lane) => {
      const { run, go } = await held(lane, nth);
      const heard = said(run, 'Once more ends at once');
      run.process.kill(signal);
      await heard;
      go();
      const ran = await run.ended;
      expectCode(ran, code);
      expect(await lane.snapshot()).toMatchObject({ pending: [], unfinished: false });
      await finish(lane);
    }),
  );

  it.concurrent.each([1, 6])(`ends a run at once when it comes twice, at request %i`, (nth) =>
    bench.inLane(async (lane) => {
      const { run, go } = await held(lane, nth);
      const heard = said(run, 'Once more ends at once');
      run.process.kill(signal);
      await heard;
      run.process.kill(signal);
      const ended = await run.ended;
      expect(ended).toMatchObject({ code, signal: null });
      expect(ended.stderr).toContain('To see what became of it: trueup plan --var note=x\n');
      go();
      lane.meddle = (_, carryOut) => carryOut();
      await finish(lane);
    }),
  );
});

describe('a second run', () => {
  it('is turned away with 4 while the first goes on, and by no lock after it was killed', () =>
    bench.inLane(async (lane) => {
      const { run, go } = await held(lane, 3);
      const other = await lane.command(APPLY).ended;
      expect(other).toMatchObject({ code: 4, stdout: '' });
      expect(other.stderr).toMatch(
        new RegExp(`the state is locked by "apply": process ${run.process.pid} on `),
      );
      expect(await lane.command(['plan']).ended).toMatchObject({ code: 0 });
      run.process.kill('SIGKILL');
      await run.ended;
      go();
      lane.meddle = (_, carryOut) => carryOut();
      await finish(lane);
    }));

  it('waits until a create that was in flight has landed, and does not make it again', () =>
    bench.inLane(async (lane) => {
      const run = lane.command([...APPLY, '--parallelism', '1']);
      const landed = new Promise((done) => {
        lane.meddle = async (_, carryOut, method) => {
          if (method !== 'POST') return carryOut();
          lane.meddle = (__, next) => next();
          run.process.kill('SIGKILL');
          await run.ended;
          setTimeout(() => done(carryOut()), 1000);
          return new Response();
        };
      });
      expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
      const again = await lane.command(APPLY, { TRUEUP_SETTLE_SECONDS: '5' }).ended;
      await landed;
      expectCode(again, 0);
      await expectWhole(lane);
      await expectQuiet(lane);
    }));
});
