// `trueup apply`: shows the plan, asks, carries it out. A saved plan was reviewed already: it is only checked.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  defined,
  exits,
  firstNamed,
  note,
  isGood,
  refuse,
  Refusal,
  sameTarget,
  secretsIn,
  writes,
  pathWord,
  summarise,
  type Change,
  type Diagnostic,
  type Exit,
  type Outcome,
  type PlanDocument,
  type PlanRequest,
} from '../../model/index.js';
import type { Proposal } from '../../reconciler/plan/plan.js';
import { outcomeSentence, planSentence } from '../../report/index.js';
import type { Again } from '../../report/words.js';
import type { Snapshot } from '../../state/index.js';
import { otherWords, outcomeWithCommands, scopeWords, typed } from '../commands-to-type.js';
import { agrees, notApproved, wholeNumber, type Command, type Context } from '../context.js';
import { identityFlag } from '../plan-identity.js';
import { withNotification, type Ended } from '../notify.js';
import { withPolicies } from '../project-policies.js';
import { stateInGit } from '../state-in-git.js';
import {
  commandToApply,
  isPlanFile,
  projectOfPlan,
  readSavedPlan,
  refuseOtherState,
  refuseOtherStateLocked,
  refuseStalePlan,
  type SavedPlan,
} from '../saved-plan.js';
import { blocksOf, reportErrors, reportFailures, styleBesideErrors } from '../report-flags.js';
import { withSecrets, wholeProject } from '../project.js';
import {
  planDocumentOf,
  metaOf,
  requestOf,
  underLock,
  withCloud,
  withProject,
  withWarnings,
  type ProjectContext,
} from '../working-context.js';

export const run: Command = (context, paths) =>
  withNotification(context, 'apply', (end) => start(context, paths, (one) => end(endOf(one))));

