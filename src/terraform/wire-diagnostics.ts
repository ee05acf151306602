// Converts diagnostics to Terraform's form: attribute paths in its steps, and the kind of object instead of an address,
// because Terraform names the resource itself and an address of the journal means nothing to users.
import {
  defined,
  Refusal,
  resourceBlock,
  walk,
  type Attribute,
  type Attributes,
  type Diagnostic,
  type Kind,
} from '../model/index.js';
import { writeOnly } from './convert.js';
import type { Path, PathStep } from './protocol/cty.js';
import type { WireDiagnostic } from './protocol/provider-replies.js';

export const wordsFor = (kind: Pick<Kind, 'singular'>): string =>
  `the ${kind.singular.replaceAll('_', ' ')}`;

/** Terraform's path for `steps` of a declaration; it ends at values that have no steps in Terraform: sets, texts of documents, secrets. */
export function pathOf(attributes: Attributes, steps: readonly string[]): Path {
  const path: PathStep[] = [];
  let [within, at]: [Attributes | undefined, Attribute | undefined] = [attributes, undefined];
  for (const step of steps) {
    if (within) {
      at = Object.hasOwn(within, step) ? within[step] : undefined;
      if (!at) break;
      path.push(at.secret ? writeOnly(step) : step);
    } else if (at?.word === 'list') {
      path.push(Number(step));
      at = at.of;
    } else if (at?.word === 'map') {
      path.push({ key: step });
      at = at.of;
    } else break;
    within = at.word === 'object' ? at.attributes : undefined;
  }
  return path;
}

/** A text with its attributes named as the configuration writes them. A name without dots is one only in backquotes. */
function asWritten({ attributes }: Kind, text: string): string {
  const secrets = [...walk(attributes)].filter(([, { secret }]) => secret);
  return secrets.reduce((said, [path]) => {
    const name = path.replaceAll('.', String.raw`\.`);
    const pattern = path.includes('.') ? `(?<![\\w.])${name}(?!\\w)` : `(?<=\`)${name}(?=\`)`;
    return said.replaceAll(new RegExp(pattern, 'g'), writeOnly(path));
  }, text);
}

/** An error in Terraform's form. An empty path is left out. */
export const wireError = (path: Path, summary: string, detail?: string): WireDiagnostic => ({
  severity: 'error',
  summary,
  ...defined({ detail, path: path.length > 0 ? path : undefined }),
});

export function wireDiagnosticOf(
  kind: Kind,
  one: Pick<Diagnostic, 'severity' | 'summary' | 'detail' | 'attribute' | 'address'>,
): WireDiagnostic {
  const named =
    one.address === undefined ? one.summary : one.summary.replaceAll(one.address, wordsFor(kind));
  const summary = asWritten(kind, named)
    .replace('outside of trueup', 'outside of Terraform')
    .replace(/\.$/, '');
  return {
    severity: one.severity === 'error' ? 'error' : 'warning',
    summary: summary.charAt(0).toUpperCase() + summary.slice(1),
    ...(one.detail !== undefined && { detail: asWritten(kind, one.detail) }),
    ...(one.attribute !== undefined && {
      path: pathOf({ ...kind.attributes, ...resourceBlock(kind) }, one.attribute.split('.')),
    }),
  };
}

/** A document has no write-only part here, so a password in it cannot be declared. */
const MASKED =
  'Manage this router with trueup itself, where a secret inside a document is one. Where a PATCH can make the change, and the deployment takes it, configuration_writes = "patch" in the provider block helps as well.';

/** A refusal as errors about an object of the kind; anything else is a bug and is thrown again. */
export function complaints(kind: Kind, error: unknown): readonly WireDiagnostic[] {
  if (!(error instanceof Refusal)) throw error;
  return error.diagnostics.map((one) => ({
    ...wireDiagnosticOf(
      kind,
      one.code === 'masked-configuration' ? { ...one, detail: MASKED } : one,
    ),
    severity: 'error',
  }));
}
