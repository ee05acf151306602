// Which files hold policies: a file that looks like one and is not read is an error, because its policies would not hold.
import { expect, test } from 'vitest';
import { declarationFiles } from '../../../src/platform/declaration-files.js';
import { policiesIn, policyTestsIn } from '../../../src/policies/policy-files.js';
import { kinds } from '../../../src/resources/index.js';
import { folder } from '../../support/cli.js';

const one = '- { name: never, when: "true", message: never }\n';
const read = (files: Readonly<Record<string, string>>) =>
  policiesIn({ files: declarationFiles, cwd: folder(files).path }, { taken: [], kinds });

test.each([
  ['a.CEL.YAML', 'a.cel.yaml'],
  ['a.cel', 'a.cel.yaml'],
  ['a.cel.json', 'a.cel.json.cel.yaml'],
  ['a.yaml', 'a.cel.yaml'],
  ['A.YML', 'A.cel.yaml'],
  ['sub/a.cel.yaml', 'a.cel.yaml'],
  ['sub/sub/a.yaml', 'a.cel.yaml'],
])('policies in %s are an error', async (file, to) => {
  const { policies, diagnostics } = await read({ [`policies/${file}`]: one });
  expect(policies).toEqual([]);
  expect(diagnostics).toMatchObject([
    {
      severity: 'error',
      code: 'unread-policies',
      detail: `Type \`mv policies/${file} policies/${to}\`, or remove it.`,
      origin: { file: `policies/${file}` },
    },
  ]);
});

test('a folder that cannot be listed is an error', async () => {
  const { diagnostics } = await read({ policies: one });
  expect(diagnostics).toMatchObject([{ severity: 'error', code: 'unreadable' }]);
});

test('other files beside policies are none', async () => {
  const { policies, diagnostics } = await read({
    'policies/a.cel.yaml': one,
    'policies/a.test.yaml': '[]',
    'policies/README.md': 'when: x',
    'policies/.a.cel.yaml.swp': '',
    'policies/plan.json': '{}',
    'policies/alerts.yaml': 'accounts: {}\n',
    'policies/broken.yaml': '{',
  });
  expect(policies.map(({ name }) => name)).toEqual(['never']);
  expect(diagnostics).toEqual([]);
});

test.each([
  ['name', '- { name: no, when: "true", message: x }'],
  ['when', '- { name: never, when: off, message: x }'],
  ['message', '- { name: never, when: "true", message: no }'],
  ['allow', '- { name: never, when: "true", message: x, allow: yes }'],
])('a plain word as `%s` is an error with its fix', async (field, text) => {
  const { policies, diagnostics } = await read({ 'policies/a.cel.yaml': text });
  expect(policies).toEqual([]);
  expect(diagnostics).toMatchObject([
    { code: 'ambiguous-word', summary: expect.stringContaining(`\`${field}\``) as string },
  ]);
});

test('a severity that an expression would give is an error, and no warning', async () => {
  const { policies, diagnostics } = await read({
    'policies/a.cel.yaml': '- { name: never, when: "true", message: x, severity: "${x}" }',
  });
  expect(policies).toEqual([]);
  expect(diagnostics).toMatchObject([{ code: 'unknown-choice' }]);
});

test('a member of a wrong type is reported once', async () => {
  const { diagnostics } = await read({
    'policies/a.cel.yaml': '- { name: never, when: "true", message: x, allow: maybe }',
  });
  expect(diagnostics.map(({ code, summary }) => [code, summary])).toEqual([
    ['wrong-type', '`allow`: true or false is expected, not a string'],
  ]);
});

test('a plain word in a test of a policy is one, too, except inside of its input', async () => {
  const cwd = folder({
    'policies/a.test.yaml':
      '- { name: a, policy: never, fleet: { tenants: [no] }, violations: [no] }\n',
  }).path;
  const policies = [{ name: 'never', scope: 'fleet' as const }];
  const { diagnostics } = await policyTestsIn({ files: declarationFiles, cwd }, policies);
  expect(diagnostics).toMatchObject([
    { code: 'ambiguous-word', summary: expect.stringContaining('`violations.0`') as string },
  ]);
});
