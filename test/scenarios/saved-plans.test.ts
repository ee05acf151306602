// Saved plans through the command: encrypted to the holder of an identity, applied without the plan shown again, and
// for no longer than was asked for.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import { emulator, folder, small, type Folder } from '../support/cli.js';

interface Holder {
  readonly home: Folder;
  readonly identity: string;
  readonly recipient: string;
}

/** A project, and an identity in the file `key.txt`. */
async function holder(): Promise<Holder> {
  const identity = await generateIdentity();
  const home = folder({ 'trueup.yaml': small, 'key.txt': `# a comment\n${identity}\n` });
  return { home, identity, recipient: await identityToRecipient(identity) };
}

/** Says the words of one line each, whatever the width. */
const flowed = (text: string): string => text.replaceAll(/\s+/g, ' ');

test('a saved plan and its report say which serial of the state they were made with', async () => {
  const home = folder({ 'trueup.yaml': small });
  const plan = ['plan', '--out', 'p.plan', '--report', 'markdown=p.md'];
  expect((await home.expect(0, plan)).stderr).toContain(
    'Saved. There is no state yet.\nTo apply the plan, within 24 h: trueup apply p.plan',
  );
  expect(home.read('p.md')).toContain(' · no state · ');
  await home.expect(0, ['apply', 'p.plan']);
  home.write('trueup.yaml', small.replace('Field operations', 'Field'));
  expect((await home.expect(0, plan)).stderr).toContain('Saved. The state has serial 1.\nTo apply');
  expect(home.read('p.md')).toContain(' · state serial 1 · ');
});

test('a stale plan names the attributes that differ, once for all objects of which it is true', async () => {
  const named = (suffix: string): string =>
    `settings: { target: emulator }\naccounts:\n${['alpha', 'bravo', 'delta'].map((name) => `  ${name}: { name: ${name}${suffix} }\n`).join('')}`;
  const home = folder({ 'trueup.yaml': named('-1') });
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('trueup.yaml', named('-2'));
  await home.expect(0, ['plan', '--out', 'p.plan']);
  const live = home.read('.trueup/emulator.json');
  home.write('.trueup/emulator.json', live.replaceAll(/(alpha|bravo)-1/g, '$1-elsewhere'));
  const { stderr } = await home.expect(6, ['apply', 'p.plan']);
  expect(flowed(stderr)).toContain(
    'error: accounts.alpha, accounts.bravo: the live object or what is wanted of it is different now: name.',
  );
  expect(stderr).not.toContain('delta');
});

test('a saved plan whose secret may have been sent says what to type if it is stale', async () => {
  const hook = (name: string): string =>
    `alert_push_destinations:\n  p:\n    name: ${name}\n    endpoint: { url: https://hooks.example.com/a }\n    authentication: { secret: "\${secret.env.PAGER}" }\n`;
  const home = folder({ 'trueup.yaml': hook('P') });
  const { env } = await emulator(home, [
    '--fault',
    'status=500,path=alert_push_destinations,method=PATCH',
  ]);
  const given = (PAGER: string) => ({ env: { ...env, PAGER, TRUEUP_SETTLE_SECONDS: '1' } });
  await home.expect(0, ['apply', '--auto-approve'], given('one'));
  home.write('trueup.yaml', hook('Q'));
  for (const [pager, next] of [
    ['one', 'To continue: trueup apply p.plan'],
    ['two', 'If the saved plan is stale by then, plan again: trueup plan --out p.plan'],
  ] as const) {
    await home.expect(0, ['plan', '--out', 'p.plan'], given(pager));
    const { stdout, stderr } = await home.expect(5, ['apply', 'p.plan'], given(pager));
    expect(stdout).toContain('? UNKNOWN: update alert_push_destinations.p');
    expect(stderr).toContain(next);
  }
});

