// What declarations may say about secrets: which variables are credentials, which files are read, and that neither a
// variable nor a file of declarations gives a secret its value.
import { describe, expect, it } from 'vitest';
import type { Secret, Unobtained } from '../../../src/model/index.js';
import { errors, LINK, loading, project, shown, type Tree } from './project.js';

const account = (name: string): string => `accounts:\n  a: { name: "${name}" }\n`;
const destination = (secret: string): string =>
  `alert_push_destinations:\n  a: { name: a, authentication: { secret: "${secret}" } }\n`;
const settings = (text: string): string => `settings: { ${text} }\n`;
const everything = new Proxy<Record<string, string>>(
  {},
  {
    get: (_, name) => `value of ${String(name)}`,
    getOwnPropertyDescriptor: (_, name) => ({
      configurable: true,
      enumerable: true,
      value: `value of ${String(name)}`,
    }),
  },
);
const codes = async (
  tree: Tree | string,
  options: Parameters<typeof loading>[1] = {},
): Promise<readonly string[]> => {
  const { diagnostics } = await loading(tree, { environment: everything, ...options });
  return diagnostics.flatMap(({ severity, code }) => (severity === 'error' ? [code] : []));
};

const OWN = [
  'TRUEUP_MGR_API_ID',
  'TRUEUP_VND_API_ID',
  'TRUEUP_IOT_USERNAME',
  'TRUEUP_FLOW_USERNAME',
  'TRUEUP_MGR_API_KEY',
  'TRUEUP_VND_API_KEY',
  'TRUEUP_V3_TOKEN',
  'TRUEUP_IOT_PASSWORD',
  'TRUEUP_FLOW_PASSWORD',
  'TRUEUP_STATE_HTTP_PASSWORD',
  'TRUEUP_FINGERPRINT_KEY',
];

describe('`${env…}`', () => {
  it.each([
    'GITHUB_TOKEN',
    'API_KEY',
    'KEY',
    'MYAPP_APIKEY',
    'PAGER_SECRET',
    'DB_PASSWORD',
    'DB_PASSWD',
    'AWS_CREDENTIAL',
    'GOOGLE_CREDENTIALS_FILE',
    'my_secret',
    'Token',
    'a_Key_b',
    '_key_',
    'TRUEUP_VAR_api_key',
  ])('of %s is an error, unless settings.allow_env names it', async (name) => {
    const [one, ...more] = await errors(account(`\${env.${name}}`), { environment: everything });
    expect([shown(one!), more]).toEqual([
      expect.stringMatching(
        `^trueup.yaml:2:8 credential-in-env: .*${name}.*\\\${secret.env.${name}}.*allow_env: \\[${name}\\]`,
      ),
      [],
    ]);
    expect(await codes(account(`x-\${env.${name}}`), { environment: {} })).toEqual([
      'credential-in-env',
    ]);
    expect(await codes(settings(`allow_env: [${name}]`) + account(`\${env.${name}}`))).toEqual([]);
    expect(await codes(settings(`allow_env: [${name}X]`) + account(`\${env.${name}}`))).toEqual([
      'credential-in-env',
    ]);
  });

  it.each([
    'SITE',
    'MONKEY',
    'KEYBOARD',
    'TOKENS',
    'SECRETARY',
    'KEYS',
    'PASSWORDS',
    'TRUEUP_V2_URL',
    'TRUEUP_V2_HEADERS',
    'TRUEUP_VAR_USERNAME',
    'GRUBID',
    'IOT_USERNAME',
  ])('of %s is none', async (name) => {
    expect(await codes(account(`\${env.${name}}`))).toEqual([]);
  });

  it.each([
    ...OWN,
    ...OWN.map((name) => `${name}_FILE`),
    ...OWN.map((name) => `ACME_${name}`),
    'A_B_TRUEUP_MGR_API_KEY_FILE',
    'trueup_mgr_api_key',
  ])(
    'of our own credential %s is an error whatever is allowed, and so is `${secret.env…}`',
    async (name) => {
      expect(await codes(account(`\${env.${name}}`))).toEqual(['own-credential']);
      expect(await codes(destination(`\${secret.env.${name}}`))).toEqual(['own-credential']);
      expect(await codes(settings(`allow_env: [${name}]`) + account(`\${env.${name}}`))).toEqual([
        'own-credential',
        'own-credential',
      ]);
    },
  );

  it.each([
    ['a setting', settings('state: "${env.STATE_TOKEN}"')],
    ['a key of a for_each', 'accounts:\n  a: { for_each: ["${env.X_TOKEN}"], name: a }\n'],
    [
      'a value of a for_each',
      'accounts:\n  a: { for_each: { k: "${env.X_TOKEN}" }, name: "${each.value}" }\n',
    ],
    ['a lookup', 'lookups: { q: { accounts: { name: "${env.X_TOKEN}" } } }\n'],
    ['a document', 'alert_rules:\n  r: { settings: { a: [{ b: "${env.X_TOKEN}" }] } }\n'],
    [
      'a configuration',
      'configuration_managers:\n  m: { router: "1", configuration: [{ a: "${env.X_TOKEN}" }] }\n',
    ],
    [
      'an expectation',
      'expectations:\n  e: { collection: accounts, where: { name: "${env.X_TOKEN}" }, count: { min: 1 } }\n',
    ],
    [
      'a schema of an expectation',
      'expectations:\n  e: { collection: accounts, every: { const: "${env.X_TOKEN}" } }\n',
    ],
    ['the lifecycle', 'accounts:\n  a: { name: a, lifecycle: { adopt: "${env.X_TOKEN}" } }\n'],
    ['a secret', destination('${env.X_TOKEN}')],
  ])('is an error in %s, too', async (_, text) => {
    expect(await codes(text)).toEqual(['credential-in-env']);
  });

  it('is not reached by a variable', async () => {
    expect(await codes(`variables: { v: "\${env.X_TOKEN}" }\n${account('${var.v}')}`)).toContain(
      'misplaced-reference',
    );
    const loaded = await project(account('${var.v}'), {
      environment: everything,
      variables: { v: '${env.X_TOKEN}' },
    });
    expect(loaded.declarations[0]?.values['name']).toBe('${env.X_TOKEN}');
  });

  it('is allowed by the file of the environment in place of the others', async () => {
    const tree = {
      'trueup.yaml': settings('allow_env: [A_KEY]') + account('${env.A_KEY}'),
      'trueup.prod.yaml': settings('allow_env: [B_KEY]'),
      'trueup.dev.yaml': settings('state: x'),
    };
    expect(await codes(tree)).toEqual([]);
    expect(await codes(tree, { env: 'dev' })).toEqual([]);
    expect(await codes(tree, { env: 'prod' })).toEqual(['credential-in-env']);
  });

  it.each(['["${var.v}"]', '"${var.w}"', '[$A_KEY]', '["A KEY"]'])(
    'is allowed by names alone, not by %s',
    async (list) => {
      expect(
        await codes(`variables: { v: A_KEY, w: [A_KEY] }\n${settings(`allow_env: ${list}`)}`),
      ).toEqual(['bad-name']);
    },
  );
});

