// The made-up provider as core starts it. `TRUEUP_TEST_CALLS` names a file for what is called, `TRUEUP_TEST_CRASH` the
// call at which it is killed, `TRUEUP_TEST_HANG` one that is never answered.
import { appendFileSync } from 'node:fs';
import { serveCore } from '../../../src/cli/provider-process.js';
import { madeUp } from './made-up.js';

const { TRUEUP_TEST_CALLS: file, TRUEUP_TEST_CRASH: crash, TRUEUP_TEST_HANG: hang } = process.env;

void serveCore(process, async () => {
  // As the streams of the command do.
  process.stdout.on('error', () => undefined);
  return madeUp({
    on: async (call) => {
      if (file !== undefined) appendFileSync(file, `${process.pid} ${call}\n`);
      if (crash === call) process.kill(process.pid, 'SIGKILL');
      if (hang === call) await new Promise(() => undefined);
    },
  });
});
