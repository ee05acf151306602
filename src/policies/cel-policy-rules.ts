// Policies of a project as rules of the engine, which judge the published document of a plan.
import type { Plan, PolicyRule, WholeJudgement } from '../model/index.js';
import { firstNamed, groupedBy, warning } from '../model/index.js';
import type { PolicyInput, PolicyViolation } from './cel-policy.js';
import type { ProjectPolicy } from './policy-files.js';

/** Those of a plan: a policy of a fleet is judged for its run. @param inputOf makes the document of a plan, which takes time: it is called once for each plan */
export function rulesOfPolicies(
  policies: readonly ProjectPolicy[],
  inputOf: (plan: Plan) => PolicyInput,
): readonly PolicyRule[] {
  let last: { readonly plan: Plan; readonly input: PolicyInput } | undefined;
  const input = (plan: Plan): PolicyInput => {
    if (last?.plan !== plan) last = { plan, input: inputOf(plan) };
    return last.input;
  };
  const ofPlan = policies.filter(({ scope }) => scope !== 'fleet');
  return ofPlan.map((policy) => ({
    name: policy.name,
    judge: () => [],
    whole: (plan) => judgement(policy, input(plan)),
    ...(!policy.allow && { allowable: false as const }),
  }));
}

/** The violations of a policy. What cannot be evaluated is one for all objects of which that is said, with the place of the policy. */
export function placedViolations(
  { origin: { file, line, column }, violations }: ProjectPolicy,
  input: PolicyInput,
): readonly Omit<PolicyViolation, 'unjudged'>[] {
  const all = groupedBy(violations(input), ({ unjudged }) => unjudged);
  return all.map((alike) => {
    const { unjudged, message, ...one } = alike[0]!;
    if (!unjudged) return { message, ...one };
    // Objects may have different members.
    const said = alike.every((other) => other.message === message) ? message : unjudged;
    const placed = `${said} (in ${file}:${line}:${column})`;
    if (alike.length === 1) return { ...one, message: placed };
    const addresses = alike.flatMap(({ address }) => address ?? []);
    return { message: `${placed}, for ${firstNamed(addresses, FEW)}` };
  });
}

/** Objects that a message names. */
const FEW = 3;

function judgement(policy: ProjectPolicy, input: PolicyInput): WholeJudgement {
  const violations = placedViolations(policy, input);
  if (policy.severity === 'error') {
    const findings = violations.map(({ message, ...rest }) => ({ detail: message, ...rest }));
    return { findings, warnings: [] };
  }
  const warnings = violations.map(({ message, ...rest }) => ({
    ...warning(policy.name, message),
    ...rest,
  }));
  return { findings: [], warnings };
}
