// The made-up provider as core starts it. `TRUEUP_TEST_CRASH=call` kills it there, `TRUEUP_TEST_HANG=call` never answers.
import { appendFileSync } from 'node:fs';
import { serveCore } from '../../src/cli/provider-process.js';
import { madeUp } from './made-up.js';

void serveCore(process, async () =>
  madeUp({
    crash: (call) => {
      if (process.env['TRUEUP_TEST_CALLS'] !== undefined) appendFileSync(process.env['TRUEUP_TEST_CALLS'], `${process.pid} ${call}\n`);
      if (process.env['TRUEUP_TEST_CRASH'] === call) process.kill(process.pid, 'SIGKILL');
    },
  }),
);
