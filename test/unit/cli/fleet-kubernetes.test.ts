// The manifests of a fleet: valid by the schemas of Kubernetes, with no member that these do not know, and harmless.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../../src/cli/commands/fleet-kubernetes.js';
import { shardIn } from '../../../src/fleet/shards.js';
import { isObject, type JsonObject } from '../../../src/model/index.js';
import { freshFolder, inProcess, type Said } from '../../support/in-process.js';

const FILE = `fleet:
  tenants: { acme: { labels: { tier: canary } }, globex: {} }
  defaults: { paths: [base], state: "s3://acme-trueup/\${tenant}" }
`;
const IMAGE = ['--image', 'registry.example.com/fleet:1'];

function printed(words: readonly string[], file = FILE): Promise<Said> {
  const cwd = freshFolder();
  mkdirSync(join(cwd, 'base'));
  writeFileSync(join(cwd, 'base', 'base.yaml'), 'variables: { a: b }\n');
  writeFileSync(join(cwd, 'trueup.fleet.yaml'), file);
  const env = { ACME_TRUEUP_MGR_API_KEY: 'secret-of-acme', CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' };
  return inProcess(run, ['fleet', 'kubernetes', ...words], { cwd, env });
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value: string;
    readonly valueFrom: object;
  }[];
  readonly envFrom: readonly object[];
  readonly resources: { readonly limits: JsonObject };
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: object;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [Container];
}

interface Work {
  readonly template: { readonly spec: Pod };
  readonly jobTemplate?: { readonly spec: Work };
}

type Manifest = JsonObject & { readonly metadata: JsonObject; readonly spec: JsonObject & Work };

async function manifest(words: readonly string[], file = FILE): Promise<Manifest> {
  const { code, stdout, stderr } = await printed([...IMAGE, ...words], file);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toContain('secret-of-acme');
  return parse(stdout) as Manifest;
}

type Validate = ((data: unknown) => boolean) & { readonly errors?: readonly object[] | null };

/** Compiled from the published schemas. The package exports no path to them, only classes that copy what they are given. */
function validatorOf(name: string): Validate {
  const load = createRequire(import.meta.url);
  const file = join(dirname(load.resolve('kubernetes-models')), '_schemas', `IoK8sApi${name}.js`);
  return (load(file) as { readonly validate: Validate }).validate;
}

/** What is wrong by the schema; and the members that it never reads, because it does not name them. */
function faults(validate: Validate, data: object): readonly unknown[] {
  const unread: string[] = [];
  const watches: (() => void)[] = [];
  const watched = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((one, at) => watched(one, `${path}/${at}`));
    if (!isObject(value)) return value;
    const read = new Set<string | symbol>();
    const members: Record<string, unknown> = {};
    for (const [name, one] of Object.entries(value))
      members[name] = watched(one, `${path}/${name}`);
    watches.push(() =>
      unread.push(
        ...Object.keys(value).flatMap((name) => (read.has(name) ? [] : [`${path}/${name}`])),
      ),
    );
    return new Proxy(members, {
      get: (target, name) => {
        read.add(name);
        return typeof name === 'string' ? target[name] : undefined;
      },
    });
  };
  const isValid = validate(watched(data, ''));
  for (const check of watches) check();
  return [...(isValid ? [] : (validate.errors ?? [])), ...unread];
}

/** The pod of a manifest, wherever it is. */
const podOf = ({ spec }: Manifest): Pod => (spec.jobTemplate?.spec ?? spec).template.spec;

const cases: readonly (readonly [string, Validate, readonly string[]])[] = [
  ['Job', validatorOf('BatchV1Job'), ['--kind', 'job', '--name', 'drift-1']],
  [
    'Job',
    validatorOf('BatchV1Job'),
    ['--command', 'apply', '--namespace', 'ops', '--env', 'prod', '--var', 'a=$(RUN)'],
  ],
  [
    'CronJob',
    validatorOf('BatchV1CronJob'),
    ['--kind', 'cronjob', '--shards', '8', '--schedule', '@daily', '--deadline', '6h'],
  ],
  [
    'Deployment',
    validatorOf('AppsV1Deployment'),
    ['--kind', 'worker', '--replicas', '3', '--secret', 'a', '--service-account', 'fleet-1'],
  ],
];

describe.each(cases)('a %s', (kind, validate, words) => {
  test(`of ${words.join(' ')} is valid, and has no unknown member`, async () => {
    const one = await manifest(words);
    expect(one['kind']).toBe(kind);
    expect(faults(validate, one)).toEqual([]);
    // The check notices a member that is misspelt, and a value of a wrong type.
    const { spec } = one;
    expect(faults(validate, { ...one, spec: { ...spec, parallelisms: 1 } })).toEqual([
      '/spec/parallelisms',
    ]);
    expect(faults(validate, { ...one, metadata: { name: 1 } })).not.toEqual([]);
  });

  test(`of ${words.join(' ')} has no rights and no writable root`, async () => {
    const pod = podOf(await manifest(words));
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const [container] = pod.containers;
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.map((one) => one.mountPath)).toEqual([
      '/tmp',
      '/project/.trueup',
    ]);
    expect(container.resources.limits.memory).toBe('512Mi');
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30);
  });
});

