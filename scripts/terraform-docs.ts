// The reference of the provider as Markdown, read from the schemas that Terraform itself is given.
import type { CtyType } from '../src/terraform/protocol/cty.js';
import { cell, codes, page, table } from './markdown.js';
import type {
  FunctionSchema,
  ProviderSchema,
  Schema,
  SchemaAttribute,
} from '../src/terraform/protocol/provider-replies.js';

export function terraformPage(schema: ProviderSchema): string {
  const { provider, resources, dataSources, lists, functions } = schema;
  const section = (word: string, blocks: Readonly<Record<string, Schema>>): readonly string[] =>
    Object.entries(blocks).flatMap(([name, schema]) => [
      `### ${word === 'data' ? `data ${name}` : name}`,
      schema.description,
      attributeTable(schema.attributes),
    ]);
  const sections = [
    '# Types of the provider',
    'What the provider does with them: [the Terraform provider](terraform-provider.md). Nested attributes are named with dots.',
    '## Provider',
    provider.description,
    attributeTable(provider.attributes),
    '## Resources',
    ...section('resource', resources),
    '## Data sources',
    ...section('data', dataSources),
    '## List resources',
    'The `config` of each takes these attributes, all optional.',
    table(
      ['list', 'attributes'],
      Object.entries(lists).map(
        ([name, { attributes }]) => `| \`${name}\` | ${codes(attributes.map((one) => one.name))} |`,
      ),
    ),
    '## Functions',
    ...Object.entries(functions).flatMap(([name, one]) => [
      `### ${signature(name, one)}`,
      one.description,
    ]),
  ];
  return page(sections);
}

/** `canonical_url(url string) string` */
export const signature = (name: string, { parameters, returns }: FunctionSchema): string =>
  `\`${name}(${parameters.map((one) => `${one.name} ${spelled(one.type)}`).join(', ')}) ${spelled(returns)}\``;

export const attributeTable = (attributes: readonly SchemaAttribute[]): string =>
  table(['attribute', 'type', '', ''], rows(attributes, ''));

function rows(attributes: readonly SchemaAttribute[], prefix: string): readonly string[] {
  return attributes.flatMap((attribute) => {
    const { name, nested, block, description } = attribute;
    const type = nested ? nestings[nested.nesting] : spelled(attribute.type as CtyType);
    const row = `| \`${prefix}${name}\` | ${block ? 'block' : type} | ${uses(attribute)} | ${cell(description)} |`;
    return [row, ...(nested ? rows(nested.attributes, `${prefix}${name}.`) : [])];
  });
}

const nestings = {
  SINGLE: 'object',
  LIST: 'list of objects',
  SET: 'set of objects',
  MAP: 'map of objects',
} as const;

function spelled(type: CtyType): string {
  if (typeof type === 'string') return type;
  return type[0] === 'object' ? 'object' : `${type[0]}(${spelled(type[1])})`;
}

function uses(attribute: SchemaAttribute): string {
  const { required, optional, block, computed, sensitive, write_only } = attribute;
  const words = {
    required,
    optional: optional ?? block,
    computed,
    'write-only': write_only,
    sensitive,
  };
  return Object.entries(words)
    .flatMap(([word, holds]) => (holds ? [word] : []))
    .join(', ');
}
