// Policies that name `fleet`: judged once for a run, after all plans and before the first write. They block the whole
// run, as the limits of `stop` do.
import { exits, note, warning, type Diagnostic, type Verdict } from '../model/index.js';
import { fleetInput, type PlannedTenant } from '../fleet/policy-input.js';
import type { RunStop } from '../fleet/merge.js';
import { placedViolations } from '../policies/cel-policy-rules.js';
import type { ProjectPolicy } from '../policies/policy-files.js';
import type { Again } from '../report/words.js';
import type { Context } from './context.js';
import { policiesHere } from './project-policies.js';
import { blocksOf } from './report-flags.js';

/**
 * What blocks the run; and, with exit code 0, what is only to be told.
 * @param tenants made only if there is a policy that asks for it
 * @param allow names of policies that may pass
 * @param again of a bundle, which takes no flag
 * @throws Refusal where the policies are wrong
 */
export async function fleetVerdicts(
  context: Pick<Context, 'cwd' | 'kinds'>,
  tenants: () => readonly PlannedTenant[],
  allow: readonly string[] = [],
  again?: Again,
): Promise<readonly RunStop[]> {
  const policies = (await policiesHere(context)).filter(({ scope }) => scope === 'fleet');
  if (policies.length === 0) return [];
  const fleet = fleetInput(tenants());
  const found = policies.flatMap((policy) =>
    placedViolations(policy, { plan: {}, declarations: [], fleet }).map(({ message }) =>
      judged(policy, message, allow),
    ),
  );
  const among = found.filter((one) => 'rule' in one);
  return found.map((one) =>
    'rule' in one
      ? {
          exit: exits.blocked,
          diagnostics: blocksOf({ policy: [one], diagnostics: [] }, { again, among }),
        }
      : { exit: exits.done, diagnostics: [one] },
  );
}

/** What blocks, or what is only to be told. */
function judged(
  policy: ProjectPolicy,
  message: string,
  allow: readonly string[],
): Verdict | Diagnostic {
  const { name, severity } = policy;
  if (severity === 'warning') return warning(name, message);
  if (policy.allow && allow.includes(name))
    return note(name, `Allowed by --allow ${name}: ${message}.`);
  return {
    rule: name,
    verdict: 'blocked',
    detail: message,
    ...(!policy.allow && { allowable: false as const }),
  };
}