describe('an encrypted plan', () => {
  test('is read with its identity alone: from a file, a file of the environment, or the environment', async () => {
    const { home, identity, recipient } = await holder();
    const other = await identityToRecipient(await generateIdentity());
    const recipients = ['--encrypt-to', other, '--encrypt-to', recipient];
    const { stderr } = await home.expect(0, ['plan', '--out', 'p.plan', ...recipients]);
    expect(stderr).toContain('trueup apply p.plan --identity FILE');
    const text = home.read('p.plan');
    expect(text).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
    expect(statSync(join(home.path, 'p.plan')).mode & 0o777).toBe(0o600);
    const shown = await home.expect(0, ['show', 'p.plan', '--identity', 'key.txt']);
    expect(shown.stdout).toContain('+ create accounts.field-ops');
    for (const env of [{ TRUEUP_IDENTITY: identity }, { TRUEUP_IDENTITY_FILE: 'key.txt' }])
      expect((await home.expect(0, ['show', 'p.plan'], { env })).stdout).toBe(shown.stdout);
    const applied = await home.expect(0, ['apply', 'p.plan', '--identity', 'key.txt']);
    expect(applied.stdout).toContain('Applied: 3 created');
    for (const ran of [shown, applied]) expect(ran.stdout + ran.stderr).not.toContain(identity);
  });

  test('is refused without it, and says what to type', async () => {
    const { home, identity, recipient } = await holder();
    home.write('empty.txt', '# no identity\n');
    home.write('other.txt', await generateIdentity());
    await home.expect(0, ['plan', '--out', 'p.plan', '--encrypt-to', recipient]);
    const whole = home.read('p.plan');
    for (const [args, code, says] of [
      [[], 'plan-encrypted', /no identity was given.*--identity FILE.*TRUEUP_IDENTITY_FILE/],
      [
        ['--identity', 'other.txt'],
        'wrong-identity',
        /to none of the given.*--encrypt-to RECIPIENT/,
      ],
      [
        ['--identity', 'none.txt'],
        'no-identity',
        /none\.txt names cannot be read.*--identity FILE/,
      ],
      [['--identity', 'empty.txt'], 'no-identity', /empty\.txt holds no identity.*age-keygen -o/],
    ] as const)
      for (const command of ['apply', 'show']) {
        const { stderr } = await home.expect(1, [command, 'p.plan', ...args]);
        expect(flowed(stderr)).toMatch(says);
        expect(stderr).toContain(`[${code}]`);
        expect(stderr).not.toContain('AGE-SECRET-KEY-1');
      }
    for (const changed of [
      whole.slice(0, whole.length / 2),
      // The order of two lines of its payload.
      whole
        .split('\n')
        .toSpliced(10, 2, ...whole.split('\n').slice(10, 12).toReversed())
        .join('\n'),
    ]) {
      home.write('p.plan', changed);
      const { stderr } = await home.expect(1, ['apply', 'p.plan', '--identity', 'key.txt']);
      expect(stderr).toContain('[damaged-file]');
      expect(flowed(stderr)).toContain('it was cut or altered');
    }
    home.write('p.plan', whole);
    home.write('trueup.yaml', small.replace('Field operations', 'Field work'));
    const { stderr } = await home.expect(6, ['apply', 'p.plan'], {
      env: { TRUEUP_IDENTITY: identity },
    });
    expect(stderr).toContain('p.plan is stale');
    expect((await home.expect(0, ['state', 'list'])).stdout).not.toContain('accounts');
  });

  test('goes to recipients only, which are checked before anything is read', async () => {
    const { home, identity, recipient } = await holder();
    for (const [args, code, says] of [
      [['--out', 'p.plan', '--encrypt-to', 'nobody'], 'bad-recipient', /begins with age1/],
      [['--out', 'p.plan', '--encrypt-to', identity], 'bad-recipient', /age-keygen -y/],
      [['--encrypt-to', recipient], 'usage', /trueup plan --out change\.plan --encrypt-to age1/],
    ] as const) {
      const { stdout, stderr } = await home.expect(1, ['plan', ...args]);
      expect(flowed(stderr)).toMatch(says);
      expect(stderr).toContain(`[${code}]`);
      expect(stdout + stderr).not.toContain('AGE-SECRET-KEY-1');
      expect(() => home.read('p.plan')).toThrow('ENOENT');
    }
  });

  test('a plain one needs no identity, and takes one that is not there', async () => {
    const home = folder({ 'trueup.yaml': small });
    await home.expect(0, ['plan', '--out', 'p.plan']);
    await home.expect(0, ['show', 'p.plan', '--identity', 'none.txt']);
    await home.expect(0, ['apply', 'p.plan', '--identity', 'none.txt']);
    expect(
      (await home.expect(1, ['apply', '--auto-approve', '--identity', 'none.txt'])).stderr,
    ).toContain('--identity can be used only with a saved plan');
  });
});

test('the package that encrypts is in a file that the other commands do not load', () => {
  const dist = join(import.meta.dirname, '../../dist');
  expect(readFileSync(join(dist, 'main.js'), 'utf8')).not.toContain('age-encryption.org');
  expect(readFileSync(join(dist, 'provider.cjs'), 'utf8')).not.toContain('age-encryption.org');
});

test('an encrypted plan with lines above it is read by comment as by show', async () => {
  const { home, recipient } = await holder();
  const env = { TRUEUP_IDENTITY_FILE: 'key.txt' };
  await home.expect(0, ['plan', '--out', 'p.plan', '--encrypt-to', recipient]);
  home.write('p.plan', `\n${home.read('p.plan')}`);
  await home.expect(0, ['show', 'p.plan'], { env });
  const { stderr } = await home.expect(1, ['comment', '--forge', 'github', '--plan', 'p.plan'], {
    env,
  });
  expect(stderr).toContain('GITHUB_REPOSITORY names no repository');
});

test('apply of a saved plan shows its summary and not the plan; show shows it', async () => {
  const home = folder({ 'trueup.yaml': small });
  const planned = await home.expect(0, ['plan', '--out', 'p.plan']);
  const applied = await home.expect(0, ['apply', 'p.plan']);
  expect(applied.stdout).toMatch(
    /^Plan: 3 to create, 0 to update, 0 to delete; 0 unchanged\.\n\+ created /,
  );
  expect(applied.stdout).toContain('Applied: 3 created');
  expect(applied.stdout).not.toContain('Requests, in the order of dependencies');
  expect((await home.expect(0, ['show', 'p.plan'])).stdout).toBe(planned.stdout);
});

