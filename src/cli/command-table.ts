// The command line as data: every command with its arguments and flags. The parser, the help texts (also those that
// `--help` prints before anything is loaded) and shell completion are generated from this table.
import { behavioursHelp, dialects } from '../emulator/behaviours.js';
import { allowableRules, withTraits } from '../model/index.js';
import { ruleNames } from '../resources/rules/names.js';
import {
  accessFormats,
  driftFormats,
  fleetFormats,
  graphFormats,
  listFormats,
  planFormats,
  recordFormats,
} from '../report/formats.js';

export interface FlagSpec {
  /** As commander writes it: `-o, --output <format>`. */
  readonly spelling: string;
  readonly doc: string;
  readonly choices?: readonly string[];
  /** Present where a project may add to the choices: the command checks them. */
  readonly open?: true;
  readonly initial?: string;
  readonly repeat?: true;
}

export interface CommandSpec {
  /** `plan`, or `state list` below a group. */
  readonly name: string;
  readonly args: string;
  /** What the help shows in place of `args`. */
  readonly usage?: string;
  readonly doc: string;
  readonly flags: readonly FlagSpec[];
  /** Ends by itself after a signal, in good order; all other commands are stopped at once. */
  readonly graceful?: true;
  readonly more?: string;
}

const flag = <const Spelling extends string, const More extends Partial<FlagSpec>>(
  spelling: Spelling,
  doc: string,
  more?: More,
) => withTraits({ spelling, doc }, more);
const repeatable = <const Spelling extends string>(
  spelling: Spelling,
  doc: string,
  more?: Partial<FlagSpec>,
) => flag(spelling, `${doc}; repeatable`, { ...more, repeat: true });

const environment = flag(
  '--env <name>',
  'merge trueup.<name>.yaml over the project; use a separate state (TRUEUP_ENV)',
);
const variable = repeatable('--var <name=value>', 'value of ${var.name} (TRUEUP_VAR_name)');
const debug = flag('--debug', 'show stack traces');
const project = [variable, environment, debug] as const;
const ndjson = flag('--json', 'print events as NDJSON, with the field names of terraform -json');
const ndjsonOrDocument = flag('--json', `${ndjson.doc}; --format json prints one document`);
const scope = [
  repeatable('--target <address>', 'limit the plan to this address and its dependencies'),
  repeatable('--exclude <address>', 'exclude this address and its dependents'),
  repeatable('--allow <rule>', 'allow findings of this policy rule', {
    choices: allowableRules(ruleNames),
    open: true,
  }),
] as const;
const identity = flag(
  '--identity <file>',
  'file with the age identity that decrypts the saved plan (TRUEUP_IDENTITY_FILE)',
);
const detailed = flag('--detailed-exitcode', 'exit 2 if anything differs');
const format = (choices: readonly [string, ...string[]]) =>
  flag('--format <format>', 'output format', { choices, initial: choices[0] });
const verbose = flag('--verbose', 'show each change by itself, and every note');
const showRequests = flag('--show-requests', 'also show the requests with their bodies');
const shown = [showRequests, verbose] as const;
const report = repeatable(
  '--report <format=file>',
  'also write a report in this format to this file',
);
const lockWait = flag('--lock-wait <time>', 'time to wait for the lock, such as 5m');
const locking = [...project, lockWait] as const;
const notify = repeatable(
  '--notify <format=url>',
  'post the result to this address: generic (default), slack or teams (TRUEUP_NOTIFY_URL)',
);
const acting = [
  flag('--auto-approve', 'do not ask'),
  flag('--parallelism <n>', 'number of concurrent writes', { initial: '10' }),
  lockWait,
] as const;

const validFor = flag(
  '--valid-for <span>',
  'time for which the saved plan can be applied, such as 30m, 12h or 7d; default 24h, at most 30d',
);
const encryptTo = repeatable(
  '--encrypt-to <recipient>',
  'encrypt the saved plan to this age recipient (age1…)',
);
const unmanaged = flag(
  '--unmanaged <word>',
  'count: list unmanaged objects; fail: also treat them as drift',
  { choices: ['count', 'fail'], initial: 'count' },
);

