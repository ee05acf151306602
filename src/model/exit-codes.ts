// The exit codes of the commands.

/** The exit codes of the command line; where several apply, `worst` decides. */
export const exits = {
  done: 0,
  error: 1,
  changes: 2,
  blocked: 3,
  locked: 4,
  undecided: 5,
  stale: 6,
  partial: 7,
  interrupted: 130,
  terminated: 143,
} as const;
export type Exit = (typeof exits)[keyof typeof exits];

/** Whether everything could be done or checked. There may be differences. */
export const isGood = (exit: Exit | null): boolean => exit === exits.done || exit === exits.changes;

const precedence: readonly Exit[] = [143, 130, 5, 7, 6, 4, 3, 1, 2, 0];

export function worst(codes: readonly Exit[]): Exit {
  return precedence.find((code) => codes.includes(code)) ?? exits.done;
}