test('warnings of a saved plan are told when it is applied', async () => {
  const home = folder({
    'trueup.yaml':
      'settings: { target: emulator }\nalert_rules:\n  lost: { filter_criteria: { alert_type__in: [login_success] } }\n',
  });
  await home.expect(0, ['plan', '--out', 'p.plan']);
  const { stderr } = await home.expect(0, ['apply', 'p.plan']);
  expect(stderr).toContain('the rule declares neither accounts nor groups');
});

describe('a saved plan that was applied in part', () => {
  const partly = async (): Promise<Holder & { env: Readonly<Record<string, string>> }> => {
    const { home, ...holding } = await holder();
    const { env } = await emulator(home, [
      '--fault',
      'status=400,path=alert_rules,method=POST,times=1',
    ]);
    const declared = small.replace('settings: { target: emulator }\n', '');
    home.write('trueup.yaml', declared.replace('Field operations', '"${var.n}"'));
    return { home, env, ...holding };
  };
  const planned = (recipient: string, n: string): readonly string[] => [
    ...`plan --out p.plan --valid-for 7d --encrypt-to ${recipient} --allow first-run`.split(' '),
    '--var',
    `n=${n}`,
  ];
  const apply = ['apply', 'p.plan', '--identity', 'key.txt'];
  /** The command behind these words, as it is typed. */
  const advised = (stderr: string, words: string): readonly string[] =>
    new RegExp(`^${words}: trueup (.*)$`, 'm').exec(stderr)![1]!.split(' ');

  test('is finished by the same command, if it was made with a state', async () => {
    const { home, env, recipient } = await partly();
    await home.expect(
      0,
      ['apply', '--auto-approve', '--target', 'accounts.field-ops', '--var', 'n=a'],
      { env },
    );
    await home.expect(0, planned(recipient, 'b'), { env });
    const words = advised((await home.expect(7, apply, { env })).stderr, 'To continue');
    expect(words).toEqual(apply);
    expect((await home.expect(0, words, { env })).stdout).toContain('1 created');
    expect((await home.expect(0, ['plan', '--var', 'n=b'], { env })).stdout).toContain(
      'No changes',
    );
  });

  test('is made again, as it was made, if there was none', async () => {
    const { home, env, recipient } = await partly();
    await home.expect(0, planned(recipient, 'a'), { env });
    const words = advised((await home.expect(7, apply, { env })).stderr, 'Plan again');
    expect(words).toEqual(planned(recipient, 'a'));
    expect((await home.expect(6, apply, { env })).stderr).toContain(
      `Make it again: trueup ${words.join(' ')}`,
    );
    await home.expect(0, words, { env });
    expect(home.read('p.plan')).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----/);
    expect((await home.expect(0, apply, { env })).stdout).toContain('1 created');
  });
});

describe('--valid-for', () => {
  const DAY = 86_400_000;

  test.each([
    [[], DAY],
    [['--valid-for', '30d'], 30 * DAY],
    [['--valid-for', '90m'], 5_400_000],
  ])('%j is how long the plan holds', async (args, span) => {
    const home = folder({ 'trueup.yaml': small });
    const before = Date.now();
    await home.expect(0, ['plan', '--out', 'p.plan', ...args]);
    const { expires_at } = JSON.parse(home.read('p.plan')) as { expires_at: string };
    expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + span);
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + span);
  });

  test('is over when it is over, and the message says since when and what to type', async () => {
    const home = folder({ 'trueup.yaml': small });
    await home.expect(0, ['plan', '--out', 'p.plan', '--valid-for', '1s']);
    const { expires_at } = JSON.parse(home.read('p.plan')) as { expires_at: string };
    await new Promise((done) => setTimeout(done, Date.parse(expires_at) - Date.now() + 1));
    const { stderr } = await home.expect(6, ['apply', 'p.plan']);
    expect(flowed(stderr)).toContain(`p.plan expired at ${expires_at}.`);
    expect(flowed(stderr)).toMatch(/Make the plan again: trueup plan --out p\.plan --valid-for 1s/);
    expect((await home.expect(0, ['state', 'list'])).stdout).not.toContain('accounts');
  });

  test.each([
    [['--out', 'p.plan', '--valid-for', '0s'], /more than 0s and at most 30d/],
    [['--out', 'p.plan', '--valid-for', '31d'], /more than 0s and at most 30d/],
    [['--out', 'p.plan', '--valid-for', 'long'], /--valid-for takes a span/],
    [['--valid-for', '7d'], /--valid-for can be used only with --out/],
  ])('refuses %j', async (args, says) => {
    const home = folder({ 'trueup.yaml': small });
    expect((await home.expect(1, ['plan', ...args])).stderr).toMatch(says);
    expect(() => home.read('p.plan')).toThrow('ENOENT');
  });
});
