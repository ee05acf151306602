// `trueup init`: a first project that can be planned at once, because its target is the emulator; and a pipeline of the
// CI that is used, for the cloud that its variables name. Overwrites no file.
import { dirname, join, relative, resolve } from 'node:path';
import {
  defined,
  didYouMean,
  exits,
  refuse,
  Refusal,
  type Diagnostic,
  type Exit,
  type Project,
  type Secret,
} from '../../model/index.js';
import { ifThere, isDiskError } from '../../state/disk-errors.js';
import { FLEET_FILE } from '../../fleet/tenant.js';
import { flagWords, typed } from '../commands-to-type.js';
import type { Command, Context } from '../context.js';
import { baseFile, fleetFile, tenantFile } from './init-fleet.js';
import { gitOutput } from '../git-command.js';
import { githubWorkflow } from '../pipelines/github-workflow.js';
import { gitlabPipeline } from '../pipelines/gitlab-pipeline.js';
import { pipelineNeeds, type PipelineNeeds } from '../pipelines/needs.js';
import { packageFiles } from '../pipelines/package-files.js';
import { chosen, loadProject } from '../project.js';
import { environmentOf } from '../environment-settings.js';

const declarations = `# yaml-language-server: $schema=./node_modules/trueup/schemas/declarations.schema.json
# What should exist. See what would change: trueup plan. Apply it: trueup apply.

settings:
  # A simulated device cloud on this machine; its data is in .trueup/emulator.json.
  # With --env prod, environment variables name the target: TRUEUP_V2_URL and the credentials
  # (trueup doctor --env prod says which are missing).
  target: emulator

accounts:
  field-ops:
    name: Field operations

alert_push_destinations:
  pager:
    name: On-call pager
    enabled: true
    endpoint: { url: https://hooks.example.com/alerts }
    # Signs each delivery. The value stays in the environment, never in a file of this project:
    # authentication: { secret: "\${secret.env.PAGER_SECRET}" }

alert_rules:
  wan-down:
    # References determine the order, and are filled in when the object exists.
    associated_accounts: ["\${accounts.field-ops.id}"]
    filter_criteria:
      alert_type__in: [ethernet_wan_disconnected, modem_wan_disconnected]
    http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
    # lifecycle: { protect: true }
`;

const production = `# What is different with --env prod, or TRUEUP_ENV=prod, as in CI.

settings:
  target: cloud # TRUEUP_V2_URL and the credentials name it
  # Where all machines find the state. Without this line, TRUEUP_STATE names it.
  # state: s3://acme-trueup/states?region=eu-west-1
`;
/** The environment of CI where the project itself uses the emulator. */
const PRODUCTION = 'prod';

const ignored = ['.trueup/', 'node_modules/'] as const;

const forges = ['github', 'gitlab', 'none'] as const;
type ChosenForge = (typeof forges)[number];

export const run: Command = async (context) => {
  const { flags, out } = context;
  if (flags.fleet) return initFleet(context);
  const asked = await forgeOf(context);
  const top =
    asked === 'none' ? '' : ((await gitOutput(context.cwd, 'rev-parse', '--show-cdup')) ?? '');
  const summary = 'CI reads a pipeline only at the top of the repository.';
  const isPath = /^\.{1,2}\//.test(flags.package ?? '');
  const fromTop = isPath
    ? `./${relative(resolve(context.cwd, top), resolve(context.cwd, flags.package!))}`
    : flags.package;
  const again = (ci: string): string =>
    typed(
      ['trueup init', ...flagWords('init', defined({ ci, package: fromTop }))].join(' '),
      context.said,
    );
  const detail = `It covers the declarations of all folders. Type: cd ${top} && ${again(asked)}`;
  if (top !== '' && flags.ci !== undefined) refuse('usage', summary, { detail });
  const forge = top === '' ? asked : 'none';
  const { said, ...found } = await declared(context);
  said.push(await ignore(context));
  if (forge !== 'none') {
    const branch = await branchOf(context);
    const needs = pipelineNeeds(context, found.project, { ...found, branch });
    said.push(await addPipeline(context, forge, needs));
  }
  out.write(`${said.join('\n')}\n`);
  const isComplete = flags.ci !== undefined || flags.package !== undefined;
  if (forge !== 'none' && isComplete)
    for (const line of await packageFiles(context, (path, text) => add(context, path, text)))
      out.write(`${line}\n`);
  const later = `CI also needs package.json and package-lock.json. To write them before you push: ${again(forge)}\n`;
  if (top !== '') out.write(`wrote no pipeline: ${summary} ${detail}\n`);
  out.write(`\nNext: trueup plan\n${forge === 'none' || isComplete ? '' : later}`);
  return exits.done;
};

