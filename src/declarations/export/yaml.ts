// Writes declarations as YAML that can be loaded as it is, for `export` and the reference docs.
import {
  append,
  groupedBy,
  isList,
  isObject,
  mapMembers,
  type Json,
  type Kinds,
} from '../../model/index.js';
import { spell } from '../interpolate.js';
import { withEscapedKeys } from '../literal-keys.js';
import { limits } from '../yaml/raw-values.js';
import {
  declarationName,
  exportedEntriesOf,
  remarksOf,
  showing,
  type ExportedObjects,
} from './declarations.js';
import {
  foldedDeclarations,
  type FoldedDeclaration,
  type FoldedMember,
  type FoldingChoices,
} from './fold.js';

/**
 * File texts by name. Attributes of the server, empty ones and secrets are left out (secrets with a comment that says
 * how to write them); identifiers of other exported objects become references to them. Objects of one file that
 * differ in one reference alone become one declaration. Labels are those of what is not written, too: a folded
 * declaration is named after them. Without `fileOf`, each kind has a file.
 */
export function writeDeclarations(
  kinds: Kinds,
  estate: ExportedObjects,
  {
    labels = () => undefined,
    nameFor = declarationName,
    taken = new Map(),
    fileOf = ({ name }) => `${name}.yaml`,
  }: Partial<FoldingChoices> = {},
): ReadonlyMap<string, string> {
  const files = new Map<string, Written[]>();
  for (const [kind, entries] of exportedEntriesOf(kinds, estate))
    for (const one of foldedDeclarations(entries, kinds, { labels, nameFor, taken, fileOf })) {
      const id = one.each?.members[0]?.id ?? one.id;
      append(files, fileOf(kind, id), { kind: kind.name, text: writeDeclaration(one) });
    }
  return new Map(
    [...files].flatMap(([file, all]) =>
      loadable(all).map((part, index) => [
        index === 0 ? file : file.replace(/\.yaml$/, `-${index + 1}.yaml`),
        sectionsOf(part),
      ]),
    ),
  );
}

interface Written {
  readonly kind: string;
  readonly text: string;
}

/** Half of what a file may hold that is loaded: a person adds to it. */
const LARGEST = limits.bytes / 2;

/** Divided into files that can be loaded. */
function loadable(all: readonly Written[]): readonly (readonly Written[])[] {
  const parts: Written[][] = [];
  let size = Infinity;
  for (const one of all) {
    const bytes = Buffer.byteLength(one.text);
    size += bytes;
    if (size > LARGEST) {
      parts.push([]);
      size = bytes;
    }
    parts.at(-1)!.push(one);
  }
  return parts;
}

const sectionsOf = (all: readonly Written[]): string =>
  [...groupedBy(all, ({ kind }) => kind)]
    .map((texts) => `${texts[0]!.kind}:\n${texts.map(({ text }) => text).join('\n\n')}\n`)
    .join('\n');

function writeDeclaration(declaration: FoldedDeclaration): string {
  const { name, values, secrets, masked, isEqual, each } = declaration;
  const remarks = remarksOf(declaration).map((comment) => `  # ${comment}`);
  const hints = [...secrets, ...masked].map(
    (path) =>
      `    # ${path} reads back masked and is left out; to manage it, write "\${secret.env.NAME}"`,
  );
  const adopt = each ? '${each.value.adopt}' : declaration.id;
  const members = {
    ...mapMembers(values, (value) => withEscapedKeys(spell(value))),
    ...each?.written,
    ...(adopt !== undefined && {
      lifecycle: { adopt, ...(isEqual && { allow_duplicate: true }) },
    }),
  };
  const forEach = each ? ['    for_each:', ...each.members.flatMap(memberLines)] : [];
  return [...remarks, `  ${scalar(name)}:`, ...hints, ...forEach, ...yamlLines(members, 4)].join(
    '\n',
  );
}

const memberLines = ({ key, id, comments, own }: FoldedMember): readonly string[] => [
  ...comments.map((comment) => `      # ${comment}`),
  ...yamlLines({ [key]: { ...own, adopt: id } }, 6),
];

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
export function scalar(value: Json): string {
  return typeof value === 'string' && PLAIN.test(value) && !RESERVED.test(value)
    ? value
    : asJson(value);
}
