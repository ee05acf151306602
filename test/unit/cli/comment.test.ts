// `trueup comment` against servers with the rules of GitHub and GitLab.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { run } from '../../../src/cli/commands/comment.js';
import { commentBody } from '../../../src/cli/forge/comment-body.js';
import { sealOf } from '../../../src/cli/forge/post-markers.js';
import type { Change, Plan } from '../../../src/model/index.js';
import { planDocument } from '../../../src/report/index.js';
import { planComment } from '../../../src/report/plan-markdown.js';
import { renderPlan } from '../../../src/report/render.js';
import { kinds } from '../../../src/resources/index.js';
import { drawn } from '../../support/drawn.js';
import { forgeServer, type ForgeServer } from '../../support/forge-server.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';
import { arbitraryPlan, hostile } from '../report/arbitrary.js';
import { first, meta, mixed, quiet } from '../report/plans.js';

const MARKER = '<!-- trueup:plan:default -->';
const BOT = 'github-actions[bot]';

interface Job {
  readonly server: ForgeServer;
  readonly folder: string;
  readonly env: Record<string, string>;
  comment(plan: Plan, ...words: readonly string[]): Promise<Said>;
}

async function job(forge: 'github' | 'gitlab', more: Record<string, string> = {}): Promise<Job> {
  const server = await forgeServer();
  const folder = freshFolder();
  const env: Record<string, string> = {
    ...(forge === 'github'
      ? {
          GITHUB_API_URL: server.url,
          GITHUB_REPOSITORY: 'acme/network',
          GITHUB_TOKEN: 'job-token',
          GITHUB_REF: 'refs/pull/7/merge',
          GITHUB_SERVER_URL: 'https://github.example',
          GITHUB_RUN_ID: '1',
        }
      : {
          CI_API_V4_URL: `${server.url}/api/v4`,
          CI_PROJECT_ID: '42',
          CI_MERGE_REQUEST_IID: '7',
          GITLAB_TOKEN: 'person-token',
          CI_JOB_URL: 'https://gitlab.example/jobs/1',
        }),
    ...more,
  };
  return {
    server,
    folder,
    env,
    comment(plan, ...words) {
      const document = planDocument({ plan, kinds, meta });
      writeFileSync(
        join(folder, 'plan.json'),
        renderPlan(document, 'json', { color: false, width: 80 }),
      );
      const line = ['comment', '--forge', forge, '--plan', 'plan.json', ...words];
      return inProcess(run, line, { cwd: folder, env });
    },
  };
}

const other = (id: number, body = 'Looks good.', author = 'Somebody') => ({ id, body, author });

