// Reference pages of the kinds, and of what is only read, as Markdown.
import { yamlLines } from '../src/declarations/writing.js';
import { cell, codes, page, table } from './markdown.js';
import {
  filterNames,
  removals,
  shortFilter,
  walk,
  type Attribute,
  type Attributes,
  type Collection,
  type Kind,
} from '../src/model/index.js';

function words(attribute: Attribute): string {
  switch (attribute.word) {
    case 'choice':
      return `one of ${attribute.values.map((value) => `\`${value}\``).join(', ')}${attribute.open ? ', or another' : ''}`;
    case 'ref':
      return `identifier of ${attribute.to}`;
    case 'list':
    case 'set':
    case 'map':
      return `${attribute.word} of ${words(attribute.of)}`;
    case 'document':
      return attribute.wire !== 'merge'
        ? 'any mapping, or null'
        : attribute.computed === true
          ? '`[object, list of paths]`'
          : '`[object to merge, list of removed paths]`, or the object alone';
    case 'flag':
      return 'boolean';
    case 'text':
      return 'string';
    default:
      return attribute.word;
  }
}

function traits(attribute: Attribute): string {
  if (attribute.computed === true) return 'computed';
  const named = [
    attribute.optional === true ? 'optional' : 'required',
    ...(attribute.immutable === true ? ['immutable'] : []),
    ...(attribute.secret === true ? ['secret'] : []),
  ];
  return named.join(', ');
}

function attributeTable(attributes: Attributes): string {
  const rows = [...walk(attributes)].map(
    ([path, attribute]) =>
      `| \`${path}\` | ${cell(words(attribute))} | ${traits(attribute)} | ${cell(attribute.doc)} |`,
  );
  return table(['attribute', 'value', '', ''], rows);
}

function identity(kind: Kind): string {
  if (kind.identity === 'content')
    return 'An object created outside of trueup is recognised by its exact content: every writable attribute, undeclared ones being empty.';
  return `An object created outside of trueup is recognised by ${kind.identity.map((name) => `\`${name}\``).join(' and ')}.`;
}

function verbs({ operations: { create, update, delete: remove } }: Kind): string {
  const can = [
    ...(create ? ['created'] : []),
    ...(update ? ['changed'] : []),
    ...(remove ? ['deleted'] : []),
  ];
  const cannot = ['created', 'changed', 'deleted'].filter((verb) => !can.includes(verb));
  return `Objects can be read, adopted${can.map((verb) => `, ${verb}`).join('')} and forgotten.${cannot.length > 0 ? ` They cannot be ${cannot.join(' or ')} through the API.` : ''}`;
}

/** How a collection is listed: what it is asked by, when, and what a table shows of it. */
function listing(collection: Collection): readonly string[] {
  const { name, log, columns, operations } = collection;
  const { by_id, needs = [], expand = [], page, dialect } = operations;
  const names = filterNames(collection);
  const short = names.find((one) => !one.includes('…') && shortFilter(one) !== one);
  const lists = names.filter((one) => one.endsWith('_in'));
  const typed =
    needs.length > 0
      ? ` --filter ${needs[0]}=…`
      : operations.since === undefined && operations.time === undefined
        ? ''
        : ' --since 24h';
  const facts = [
    ...(by_id === undefined
      ? ['No record can be read by an ID.']
      : [`\`trueup get ${name} ID\` reads one.`]),
    names.length === 0
      ? 'There are no filters.'
      : `Filters: ${codes(names)}.${short === undefined ? '' : ` \`${shortFilter(short)}=\` is short for \`${short}=\`.`}`,
    ...(needs.length > 0
      ? [needs.length === 1 ? `\`${needs[0]}\` has to be given.` : 'One of them has to be given.']
      : []),
    ...(lists.length > 0
      ? [
          `${codes(lists)} ${lists.length === 1 ? 'takes' : 'take'} lists with commas: more than 100 values are asked for in parts.`,
        ]
      : []),
    ...times(collection),
    ...(expand.length > 0
      ? [
          `\`--expand\` takes ${dialect === 'v2' && expand.length > 1 ? 'one of ' : ''}${codes(expand)}.`,
        ]
      : []),
    ...(columns === undefined
      ? []
      : [`A table shows ${codes(columns)}; \`-o wide\` shows the rest.`]),
    `Pages have up to ${page.toLocaleString('en')} records.${log ? ' The list grows while it is read: a record that comes twice is dropped.' : ''}`,
  ];
  return [
    '## Listing',
    `\`\`\`sh\ntrueup get ${name}${typed}\n\`\`\``,
    facts.map((fact) => `- ${fact}`).join('\n'),
  ];
}

