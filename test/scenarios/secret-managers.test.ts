// Secrets that a command prints, as a secret manager's client does: when it runs, what it sees, and what failures do.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emulator, folder, type Folder } from '../support/cli.js';

/** Prints what its first argument says, and notes each run with the variables that it should not see. */
const CLIENT = `import { appendFileSync, existsSync } from 'node:fs';
const seen = Object.keys(process.env).filter((name) => name.startsWith('TRUEUP_'));
const locked = existsSync('.trueup/state.json.lock') ? ' under the lock' : '';
appendFileSync('runs.txt', process.argv.slice(2).join(' ') + ' ' + seen.join(',') + locked + '\\n');
const [what, key] = process.argv.slice(2);
if (what === 'fail') { console.error('secret-of-the-pager is denied'); process.exit(3); }
if (what === 'all') console.log(JSON.stringify({ pager: 'secret-of-the-pager', other: 7 }));
if (what === 'one') console.log('secret-of-the-' + key);
if (what === 'text') console.log('no object');
`;

const project = (command: string, secret = '${secret.manager.pager}'): string => `
settings: { secrets: { manager: { command: [${command}] } } }
alert_push_destinations:
  pager:
    name: Pager
    enabled: true
    endpoint: { url: https://hooks.example.com/pager }
    authentication: { secret: "${secret}" }
`;

const node = (...words: readonly string[]): string =>
  [process.execPath, 'client.mjs', ...words].map((word) => JSON.stringify(word)).join(', ');

const place = (text: string): Folder => folder({ 'trueup.yaml': text, 'client.mjs': CLIENT });
const runsIn = (home: Folder): readonly string[] => {
  try {
    return home.read('runs.txt').trim().split('\n');
  } catch {
    return [];
  }
};

