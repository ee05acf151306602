// Expected errors are data: every message for a person is a Diagnostic. Throwing is for bugs, and for `Refusal`, which
// carries diagnostics and an exit code across modules.
import { defined } from './defined.js';
import { exits, type Exit } from './exit-codes.js';

/** Where a declaration was written. Lines and columns start at 1. `path` is the path of the construct in a program; without a stack trace, `line` is 0. */
export interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path?: string;
  /** Of what stands in a template: where the template is used. */
  readonly used_at?: { readonly file: string; readonly line: number; readonly column: number };
}

export type Severity = 'error' | 'warning' | 'info';

export interface Diagnostic {
  readonly severity: Severity;
  /** Stable kebab-case name of the complaint, such as `unknown-attribute`. */
  readonly code: string;
  /** One line: what is wrong. Never holds a secret. */
  readonly summary: string;
  /** More lines: why, and what to type next. */
  readonly detail?: string;
  readonly address?: string;
  /** Path inside the declaration, such as `endpoint.url`. */
  readonly attribute?: string;
  readonly origin?: Origin;
  /** The lines of the file around the origin, already cleared of secrets; empty where they are not to be shown. */
  readonly frame?: string;
}

/** Ends a command: what to say, and with which exit code. Thrown where no result can exist. */
export class Refusal extends Error {
  constructor(
    readonly diagnostics: readonly Diagnostic[],
    readonly exit: Exit = exits.error,
  ) {
    super(diagnostics.map((one) => one.summary).join('\n'));
    this.name = 'Refusal';
  }
}

/** Why something failed: the first error. Warnings may stand before it. */
export const reasonIn = (diagnostics: readonly Diagnostic[]): Diagnostic | undefined =>
  diagnostics.find(({ severity }) => severity === 'error') ?? diagnostics[0];

const diagnosticOf =
  (severity: Severity) =>
  (code: string, summary: string, detail?: string): Diagnostic => ({
    severity,
    code,
    summary,
    ...defined({ detail }),
  });
/** An error that is one of several, or that is not thrown. */
export const errorDiagnostic = diagnosticOf('error');
export const warning = diagnosticOf('warning');
export const note = diagnosticOf('info');

export function refuse(
  code: string,
  summary: string,
  more: Partial<Diagnostic> = {},
  exit: Exit = exits.error,
): never {
  throw new Refusal([{ severity: 'error', code, summary, ...more }], exit);
}
