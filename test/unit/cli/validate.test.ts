// `validate` shows the first of many warnings that say the same, and all of them where it is asked to.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../src/cli/commands/validate.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const rules = Array.from(
  { length: 5 },
  (_, index) =>
    `  r${index}:\n    associated_accounts: ["${index}"]\n    filter_criteria: { alert_type__in: [unheard_of] }\n    http_destinations: ["00000000-aaaa-11f0-8000-000000000001"]\n`,
).join('');

test.each([
  [[], 4, true],
  [['--verbose'], 5, false],
] as const)('validate %j shows %s warnings', async (flags, shown, more) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'trueup.yaml'), `alert_rules:\n${rules}`);
  const { code, stderr } = await inProcess(run, ['validate', ...flags], { cwd, env: {} });
  expect([code, stderr.match(/Warning: /gi)?.length]).toEqual([0, shown]);
  expect(stderr.includes('All of them: --verbose')).toBe(more);
});