/** A fleet, without a pipeline: what runs it is up to its size. */
async function initFleet(context: Context): Promise<Exit> {
  const given = (['ci', 'package', 'env'] as const).find((flag) => context.flags[flag]);
  if (given !== undefined)
    refuse('usage', `--${given} cannot be used with --fleet, which writes no pipeline.`, {
      detail: 'For example: trueup init --fleet',
    });
  const files: readonly (readonly [string, string])[] = [
    [FLEET_FILE, fleetFile],
    ['base/pager.yaml', baseFile],
    ['tenants/acme/tenant.yaml', tenantFile],
  ];
  for (const [path, text] of files) context.out.write(`${await add(context, path, text)}\n`);
  context.out.write(`${await ignore(context)}\n\nNext: trueup fleet validate\n`);
  return exits.done;
}

/** What CI runs with: the project, its secrets, and the environment. Writes the declarations that are missing. */
async function declared(context: Context) {
  const secrets: Secret[] = [];
  const { masking } = context;
  const noting: Context = {
    ...context,
    masking: {
      ...masking,
      add(secret) {
        secrets.push(secret);
        masking.add(secret);
      },
    },
  };
  const load = (env: string | undefined): Promise<Project> =>
    loadProject(noting, [], { ...chosen(context), env });
  const there = await load(undefined).catch((error: unknown) => {
    if (error instanceof Refusal && error.diagnostics.every(isNothing)) return undefined;
    throw error;
  });
  const said = [
    there ? 'declarations already exist' : await add(context, 'trueup.yaml', declarations),
  ];
  const base = there ?? (await load(undefined));
  const isTried = base.settings.target === 'emulator';
  const env = environmentOf(context) ?? (isTried ? PRODUCTION : undefined);
  if (env === undefined) return { said, secrets, env, project: base };
  if (isTried) said.push(await add(context, `trueup.${env}.yaml`, production));
  return { said, secrets, env, project: await load(env) };
}

const isNothing = ({ severity, code }: Diagnostic): boolean =>
  severity !== 'error' || code === 'no-declarations';

/** As the flag says, as a person says, or as the folder looks. */
async function forgeOf(context: Context): Promise<ChosenForge> {
  const { flags, interactive, ask, files, cwd } = context;
  const here = (path: string): Promise<boolean> =>
    files.size(join(cwd, path)).then((size) => size !== undefined);
  const isGitlab =
    (await here(GITLAB_FILE)) ||
    /gitlab/i.test((await gitOutput(context.cwd, 'remote', '-v')) ?? '');
  const usual = isGitlab ? 'gitlab' : 'github';
  const said =
    flags.ci ?? (interactive ? await ask(`CI: github, gitlab or none? [${usual}] `) : '');
  const word = said.trim() || usual;
  return (
    forges.find((one) => one === word) ??
    refuse('usage', `There is no CI named ${JSON.stringify(word)}.${didYouMean(word, forges)}`, {
      detail: 'Type one of: github, gitlab, none.',
    })
  );
}

/** The default branch of the remote, else the branch that is checked out, else main. */
async function branchOf(context: Context): Promise<string> {
  const remote = await gitOutput(
    context.cwd,
    'symbolic-ref',
    '--short',
    'refs/remotes/origin/HEAD',
  );
  return (
    remote?.replace(/^origin\//, '') ||
    (await gitOutput(context.cwd, 'symbolic-ref', '--short', 'HEAD')) ||
    'main'
  );
}

const GITLAB_FILE = '.gitlab-ci.yml';
/** Where the pipeline is written if there is another one already. */
const GITLAB_INCLUDED = '.gitlab/trueup.gitlab-ci.yml';

async function addPipeline(
  context: Context,
  forge: 'github' | 'gitlab',
  needs: PipelineNeeds,
): Promise<string> {
  if (forge === 'github')
    return add(context, join('.github', 'workflows', 'trueup.yml'), githubWorkflow(needs));
  const there = await ifThere(context.files.read(join(context.cwd, GITLAB_FILE)));
  if (there === undefined || there.includes('trueup-apply:') || there.includes(GITLAB_INCLUDED))
    return add(context, GITLAB_FILE, gitlabPipeline(needs));
  const said = await add(context, GITLAB_INCLUDED, gitlabPipeline(needs));
  return `${said}\n${GITLAB_FILE} already exists and is not changed. Add this to it:\n  include:\n    - local: ${GITLAB_INCLUDED}`;
}

async function add({ files, cwd }: Context, path: string, text: string): Promise<string> {
  try {
    await files.makeFolder(join(cwd, dirname(path)), 0o755);
    await files.create(join(cwd, path), text, 0o644);
    return `wrote ${path}`;
  } catch (error) {
    if (!isDiskError(error, 'EEXIST')) throw error;
    return `${path} already exists and is not changed`;
  }
}

/** The state belongs to whoever runs the tool, and may name objects that others should not see. */
async function ignore(context: Context): Promise<string> {
  const path = join(context.cwd, '.gitignore');
  const before = (await ifThere(context.files.read(path))) ?? '';
  const named = new Set(before.split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, '')));
  const missing = ignored.filter((one) => !named.has(one.slice(0, -1)));
  if (missing.length === 0) return `.gitignore names ${ignored.join(' and ')} already`;
  const end = before === '' || before.endsWith('\n') ? '' : '\n';
  await context.files.replace(path, `${before}${end}${missing.join('\n')}\n`, 0o644);
  return `added ${missing.join(' and ')} to .gitignore`;
}
