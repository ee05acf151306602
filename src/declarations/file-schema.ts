// JSON Schema of declaration files, generated from the kinds. Editors complete and check with it, ajv validates with
// it. It has only keywords of draft-07 that every editor understands. Any value may also be a string with `${…}`.
import {
  isNullable,
  asCondition,
  filterNames,
  IDENTIFYING,
  shortFilter,
  type Attribute,
  type Attributes,
  type Collection,
  type Collections,
  type Kind,
  type Kinds,
  type JsonObject,
} from '../model/index.js';
import { everySchema } from './schema-keywords.js';
import {
  blocks,
  declarable,
  expectation,
  lifecycle,
  policy,
  policyTest,
  settings,
  type BlockSection,
} from './vocabulary.js';

export const DRAFT = 'http://json-schema.org/draft-07/schema#';
/** A text that holds a reference, a variable or another `${…}`. */
const FILLED = '\\$\\{';
const SECRET = '^\\$\\{ *secret\\.[A-Za-z][A-Za-z0-9_-]*\\..+\\}$';
/** An identifier that is sent as a number, alone or at the end of a URL. */
const NUMBERED = `(^|/)\\d{1,16}/?$|${FILLED}`;
const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]*$';

function filledOr(type: string, nullable = false): JsonObject {
  return { type: [type, 'string', ...(nullable ? ['null'] : [])], pattern: FILLED };
}

/** With `strict`, null stands nowhere: what holds no value is left out. */
function attributeSchema(attribute: Attribute, strict = false): JsonObject {
  const description = attribute.doc;
  const nullable = !strict && isNullable(attribute);
  if (attribute.secret === true)
    return {
      description: `${description} Write \${secret.env.NAME} or \${secret.file.PATH}.`,
      type: 'string',
      pattern: SECRET,
    };
  switch (attribute.word) {
    case 'text':
      return { description, type: nullable ? ['string', 'null'] : 'string' };
    case 'choice':
      return {
        description,
        anyOf: [
          { enum: [...attribute.values, ...(nullable ? [null] : [])] },
          attribute.open ? { type: 'string' } : { type: 'string', pattern: FILLED },
        ],
      };
    case 'ref':
      return {
        description,
        type: ['string', 'integer'],
        ...(attribute.wire === 'integer'
          ? { minimum: 0, pattern: NUMBERED }
          : { pattern: IDENTIFYING }),
      };
    case 'integer':
    case 'number':
      return { description, ...filledOr(attribute.word, nullable) };
    case 'flag':
      return {
        description,
        ...filledOr('boolean'),
        ...(attribute.only_false && { not: { const: true } }),
      };
    case 'list':
    case 'set':
      return { description, ...filledOr('array'), items: attributeSchema(attribute.of, strict) };
    case 'map':
      return {
        description,
        ...filledOr('object'),
        additionalProperties: attributeSchema(attribute.of, strict),
      };
    case 'object':
      return { description, ...filledOr('object'), ...members(attribute.attributes, strict) };
    case 'document':
      return attribute.wire === 'merge'
        ? mergeSchema(description)
        : { description, ...filledOr('object', true) };
  }
}

/** An object alone lists no removed defaults. */
function mergeSchema(description: string): JsonObject {
  const step = { type: ['string', 'integer'] };
  const paths = {
    type: 'array',
    items: { type: ['string', 'array'], pattern: '.', minItems: 1, items: step },
  };
  return {
    description: `${description} \`[object]\` or \`[object, list of removed paths]\`; a path is a list of keys, or a string with dots between them.`,
    type: ['array', 'object', 'string'],
    pattern: FILLED,
    items: [{ type: 'object' }, paths],
    additionalItems: false,
    minItems: 1,
  };
}

