// The file of a saved plan, for all commands: writing it, reading it, and checking whether it is stale. Its format is in
// src/state/plan-file.ts.
import { statSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import {
  errorDiagnostic,
  defined,
  exits,
  refuse,
  Refusal,
  pathWord,
  shellWord,
  type PlanContent,
  type PlanDocument,
  type PlanFile,
  type PlanOptions,
  type Project,
} from '../model/index.js';
import { blockedRules } from '../report/index.js';
import { timeWords, type Again } from '../report/words.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { Snapshot } from '../state/index.js';
import type { PlanProtection } from '../state/plan-file.js';
import {
  otherWords,
  planAgain,
  saidOf,
  saidOfPlan,
  scopeWords,
  typed,
} from './commands-to-type.js';
import type { Context } from './context.js';
import { isBelow } from './file-project.js';
import { identityFlag, identityOf } from './plan-identity.js';
import { projectToPlan } from './project.js';
import { storeOf } from './state-location.js';
import { spanOf } from './time-arguments.js';
import type { ProjectContext } from './working-context.js';

/** Writes it to the file of this name, and says what to type next. */
export async function savePlan(
  { files, clock, cwd, err, name }: Context & { readonly name: string },
  document: PlanDocument,
  options: PlanOptions,
  protection: PlanProtection,
): Promise<void> {
  const { writePlanFile } = await import('../state/plan-file.js');
  const at = { path: resolve(cwd, name), files, clock };
  const before = clock.now();
  const { expires_at } = await writePlanFile(at, document, options, protection);
  const { rules, flags } = blockedRules(document.policy);
  const allow = flags.length > 0 ? ` To let it pass, plan again with ${flags.join(' ')}` : '';
  const identity = protection.recipients ? ['--identity', 'FILE'] : [];
  const { lineage, serial } = document.state;
  const state = lineage === null ? 'There is no state yet.' : `The state has serial ${serial}.`;
  const left = timeWords(Date.parse(expires_at) - before);
  err.write(
    rules.length === 0
      ? `Saved. ${state}\nTo apply the plan, within ${left}: ${commandToApply(name, identity)}\n`
      : `Saved for review only: it is blocked, and apply refuses it.${allow}\n`,
  );
}

/** The command that applies a saved plan. */
export const commandToApply = (name: string, identity: readonly string[]): string =>
  ['trueup apply', pathWord(name), ...identity.map(shellWord)].join(' ');

/** When and for which state a plan was made, and what to type next. */
export function aboutSavedPlan(context: Context, { name, file }: SavedPlan): string {
  const { document, expires_at } = file;
  const { generated_at, policy, state } = document;
  const serial =
    state.lineage === null ? 'without a state' : `for serial ${state.serial} of the state`;
  const isBlocked = blockedRules(policy).rules.length > 0;
  const here = commandToApply(name, identityFlag(context));
  const isElsewhere = !isBelow(relative(context.cwd, resolve(context.cwd, name)));
  const toApply = isElsewhere
    ? `To apply it, if it was made in this folder: ${here}\nIf it was made in its own folder: ${goingThere(context, name)}`
    : `To apply it: ${here}`;
  const next = isBlocked ? 'It is blocked, and apply refuses it.' : toApply;
  return `Made at ${generated_at} ${serial}, valid until ${expires_at}.\n${next}`;
}

/** To the folder of a plan, and its apply there. */
function goingThere(context: Context, name: string): string {
  const [flag, file] = identityFlag(context);
  const there = resolve(context.cwd, dirname(name));
  const identity = flag && file ? [flag, relative(there, resolve(context.cwd, file))] : [];
  return `cd ${pathWord(dirname(name))} && ${commandToApply(basename(name), identity)}`;
}

const LONGEST = 30 * 24 * 60 * 60 * 1000;

/** How the plan is saved. @throws Refusal, before anything is read */
export async function protectionOf({ flags }: Context): Promise<PlanProtection> {
  const { out, validFor, encryptTo: recipients } = flags;
  const useless =
    (validFor !== undefined && '--valid-for') || (recipients !== undefined && '--encrypt-to');
  if (out === undefined && useless)
    refuse('usage', `${useless} can be used only with --out.`, {
      detail: `For example: trueup plan --out change.plan ${useless} ${validFor ?? 'age1…'}`,
    });
  const lifetime = validFor === undefined ? undefined : spanOf('--valid-for', validFor);
  if (lifetime !== undefined && (lifetime === 0 || lifetime > LONGEST))
    refuse('usage', '--valid-for takes more than 0s and at most 30d.', {
      detail: 'For example: --valid-for 7d',
    });
  if (recipients) (await import('../state/plan-encryption.js')).checkRecipients(recipients);
  return defined({ lifetime, recipients });
}

/** A saved plan holds the variables that it was made with. @throws Refusal where one of them is a secret */
export function refuseSecretVariables(
  { masking, flags, fleetVariables, said: own }: Context,
  { project }: Pick<ProjectContext, 'project'>,
): void {
  const [name] = Object.entries(project.variables).find(([, value]) => masking.holds(value)) ?? [];
  const said = fleetVariables ? saidOf(masking, { ...own, ofFleet: flags.var ?? [] }) : own;
  const direct = fleetVariables
    ? ['trueup fleet apply', ...otherWords('fleet apply', flags)]
    : [`trueup ${flags.destroy ? 'destroy' : 'apply'}`, ...scopeWords(flags)];
  if (name !== undefined)
    refuse(
      'secret-in-plan',
      `The variable ${name} holds the value of a secret, which a saved plan would hold, too.`,
      {
        detail: `Write "\${secret.env.NAME}" where the secret belongs and give the variable another value.\nOr do not save a plan: ${typed(direct.join(' '), said)}`,
      },
    );
}

export interface SavedPlan {
  /** For messages. */
  readonly name: string;
  readonly again: Again;
  readonly file: PlanFile;
}

/** Any other file than one of declarations, by its ending or its first key, can only be a saved plan. */
export async function isPlanFile(
  { kinds }: Pick<Context, 'kinds'>,
  path: string,
): Promise<boolean> {
  if (/\.(?:ya?ml|tf\.json)$/i.test(path) || basename(path) === 'cdktf.json') return false;
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const { sections } = await import('../declarations/index.js');
  const begin = beginningOf(path);
  const [, key = ''] = /^(?:\s|#[^\n]*\n|---)*\{?\s*["']?(\w+)["']?\s*:/.exec(begin) ?? [];
  return !sections.includes(key) && !kinds.has(key);
}

/** Bytes that hold the comments at the beginning of a file, and its first key. */
const BEGIN = 8192;

/** Empty where it cannot be read: who reads the plan says why. */
function beginningOf(path: string): string {
  try {
    return Buffer.from(declarationFiles.read(path, BEGIN)).toString();
  } catch {
    return '';
  }
}

/** @throws Refusal where the file is no saved plan, is damaged or has expired */
export async function readSavedPlan(context: Context, name: string): Promise<SavedPlan> {
  const { files, clock, cwd, masking } = context;
  const { readPlanFile } = await import('../state/plan-file.js');
  const againOf = (one: PlanContent): Again => planAgain(masking, name, one);
  const path = resolve(cwd, name);
  const isDeclared = !(await isPlanFile(context, path));
  const at = { path, files, clock, identityFlag: identityFlag(context), isDeclared };
  const file = await readPlanFile(at, identityOf(context), againOf);
  return { name, again: againOf(file), file };
}

export const refuseStalePlan = (summary: string, again: Again): never =>
  refuse('stale', summary, { detail: `Nothing was changed. Make it ${again()}` }, exits.stale);

/** The project of a saved plan. @throws Refusal (exit 6) where it is not the one that the plan was made from */
export async function projectOfPlan(
  context: Context,
  { name, again, file }: SavedPlan,
): Promise<Project> {
  const { document, options } = file;
  const { paths, digest } = document.generated_from;
  context.said = saidOf(context.masking, {
    ...saidOfPlan(file),
    // A plan of a tenant holds values that are of this tenant alone.
    ...(context.fleetVariables && { ofFleet: context.flags.var ?? [] }),
  });
  const project = await projectToPlan(context, paths, options).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    const isElsewhere = error.diagnostics.some(({ code }) => NOT_HERE.has(code));
    if (isElsewhere && !context.fleetVariables) refuseOtherFolder(context, name);
    const summary = `${name} is stale: the declarations from which it was made can no longer be loaded.`;
    throw new Refusal([...error.diagnostics, errorDiagnostic('stale', summary)], exits.stale);
  });
  if (project.digest() !== digest) {
    await refuseOtherProject(context, project, { name, file });
    refuseStalePlan(`${name} is stale: the declarations are not those it was made from.`, again);
  }
  return project;
}

