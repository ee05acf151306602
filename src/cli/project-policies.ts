// The policies of the current folder: loaded where a plan is made, and checked by `validate` and `test`.
import { join } from 'node:path';
import {
  allowableRules,
  errorDiagnostic,
  didYouMean,
  MASKED_CONFIGURATION,
  refuse,
  Refusal,
  type Diagnostic,
  type JsonObject,
  type Plan,
} from '../model/index.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import { declarationFiles } from '../platform/declaration-files.js';
import type { ProjectPolicy } from '../policies/policy-files.js';
import { ruleNames } from '../resources/rules/names.js';
import type { Context } from './context.js';
import { metaOf, type ProjectContext } from './working-context.js';

const builtIn = allowableRules(ruleNames);

/** Those that can be judged here. @throws Refusal with everything that is wrong with them */
export async function policiesHere(
  context: Pick<Context, 'cwd' | 'kinds'>,
): Promise<readonly ProjectPolicy[]> {
  const policies = await readPolicies(context);
  const ofFleet = policies.filter(({ scope }) => scope === 'fleet');
  const isFleet = declarationFiles.stat(join(context.cwd, FLEET_FILE)) !== undefined;
  if (ofFleet.length > 0 && !isFleet) throw new Refusal(ofFleet.map(withoutFleet));
  return policies;
}

/** A policy that is never judged must not let a plan pass. */
const withoutFleet = ({ name, origin }: ProjectPolicy): Diagnostic => ({
  ...errorDiagnostic(
    'policy',
    `${name}: \`when\` names \`fleet\`, and there is no ${FLEET_FILE} in this folder`,
    'Use `plan`, which is judged for every plan, or remove the policy here.',
  ),
  origin,
});

/** @throws Refusal with everything that is wrong with them */
export async function readPolicies({
  cwd,
  kinds,
}: Pick<Context, 'cwd' | 'kinds'>): Promise<readonly ProjectPolicy[]> {
  const folder = join(cwd, 'policies');
  // What is there and is no folder is an error, and so is a link that leads nowhere.
  if (!declarationFiles.isLink(folder) && !declarationFiles.stat(folder)) return [];
  const { policiesIn } = await import('../policies/policy-files.js');
  const known = { taken: [...builtIn, MASKED_CONFIGURATION], kinds };
  const { policies, diagnostics } = await policiesIn({ files: declarationFiles, cwd }, known);
  if (diagnostics.length > 0) throw new Refusal(diagnostics);
  return policies;
}

/** @throws Refusal where `--allow` names no rule, or one that cannot be allowed */
export function refuseUnknownAllow(
  { flags }: Pick<Context, 'flags'>,
  policies: readonly ProjectPolicy[],
): void {
  const names = [...builtIn, ...policies.flatMap(({ name, allow }) => (allow ? [name] : []))];
  const unknown = flags.allow?.find((one) => !names.includes(one));
  if (unknown === undefined) return;
  const fixed = new Map([
    [MASKED_CONFIGURATION, 'what this rule blocks cannot be allowed.'],
    ...policies.map(({ name }) => [name, 'the policy says `allow: false`.'] as const),
  ]);
  const why = fixed.get(unknown) ?? `there is no such policy rule.${didYouMean(unknown, names)}`;
  refuse('usage', `--allow ${unknown}: ${why}`, { detail: `Policy rules: ${names.join(', ')}.` });
}

/** The project with its policies among the rules. @throws Refusal where they are wrong, or `--allow` names no rule */
export async function withPolicies(
  context: Context,
  site: ProjectContext,
): Promise<ProjectContext> {
  const policies = await policiesHere(context);
  refuseUnknownAllow(context, policies);
  if (policies.length === 0) return site;
  const [{ rulesOfPolicies }, { planDocument, declarationDocuments }] = await Promise.all([
    import('../policies/cel-policy-rules.js'),
    import('../report/index.js'),
  ]);
  const { kinds, masking } = context;
  const inputOf = (plan: Plan) => ({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the document is JSON
    plan: planDocument({
      plan,
      kinds,
      meta: metaOf(context, site),
    }) as unknown as JsonObject,
    declarations: declarationDocuments(site.project.declarations, kinds, masking),
  });
  const rules = [...site.context.rules, ...rulesOfPolicies(policies, inputOf)];
  return { ...site, context: { ...site.context, rules } };
}
