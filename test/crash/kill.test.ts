// Real processes on a real disk, killed by SIGKILL at every boundary of journal and state and around every request of
// a run of twelve operations. One more run finishes the work: nothing is made twice, nothing is lost, the plan is empty.
import { afterAll, describe, expect, it } from 'vitest';
import { APPLY, openBench, type Lane } from './bench.js';
import { expectCode, expectKnown, expectQuiet, expectWhole } from './oracle.js';
import { OPERATIONS } from './scene.js';

const bench = await openBench(3);
const { inLane } = bench;
const boundaries = await bench.boundaries();
afterAll(() => bench.close());

async function finish(lane: Lane): Promise<void> {
  await expectKnown(lane);
  const ran = await lane.victim(APPLY).ended;
  expectCode(ran, 0);
  await expectWhole(lane);
  await expectQuiet(lane);
}

const killed = { code: null, signal: 'SIGKILL' };

describe(`killed at each of the ${boundaries.length} boundaries of the disk`, () => {
  const rows = boundaries.map((name, index) => ({ name, boundary: String(index + 1) }));
  it.concurrent.each(rows)('$boundary: $name', ({ boundary }) =>
    inLane(async (lane) => {
      expect(
        await lane.victim([...APPLY, '--parallelism', '1'], { VICTIM_BOUNDARY: boundary }).ended,
      ).toMatchObject(killed);
      await finish(lane);
    }),
  );
});

describe('killed around a request', () => {
  const every = Array.from({ length: OPERATIONS }, (_, index) => index + 1);
  const some = every.filter((request) => request % 4 === 1);
  const rows = [
    ...every.map((request) => ({ parallelism: '1', request })),
    ...some.map((request) => ({ parallelism: '10', request })),
  ].flatMap((row) => ['before', 'after'].map((when) => ({ ...row, when })));
  it.concurrent.each(rows)(
    '$when request $request lands, $parallelism at once',
    ({ parallelism, when, request }) =>
      inLane(async (lane) => {
        const run = lane.victim([...APPLY, '--parallelism', parallelism]);
        lane.meddle = async (nth, carryOut) => {
          if (nth < request) return carryOut();
          if (nth === request && when === 'after') await carryOut();
          run.process.kill('SIGKILL');
          return new Response(null, { status: 503 });
        };
        expect(await run.ended).toMatchObject(killed);
        lane.meddle = (_, carryOut) => carryOut();
        await finish(lane);
      }),
  );
});
