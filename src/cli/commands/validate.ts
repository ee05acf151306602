// `trueup validate`: checks declarations without network and without secrets.
import { errorDiagnostic, exits, Refusal } from '../../model/index.js';
import type { ProjectPolicy } from '../../policies/policy-files.js';
import { plural } from '../../report/words.js';
import type { Command } from '../context.js';
import { policiesHere } from '../project-policies.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations, expectations } = await loadProject(context, paths, chosen(context), {
    checks: 'always',
  });
  const policies = await policiesHere(context);
  await refuseMisnamed(policies);
  const counts = [
    plural(declarations.length, 'declaration'),
    ...(expectations.length > 0 ? [plural(expectations.length, 'expectation')] : []),
    ...(policies.length > 0
      ? [`${policies.length} ${policies.length === 1 ? 'policy' : 'policies'}`]
      : []),
  ];
  context.out.write(`Valid: ${counts.join(', ')}.\n`);
  return exits.done;
};

/** @throws Refusal for policies that read a member that no plan and no declaration has: each plan would be blocked */
async function refuseMisnamed(policies: readonly ProjectPolicy[]): Promise<void> {
  if (policies.length === 0) return;
  const { fullInput } = await import('../../policies/empty-plan.js');
  const wrong = policies.flatMap(({ name, scope, origin, misnamed }) => {
    const why = scope === 'fleet' ? undefined : misnamed(fullInput);
    return why === undefined ? [] : [{ ...errorDiagnostic('policy', `${name}: ${why}`), origin }];
  });
  if (wrong.length > 0) throw new Refusal(wrong);
}
