// The command line as data: every command with its arguments and flags. The parser, the help texts (also those that
// `--help` prints before anything is loaded) and shell completion are generated from this table.
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
  /** Ends by itself after a signal, in good order; all other commands are stopped at once. */
  readonly graceful?: true;
  readonly more?: string;
}

const flag = <const Spelling extends string, const More extends Partial<FlagSpec>>(
  spelling: Spelling,
  doc: string,
  more?: More,
) => ({ spelling, doc, ...more }) as { readonly spelling: Spelling; readonly doc: string } & More;
const repeatable = <const Spelling extends string>(
  spelling: Spelling,
  doc: string,
  more?: Partial<FlagSpec>,
) => flag(spelling, `${doc}; repeatable`, { ...more, repeat: true });

const environment = flag(
  '--env <name>',
  'overlay trueup.<name>.yaml and use a separate state (TRUEUP_ENV)',
);
const variable = repeatable('--var <name=value>', 'value of ${var.name} (TRUEUP_VAR_name)');
const debug = flag('--debug', 'show stack traces');
const project = [variable, environment, debug] as const;
const ndjson = flag('--json', "one JSON event per line, with Terraform's field names");
const scope = [
  repeatable('--target <address>', 'only this address and what it refers to'),
  repeatable('--exclude <address>', 'not this address, nor what refers to it'),
  repeatable('--allow <rule>', 'do not block on this policy rule', {
    choices: allowableRules(ruleNames),
  }),
] as const;
const detailed = flag('--detailed-exitcode', 'exit 2 if anything differs');
const format = (choices: readonly string[]) =>
  flag('--format <format>', 'output format', { choices, initial: 'text' });
const report = repeatable('--report <format=file>', 'also write this format to this file');
const acting = [
  flag('--auto-approve', 'do not ask'),
  flag('--parallelism <n>', 'how many writes at once', { initial: '10' }),
] as const;

const paths = `
A PATH is a YAML file, a folder with YAML files, or - for standard input; or a
CDK program (cdktf.json), its output folder, or a cdk.tf.json file in that
folder. Without one, the current folder is the project.`;

const table = [
  {
    name: 'init',
    args: '',
    doc: 'write a first trueup.yaml, a .gitignore line and a CI workflow',
    flags: [debug],
  },
  {
    name: 'synth',
    args: '',
    doc: 'run the program named in cdktf.json; needs no CDK CLI',
    flags: [
      flag(
        '--output <folder>',
        'where it writes its stacks (default: the folder in cdktf.json, or cdktf.out)',
      ),
      debug,
    ],
  },
  {
    name: 'migrate',
    args: '[folder]',
    doc: 'change a cdktf project to cdktn, and prove that its stacks stay the same',
    flags: [
      flag('--auto-approve', 'do not ask'),
      flag('--check', 'verify a migration after its packages were installed'),
      debug,
    ],
    graceful: true,
    more: '\nImports and package.json are changed; the program is run before and after. If\nits stacks differ, every change is undone.',
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
      flag('--out <file>', 'save the plan, for apply FILE'),
      format(planFormats),
      report,
      ndjson,
      detailed,
      ...scope,
      flag('--destroy', 'plan to delete everything that is managed'),
      flag('--impact', 'replay recent alerts: what each rule would send, before and after'),
      flag(
        '--since <time>',
        'start of the alerts for --impact: ISO 8601, or an age such as 24h; default 7d',
      ),
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
      flag('--destroy', 'delete everything that is managed'),
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
    doc: 'compare live objects with the declarations and the last apply',
    flags: [
      format(driftFormats),
      report,
      ndjson,
      detailed,
      flag(
        '--unmanaged <word>',
        'count: only report unmanaged objects; fail: treat them as drift',
        { choices: ['count', 'fail'], initial: 'count' },
      ),
      ...project,
    ],
    more: paths,
  },
  {
    name: 'watch',
    args: '[paths...]',
    doc: 'repeat the audit; print one line per cycle, export Prometheus metrics',
    flags: [
      flag('--every <span>', 'time from one audit to the next, such as 30s, 5m or 1h', {
        initial: '5m',
      }),
      flag('--metrics-file <file>', 'write the metrics to this file after each audit'),
      flag('--metrics-port <n>', 'serve the metrics at /metrics; 0 picks a free port'),
      flag('--metrics-host <address>', 'address to serve them at (default: this machine only)'),
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
    doc: 'write live objects as declarations',
    flags: [
      flag('--out <folder>', 'write files into this folder (default: standard output)'),
      flag('--format <format>', 'form of the declarations', {
        choices: ['yaml', 'hcl', 'cdktf', 'cdktn'],
        initial: 'yaml',
      }),
      flag('--all', 'include objects that are already in the state'),
      ...project,
    ],
  },
  {
    name: 'get',
    args: '<kind> [id]',
    doc: 'list live objects and records',
    flags: [
      repeatable('--filter <key=value>', "one of the API's filters"),
      flag('--since <time>', 'from this time on: ISO 8601, or an age such as 30m, 24h, 7d, 2w'),
      flag('--until <time>', 'up to this time'),
      flag('--expand <words>', 'references to replace with the objects that they name'),
      flag('--limit <n>', 'stop reading after this many records'),
      flag('-o, --output <format>', 'form of the list', {
        choices: ['table', 'wide', 'json', 'yaml', 'csv', 'ndjson', 'markdown', 'html'],
        initial: 'table',
      }),
      ...project,
    ],
  },
  { name: 'state list', args: '', doc: 'list addresses and identifiers', flags: project },
  {
    name: 'state show',
    args: '<address>',
    doc: 'show the state of one address',
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
      flag('--user', 'for all folders of this user, instead of the current one'),
      flag('--dev', 'copy nothing: write a Terraform configuration that names the built provider'),
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
      flag('--check-api', 'also check what trueup assumes of the service (about 40 GET requests)'),
    ],
  },
  {
    name: 'sim flip',
    args: '',
    doc: 'change the status of a SIM by the sample flow: active to paused, or back',
    flags: [
      flag('--imsi <digits>', 'the SIM, by its IMSI'),
      flag('--msisdn <digits>', 'the SIM, by its telephone number'),
      flag('--customer <number>', 'customer it belongs to'),
      flag('--auto-approve', 'do not ask'),
      flag('-o, --output <format>', 'form of the result', {
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
      flag('--seed <file>', 'begin with the records of this file; never write to it'),
      repeatable('--fault <words>', 'inject a fault, such as latency=50 or status=503,times=2'),
      repeatable(
        '--behaviour <name>',
        'turn on a behaviour seen in some deployments, such as created-status=201',
      ),
      flag('--deliver-anywhere', 'deliver alerts to other machines, too'),
      flag(
        '--delivery-minute <duration>',
        'how long one minute of delivery waits lasts, such as 100ms; default 1m',
      ),
      flag(
        '--dialect <name>',
        'reference: only what the API reference documents; public: also what public clients use',
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
