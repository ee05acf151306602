// ValidateResourceConfig: the same errors for a declaration as on the command line, each with its attribute path.
// Unknown values are allowed everywhere.
import type {
  Attribute,
  Attributes,
  ConfigCheck,
  ConfigError,
  Declaration,
  Kind,
} from '../model/index.js';
import { isRecord, rawOf, tryDocument, valuesOf, versionOf, writeOnly } from './convert.js';
import type { CtyObject, Path } from './protocol/cty.js';
import { pathOf, wireDiagnosticOf, wireError } from './wire-diagnostics.js';
import type { WireDiagnostic } from './protocol/provider-replies.js';
import { timeoutError } from './timeouts.js';

export async function configComplaints(
  check: ConfigCheck,
  kind: Kind,
  config: CtyObject,
  writeOnlyAllowed: boolean,
): Promise<readonly WireDiagnostic[]> {
  const own = [
    ...timeoutError(config),
    ...formErrors(kind.attributes, config, [], writeOnlyAllowed),
  ];
  const found = await check(kind, rawOf(kind.attributes, config), declarationOf(kind, config));
  return [
    ...own,
    ...found
      .filter(({ path }) => !own.some((one) => one.path?.[0] === path[0]))
      .map((one) => wired(kind, one)),
  ];
}

function wired(kind: Kind, { path, ...error }: ConfigError): WireDiagnostic {
  const at = pathOf(kind.attributes, path);
  return {
    ...wireDiagnosticOf(kind, { ...error, address: addressOf(kind) }),
    ...(at.length > 0 && { path: at }),
  };
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

/** Errors that only terraform's form of a declaration can have: documents whose text is no JSON, and write-only values. */
function* formErrors(
  attributes: Attributes,
  block: CtyObject,
  path: Path,
  writeOnlyAllowed: boolean,
): Generator<WireDiagnostic> {
  for (const [name, attribute] of Object.entries(attributes)) {
    const held = block[name] ?? null;
    const at = [...path, name];
    if (attribute.secret) yield* secretErrors([name, attribute], block, path, writeOnlyAllowed);
    else if (attribute.word === 'object' && isRecord(held))
      yield* formErrors(attribute.attributes, held, at, writeOnlyAllowed);
    else if (
      attribute.word === 'document' &&
      typeof held === 'string' &&
      tryDocument(held) === undefined
    )
      yield wireError(at, `\`${at.join('.')}\` is not JSON`, 'Write it with jsonencode(…).');
  }
}

function* secretErrors(
  [name, attribute]: readonly [name: string, attribute: Attribute],
  block: CtyObject,
  path: Path,
  allowed: boolean,
): Generator<WireDiagnostic> {
  const key = writeOnly(name);
  const held = block[key] ?? null;
  const given = held !== null;
  const at = [...path, key];
  const error = (what: string, detail: string) =>
    wireError(at, `\`${at.join('.')}\` ${what}`, detail);
  if (given && !allowed)
    yield error(
      'needs Terraform 1.11 or later',
      'This one would keep its value in the state. Update Terraform, or leave the attribute out.',
    );
  if (held === '') yield error('is empty', attribute.doc);
  if (!given && ((block[versionOf(name)] ?? null) !== null || attribute.optional !== true))
    yield error('is missing', attribute.doc);
}
