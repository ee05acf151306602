// `npm run verify [lane…]`: every lane that `npm test` leaves out. A lane that cannot run here has failed.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { lanes } from './lanes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = process.argv.slice(2);
const names = lanes.map(({ name }) => name);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`There is no lane ${unknown.join(', ')}. Lanes: ${names.join(', ')}`);
  process.exit(1);
}

/** Undefined where the lane passed. */
function failureOf({ name, needs, command }) {
  if (needs && !needs.isThere()) return `NOT RUN: it needs ${needs.what} (${needs.install})`;
  console.log(`\n--- ${name}`);
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
  return status === 0 ? undefined : 'failed';
}

const results = [];
for (const lane of lanes.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const start = performance.now();
  const failure = failureOf(lane);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  results.push({
    failure,
    line: `${failure === undefined ? 'ok  ' : 'FAIL'} ${lane.name} (${seconds} s)${failure === undefined ? '' : `: ${failure}`}`,
  });
}
console.log(`\n${results.map(({ line }) => line).join('\n')}`);
process.exitCode = results.every(({ failure }) => failure === undefined) ? 0 : 1;
