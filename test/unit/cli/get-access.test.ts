// The access review on terminals of different widths.
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as get } from '../../../src/cli/commands/get.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const ESTATE = {
  version: 1,
  root: '1',
  next_id: 10,
  records: {
    accounts: [
      { id: '1', account: null, name: 'Acme Corporation Holdings' },
      { id: '2', account: '1', name: 'North region' },
      { id: '3', account: '2', name: 'Depot 7, Hamburg harbour (north)' },
    ],
    account_authorizations: [
      { id: '90', user: '77', account: '1', role: 'administrator' },
      { id: '91', user: '78', account: '3', role: 'full_access_user' },
    ],
  },
  users: [
    { id: '77', email: 'dana@example.com' },
    { id: '78', email: 'lee@example.com' },
  ],
};

test.each([
  [80, 0],
  [60, 0],
  [40, 2],
])(
  'on %i columns it shows each role whole, and says how many columns are not shown',
  async (columns, hidden) => {
    const cwd = freshFolder();
    mkdirSync(join(cwd, '.trueup'));
    writeFileSync(join(cwd, '.trueup', 'emulator.json'), JSON.stringify(ESTATE));
    writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { target: emulator }\n');
    const { code, stdout, stderr } = await inProcess(get, ['get', 'access'], {
      cwd,
      env: {},
      columns,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('administrator');
    expect(stdout).toContain('full_access_user');
    expect(stdout.includes('DECLARED')).toBe(hidden === 0);
    const said = `${hidden} columns are not shown here. To see all: -o csv`;
    expect(stderr.includes('not shown')).toBe(hidden > 0);
    expect(stderr.includes(said)).toBe(hidden > 0);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  },
);
