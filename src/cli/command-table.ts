// The command line as data: every command with its arguments and flags. The parser, the help texts (also those that
// `--help` prints before anything is loaded) and shell completion are generated from this table.
import { behavioursHelp, dialects } from '../emulator/behaviours.js';
import { allowableRules } from '../model/index.js';
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
  /** A second value is an error: it looks like another selection. Of other flags, the last value wins. */
  readonly once?: true;
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
  /** Flags of other commands that this one cannot have, and why. */
  readonly without?: { readonly flags: readonly string[]; readonly why: string };
}

/** A flag by its spelling: what it does, and its traits if it has any. */
type FlagRow = string | Omit<FlagSpec, 'spelling'>;

const repeatable = (doc: string, more?: Partial<FlagSpec>) =>
  ({ doc: `${doc}; repeatable`, ...more, repeat: true }) as const;

const debug = { '--debug': 'show stack traces' };
const environment = {
  '--env <name>': 'merge trueup.<name>.yaml over the project; use a separate state (TRUEUP_ENV)',
};
const variable = {
  '--var <name=value>': repeatable('value of ${var.name} (TRUEUP_VAR_name)'),
};
const project = { ...variable, ...environment, ...debug };
const ndjson = 'print events as NDJSON, with the field names of terraform -json';
const allow = {
  '--allow <rule>': repeatable('allow findings of this policy rule', {
    choices: allowableRules(ruleNames),
    open: true,
  }),
};
const scope = {
  '--target <address>': repeatable('limit the plan to this address and its dependencies'),
  '--exclude <address>': repeatable(
    'exclude this address and its dependents; a destroy also keeps what it refers to',
  ),
  ...allow,
};
const identity = {
  '--identity <file>':
    'file with the age identity that decrypts the saved plan (TRUEUP_IDENTITY_FILE)',
};
const detailed = { '--detailed-exitcode': 'exit 2 if anything differs' };
const format = (choices: readonly [string, ...string[]]) => ({
  '--format <format>': { doc: 'output format', choices, initial: choices[0] },
});
const verbose = { '--verbose': 'show each change by itself, and every note' };
const shown = { '--show-requests': 'also show the requests with their bodies', ...verbose };
const report = {
  '--report <format=file>': repeatable('also write a report in this format to this file'),
};
const lockWait = { '--lock-wait <time>': 'time to wait for the lock, such as 5m' };
const locking = { ...project, ...lockWait };
/** Of commands that need the settings alone, and have other arguments than PATHs. */
const path = {
  '--path <path>': repeatable('file or folder with the settings (default: the current folder)'),
};
const state = { ...path, ...project };
const writingState = { ...path, ...locking };
const notify = {
  '--notify <format=url>': repeatable(
    'post the result to this address: generic (default), slack or teams (TRUEUP_NOTIFY_URL)',
  ),
};
const acting = {
  '--auto-approve': 'do not ask',
  '--parallelism <n>': { doc: 'number of concurrent writes', initial: '10' },
  ...lockWait,
};
/** How a plan is saved. */
const saving = {
  '--valid-for <span>':
    'time for which the saved plan can be applied, such as 30m, 12h or 7d; default 24h, at most 30d',
  '--encrypt-to <recipient>': repeatable('encrypt the saved plan to this age recipient (age1…)'),
};
const unmanaged = {
  '--unmanaged <word>': {
    doc: 'count: list unmanaged objects; fail: also treat them as drift',
    choices: ['count', 'fail'],
    initial: 'count',
  },
};

