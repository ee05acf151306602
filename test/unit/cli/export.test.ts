// One customer after the other, in one project: what is exported later has no address that the state holds.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as exportRun } from '../../../src/cli/commands/export.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { bareEstate } from '../../../src/emulator/index.js';
import { box, type Box } from '../../support/box.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const customers = ['North', 'South'];
const sites = ['Depot', 'Shop', 'Office'];

it('customers with the same names are exported side by side', async () => {
  const accounts = customers.flatMap((customer, index) => [
    { id: `${index + 2}`, account: '1', name: customer },
    ...sites.map((name, site) => ({
      id: `${index + 2}${site}`,
      account: `${index + 2}`,
      name,
    })),
  ]);
  const service = await box({
    version: 1,
    root: '1',
    next_id: 100,
    records: {
      accounts: [{ id: '1', account: null, name: 'Root' }, ...accounts],
      // Those of each customer become one `for_each`.
      account_authorizations: accounts.map(({ id }) => ({
        id: `role-${id}`,
        user: '71',
        account: id,
        role: 'full_access_user',
        cascade: true,
      })),
    },
    users: [{ id: '71', email: 'ada@example.com' }],
  });
  boxes.push(service);
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { kinds: [users] }\n');
  const done = async (
    command: Parameters<typeof inProcess>[0],
    ...words: readonly string[]
  ): Promise<Said> => {
    const said = await inProcess(command, words, { cwd, env: service.env });
    expect(said.code, said.stderr).toBe(0);
    return said;
  };
  for (const customer of customers) {
    await done(exportRun, 'export', '--account', customer, '--out', customer.toLowerCase());
    const { stdout } = await done(plan, 'plan');
    expect(stdout).not.toMatch(/^Requests/m);
    await done(apply, 'apply', '--auto-approve', '--allow', 'first-run');
  }
  const { stdout } = await done(exportRun, 'export', '--account', 'North', '--all');
  expect(stdout).toMatch(/^ {2}depot:/m);
});

it.each([
  [[], ''],
  [['--all', '--out', 'live'], ' --out live --all'],
  [['--format', 'hcl', '--out', 'live'], ' --out FOLDER --format hcl'],
  [['--split', 'account', '--out', 'live'], ' --out FOLDER --split account'],
])(
  'an export with %j names what it did not read, and the command that does',
  async (flags, words) => {
    const service = await box(bareEstate);
    boxes.push(service);
    const cwd = freshFolder();
    writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { kinds: [users] }\n');
    const { stderr } = await inProcess(exportRun, ['export', ...flags], { cwd, env: service.env });
    expect(stderr).toContain(
      'neither the command, the settings nor the state names them: groups, routers.',
    );
    expect(stderr).toContain(`To export them: trueup export groups routers${words} To export`);
  },
);