describe.each(['github', 'gitlab'] as const)('on %s', (forge) => {
  const author = forge === 'github' ? BOT : 'Reviewer';

  test('one comment is created, then updated in place, and the earlier plan is folded', async () => {
    const { server, comment } = await job(forge);
    const created = await comment(mixed);
    expect([created.code, created.stdout]).toEqual([
      0,
      expect.stringContaining('The comment was created.'),
    ]);
    const [body = ''] = server.comments.map((one) => one.body);
    expect(body.split('\n')[0]).toBe(MARKER);
    expect(body).toContain('### Plan: ');
    expect(body).toMatch(/\[The run\]\(<https:\/\/\w+\.example\//);
    expect(body).not.toContain('<summary>Earlier');

    expect((await comment(first)).stdout).toContain('The comment was updated.');
    const [updated = ''] = server.comments.map((one) => one.body);
    expect(server.comments).toHaveLength(1);
    expect(updated.split('\n')[0]).toBe(MARKER);
    const [shown = '', folded = ''] = updated.split('<summary>Earlier plans: 1');
    expect(shown).toContain('### Plan: 3 to create, 0 to update');
    expect(folded).toContain(body.split('\n')[2]);
  });

  test('nothing is written where nothing changed', async () => {
    const { server, comment } = await job(forge);
    await comment(mixed, '--check-run', 'none');
    const { length } = server.writes();
    expect((await comment(mixed, '--check-run', 'none')).stdout).toBe(
      'The comment is as it was.\n',
    );
    expect(server.writes()).toHaveLength(length);
  });

  test('the comment is found on the last page, and a marker by somebody else is no comment of trueup', async () => {
    const { server, comment } = await job(forge);
    server.comments.push(other(1, `${MARKER}\nforged`));
    for (let id = 2; id < 251; id += 1) server.comments.push(other(id));
    await comment(quiet);
    expect(server.comments).toHaveLength(251);
    expect((await comment(mixed)).stderr).toBe('');
    expect(server.comments).toHaveLength(251);
    expect(server.comments[0]?.body).toBe(`${MARKER}\nforged`);
    expect(server.comments.at(-1)).toMatchObject({ author });
    expect(server.comments.at(-1)?.body).toContain('Earlier plans: 1');
    expect(server.comments.at(-1)?.body).not.toContain('forged');
  });

  test('the marker inside another comment of the same user is no marker', async () => {
    const { server, comment } = await job(forge);
    server.comments.push(other(1, `I quote:\n${MARKER}`, author));
    await comment(mixed);
    expect(server.comments).toHaveLength(2);
  });

  test('projects and environments have comments of their own', async () => {
    const { server, comment } = await job(forge);
    await comment(mixed);
    expect((await comment(mixed, '--env', 'prod')).stderr).toBe('');
    await comment(mixed, '--key', 'network.lab');
    expect(server.comments.map(({ body }) => body.split('\n')[0])).toEqual([
      MARKER,
      '<!-- trueup:plan:default.prod -->',
      '<!-- trueup:plan:network.lab -->',
    ]);
    const wrong = await comment(mixed, '--key', 'a --> b');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('--key takes')]);
  });

  test('a token without the right to write ends it with 1, and the permission is named', async () => {
    const { server, comment } = await job(forge);
    const token = forge === 'github' ? 'job-token' : 'person-token';
    server.tokens.set(token, { ...server.tokens.get(token)!, may: [] });
    const { code, stderr } = await comment(mixed);
    expect(code).toBe(1);
    expect(stderr).toContain('403');
    expect(stderr).toContain(forge === 'github' ? 'pull-requests: write' : 'scope api');
    expect(stderr).not.toContain(token);
  });

  test('a create whose answer is lost makes no second comment', async () => {
    const { server, comment } = await job(forge);
    server.failures.push({
      method: 'POST',
      path: /7\/(?:comments|notes)$/,
      status: 502,
      late: true,
    });
    expect(await comment(mixed)).toMatchObject({ code: 0 });
    expect(server.comments).toHaveLength(1);
  });

  test('what failed is asked for again, at most three times', async () => {
    const { server, comment } = await job(forge);
    const path = /7\/(?:comments|notes)$/;
    const busy = { method: 'POST', path, status: 429, headers: { 'retry-after': '0' } };
    server.failures.push(busy, busy);
    expect(await comment(mixed)).toMatchObject({ code: 0 });
    expect(server.comments).toHaveLength(1);
    server.failures.push(
      ...Array.from({ length: 9 }, () => ({ method: 'GET', path, status: 503 })),
    );
    const before = server.log.filter((line) => /GET .*(?:comments|notes)/.test(line)).length;
    expect(await comment(first)).toMatchObject({ code: 1 });
    expect(server.log.filter((line) => /GET .*(?:comments|notes)/.test(line))).toHaveLength(
      before + 3,
    );
  });
});

