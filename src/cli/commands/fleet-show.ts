// `trueup fleet show`: prints the saved plans of a bundle as `fleet plan` reported them, or that of one tenant as `show`;
// what would allow a blocked one is a new bundle.
import { resolve } from 'node:path';
import { mergedReport } from '../../fleet/merge.js';
import {
  defined,
  didYouMean,
  exits,
  refuse,
  pathWord,
  shellWord,
  worst,
  type TenantEntry,
  type TypedWith,
} from '../../model/index.js';
import { planFormats } from '../../report/formats.js';
import { saidOf, saidOfPlan, tenantDocument } from '../commands-to-type.js';
import type { Command } from '../context.js';
import type { Bundle, BundledTenant } from '../../state/plan-bundle.js';
import { bundleAt } from '../fleet-bundle.js';
import { savedEntry } from '../fleet-run.js';
import { checkFleetOutputs } from '../output-files.js';
import { identityFlag } from '../plan-identity.js';
import { deliver, formsOf, outputsOf, showsText } from '../report-flags.js';
import { tenantPages } from '../tenant-pages.js';

export const run: Command = async (context, [name = '', only]) => {
  const { cwd, err, masking } = context;
  const path = resolve(cwd, name);
  const forms = formsOf(context, planFormats);
  await checkFleetOutputs(context, outputsOf(forms), [path]);
  const { renderFleet, renderPlan } = await import('../../report/render.js');
  const { bundle, again } = await bundleAt(context, path, name);
  const typedWith = ({ tenant, state }: BundledTenant): TypedWith | undefined => {
    const plan = bundle.planOf(tenant);
    return plan && state !== undefined
      ? { state, variables: saidOf(masking, saidOfPlan(plan)).variables }
      : undefined;
  };
  if (only !== undefined) {
    const { document } = bundle.planOf(only) ?? refuseUnplanned(bundle, name, only);
    const [typed_with] = bundle.tenants.flatMap((one) =>
      one.tenant === only ? (typedWith(one) ?? []) : [],
    );
    const complete = typed_with ? tenantDocument(document, typed_with) : document;
    return deliver(context, forms, (format, style) =>
      // The document equals that of `trueup plan`.
      renderPlan(format === 'json' ? document : complete, format, { ...style, again }),
    );
  }
  const pages = await tenantPages(context, forms);
  const entries = new Map<string, TenantEntry>();
  for (const one of bundle.tenants) {
    const { tenant } = one;
    const { document = null } = bundle.planOf(tenant) ?? {};
    const typed_with = typedWith(one);
    entries.set(tenant, savedEntry(one, { run: bundle.run, document, again, typed_with }));
    await pages.add({ tenant, document, ...defined({ typed_with }) });
  }
  const names = bundle.tenants.map(({ tenant }) => tenant);
  const report = mergedReport({ run: bundle.run, command: 'plan', tenants: names }, entries, {
    trueup_version: bundle.trueup_version,
    generated_at: bundle.created_at,
  });
  const delivered = await deliver(context, forms, (format, style, page = '') =>
    renderFleet(report, format, { ...style, ...pages.links(page) }),
  );
  await context.tell(pages.problems);
  const first = bundle.tenants.find(({ plan }) => plan !== null);
  if (showsText(context) && first) {
    const words = [pathWord(name), ...[first.tenant, ...identityFlag(context)].map(shellWord)];
    err.write(`To see the plan of one tenant: trueup fleet show ${words.join(' ')}\n`);
  }
  return worst([delivered, pages.problems.length > 0 ? exits.error : exits.done]);
};

function refuseUnplanned({ tenants }: Bundle, name: string, tenant: string): never {
  const found = tenants.find((one) => one.tenant === tenant);
  const names = tenants.map((one) => one.tenant);
  const why = found
    ? `: when the plans were made, its status was \`${found.status}\``
    : `.${didYouMean(tenant, names)}`;
  return refuse('no-plan', `${name} holds no plan of ${tenant}${why}`, {
    detail: `To see what it holds: trueup fleet show ${pathWord(name)}`,
  });
}
