// One file with the saved plans of many tenants: a head that names each plan by its digest, and one line per plan. What
// was reviewed is what is applied: a plan that was exchanged does not fit the head, and a head that was edited does not
// fit its own digest.
import {
  digest,
  isObject,
  refuse,
  sorted,
  wireText,
  type PlanFile,
  type PlanSaving,
  type Secret,
  type TenantStatus,
} from '../model/index.js';
import { damaged } from './disk-errors.js';
import { parseJsonText } from './json-text.js';
import { planIn, readProtected, type PlanFileOptions } from './plan-file.js';

const VERSION = 1;
const COMMAND = 'trueup fleet plan';
const REMEDY = `Nothing was changed. Make the bundle again by ${COMMAND}, with the options that it was made with.`;

/** One tenant of a bundle. */
export interface BundledTenant {
  readonly tenant: string;
  /** Digest of its entry in the fleet. */
  readonly entry: string;
  readonly status: TenantStatus;
  /** Digest of its plan; null where none could be made. */
  readonly plan: string | null;
  /** The value of `TRUEUP_STATE` for commands about it; absent in bundles of earlier versions. */
  readonly state?: string;
}

/** What it was asked for with, beside `env` and `allow`: a command that makes it again repeats it. */
export interface BundleRequest extends PlanSaving {
  readonly select?: string;
  readonly changed_since?: string;
  readonly shard?: string;
  /** Those of `--var` that its plans hold. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface BundleHead {
  readonly plan_bundle_version: typeof VERSION;
  readonly trueup_version: string;
  /** The run that made it. */
  readonly run: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** `--env`; null without it. */
  readonly env: string | null;
  /** Names that `--allow` gave; absent in bundles of earlier versions. */
  readonly allow?: readonly string[];
  /** Absent in bundles of earlier versions, and where it is not known as a whole. */
  readonly asked?: BundleRequest;
  readonly tenants: readonly BundledTenant[];
}

export interface Bundle extends BundleHead {
  readonly digest: string;
  /** @throws Refusal where the plan is damaged, or has expired (exit 6) */
  readonly planOf: (tenant: string) => PlanFile | undefined;
}

/** The bundle as text, with a line feed after each part. */
export function bundleText(
  head: Omit<BundleHead, 'plan_bundle_version'>,
  plans: ReadonlyMap<string, PlanFile>,
): string {
  const content = { plan_bundle_version: VERSION, ...head } as const;
  const lines = [...plans].map(([tenant, plan]) => ({ tenant, plan }));
  return [{ ...content, digest: digest(content) }, ...lines]
    .map((one) => `${wireText(sorted(one))}\n`)
    .join('');
}

/**
 * Every plan of it was read once, and fits the head.
 * @param again as in `BundleText`
 * @throws Refusal where it is missing, damaged anywhere, encrypted to others, expired (exit 6), or of a newer version
 */
export async function readBundle(
  { clock, ...file }: PlanFileOptions,
  identity?: Secret,
  again?: BundleText['again'],
): Promise<Bundle> {
  const text = await readProtected({ ...file, command: COMMAND }, identity);
  const bundle = bundleIn(text, { path: file.path, clock, again });
  for (const { tenant } of bundle.tenants) bundle.planOf(tenant);
  return bundle;
}

interface BundleText extends Pick<PlanFileOptions, 'path' | 'clock'> {
  /** How a bundle that has expired is made again: words after `Make the plan`. */
  readonly again?: ((head: BundleHead) => () => string) | undefined;
}

/** @throws Refusal where the head is damaged, or of a newer version */
export function bundleIn(text: string, { path, clock, again }: BundleText): Bundle {
  const top = { line: 1, column: 1 };
  const [first = '', ...lines] = text.split('\n');
  const parsed = parseJsonText(first);
  if ('brokenAt' in parsed || !isObject(parsed.value) || !('plan_bundle_version' in parsed.value))
    return damaged(path, top, 'it is not a bundle of plans', REMEDY);
  const { plan_bundle_version: written } = parsed.value;
  if (typeof written !== 'number' || written > VERSION)
    refuse(
      'newer-format',
      `${path} was written by a newer trueup: this one reads bundles up to version ${VERSION}`,
      {
        detail: 'Apply it with the version that made it.',
      },
    );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the digest proves that it was written here
  const { digest: claimed, ...head } = parsed.value as unknown as BundleHead & { digest: string };
  if (digest(head) !== claimed)
    damaged(path, top, 'its digest does not fit: it was edited after it was made', REMEDY);
  const named = new Map(head.tenants.map(({ tenant, plan }) => [tenant, plan]));
  const plans = new Map(
    lines.flatMap((line, index) => {
      const tenant = /"tenant":"([A-Za-z0-9._-]+)"\}$/.exec(line)?.[1];
      return tenant === undefined ? [] : [[tenant, { line, number: index + 2 }] as const];
    }),
  );
  return {
    ...head,
    digest: claimed,
    planOf(tenant) {
      const wanted = named.get(tenant) ?? null;
      if (wanted === null) return undefined;
      const found = plans.get(tenant);
      const place = { line: found?.number ?? lines.length + 1, column: 1 };
      if (!found)
        return damaged(path, place, `it ends, and the plan of ${tenant} is not in it`, REMEDY);
      const [, text = ''] = /^\{"plan":(.*),"tenant":"[^"]*"\}$/s.exec(found.line) ?? [];
      const plan = planIn(text, {
        path,
        clock,
        command: COMMAND,
        line: place.line,
        again: again && (() => again(head)),
      });
      return plan.digest === wanted
        ? plan
        : damaged(path, place, `the plan of ${tenant} is not the one that the head names`, REMEDY);
    },
  };
}
