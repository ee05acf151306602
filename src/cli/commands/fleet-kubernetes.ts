// `trueup fleet kubernetes`: prints manifests that run this fleet in a cluster. They name secrets and hold none.
import {
  defined,
  durationWords,
  exits,
  firstNamed,
  isAddress,
  keysOf,
  refuse,
  tryDuration,
  warning,
  type JsonObject,
} from '../../model/index.js';
import {
  cronJobOf,
  FOLDER,
  jobOf,
  workersOf,
  type ManifestOptions,
} from '../../fleet/kubernetes-manifests.js';
import { secretVariable, spacedOnce, timeFault, timeForms } from '../../fleet/tenant-job.js';
import { visible } from '../../report/escaping.js';
import { flagWords } from '../commands-to-type.js';
import { wholeNumber, type Command, type Context } from '../context.js';
import { needs } from '../environment-credentials.js';
import { fleetHere, type FleetSite } from '../fleet-context.js';
import { version } from '../version.js';
import { refuseLimitsInShards, refuseOrderInShards } from '../fleet-command.js';
import { policiesHere } from '../project-policies.js';

type Kind = 'job' | 'cronjob' | 'worker';

const REPLICAS = '2';

/** Flags that only some kinds have. */
const flagsOf = {
  job: ['command', 'shards', 'select', 'deadline', 'var', 'env'],
  cronjob: ['command', 'shards', 'select', 'deadline', 'schedule', 'var', 'env'],
  worker: ['replicas', 'queueSecret'],
} as const;

export const run: Command = async (context) => {
  const { flags, out } = context;
  const kind = kindOf(context);
  const shards = wholeNumber('--shards', flags.shards ?? '4', 1, 1000);
  const work = flags.command ?? 'drift';
  refuseSecretWords(flags.var ?? []);
  const site = await fleetHere({ ...context, flags: { ...flags, shard: `1/${shards}` } });
  if (kind !== 'worker' && work === 'apply') {
    refuseOrderInShards(site, flags);
    refuseLimitsInShards(site, flags, await policiesHere(context), true);
  }
  await checkPlaces(context, site, work === 'apply' || kind === 'worker');
  const { namespace, secret, image, serviceAccount: account } = flags;
  const options: ManifestOptions = {
    name: checked('--name', NAME, flags.name ?? usualName(context, kind, work)),
    ...defined({ namespace: namespace && checked('--namespace', NAMESPACE, namespace) }),
    image: checked('--image', IMAGE, image ?? noImage()),
    ...(account !== undefined && {
      serviceAccount: checked('--service-account', SECRET, account),
    }),
    secrets: (secret ?? ['trueup-fleet']).map((one) => checked('--secret', SECRET, one)),
    words: wordsOf(context, kind, work),
  };
  const { yamlText } = await import('../yaml-output.js');
  out.write(
    `${commentsOf(context, site, options).join('\n')}\n${yamlText(manifest(context, kind, options, shards))}`,
  );
  return exits.done;
};

function manifest(
  { flags }: Context,
  kind: Kind,
  options: ManifestOptions,
  shards: number,
): JsonObject {
  const { deadline } = flags;
  const limit = deadline === undefined ? {} : { deadline: secondsOf(deadline) };
  const job = { ...options, shards, ...limit };
  if (kind === 'job') return jobOf(job);
  if (kind === 'cronjob')
    return cronJobOf({
      ...job,
      schedule: scheduleOf(flags.schedule ?? '17 2 * * *'),
    });
  return workersOf({
    ...options,
    replicas: wholeNumber('--replicas', flags.replicas ?? REPLICAS, 1, 1000),
    queue: checked('--queue-secret', SECRET, flags.queueSecret ?? 'trueup-queue'),
  });
}

/** @throws Refusal for a time that never comes, or that is none */
function scheduleOf(given: string): string {
  const text = spacedOnce(given);
  const fault = SCHEDULE_WORD.test(text) ? undefined : timeFault(text);
  if (fault === undefined) return text;
  return refuse('usage', `--schedule ${JSON.stringify(given.slice(0, 80))}: ${fault}`, {
    detail: timeForms('--schedule'),
  });
}

/** @throws Refusal for what is no length of time */
function secondsOf(deadline: string): number {
  const seconds = Math.ceil((tryDuration(deadline) ?? 0) / 1000);
  return seconds > 0 ? seconds : refuse('usage', `--deadline has to be ${durationWords}.`);
}

/** @throws Refusal for a flag of another kind */
function kindOf({ flags }: Context): Kind {
  const kind = keysOf(flagsOf).find((one) => one === (flags.kind ?? 'job'))!;
  const own: readonly string[] = flagsOf[kind];
  for (const name of Object.values(flagsOf).flat())
    if (flags[name] !== undefined && !own.includes(name))
      refuse(
        'usage',
        `${name === 'queueSecret' ? '--queue-secret' : `--${name}`} cannot be used with --kind ${kind}.`,
      );
  return kind;
}

