// Writes declarations as YAML that can be loaded as it is, for `export` and the reference docs.
import { isList, isObject, type Json, type Kinds, mapMembers } from '../../model/index.js';
import { spell } from '../interpolate.js';
import {
  exportedEntriesOf,
  showing,
  type ExportedDeclaration,
  type ExportedObjects,
} from './declarations.js';

/**
 * File text for each kind that has objects. Attributes of the server, empty ones and secrets are left out (secrets with
 * a comment that says how to write them); identifiers of other exported objects become references to them.
 */
export function writeDeclarations(
  kinds: Kinds,
  estate: ExportedObjects,
): ReadonlyMap<string, string> {
  return new Map(
    [...exportedEntriesOf(kinds, estate)].map(([{ name }, entries]) => [
      name,
      `${name}:\n${entries.map(writeDeclaration).join('\n\n')}\n`,
    ]),
  );
}

function writeDeclaration(declaration: ExportedDeclaration): string {
  const { name, values, id, comments, secrets, masked, isEqual } = declaration;
  const remarks = comments.map((comment) => `  # ${comment}`);
  const hints = [...secrets, ...masked].map(
    (path) =>
      `    # ${path} reads back masked and is left out; to manage it, write "\${secret.env.NAME}"`,
  );
  const members = {
    ...mapMembers(values, spell),
    ...(id !== undefined && {
      lifecycle: { adopt: id, ...(isEqual && { allow_duplicate: true }) },
    }),
  };
  return [...remarks, `  ${scalar(name)}:`, ...hints, ...yamlLines(members, 4)].join('\n');
}

const WIDEST = 120;

/** A tree as block YAML, `indent` spaces in; collections of plain values stay on one line while they fit. */
export function yamlLines(tree: Readonly<Record<string, Json>>, indent: number): readonly string[] {
  const margin = ' '.repeat(indent);
  return Object.entries(tree).flatMap(([name, value]) => {
    const key = `${margin}${scalar(name)}:`;
    const short = inline(value);
    if (short !== undefined && key.length + short.length < WIDEST) return [`${key} ${short}`];
    if (isList(value)) return [key, ...value.flatMap((item) => itemLines(item, indent + 2))];
    return isObject(value) ? [key, ...yamlLines(value, indent + 2)] : [`${key} ${short}`];
  });
}

function itemLines(item: Json, indent: number): readonly string[] {
  const margin = ' '.repeat(indent);
  const short = inline(item);
  if (short !== undefined || !isObject(item)) return [`${margin}- ${short ?? asJson(item)}`];
  const [first = '', ...rest] = yamlLines(item, indent + 2);
  return [`${margin}- ${first.trimStart()}`, ...rest];
}

/** One line for a scalar, for an object that holds scalars only, and for a list without objects. */
function inline(value: Json): string | undefined {
  if (isList(value)) {
    const items = value.map((item) => (isObject(item) ? undefined : inline(item)));
    return items.includes(undefined) ? undefined : `[${items.join(', ')}]`;
  }
  if (!isObject(value)) return scalar(value);
  const members = Object.entries(value);
  if (members.some(([, item]) => isObject(item) || Array.isArray(item))) return undefined;
  return members.length === 0
    ? '{}'
    : `{ ${members.map(([key, item]) => `${scalar(key)}: ${scalar(item)}`).join(', ')} }`;
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_./ -]*(?<! )$/;
const RESERVED = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/** JSON, which is YAML too, with what cannot be seen as escapes. */
const asJson = (value: Json): string => showing(JSON.stringify(value));

/** A scalar as it may stand anywhere. */
function scalar(value: Json): string {
  return typeof value === 'string' && PLAIN.test(value) && !RESERVED.test(value)
    ? value
    : asJson(value);
}
