// The lanes of tests that `npm test` leaves out, and what each needs beside Node.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const runs = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const browsers = ['chromium', 'chromium-browser', 'google-chrome', process.env.CHROMIUM];
const chromium = {
  what: 'Chromium',
  isThere: () => browsers.some((name) => name !== undefined && runs(name, '--version')),
  install: 'apt-get install -y chromium, or name yours in the variable CHROMIUM',
};
const terraform = {
  what: 'terraform',
  isThere: () => runs('terraform', 'version'),
  install: 'put terraform on the PATH',
};
const servers = {
  what: 'PostgreSQL and Ceph',
  isThere: () =>
    runs('radosgw', '--version') &&
    runs('ceph-osd', '--version') &&
    (existsSync('/usr/lib/postgresql') || runs('initdb', '--version')),
  install: 'apt-get install -y postgresql radosgw ceph-mon ceph-osd ceph-common',
};
const vitest = (lane) => ['node_modules/vitest/vitest.mjs', 'run', '--project', lane];
const script = (...args) => ['scripts/run.mjs', ...args];

/** In the order in which they run: the quick ones first. `command`: the arguments of node. */
export const lanes = [
  { name: 'browser', needs: chromium, command: vitest('browser') },
  { name: 'terraform', needs: terraform, command: vitest('terraform') },
  { name: 'scenarios', command: vitest('scenarios') },
  { name: 'differential', needs: terraform, command: script('scripts/differential.ts', '40') },
  { name: 'crash', command: vitest('crash') },
  { name: 'backends', needs: servers, command: vitest('backends') },
  { name: 'simulate', command: vitest('simulate') },
  { name: 'simulator-remote', command: script('test/simulate/run.ts', '1000', '--remote') },
  { name: 'simulator', command: script('test/simulate/run.ts', '2500') },
  // `npm test` and the lane simulate run its tests over the sources as they are.
  { name: 'mutants', command: script('test/mutants/run.ts', '--tests-follow') },
];
