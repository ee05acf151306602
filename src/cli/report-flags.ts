// The output formats of a command: one on stdout (`--format`), any number in files (`--report FORMAT=FILE`).
import { resolve } from 'node:path';
import {
  errorDiagnostic,
  defined,
  exits,
  mayHaveFailed,
  refuse,
  worst,
  type Diagnostic,
  type Exit,
  type Outcome,
  type PlanDocument,
  type Verdict,
} from '../model/index.js';
import type { PlanFormat } from '../report/formats.js';
import {
  blockedByRule,
  briefly,
  CORRECT_FIRST,
  isWrong,
  type BlockingRule,
} from '../report/brief-diagnostics.js';
import type { Style } from '../report/style.js';
import { blockedRules, notAllowable, toAllow, type Again } from '../report/words.js';
import { isDiskError } from '../state/disk-errors.js';
import { sourceUrls } from './ci-run.js';
import type { Context } from './context.js';
import type { OutputFile } from './output-files.js';
import { pairs } from './project.js';

/** The style of text with the flags of the command. */
const styled = (context: Context, { color, width }: Style): Style => ({
  color,
  width,
  verbose: context.flags.verbose === true,
  requests: context.flags.showRequests === true,
  ...defined({ sourceUrl: sourceUrls(context) }),
});

/** The style of the text on stdout. */
export const shownStyle = (context: Context): Style => styled(context, context.out.style);

/** The same where `reportErrors` follows: each diagnostic is printed once, as far as TRUEUP_LOG wants it. */
export const styleBesideErrors = (context: Context): Style => ({
  ...shownStyle(context),
  diagnosticsApart: !context.isOneStream(),
  takes: context.takes,
});

/** The style of reports in files. */
export const fileStyle = (context: Context): Style =>
  styled(context, { color: false, width: Infinity });

/** What a plan or an audit says where a secret counts as unchanged. */
export const SECRETS_COMPARED =
  'Declared secrets are compared with those sent last, not with what is live.\n';

/** Whether stdout carries text: then a person may read it, and stderr names the command to type next. */
export const showsText = ({ flags }: Context): boolean =>
  !flags.json && (flags.format ?? 'text') === 'text';

export interface Forms<Format extends string> {
  readonly shown: Format;
  readonly files: readonly (readonly [format: Format, path: string])[];
  /** True if one of the formats lists unchanged objects. */
  readonly complete: boolean;
}

