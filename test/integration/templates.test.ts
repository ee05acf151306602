// Templates and expressions through the built command: addresses in the state, both places in plans, parts of a
// project; and what is loaded for projects without them.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder } from '../support/cli.js';
import { TRUEUP } from '../support/command.js';

const TEMPLATE = `
settings: { target: emulator }
templates:
  customer:
    parameters:
      required: [title]
      properties: { title: { type: string }, region: { enum: [north, south], default: north } }
    accounts:
      main: { name: '\${param.title} (\${param.region})' }
    alert_rules:
      offline:
        associated_accounts: ['\${accounts.main.id}']
        filter_criteria: { alert_type__in: [ethernet_wan_disconnected] }
`;
const uses = (customers: string, more = ''): string =>
  `variables: { customers: ${customers} }\nuse:\n  health: { for_each: '\${var.customers}', template: customer, with: '\${each.value}' }\n${more}`;

describe('templates', () => {
  it('are planned, applied, moved and removed by the addresses of their uses', async () => {
    const home = folder({
      'templates.yaml': TEMPLATE,
      'customers.yaml': uses('{ c0: { title: A }, c1: { title: B, region: south } }'),
    });
    await home.expect(0, ['validate']);
    const { stdout } = await home.expect(0, ['plan', '--format', 'json']);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as its schema says
    const { resource_changes: changes } = JSON.parse(stdout) as {
      resource_changes: readonly { address: string; origin: object; depends_on: string[] }[];
    };
    expect(changes.map(({ address }) => address)).toEqual([
      'accounts.health-main["c0"]',
      'accounts.health-main["c1"]',
      'alert_rules.health-offline["c0"]',
      'alert_rules.health-offline["c1"]',
    ]);
    expect(changes[3]!.depends_on).toEqual(['accounts.health-main["c1"]']);
    expect(changes[0]!.origin).toEqual({
      file: 'templates.yaml',
      line: 9,
      column: 7,
      used_at: { file: 'customers.yaml', line: 3, column: 3 },
    });
    await home.expect(0, ['apply', '--auto-approve']);
    expect((await home.expect(0, ['state', 'list'])).stdout).toMatch(
      /accounts\.health-main\["c1"\] .* customers\.yaml/,
    );
    expect((await home.expect(0, ['plan', '--detailed-exitcode'])).stdout).toContain(
      'No changes. 4 objects are as declared.',
    );
    // A part without the uses removes nothing.
    expect((await home.expect(0, ['plan', 'templates.yaml'])).stdout).toContain('No changes.');
    home.write(
      'customers.yaml',
      uses(
        '{ k0: { title: A } }',
        `moved:\n${['accounts.health-main', 'alert_rules.health-offline']
          .map((name) => `  - { from: '${name}["c0"]', to: '${name}["k0"]' }\n`)
          .join('')}`,
      ),
    );
    expect((await home.expect(0, ['plan'])).stdout).toContain(
      '0 to create, 0 to update, 2 to delete',
    );
  });

  it('an error names both places', async () => {
    const home = folder({
      'templates.yaml': TEMPLATE.replace('name: ', 'nam: '),
      'customers.yaml': uses('{ c0: { title: A } }'),
    });
    const { stderr } = await home.expect(1, ['validate']);
    expect(stderr).toContain('templates.yaml:9:15, used at customers.yaml:3:3');
    expect(stderr).toContain('Did you mean `name`?');
  });
});

describe('a project without expressions and templates', () => {
  it('loads neither the evaluator nor the schemas of parameters', async () => {
    const home = folder({
      'trueup.yaml': "accounts: { a: { name: '${var.x}' } }\nvariables: { x: y }\n",
    });
    const build = folder();
    cpSync(dirname(TRUEUP), build.path, { recursive: true });
    const chunks = join(build.path, 'chunks');
    const later = readdirSync(chunks).filter((name) =>
      /^(?:evaluate-expression|template-parameters)-/.test(name),
    );
    expect(later).toHaveLength(2);
    for (const name of later) rmSync(join(chunks, name));
    const script = join(build.path, 'trueup.cjs');
    await home.expect(0, ['--help'], { script });
    await home.expect(0, ['validate'], { script });
    home.write(
      'trueup.yaml',
      "accounts: { a: { name: '${var.x + var.x}' } }\nvariables: { x: y }\n",
    );
    await home.expect(0, ['validate']);
    expect((await home.run(['validate'], { script })).code).not.toBe(0);
  });
});