function members(attributes: Attributes, strict = false): JsonObject {
  const declared = Object.entries(attributes).filter(([, { computed }]) => computed !== true);
  const required = declared.filter(([, { optional }]) => optional !== true).map(([name]) => name);
  return {
    properties: Object.fromEntries(
      declared.map(([name, attribute]) => [name, attributeSchema(attribute, strict)]),
    ),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

const forEach: JsonObject = {
  description:
    'Makes one object for each string of a list, mapping with a `name` in a list, or key of a map, addressed as `name["key"]`; `${each.key}` and `${each.value}` are filled in.',
  type: ['array', 'object', 'string'],
  items: { type: ['string', 'object'], required: ['name'] },
  pattern: FILLED,
};

export const objectSchema = (attributes: Attributes, strict = false): JsonObject => ({
  type: 'object',
  ...members(attributes, strict),
});

/** A schema of an object with other properties. */
const withProperties = (
  schema: JsonObject,
  change: (properties: Readonly<Record<string, JsonObject>>) => JsonObject,
): JsonObject => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `objectSchema`
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>>;
  return { ...schema, properties: { ...properties, ...change(properties) } };
};

/** The state may be its address alone. */
const shortState = ({ state }: Readonly<Record<string, JsonObject>>): JsonObject => {
  const { description, ...mapping } = state!;
  return { state: { description: description!, anyOf: [{ type: 'string' }, mapping] } };
};

/** Only an editor needs the names: the error for another one says more than a schema could. */
const kindNames =
  (all: readonly Kind[]) =>
  ({ kinds }: Readonly<Record<string, JsonObject>>): JsonObject => {
    const names = all.flatMap(({ name, beyond }) => (beyond ? [name] : []));
    const items = { anyOf: [{ enum: names }, { type: 'string', pattern: FILLED }] };
    return { kinds: { ...kinds, items } };
  };

/** One declaration of the kind: what stands behind its name. `for_each` is taken off before validation. */
export const bodySchema = (kind: Kind): JsonObject =>
  withProperties(objectSchema(declarable(kind)), () => ({
    lifecycle: attributeSchema(lifecycle(kind), true),
  }));

export const whereSchema = (kind: Kind): JsonObject =>
  objectSchema(asCondition(kind.attributes), true);

export const settingsSchema = (): JsonObject => objectSchema(settings.attributes, true);

/** One block; the `for_each` of an import is taken off before validation. */
export const blockSchema = (section: BlockSection): JsonObject =>
  objectSchema(blocks[section].attributes, true);

const listed = (section: BlockSection): JsonObject => ({
  description: blocks[section].doc,
  type: 'array',
  items:
    section === 'import'
      ? withProperties(blockSchema(section), () => ({ for_each: forEach }))
      : blockSchema(section),
});

/** One expectation; what `every` may say is checked apart from it, and filters too. */
export const expectationSchema = (collections: Collections): JsonObject =>
  withProperties(objectSchema(expectation(collections), true), ({ where, every }) => ({
    where: {
      description: where?.['description'] ?? '',
      ...filledOr('object'),
      additionalProperties: FILTER,
    },
    every: { description: every?.['description'] ?? '', ...filledOr('object') },
  }));

/** One policy of `policies/*.cel.yaml`. */
export const policySchema = (): JsonObject => objectSchema(policy, true);

/** One test of `policies/*.test.yaml`. */
export const policyTestSchema = (): JsonObject => objectSchema(policyTest, true);

const oneOrSeveral = (one: JsonObject): JsonObject => ({
  $schema: DRAFT,
  definitions: { one },
  anyOf: [{ $ref: '#/definitions/one' }, { type: 'array', items: { $ref: '#/definitions/one' } }],
});

/** The published schemas of `policies/*.cel.yaml` and `policies/*.test.yaml`. */
export const policiesSchema = (): JsonObject => oneOrSeveral(policySchema());
export const policyTestsSchema = (): JsonObject => oneOrSeveral(policyTestSchema());

/** The value of a filter, which is text on its way. */
const FILTER: JsonObject = { type: ['string', 'integer', 'boolean'] };

/** A section inside a template. Editors do not show a description beside a `$ref`. */
const sameAs = (section: string, description: string): JsonObject => ({
  description,
  allOf: [{ $ref: `#/properties/${section}` }],
});

/** Things by name. */
const named = (description: string, one: JsonObject): JsonObject => ({
  description,
  type: 'object',
  propertyNames: { pattern: NAME_PATTERN },
  additionalProperties: one,
});

/** The form for editors: with the keywords of `every`, and the filters of each collection. */
const namedExpectations = (collections: Collections): JsonObject =>
  named('What must hold of records that are only read; `drift` looks.', {
    ...withProperties(expectationSchema(collections), ({ every }) => ({
      every: { ...every, allOf: [{ $ref: '#/definitions/every' }] },
    })),
    anyOf: [{ required: ['every'] }, { required: ['count'] }],
    allOf: [...collections.values()].map(filterSchema),
  });

function filterSchema(collection: Collection): JsonObject {
  const names = filterNames(collection);
  const open = names
    .filter((name) => name.endsWith('[…]'))
    .map((name) => [`^${name.slice(0, -3)}\\[[^\\[].*\\]$`, FILTER]);
  const plain = names.filter((name) => !name.endsWith('[…]'));
  const where = {
    properties: Object.fromEntries(
      [...plain, ...plain.map(shortFilter)].map((name) => [name, FILTER]),
    ),
    patternProperties: Object.fromEntries(open),
    additionalProperties: false,
  };
  const asked = {
    properties: { where },
    ...(collection.operations.needs && { required: ['where'] }),
  };
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word
  return { if: { properties: { collection: { const: collection.name } } }, then: asked };
}

const namedBodies = (kind: Kind): JsonObject =>
  named(kind.doc, {
    ...withProperties(bodySchema(kind), () => ({ for_each: forEach })),
    description: kind.doc,
    examples: [kind.example],
  });

/** The schema of declarations of one kind alone: a map from names to declarations. */
export const kindSchema = (kind: Kind): JsonObject => ({
  $schema: DRAFT,
  title: kind.name,
  ...namedBodies(kind),
});

/** The schema of a declaration file. */
export function declarationsSchema(kinds: Kinds, collections: Collections): JsonObject {
  const all = [...kinds.values()];
  const asked = all.map((kind) => [
    kind.name,
    { description: kind.doc, minProperties: 1, ...whereSchema(kind) },
  ]);
  const properties = {
    settings: {
      description: settings.doc,
      ...withProperties(withProperties(settingsSchema(), shortState), kindNames(all)),
    },
    variables: {
      description:
        'Values for `${var.NAME}`, unless `--var`, `TRUEUP_VAR_NAME` or the file of the environment gives another.',
      type: 'object',
      propertyNames: { pattern: NAME_PATTERN },
    },
    lookups: named(
      'Existing objects that are not declared in this project. Exactly one live object must match.',
      {
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        properties: Object.fromEntries(asked),
        additionalProperties: false,
      },
    ),
    expectations: namedExpectations(collections),
    templates: named('What several uses declare alike. `${param.NAME}` is a parameter.', {
      type: 'object',
      properties: {
        parameters: {
          description:
            'JSON Schema of the parameters: `{ required: [title], properties: { title: { type: string } } }`. Others are errors, unless `additionalProperties` is true.',
          allOf: [{ $ref: '#/definitions/every' }],
        },
        use: sameAs('use', 'Uses of other templates.'),
        ...Object.fromEntries(all.map(({ name, doc }) => [name, sameAs(name, doc)])),
      },
      additionalProperties: false,
    }),
    use: named('Uses of templates. Names of the objects begin with the name of the use and `-`.', {
      type: 'object',
      required: ['template'],
      properties: {
        template: { description: 'The name of a template.', type: 'string' },
        with: { description: 'Values of its parameters.', ...filledOr('object') },
        for_each: forEach,
      },
      additionalProperties: false,
    }),
    moved: listed('moved'),
    removed: listed('removed'),
    import: listed('import'),
    ...Object.fromEntries(all.map((kind) => [kind.name, namedBodies(kind)])),
  };
  return {
    $schema: DRAFT,
    title: 'trueup declarations',
    type: 'object',
    properties,
    additionalProperties: false,
    definitions: { every: everySchema() },
  };
}
