// Writes a live estate for Terraform and OpenTofu, in the format of `terraform fmt`: resources with references, and
// import blocks, so that the first plan imports and changes nothing.
import { deletedLast, type Kind, type Kinds, type Values } from '../../model/index.js';
import {
  literalCode,
  codeMembers,
  type Code,
  type CodeMember,
  type ExportLanguage,
} from './code.js';
import {
  exportedEntriesOf,
  remarksOf,
  showing,
  type ExportedDeclaration,
  type ExportedObjects,
} from './declarations.js';

const SOURCE = 'trueup/devicecloud';

/** File texts by name: one for each kind that has objects, and two that name the provider, whose `version` is ours. */
export function writeHcl(
  kinds: Kinds,
  estate: ExportedObjects,
  version: string,
): ReadonlyMap<string, string> {
  const entries = exportedEntriesOf(kinds, estate);
  if (entries.size === 0) return new Map();
  const blocks = (list: readonly ExportedDeclaration[]): string =>
    list.map((entry) => block(entry, kinds)).join('\n');
  return new Map([
    ['versions.tf', versionsFile(version)],
    ['provider.tf', providerFile],
    ...[...entries].map(([{ name }, list]) => [`${name}.tf`, blocks(list)] as const),
  ]);
}

const versionsFile = (version: string): string => `terraform {
  required_providers {
    devicecloud = {
      source  = "${SOURCE}"
      version = "~> ${version}"
    }
  }
}
`;

const providerFile = `# Addresses and credentials come from the environment: TRUEUP_V2_URL and the others that trueup doctor names.
provider "devicecloud" {}

# What has create_before_destroy is deleted after what names it was changed. Terraform goes by it from the apply on
# that follows the import.
`;

/** The type of a kind's resources, for Terraform. */
const typeOf = ({ singular }: Kind): string => `devicecloud_${singular}`;

function block(entry: ExportedDeclaration, kinds: Kinds): string {
  const { kind, name, id, values, secrets, masked } = entry;
  const imported =
    id === undefined ? '' : `import {\n  to = ${typeOf(kind)}.${name}\n  id = ${quoted(id)}\n}\n\n`;
  const hints = [
    ...secrets.map(
      (path) =>
        `${path} reads back masked and is left out; to manage it, write ${lastOf(path)}_wo, a sensitive variable, and ${lastOf(path)}_wo_version`,
    ),
    ...masked.map((path) => `${path} reads back masked and is left out`),
  ];
  const remarks = (list: readonly string[], margin: string): string =>
    list.map((text) => `${margin}# ${text}\n`).join('');
  const body = `${remarks(hints, '  ')}${attributesHcl(kind, kinds, values)}`;
  const parts = [
    body,
    ...(deletedLast(kind, kinds) ? ['  lifecycle {\n    create_before_destroy = true\n  }\n'] : []),
  ].filter((part) => part !== '');
  return `${imported}${remarks(remarksOf(entry), '')}resource "${typeOf(kind)}" "${name}" {\n${parts.join('\n')}}\n`;
}

/** The lines inside the block of a resource or data source. */
export const attributesHcl = (kind: Kind, kinds: Kinds, values: Values): string =>
  assigned(codeMembers(kind.attributes, values, languageOf(kinds)), '  ');

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

function languageOf(kinds: Kinds): ExportLanguage {
  const language: ExportLanguage = {
    quoted,
    nameOf: (attribute) => attribute,
    keyOf: (key) => (IDENTIFIER.test(key) ? key : quoted(key)),
    referring({ target, attribute }) {
      const dot = target.indexOf('.');
      const kind = kinds.get(target.slice(0, dot))!;
      return `${typeOf(kind)}.${target.slice(dot + 1)}.${attribute}`;
    },
    document(value) {
      const code = literalCode(value, language);
      return typeof code === 'string' ? `jsonencode(${code})` : { ...code, call: 'jsonencode' };
    },
  };
  return language;
}

const WIDEST = 120;

function written(code: Code, margin: string): string {
  if (typeof code === 'string') return code;
  const { call } = code;
  const bare = 'items' in code ? bracketed(code.items, margin) : braced(code.members, margin);
  return call === undefined ? bare : `${call}(${bare})`;
}

function bracketed(codes: readonly Code[], margin: string): string {
  const items = codes.map((code) => written(code, `${margin}  `));
  const line = `[${items.join(', ')}]`;
  if (items.length === 0 || (!line.includes('\n') && line.length + margin.length < WIDEST))
    return line;
  return `[\n${items.map((item) => `${margin}  ${item},\n`).join('')}${margin}]`;
}

const braced = (members: readonly CodeMember[], margin: string): string =>
  members.length === 0 ? '{}' : `{\n${assigned(members, `${margin}  `)}${margin}}`;

/** One assignment a line; where neighbours stay on theirs, their equals signs stand below one another. */
function assigned(codes: readonly CodeMember[], margin: string): string {
  const members = codes.map(([key, code]) => [key, written(code, margin)] as const);
  const widths = members.map(([key, text]) => (text.includes('\n') ? 0 : columns(key)));
  const padding = (index: number): string => {
    if (widths[index] === 0) return '';
    const [before, after] = [widths.lastIndexOf(0, index), widths.indexOf(0, index)];
    const widest = Math.max(...widths.slice(before + 1, after < 0 ? undefined : after));
    return ' '.repeat(widest - widths[index]!);
  };
  return members
    .map(([key, text], index) => `${margin}${key}${padding(index)} = ${text}\n`)
    .join('');
}

/** Columns as a terminal and `terraform fmt` count them. */
const columns = (text: string): number =>
  [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].length;

const IDENTIFIER = /^(?!for$)[A-Za-z_][\w-]*$/;

/** Neither JSON's short escapes `\b` and `\f` nor a surrogate by itself exist in HCL; `${` and `%{` begin templates there. */
function quoted(text: string): string {
  const pairs = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/g;
  return showing(JSON.stringify(text.replace(/\p{Cs}/gu, '\ufffd')))
    .replace(
      /(\\\\)|\\b|\\f/g,
      (escape, backslash?: string) => backslash ?? `\\u00${escape === '\\b' ? '08' : '0c'}`,
    )
    .replace(
      pairs,
      (_, high: string, low: string) => `\\U${codePoint(high, low).toString(16).padStart(8, '0')}`,
    )
    .replace(/[$%](?=\{)/g, '$&$&');
}

const codePoint = (high: string, low: string): number =>
  String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0)!;
