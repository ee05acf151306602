// Identifiers in plans and audits have the names of their objects behind them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { run as apply } from '../../../src/cli/commands/apply.js';
import { run as drift } from '../../../src/cli/commands/drift.js';
import { run as plan } from '../../../src/cli/commands/plan.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const PROJECT = `settings: { target: emulator }
accounts:
  north: { name: North, account: "1" }
  south: { name: South, account: "1" }
  shop: { name: Shop, account: "\${accounts.north.id}" }
alert_rules:
  login:
    associated_accounts: ["\${accounts.north.id}", "\${accounts.shop.id}"]
    filter_criteria: { alert_type__in: [login_success] }
`;

async function applied(now: string) {
  const cwd = freshFolder();
  const write = (text: string) => writeFileSync(join(cwd, 'trueup.yaml'), text);
  const run = async (command: typeof plan, ...words: readonly string[]) => {
    const ran = await inProcess(command, words, { cwd, env: {} });
    return { ...ran, text: ran.stdout.replaceAll(/\s+/g, ' ') };
  };
  write(PROJECT);
  expect((await run(apply, 'apply', '--auto-approve', '--parallelism', '1')).code).toBe(0);
  write(now);
  return { cwd, run };
}

const valid = (schema: string, text: string): unknown => {
  const file = new URL(`../../../schemas/${schema}.schema.json`, import.meta.url);
  const validate = new Ajv({ allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(file, 'utf8')) as object,
  );
  const document: unknown = JSON.parse(text);
  expect([validate(document), validate.errors]).toEqual([true, null]);
  return document;
};

const MOVED = PROJECT.replaceAll('${accounts.north.id}', '${accounts.south.id}');

test('a plan names what an update refers to, before and after, in each format', async () => {
  const { run } = await applied(MOVED);
  const { text } = await run(plan, 'plan');
  expect(text).toContain('account "2" (North) → "3" (South)');
  expect(text).toContain('- 2 (North) + 3 (South) … 1 unchanged');
  const markdown = await run(plan, 'plan', '--format', 'markdown');
  expect(markdown.text).toContain('- account: "2" (North) + account: "3" (South)');
  const html = await run(plan, 'plan', '--format', 'html');
  expect(html.stdout).toContain('<del><code>&quot;2&quot; (North)</code></del>');
  const json = await run(plan, 'plan', '--format', 'json');
  expect(valid('plan', json.stdout)).toMatchObject({
    resource_changes: expect.arrayContaining([
      expect.objectContaining({
        address: 'accounts.shop',
        reference_labels: { account: { 2: 'North', 3: 'South' } },
      }),
    ]) as unknown,
  });
});

test('an audit names them, too, and what was last applied', async () => {
  const { run } = await applied(MOVED);
  const { text } = await run(drift, 'drift');
  expect(text).toContain('account "3" (South) → "2" (North) last applied: "2" (North)');
  const json = await run(drift, 'drift', '--format', 'json');
  expect(valid('drift', json.stdout)).toMatchObject({
    drift: [{ reference_labels: { account: { 2: 'North', 3: 'South' } } }, {}],
  });
  const sarif = await run(drift, 'drift', '--format', 'sarif');
  expect(sarif.stdout).toContain(String.raw`account: \"3\" (South) → \"2\" (North).`);
});

test('an audit names what was last applied, where all three differ', async () => {
  const { cwd, run } = await applied(
    MOVED.replace(
      'shop: { name: Shop, account: "${accounts.south.id}" }',
      'shop: { name: Shop, account: "1" }',
    ),
  );
  const file = join(cwd, '.trueup', 'emulator.json');
  const estate = JSON.parse(readFileSync(file, 'utf8')) as {
    records: { accounts: { id: string; account: unknown }[] };
  };
  estate.records.accounts.find((one) => one.id === '4')!.account = '3';
  writeFileSync(file, JSON.stringify(estate));
  const { text } = await run(drift, 'drift');
  expect(text).toContain('account "1" (Headquarters) → "3" (South) last applied: "2" (North)');
});

test('a plan names what a changed object outside of trueup refers to', async () => {
  const { cwd, run } = await applied(PROJECT);
  const file = join(cwd, '.trueup', 'emulator.json');
  const estate = JSON.parse(readFileSync(file, 'utf8')) as {
    records: { accounts: { id: string; account: unknown }[] };
  };
  const [south, shop] = ['3', '4'].map((id) =>
    estate.records.accounts.find((one) => one.id === id),
  );
  expect([south, shop]).not.toContain(undefined);
  shop!.account = '3';
  writeFileSync(file, JSON.stringify(estate));
  const { text } = await run(plan, 'plan');
  expect(text).toContain(
    'Drift: last applied → live accounts.shop account "2" (North) → "3" (South)',
  );
});

test('an object that is deleted names what it refers to, and a create what is live already', async () => {
  const { run } = await applied(
    PROJECT.slice(0, PROJECT.indexOf('alert_rules')) + 'groups: { g: { name: G, account: "1" } }\n',
  );
  const { text } = await run(plan, 'plan', '--allow', 'all-removed');
  expect(text).toContain('associated_accounts [2 (North), 4 (Shop)]');
  expect(text).toContain('account "1" (Headquarters)');
});
