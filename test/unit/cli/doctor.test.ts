// What `trueup doctor` asks for where the declarations have errors.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as doctor } from '../../../src/cli/commands/doctor.js';
import { diskSession } from '../../support/disk-session.js';
import { freshFolder, inProcess } from '../../support/in-process.js';
import { intent } from '../state/samples.js';

test('a run that holds the lock is no earlier run that did not finish', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { target: emulator, state: state.json }\n');
  const session = await diskSession(join(cwd, 'state.json'), 'emulator');
  await session.record(intent('1'));
  const looking = async () => (await inProcess(doctor, ['doctor'], { cwd, env: {} })).stdout;
  expect(await looking()).toMatch(/^note +journal +the run that holds the lock is not finished/m);
  await session.release();
  expect(await looking()).toMatch(/^note +journal +an earlier run did not finish/m);
});

test('an error in a declaration asks for no address of a cloud that is not used', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { target: emulator }\naccounts: { a: 1 }\n');
  const { code, stdout } = await inProcess(doctor, ['doctor'], { cwd, env: {} });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^BAD +declarations/m);
  expect(stdout).toMatch(/^ok +cloud +the emulator in this process/m);
  expect(stdout).not.toMatch(/^BAD +TRUEUP_/m);
});

test('a state of another cloud is wrong, with what to write', async () => {
  const cwd = freshFolder();
  const write = (settings: string) =>
    writeFileSync(
      join(cwd, 'trueup.yaml'),
      `settings: ${settings}\naccounts: { a: { name: A } }\n`,
    );
  write('{ target: emulator }');
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env: {} });
  write('{ target: cloud }');
  const env = {
    TRUEUP_V2_URL: 'http://127.0.0.1:1/api/v2',
    TRUEUP_V3_URL: 'http://127.0.0.1:1/api/v3',
  };
  const keys = ['CP_API_ID', 'CP_API_KEY', 'ECM_API_ID', 'ECM_API_KEY', 'TOKEN'];
  const { code, stdout } = await inProcess(doctor, ['doctor'], {
    cwd,
    env: { ...env, ...Object.fromEntries(keys.map((key) => [`TRUEUP_${key}`, 'x'])) },
  });
  expect(code).toBe(1);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'BAD target The state belongs to emulator, but the target is http://127.0.0.1:1/api/v2',
  );
  expect(stdout).toContain('settings: { target: emulator }');
});