describe('`${secret.file…}`', () => {
  const tree = (name: string, more = '', files: Tree = {}): Tree => ({
    'trueup.yaml': more + destination(`\${secret.file.${name}}`),
    ...files,
  });

  it.each([
    ['below the project', 'keys/pager', ''],
    ['below the project, named in full', '/project/keys/pager', ''],
    ['what is not there yet', 'keys/none', ''],
    ['where containers mount them', '/run/secrets/pager', ''],
    ['below a root', '/etc/trueup/pager', 'secret_roots: [/etc/trueup]'],
    ['below a root beside the project', '../mounted/pager', 'secret_roots: [../mounted]'],
    ['a root itself', '/etc/pager', 'secret_roots: [/etc/pager]'],
    ['anywhere, where that is a root', '/etc/passwd', 'secret_roots: ["/"]'],
  ])('reads %s', async (_, name, more) => {
    expect(
      await codes(tree(name, more === '' ? '' : settings(more), { 'keys/pager': 'k' })),
    ).toEqual([]);
  });

  it.each([
    ['a file of the machine', '/etc/passwd', ''],
    ['what is above the project', '../pager', ''],
    ['what leads out and looks like the project', '/project-other/pager', ''],
    ['what is beside a root', '/etc/trueup-other/pager', 'secret_roots: [/etc/trueup]'],
    ['a link that leads out', 'link', ''],
    ['what is below a link that leads out', 'folder/pager', ''],
  ])('refuses %s, and names settings.secret_roots', async (_, name, more) => {
    const found = await errors(
      tree(name, more === '' ? '' : settings(more), {
        link: `${LINK}/etc/passwd`,
        folder: `${LINK}/etc`,
      }),
    );
    expect(found.map(shown)).toEqual([
      expect.stringMatching(/secret-outside: .*settings\.secret_roots.*secret_roots: \[/),
    ]);
  });

  it.each([
    '/proc/self/environ',
    '/proc/1/../self/environ',
    '/sys/x',
    '/dev/stdin',
    '/dev',
    'link',
  ])('never reads %s, whatever is allowed', async (name) => {
    const found = await errors(
      tree(name, settings('secret_roots: ["/", /proc, /dev]'), {
        link: `${LINK}/proc/self/environ`,
      }),
    );
    expect(found.map(({ code, detail }) => [code, detail?.includes('secret_roots')])).toEqual([
      ['secret-outside', false],
    ]);
  });

  it('is judged again when it is read', async () => {
    const files: Record<string, string> = {
      'trueup.yaml': destination('${secret.file.key}'),
      key: 'inside',
    };
    const secret = (await project(files)).declarations[0]!.values['authentication'] as {
      readonly secret: Secret;
    };
    expect(secret.secret.reveal()).toBe('inside');
    // The disk of these tests finds `key` there, too.
    files['key'] = `${LINK}/outside/key`;
    expect(secret.secret.reveal()).toBeUndefined();
  });

  it.each<[string, Uint8Array | string, string | undefined, Unobtained | undefined]>([
    ['text', 'päger\n', 'päger', undefined],
    ['nothing', '\n', undefined, undefined],
    [
      'other bytes',
      Buffer.from([0xff, 0xfe]),
      undefined,
      { problem: '${secret.file.key}: its bytes are not valid UTF-8', isUnusable: true },
    ],
  ])('has a value where it holds text: %s', async (_, key, value, wrong) => {
    const { declarations } = await project({
      'trueup.yaml': destination('${secret.file.key}'),
      key,
    });
    const { secret } = declarations[0]!.values['authentication'] as { readonly secret: Secret };
    expect(await secret.fetch?.(new AbortController().signal)).toEqual(wrong);
    expect(secret.reveal()).toBe(value);
  });

  it('has the roots of the file of the environment in place of the others', async () => {
    const files = {
      ...tree('/a/x', settings('secret_roots: [/a]')),
      'trueup.prod.yaml': settings('secret_roots: [/b]'),
    };
    expect(await codes(files)).toEqual([]);
    expect(await codes(files, { env: 'prod' })).toEqual(['secret-outside']);
  });
});

describe('the value of a secret', () => {
  it.each([
    ['a variable in a file', `variables: { v: hunter2 }\n${destination('${var.v}')}`, {}],
    ['a variable by --var', destination('${var.v}'), { variables: { v: 'hunter2' } }],
    [
      'a variable by the environment',
      destination('${var.v}'),
      { environment: { TRUEUP_VAR_v: 'hunter2' } },
    ],
    [
      'a variable in a text',
      destination('hunter2-${var.v}-${var.w}'),
      { variables: { v: 'hunter2', w: 'hunter2' } },
    ],
    [
      'an environment variable',
      destination('${env.HUNTER}'),
      { environment: { HUNTER: 'hunter2' } },
    ],
    ['a literal', destination('hunter2'), {}],
    ['a number', destination('${var.v}').replace('"${var.v}"', '12345'), {}],
    [
      'a value of a for_each',
      'alert_push_destinations:\n  a: { for_each: { k: hunter2 }, name: a, authentication: { secret: "${each.value}" } }\n',
      {},
    ],
  ])('is not given by %s, and is not repeated', async (_, text, options) => {
    const found = await errors(text, options);
    expect(found.map(shown)).toEqual([
      expect.stringMatching(
        /literal-secret: `authentication\.secret` is secret.*\$\{secret\.env\.NAME\}/,
      ),
    ]);
    expect(shown(found[0]!)).not.toMatch(/hunter2|12345/);
  });

  it('may come through a for_each as what it is', async () => {
    const { declarations } = await project(
      'alert_push_destinations:\n  a: { for_each: { k: "${secret.env.K}" }, name: a, authentication: { secret: "${each.value}" } }\n',
    );
    expect(
      (declarations[0]!.values['authentication'] as { readonly secret: Secret }).secret.source,
    ).toBe('env.K');
  });

  it('of a variable of secrets is not given by --var or by a file, which is an error at once', async () => {
    const text = destination('${secret.env.TRUEUP_VAR_v}');
    const given = await errors(text, { variables: { v: 'hunter2' } });
    expect(given.map(shown)).toEqual([
      expect.stringMatching(
        /^literal-secret: the variable `v` is secret: its value is not allowed in --var .*TRUEUP_VAR_v/,
      ),
    ]);
    expect((await errors(`variables: { v: hunter2 }\n${text}`)).map(shown)).toEqual([
      expect.stringMatching(
        /^trueup.yaml:1:14 literal-secret: .*is not allowed in a file .*TRUEUP_VAR_v/,
      ),
    ]);
    expect(JSON.stringify(given)).not.toContain('hunter2');
  });
});
