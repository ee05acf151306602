// Which address of a forge a page links a declaration to.
import { expect, test } from 'vitest';
import { sourceUrls } from '../../../src/cli/ci-run.js';

const sha = '0123456789abcdef0123456789abcdef01234567';
const github = {
  GITHUB_SERVER_URL: 'https://github.example.com',
  GITHUB_REPOSITORY: 'acme/network',
  GITHUB_SHA: sha,
  GITHUB_WORKSPACE: '/checkout',
};
const gitlab = {
  CI_PROJECT_URL: 'https://gitlab.example.com/acme/network',
  CI_COMMIT_SHA: sha,
  CI_PROJECT_DIR: '/checkout',
};
const at = (file: string, line = 7) => ({ file, line, column: 3 });
const onGithub = `https://github.example.com/acme/network/blob/${sha}`;

test.each([
  [github, 'rules.yaml', `${onGithub}/site/rules.yaml#L7`],
  [github, '../a b#1?/x%.yaml', `${onGithub}/a%20b%231%3F/x%25.yaml#L7`],
  [github, '/checkout/x\ud800.yaml', `${onGithub}/x%EF%BF%BD.yaml#L7`],
  [github, '..hidden/x.yaml', `${onGithub}/site/..hidden/x.yaml#L7`],
  [github, '../../other/x.yaml', undefined],
  [github, '/etc/x.yaml', undefined],
  [github, '..', undefined],
  [github, '-', undefined],
  [
    gitlab,
    'rules.yaml',
    `https://gitlab.example.com/acme/network/-/blob/${sha}/site/rules.yaml#L7`,
  ],
])('%j, %s: %s', (environment, file, expected) =>
  expect(sourceUrls({ environment, cwd: '/checkout/site' })?.(at(file))).toBe(expected),
);

test('what has no line has no address', () =>
  expect(sourceUrls({ environment: github, cwd: '/checkout' })?.(at('x.ts', 0))).toBeUndefined());

test.each([
  {},
  { ...github, GITHUB_SHA: undefined },
  { ...github, GITHUB_SHA: '../../evil' },
  { ...github, GITHUB_WORKSPACE: '' },
  { ...github, GITHUB_SERVER_URL: 'javascript://alert(1)' },
  { ...github, GITHUB_SERVER_URL: 'https://user:key@github.example.com' },
  { ...gitlab, CI_PROJECT_URL: 'nowhere' },
])('no address is made of %j', (environment) =>
  expect(sourceUrls({ environment, cwd: '/checkout' })).toBeUndefined(),
);
