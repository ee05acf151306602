// The exit code of a plan. Whether changes count is decided by the command (`--detailed-exitcode`).
import { exits, isChange, worst, type Exit, type Plan } from '../../model/index.js';

/** @param found those of what happened while the plan was made */
export const planExitCode = (
  { changes, diagnostics, verdicts }: Pick<Plan, 'changes' | 'diagnostics' | 'verdicts'>,
  found: readonly Exit[],
): Exit =>
  worst([
    ...found,
    ...(diagnostics.some(({ severity }) => severity === 'error') ? [exits.error] : []),
    ...(verdicts.some(({ verdict }) => verdict === 'blocked') ? [exits.blocked] : []),
    ...(changes.some(isChange) ? [exits.changes] : []),
  ]);
