// Where nobody can be asked, the commands that are printed do what was asked for, and nothing else.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { fleetOf } from '../support/fleet-home.js';
import { folder, type Folder } from '../support/cli.js';

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
/** The command after these words, which other words or the code of the error end. */
const commandAfter = (words: string, text: string): string =>
  new RegExp(`${words}: trueup (.*?) (?:To save|and then|\\[not-approved)`).exec(flat(text))?.[1] ??
  '';
/** As a shell reads them. */
const wordsOf = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');

const FILE = `settings: { target: emulator }
variables: { n: Default }
accounts: { a: { name: "\${var.n}" }, b: { name: B }, c: { name: C } }
`;

async function applied(): Promise<Folder> {
  const home = folder({ 'infra dir/trueup.yaml': FILE });
  await home.expect(0, ['apply', 'infra dir', '--auto-approve', '--var', 'n=Mine']);
  return home;
}

describe.each([
  ['destroy', []],
  ['apply', ['--destroy']],
])('%s', (command, more) => {
  const asked = [command, ...more, 'infra dir', '--target', 'accounts.c', '--var', 'n=Mine'];

  test('names the whole command, with variables without their values', async () => {
    const home = await applied();
    const { stderr } = await home.expect(1, asked);
    const now = commandAfter('without confirmation', stderr);
    expect(now).toBe("destroy --auto-approve --target accounts.c 'infra dir' --var n=<value>");
    await home.expect(0, wordsOf(now.replace('<value>', 'Mine')));
    const { stdout } = await home.expect(0, ['state', 'list']);
    expect(stdout.match(/^accounts\.\w/gm)).toEqual(['accounts.a', 'accounts.b']);
  });

  test('names the plan of the same', async () => {
    const home = await applied();
    const { stderr } = await home.expect(1, asked);
    const save = commandAfter('review it first', stderr);
    await home.expect(0, wordsOf(save.replace('<value>', 'Mine')));
    const { stdout } = await home.expect(0, ['apply', 'plan.trueup']);
    expect(stdout).toContain('1 deleted');
  });
});

test('apply keeps everything that was given', async () => {
  const home = await applied();
  const words = [
    '--exclude',
    'accounts.b',
    '--allow',
    'max-deletes',
    '--parallelism',
    '1',
    '--env',
    'prod',
  ];
  const { stderr } = await home.expect(1, ['apply', 'infra dir', ...words]);
  const given = '--exclude accounts.b --allow max-deletes';
  expect(commandAfter('without confirmation', stderr)).toBe(
    `apply --auto-approve --parallelism 1 ${given} 'infra dir' --env prod`,
  );
  expect(commandAfter('review it first', stderr)).toBe(
    `plan --out plan.trueup ${given} 'infra dir' --env prod`,
  );
});

test('a fleet keeps which tenants', async () => {
  const home = await fleetOf(['acme', 'globex']);
  const words = [
    '--select',
    'tenant=acme',
    '--shard',
    '1/1',
    '--var',
    'hook=https://x.example',
    '--env',
    'x',
  ];
  const { code, stderr } = await home.run('apply', ...words);
  const given = '--select tenant=acme --shard 1/1 --env x --var hook=<value>';
  expect(code).toBe(1);
  expect(commandAfter('without confirmation', stderr)).toBe(`fleet apply --auto-approve ${given}`);
  expect(commandAfter('review them first', stderr)).toBe(`fleet plan --out change.bundle ${given}`);
});

test('a fleet whose plans are to be saved first keeps which tenants, and the queue', async () => {
  const home = await fleetOf(['acme', 'globex']);
  const words = ['--engine', 'pgboss', '--queue', 'postgres://127.0.0.1:1/none'];
  const { code, stderr } = await home.run('apply', ...words, '--select', 'tenant=acme');
  expect(code).toBe(1);
  expect(commandAfter('Type', stderr)).toBe('fleet plan --out change.bundle --select tenant=acme');
  expect(flat(stderr)).toContain(`trueup fleet apply change.bundle ${words.join(' ')}`);
});