/** What an apply has done, or why it did nothing. */
export interface Applied {
  readonly document: PlanDocument;
  readonly outcomes: readonly Outcome[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Told of the result. */
type End = (applied: Applied) => void;

async function start(context: Context, paths: readonly string[], end: End): Promise<Exit> {
  let saved: string | undefined;
  for (const path of paths)
    if (path !== '-' && (await isPlanFile(context, resolve(context.cwd, path)))) saved ??= path;
  if (saved !== undefined) {
    // The PATH is the plan itself, which no other command takes.
    context.said = { paths: [], env: undefined, variables: [] };
    if (paths.length === 1) return applySaved(context, saved, end);
    refuse(
      'usage',
      `${saved} is no declaration file. A saved plan is applied without other PATHs.`,
      {
        detail: `If it is one, to apply it: trueup apply ${pathWord(saved)}\nIf it holds declarations, give it a name that ends in .yaml.`,
      },
    );
  }
  if (context.flags.identity !== undefined)
    refuse('usage', '--identity can be used only with a saved plan.', {
      detail: 'For example: trueup apply change.plan --identity key.txt',
    });
  // A saved plan that is not there is no reason to advise doing without one.
  const missing = paths.find(
    (path) =>
      path !== '-' && statSync(resolve(context.cwd, path), { throwIfNoEntry: false }) === undefined,
  );
  if (missing !== undefined)
    refuse('no-such-path', `${missing} does not exist`, {
      detail: 'A PATH is a saved plan, a file, a folder or `-`.',
    });
  return change(context, paths, requestOf(context), end);
}

/** Plans, asks and carries out. @throws Refusal at once where nobody can be asked. */
export function change(
  context: Context,
  paths: readonly string[],
  request: PlanRequest,
  end?: End,
): Promise<Exit> {
  const { flags, interactive } = context;
  const [act, plan] = request.destroy
    ? (['destroy', 'plan --destroy'] as const)
    : (['apply', 'plan'] as const);
  if (!flags.autoApprove && (flags.json || !interactive)) {
    const apply = ['trueup', act, '--auto-approve', ...otherWords(act, flags)].join(' ');
    const save = ['trueup', plan, '--out plan.trueup', ...scopeWords(flags)].join(' ');
    notApproved(
      `To do it without confirmation: ${apply}\nTo save a plan and review it first: ${save}\nand then type \`trueup apply plan.trueup\`.`,
      flags.json ? 'With --json nobody is asked' : undefined,
    );
  }
  return withProject(context, paths, (site) => carryOut(context, site, { request, end }));
}

async function applySaved(context: Context, name: string, end: End): Promise<Exit> {
  const { flags } = context;
  const given = (['target', 'exclude', 'allow', 'destroy', 'var', 'env'] as const).find(
    (flag) => flags[flag] !== undefined,
  );
  if (given !== undefined)
    refuse('usage', `--${given} cannot be used with a saved plan, which holds its own.`, {
      detail: `Leave it out, or plan again with \`--${given}\`.`,
    });
  return applyPlan(context, await readSavedPlan(context, name), end);
}

/** Applies exactly the plan that was saved. @throws Refusal (exit 6) where it is stale */
export async function applyPlan(context: Context, plan: SavedPlan, end: End): Promise<Exit> {
  const { name, again, file } = plan;
  const { document, options } = file;
  const project = await projectOfPlan(context, plan);
  const whole = await withSecrets(context, await wholeProject(context, project, options));
  return withCloud(
    context,
    project.settings,
    (place) => {
      const { target } = place.reached.cloud;
      if (!sameTarget(target, document.target))
        refuseStalePlan(
          `${name} is stale: it is about ${document.target}, and the target is ${target}.`,
          again,
        );
      refuseOtherState(plan, place.snapshot);
      return carryOut(
        context,
        { ...place, project: whole },
        {
          request: options,
          saved: context.masking.said(document),
          again,
          next: continuation(context, plan),
          end,
          checkLocked: (snapshot) => refuseOtherStateLocked(plan, snapshot),
        },
      );
    },
    options.env,
  ).catch((error: unknown) => {
    throw error instanceof Refusal ? withWarnings(whole, error) : error;
  });
}

/** What finishes a plan that was applied in part. One that was made without a state is stale then: there is a state now. */
function continuation(context: Context, { name, again, file }: SavedPlan): string {
  if (file.document.state.lineage === null) return `Plan ${again()}`;
  return `To continue: ${commandToApply(name, identityFlag(context))}`;
}

interface Order {
  readonly request: PlanRequest;
  readonly saved?: PlanDocument;
  /** Of a saved plan, like what to type if not everything is done. */
  readonly again?: Again;
  readonly next?: string;
  readonly end?: End | undefined;
  /** Checks again under the lock what a saved plan needs. @throws Refusal (exit 6) */
  readonly checkLocked?: (snapshot: Snapshot) => void;
}

async function carryOut(
  context: Context,
  without: ProjectContext,
  { request, saved, again, next, end, checkLocked }: Order,
): Promise<Exit> {
  const site = await withPolicies(context, without);
  const { flags, random, signal } = context;
  const { store, context: planContext, watch, project } = site;
  const parallelism = wholeNumber('--parallelism', flags.parallelism ?? '10', 1, 100);
  const [{ apply }, { planDocument }] = await Promise.all([
    import('../../reconciler/apply/apply.js'),
    import('../../report/index.js'),
  ]);
  const operation = request.destroy ? 'destroy' : 'apply';
  return underLock(store, operation, planContext, async (session) => {
    checkLocked?.(session.snapshot);
    let shown: PlanDocument | undefined;
    const locked = (): ProjectContext => ({ ...site, snapshot: session.snapshot });
    const show = async (proposal: Proposal): Promise<PlanDocument> => {
      const reviewed = saved !== undefined && isGood(proposal.exit) && !context.flags.showRequests;
      return (shown = await present(context, locked(), { proposal, reviewed, again }));
    };
    const execution = { ...planContext, session, random, parallelism, signal };
    const { proposal, diagnostics, approved, exit, ...applied } = await apply(
      execution,
      project,
      request,
      {
        ...defined({ saved }),
        document: ({ plan }) =>
          planDocument({
            plan,
            kinds: context.kinds,
            meta: metaOf(context, locked()),
          }),
        approve: async (proposal) => {
          const sentence = planSentence(await show(proposal));
          const agreed =
            saved !== undefined ||
            flags.autoApprove === true ||
            (await agree(context, proposal, sentence));
          watch.expect(proposal.plan.changes.filter(writes).length);
          return agreed;
        },
      },
    ).catch((error: unknown) => {
      throw error instanceof Refusal ? unchanged(error, again) : error;
    });
    watch.end();
    const document = shown ?? (await show(proposal));
    await context.tell(diagnostics);
    if (!approved && exit !== exits.done) context.err.write(`${NOTHING_CHANGED}\n`);
    const outcomes = applied.outcomes.map((one) =>
      context.masking.said(outcomeWithCommands(one, context.said)),
    );
    const command = ['trueup', operation, ...scopeWords(flags)].join(' ');
    const mayBeStale = again && losesSecrets(proposal.plan.changes, outcomes);
    const rest = [
      next ?? `To continue: ${typed(command, context.said)}`,
      ...(mayBeStale ? [`If the saved plan is stale by then, plan ${again()}`] : []),
    ].join('\n');
    await reportOutcomes(context, site, { outcomes, next: rest });
    end?.({ document, outcomes, diagnostics });
    return exit;
  });
}

/** Whether nothing records a secret that may have been sent: then a saved plan may be stale. */
function losesSecrets(changes: readonly Change[], outcomes: readonly Outcome[]): boolean {
  const unknown = new Set(
    outcomes.filter(({ outcome }) => outcome === 'unknown').map(({ address }) => address),
  );
  return changes.some(
    (one) =>
      unknown.has(one.address) &&
      'write' in one &&
      one.write !== undefined &&
      secretsIn(one.write.fields).size > 0,
  );
}

/** The state may hold what a recovery found. */
/** Addresses that a sentence names. */
const FEW = 3;

const NOTHING_CHANGED = 'Nothing was changed in the cloud.';

/** Where an apply is refused, nothing was sent that changes anything. @param again of a saved plan */
const unchanged = ({ diagnostics, exit }: Refusal, again: Again | undefined): Refusal => {
  const next = exit === exits.stale && again ? `Make the plan ${again()}` : undefined;
  return new Refusal([...diagnostics, note('nothing-changed', NOTHING_CHANGED, next)], exit);
};

/** What was done, why the rest was not, and what to type then. */
async function reportOutcomes(
  context: Context,
  { watch, snapshot, store }: ProjectContext,
  { outcomes, next }: { readonly outcomes: readonly Outcome[]; readonly next: string },
): Promise<void> {
  if (outcomes.length === 0) return;
  const { renderOutcomes } = await import('../../report/index.js');
  context.out.write(
    watch.lines
      ? watch.lines.outcomes(outcomes)
      : renderOutcomes(outcomes, styleBesideErrors(context)),
  );
  await reportFailures(context, outcomes);
  if (!context.flags.json && outcomes.some(({ outcome }) => outcome !== 'done')) {
    const rejected = outcomes.flatMap(({ address, diagnostic }) =>
      diagnostic?.code === 'rejected' ? address : [],
    );
    if (rejected.length > 0)
      context.err.write(
        `The service may reject the same again. First remove the cause:\n  ${firstNamed(rejected, FEW)}\n`,
      );
    context.err.write(`${next}\n`);
  }
  const inGit = snapshot ? undefined : await stateInGit(context.cwd, store.location);
  if (inGit) await context.tell([inGit]);
}

interface Shown {
  readonly proposal: Proposal;
  /** True for a plan that was shown before: only its summary is printed. `trueup show` prints all of it. */
  readonly reviewed: boolean;
  readonly again?: Again | undefined;
}

async function present(
  context: Context,
  site: ProjectContext,
  { proposal: { plan }, reviewed, again }: Shown,
): Promise<PlanDocument> {
  const { out } = context;
  const { lines } = site.watch;
  const { planInText } = await import('../../report/index.js');
  const document = await planDocumentOf(context, site, plan, {
    keeps: lines ? 'all' : 'count',
  });
  site.watch.end();
  const summary = reviewed && `${planSentence(document)}\n`;
  const style = { ...styleBesideErrors(context), again };
  out.write(lines ? lines.plan(document) : summary || planInText(document, style));
  await reportErrors(context, document, reviewed ? 'summary' : 'text', again);
  return document;
}

function endOf({ document, outcomes, diagnostics }: Applied): Ended {
  const { target } = document;
  const summary =
    outcomes.length > 0
      ? outcomeSentence(outcomes)
      : `${planSentence(document)} Nothing was changed.`;
  const done = summarise(outcomes.filter(({ outcome }) => outcome === 'done'));
  const open = (['failed', 'skipped', 'unknown'] as const).map((wanted) => [
    wanted,
    outcomes.filter(({ outcome }) => outcome === wanted).length,
  ]);
  return {
    summary,
    target,
    counts: { ...done, ...Object.fromEntries(open) },
    diagnostics: [
      ...document.diagnostics,
      ...blocksOf(document),
      ...diagnostics,
      ...outcomes.flatMap(({ diagnostic }) => diagnostic ?? []),
    ],
  };
}

/** Asks only where there is something to decide; a blocked plan cannot be agreed to. */
async function agree(
  context: Context,
  { plan, exit }: Proposal,
  sentence: string,
): Promise<boolean> {
  if (!isGood(exit)) return false;
  // The plan may have gone where the person does not see it.
  const shown = context.isOneStream() ? '' : `\n${sentence}`;
  const isEmpty = plan.changes.every((one) => one.action === 'keep');
  return isEmpty || agrees(context, `${shown}\nCarry this out?`);
}
