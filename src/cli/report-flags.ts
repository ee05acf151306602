// The output formats of a command: one on stdout (`--format`), any number in files (`--report FORMAT=FILE`).
import { resolve } from 'node:path';
import {
  exits,
  flagToAllow,
  refuse,
  worst,
  type Diagnostic,
  type Exit,
  type PlanDocument,
} from '../model/index.js';
import type { PlanFormat } from '../report/formats.js';
import type { Style } from '../report/index.js';
import { isDiskError } from '../state/disk-errors.js';
import type { Context } from './context.js';
import type { OutputFile } from './output-files.js';
import { pairs } from './project.js';

/** How files are written: no colour, as wide as a page. */
const PAGE: Style = { color: false, width: 100 };

export interface Forms<Format extends string> {
  readonly shown: Format;
  readonly files: readonly (readonly [format: Format, path: string])[];
  /** Whether some form lists what stays as it is. */
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
      refuse('usage', `--report knows no form named ${JSON.stringify(name)}.`, {
        detail: `Forms: ${formats.join(', ')}. Type it as in: --report markdown=plan.md`,
      });
    if (path === '')
      refuse('usage', `--report ${format}= names no file.`, {
        detail: `Type it as in: --report ${format}=plan.md`,
      });
    return [format, resolve(cwd, path)];
  });
  const shown = (flags.format ?? 'text') as Format;
  if (flags.json && shown !== 'text')
    refuse('usage', '--json and --format exclude one another.', {
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

export type Render<Format> = (format: Format, style: Style) => string;

/** How a plan is shown: as text, which most runs ask for, without loading the other forms. */
export async function planRenderer(
  forms: Forms<PlanFormat>,
): Promise<(document: PlanDocument, format: PlanFormat, style: Style) => string> {
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
): Promise<Exit> {
  const { out, flags } = context;
  if (!flags.json) out.write(render(forms.shown, out.style));
  return writeReports(context, forms, render);
}

/** Delivers a document and says what stands against it. The exit code tells of differences only where it was asked to. */
export async function conclude<Format extends string>(
  context: Context,
  forms: Forms<Format>,
  document: WithErrors,
  { render, exit }: { readonly render: Render<Format>; readonly exit: Exit },
): Promise<Exit> {
  const delivered = await deliver(context, forms, render);
  await reportErrors(context, document, forms.shown);
  const silent = exit === exits.changes && !context.flags.detailedExitcode;
  return worst([delivered, silent ? exits.done : exit]);
}

/** One that cannot be written keeps none of the others from it. */
export async function writeReports<Format extends string>(
  { files, tell }: Context,
  forms: Forms<Format>,
  render: Render<Format>,
): Promise<Exit> {
  let exit: Exit = exits.done;
  for (const [format, path] of forms.files) {
    try {
      await files.replace(path, render(format, PAGE), 0o644);
    } catch (error) {
      if (!isDiskError(error)) throw error;
      exit = exits.error;
      const summary = `The report ${path} could not be written (${error.code}).`;
      await tell([{ severity: 'error', code: 'report-unwritten', summary }]);
    }
  }
  return exit;
}

/** Says on stderr what stands against a document, unless both are the terminal where it was just read. */
export async function reportErrors(
  { flags, out, err, tell }: Context,
  { diagnostics, policy = [] }: WithErrors,
  form: string,
): Promise<void> {
  if (flags.json || (out.terminal && err.terminal && form === 'text')) return;
  const blocked = policy.filter(({ verdict }) => verdict === 'blocked');
  const errors = blocked.map(({ rule, detail }): Diagnostic => {
    const [summary, flag] = [`Blocked by policy: ${detail}.`, flagToAllow(rule)];
    const allow = flag === undefined ? {} : { detail: `To allow it: ${flag}` };
    return { severity: 'error', code: rule, summary, ...allow };
  });
  await tell([...diagnostics, ...errors]);
}

/** A plan or an audit, as far as it holds complaints. */
type WithErrors = Pick<PlanDocument, 'diagnostics'> & Partial<Pick<PlanDocument, 'policy'>>;
