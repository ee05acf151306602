// The law of `export --update`: whatever was changed outside of trueup, the plan afterwards is empty and every comment is
// there, or nothing at all was written.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run as apply } from '../../src/cli/commands/apply.js';
import { run as exportRun } from '../../src/cli/commands/export.js';
import { run as plan } from '../../src/cli/commands/plan.js';
import { box, type Box } from '../support/box.js';
import { drawn } from '../support/drawn.js';
import { freshFolder, inProcess } from '../support/in-process.js';

const files: Readonly<Record<string, string>> = {
  'accounts.yaml': `# c1
accounts:   # c2
  # c3
  a: { name: A, account: "1" } # c4
  b: # c5
    name: 'B' # c6

    account: "\${accounts.a.id}" # c7
---
alert_push_destinations:
  p:
    name: "P" # c8
    enabled:   true # c9
    endpoint: { url: https://hooks.example.com/a } # c10
  q: { name: Q, enabled: true, endpoint: { url: "https://hooks.example.com/q" } }
`,
  'rules.yaml': `alert_rules: # c11
  r:
    associated_accounts: # c12
    # c13
    - "\${accounts.a.id}" # c14
    - "\${accounts.b.id}"
    # c15
    filter_criteria: # c16
      alert_type__in: [ cpu_utilization , memory_utilization ] # c17
    http_destinations: ["\${alert_push_destinations.p.destination_config_id}"] # c18
# c19
`.replaceAll('\n', '\r\n'),
};

let service: Box;
let cwd: string;
beforeAll(async () => {
  service = await box({
    version: 1,
    root: '1',
    next_id: 2,
    records: { accounts: [{ id: '1', account: null, name: 'Root' }] },
    users: [],
  });
  cwd = freshFolder();
  reset();
  const { code, stderr } = await command(apply, 'apply', '--auto-approve');
  if (code !== 0) throw new Error(stderr);
});
afterAll(() => service.close());

const reset = (): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
};
const read = (name: string): string => readFileSync(join(cwd, name), 'utf8');
const command = (run: Parameters<typeof inProcess>[0], ...words: readonly string[]) =>
  inProcess(run, words, { cwd, env: service.env });
const comments = (text: string): readonly string[] => text.match(/# c\d+/g) ?? [];

const name = fc.oneof(
  fc.constantFrom('A', 'B', 'yes', '1e3', "it's", '"', 'a: b # c', '${x}', '- a', '&amp;', '\\n'),
  fc.string({ unit: 'grapheme' }),
);
const drift = fc.record({
  a: name,
  b: name,
  above: fc.nat(2),
  p: name,
  enabled: fc.boolean(),
  path: fc.constantFrom('a', 'b?x=1&y=2', 'c#d'),
  scope: fc.subarray([0, 1, 2, 3], { minLength: 0 }),
  types: fc.subarray(['cpu_utilization', 'memory_utilization', 'modem_wan_disconnected', 'other']),
  hooks: fc.subarray([0, 1, 2]),
});

it('leaves a plan without changes and all comments, or every file as it was', async () => {
  const before = service.snapshot().records;
  const idOf = (kind: string, key: string, value: string): string =>
    String(before[kind]!.find((one) => one['name'] === value)![key]);
  const accounts = [idOf('accounts', 'id', 'A'), idOf('accounts', 'id', 'B'), '1', '999'];
  const hooks = ['P', 'Q']
    .map((one) => idOf('alert_push_destinations', 'destination_config_id', one))
    .concat('00000009-97c4-11f0-8a51-3d2c9b7f6e10');
  let written = 0;
  await fc.assert(
    fc.asyncProperty(drift, async (now) => {
      reset();
      service.tamper('accounts', () =>
        before['accounts']!.map((one) =>
          one['name'] === 'A'
            ? { ...one, name: now.a }
            : one['name'] === 'B'
              ? { ...one, name: now.b, account: accounts[now.above === 1 ? 0 : now.above]! }
              : one,
        ),
      );
      service.tamper('alert_push_destinations', () =>
        before['alert_push_destinations']!.map((one) =>
          one['name'] === 'P'
            ? {
                ...one,
                name: now.p,
                enabled: now.enabled,
                endpoint: { url: `https://hooks.example.com/${now.path}` },
              }
            : one,
        ),
      );
      service.tamper('alert_rules', () =>
        before['alert_rules']!.map((one) => ({
          ...one,
          associated_accounts: now.scope.map((index) => accounts[index]!),
          filter_criteria: { alert_type__in: now.types },
          http_destinations: now.hooks.map((index) => hooks[index]!),
        })),
      );
      const { code, stderr } = await command(exportRun, 'export', '--update');
      const isWritten = code === 0;
      if (isWritten) written += 1;
      const after = await command(plan, 'plan', '--detailed-exitcode');
      expect(isWritten ? [after.code, after.stdout] : [0, 'No changes']).toEqual([
        0,
        expect.stringContaining('No changes'),
      ]);
      expect(isWritten ? '[not-updatable]' : stderr).toContain('[not-updatable]');
      const kept = isWritten ? comments : String;
      for (const [file, text] of Object.entries(files))
        expect(kept(read(file))).toEqual(kept(text));
    }),
    { numRuns: drawn(40) },
  );
  expect(written).toBeGreaterThan(drawn(40) / 2);
});