const forges = ['github', 'gitlab'] as const;
const allow = scope[2];
/** Flags of every command over a fleet. */
const tenants = [
  flag(
    '--select <expression>',
    'only these tenants, such as tier=canary,region!=eu or tenant=acme',
  ),
  flag(
    '--changed-since <reference>',
    'only tenants whose files or entry differ from those of this git reference',
  ),
  flag('--shard <i/n>', 'only the tenants of this shard, such as 1/8 (default: from the CI job)'),
  format(fleetFormats),
  report,
  ...project,
] as const;
const queue = flag(
  '--queue <url>',
  'queue in PostgreSQL, such as postgres://host/database, without a password (TRUEUP_QUEUE)',
);
const jobExpiry = flag(
  '--job-expiry <time>',
  'time after which a tenant is given to another worker; default 15m',
);
const queued = [
  flag('--engine <name>', 'put the tenants into a queue, for fleet worker', {
    choices: ['pgboss'],
  }),
  queue,
  jobExpiry,
] as const;
const fleetRun = flag('--run <name>', 'name of the run; an earlier one is resumed');

const key = flag(
  '--key <name>',
  'name in the hidden marker of the post (default: the project and --env)',
);
const author = flag(
  '--author <name>',
  'update only a post of this user (default: the user of the token)',
);

const paths = `
A PATH is a YAML file, a folder with YAML files, or - for standard input; or a
CDK program (cdktf.json), its output folder, or a cdk.tf.json file in that
folder. Without one, the current folder is the project.`;

const committedPaths = `
A PATH is a YAML file or a folder with YAML files; or the committed output of a
CDK program (cdktf.out), or a cdk.tf.json file in it. Without one, the current
folder is the project.`;

