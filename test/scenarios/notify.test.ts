// The end of a run is posted where --notify and the environment say: once, without secrets, and whatever becomes of it,
// the run keeps its exit code.
import { describe, expect, test } from 'vitest';
import { emulator, folder, small, type Folder } from '../support/cli.js';
import { receiver, type Posted } from '../support/receiver.js';

const changes = { create: 0, update: 0, replace: 0, delete: 0, adopt: 0, forget: 0, keep: 0 };
const applied = ['apply', '--auto-approve'];

describe('--notify', () => {
  test('posts the result of an apply, with the job and the token', async () => {
    const home = folder({ 'trueup.yaml': small });
    const { url, heard } = await receiver();
    const env = {
      TRUEUP_NOTIFY_TOKEN: 'letmein',
      TRUEUP_LOG: 'debug',
      GITHUB_SERVER_URL: 'https://ci.example.com',
      GITHUB_REPOSITORY: 'a/b',
      GITHUB_RUN_ID: '7',
    };
    const { stdout, stderr } = await home.expect(0, [...applied, '--debug', '--notify', url], {
      env,
    });
    expect(stdout + stderr).not.toMatch(/S3CRET|letmein/);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({
      method: 'POST',
      url: '/hook/S3CRET?key=S3CRET',
      headers: { authorization: 'Bearer letmein', 'content-type': 'application/json' },
    });
    expect(heard[0]?.body).toEqual({
      trueup_version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      command: 'apply',
      project: home.path.split('/').at(-1),
      target: 'emulator',
      exit: 0,
      summary: 'Applied: 3 created, 0 updated, 0 deleted; 0 unchanged.',
      counts: { ...changes, create: 3, failed: 0, skipped: 0, unknown: 0 },
      run_url: 'https://ci.example.com/a/b/actions/runs/7',
      errors: [],
    });
  });

  test('takes several addresses, each with its form, and one of the environment; the token is for generic ones', async () => {
    const home = folder({ 'trueup.yaml': small });
    const { url, heard } = await receiver();
    home.write('url.txt', `teams=${url}\n`);
    const flags = ['--notify', `slack=${url}`, '--notify', `generic=${url}`];
    const env = { TRUEUP_NOTIFY_URL_FILE: 'url.txt', TRUEUP_NOTIFY_TOKEN: 'letmein' };
    await home.expect(0, ['plan', '--out', 'p.plan']);
    await home.expect(0, ['apply', 'p.plan', ...flags], { env });
    const by = (member: string): Posted | undefined => heard.find(({ body }) => member in body);
    expect(heard).toHaveLength(3);
    expect(by('text')?.body['text']).toContain('Applied: 3 created');
    expect(by('attachments')?.body['type']).toBe('message');
    expect(by('summary')?.headers.authorization).toBe('Bearer letmein');
    for (const member of ['text', 'attachments'])
      expect(by(member)?.headers.authorization).toBe(undefined);
  });

  test('tells of a run that failed, was refused or was blocked', async () => {
    const home = folder({ 'trueup.yaml': small });
    const { url, heard } = await receiver();
    await home.expect(1, ['apply', 'nowhere<!here>', '--notify', `slack=${url}`]);
    expect(heard.at(-1)?.body['text']).toContain('nowhere&lt;!here&gt; does not exist');
    await home.expect(1, ['apply', '--notify', url]);
    expect(heard.at(-1)?.body).toMatchObject({
      exit: 1,
      target: null,
      counts: {},
      errors: [expect.stringContaining('--auto-approve was not given')],
    });
    const { env } = await emulator(home, ['--fault', 'status=400,path=alert_rules,method=POST']);
    const elsewhere = folder({
      'trueup.yaml': small.replace('settings: { target: emulator }\n', ''),
    });
    const partly = await elsewhere.expect(7, [...applied, '--notify', url], { env });
    expect(partly.stdout).toContain('! FAILED: create alert_rules.wan-down');
    const reason = /POST \/api\/v2\/alert_rules\/[^]* 400/;
    expect(partly.stderr).toMatch(reason);
    expect(partly.stdout).not.toMatch(reason);
    expect(partly.stderr).toMatch(
      /First remove the cause:\n {2}alert_rules\.wan-down\nTo continue: trueup apply$/m,
    );
    const target = ['--target', 'alert_rules.wan-down'];
    expect((await elsewhere.expect(1, [...applied, ...target], { env })).stderr).toMatch(
      /^To continue: trueup apply --target alert_rules\.wan-down$/m,
    );
    await elsewhere.expect(0, ['plan', ...target, '--out', 'p.plan'], { env });
    expect((await elsewhere.expect(1, ['apply', 'p.plan'], { env })).stderr).toMatch(
      /^To continue: trueup apply p\.plan$/m,
    );
    const { body } = heard.at(-1)!;
    expect(body).toMatchObject({ exit: 7, counts: { create: 2, failed: 1 } });
    expect(body['summary']).toMatch(/^Not all applied: 2 created/);
    expect(body['errors']).toEqual([expect.stringMatching(/^alert_rules\.wan-down: POST .* 400/)]);
    elsewhere.write('trueup.yaml', 'settings: { policy: { max_deletes: 1 } }\n');
    await elsewhere.expect(3, [...applied, '--destroy', '--notify', url], { env });
    expect(heard.at(-1)?.body).toMatchObject({
      exit: 3,
      summary: expect.stringMatching(/^Plan: .* Nothing was changed\.$/) as string,
      errors: [expect.stringMatching(/^Blocked by policy: /)],
    });
    expect(heard).toHaveLength(4);
  });

  test.each([
    [404, 1, /was not delivered: it returned 404\./],
    [302, 1, /was not delivered: it returned 302, and redirects are not followed\./],
    [503, 3, /was not delivered: it returned 503\./],
  ])('an address that answers %d is a warning and asked %d times', async (status, times, says) => {
    const home = folder({ 'trueup.yaml': small });
    const { url, host, heard } = await receiver(status);
    const { stdout, stderr } = await home.expect(0, ['drift', '--notify', url]);
    const said = stderr.replaceAll(/\s+/g, ' ');
    expect(said).toMatch(says);
    expect(said).toContain(`warning: The notification to ${host} `);
    expect(stderr).toContain('[not-notified]');
    expect(stdout + stderr).not.toContain('S3CRET');
    expect(heard).toHaveLength(times);
  });

  test.each([
    ['http://hooks.example.com/S3CRET', /--notify number 1 is plain http/],
    ['S3CRET', /--notify number 1 is not a URL/],
    ['pager=https://hooks.example.com/S3CRET', /Formats: generic, slack, teams/],
    ['slack=https://me:S3CRET@hooks.example.com/', /holds a user name or password/],
  ])('%s is refused before anything is done', async (address, says) => {
    const home = folder({ 'trueup.yaml': small });
    for (const command of [applied, ['drift'], ['watch']]) {
      const { stdout, stderr } = await home.expect(1, [...command, '--notify', address]);
      expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(says);
      expect(stdout + stderr).not.toContain('S3CRET');
    }
    const env = { TRUEUP_NOTIFY_URL: address };
    expect((await home.expect(1, applied, { env })).stderr).not.toContain('S3CRET');
    expect((await home.expect(0, ['state', 'list'])).stdout).not.toContain('accounts');
  });

  test('a token that cannot be had is refused before anything is done', async () => {
    const home = folder({ 'trueup.yaml': small });
    const { url, heard } = await receiver();
    const env = { TRUEUP_NOTIFY_TOKEN_FILE: 'none' };
    const { stderr } = await home.expect(1, [...applied, '--notify', url], { env });
    expect(stderr).toContain('TRUEUP_NOTIFY_TOKEN_FILE');
    expect(heard).toHaveLength(0);
    expect((await home.expect(0, ['state', 'list'])).stdout).not.toContain('accounts');
  });
});

