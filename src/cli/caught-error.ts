// Messages for thrown values, and the exit code of a run that one ends.
import { errorCode, exits, isObject, Refusal } from '../model/index.js';

/** The message of a thrown value. Messages of unexpected errors may quote their input, so they are not shown. */
export function caughtError(error: unknown): Pick<Refusal, 'diagnostics' | 'exit'> {
  if (error instanceof Refusal) return error;
  const code = errorCode(error);
  const {
    path = 'The system: something',
    name = typeof error,
    problem = `cannot be used (${code})`,
  } = isObject(error) ? error : {};
  const known = code !== undefined && /^E(?!RR_)[A-Z0-9]+$/.test(code);
  const told = known
    ? { code: 'system', summary: `${String(path)} ${String(problem)}.` }
    : {
        code: 'unforeseen',
        summary: `This should not have happened (${String(name)}).`,
        detail:
          'It is a mistake in trueup. Run the same command with --debug and report what it prints.',
      };
  return { diagnostics: [{ severity: 'error', ...told }], exit: exits.error };
}