const forges = ['github', 'gitlab'] as const;
const select = {
  '--select <expression>': 'only these tenants, such as tier=canary,region!=eu or tenant=acme',
};
/** Flags of every command over a fleet. */
const tenants = {
  ...select,
  '--changed-since <reference>':
    'only tenants whose files or entry differ from those of this git reference',
  '--shard <i/n>': 'only the tenants of this shard, such as 1/8 (default: from the CI job)',
  ...format(fleetFormats),
  ...report,
  ...project,
};
const queue = {
  '--queue <url>':
    'queue in PostgreSQL, such as postgres://host/database, without a password (TRUEUP_QUEUE)',
};
const jobExpiry = {
  '--job-expiry <time>': 'time after which a tenant is given to another worker; default 15m',
};
const queued = {
  '--engine <name>': { doc: 'put the tenants into a queue, for fleet worker', choices: ['pgboss'] },
  ...queue,
  ...jobExpiry,
};
const fleetRun = { '--run <name>': 'name of the run; an earlier one is resumed' };
/** The post that a command keeps on a forge. */
const post = {
  '--key <name>': 'name in the hidden marker of the post (default: the project and --env)',
  '--author <name>': 'update only a post of this user (default: the user of the token)',
};

const paths = `
A PATH is a YAML file, a folder with YAML files, or - for standard input; or a
CDK program (cdktf.json), its output folder, or a cdk.tf.json file in that
folder. Without one, the current folder is the project.`;

const committedPaths = `
A PATH is a YAML file or a folder with YAML files; or the committed output of a
CDK program (cdktf.out), or a cdk.tf.json file in it. Without one, the current
folder is the project.`;

