// Expressions of synthesised stacks through the built command: what they give in a plan, what is said of those that are
// refused, and what is loaded for stacks without them.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folder } from '../support/cli.js';
import { TRUEUP } from '../support/command.js';

const stack = (name: string, more: object = {}): string =>
  JSON.stringify({
    '//': { metadata: { stackName: 'base' } },
    ...more,
    resource: {
      devicecloud_account: {
        root: { '//': { metadata: { path: 'base/root' } }, name: 'Root' },
        a: {
          '//': { metadata: { path: 'base/a' } },
          name,
          account: '${devicecloud_account.root.id}',
        },
      },
    },
  });
const EXPRESSION = '${join("-", ["site", var.large ? "large" : "small", terraform.workspace])}';
const VARIABLE = { variable: { large: { type: 'bool', default: true } } };
const emulated = 'settings: { target: emulator }\n';

describe('an expression of a stack', () => {
  it('is evaluated in a plan, with the name of the environment, and applied', async () => {
    const home = folder({
      'cdk.tf.json': stack(EXPRESSION, VARIABLE),
      'settings.yaml': emulated,
      'trueup.prod.yaml': 'variables: { large: false }\n',
    });
    const paths = ['cdk.tf.json', 'settings.yaml'];
    const { stdout } = await home.expect(0, ['plan', ...paths]);
    expect(stdout).toContain('site-large-default');
    const prod = await home.expect(0, ['plan', ...paths, '--env', 'prod']);
    expect(prod.stdout).toContain('site-small-prod');
    await home.expect(0, ['apply', ...paths, '--auto-approve']);
    await home.expect(0, ['plan', ...paths, '--detailed-exitcode']);
  });

  it('that is refused is told by its construct, with both ways out', async () => {
    const home = folder({ 'cdk.tf.json': stack('${sha256("a")}') });
    const { stderr } = await home.expect(1, ['validate', 'cdk.tf.json']);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'error: the expression ${sha256("a")} is not evaluated here: the function `sha256` base/a · accounts.a · name · [unsupported-expression] Work the value out in the program, or let Terraform carry out this stack with the provider: `terraform plan`.',
    );
  });

  it('that is nested too deep is an error, and no crash', async () => {
    const deep = `\${${'['.repeat(10_000)}1${']'.repeat(10_000)}}`;
    const home = folder({ 'cdk.tf.json': stack(deep) });
    const { stderr } = await home.expect(1, ['validate', 'cdk.tf.json']);
    expect(stderr).toContain('more than 20000 characters');
    expect(stderr.length).toBeLessThan(1_000);
  });
});

describe('a stack without expressions', () => {
  it('loads neither the parser nor the evaluator', async () => {
    const home = folder({
      'cdk.tf.json': stack('Site ${var.large} ${devicecloud_account.root.name}', VARIABLE),
    });
    const build = folder();
    cpSync(dirname(TRUEUP), build.path, { recursive: true });
    const chunks = join(build.path, 'chunks');
    const later = readdirSync(chunks).filter((name) =>
      name.startsWith('evaluate-stack-expression-'),
    );
    expect(later).toHaveLength(1);
    for (const name of later) rmSync(join(chunks, name));
    rmSync(join(build.path, 'main.wasm.gz'));
    const script = join(build.path, 'trueup.cjs');
    await home.expect(0, ['validate', 'cdk.tf.json'], { script });
    home.write('cdk.tf.json', stack(EXPRESSION, VARIABLE));
    await home.expect(0, ['validate', 'cdk.tf.json']);
    expect((await home.run(['validate', 'cdk.tf.json'], { script })).code).not.toBe(0);
  });
});