test('each pod of a job is one shard of one run', async () => {
  const { spec } = await manifest(['--shards', '3', '--select', 'tier=canary']);
  expect(spec).toMatchObject({
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    backoffLimitPerIndex: 2,
    ttlSecondsAfterFinished: 604_800,
  });
  const [{ args, env, envFrom }] = spec.template.spec.containers;
  expect(args).toEqual(['fleet', 'drift', '--select', 'tier=canary', '--run', '$(RUN)']);
  expect(JSON.stringify(env[0]?.valueFrom)).toContain('batch.kubernetes.io/job-name');
  const { name, value } = env[1]!;
  // Kubernetes sets the index by itself, from 0.
  expect(shardIn(undefined, { [name]: value, JOB_COMPLETION_INDEX: '2' })).toEqual({
    index: 3,
    total: 3,
  });
  expect(envFrom).toEqual([{ secretRef: { name: 'trueup-fleet' } }]);
});

test('pods have the service account, and jobs the deadline, that are named; else none', async () => {
  const words = ['--service-account', 'fleet', '--deadline', '1h30m'];
  for (const kind of ['job', 'cronjob']) {
    const { spec } = await manifest(['--kind', kind, ...words]);
    const job = spec.jobTemplate?.spec ?? spec;
    expect(job).toMatchObject({ activeDeadlineSeconds: 5400 });
    expect(job.template.spec).toMatchObject({ serviceAccountName: 'fleet' });
  }
  const { spec } = await manifest([]);
  expect(spec).not.toHaveProperty('activeDeadlineSeconds');
  expect(spec.template.spec).not.toHaveProperty('serviceAccountName');
});

/** As the kubelet expands arguments: `$$` is `$`, and `$(NAME)` a variable. */
const expanded = (word: string): string =>
  word.replaceAll(/\$(?:\$|\((\w+)\))/g, (_, name?: string) => (name ? `<${name}>` : '$'));

test.each(['a=$(RUN)', 'a=$$(RUN)', 'a=$$$(RUN)', 'a=$5 $', 'a=$$'])(
  'the word %s of the command line names no variable of Kubernetes',
  async (word) => {
    const [container] = podOf(await manifest(['--var', word])).containers;
    expect(container.args.map(expanded)).toContain(word);
    expect(expanded('$(RUN)')).toBe('<RUN>');
  },
);

test('what holds a line break stays in its comment, and in its argument', async () => {
  const evil = 'a=b\nkind: Pod\n---\n\u2028kind: Pod';
  const command = `{ credentials: { command: ["va\\nkind: Pod"] } }`;
  const file = FILE.replace('globex: {}', `globex: ${command}`);
  const words = ['--var', evil, '--select', 'tenant=acme,\ntenant=*'];
  const one = await manifest(words, file);
  expect(one['kind']).toBe('Job');
  expect(podOf(one).containers[0].args).toContain(evil);
  const { stdout } = await printed([...IMAGE, '--select', '*'], file);
  expect(stdout).toContain('the image holds va\\nkind: Pod\n');
});

test('names that Kubernetes accepts are accepted', async () => {
  for (const name of ['1team', 'n'.repeat(63)]) {
    const { metadata } = await manifest(['--namespace', name]);
    expect(metadata['namespace']).toBe(name);
  }
  const [container] = podOf(await manifest(['--secret', 'a.b-c.d'])).containers;
  expect(container.envFrom).toEqual([{ secretRef: { name: 'a.b-c.d' } }]);
});

test('nights do not overlap, and a job of a cron job is named like its run', async () => {
  const { spec, metadata } = await manifest(['--kind', 'cronjob']);
  expect(metadata['name']).toBe('nightly-drift');
  expect(spec).toMatchObject({
    schedule: '17 2 * * *',
    timeZone: 'Etc/UTC',
    concurrencyPolicy: 'Forbid',
  });
  const spaced = await manifest(['--kind', 'cronjob', '--schedule', '0 3  * * *']);
  expect(spaced['spec']).toMatchObject({ schedule: '0 3 * * *' });
});

test.each(['job', 'cronjob'])('the pods of a %s that applies wait for locks', async (kind) => {
  const [container] = podOf(await manifest(['--kind', kind, '--command', 'apply'])).containers;
  expect(container.args.join(' ')).toContain('fleet apply --auto-approve --lock-wait 5m');
  const [audit] = podOf(await manifest(['--kind', kind])).containers;
  expect(audit.args).not.toContain('--lock-wait');
});

test('a worker gets the address of its queue from a secret', async () => {
  const [container] = podOf(await manifest(['--kind', 'worker', '--queue-secret', 'q'])).containers;
  expect(container.args).toEqual(['fleet', 'worker', '--workers', '2']);
  expect(container.env).toEqual([
    { name: 'TRUEUP_QUEUE', valueFrom: { secretKeyRef: { name: 'q', key: 'TRUEUP_QUEUE' } } },
  ]);
});

