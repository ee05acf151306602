// Terraform's schemas, generated from the kinds and collections, with the types and descriptions of Terraform.
import {
  asCondition,
  cached,
  compareText,
  holdsOnlySecrets,
  mapMembers,
  providerBlock,
  readDoc,
  recordsQuery,
  resourceBlock,
  storedKinds,
  wholeRecord,
  withId,
  type Attribute,
  type Attributes,
  type Collection,
  type Collections,
  type Kind,
  kindWords,
  type Kinds,
  type ProviderFunction,
  type ResourceBlock,
} from '../model/index.js';
import type { CtyType } from './protocol/cty.js';
import type {
  FunctionSchema,
  IdentitySchema,
  ProviderSchema,
  Schema,
  SchemaAttribute,
} from './protocol/provider-replies.js';

/** The provider's block, one resource and one data source per kind, and one plural data source per collection that can only be read. */
export function providerSchema(
  kinds: Kinds,
  collections: Collections,
  functions: readonly ProviderFunction[] = [],
): ProviderSchema {
  const ofKinds = <T>(schemaOf: (kind: Kind) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(
      [...storedKinds(kinds).values()].map((kind) => [typeName(kind.singular), schemaOf(kind)]),
    );
  const readOnly = [...collections.values()].filter(({ name }) => !kinds.has(name));
  return {
    provider: {
      version: 0,
      description: `Declares objects of a device cloud: ${kindWords(kinds)}.`,
      attributes: given(providerBlock),
    },
    resources: ofKinds((kind) => ({
      version: 0,
      description: kind.doc,
      attributes: [...resourceAttributes(withId(kind)), ...beside(resourceBlock(kind))],
    })),
    dataSources: {
      ...ofKinds(lookupSchema),
      ...Object.fromEntries(readOnly.map((one) => [typeName(one.name), recordsSchema(one)])),
    },
    lists: ofKinds(listSchema),
    identities: ofKinds(identityOf),
    functions: Object.fromEntries(functions.map((one) => [one.name, functionSchema(one)])),
  };
}

export const typeName = (name: string): string => `devicecloud_${name}`;

type Typed = Pick<SchemaAttribute, 'name' | 'type' | 'nested'>;

/** The object type that attributes make. */
export function typeOf(attributes: readonly Typed[]): CtyType {
  return cached(types, attributes, () =>
    objectType(attributes.map((one) => [one.name, attributeType(one)])),
  );
}

/** Members in the order in which core writes them: what it sends back has the bytes that it was sent. */
const objectType = (members: readonly (readonly [name: string, type: CtyType])[]): CtyType => [
  'object',
  Object.fromEntries(members.toSorted(([a], [b]) => compareText(a, b))),
];

/** Asked several times a call, of schemas that never change. */
const types = new WeakMap<readonly Typed[], CtyType>();

export function attributeType({ type, nested }: Typed): CtyType {
  if (!nested) return type!;
  const inner = typeOf(nested.attributes);
  return nested.nesting === 'SINGLE' ? inner : [collectionWords[nested.nesting], inner];
}

const collectionWords = { LIST: 'list', SET: 'set', MAP: 'map' } as const;

type Use = Pick<SchemaAttribute, 'required' | 'optional' | 'computed'>;
const required: Use = { required: true };
const optional: Use = { optional: true };
const computed: Use = { computed: true };
const either: Use = { optional: true, computed: true };

/** What a schema says of attributes and of those inside of them. @param tell beside the type; undefined for one that it leaves out */
const telling =
  (tell: (attribute: Attribute) => Omit<SchemaAttribute, keyof Typed> | undefined) =>
  (attributes: Attributes): readonly SchemaAttribute[] =>
    Object.entries(attributes).flatMap(([name, attribute]) => {
      const told = tell(attribute);
      return told ? [{ name, ...told, ...typed(attribute, telling(tell)) }] : [];
    });

/** Attributes that are only given; a secret stands under its own name. */
const given = telling(({ doc, secret }) => ({
  description: doc,
  ...optional,
  ...(secret && { sensitive: true }),
}));

/** What is no part of an object: blocks, as every provider has them. */
const beside = (block: ResourceBlock<Kind>): readonly SchemaAttribute[] =>
  Object.entries(block).map(([name, { doc, attributes }]) => ({
    name,
    block: true,
    description: doc,
    nested: { nesting: 'SINGLE', attributes: given(attributes) },
  }));

const resourceAttributes = (attributes: Attributes): readonly SchemaAttribute[] =>
  Object.entries(attributes).flatMap(([name, attribute]) =>
    attribute.secret
      ? secretAttributes(name, attribute)
      : {
          name,
          ...useOf(attribute),
          description: described(attribute),
          ...typed(attribute, resourceAttributes),
        },
  );

function useOf(attribute: Attribute): Use {
  if (attribute.computed) return computed;
  if (!attribute.optional) return required;
  return holdsOnlySecrets(attribute) ? optional : either;
}

/** Core keeps the value nowhere, so it cannot see that it changed: the version says so. */
function secretAttributes(name: string, { doc }: Attribute): readonly SchemaAttribute[] {
  return [
    {
      name: `${name}_wo`,
      type: 'string',
      description: `${doc} Write-only: never stored in a plan or the state.`,
      ...optional,
      sensitive: true,
      write_only: true,
    },
    {
      name: `${name}_wo_version`,
      type: 'number',
      description: `Change this number to send \`${name}_wo\` again.`,
      ...optional,
    },
  ];
}

/** The attributes that can be read, all used alike. */
const readable = (use: Use) =>
  telling((attribute) =>
    attribute.secret || holdsOnlySecrets(attribute)
      ? undefined
      : { ...use, description: described(asRead(attribute)) },
  );

/** Without what matters only to a write. */
const asRead = ({ immutable: _, ...attribute }: Attribute): Attribute => ({
  ...attribute,
  doc: readDoc(attribute),
});

/** The description of a kind; the other sentences of its doc are about matching and writing. */
const firstSentence = (doc: string): string => doc.split(/(?<=\.) /, 1)[0]!;

function lookupSchema(kind: Kind): Schema {
  return {
    version: 0,
    description: `${firstSentence(kind.doc)} Set attributes to select the object; exactly one object must match.`,
    attributes: readable(either)(withId(kind)),
  };
}

/** What the objects of a kind are selected by where they are listed. */
function listSchema(kind: Kind): Schema {
  const description = `${firstSentence(kind.doc)} Lists the objects that have all of these values.`;
  return { version: 0, description, attributes: given(asCondition(withId(kind))) };
}

/** A collection of which nothing is known gives each record whole. */
function recordsSchema({ doc, attributes }: Collection): Schema {
  const known = Object.keys(attributes).length > 0 ? attributes : wholeRecord;
  const records: SchemaAttribute = {
    name: 'records',
    description: 'The records, in the order of the API.',
    ...computed,
    nested: { nesting: 'LIST', attributes: readable(computed)(known) },
  };
  return { version: 0, description: doc, attributes: [...given(recordsQuery), records] };
}

function identityOf({ id, attributes, singular }: Kind): IdentitySchema {
  const description = attributes[id]?.doc ?? `Identifier of the ${singular}.`;
  return {
    version: 0,
    attributes: [{ name: id, type: 'string', description, required_for_import: true }],
  };
}

const functionSchema = ({
  doc,
  detail,
  parameters,
  returns,
}: ProviderFunction): FunctionSchema => ({
  summary: doc,
  description: `${doc} ${detail}`,
  parameters: Object.entries(parameters).map(([name, attribute]) => ({
    name,
    type: typeOfWord(attribute),
    description: attribute.doc,
  })),
  returns: typeOfWord(returns),
});

function described(attribute: Attribute): string {
  const words = [attribute.doc];
  if (attribute.word === 'choice')
    words.push(`${attribute.open ? 'Known' : 'One of'}: ${attribute.values.join(', ')}.`);
  if (attribute.word === 'document') words.push('JSON text, as `jsonencode` writes it.');
  if (attribute.immutable) words.push('Changing it forces replacement.');
  return words.join(' ');
}

/** An object, and a collection of objects, has attributes of its own; everything else has a type. */
function typed(
  attribute: Attribute,
  inside: (attributes: Attributes) => readonly SchemaAttribute[],
): Pick<SchemaAttribute, 'type' | 'nested'> {
  if (attribute.word === 'object')
    return { nested: { nesting: 'SINGLE', attributes: inside(attribute.attributes) } };
  if (!('of' in attribute) || attribute.of.word !== 'object')
    return { type: typeOfWord(attribute) };
  return {
    nested: { nesting: nestings[attribute.word], attributes: inside(attribute.of.attributes) },
  };
}

const nestings = { list: 'LIST', set: 'SET', map: 'MAP' } as const;

function typeOfWord(attribute: Attribute): CtyType {
  switch (attribute.word) {
    case 'text':
    case 'choice':
    case 'ref':
    case 'document':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'flag':
      return 'bool';
    case 'list':
    case 'set':
    case 'map':
      return [attribute.word, typeOfWord(attribute.of)];
    case 'object':
      return objectType(Object.entries(mapMembers(attribute.attributes, (one) => typeOfWord(one))));
  }
}