test('an apply that a signal stops posts as far as it came', async () => {
  const home = folder({ 'trueup.yaml': small.replace('settings: { target: emulator }\n', '') });
  const { url, heard } = await receiver();
  const { env } = await emulator(home, ['--fault', 'latency=1000,method=POST']);
  const apply = home.start([...applied, '--parallelism', '1', '--notify', url], {
    env: { ...env, TRUEUP_LOG: 'debug' },
  });
  await apply.says('"type":"start"');
  apply.child.kill('SIGTERM');
  expect((await apply.ended).code).toBe(143);
  expect(heard.map(({ body }) => body)).toMatchObject([
    { exit: 143, summary: expect.stringContaining('skipped') as string },
  ]);
});

test('drift posts what it found, and that it could not be made', async () => {
  const home = folder({ 'trueup.yaml': small });
  const { url, heard } = await receiver();
  await home.expect(0, ['drift', '--notify', url]);
  expect(heard.at(-1)?.body).toMatchObject({
    command: 'drift',
    exit: 0,
    summary: expect.stringMatching(/^Drift: 3 missing/) as string,
    counts: { drifted: 3, in_sync: 0, unmanaged: 1, expectations_failed: 0 },
  });
  await home.expect(2, ['drift', '--detailed-exitcode', '--notify', url]);
  expect(heard.at(-1)?.body['exit']).toBe(2);
  home.write('trueup.yaml', 'accounts: [');
  await home.expect(1, ['drift', '--notify', url]);
  const { body } = heard.at(-1)!;
  expect(body).toMatchObject({ exit: 1, target: null, counts: {} });
  expect(body['errors']).toEqual([body['summary']]);
});

test('watch posts a result that is another than the one before, and no other', async () => {
  const home = folder({ 'trueup.yaml': small.replace('settings: { target: emulator }\n', '') });
  const { url, heard, has } = await receiver();
  const { env } = await emulator(home);
  await home.expect(0, applied, { env });
  const watch = home.start(['watch', '--every', '1s', '--notify', url], { env });
  await watch.says('No drift');
  declare(home, 'Elsewhere');
  await has(1);
  await watch.says('Drift: 1 changed');
  declare(home, 'Field operations');
  await has(2);
  home.write('trueup.yaml', 'accounts: [');
  await has(3);
  watch.child.kill('SIGTERM');
  const { code, stdout } = await watch.ended;
  expect(code).toBe(143);
  expect(stdout.trim().split('\n').length).toBeGreaterThan(heard.length);
  expect(heard.map(({ body }) => [body['command'], body['exit'], body['summary']])).toEqual([
    ['watch', 2, expect.stringMatching(/^Drift: 1 changed/)],
    ['watch', 0, expect.stringMatching(/^No drift/)],
    ['watch', 1, expect.stringMatching(/^trueup\.yaml:1:\d+: /)],
  ]);
}, 60_000);

/** Another name of an account in the declarations. */
function declare(home: Folder, name: string): void {
  home.write(
    'trueup.yaml',
    small
      .replace('settings: { target: emulator }\n', '')
      .replace('name: Field operations', `name: ${name}`),
  );
}