const table = {
  init: {
    doc: 'write a first trueup.yaml, .gitignore lines and a CI workflow',
    flags: {
      '--ci <forge>': {
        doc: 'write the workflow for this CI, and package.json with its lock file',
        choices: [...forges, 'none'],
      },
      '--package <spec>':
        'trueup that CI installs: a tarball, its address or an exact version (default: this version)',
      '--fleet': 'write trueup.fleet.yaml and a first tenant: many accounts in one folder',
      ...project,
    },
    more: '\nNo file is overwritten. With --env NAME, the workflow runs in that environment;\notherwise in prod if the project itself uses the emulator.',
  },
  synth: {
    doc: 'run the program named in cdktf.json; needs no CDK CLI',
    flags: {
      '--output <folder>':
        'folder for the stacks (default: the folder in cdktf.json, or cdktf.out)',
      ...debug,
    },
  },
  migrate: {
    args: '[folder]',
    doc: 'convert a cdktf project to cdktn; check that its stacks do not change',
    flags: {
      '--auto-approve': 'do not ask',
      '--check': 'verify a migration after you installed its packages',
      ...debug,
    },
    graceful: true,
    more: '\nThe command changes imports and package.json, and runs the program before and\nafter. If the stacks differ, it undoes every change.',
  },
  validate: {
    args: '[paths...]',
    doc: 'check declarations, without network and without secrets',
    flags: { '--verbose': 'show every warning and every note', ...project },
    more: paths,
  },
  plan: {
    args: '[paths...]',
    doc: 'show what apply would do',
    flags: {
      '--out <file>': 'save the plan to this file; to apply it: trueup apply FILE',
      ...saving,
      ...format(planFormats),
      ...report,
      ...shown,
      '--json': `${ndjson}; --format json prints one document`,
      ...detailed,
      ...scope,
      '--destroy': 'plan to delete or forget all managed objects in scope',
      '--impact': 'replay recent alerts: show what each rule would send before and after the plan',
      '--since <time>':
        'with --impact: replay alerts since this time, ISO 8601 or an age such as 24h; default 7d',
      ...project,
    },
    more: paths,
  },
  diff: {
    args: '<reference> [paths...]',
    usage: '<reference | A..B> [paths...]',
    doc: 'show the plan between two git references, without the cloud',
    flags: { ...format(planFormats), ...report, ...verbose, ...detailed, ...project },
    more: `\nOne git reference is compared with the working tree, A..B with each other. The\ndeclarations of the first count as live and as in state. Nothing is sent, and\nthe state is not read.${committedPaths}`,
  },
  apply: {
    args: '[paths...]',
    usage: '[plan-file | paths...]',
    doc: 'show the plan, ask, apply it; or apply a saved plan',
    flags: {
      ...acting,
      ...shown,
      '--json': ndjson,
      ...identity,
      ...notify,
      ...scope,
      '--destroy': 'delete or forget all managed objects in scope',
      ...project,
    },
    graceful: true,
    more: `${paths}\nA file saved by plan --out is applied without confirmation. A stale plan is\nrefused.`,
  },
  destroy: {
    args: '[paths...]',
    doc: 'delete or forget all managed objects in scope, after asking',
    flags: { ...acting, ...shown, '--json': ndjson, ...scope, ...project },
    graceful: true,
    more: paths,
  },
  drift: {
    args: '[paths...]',
    doc: 'compare live objects with the declarations and the last apply',
    flags: {
      ...format(driftFormats),
      ...report,
      '--verbose': 'show every health issue and every note',
      '--json': `${ndjson}; --format json prints one document`,
      ...detailed,
      ...unmanaged,
      ...notify,
      '--issue <forge>': {
        doc: 'keep one issue on this forge, open while there is drift',
        choices: forges,
      },
      ...post,
      ...project,
    },
    more: paths,
  },
  comment: {
    doc: 'write a plan into one comment on the pull request or merge request',
    flags: {
      '--forge <forge>': { doc: 'forge of the pull request or merge request', choices: forges },
      '--plan <file>':
        'plan saved by plan --out, or written by plan --report json=FILE (default: plan now)',
      '--number <n>': 'number of the pull request or merge request (default: from the CI job)',
      ...post,
      '--check-run <word>': {
        doc: 'write: also write a check run (GitHub); none: write none',
        choices: ['write', 'none'],
        initial: 'write',
      },
      ...project,
    },
    more: '\nIf an earlier run wrote a comment, it is updated, and the earlier plan is folded\nbelow the new one. The plan is also added to the file in GITHUB_STEP_SUMMARY.',
  },
  watch: {
    args: '[paths...]',
    doc: 'run drift repeatedly; print one line per run; export Prometheus metrics',
    flags: {
      '--every <span>': {
        doc: 'time from one audit to the next, such as 30s, 5m or 1h',
        initial: '5m',
      },
      '--metrics-file <file>': 'write the metrics to this file after each audit',
      '--metrics-port <n>': 'serve the metrics on this port, at /metrics; 0 picks a free port',
      '--metrics-host <address>': 'address to serve the metrics on (default: this machine only)',
      '--metrics-tenants <n>':
        'in a fleet: tenants with metrics of their own, the worst first; default 100',
      '--notify <format=url>': repeatable(
        'post each result that differs from the previous one; formats and addresses as for drift',
      ),
      ...project,
    },
    graceful: true,
    more: `${paths}\nIn the folder of a fleet, all tenants are audited.`,
  },
  import: {
    args: '<address> <id> [paths...]',
    doc: 'manage an existing object under the address of a declaration',
    flags: locking,
    graceful: true,
  },
  export: {
    args: '[kinds...]',
    usage: '[kinds... | --update paths...]',
    doc: 'write live objects as declarations, or drift into declarations',
    flags: {
      '--update': 'write drifted values into the declarations that are there, in place',
      '--target <address>': repeatable('with --update: only this address'),
      '--dry-run': 'with --update: only print the diff',
      '--account <account>': {
        doc: 'id or name: only what belongs to this account or to accounts below it',
        once: true,
      },
      '--filter <key=value>': repeatable('only what this filter of the API finds, as in get'),
      '--out <folder>': 'write files into this folder (default: standard output)',
      '--split <word>': {
        doc: 'account: write one folder for each customer',
        choices: ['account'],
      },
      '--format <format>': {
        doc: 'format of the declarations',
        choices: ['yaml', 'hcl', 'cdktf', 'cdktn'],
        initial: 'yaml',
      },
      '--all': 'include objects that are in the state',
      ...state,
    },
    more: '\nAn object belongs to the accounts that it names, or else to its owner. With\n--account, objects that also name other accounts are left out, with a warning.\nWith --split, customers are the accounts right below the root account, or below\n--account. What belongs to several customers, or to the account above them, is\nwritten to shared.yaml.\n\nWith --update, arguments are PATHs, as for plan. The changes are printed as a\nunified diff. If one value cannot be written in place, nothing is written.',
  },
  get: {
    args: '<kind> [id]',
    doc: 'list live objects and read-only data (alerts, logs, SIMs)',
    flags: {
      '--filter <key=value>': repeatable('filter of the API'),
      '--since <time>': 'only records since this time, ISO 8601 or an age such as 30m, 24h, 7d, 2w',
      '--until <time>': 'only records up to this time',
      '--expand <words>': 'references to replace with the objects that they name',
      '--limit <n>': 'stop reading after this many records',
      '-o, --output <format>': {
        doc: `output format; ${accessFormats.join(' and ')} only of access`,
        choices: [...recordFormats, ...accessFormats],
        initial: 'table',
      },
      ...state,
    },
  },
  log: {
    doc: 'list the runs that changed the state, the newest first',
    flags: {
      '-n, --limit <n>': 'number of runs to list (default: all that are known)',
      ...format(listFormats),
      ...state,
    },
  },
  'fleet validate': {
    doc: 'check trueup.fleet.yaml and the declarations of its tenants, offline',
    flags: tenants,
    graceful: true,
  },
  'fleet plan': {
    doc: 'show what apply would do, for every tenant',
    flags: {
      '--out <file>': 'save all plans to this file; to apply it: trueup fleet apply FILE',
      ...saving,
      ...fleetRun,
      ...detailed,
      ...allow,
      ...tenants,
    },
    without: {
      flags: Object.keys(queued),
      why: `a plan is not queued: the limits over tenants need all plans at once.
Plan in this process, or in shards (--shard 1/8). Workers then apply the bundle:
trueup fleet plan --out change.bundle
trueup fleet apply change.bundle --engine pgboss`,
    },
    graceful: true,
  },
  'fleet drift': {
    doc: 'compare live objects with the declarations, for every tenant',
    flags: { ...fleetRun, ...detailed, ...unmanaged, ...lockWait, ...queued, ...tenants },
    graceful: true,
  },
  'fleet apply': {
    args: '[bundle]',
    doc: 'plan every tenant, ask, apply; or apply saved plans',
    flags: { ...acting, ...fleetRun, ...identity, ...allow, ...queued, ...tenants },
    graceful: true,
    more: '\nA file saved by fleet plan --out is applied without confirmation. Each plan in\nit is refused if it is stale.',
  },
  'fleet report': {
    args: '<run>',
    doc: 'merge the results of all tenants of a run',
    flags: { ...detailed, ...format(fleetFormats), ...report, ...debug },
    more: '\nA tenant without a result is an error.',
  },
  'fleet show': {
    args: '<bundle> [tenant]',
    doc: 'show saved plans: of all tenants, or the whole plan of one',
    flags: { ...format(planFormats), ...report, ...shown, ...identity, ...debug },
  },
  'fleet worker': {
    doc: 'run the tenants that are in the queue',
    flags: {
      ...queue,
      '--lanes <n>': 'number of tenants at once (default: concurrency of the fleet)',
      '--workers <n>': 'number of workers that share the rate of a credential; default 1',
      '--until-idle': 'end when the queue holds no more tenants',
      ...identity,
      ...debug,
    },
    graceful: true,
    more: '\nIt runs in the folder of the fleet, with the credentials of its tenants.',
  },
  'fleet status': {
    args: '<run>',
    doc: 'count the tenants of a run by result, and those that wait or run',
    flags: {
      ...queue,
      '--wait': 'end when every tenant has a result, or the run is cancelled',
      ...format(listFormats),
      ...debug,
    },
  },
  'fleet resume': {
    args: '<run>',
    doc: 'queue the tenants of a run that have no final result',
    flags: { ...queue, ...debug },
  },
  'fleet cancel': {
    args: '<run>',
    doc: 'remove the tenants of a run from the queue, and interrupt those that run',
    flags: { ...queue, ...debug },
  },
  'fleet schedule': {
    args: '[command]',
    doc: 'queue fleet drift on a schedule; without a command: list the schedules',
    flags: {
      '--cron <expression>': 'when to begin, in UTC, such as "0 3 * * *"',
      '--spread <time>': 'distribute the starts of the tenants over this time, such as 2h',
      '--remove': 'remove the schedule',
      ...queue,
      ...jobExpiry,
      ...select,
      ...unmanaged,
      ...variable,
      ...environment,
      ...debug,
    },
    more: '\nThe only command is drift. A run begins only if a worker runs at that time.',
  },
  'fleet kubernetes': {
    doc: 'print manifests that run this fleet in a Kubernetes cluster',
    flags: {
      '--kind <kind>': {
        doc: 'job: once; cronjob: every night; worker: fleet worker; default job',
        choices: ['job', 'cronjob', 'worker'],
      },
      '--image <image>': 'image that holds trueup, and this folder at /project',
      '--command <name>': { doc: 'what a job runs; default drift', choices: ['drift', 'apply'] },
      '--shards <n>': 'number of pods of a job; each runs one shard; default 4',
      '--schedule <cron>': 'when a cron job begins, in UTC; default "17 2 * * *"',
      '--replicas <n>': 'number of workers; default 2',
      '--secret <name>': repeatable(
        'secret whose keys are the variables of the pods; default trueup-fleet',
      ),
      '--queue-secret <name>': 'secret that holds TRUEUP_QUEUE for workers; default trueup-queue',
      '--deadline <time>': 'time after which Kubernetes ends a job, such as 6h (default: none)',
      '--service-account <name>': 'service account of the pods',
      '--name <name>': 'name of the object; for a job, also the name of its run',
      '--namespace <name>': 'namespace of the object',
      ...select,
      ...project,
    },
    more: '\nNothing is sent to a cluster. To apply the output, add: | kubectl apply -f -',
  },
  'state list': {
    doc: 'list addresses and ids',
    flags: state,
  },
  'state show': {
    args: '<address>',
    doc: 'show the state of one address',
    flags: state,
  },
  'state mv': {
    args: '<from> <to>',
    doc: 'change the address of an object',
    flags: writingState,
    graceful: true,
  },
  'state rm': {
    args: '<addresses...>',
    doc: 'forget objects; the live objects stay as they are',
    flags: writingState,
    graceful: true,
  },
  'state history': {
    doc: 'list the stored states, the newest first',
    flags: state,
  },
  'state rollback': {
    args: '[serial]',
    doc: 'restore an earlier state, with a new serial',
    flags: {
      '--accept': 'accept a state that is older than the last one this machine saw',
      ...writingState,
    },
    graceful: true,
  },
  'state pull': {
    doc: 'print the state as a state file',
    flags: state,
  },
  'state push': {
    args: '<file>',
    doc: 'replace the state with a state file that was pulled from it',
    flags: {
      '--serial <n>': 'replace the state with this serial, even if the file has another serial',
      ...writingState,
    },
    graceful: true,
  },
  'state migrate': {
    doc: 'move the state to another place',
    flags: {
      '--to <url>': 'new place, such as s3://bucket/prefix',
      '--dry-run': 'only print what would be moved',
      ...writingState,
    },
    graceful: true,
  },
  unlock: {
    args: '<id>',
    doc: 'remove the lock of a run that has ended',
    flags: state,
    graceful: true,
  },
  show: {
    args: '<planfile>',
    doc: 'show a saved plan',
    flags: { ...format(planFormats), ...report, ...shown, ...identity, ...debug },
  },
  test: {
    doc: 'run the tests of the policies in this folder',
    flags: { ...debug },
    more: '\nPolicies are in policies/*.cel.yaml, their tests in policies/*.test.yaml.\nNothing is sent, and no declaration is read.',
  },
  graph: {
    args: '[paths...]',
    doc: 'print the dependencies of the declarations, or of a plan, as a graph',
    flags: {
      '--plan <file>': 'draw this plan, written by plan --out or plan --report json=FILE',
      ...format(graphFormats),
      ...identity,
      ...project,
    },
    more: `${paths}\nAn arrow leads from an object to one that it refers to or waits for.`,
  },
  'provider install': {
    doc: 'install the Terraform/OpenTofu provider',
    flags: {
      '--user': 'install for all folders of this user, instead of the current folder',
      '--dev': 'copy nothing; write a Terraform configuration that uses the built provider',
      ...debug,
    },
  },
  schema: {
    args: '[kind]',
    doc: 'print the JSON Schema of declarations, or of one kind',
    flags: { ...debug },
  },
  completion: {
    args: '<bash|zsh|fish>',
    doc: 'print a completion script for a shell',
    flags: { ...debug },
  },
  doctor: {
    graceful: true,
    args: '[paths...]',
    doc: 'check versions, credentials, clock, reachability and lock',
    flags: {
      ...project,
      '--check-api':
        'also check the assumptions of trueup about the service (about 40 GET requests)',
    },
  },
  'sim flip': {
    doc: 'use the sample flow to change the status of a SIM: active to paused, or back',
    flags: {
      '--imsi <digits>': 'IMSI of the SIM',
      '--msisdn <digits>': 'telephone number of the SIM',
      '--customer <number>': 'customer that the SIM belongs to',
      '--auto-approve': 'do not ask',
      '-o, --output <format>': { doc: 'output format', choices: ['text', 'json'], initial: 'text' },
      ...state,
    },
    graceful: true,
    more: '\nThe SIM is read first, and the flow is called once. If its response is lost,\nnothing is sent again, and the exit code is 5: check the SIM yourself.',
  },
  emulator: {
    doc: 'run a simulated device cloud on this machine',
    flags: {
      '--port <n>': { doc: 'port on 127.0.0.1; 0 picks a free one', initial: '0' },
      '--data <file>': 'keep all records in this file',
      '--seed <file>': 'start with the records of this file; never write to it',
      '--tenant <name>': repeatable(
        'serve an account with credentials of its own for this tenant of a fleet',
      ),
      '--fault <words>': repeatable(
        'inject a fault, such as latency=50 or status=503,times=2; NAME:status=503 only for the tenant NAME',
      ),
      '--behaviour <name>': repeatable(
        'turn on a behaviour seen in some deployments, such as created-status=201',
      ),
      '--deliver-anywhere': 'also deliver alerts to other machines',
      '--delivery-minute <duration>':
        'length of a minute in the waits before retries of a delivery, such as 100ms; default 1m',
      '--dialect <name>': {
        doc: 'reference: only the features in the API reference; public: also those that public clients use',
        choices: dialects,
      },
      ...debug,
    },
    graceful: true,
    more: behavioursHelp,
  },
} as const satisfies Readonly<Record<string, CommandRow>>;