const usualName = ({ clock }: Context, kind: Kind, work: string): string => {
  if (kind === 'worker') return 'fleet-worker';
  if (kind === 'cronjob') return `nightly-${work}`;
  const stamp = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${work}-${stamp.toLowerCase()}`;
};

/** Of objects of Kubernetes, and of runs. A cron job adds eleven characters for each job. */
const NAME = [/^[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?$/, 'nightly-drift'] as const;
const NAMESPACE = [/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'nightly-drift'] as const;
/** Of secrets, and of service accounts. */
const SECRET = [
  /^(?!.*(?:\.[.-]|-\.))[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/,
  'trueup-fleet',
] as const;
const IMAGE = [/^[a-z0-9][\w./:@-]{0,500}$/, 'registry.example.com/fleet:1.4.2'] as const;
const SCHEDULE_WORD = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/;

function checked(flag: string, [pattern, example]: readonly [RegExp, string], text: string) {
  if (pattern.test(text)) return text;
  return refuse(
    'usage',
    `${flag} ${JSON.stringify(text.slice(0, 80))}: Kubernetes does not accept this value.`,
    {
      detail: `For example: ${flag} ${example.includes(' ') ? `"${example}"` : example}`,
    },
  );
}

const noImage = (): never =>
  refuse('usage', '--image is missing: trueup publishes no image.', {
    detail: `Build one that holds trueup, and this folder at ${FOLDER}: docs/how-to/fleet-kubernetes.md of the trueup package`,
  });

/** What everybody could read who may read the job. @throws Refusal */
function refuseSecretWords(variables: readonly string[]): void {
  const name = secretVariable(variables);
  if (name !== undefined)
    refuse(
      'secret-in-manifest',
      `The variable ${name} is named like a secret, and a manifest holds no secrets.`,
      { detail: `Put TRUEUP_VAR_${name} into the secret that the pods get.` },
    );
}

/** Kubernetes replaces `$(NAME)` in arguments by a variable, and `$$` by `$`. */
const wordsOf = ({ flags }: Context, kind: Kind, work: string): readonly string[] =>
  [
    'fleet',
    // The workers share the rates of the credentials.
    ...(kind === 'worker' ? ['worker', '--workers', flags.replicas ?? REPLICAS] : [work]),
    // A pod that replaces another one waits for its locks.
    ...(kind !== 'worker' && work === 'apply' ? ['--auto-approve', '--lock-wait', '5m'] : []),
    ...(flags.select === undefined ? [] : ['--select', flags.select]),
    ...(flags.var ?? []).flatMap((one) => ['--var', one]),
    ...(flags.env === undefined ? [] : ['--env', flags.env]),
  ].map((word) => word.replaceAll('$', () => '$$'));

/** The files of a pod end with it. @throws Refusal where what is written would be lost */
async function checkPlaces(context: Context, site: FleetSite, writes: boolean): Promise<void> {
  const local = site.selected.filter(({ state }) => state === undefined || !isAddress(state));
  const detail =
    'Set a state that all pods can reach, for example: defaults: { state: "s3://acme-trueup/${tenant}" }';
  if (writes && local.length > 0)
    refuse(
      'pod-files',
      `the state of ${local[0]!.name} would be a file of a pod, and be deleted with it`,
      {
        detail,
        origin: local[0]!.origin,
      },
    );
  if (site.fleet.results === undefined)
    await context.tell([
      warning(
        'pod-files',
        'The results would be files of each pod, and be deleted with it.',
        detail,
      ),
    ]);
}

/** Prefixes that are named one by one. */
const MOST_NAMED = 20;

function commentsOf(
  { flags }: Context,
  { selected }: FleetSite,
  { secrets }: ManifestOptions,
): readonly string[] {
  const prefixes = selected.flatMap(({ credentials }) =>
    'env_prefix' in credentials ? [credentials.env_prefix] : [],
  );
  const commands = selected.flatMap(({ credentials }) =>
    'command' in credentials ? credentials.command.slice(0, 1) : [],
  );
  const programs = new Set(commands);
  const [first, ...others] = [...new Set(prefixes)];
  const named = firstNamed(others, MOST_NAMED, ', and ');
  const variables = ({ address, secrets: keys }: (typeof needs)['v2' | 'v3']): string =>
    [address, ...keys].map((name) => `${first}${name}`).join(', ');
  return [
    `Made by trueup ${version}: ${['trueup fleet kubernetes', ...flagWords('fleet kubernetes', flags)].join(' ')}`,
    `The image holds trueup, and this folder at ${FOLDER}.`,
    `Secrets: ${secrets.join(', ')}. Together they hold`,
    ...(first === undefined
      ? []
      : [
          `- ${variables(needs.v2)}`,
          `- if authorizations or users are declared: ${variables(needs.v3)}`,
          ...(others.length === 0 ? [] : [`- the same with ${named}`]),
        ]),
    ...(programs.size === 0
      ? []
      : [`- what credential commands need; the image holds ${[...programs].join(', ')}`]),
    '- what the declarations name as ${secret.env.…}, and the credentials of the place of the states',
  ].map((line) => `# ${visible(line)}`);
}