function times({ operations: { time, since, until } }: Collection): readonly string[] {
  const bounds = [since, until].filter((one) => one !== undefined);
  if (bounds.length > 0)
    return [`\`--since\` and \`--until\` are asked of the API, as ${codes(bounds)}.`];
  return time === undefined
    ? []
    : [`\`--since\` and \`--until\` bound \`${time}\`, which is compared here: all of it is read.`];
}

export function collectionPage(collection: Collection): string {
  const { name, doc, attributes, id } = collection;
  const rows = [...walk(attributes)].map(
    ([path, attribute]) => `| \`${path}\` | ${cell(words(attribute))} | ${cell(attribute.doc)} |`,
  );
  const fields =
    rows.length === 0
      ? 'What a record holds is not documented: it passes as it is, and a table shows what some record has.'
      : `${table(['field', 'value', ''], rows)}\n\n${id === undefined ? '' : `A record is identified by \`${id}\`. `}Fields that are not listed here pass as they are.`;
  const sections = [
    `# ${name}`,
    `${doc} It can only be read: by \`get\`, and by [expectations](../expectations.md).`,
    ...listing(collection),
    '## Fields',
    fields,
  ];
  return page(sections, FROM_KIND);
}

const FROM_KIND = " from the kind's own file";

export function kindPage(kind: Kind): string {
  const sections = [
    `# ${kind.name}`,
    kind.doc,
    `\`\`\`yaml\n${yamlLines({ [kind.name]: { example: kind.example } }, 0).join('\n')}\n\`\`\``,
    '## Attributes',
    attributeTable(kind.attributes),
    `References to an object are \`\${${kind.name}.<name>.<attribute>}\`; its identifier is \`${kind.id}\`. Computed attributes belong to the server and are never declared.`,
    '## Identity and verbs',
    `${identity(kind)} ${verbs(kind)}`,
    `\`lifecycle.on_removal\` takes ${removals(kind)
      .map((word, index) => `\`${word}\`${index === 0 ? ' (the default)' : ''}`)
      .join(', ')}.`,
    ...listing(kind),
  ];
  return page(sections, FROM_KIND);
}

/** @param others what is only read @param externals what is only referred to: a sentence by name */
export function indexPage(
  kinds: readonly Kind[],
  others: readonly Collection[],
  externals: Readonly<Record<string, string>>,
): string {
  const rows = (list: readonly Collection[]): string =>
    list.map(({ name, doc }) => `| [${name}](${name}.md) | ${cell(doc)} |`).join('\n');
  const sections = [
    '# Kinds',
    'What can be declared, and listed with `get`.',
    `| kind | |\n|---|---|\n${rows(kinds)}`,
    '## Collections that can only be read',
    `| collection | |\n|---|---|\n${rows(others)}`,
    '`trueup get access` is a view of accounts and authorizations together: the effective role of each user in each account. [What it shows](../audit.md#access-review).',
    '## External objects',
    `An attribute takes the identifier of such an object as it is.\n\n| name | |\n|---|---|\n${Object.entries(
      externals,
    )
      .map(([name, doc]) => `| ${name} | ${cell(doc)} |`)
      .join('\n')}`,
  ];
  return page(sections);
}
