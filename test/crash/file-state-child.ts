// A process of its own for the tests that kill: `hold PATH` takes the lock and waits, `race PATH` tries once, `work PATH`
// records and compacts until it dies, saying what was acknowledged. With BEATS its heart beats so many times as fast.
import { systemClock } from '../../src/platform/clock.js';
import { diskFiles } from '../../src/platform/files.js';
import { machine } from '../../src/platform/host.js';
import { systemRandom } from '../../src/platform/random.js';
import { Refusal } from '../../src/model/index.js';
import { fileStore, type Session } from '../../src/state/index.js';
import { intent, result, TARGET } from '../unit/state/samples.js';

const [mode = '', path = ''] = process.argv.slice(2);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const random = systemRandom();
const here = await machine();
const lock = {
  ...here,
  every: (milliseconds: number, work: () => void) =>
    here.every(milliseconds / Number(process.env['BEATS'] ?? 1), work),
};

async function work(session: Session): Promise<never> {
  for (let turn = Object.keys(session.snapshot.state.resources).length + 1; ; turn += 1) {
    await session.record(intent(`${process.pid}-${turn}`, `accounts.a${turn}`));
    await session.record({ ...result(String(turn)), op: `${process.pid}-${turn}` });
    say(`done ${turn}`);
    if (turn % 3 === 0) await session.compact();
  }
}

try {
  const session = await fileStore({
    path,
    files: diskFiles(random),
    clock: systemClock(),
    random,
    lock,
    version: '0.1.0',
  }).open(mode, TARGET);
  say('held');
  await (mode === 'work'
    ? work(session)
    : new Promise((resolve) => process.stdin.once('data', resolve)));
  await session.release();
  process.exit(0);
} catch (error) {
  say(error instanceof Refusal ? `refused ${error.exit}` : `failed ${String(error)}`);
  process.exit(1);
}
