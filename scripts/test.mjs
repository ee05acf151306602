// `npm test`: the lanes that need Node alone. Arguments go to vitest. The last line names the lanes that did not run,
// whether or not this machine could run them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lanes } from './lanes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const projects = ['unit', 'contract', 'integration'].flatMap((lane) => ['--project', lane]);
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', ...projects, ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
    // Properties draw a part of their cases: CI draws all of them.
    env: { FC_RUNS: '30', ...process.env },
  },
);
const left = lanes.map(({ name, needs }) =>
  needs === undefined ? name : `${name} (needs ${needs.what})`,
);
console.log(`Not run here: ${left.join(', ')}. Run: npm run verify`);
process.exitCode = status ?? 1;
