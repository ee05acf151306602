// A session on a state file, as a command in the same process has it.
import { systemClock } from '../../src/platform/clock.js';
import { diskFiles } from '../../src/platform/files.js';
import { machine } from '../../src/platform/host.js';
import { systemRandom } from '../../src/platform/random.js';
import { fileStore, type Session } from '../../src/state/index.js';

export async function diskSession(path: string, target: string): Promise<Session> {
  const random = systemRandom();
  return fileStore({
    path,
    files: diskFiles(random),
    clock: systemClock(),
    random,
    lock: await machine(),
    version: '0.1.0',
  }).open('apply', target);
}
