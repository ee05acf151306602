// `trueup comment`: one comment on a pull request that shows a plan, created once and updated from then on; the same
// text as a job summary and, on GitHub, as a check run.
import {
  defaultSettings,
  exits,
  refuse,
  Refusal,
  warning,
  type PlanDocument,
  type Settings,
} from '../../model/index.js';
import { shorten } from '../../report/escaping.js';
import { planComment } from '../../report/plan-markdown.js';
import { blockedRules, planSentence } from '../../report/words.js';
import { isDiskError } from '../../state/disk-errors.js';
import { commentBody, type CommentParts } from '../forge/comment-body.js';
import { connectForge } from '../forge/connect-forge.js';
import { ForgeRefusal, repeated, type CheckRun, type Forge } from '../forge/forge.js';
import { markerKey, runLink } from '../forge/forge-settings.js';
import { firstMarked, LARGEST_REPORT, markerOf, strayAuthor } from '../forge/post-markers.js';
import { planHere, shownPlan } from '../forge/plan-source.js';
import type { Command, Context } from '../context.js';
import { settingsHere } from '../project.js';
import { runAddress } from '../ci-run.js';

export const run: Command = async (context) => {
  const { flags, masking } = context;
  const usage = { detail: 'For example: trueup comment --forge github --plan change.plan' };
  if (flags.forge === undefined) refuse('usage', '--forge names no forge.', usage);
  const forge = connectForge(context, flags.forge);
  try {
    const {
      document: given,
      env,
      again,
      exit = exits.done,
    } = await (flags.plan === undefined ? planHere(context) : shownPlan(context, flags.plan));
    const key = await keyHere(context, env);
    const document = masking.said(given);
    const content = [planComment(document, LARGEST_REPORT, again), runLink(context)]
      .join('\n')
      .trimEnd();
    await writeSummary(context, content);
    await writeOwnComment(context, forge, { marker: markerOf('plan', key), content });
    if (flags.checkRun !== 'none')
      await writeCheck(context, forge, checkOf(context, document, { key, content }));
    return exit;
  } finally {
    await forge.close();
  }
};

/** A saved plan tells its environment; the project is that of the settings here. */
function keyHere(context: Context, env: string | undefined): Promise<string> {
  const { flags } = context;
  const there = env === undefined ? context : { ...context, flags: { ...flags, env } };
  return markerKey(there, () => settingsHere(there).catch(unlessAbsent));
}

/** The job that comments may have no declarations. */
function unlessAbsent(error: unknown): Settings {
  const isAbsent =
    error instanceof Refusal &&
    error.diagnostics.every(({ code }) => code === 'no-environment-file');
  if (!isAbsent) throw error;
  return defaultSettings;
}

async function writeOwnComment(
  { out, tell }: Context,
  forge: Forge,
  { marker, content }: Omit<CommentParts, 'before'>,
): Promise<void> {
  const author = await forge.author();
  const done = await repeated(forge, async () => {
    const found = await firstMarked(forge.comments(), marker, author);
    const body = commentBody({ marker, content, before: found?.body });
    if (body === undefined) return 'is as it was';
    await tell(strayAuthor(forge, author, await forge.writeComment(body, found?.id)));
    return found ? 'was updated' : 'was created';
  });
  out.write(`The comment ${done}.\n`);
}

function checkOf(
  context: Context,
  document: PlanDocument,
  { key, content }: Pick<CommentParts, 'content'> & { readonly key: string },
): CheckRun {
  const title = planSentence(document);
  const { rules } = blockedRules(document.policy);
  const failed =
    rules.length > 0 || document.diagnostics.some(({ severity }) => severity === 'error');
  const conclusion = title.startsWith('No changes') ? 'success' : 'neutral';
  return {
    name: `trueup (${key})`,
    key: `trueup:plan:${key}`,
    conclusion: failed ? 'failure' : conclusion,
    title: shorten(rules.length > 0 ? `Blocked by ${rules.join(', ')}. ${title}` : title, 200),
    summary: content,
    url: runAddress(context.environment),
  };
}

/** Only apps may write check runs, GITHUB_TOKEN among them: without one the comment stands by itself. */
async function writeCheck({ tell, out }: Context, forge: Forge, run: CheckRun): Promise<void> {
  if (!forge.writeCheckRun) return;
  try {
    await forge.writeCheckRun(run);
    out.write(`The check run ${run.name} says ${run.conclusion}.\n`);
  } catch (error) {
    if (!(error instanceof ForgeRefusal) || (error.status !== 403 && error.status !== 404))
      throw error;
    const [first] = error.diagnostics;
    const detail = `${first?.detail ?? ''} To do without: --check-run none`;
    await tell([warning('check-run-unwritten', error.message, detail)]);
  }
}

/** GitHub drops a summary that is longer. */
const LARGEST_SUMMARY = 1024 * 1024;

async function writeSummary({ environment, files, tell }: Context, content: string): Promise<void> {
  const path = environment['GITHUB_STEP_SUMMARY'];
  if (!path) return;
  const unwritten = (why: string) =>
    tell([warning('summary-unwritten', `The job summary ${path} was not written: ${why}.`)]);
  const text = `${content}\n\n`;
  try {
    const before = (await files.size(path)) ?? 0;
    if (before + Buffer.byteLength(text) > LARGEST_SUMMARY)
      return await unwritten('it would be longer than 1 MiB');
    const file = await files.append(path, 0o644);
    await file.write(text);
    await file.close();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    await unwritten(error.code);
  }
}
