// `trueup drift --issue`: the life of one issue, against servers with the rules of GitHub and GitLab.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { NONE, stepsFor } from '../../../src/cli/forge/issue-steps.js';
import { box } from '../../support/box.js';
import { forgeServer } from '../../support/forge-server.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

const MARKER = '<!-- trueup:drift:default -->';

async function scene(forge: 'github' | 'gitlab') {
  const server = await forgeServer();
  const cloud = await box({
    version: 1,
    records: { accounts: [{ id: '1', name: 'Headquarters' }] },
  });
  onTestFinished(() => cloud.close());
  const cwd = freshFolder();
  writeFileSync(
    join(cwd, 'trueup.yaml'),
    'accounts:\n  north: { name: North }\n  south: { name: South }\n',
  );
  const env: Record<string, string> = {
    ...cloud.env,
    ...(forge === 'github'
      ? {
          GITHUB_API_URL: server.url,
          GITHUB_REPOSITORY: 'acme/network',
          GITHUB_TOKEN: 'job-token',
        }
      : {
          CI_API_V4_URL: `${server.url}/api/v4`,
          CI_PROJECT_ID: '42',
          GITLAB_TOKEN: 'person-token',
        }),
  };
  await inProcess(apply, ['apply', '--auto-approve'], { cwd, env });
  return {
    server,
    cwd,
    env,
    audit: (...words: readonly string[]): Promise<Said> =>
      inProcess(drift, ['drift', '--issue', forge, '--detailed-exitcode', ...words], { cwd, env }),
    rename: (from: string, to: string): void =>
      cloud.tamper('accounts', (all) =>
        all.map((one) => (one['name'] === from ? { ...one, name: to } : one)),
      ),
    outage(on: boolean): void {
      cloud.setFaults(...(on ? ['status=403'] : []));
    },
  };
}

describe.each(['github', 'gitlab'] as const)('on %s', (forge) => {
  test('an issue is created, changed, closed and opened again, and nothing else is written', async () => {
    const { server, audit, rename } = await scene(forge);
    const writes = (): number => server.writes().length;
    expect(await audit()).toMatchObject({ code: 0 });
    expect([server.issues, writes()]).toEqual([[], 0]);

    rename('North', 'Nord');
    expect(await audit()).toMatchObject({ code: 2 });
    expect(server.issues).toMatchObject([{ title: 'Drift: default', open: true }]);
    const [issue] = server.issues;
    expect(issue?.body.split('\n')[0]).toBe(MARKER);
    expect(issue?.body).toContain('### Drift: 1 changed; 1 in sync');
    const created = writes();
    expect(await audit()).toMatchObject({ code: 2 });
    expect(writes()).toBe(created);

    rename('South', 'Sued');
    await audit();
    expect([server.issues.length, writes()]).toEqual([1, created + 1]);
    expect(issue?.body).toContain('### Drift: 2 changed; 0 in sync');

    rename('Nord', 'North');
    rename('Sued', 'South');
    expect(await audit()).toMatchObject({ code: 0 });
    expect(issue).toMatchObject({ open: false, comments: [{}] });
    expect(issue?.comments[0]?.body).toContain('### No drift. 2 objects are as declared');
    const closed = writes();
    await audit();
    expect(writes()).toBe(closed);

    rename('North', 'Nord');
    await audit();
    expect([server.issues.length, issue?.open, issue?.comments.length]).toEqual([1, true, 1]);
    expect(issue?.body).toContain('### Drift: 1 changed; 1 in sync');
  });

  test('an outage is one comment, and closes nothing', async () => {
    const { server, audit, rename, outage } = await scene(forge);
    outage(true);
    expect(await audit()).toMatchObject({ code: 1 });
    expect(server.issues).toEqual([]);
    outage(false);
    rename('North', 'Nord');
    await audit();
    const [issue] = server.issues;
    for (let hour = 0; hour < 3; hour += 1) {
      outage(true);
      expect(await audit()).toMatchObject({ code: 1 });
    }
    expect(issue).toMatchObject({ open: true, comments: [{}] });
    expect(issue?.comments[0]?.body).toContain('could not be made');
    expect(issue?.body).toContain('### Drift: 1 changed; 1 in sync');
    outage(false);
    await audit();
    outage(true);
    await audit();
    expect(issue).toMatchObject({ open: true, comments: [{}, {}] });
    outage(false);
    rename('Nord', 'North');
    await audit();
    expect(issue).toMatchObject({ open: false, comments: [{}, {}, {}] });
  });

  test('declarations with an error are an outage, too', async () => {
    const { server, cwd, audit, rename } = await scene(forge);
    rename('North', 'Nord');
    await audit();
    writeFileSync(join(cwd, 'more.yaml'), 'accounts: { x: { nme: X } }\n');
    expect(await audit()).toMatchObject({ code: 1 });
    expect(server.issues).toMatchObject([{ open: true, comments: [{}] }]);
    expect(server.issues[0]?.comments[0]?.body).toContain('nme` is not an attribute');
  });

  test('the issue of somebody else is left alone, and the newest of trueup is taken', async () => {
    const { server, audit, rename } = await scene(forge);
    const author = forge === 'github' ? 'github-actions[bot]' : 'Reviewer';
    const issue = (id: number, by: string) => ({
      id,
      title: 'x',
      open: true,
      comments: [],
      author: by,
      body: `${MARKER}\nold`,
    });
    server.issues.push(issue(1, author), issue(2, author));
    for (let id = 3; id < 130; id += 1) server.issues.push(issue(id, 'Somebody'));
    rename('North', 'Nord');
    await audit();
    expect(server.issues.filter(({ body }) => body.includes('Drift: 1'))).toMatchObject([
      { id: 2 },
    ]);
    expect(server.issues).toHaveLength(129);
  });

  test('a filter by author that finds nothing gives no second issue', async () => {
    const { server, audit, rename } = await scene(forge);
    rename('North', 'Nord');
    await audit();
    server.authorFilter = false;
    rename('South', 'Sued');
    await audit();
    expect(server.issues).toHaveLength(1);
    expect(server.issues[0]?.body).toContain('Drift: 2');
  });

  test('a create whose answer is lost makes no second issue', async () => {
    const { server, audit, rename } = await scene(forge);
    rename('North', 'Nord');
    server.failures.push({ method: 'POST', path: /issues$/, status: 500, late: true });
    expect(await audit()).toMatchObject({ code: 2 });
    expect(server.issues).toHaveLength(1);
  });

  test('what cannot be written is a warning where an issue is open, and else an error, as what cannot be read', async () => {
    const { server, env, audit, rename } = await scene(forge);
    const name = forge === 'github' ? 'job-token' : 'person-token';
    const token = server.tokens.get(name)!;
    const refused = /: \w+ was asked to write the issue, and returned 403/;
    server.tokens.set(name, { ...token, may: [] });
    rename('North', 'Nord');
    const unheard = await audit();
    expect([unheard.code, server.issues]).toEqual([1, []]);
    expect(unheard.stderr).toMatch(new RegExp(`error${refused.source}`));
    server.tokens.set(name, token);
    await audit();
    server.tokens.set(name, { ...token, may: [] });
    rename('South', 'Sued');
    const unwritten = await audit();
    expect(unwritten.code).toBe(2);
    expect(unwritten.stderr).toMatch(new RegExp(`warning${refused.source}`));
    env[forge === 'github' ? 'GITHUB_TOKEN' : 'GITLAB_TOKEN'] = 'expired';
    const unread = await audit();
    expect([unread.code, unread.stderr]).toEqual([1, expect.stringContaining('returned 401')]);
    expect(unread.stdout).toContain('Drift: 2 changed');
  });
});

