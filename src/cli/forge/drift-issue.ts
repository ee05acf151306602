// Keeps one issue about the drift of a project. It never ends an audit: what a forge refuses is said, and is an error
// where nobody would hear of the drift: the issues could not be read, or drift not written where no issue is open.
import {
  exits,
  Refusal,
  type Diagnostic,
  type DriftDocument,
  type Exit,
  type Settings,
} from '../../model/index.js';
import { driftComment } from '../../report/drift-markdown.js';
import type { Context } from '../context.js';
import { settingsHere } from '../project.js';
import { failedAudit } from '../run-audit.js';
import { connectForge } from './connect-forge.js';
import { repeated, type Forge, type Issue } from './forge.js';
import { markerKey, runLink } from './forge-settings.js';
import {
  driftDigest,
  NONE,
  stepsFor,
  type AuditResult,
  type StoredDigest,
  type Steps,
} from './issue-steps.js';
import { firstMarked, LARGEST_REPORT, linesOf, markerOf, strayAuthor } from './post-markers.js';

/** @throws Refusal for what the environment lacks, before anything is audited */
export function driftIssue(context: Context, name: string, paths: readonly string[]) {
  connectForge(context, name);
  const kept = (key: () => Promise<Settings>, report: Report): Promise<Exit> =>
    withForge(context, name, async (forge) => {
      await keep(context, forge, { ...report, key: await markerKey(context, key) });
    });
  return {
    /** @param exit of the audit */
    audited: (document: DriftDocument, exit: Exit, settings: Settings): Promise<Exit> => {
      const found = foundBy(exit);
      const unmanagedCounts = context.flags.unmanaged === 'fail';
      const digest = driftDigest(document, { found, unmanagedCounts });
      return kept(() => Promise.resolve(settings), { audited: { found, digest }, document });
    },
    /** There is no audit. */
    failed: async (diagnostics: readonly Diagnostic[]): Promise<Exit> =>
      kept(() => settingsHere(context, paths), {
        audited: { found: 'incomplete', digest: NONE },
        document: await failedAudit(context, paths, diagnostics),
      }),
  };
}

/** Whatever else an audit ends with, it was not complete. */
function foundBy(exit: Exit): AuditResult['found'] {
  if (exit === exits.done) return 'clean';
  return exit === exits.changes ? 'drift' : 'incomplete';
}

interface Report {
  readonly audited: AuditResult;
  readonly document: DriftDocument;
}

/** Prints a refusal of the forge as a diagnostic; it does not end the command. */
async function withForge(
  context: Context,
  name: string,
  work: (forge: Forge) => Promise<void>,
): Promise<Exit> {
  const forge = connectForge(context, name);
  try {
    await work(forge);
    return exits.done;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const unwritten = error instanceof Unwritten;
    await context.tell(
      error.diagnostics.map((one) =>
        unwritten ? { ...one, severity: 'warning', code: 'issue-unwritten' } : one,
      ),
    );
    return unwritten ? exits.done : exits.error;
  } finally {
    await forge.close();
  }
}

/** Something could not be written, and no drift stays unheard for it. */
class Unwritten extends Refusal {}

async function keep(
  context: Context,
  forge: Forge,
  { audited, document, key }: Report & { readonly key: string },
): Promise<void> {
  const marker = markerOf('drift', key);
  const author = await forge.author();
  const { done, stray } = await repeated(forge, async () => {
    const issue = await issueOf(forge, marker, author, audited);
    const steps = stepsFor(
      audited,
      issue && { open: issue.open, stored: storedDigest(issue.body) },
    );
    if (!steps) return { done: undefined, stray: [] };
    const report = [driftComment(document, LARGEST_REPORT), runLink(context)].join('\n').trimEnd();
    const wrote = await take(forge, { steps, issue, marker, key, report });
    return { done: doneBy(steps), stray: strayAuthor(forge, author, wrote) };
  });
  await context.tell(stray);
  if (done !== undefined) context.err.write(`${done}\n`);
}

const doneBy = ({ write, open }: Steps): string => {
  if (write === 'create') return 'The issue was created.';
  if (open === undefined) return 'The issue was updated.';
  return open ? 'The issue was updated, and is open.' : 'The issue was closed.';
};

/** Before an issue is created, all issues are looked through: a filter by author that fails would give a new one each time. */
async function issueOf(
  forge: Forge,
  marker: string,
  author: string,
  audited: AuditResult,
): Promise<Issue | undefined> {
  const found = await firstMarked(forge.issues(author), marker, author);
  if (found || !stepsFor(audited, undefined)) return found;
  return firstMarked(forge.issues(undefined), marker, author);
}

interface Written {
  readonly steps: Steps;
  readonly issue: Issue | undefined;
  readonly marker: string;
  readonly key: string;
  readonly report: string;
}

/** The author of an issue that was created. @throws Unwritten where the drift is in an open issue, or there is none */
async function take(
  forge: Forge,
  { steps, issue, marker, key, report }: Written,
): Promise<string | undefined> {
  const { write, open, comment, note } = steps;
  const head = [marker, noteLine(note)];
  try {
    if (!issue) return await forge.createIssue(`Drift: ${key}`, [...head, report].join('\n'));
    const below = write === 'report' ? [report] : belowNote(issue.body);
    const body = [...head, ...below].join('\n');
    await forge.changeIssue(issue.id, body, open);
    if (comment === 'clean') await forge.commentOnIssue(issue.id, report);
    if (comment === 'outage')
      await forge.commentOnIssue(
        issue.id,
        `${report}\n\nUntil an audit is complete, this issue stays as it is.`,
      );
    return undefined;
  } catch (error) {
    const isUnheard = write !== 'note' && !issue?.open;
    if (!(error instanceof Refusal) || isUnheard) throw error;
    throw new Unwritten(error.diagnostics);
  }
}

const NOTE = /^<!-- trueup:audit drift=([0-9a-f]{64}|none) outage=(yes|no) -->$/;

const noteLine = ({ digest, outage }: Steps['note']): string =>
  `<!-- trueup:audit drift=${digest} outage=${outage ? 'yes' : 'no'} -->`;

function storedDigest(body: string): StoredDigest {
  const [, digest, outage] = NOTE.exec(linesOf(body)[1]?.trimEnd() ?? '') ?? [];
  return { digest, outage: outage === 'yes' };
}

/** The lines below the note, including text that a person added. */
function belowNote(body: string): readonly string[] {
  const [, note = '', ...rest] = linesOf(body);
  return NOTE.test(note.trimEnd()) ? rest : [note, ...rest];
}