describe('a secret of a secret manager', () => {
  it.each([
    ['a command that prints one value', node('one', '{key}'), 'one pager'],
    ['a command that prints all of them', node('all'), 'all'],
  ])('is sent once, and masked: %s', async (_, command, run) => {
    const home = place(project(command));
    const { env } = await emulator(folder());
    await home.expect(0, ['validate'], { env });
    expect(runsIn(home)).toEqual([]);
    await home.expect(0, ['apply', '--auto-approve'], { env });
    // Once, and without the credentials of trueup.
    expect(runsIn(home)).toEqual([
      `${run} TRUEUP_V2_URL,TRUEUP_V3_URL,TRUEUP_IOT_URL,TRUEUP_FLOW_URL`,
    ]);
    expect(home.read(join('.trueup', 'state.json'))).not.toContain('secret-of-the-pager');
    await home.expect(0, ['plan', '--detailed-exitcode'], { env });
    expect(runsIn(home)).toHaveLength(2);
    home.write('client.mjs', CLIENT.replaceAll('secret-of-the-', 'changed-secret-of-the-'));
    const changed = await home.expect(2, ['plan', '--detailed-exitcode'], { env });
    expect(changed.stdout).toContain('1 to update');
    expect(changed.stdout + changed.stderr).not.toContain('secret-of-the-pager');
  });

  it('is treated as unchanged where its command fails, and never sent then', async () => {
    const home = place(project(node('one', '{key}')));
    const { env } = await emulator(folder());
    await home.expect(0, ['apply', '--auto-approve'], { env });
    home.write('trueup.yaml', project(node('fail', '{key}')));
    const planned = await home.expect(0, ['plan', '--detailed-exitcode'], { env });
    expect(planned.stderr.replaceAll(/\s+/g, ' ')).toContain(
      'returned no value: it ended with exit code 3. To see why, run its command:',
    );
    expect(planned.stdout + planned.stderr).not.toContain('secret-of-the-pager');
    const fresh = place(project(node('fail', '{key}')));
    const { env: other } = await emulator(folder());
    const refused = await fresh.run(['apply', '--auto-approve'], { env: other });
    expect([refused.code, refused.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('Its command has to print it: '),
    ]);
  });

  it.each([
    [node('all'), '${secret.manager.nobody}', 'printed no member `nobody`, but other, pager'],
    [node('all'), '${secret.manager.other}', 'its member `other` is not a string'],
    [node('text'), '${secret.manager.pager}', 'it printed no JSON object'],
    [node('nothing', '{key}'), '${secret.manager.pager}', 'it printed nothing'],
    ['no-such-client', '${secret.manager.pager}', 'there is no command `no-such-client`'],
  ])('says why there is none: %s %s', async (command, secret, why) => {
    const home = place(project(command, secret));
    const { env } = await emulator(folder());
    const refused = await home.run(['apply', '--auto-approve'], { env });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(why);
  });

  it('tells of three that fail, and of all of them with --verbose', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const others = names.map(
      (name) =>
        `  ${name}: { name: ${name}, enabled: true, endpoint: { url: https://a.example }, authentication: { secret: "\${secret.manager.${name}}" } }\n`,
    );
    const home = place(
      `${project(node('fail', '{key}'), '${secret.manager.a}')}${others.join('')}`,
    );
    const { env } = await emulator(folder(), [], { patience: 120_000 });
    const told = (text: string) => text.match(/returned no value/g)?.length;
    const brief = await home.expect(0, ['plan'], { env });
    expect(brief.stderr).toContain('and 2 more like this');
    expect(told(brief.stderr)).toBe(3);
    const all = await home.expect(0, ['plan', '--verbose'], { env });
    expect(told(all.stderr)).toBe(5);
  });

  it('is masked wherever its value stands, also where it is not sent', async () => {
    const text = `${project(node('one', '{key}'))}accounts:\n  leak: { name: secret-of-the-pager }\n`;
    const home = place(text);
    const { env } = await emulator(folder());
    const applied = await home.expect(0, ['apply', '--auto-approve', '--target', 'accounts.leak'], {
      env,
    });
    for (const shown of [applied.stdout, applied.stderr, home.read('.trueup/state.json')])
      expect(shown).not.toContain('secret-of-the-pager');
  });

  it('ends with its run, and keeps nothing waiting that it started', async () => {
    const home = place(
      project(
        '/bin/sh, -c, "sleep 60 & echo $$ >pid; test $0 = slow && sleep 60; echo value-of-it", "{key}"',
        '${secret.manager.quick}',
      ),
    );
    const { env } = await emulator(folder());
    const begun = performance.now();
    await home.expect(0, ['apply', '--auto-approve'], { env });
    expect(performance.now() - begun).toBeLessThan(25_000);
    home.write('trueup.yaml', home.read('trueup.yaml').replace('.quick}', '.slow}'));
    const slow = home.start(['plan'], { env });
    const group = async (): Promise<number> => {
      for (;;) {
        const pid = Number(home.read('pid'));
        if (pid !== quick) return pid;
        await new Promise((done) => setTimeout(done, 50));
      }
    };
    const quick = Number(home.read('pid'));
    const pid = await group();
    slow.child.kill('SIGINT');
    expect((await slow.ended).code).toBe(130);
    const isThere = (): boolean => {
      try {
        return process.kill(-pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isThere, { timeout: 10_000 }).toBe(false);
  });

  it.each([
    ['manager: { command: [] }', 'names no program'],
    ['manager: { command: [""] }', 'names no program'],
    ['manager: { command: ["a\\0b"] }', 'names no program'],
    ['env: { command: [vault] }', 'names a variable of the environment already'],
  ])('is refused with its place where it is declared as %s', async (text, why) => {
    const home = folder({ 'trueup.yaml': `settings:\n  secrets:\n    ${text}\n` });
    const { stderr } = await home.expect(1, ['validate']);
    expect(stderr).toContain(why);
    expect(stderr).toMatch(/trueup\.yaml:3:/);
  });

  it('names a manager that is in the settings', async () => {
    const home = place(project(node('all'), '${secret.manger.pager}'));
    const { stderr } = await home.expect(1, ['validate']);
    expect(stderr).toContain('trueup.yaml:8:');
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('Did you mean `manager`?');
  });
});