const table = [
  {
    name: 'init',
    args: '',
    doc: 'write a first trueup.yaml, .gitignore lines and a CI workflow',
    flags: [
      flag('--ci <forge>', 'write the workflow for this CI, and package.json with its lock file', {
        choices: [...forges, 'none'],
      }),
      flag(
        '--package <spec>',
        'trueup that CI installs: a tarball, its address or an exact version (default: this version)',
      ),
      flag('--fleet', 'write trueup.fleet.yaml and a first tenant: many accounts in one folder'),
      ...project,
    ],
    more: '\nNo file is overwritten. With --env NAME, the workflow runs in that environment;\notherwise in prod if the project itself uses the emulator.',
  },
  {
    name: 'synth',
    args: '',
    doc: 'run the program named in cdktf.json; needs no CDK CLI',
    flags: [
      flag(
        '--output <folder>',
        'folder for the stacks (default: the folder in cdktf.json, or cdktf.out)',
      ),
      debug,
    ],
  },
  {
    name: 'migrate',
    args: '[folder]',
    doc: 'convert a cdktf project to cdktn; check that its stacks do not change',
    flags: [
      flag('--auto-approve', 'do not ask'),
      flag('--check', 'verify a migration after you installed its packages'),
      debug,
    ],
    graceful: true,
    more: '\nThe command changes imports and package.json, and runs the program before and\nafter. If the stacks differ, it undoes every change.',
  },
  {
    name: 'validate',
    args: '[paths...]',
    doc: 'check declarations, without network and without secrets',
    flags: [flag('--verbose', 'show every warning and every note'), ...project],
    more: paths,
  },
  {
    name: 'plan',
    args: '[paths...]',
    doc: 'show what apply would do',
    flags: [
      flag('--out <file>', 'save the plan to this file; to apply it: trueup apply FILE'),
      validFor,
      encryptTo,
      format(planFormats),
      report,
      ...shown,
      ndjsonOrDocument,
      detailed,
      ...scope,
      flag('--destroy', 'plan to delete or forget all managed objects in scope'),
      flag(
        '--impact',
        'replay recent alerts: show what each rule would send before and after the plan',
      ),
      flag(
        '--since <time>',
        'with --impact: replay alerts since this time, ISO 8601 or an age such as 24h; default 7d',
      ),
      ...project,
    ],
    more: paths,
  },
  {
    name: 'diff',
    args: '<reference> [paths...]',
    usage: '<reference | A..B> [paths...]',
    doc: 'show the plan between two git references, without the cloud',
    flags: [format(planFormats), report, verbose, detailed, ...project],
    more: `\nOne git reference is compared with the working tree, A..B with each other. The\ndeclarations of the first count as live and as in state. Nothing is sent, and\nthe state is not read.${committedPaths}`,
  },
  {
    name: 'apply',
    args: '[paths...]',
    usage: '[plan-file | paths...]',
    doc: 'show the plan, ask, apply it; or apply a saved plan',
    flags: [
      ...acting,
      ...shown,
      ndjson,
      identity,
      notify,
      ...scope,
      flag('--destroy', 'delete or forget all managed objects in scope'),
      ...project,
    ],
    graceful: true,
    more: `${paths}\nA file saved by plan --out is applied without confirmation. A stale plan is\nrefused.`,
  },
  {
    name: 'destroy',
    args: '[paths...]',
    doc: 'delete or forget all managed objects in scope, after asking',
    flags: [...acting, ...shown, ndjson, ...scope, ...project],
    graceful: true,
    more: paths,
  },
  {
    name: 'drift',
    args: '[paths...]',
    doc: 'compare live objects with the declarations and the last apply',
    flags: [
      format(driftFormats),
      report,
      flag('--verbose', 'show every health issue and every note'),
      ndjsonOrDocument,
      detailed,
      unmanaged,
      notify,
      flag('--issue <forge>', 'keep one issue on this forge, open while there is drift', {
        choices: forges,
      }),
      key,
      author,
      ...project,
    ],
    more: paths,
  },
  {
    name: 'comment',
    args: '',
    doc: 'write a plan into one comment on the pull request or merge request',
    flags: [
      flag('--forge <forge>', 'forge of the pull request or merge request', { choices: forges }),
      flag(
        '--plan <file>',
        'plan saved by plan --out, or written by plan --report json=FILE (default: plan now)',
      ),
      flag(
        '--number <n>',
        'number of the pull request or merge request (default: from the CI job)',
      ),
      key,
      author,
      flag('--check-run <word>', 'write: also write a check run (GitHub); none: write none', {
        choices: ['write', 'none'],
        initial: 'write',
      }),
      ...project,
    ],
    more: '\nIf an earlier run wrote a comment, it is updated, and the earlier plan is folded\nbelow the new one. The plan is also added to the file in GITHUB_STEP_SUMMARY.',
  },
  {
    name: 'watch',
    args: '[paths...]',
    doc: 'run drift repeatedly; print one line per run; export Prometheus metrics',
    flags: [
      flag('--every <span>', 'time from one audit to the next, such as 30s, 5m or 1h', {
        initial: '5m',
      }),
      flag('--metrics-file <file>', 'write the metrics to this file after each audit'),
      flag(
        '--metrics-port <n>',
        'serve the metrics on this port, at /metrics; 0 picks a free port',
      ),
      flag(
        '--metrics-host <address>',
        'address to serve the metrics on (default: this machine only)',
      ),
      flag(
        '--metrics-tenants <n>',
        'in a fleet: tenants with metrics of their own, the worst first; default 100',
      ),
      repeatable(
        '--notify <format=url>',
        'post each result that differs from the previous one; formats and addresses as for drift',
      ),
      ...project,
    ],
    graceful: true,
    more: `${paths}\nIn the folder of a fleet, all tenants are audited.`,
  },
  {
    name: 'import',
    args: '<address> <id> [paths...]',
    doc: 'manage an existing object under the address of a declaration',
    flags: locking,
    graceful: true,
  },
  {
    name: 'export',
    args: '[kinds...]',
    usage: '[kinds... | --update paths...]',
    doc: 'write live objects as declarations, or drift into declarations',
    flags: [
      flag('--update', 'write drifted values into the declarations that are there, in place'),
      repeatable('--target <address>', 'with --update: only this address'),
      flag('--dry-run', 'with --update: only print the diff'),
      flag(
        '--account <account>',
        'id or name: only what belongs to this account or to accounts below it',
      ),
      repeatable('--filter <key=value>', 'only what this filter of the API finds, as in get'),
      flag('--out <folder>', 'write files into this folder (default: standard output)'),
      flag('--split <word>', 'account: write one folder for each customer', {
        choices: ['account'],
      }),
      flag('--format <format>', 'format of the declarations', {
        choices: ['yaml', 'hcl', 'cdktf', 'cdktn'],
        initial: 'yaml',
      }),
      flag('--all', 'include objects that are in the state'),
      ...project,
    ],
    more: '\nAn object belongs to the accounts that it names, or else to its owner. With\n--account, objects that also name other accounts are left out, with a warning.\nWith --split, customers are the accounts right below the root account, or below\n--account. What belongs to several customers, or to the account above them, is\nwritten to shared.yaml.\n\nWith --update, arguments are PATHs, as for plan. The changes are printed as a\nunified diff. If one value cannot be written in place, nothing is written.',
  },
  {
    name: 'get',
    args: '<kind> [id]',
    doc: 'list live objects and read-only data (alerts, logs, SIMs)',
    flags: [
      repeatable('--filter <key=value>', 'filter of the API'),
      flag(
        '--since <time>',
        'only records since this time, ISO 8601 or an age such as 30m, 24h, 7d, 2w',
      ),
      flag('--until <time>', 'only records up to this time'),
      flag('--expand <words>', 'references to replace with the objects that they name'),
      flag('--limit <n>', 'stop reading after this many records'),
      flag(
        '-o, --output <format>',
        `output format; ${accessFormats.join(' and ')} only of access`,
        {
          choices: [...recordFormats, ...accessFormats],
          initial: 'table',
        },
      ),
      ...project,
    ],
  },
  {
    name: 'log',
    args: '',
    doc: 'list the runs that changed the state, the newest first',
    flags: [
      flag('-n, --limit <n>', 'number of runs to list (default: all that are known)'),
      format(listFormats),
      ...project,
    ],
  },
  {
    name: 'fleet validate',
    args: '',
    doc: 'check trueup.fleet.yaml and the declarations of its tenants, offline',
    flags: tenants,
    graceful: true,
  },
  {
    name: 'fleet plan',
    args: '',
    doc: 'show what apply would do, for every tenant',
    flags: [
      flag('--out <file>', 'save all plans to this file; to apply it: trueup fleet apply FILE'),
      validFor,
      encryptTo,
      fleetRun,
      detailed,
      allow,
      ...tenants,
    ],
    graceful: true,
  },
  {
    name: 'fleet drift',
    args: '',
    doc: 'compare live objects with the declarations, for every tenant',
    flags: [fleetRun, detailed, unmanaged, lockWait, ...queued, ...tenants],
    graceful: true,
  },
  {
    name: 'fleet apply',
    args: '[bundle]',
    doc: 'plan every tenant, ask, apply; or apply saved plans',
    flags: [...acting, fleetRun, identity, allow, ...queued, ...tenants],
    graceful: true,
    more: '\nA file saved by fleet plan --out is applied without confirmation. Each plan in\nit is refused if it is stale.',
  },
  {
    name: 'fleet report',
    args: '<run>',
    doc: 'merge the results of all tenants of a run',
    flags: [detailed, format(fleetFormats), report, debug],
    more: '\nA tenant without a result is an error.',
  },
  {
    name: 'fleet show',
    args: '<bundle> [tenant]',
    doc: 'show saved plans: of all tenants, or the whole plan of one',
    flags: [format(planFormats), report, ...shown, identity, debug],
  },
  {
    name: 'fleet worker',
    args: '',
    doc: 'run the tenants that are in the queue',
    flags: [
      queue,
      flag('--lanes <n>', 'number of tenants at once (default: concurrency of the fleet)'),
      flag('--workers <n>', 'number of workers that share the rate of a credential; default 1'),
      flag('--until-idle', 'end when the queue holds no more tenants'),
      identity,
      debug,
    ],
    graceful: true,
    more: '\nIt runs in the folder of the fleet, with the credentials of its tenants.',
  },
  {
    name: 'fleet status',
    args: '<run>',
    doc: 'count the tenants of a run by result, and those that wait or run',
    flags: [
      queue,
      flag('--wait', 'end when every tenant has a result, or the run is cancelled'),
      format(listFormats),
      debug,
    ],
  },
  {
    name: 'fleet resume',
    args: '<run>',
    doc: 'queue the tenants of a run that have no final result',
    flags: [queue, debug],
  },
  {
    name: 'fleet cancel',
    args: '<run>',
    doc: 'remove the tenants of a run from the queue, and interrupt those that run',
    flags: [queue, debug],
  },
  {
    name: 'fleet schedule',
    args: '[command]',
    doc: 'queue fleet drift on a schedule; without a command: list the schedules',
    flags: [
      flag('--cron <expression>', 'when to begin, in UTC, such as "0 3 * * *"'),
      flag('--spread <time>', 'distribute the starts of the tenants over this time, such as 2h'),
      flag('--remove', 'remove the schedule'),
      queue,
      jobExpiry,
      tenants[0],
      unmanaged,
      variable,
      environment,
      debug,
    ],
    more: '\nThe only command is drift. A run begins only if a worker runs at that time.',
  },
  {
    name: 'fleet kubernetes',
    args: '',
    doc: 'print manifests that run this fleet in a Kubernetes cluster',
    flags: [
      flag('--kind <kind>', 'job: once; cronjob: every night; worker: fleet worker; default job', {
        choices: ['job', 'cronjob', 'worker'],
      }),
      flag('--image <image>', 'image that holds trueup, and this folder at /project'),
      flag('--command <name>', 'what a job runs; default drift', { choices: ['drift', 'apply'] }),
      flag('--shards <n>', 'number of pods of a job; each runs one shard; default 4'),
      flag('--schedule <cron>', 'when a cron job begins, in UTC; default "17 2 * * *"'),
      flag('--replicas <n>', 'number of workers; default 2'),
      repeatable(
        '--secret <name>',
        'secret whose keys are the variables of the pods; default trueup-fleet',
      ),
      flag(
        '--queue-secret <name>',
        'secret that holds TRUEUP_QUEUE for workers; default trueup-queue',
      ),
      flag(
        '--deadline <time>',
        'time after which Kubernetes ends a job, such as 6h (default: none)',
      ),
      flag('--service-account <name>', 'service account of the pods'),
      flag('--name <name>', 'name of the object; for a job, also the name of its run'),
      flag('--namespace <name>', 'namespace of the object'),
      tenants[0],
      ...project,
    ],
    more: '\nNothing is sent to a cluster. To apply the output, add: | kubectl apply -f -',
  },
  { name: 'state list', args: '', doc: 'list addresses and ids', flags: project },
  {
    name: 'state show',
    args: '<address>',
    doc: 'show the state of one address',
    flags: project,
  },
  {
    name: 'state mv',
    args: '<from> <to>',
    doc: 'change the address of an object',
    flags: locking,
    graceful: true,
  },
  {
    name: 'state rm',
    args: '<addresses...>',
    doc: 'forget objects; the live objects stay as they are',
    flags: locking,
    graceful: true,
  },
  {
    name: 'state history',
    args: '',
    doc: 'list the stored states, the newest first',
    flags: project,
  },
  {
    name: 'state rollback',
    args: '[serial]',
    doc: 'restore an earlier state, with a new serial',
    flags: [
      flag('--accept', 'accept a state that is older than the last one this machine saw'),
      ...locking,
    ],
    graceful: true,
  },
  {
    name: 'state pull',
    args: '',
    doc: 'print the state as a state file',
    flags: project,
  },
  {
    name: 'state push',
    args: '<file>',
    doc: 'replace the state with a state file that was pulled from it',
    flags: [
      flag(
        '--serial <n>',
        'replace the state with this serial, even if the file has another serial',
      ),
      ...locking,
    ],
    graceful: true,
  },
  {
    name: 'state migrate',
    args: '',
    doc: 'move the state to another place',
    flags: [
      flag('--to <url>', 'new place, such as s3://bucket/prefix'),
      flag('--dry-run', 'only print what would be moved'),
      ...locking,
    ],
    graceful: true,
  },
  {
    name: 'unlock',
    args: '<id>',
    doc: 'remove the lock of a run that has ended',
    flags: project,
    graceful: true,
  },
  {
    name: 'show',
    args: '<planfile>',
    doc: 'show a saved plan',
    flags: [format(planFormats), report, ...shown, identity, debug],
  },
  {
    name: 'test',
    args: '',
    doc: 'run the tests of the policies in this folder',
    flags: [debug],
    more: '\nPolicies are in policies/*.cel.yaml, their tests in policies/*.test.yaml.\nNothing is sent, and no declaration is read.',
  },
  {
    name: 'graph',
    args: '[paths...]',
    doc: 'print the dependencies of the declarations, or of a plan, as a graph',
    flags: [
      flag('--plan <file>', 'draw this plan, written by plan --out or plan --report json=FILE'),
      format(graphFormats),
      identity,
      ...project,
    ],
    more: `${paths}\nAn arrow leads from an object to one that it refers to or waits for.`,
  },
  {
    name: 'provider install',
    args: '',
    doc: 'install the Terraform/OpenTofu provider',
    flags: [
      flag('--user', 'install for all folders of this user, instead of the current folder'),
      flag('--dev', 'copy nothing; write a Terraform configuration that uses the built provider'),
      debug,
    ],
  },
  {
    name: 'schema',
    args: '[kind]',
    doc: 'print the JSON Schema of declarations, or of one kind',
    flags: [debug],
  },
  {
    name: 'completion',
    args: '<bash|zsh|fish>',
    doc: 'print a completion script for a shell',
    flags: [debug],
  },
  {
    name: 'doctor',
    args: '[paths...]',
    doc: 'check versions, credentials, clock, reachability and lock',
    flags: [
      ...project,
      flag(
        '--check-api',
        'also check the assumptions of trueup about the service (about 40 GET requests)',
      ),
    ],
  },
  {
    name: 'sim flip',
    args: '',
    doc: 'use the sample flow to change the status of a SIM: active to paused, or back',
    flags: [
      flag('--imsi <digits>', 'IMSI of the SIM'),
      flag('--msisdn <digits>', 'telephone number of the SIM'),
      flag('--customer <number>', 'customer that the SIM belongs to'),
      flag('--auto-approve', 'do not ask'),
      flag('-o, --output <format>', 'output format', {
        choices: ['text', 'json'],
        initial: 'text',
      }),
      ...project,
    ],
    graceful: true,
    more: '\nThe SIM is read first, and the flow is called once. If its response is lost,\nnothing is sent again, and the exit code is 5: check the SIM yourself.',
  },
  {
    name: 'emulator',
    args: '',
    doc: 'run a simulated device cloud on this machine',
    flags: [
      flag('--port <n>', 'port on 127.0.0.1; 0 picks a free one', { initial: '0' }),
      flag('--data <file>', 'keep all records in this file'),
      flag('--seed <file>', 'start with the records of this file; never write to it'),
      repeatable(
        '--tenant <name>',
        'serve an account with credentials of its own for this tenant of a fleet',
      ),
      repeatable(
        '--fault <words>',
        'inject a fault, such as latency=50 or status=503,times=2; NAME:status=503 only for the tenant NAME',
      ),
      repeatable(
        '--behaviour <name>',
        'turn on a behaviour seen in some deployments, such as created-status=201',
      ),
      flag('--deliver-anywhere', 'also deliver alerts to other machines'),
      flag(
        '--delivery-minute <duration>',
        'length of a minute in the waits before retries of a delivery, such as 100ms; default 1m',
      ),
      flag(
        '--dialect <name>',
        'reference: only the features in the API reference; public: also those that public clients use',
        { choices: dialects },
      ),
      debug,
    ],
    graceful: true,
    more: behavioursHelp,
  },
] as const satisfies readonly CommandSpec[];

export const commands: readonly CommandSpec[] = table;

/** As commander names it: `deliveryMinute` of `--delivery-minute <duration>`. */
type NameOf<Spelling> = Spelling extends `${string}--${infer Words} <${string}>`
  ? CamelCase<Words>
  : Spelling extends `${string}--${infer Words}`
    ? CamelCase<Words>
    : never;
type CamelCase<Words extends string> = Words extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Words;
type ValueOf<Flag> = Flag extends { readonly repeat: true }
  ? readonly string[]
  : Flag extends { readonly spelling: `${string}<${string}` }
    ? string
    : boolean;

/** Values of all flags there are; each command sees its own. */
export type Flags = {
  readonly [
    Flag in (typeof table)[number]['flags'][number] as NameOf<Flag['spelling']>
  ]?: ValueOf<Flag>;
};