interface CommandRow extends Partial<Omit<CommandSpec, 'name' | 'flags'>> {
  readonly doc: string;
  readonly flags: Readonly<Record<string, FlagRow>>;
}

export const commands: readonly CommandSpec[] = Object.entries<CommandRow>(table).map(
  ([name, { args = '', flags, ...row }]) => ({
    name,
    args,
    ...row,
    flags: Object.entries(flags).map(([spelling, flag]) => ({
      spelling,
      ...(typeof flag === 'string' ? { doc: flag } : flag),
    })),
  }),
);

/** As commander names it: `deliveryMinute` of `--delivery-minute <duration>`. */
type NameOf<Spelling> = Spelling extends `${string}--${infer Words} <${string}>`
  ? CamelCase<Words>
  : Spelling extends `${string}--${infer Words}`
    ? CamelCase<Words>
    : never;
type CamelCase<Words extends string> = Words extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Words;
type ValueOf<Spelling, Row> = Row extends { readonly repeat: true }
  ? readonly string[]
  : Spelling extends `${string}<${string}`
    ? string
    : boolean;
/** The flags of each command as pairs. */
type FlagsOf<Row> = Row extends { readonly flags: infer Flags }
  ? { [Spelling in keyof Flags]: readonly [spelling: Spelling, row: Flags[Spelling]] }[keyof Flags]
  : never;

/** Values of all flags there are; each command sees its own. */
export type Flags = {
  readonly [Flag in FlagsOf<(typeof table)[keyof typeof table]> as NameOf<Flag[0]>]?: ValueOf<
    Flag[0],
    Flag[1]
  >;
};