describe('folding', () => {
  const contents = (body: string): readonly string[] => body.match(/^### .*$/gm) ?? [];
  const content = (name: string) =>
    `### ${name}\n\ntext of ${name}\n[The run](<https://a.b/${name}>)`;

  test('the latest three are kept, the latest first', () => {
    let body: string | undefined;
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
      body = commentBody({ marker: MARKER, content: content(name), before: body });
    expect(contents(body ?? '')).toEqual(['### six', '### five', '### four', '### three']);
  });

  test('another run of the same plan takes no entry', () => {
    const before = commentBody({ marker: MARKER, content: content('one'), before: undefined });
    const again = content('one').replace('a.b/one', 'a.b/again');
    const body = commentBody({ marker: MARKER, content: again, before });
    expect(body).toContain('a.b/again');
    expect(body).not.toContain('Earlier');
  });

  test('what a person edited is folded as text', () => {
    const written = commentBody({ marker: MARKER, content: content('one'), before: undefined })!;
    const before = `${written}\n</details>\n/close\n\`\`\`\n${MARKER}\n<!-- trueup:earlier -->\n@team`;
    const body = commentBody({ marker: MARKER, content: content('two'), before })!;
    const [, folded = ''] = body.split('<summary>Edited by a person</summary>');
    expect(folded).toContain('\n </details>\n /close\n');
    expect(folded).toMatch(/^\n\n````\n/);
    expect(body.match(/^<\/details>$/gm)).toHaveLength(2);
    expect(body.match(/^<!-- trueup:earlier -->$/gm)).toHaveLength(1);
    const next = commentBody({ marker: MARKER, content: content('three'), before: body })!;
    expect(next.match(/^<details>/gm)).toHaveLength(3);
    expect(next.match(/^<\/details>$/gm)).toHaveLength(3);
  });

  test('other line breaks and spaces at the end are no edit', () => {
    const written = commentBody({ marker: MARKER, content: content('one'), before: undefined })!;
    const before = `${written.replaceAll('\n', '\r\n')}\r\n`;
    expect(commentBody({ marker: MARKER, content: content('two'), before })).toContain(
      '<summary>one</summary>',
    );
  });

  test('hostile plans break no fold', () => {
    const plans = fc.array(arbitraryPlan, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(plans, (all) => {
        let body: string | undefined;
        for (const plan of all) {
          const text = planComment(planDocument({ plan, kinds, meta }), 64_000);
          body = commentBody({ marker: MARKER, content: text, before: body }) ?? body;
          const [marker, seal, ...lines] = (body ?? '').split('\n');
          expect([marker, seal]).toEqual([MARKER, sealOf(lines)]);
          expect(body!.length).toBeLessThan(65_536);
          expect(lines.filter((line) => line.startsWith('<details>'))).toHaveLength(
            lines.filter((line) => line === '</details>').length,
          );
          expect(contents(body!).length).toBeLessThanOrEqual(4);
        }
      }),
      { numRuns: drawn(100) },
    );
  });

  test.each([...hostile, '\n<!-- trueup:earlier -->\n', '\n</details>\n', MARKER])(
    'the value %j stays a value',
    (text) => {
      const changes = mixed.changes.map((change) => ({ ...change, reason: text }));
      const shown = planComment(planDocument({ plan: { ...mixed, changes }, kinds, meta }), 64_000);
      const before = commentBody({ marker: MARKER, content: shown, before: undefined });
      const body = commentBody({ marker: MARKER, content: content('two'), before })!;
      expect(body.match(/^<!-- trueup:.* -->$/gm)).toHaveLength(5);
      expect(body).toContain('<summary>Earlier plans: 1,');
      expect(body).toContain(shown.trimEnd());
    },
  );
});

test('a plan of any size keeps to its share of a comment', () => {
  const some = mixed.changes.filter(({ action }) => action !== 'keep');
  for (const times of [1, 10, 20, 40, 60, 80, 120]) {
    const changes = Array.from({ length: times }, () => some).flat();
    const document = planDocument({ plan: { ...mixed, changes }, kinds, meta });
    expect(planComment(document, 64_000).length).toBeLessThanOrEqual(64_000);
  }
});

describe('around the comment', () => {
  test('ten thousand changes fit, the largest first, and stay within the limit when they are folded', async () => {
    const { server, comment } = await job('github');
    const some = mixed.changes.filter(({ action }) => action !== 'keep');
    const many = Array.from({ length: 10_000 }, (_, index): Change => {
      const change = some[index % some.length]!;
      return { ...change, address: `${change.address}-${index}` };
    });
    for (const changes of [many, many.slice(1)]) {
      expect(await comment({ ...mixed, changes })).toMatchObject({ code: 0 });
      const { body } = server.comments[0]!;
      expect(body.length).toBeLessThan(65_536);
      expect(body).toMatch(/### Plan: \d{4} to create/);
      expect(body).toContain(' more');
    }
    expect(server.comments[0]?.body).toContain('Left out: the comment would be too long.');
  });

  test('the job summary is added to, and no longer than GitHub takes', async () => {
    const { folder, env, comment } = await job('github');
    const path = join(folder, 'summary.md');
    env['GITHUB_STEP_SUMMARY'] = path;
    writeFileSync(path, 'before\n');
    await comment(mixed);
    expect(readFileSync(path, 'utf8')).toMatch(/^before\n### Plan: /);
    writeFileSync(path, 'x'.repeat(1024 * 1024 - 100));
    const { code, stderr } = await comment(mixed);
    expect([code, stderr]).toEqual([0, expect.stringContaining('longer than 1 MiB')]);
    expect(readFileSync(path, 'utf8')).not.toContain('### Plan');
  });

  test.each([
    ['neutral', first, 'neutral'],
    ['success', quiet, 'success'],
    [
      'failure',
      {
        ...mixed,
        verdicts: [{ rule: 'max-deletes', verdict: 'blocked', detail: 'too many' }],
      } satisfies Plan,
      'failure',
    ],
  ])('the check run says %s', async (_, plan, conclusion) => {
    const { server, folder, env, comment } = await job('github');
    const sha = 'a'.repeat(40);
    const event = { pull_request: { number: 7, head: { sha } } };
    writeFileSync(join(folder, 'event.json'), JSON.stringify(event));
    env['GITHUB_EVENT_PATH'] = join(folder, 'event.json');
    delete env['GITHUB_REF'];
    await comment(plan);
    await comment(plan);
    expect(server.checks).toMatchObject([
      { head_sha: sha, name: 'trueup (default)', conclusion, status: 'completed' },
    ]);
  });

  test('without the right to write check runs there is a warning', async () => {
    const { server, comment } = await job('github');
    server.tokens.set('job-token', { ...server.tokens.get('job-token')!, may: ['comments'] });
    const { code, stderr } = await comment(mixed);
    expect([code, server.comments.length]).toEqual([0, 1]);
    expect(stderr).toMatch(/^warning: GitHub was asked to list the check runs, and returned 403/);
    expect(stderr).toContain('checks: write');
    expect((await comment(mixed, '--check-run', 'none')).stderr).toBe('');
  });

  test('the author is the user of the token, or who is named', async () => {
    const { server, env, comment } = await job('github', { GITHUB_TOKEN: 'person-token' });
    await comment(mixed);
    expect(server.comments).toMatchObject([{ author: 'Reviewer' }]);
    server.tokens.set('app-token', { login: 'my-app[bot]', anonymous: true });
    env['GITHUB_TOKEN'] = 'app-token';
    const stray = await comment(mixed);
    expect(stray.stderr).toContain('names "my-app[bot]" as the author');
    expect((await comment(first, '--author', 'my-app[bot]')).stderr).toBe('');
    expect(server.comments.map(({ author }) => author)).toEqual(['Reviewer', 'my-app[bot]']);
  });

  test('a user whose limit is used up is not taken for a job', async () => {
    const { server, comment } = await job('github', { GITHUB_TOKEN: 'person-token' });
    const headers = { 'x-ratelimit-remaining': '0' };
    server.failures.push({ method: 'GET', path: /user$/, status: 403, headers });
    const { code, stderr } = await comment(mixed);
    expect([code, server.writes()]).toEqual([1, []]);
    expect(stderr).toContain('forge-rate-limit');
  });

  test('a secondary limit that the message alone names is no missing permission', async () => {
    const { server, comment } = await job('github');
    const body = { message: 'You have exceeded a secondary rate limit.' };
    server.failures.push({ method: 'POST', path: /comments$/, status: 403, body });
    expect((await comment(mixed)).stderr).toContain('forge-rate-limit');
  });

  test('the reasons that a forge gives below its message are told', async () => {
    const reasons = [
      ['github', 422, { message: 'Validation Failed', errors: [{ message: 'Body is too long' }] }],
      ['gitlab', 400, { message: { note: ['Body is too long'] } }],
    ] as const;
    for (const [forge, status, body] of reasons) {
      const { server, comment } = await job(forge);
      server.failures.push({ method: 'POST', path: /(?:comments|notes)$/, status, body });
      expect((await comment(mixed)).stderr.replaceAll(/\s+/g, ' ')).toContain('Body is too long');
    }
  });

  test('the number in the event is a number, or the reference of the job names it', async () => {
    const { server, folder, env, comment } = await job('github');
    env['GITHUB_EVENT_PATH'] = join(folder, 'event.json');
    const event = { pull_request: { number: '../../elsewhere' } };
    writeFileSync(env['GITHUB_EVENT_PATH'], JSON.stringify(event));
    expect((await comment(mixed)).code).toBe(0);
    expect(server.writes()[0]).toBe('POST /repos/acme/network/issues/7/comments');
  });

  test('a token from a file works, and none is ever shown', async () => {
    const { server, folder, env, comment } = await job('github');
    writeFileSync(join(folder, 'token'), 'job-token\n');
    env['GITHUB_TOKEN_FILE'] = join(folder, 'token');
    delete env['GITHUB_TOKEN'];
    const changes = mixed.changes.map((one) => ({ ...one, reason: 'it is job-token' }));
    await comment({ ...mixed, changes });
    expect(server.comments).toHaveLength(1);
    expect(server.comments[0]?.body).not.toContain('job-token');
  });

  test.each([
    [{ GITHUB_TOKEN: '' }, 'set GITHUB_TOKEN or GH_TOKEN'],
    [{ GITHUB_TOKEN: 'expired' }, 'returned 401'],
    [{ GITHUB_REPOSITORY: '../x' }, 'GITHUB_REPOSITORY names no repository'],
    [{ GITHUB_REF: 'refs/heads/main' }, 'No pull request is named'],
    [{ GITHUB_API_URL: 'http://github.example' }, 'is plain http'],
  ])('%j is refused', async (env, words) => {
    const { comment } = await job('github', env);
    const { code, stderr } = await comment(mixed);
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
  });

  test('a job token of GitLab is refused by its name', async () => {
    const { comment } = await job('gitlab', { GITLAB_TOKEN: '', CI_JOB_TOKEN: 'job' });
    expect((await comment(mixed)).stderr).toContain('CI_JOB_TOKEN cannot write notes');
  });

  test('a file that holds no plan is refused', async () => {
    const { server, folder, env } = await job('github');
    for (const text of ['', '{}', '{"format_version":"1.0","resource_changes":[null]}']) {
      writeFileSync(join(folder, 'no.json'), text);
      const line = ['comment', '--forge', 'github', '--plan', 'no.json'];
      const { code, stderr } = await inProcess(run, line, { cwd: folder, env });
      expect([code, stderr]).toEqual([1, expect.stringContaining('holds neither a saved plan')]);
    }
    expect(server.log).toEqual([]);
  });
});