/** What is wrong where the files of a plan are not below the current folder. */
const NOT_HERE: ReadonlySet<string> = new Set([
  'no-declarations',
  'no-environment-file',
  'no-such-path',
]);

/** PATHs are relative to the folder in which the plan was made; it holds them, but not that folder. */
function refuseOtherFolder(context: Context, name: string): never {
  const where =
    dirname(name) === '.'
      ? ''
      : `\nIf that is the folder of the plan: ${goingThere(context, name)}`;
  refuse(
    'stale',
    `${name} is stale: the declarations from which it was made are not in the current folder.`,
    { detail: `Nothing was changed. Apply it in the folder in which it was made.${where}` },
    exits.stale,
  );
}

/** Other declarations and another state: to plan again here would plan another project. @throws Refusal (exit 6) */
async function refuseOtherProject(
  context: Context,
  { settings, declarations }: Project,
  { name, file: { document, options } }: Pick<SavedPlan, 'name' | 'file'>,
): Promise<void> {
  const { lineage } = document.state;
  const declared = new Set(declarations.map(({ address }) => address));
  const planned = document.resource_changes;
  if (lineage === null) {
    if (planned.length > 0 && !planned.some(({ address }) => declared.has(address)))
      refuseOtherPlace(`${name} is stale: nothing that it plans is declared here.`);
    return;
  }
  const snapshot = await (await storeOf(context, settings, options.env)).read();
  if (snapshot?.state.lineage !== lineage)
    refuseOtherPlace(`${name} is stale: it was made from other declarations and another state.`);
}

