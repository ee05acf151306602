// The peer of every plan: as many built-in `terraform_data`, one block each, and a state that holds them. They ask no
// service for anything: its best case.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './measuring.js';

/** The peer: as many `terraform_data`, one block each, whose `input` has twelve fields, and a state that holds them. */
export function terraformProject(resources: number): string {
  const folder = join(root, `terraform-${resources}`);
  mkdirSync(folder);
  const fields = (index: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 12 }, (_, field) => [`field_${field}`, `value ${index} ${field}`]),
    );
  const type = [
    'object',
    Object.fromEntries(Array.from({ length: 12 }, (_, field) => [`field_${field}`, 'string'])),
  ];
  const numbers = Array.from({ length: resources }, (_, index) => index);
  const block = (index: number): string =>
    `resource "terraform_data" "r${index}" {\n  input = {\n${Object.entries(fields(index))
      .map(([name, value]) => `    ${name} = "${value}"`)
      .join('\n')}\n  }\n}\n`;
  for (let at = 0; at < resources; at += 500)
    writeFileSync(
      join(folder, `main-${at}.tf`),
      numbers
        .slice(at, at + 500)
        .map(block)
        .join('\n'),
    );
  const instance = (index: number): object => {
    const value = { value: fields(index), type };
    return {
      schema_version: 0,
      attributes: {
        id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
        input: value,
        output: value,
        triggers_replace: null,
      },
      sensitive_attributes: [],
    };
  };
  const resourcesInState = numbers.map((index) => ({
    mode: 'managed',
    type: 'terraform_data',
    name: `r${index}`,
    provider: 'provider["terraform.io/builtin/terraform"]',
    instances: [instance(index)],
  }));
  writeFileSync(
    join(folder, 'terraform.tfstate'),
    JSON.stringify({
      version: 4,
      serial: 1,
      lineage: '00000000-0000-4000-8000-000000000000',
      outputs: {},
      resources: resourcesInState,
      check_results: null,
    }),
  );
  spawnSync('terraform', ['init', '-input=false'], { cwd: folder });
  return folder;
}
