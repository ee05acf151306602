// ValidateResourceConfig: the command line's own complaints about a declaration, each with its attribute path. What is
// not known yet is fine wherever it stands.
import {
  defined,
  type Attribute,
  type Attributes,
  type Declaration,
  type Diagnostic,
  type JsonObject,
  type Kind,
} from '../model/index.js';
import { isRecord, rawOf, tryDocument, valuesOf, versionOf, writeOnly } from './convert.js';
import type { CtyObject, Path } from './protocol/cty.js';
import { pathOf, wireDiagnosticOf } from './wire-diagnostics.js';
import type { WireDiagnostic } from './protocol/provider-server.js';
import { timeoutError } from './timeouts.js';

/** What is wrong with a declaration that stands in no file; `path` leads to it, step by step. */
export interface ConfigError extends Pick<Diagnostic, 'severity' | 'summary' | 'detail'> {
  readonly path: readonly string[];
}

/** Complaints about a declaration, whose form as in a file is `raw`. */
export type ConfigCheck = (
  kind: Kind,
  raw: JsonObject,
  declaration: Declaration,
) => Promise<readonly ConfigError[]>;

export async function configComplaints(
  check: ConfigCheck,
  kind: Kind,
  config: CtyObject,
  writeOnlyAllowed: boolean,
): Promise<readonly WireDiagnostic[]> {
  const own: WireDiagnostic[] = [...timeoutError(kind, config)];
  complain(own, kind.attributes, config, [], writeOnlyAllowed);
  const found = await check(kind, rawOf(kind.attributes, config), declarationOf(kind, config));
  return [
    ...own,
    ...found
      .filter(({ path }) => !own.some((one) => one.path?.[0] === path[0]))
      .map((one) => wired(kind, one)),
  ];
}

function wired(kind: Kind, { path, severity, summary, detail }: ConfigError): WireDiagnostic {
  const said = wireDiagnosticOf(kind, {
    severity,
    summary,
    address: addressOf(kind),
    ...defined({ detail }),
  });
  const at = pathOf(kind.attributes, path);
  return { ...said, ...(at.length > 0 && { path: at }) };
}

const addressOf = (kind: Kind): string => `${kind.name}.this`;
const nowhere = { file: '', line: 1, column: 1 };

function declarationOf(kind: Kind, config: CtyObject): Declaration {
  return {
    address: addressOf(kind),
    kind: kind.name,
    name: 'this',
    values: valuesOf(kind.attributes, config),
    lifecycle: {},
    origin: nowhere,
    at: () => nowhere,
  };
}

/** What only terraform's form of a declaration can have wrong: documents whose text is no JSON, and write-only values. */
function complain(
  to: WireDiagnostic[],
  attributes: Attributes,
  block: CtyObject,
  path: Path,
  writeOnlyAllowed: boolean,
): void {
  for (const [name, attribute] of Object.entries(attributes)) {
    const held = block[name] ?? null;
    if (attribute.secret) secretError(to, name, attribute, block, path, writeOnlyAllowed);
    else if (held === null) continue;
    else if (attribute.word === 'object' && isRecord(held))
      complain(to, attribute.attributes, held, [...path, name], writeOnlyAllowed);
    else if (
      attribute.word === 'document' &&
      typeof held === 'string' &&
      tryDocument(held) === undefined
    )
      to.push({
        severity: 'error',
        summary: `\`${name}\` is not JSON`,
        detail: 'Write it with jsonencode(…).',
        path: [...path, name],
      });
  }
}

function secretError(
  to: WireDiagnostic[],
  name: string,
  attribute: Attribute,
  block: CtyObject,
  path: Path,
  allowed: boolean,
): void {
  const held = block[writeOnly(name)] ?? null;
  const given = held !== null;
  if (given && !allowed)
    to.push({
      severity: 'error',
      summary: `\`${writeOnly(name)}\` needs Terraform 1.11 or later`,
      detail:
        'This one would keep its value in the state. Update Terraform, or leave the attribute out.',
      path: [...path, writeOnly(name)],
    });
  if (held === '')
    to.push({
      severity: 'error',
      summary: `\`${writeOnly(name)}\` is empty`,
      detail: attribute.doc,
      path: [...path, writeOnly(name)],
    });
  if (!given && ((block[versionOf(name)] ?? null) !== null || attribute.optional !== true))
    to.push({
      severity: 'error',
      summary: `\`${writeOnly(name)}\` is missing`,
      detail: attribute.doc,
      path: [...path, writeOnly(name)],
    });
}