/** The requested formats, checked before any work is done. @throws Refusal */
export function formsOf<Format extends string>(
  { flags, cwd }: Context,
  formats: readonly Format[],
): Forms<Format> {
  const files = pairs('--report', flags.report).map(([name, path]): readonly [Format, string] => {
    const format = formats.find((one) => one === name);
    if (format === undefined)
      refuse('usage', `--report has no format named ${JSON.stringify(name)}.`, {
        detail: `Formats: ${formats.join(', ')}. For example: --report markdown=plan.md`,
      });
    if (path === '')
      refuse('usage', `--report ${format}= names no file.`, {
        detail: `For example: --report ${format}=plan.md`,
      });
    return [format, resolve(cwd, path)];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the command line takes no other
  const shown = (flags.format ?? 'text') as Format;
  if (flags.json && shown !== 'text')
    refuse('usage', '--json and --format cannot be used together.', {
      detail: 'For one document, leave out --json; for a stream of events, leave out --format.',
    });
  return {
    shown,
    files,
    complete:
      flags.json === true ||
      [shown, ...files.map(([format]) => format)].some((format) => format === 'json'),
  };
}

/** The files of `forms`, as they are checked. */
export const outputsOf = ({ files }: Forms<string>): readonly OutputFile[] =>
  files.map(([format, path]) => ({ flag: `--report ${format}`, path }));

/** @param path of the file; undefined for stdout */
export type Render<Format> = (format: Format, style: Style, path?: string) => string;

type Renderer<Document, Format> = (document: Document, format: Format, style: Style) => string;

/** The renderer of a plan. For text alone, the most frequent format, the other renderers are not loaded. */
export async function planRenderer(
  forms: Forms<PlanFormat>,
): Promise<Renderer<PlanDocument, PlanFormat>> {
  if (forms.shown !== 'text' || forms.files.length > 0)
    return (await import('../report/render.js')).renderPlan;
  const { planInText } = await import('../report/index.js');
  return (document, _, style) => planInText(document, style);
}

/** Shows and writes what `render` makes. Exit 1 where a file could not be written. */
export function deliver<Format extends string>(
  context: Context,
  forms: Forms<Format>,
  render: Render<Format>,
  style = shownStyle(context),
): Promise<Exit> {
  if (!context.flags.json) context.out.write(render(forms.shown, style));
  return writeReports(context, forms, render);
}

/** Delivers a document and says what stands against it. The exit code tells of differences only where it was asked to. */
export async function conclude<Format extends string, Document extends WithErrors>(
  context: Context,
  forms: Forms<Format>,
  document: Document,
  { render, exit }: { readonly render: Renderer<Document, Format>; readonly exit: Exit },
): Promise<Exit> {
  const rendered: Render<Format> = (format, style) => render(document, format, style);
  const delivered = await deliver(context, forms, rendered, styleBesideErrors(context));
  await reportErrors(context, document, forms.shown);
  const silent = exit === exits.changes && !context.flags.detailedExitcode;
  return worst([delivered, silent ? exits.done : exit]);
}

/** One that cannot be written keeps none of the others from it. */
export async function writeReports<Format extends string>(
  context: Context,
  forms: Forms<Format>,
  render: Render<Format>,
): Promise<Exit> {
  const { files, tell } = context;
  const page = fileStyle(context);
  let exit: Exit = exits.done;
  for (const [format, path] of forms.files) {
    try {
      await files.replace(path, render(format, page, path), 0o644);
    } catch (error) {
      if (!isDiskError(error)) throw error;
      exit = exits.error;
      const summary = `The report ${path} could not be written (${error.code}).`;
      await tell([errorDiagnostic('report-unwritten', summary)]);
    }
  }
  return exit;
}

/**
 * Prints the diagnostics of a document on stderr, unless its text on stdout holds them: where both go to one terminal,
 * file or pipe. What blocks is part of the text; stderr only names the rules then. Of a tenant, it is part of the result.
 * @param again as for `blocksOf`
 */
export async function reportErrors(
  context: Context,
  { diagnostics, policy = [] }: WithErrors,
  form: string,
  again?: Again,
): Promise<void> {
  const { flags } = context;
  const isText = form === 'text';
  if (flags.json || (context.isOneStream() && isText)) return;
  const shown = flags.verbose ? diagnostics : briefly(diagnostics);
  const blocks = context.fleetVariables
    ? []
    : blocksOf({ policy, diagnostics }, { named: isText, again });
  await context.tell([...shown, ...blocks]);
}

/** Prints why writes failed, or may have, under the same condition. */
export async function reportFailures(
  context: Context,
  outcomes: readonly Outcome[],
): Promise<void> {
  const { flags } = context;
  if (flags.json || context.isOneStream()) return;
  await context.tell(
    outcomes
      .filter(mayHaveFailed)
      .flatMap(({ address, diagnostic }) => (diagnostic ? [{ address, ...diagnostic }] : [])),
    true,
  );
}

interface BlocksForm {
  /** Without what blocks: the text on stdout has it. */
  readonly named?: boolean;
  /** Of a saved plan, which takes no flag. */
  readonly again?: Again | undefined;
  /** All that blocks a saved plan, if this is a part: the last rule has the one command for all. */
  readonly among?: readonly Verdict[];
}

/** The blocking verdicts, one error for each rule. */
export function blocksOf(
  { policy, diagnostics }: Pick<PlanDocument, 'policy' | 'diagnostics'>,
  { named = false, again, among = policy }: BlocksForm = {},
): readonly Diagnostic[] {
  const blocked = policy.filter(isBlocked);
  const { rules, fixed, flags: all } = blockedRules(among);
  const last = among.findLast((one) => isBlocked(one) && one.rule === rules.at(-1));
  const remedyFor = ({ rule, flag }: BlockingRule): string | undefined => {
    if (isWrong(diagnostics)) return CORRECT_FIRST;
    if (!again) return flag === undefined ? notAllowable([rule]) : toAllow([flag], again);
    if (rule !== last?.rule || !blocked.includes(last)) return undefined;
    return all.length > 0 ? toAllow(all, again) : notAllowable(fixed, rules);
  };
  return blockedByRule({ policy, diagnostics }, false).map((one) => {
    const { rule, shown, more } = one;
    const others = more === 0 ? [] : [`and ${more} more`];
    const details = [...shown.map(({ detail }) => detail), ...others].join('; ');
    const summary = named ? `Blocked by ${rule}.` : `Blocked by policy: ${details}.`;
    return errorDiagnostic(rule, summary, remedyFor(one));
  });
}

const isBlocked = ({ verdict }: Verdict): boolean => verdict === 'blocked';

/** A plan or an audit, as far as it holds complaints. */
type WithErrors = Pick<PlanDocument, 'diagnostics'> & Partial<Pick<PlanDocument, 'policy'>>;