test('what is missing is said before anything is audited', async () => {
  const { env, audit } = await scene('github');
  delete env['GITHUB_REPOSITORY'];
  const { code, stdout, stderr } = await audit();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('GITHUB_REPOSITORY names no repository');
});

describe('what is written', () => {
  const [A, B] = ['a'.repeat(64), 'b'.repeat(64)] as const;
  const issue = (open: boolean, digest: string | undefined, outage = false) => ({
    open,
    stored: { digest, outage },
  });
  const clean = { found: 'clean', digest: NONE } as const;
  const found = (digest: string) => ({ found: 'drift', digest }) as const;
  const incomplete = (digest: string = NONE) => ({ found: 'incomplete', digest }) as const;

  test.each([
    ['nothing, and there is no issue', clean, undefined, undefined],
    ['drift, and there is no issue', found(A), undefined, { write: 'create' }],
    ['the same drift', found(A), issue(true, A), undefined],
    ['the same drift after an outage', found(A), issue(true, A, true), { write: 'note' }],
    ['other drift', found(B), issue(true, A), { write: 'report', open: true }],
    ['drift that a person closed the issue of', found(A), issue(false, A), undefined],
    ['other drift than was closed', found(B), issue(false, A), { write: 'report', open: true }],
    ['drift again', found(A), issue(false, NONE), { write: 'report', open: true }],
    ['drift, and a person edited the note', found(A), issue(true, undefined), { write: 'report' }],
    ['nothing any more', clean, issue(true, A), { open: false, comment: 'clean' }],
    ['nothing after an outage', clean, issue(true, A, true), { open: false, comment: 'clean' }],
    ['nothing any more, closed by a person', clean, issue(false, A), { write: 'note' }],
    ['nothing, as before', clean, issue(false, NONE), undefined],
    ['an outage without an issue', incomplete(), undefined, undefined],
    ['an outage with some drift', incomplete(A), undefined, { write: 'create' }],
    ['an outage', incomplete(), issue(true, A), { write: 'note', comment: 'outage' }],
    ['an outage that goes on', incomplete(B), issue(true, A, true), undefined],
    ['an outage while it is closed', incomplete(), issue(false, NONE), undefined],
    ['drift in an outage', incomplete(A), issue(false, NONE), { write: 'report', open: true }],
    ['drift in an outage, closed by a person', incomplete(B), issue(false, A), undefined],
  ])('%s', (_, audited, before, steps) => {
    const taken = stepsFor(audited, before);
    expect([taken]).toMatchObject([steps]);
    // An outage proves nothing: it never closes.
    const isOutage = audited.found === 'incomplete';
    expect(isOutage && taken?.open === false).toBe(false);
    expect(taken?.note.outage ?? isOutage).toBe(isOutage);
  });

  test('an outage keeps the drift in mind that was reported', () =>
    expect(stepsFor(incomplete(B), issue(true, A))?.note).toEqual({ digest: A, outage: true }));
});
