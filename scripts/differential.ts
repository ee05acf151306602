// Generated estates through `trueup apply` and `terraform apply`: what both leave must be the same. The tests do the
// first twenty; this takes as many as are asked for: npm run differential -- 200. A second number is the first seed.
import { resolve } from 'node:path';
import { differences } from '../test/support/differential.js';

const [count = 200, first = 1] = process.argv.slice(2).map(Number);
if (!Number.isSafeInteger(count) || !Number.isSafeInteger(first) || count < 1) {
  console.error('How many estates, and from which seed? Type: npm run differential -- 200 1');
  process.exit(1);
}

let unlike = 0;
for (let seed = first; seed < first + count; seed += 1) {
  const found = await differences(seed, resolve('dist/trueup.cjs'));
  if (found.length === 0) continue;
  unlike += 1;
  console.log(found.join('\n'));
}
console.log(`${count} estates, ${unlike} with differences`);
process.exitCode = unlike === 0 ? 0 : 1;
