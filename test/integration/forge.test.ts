// Comments and issues as a CI job writes them: real processes, and servers with the rules of GitHub and GitLab.
import { expect, test } from 'vitest';
import { forgeServer } from '../support/forge-server.js';
import { folder, small } from '../support/cli.js';

test('a saved plan is one comment on a merge request, which the next plan updates', async () => {
  const server = await forgeServer();
  const home = folder({
    'trueup.yaml': small.replace(
      '{ target: emulator }',
      '{ target: emulator, state: { project: network } }',
    ),
    'trueup.prod.yaml': 'settings: { target: emulator }\n',
  });
  const env = {
    CI_API_V4_URL: `${server.url}/api/v4`,
    CI_PROJECT_ID: '42',
    CI_MERGE_REQUEST_IID: '7',
    CI_JOB_URL: 'https://gitlab.example/jobs/1',
    GITLAB_TOKEN: 'person-token',
  };
  const comment = ['comment', '--forge', 'gitlab', '--plan'];
  await home.expect(0, ['plan', '--env', 'prod', '--out', 'change.plan']);
  const first = await home.expect(0, [...comment, 'change.plan'], { env });
  expect([first.stdout, first.stderr]).toEqual(['The comment was created.\n', '']);
  home.write('trueup.yaml', home.read('trueup.yaml').replace('Field operations', 'Field'));
  await home.expect(0, ['plan', '--env', 'prod', '--out', 'change.plan']);
  const { stdout } = await home.expect(0, [...comment, 'change.plan'], { env });
  expect([stdout, server.comments.length]).toEqual(['The comment was updated.\n', 1]);
  const lines = server.comments[0]?.body.split('\n') ?? [];
  expect(lines[0]).toBe('<!-- trueup:plan:network.prod -->');
  expect(lines).toContain('[The run](<https://gitlab.example/jobs/1>)');
  expect(lines).toContain('<details><summary>Earlier plans: 1, the latest first</summary>');
});

test('without a saved plan it is a plan of now, with the exit code of plan', async () => {
  const server = await forgeServer();
  const home = folder({ 'trueup.yaml': small });
  const env = {
    GITHUB_API_URL: server.url,
    GITHUB_REPOSITORY: 'acme/network',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_TOKEN: 'job-token',
  };
  const comment = ['comment', '--forge', 'github'];
  await home.expect(0, comment, { env });
  expect(server.comments[0]?.body).toContain('### Plan: 3 to create');
  await home.expect(0, ['apply', '--auto-approve']);
  home.write('trueup.yaml', small.slice(0, small.indexOf('alert_rules:')));
  await home.expect(3, comment, { env });
  expect(server.comments).toHaveLength(1);
  expect(server.comments[0]?.body).toContain('all-removed');
  expect(server.checks).toMatchObject([{ conclusion: 'failure' }]);
});

test('drift is one issue, and closed when it is gone', async () => {
  const server = await forgeServer();
  const home = folder({ 'trueup.yaml': small });
  const env = {
    GITHUB_API_URL: server.url,
    GITHUB_REPOSITORY: 'acme/network',
    GH_TOKEN: 'job-token',
  };
  const audit = ['drift', '--issue', 'github', '--detailed-exitcode'];
  const { stderr } = await home.expect(2, audit, { env });
  expect(stderr).toContain('The issue was created.');
  expect(server.issues).toMatchObject([{ open: true, title: 'Drift: default' }]);
  await home.expect(0, ['apply', '--auto-approve']);
  expect((await home.expect(0, audit, { env })).stderr).toContain('The issue was closed.');
  expect(server.issues).toMatchObject([{ open: false, comments: [{}] }]);
});