/** No command is printed: typed here, it would plan another project. */
const refuseOtherPlace = (summary: string): never =>
  refuse(
    'stale',
    summary,
    {
      detail:
        'Nothing was changed. If it is the plan of another project, apply it in the folder of that project. Otherwise plan again.',
    },
    exits.stale,
  );

/** @throws Refusal (exit 6) where the state is another one than that of a saved plan, or an older one */
export function refuseOtherState(
  { name, again, file }: SavedPlan,
  snapshot: Snapshot | undefined,
): void {
  const { lineage: planned, serial: plannedSerial } = file.document.state;
  const { lineage = null, serial = 0 } = snapshot?.state ?? {};
  const stale = (why: string): never => refuseStalePlan(`${name} is stale: ${why}.`, again);
  if (planned === null && lineage !== null)
    stale('it was made without a state, and there is one now');
  if (lineage !== planned)
    refuseOtherPlace(`${name} is stale: the state is not the one it was made with.`);
  if (serial < plannedSerial)
    stale(
      `it was made from serial ${plannedSerial} of the state, but the state now has serial ${serial}: the state was restored from a backup or overwritten`,
    );
}

/** Checks a saved plan without the cloud: whether nothing was written since it was made. @throws Refusal (exit 6) where it is stale */
export async function isUntouched(context: Context, saved: SavedPlan): Promise<boolean> {
  const { document, options } = saved.file;
  const { settings } = await projectOfPlan(context, saved);
  const snapshot = await (await storeOf(context, settings, options.env)).read();
  refuseOtherState(saved, snapshot);
  const { state, unfinished = false } = snapshot ?? {};
  // What an interrupted run wrote is in its journal, and raises no serial.
  return !unfinished && (state?.serial ?? 0) === document.state.serial;
}

/** As `refuseOtherState`, under the lock of a run that has begun: for a plan that was made without a state, it began one. */
export function refuseOtherStateLocked(plan: SavedPlan, snapshot: Snapshot): void {
  const { state, pending } = snapshot;
  const isNew =
    state.serial === 0 && pending.length === 0 && Object.keys(state.resources).length === 0;
  const isBegun = plan.file.document.state.lineage === null && isNew;
  refuseOtherState(plan, isBegun ? undefined : snapshot);
}
