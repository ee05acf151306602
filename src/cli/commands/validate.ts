// `trueup validate`: checks declarations without network and without secrets.
import { exits, Refusal, type Diagnostic } from '../../model/index.js';
import type { ProjectPolicy } from '../../policies/policy-files.js';
import { plural } from '../../report/words.js';
import type { Command, Context } from '../context.js';
import { policiesHere } from '../project-policies.js';
import { chosen, loadProject } from '../project.js';

export const run: Command = async (context, paths) => {
  const { declarations, expectations } = await loadProject(context, paths, chosen(context), {
    checks: 'always',
  });
  const policies = await policiesHere(context);
  await checkMembers(context, policies);
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

/** Says which policies read a member that no plan and no declaration has. @throws Refusal for those that would block each plan */
async function checkMembers(context: Context, policies: readonly ProjectPolicy[]): Promise<void> {
  if (policies.length === 0) return;
  const { fullInput } = await import('../../policies/empty-plan.js');
  const wrong = policies
    .filter(({ scope }) => scope !== 'fleet')
    .flatMap(({ name, severity, origin, misnamed, neverThere }): readonly Diagnostic[] => {
      const say = (level: typeof severity, why: string): Diagnostic => ({
        severity: level,
        code: 'policy',
        summary: `${name}: ${why}`,
        origin,
      });
      const why = misnamed(fullInput);
      return why === undefined
        ? neverThere(fullInput).map((one) => say('warning', one))
        : [say(severity, why)];
    });
  if (wrong.some(({ severity }) => severity === 'error')) throw new Refusal(wrong);
  await context.tell(wrong);
}
