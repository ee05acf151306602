// Secrets whose bytes are no text: what they would be decoded to is another value.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const project = (secret: string): string => `
settings: { target: emulator, secrets: { manager: { command: [cat, '{key}'] } } }
alert_push_destinations:
  p:
    { name: P, endpoint: { url: 'https://example.com' }, authentication: { secret: '${secret}' } }
`;

it.each([
  ['a file', '${secret.file.key}', '${secret.file.key}: its'],
  ['a command', '${secret.manager.key}', '`settings.secrets.manager` returned no value: its'],
])('of %s are an error, and nothing is sent', async (_, secret, said) => {
  const cwd = freshFolder();
  const home = { cwd, env: { PATH: process.env['PATH'] ?? '' } };
  writeFileSync(join(cwd, 'trueup.yaml'), project(secret));
  writeFileSync(join(cwd, 'key'), 'before');
  const applied = await inProcess(apply, ['apply', '--auto-approve'], home);
  expect(applied.code, applied.stderr).toBe(0);
  writeFileSync(join(cwd, 'key'), Buffer.from([0xff, 0xfe]));
  for (const refused of [
    await inProcess(plan, ['plan'], home),
    await inProcess(apply, ['apply', '--auto-approve'], home),
  ])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`error: ${said} bytes are not valid UTF-8`),
    ]);
});
