// Policies that name `fleet`: judged once for a run, after all plans and before the first write. They block the whole
// run, as the limits of `stop` do.
import { exits, warning, type Diagnostic, type Verdict } from '../model/index.js';
import { fleetInput, type PlannedTenant } from '../fleet/policy-input.js';
import type { RunStop } from '../fleet/merge.js';
import type { ProjectPolicy } from '../policies/policy-files.js';
import type { Context } from './context.js';
import { policiesHere } from './project-policies.js';
import { blocksOf } from './report-flags.js';

export interface FleetJudgement {
  /** Made only if there is a policy that asks for it. */
  readonly tenants: () => readonly PlannedTenant[];
  /** Names of policies that may pass. */
  readonly allow: readonly string[];
  /** Of a bundle, which takes no flag: the command that makes it again. */
  readonly again?: string | undefined;
}

/** What blocks the run; and, with exit code 0, what is only to be told. @throws Refusal where the policies are wrong */
export async function fleetVerdicts(
  context: Pick<Context, 'cwd'>,
  { tenants, ...how }: FleetJudgement,
): Promise<readonly RunStop[]> {
  const policies = (await policiesHere(context)).filter(({ scope }) => scope === 'fleet');
  if (policies.length === 0) return [];
  const fleet = fleetInput(tenants());
  return policies.flatMap((policy) => {
    const found = policy.violations({ plan: {}, declarations: [], fleet });
    return found.map(({ message }) => judged(policy, message, how));
  });
}

function judged(
  policy: ProjectPolicy,
  message: string,
  { allow, again }: Omit<FleetJudgement, 'tenants'>,
): RunStop {
  const { name, severity } = policy;
  const told = (diagnostic: Diagnostic): RunStop => ({
    exit: exits.done,
    diagnostics: [diagnostic],
  });
  if (severity === 'warning') return told(warning(name, message));
  if (policy.allow && allow.includes(name))
    return told({
      severity: 'info',
      code: name,
      summary: `Allowed by --allow ${name}: ${message}.`,
    });
  const verdict: Verdict = {
    rule: name,
    verdict: 'blocked',
    detail: message,
    ...(!policy.allow && { allowable: false as const }),
  };
  return {
    exit: exits.blocked,
    diagnostics: blocksOf({ policy: [verdict], diagnostics: [] }, { again }),
  };
}
