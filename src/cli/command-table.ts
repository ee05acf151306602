// The command line as data: every command with its arguments and flags. The parser, the help texts, the texts that
// answer `--help` before anything is loaded, and shell completion are all made from this table.
import { behavioursHelp, dialects } from '../emulator/behaviours.js';
import { allowableRules } from '../model/index.js';
import { ruleNames } from '../resources/rules/names.js';
import { driftFormats, planFormats } from '../report/formats.js';

export interface FlagSpec {
  /** As commander writes it: `-o, --output <format>`. */
  readonly spelling: string;
  readonly doc: string;
  readonly choices?: readonly string[];
  readonly initial?: string;
  readonly repeat?: true;
}

export interface CommandSpec {
  /** `plan`, or `state list` below a group. */
  readonly name: string;
  readonly args: string;
  readonly doc: string;
  readonly flags: readonly FlagSpec[];
  /** Ends by itself, in good order, once the signal is raised; all others are simply left. */
  readonly graceful?: true;
  readonly more?: string;
}

/** Values of all flags there are; each command sees its own. */
export interface Flags {
  readonly all?: boolean;
  readonly allow?: readonly string[];
  readonly autoApprove?: boolean;
  readonly behaviour?: readonly string[];
  readonly check?: boolean;
  readonly customer?: string;
  readonly data?: string;
  readonly debug?: boolean;
  readonly deliverAnywhere?: boolean;
  readonly deliveryMinute?: string;
  readonly destroy?: boolean;
  readonly dev?: boolean;
  readonly dialect?: string;
  readonly detailedExitcode?: boolean;
  readonly checkApi?: boolean;
  readonly env?: string;
  readonly every?: string;
  readonly exclude?: readonly string[];
  readonly expand?: string;
  readonly fault?: readonly string[];
  readonly filter?: readonly string[];
  readonly format?: string;
  readonly impact?: boolean;
  readonly imsi?: string;
  readonly json?: boolean;
  readonly limit?: string;
  readonly metricsFile?: string;
  readonly metricsHost?: string;
  readonly metricsPort?: string;
  readonly msisdn?: string;
  readonly out?: string;
  readonly output?: string;
  readonly parallelism?: string;
  readonly port?: string;
  readonly report?: readonly string[];
  readonly seed?: string;
  readonly since?: string;
  readonly target?: readonly string[];
  readonly unmanaged?: string;
  readonly until?: string;
  readonly user?: boolean;
  readonly var?: readonly string[];
}

const environment: FlagSpec = {
  spelling: '--env <name>',
  doc: 'overlay trueup.<name>.yaml and keep a state of its own (TRUEUP_ENV)',
};
const variable: FlagSpec = {
  spelling: '--var <name=value>',
  doc: 'value of ${var.name} (TRUEUP_VAR_name); repeatable',
  repeat: true,
};
const debug: FlagSpec = { spelling: '--debug', doc: 'show stack traces' };
const project = [variable, environment, debug];
const ndjson: FlagSpec = {
  spelling: '--json',
  doc: 'one JSON event a line, with the field names of Terraform',
};
const scope: readonly FlagSpec[] = [
  {
    spelling: '--target <address>',
    doc: 'only this address and what it refers to; repeatable',
    repeat: true,
  },
  {
    spelling: '--exclude <address>',
    doc: 'not this address, nor what refers to it; repeatable',
    repeat: true,
  },
  {
    spelling: '--allow <rule>',
    doc: 'let this policy rule pass; repeatable',
    choices: allowableRules(ruleNames),
    repeat: true,
  },
];
const detailed: FlagSpec = { spelling: '--detailed-exitcode', doc: 'exit 2 if anything differs' };
const format = (choices: readonly string[]): FlagSpec => ({
  spelling: '--format <format>',
  doc: 'output format',
  choices,
  initial: 'text',
});
const report: FlagSpec = {
  spelling: '--report <format=file>',
  doc: 'also write this format to this file; repeatable',
  repeat: true,
};
const acting: readonly FlagSpec[] = [
  { spelling: '--auto-approve', doc: 'do not ask' },
  { spelling: '--parallelism <n>', doc: 'how many writes at once', initial: '10' },
];

const paths = `
A PATH is a YAML file, a folder with YAML files, or - for standard input; or a
CDK program (cdktf.json), its output folder, or one cdk.tf.json of it.
Without one, the current folder is the project.`;

