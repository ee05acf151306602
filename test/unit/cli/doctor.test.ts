// What `trueup doctor` asks for where the declarations have errors.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run as doctor } from '../../../src/cli/commands/doctor.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

test('an error in a declaration asks for no address of a cloud that is not used', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), 'settings: { target: emulator }\naccounts: { a: 1 }\n');
  const { code, stdout } = await inProcess(doctor, ['doctor'], { cwd, env: {} });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^BAD +declarations/m);
  expect(stdout).toMatch(/^ok +cloud +the emulator in this process/m);
  expect(stdout).not.toMatch(/^BAD +TRUEUP_/m);
});