test('comments name the variables, the image and the programs that the pods need', async () => {
  const { stdout } = await printed(
    IMAGE,
    FILE.replace('globex: {}', 'globex: {}, x: { credentials: { command: [vault, kv, get] } }'),
  );
  expect(stdout).toContain('# - ACME_TRUEUP_V2_URL, ACME_TRUEUP_MGR_API_ID,');
  expect(stdout).toContain('# - the same with GLOBEX_\n');
  expect(stdout).toContain('the image holds vault');
  expect(stdout).toContain(
    'trueup fleet kubernetes --image registry.example.com/fleet:1\n# The image holds trueup, and this folder at /project.',
  );
});

test.each([
  [[], '--image is missing: trueup publishes no image.'],
  [['--image', 'a b'], '--image "a b": Kubernetes does not accept this value.'],
  [[...IMAGE, '--name', 'Nightly'], '--name "Nightly": Kubernetes does not accept this value.'],
  [[...IMAGE, '--namespace', 'a\nb'], '--namespace "a\\nb": Kubernetes does not'],
  [[...IMAGE, '--secret', '$(x)'], '--secret "$(x)": Kubernetes does not'],
  [[...IMAGE, '--secret', 'a..b'], '--secret "a..b": Kubernetes does not'],
  [[...IMAGE, '--namespace', 'n'.repeat(64)], 'Kubernetes does not accept this value.'],
  [[...IMAGE, '--var', 'api_token=x'], 'TRUEUP_VAR_api_token'],
  [[...IMAGE, '--kind', 'worker', '--var', 'a=b'], '--var cannot be used with --kind worker'],
  [[...IMAGE, '--kind', 'worker', '--env', 'prod'], '--env cannot be used with --kind worker'],
  [
    [...IMAGE, '--kind', 'cronjob', '--schedule', '@nightly'],
    '--schedule "@nightly": it does not have five fields.',
  ],
  [[...IMAGE, '--service-account', ''], '--service-account "": Kubernetes does not'],
  [[...IMAGE, '--deadline', '0s'], '--deadline has to be a length of time above zero'],
  [[...IMAGE, '--deadline', ''], '--deadline has to be a length of time above zero'],
  [
    [...IMAGE, '--kind', 'worker', '--deadline', '6h'],
    '--deadline cannot be used with --kind worker',
  ],
  [[...IMAGE, '--shards', '0'], '--shards takes a whole number from 1 to 1000'],
  [
    [...IMAGE, '--kind', 'cronjob', '--schedule', 'nightly'],
    '--schedule "nightly": it does not have five fields.',
  ],
  [
    [...IMAGE, '--kind', 'cronjob', '--schedule', '0 24 * * *'],
    '--schedule "0 24 * * *": "24" is not a valid hour: use 0 to 23, `*`,',
  ],
  [
    [...IMAGE, '--kind', 'cronjob', '--schedule', '@every 1h'],
    'For example, every six hours: --schedule "0 */6 * * *"',
  ],
  [[...IMAGE, '--kind', 'cronjob', '--schedule', '0 0 4 * * *'], 'it does not have five fields.'],
  [[...IMAGE, '--schedule', '@daily'], '--schedule cannot be used with --kind job'],
  [[...IMAGE, '--kind', 'worker', '--shards', '2'], '--shards cannot be used with --kind worker'],
  [[...IMAGE, '--queue-secret', 'q'], '--queue-secret cannot be used with --kind job'],
])('%j is refused', async (words, why) => {
  const { code, stdout, stderr } = await printed(words);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(why);
});

test('an apply whose states are files of a pod is refused; an audit is warned of its results', async () => {
  const local = FILE.replace(/, state: .*" \}/, ' }');
  for (const words of [
    ['--command', 'apply'],
    ['--kind', 'worker'],
  ]) {
    const { code, stderr } = await printed([...IMAGE, ...words], local);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the state of acme would be a file of a pod'),
    ]);
  }
  const { code, stderr } = await printed(IMAGE, local);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('The results would be files of each pod'),
  ]);
});

test('an apply of several stages is refused in shards', async () => {
  const staged = `${FILE}  order: [{ select: "tier=canary" }, { select: "*" }]\n`;
  const words = [...IMAGE, '--command', 'apply'];
  const { code, stderr } = await printed(words, staged);
  expect([code, stderr]).toEqual([1, expect.stringContaining('[order-in-shards]')]);
  expect((await printed([...words, '--shards', '1'], staged)).code).toBe(0);
});

test('an apply with a limit over tenants is refused in shards', async () => {
  const limited = `${FILE}  stop: { changed_tenants: 1 }\n`;
  const words = [...IMAGE, '--command', 'apply'];
  const { code, stdout, stderr } = await printed(words, limited);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('`stop.changed_tenants` is 1, and a shard does not know');
  expect(stderr).toContain('Use --shards 1, or apply a bundle');
  expect((await printed([...words, '--shards', '1'], limited)).code).toBe(0);
  expect((await printed([...words, '--select', 'tier=canary'], limited)).code).toBe(0);
  expect((await printed(IMAGE, limited)).code).toBe(0);
});