export const commands: readonly CommandSpec[] = [
  {
    name: 'init',
    args: '',
    doc: 'write a first trueup.yaml, a .gitignore line and a CI workflow',
    flags: [debug],
  },
  {
    name: 'synth',
    args: '',
    doc: 'run the CDK program that cdktf.json names, without any CDK',
    flags: [
      {
        spelling: '--output <folder>',
        doc: 'where it writes its stacks; otherwise what cdktf.json says, or cdktf.out',
      },
      debug,
    ],
  },
  {
    name: 'migrate',
    args: '[folder]',
    doc: 'change a cdktf project to cdktn, and prove that its stacks stay the same',
    flags: [
      { spelling: '--auto-approve', doc: 'do not ask' },
      { spelling: '--check', doc: 'prove a migration whose packages were installed since' },
      debug,
    ],
    graceful: true,
    more: '\nImports and package.json are changed; the program is run before and after. If\nits stacks are not the same, every change is undone.',
  },
  {
    name: 'validate',
    args: '[paths...]',
    doc: 'check declarations, without network and without secrets',
    flags: project,
    more: paths,
  },
  {
    name: 'plan',
    args: '[paths...]',
    doc: 'show what apply would do',
    flags: [
      { spelling: '--out <file>', doc: 'save the plan, for apply FILE' },
      format(planFormats),
      report,
      ndjson,
      detailed,
      ...scope,
      { spelling: '--destroy', doc: 'plan to delete everything that is managed' },
      {
        spelling: '--impact',
        doc: 'replay recent alerts: what each rule would send, before and after',
      },
      {
        spelling: '--since <time>',
        doc: 'for --impact: alerts from this time on, as ISO 8601, or as 24h before now; default 7d',
      },
      ...project,
    ],
    more: paths,
  },
  {
    name: 'apply',
    args: '[paths...]',
    doc: 'show the plan, ask, apply it; or apply a saved plan',
    flags: [
      ...acting,
      ndjson,
      ...scope,
      { spelling: '--destroy', doc: 'delete everything that is managed' },
      ...project,
    ],
    graceful: true,
    more: `${paths}\nA file saved by plan --out is applied without asking, unless it is stale.`,
  },
  {
    name: 'destroy',
    args: '[paths...]',
    doc: 'delete everything that is managed, after asking',
    flags: [...acting, ndjson, ...scope, ...project],
    graceful: true,
    more: paths,
  },
  {
    name: 'drift',
    args: '[paths...]',
    doc: 'compare what is live with what is declared and was applied',
    flags: [
      format(driftFormats),
      report,
      ndjson,
      detailed,
      {
        spelling: '--unmanaged <word>',
        doc: 'what unmanaged objects are: only counted, or drift',
        choices: ['count', 'fail'],
        initial: 'count',
      },
      ...project,
    ],
    more: paths,
  },
  {
    name: 'watch',
    args: '[paths...]',
    doc: 'repeat the audit: one line a cycle, metrics for Prometheus',
    flags: [
      {
        spelling: '--every <span>',
        doc: 'time from one audit to the next, as 30s, 5m or 1h',
        initial: '5m',
      },
      { spelling: '--metrics-file <file>', doc: 'write the metrics to this file after each audit' },
      { spelling: '--metrics-port <n>', doc: 'serve the metrics at /metrics; 0 takes a free port' },
      {
        spelling: '--metrics-host <address>',
        doc: 'address to serve them at; without it, this machine alone',
      },
      ...project,
    ],
    graceful: true,
    more: paths,
  },
  {
    name: 'import',
    args: '<address> <id> [paths...]',
    doc: 'bind a declaration to an object that exists',
    flags: project,
    graceful: true,
  },
  {
    name: 'export',
    args: '',
    doc: 'write what is live as declarations',
    flags: [
      {
        spelling: '--out <folder>',
        doc: 'write files into this folder; otherwise to standard output',
      },
      {
        spelling: '--format <format>',
        doc: 'form of the declarations',
        choices: ['yaml', 'hcl', 'cdktf', 'cdktn'],
        initial: 'yaml',
      },
      { spelling: '--all', doc: 'also what the state already binds' },
      ...project,
    ],
  },
  {
    name: 'get',
    args: '<kind> [id]',
    doc: 'list live objects and records',
    flags: [
      {
        spelling: '--filter <key=value>',
        doc: "one of the API's filters; repeatable",
        repeat: true,
      },
      {
        spelling: '--since <time>',
        doc: 'from this time on: ISO 8601, or as 30m, 24h, 7d, 2w before now',
      },
      { spelling: '--until <time>', doc: 'up to this time' },
      { spelling: '--expand <words>', doc: 'references to replace by the objects that they name' },
      { spelling: '--limit <n>', doc: 'stop reading after this many records' },
      {
        spelling: '-o, --output <format>',
        doc: 'form of the list',
        choices: ['table', 'wide', 'json', 'yaml', 'csv', 'ndjson', 'markdown', 'html'],
        initial: 'table',
      },
      ...project,
    ],
  },
  { name: 'state list', args: '', doc: 'list addresses and identifiers', flags: project },
  {
    name: 'state show',
    args: '<address>',
    doc: 'show what the state holds of one address',
    flags: project,
  },
  {
    name: 'state mv',
    args: '<from> <to>',
    doc: 'give an object another address',
    flags: project,
    graceful: true,
  },
  {
    name: 'state rm',
    args: '<addresses...>',
    doc: 'forget objects; the live objects stay as they are',
    flags: project,
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
    flags: [format(planFormats), report, debug],
  },
  {
    name: 'provider install',
    args: '',
    doc: 'put the provider where Terraform and OpenTofu look for it',
    flags: [
      { spelling: '--user', doc: 'for all folders of this user, instead of the current one' },
      {
        spelling: '--dev',
        doc: 'copy nothing: write a Terraform configuration that names the built provider',
      },
      debug,
    ],
  },
  {
    name: 'schema',
    args: '[kind]',
    doc: 'JSON Schema of declarations, or of one kind',
    flags: [debug],
  },
  {
    name: 'completion',
    args: '<bash|zsh|fish>',
    doc: 'completion script for a shell',
    flags: [debug],
  },
  {
    name: 'doctor',
    args: '[paths...]',
    doc: 'check versions, credentials, clock, reachability and lock',
    flags: [
      ...project,
      {
        spelling: '--check-api',
        doc: 'also check what trueup assumes of the service (about 40 GET requests)',
      },
    ],
  },
  {
    name: 'sim flip',
    args: '',
    doc: 'change the status of a SIM by the sample flow: active to paused, or back',
    flags: [
      { spelling: '--imsi <digits>', doc: 'the SIM, by its IMSI' },
      { spelling: '--msisdn <digits>', doc: 'the SIM, by its telephone number' },
      { spelling: '--customer <number>', doc: 'customer it belongs to' },
      { spelling: '--auto-approve', doc: 'do not ask' },
      {
        spelling: '-o, --output <format>',
        doc: 'form of the result',
        choices: ['text', 'json'],
        initial: 'text',
      },
      ...project,
    ],
    graceful: true,
    more: '\nThe SIM is read first, and the flow is called once. Where its answer is lost,\nnothing is sent again, and the exit code is 5: check the SIM yourself.',
  },
  {
    name: 'emulator',
    args: '',
    doc: 'serve a device cloud on this machine, for trying and testing',
    flags: [
      { spelling: '--port <n>', doc: 'port on 127.0.0.1; 0 takes a free one', initial: '0' },
      { spelling: '--data <file>', doc: 'keep all records in this file' },
      { spelling: '--seed <file>', doc: 'begin with the records of this file; never write to it' },
      {
        spelling: '--fault <words>',
        doc: 'inject a fault, as in latency=50 or status=503,times=2; repeatable',
        repeat: true,
      },
      {
        spelling: '--behaviour <name>',
        doc: 'behave as some deployments do, as in created-status=201; repeatable',
        repeat: true,
      },
      { spelling: '--deliver-anywhere', doc: 'deliver alerts to other machines, too' },
      {
        spelling: '--delivery-minute <duration>',
        doc: 'length of a minute between attempts of a delivery, as in 100ms',
      },
      {
        spelling: '--dialect <name>',
        doc: 'what is served: the reference alone, or what public clients use, too',
        choices: dialects,
      },
      debug,
    ],
    graceful: true,
    more: behavioursHelp,
  },
];
