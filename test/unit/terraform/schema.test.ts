// Terraform's schemas of the kinds: a table of what each word becomes, and what holds for all of them.
import { describe, expect, it } from 'vitest';
import {
  choice,
  collection,
  collectionsOf,
  document,
  flag,
  integer,
  kind,
  kindsOf,
  list,
  map,
  number,
  object,
  anyRef,
  set,
  text,
} from '../../../src/model/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import type { CtyType } from '../../../src/terraform/protocol/cty.js';
import type { SchemaAttribute } from '../../../src/terraform/protocol/provider-replies.js';
import { providerSchema, typeOf } from '../../../src/terraform/terraform-schema.js';

const things = kind({
  name: 'things',
  singular: 'thing',
  doc: 'A thing.',
  id: 'id',
  identity: 'content',
  attributes: {
    id: text('Id.', { computed: true }),
    name: text('Name.', { immutable: true }),
    mode: choice('Mode.', ['a', 'b'], { optional: true }),
    size: integer('Size.', { optional: true }),
    rate: number('Rate.', { optional: true }),
    on: flag('On.', { optional: true }),
    body: document('Body.', { optional: true }),
    owners: set('Owners.', anyRef('An owner.', 'accounts', { wire: 'integer' }), {
      optional: true,
    }),
    steps: list('Steps.', text('A step.'), { optional: true }),
    labels: map('Labels.', text('A label.'), { optional: true }),
    parts: list('Parts.', object('A part.', { weight: number('Weight.') }), { optional: true }),
    place: object(
      'Place.',
      { street: text('Street.'), code: text('Code.', { secret: true }) },
      { optional: true },
    ),
    login: object('Login.', { password: text('Password.', { secret: true }) }, { optional: true }),
  },
  operations: { dialect: 'v2', collection: 'things', paging: 'next', page: 500, by_id: 'id' },
  example: {},
});
const events = collection({
  name: 'events',
  singular: 'event',
  doc: 'An event.',
  attributes: { at: text('When.', { computed: true }) },
  operations: { dialect: 'v2', collection: 'events', paging: 'next', page: 5 },
});
const opaque = collection({
  name: 'notes',
  singular: 'note',
  doc: 'A note.',
  attributes: {},
  operations: { dialect: 'v2', collection: 'notes', paging: 'next', page: 5 },
});
const schema = providerSchema(kindsOf([things]), collectionsOf([things, events, opaque]));
const named = (
  attributes: readonly SchemaAttribute[] | undefined,
  name: string,
): SchemaAttribute | undefined => attributes?.find((one) => one.name === name);

describe('what a word becomes', () => {
  const { attributes } = schema.resources['devicecloud_thing']!;
  const rows: readonly (readonly [name: string, expected: Partial<SchemaAttribute>])[] = [
    ['id', { type: 'string', computed: true, description: 'Id.' }],
    [
      'name',
      { type: 'string', required: true, description: 'Name. Changing it forces replacement.' },
    ],
    [
      'mode',
      { type: 'string', optional: true, computed: true, description: 'Mode. One of: a, b.' },
    ],
    ['size', { type: 'number', optional: true, computed: true, description: 'Size.' }],
    ['rate', { type: 'number', optional: true, computed: true, description: 'Rate.' }],
    ['on', { type: 'bool', optional: true, computed: true, description: 'On.' }],
    [
      'body',
      {
        type: 'string',
        optional: true,
        computed: true,
        description: 'Body. JSON text, as `jsonencode` writes it.',
      },
    ],
    ['owners', { type: ['set', 'string'], optional: true, computed: true, description: 'Owners.' }],
    ['steps', { type: ['list', 'string'], optional: true, computed: true, description: 'Steps.' }],
    ['labels', { type: ['map', 'string'], optional: true, computed: true, description: 'Labels.' }],
    [
      'parts',
      {
        optional: true,
        computed: true,
        description: 'Parts.',
        nested: {
          nesting: 'LIST',
          attributes: [{ name: 'weight', type: 'number', required: true, description: 'Weight.' }],
        },
      },
    ],
    [
      'login',
      {
        optional: true,
        description: 'Login.',
        nested: { nesting: 'SINGLE', attributes: expect.any(Array) as never },
      },
    ],
  ];
  it.each(rows)('%s', (name, expected) =>
    expect(named(attributes, name)).toEqual({ name, ...expected }),
  );

  it('a secret is write-only, beside its version', () => {
    expect(
      named(attributes, 'place')?.nested?.attributes.map(({ description: _, ...one }) => one),
    ).toEqual([
      { name: 'street', type: 'string', required: true },
      { name: 'code_wo', type: 'string', optional: true, sensitive: true, write_only: true },
      { name: 'code_wo_version', type: 'number', optional: true },
    ]);
  });
});

describe('data sources', () => {
  it('of a kind take any attribute as a condition, and know no secret', () => {
    const { attributes } = schema.dataSources['devicecloud_thing']!;
    expect(attributes.map(({ name }) => name)).toEqual([
      'id',
      'name',
      'mode',
      'size',
      'rate',
      'on',
      'body',
      'owners',
      'steps',
      'labels',
      'parts',
      'place',
    ]);
    expect(attributes.every(({ optional, computed }) => optional && computed)).toBe(true);
    expect(typeOf(named(attributes, 'place')?.nested?.attributes ?? [])).toEqual([
      'object',
      { street: 'string' },
    ]);
  });

  it('of a collection give its records', () => {
    expect(typeOf(schema.dataSources['devicecloud_events']!.attributes)).toEqual([
      'object',
      {
        filter: ['map', 'string'],
        since: 'string',
        until: 'string',
        limit: 'number',
        records: ['list', ['object', { at: 'string' }]],
      },
    ]);
  });

  it('give records whole where nothing is known of them', () => {
    expect(
      named(schema.dataSources['devicecloud_notes']?.attributes, 'records')?.nested?.attributes.map(
        ({ name }) => name,
      ),
    ).toEqual(['record']);
  });
});

describe('the schema of what there is', () => {
  const real = providerSchema(kinds, collections);
  const all = function* (attributes: readonly SchemaAttribute[]): Generator<SchemaAttribute> {
    for (const one of attributes) {
      yield one;
      yield* all(one.nested?.attributes ?? []);
    }
  };
  const every = [
    real.provider,
    ...Object.values(real.resources),
    ...Object.values(real.dataSources),
  ].flatMap(({ attributes }) => [...all(attributes)]);

  it('has a resource and a data source a kind, and a data source a collection', () => {
    expect(Object.keys(real.resources)).toEqual(
      [...kinds.values()].map(({ singular }) => `devicecloud_${singular}`),
    );
    expect(Object.keys(real.dataSources)).toHaveLength(collections.size);
    expect(Object.keys(real.identities)).toEqual(Object.keys(real.resources));
  });

  it('keeps to the rules of core for each attribute', () => {
    for (const {
      name,
      description,
      type,
      nested,
      required,
      optional,
      block,
      computed,
      write_only,
    } of every) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\S/)]);
      expect([
        name,
        [required, optional, computed, block].some(Boolean),
        required && (optional || computed),
      ]).toEqual([name, true, undefined]);
      expect([name, type === undefined]).toEqual([name, nested !== undefined]);
      expect([name, write_only && computed]).toEqual([name, undefined]);
    }
  });

  it('has its members in the order in which core writes them', () => {
    const objects = function* (type: CtyType): Generator<readonly string[]> {
      if (typeof type === 'string') return;
      if (type[0] === 'object') yield Object.keys(type[1]);
      for (const of of type[0] === 'object' ? Object.values(type[1]) : [type[1]])
        yield* objects(of);
    };
    for (const { attributes } of Object.values(real.resources))
      for (const names of objects(typeOf(attributes))) expect(names).toEqual(names.toSorted());
  });

  it('shows no secret of the provider, and falls back to the environment', () => {
    const secret = real.provider.attributes
      .filter(({ sensitive }) => sensitive)
      .map(({ name }) => name);
    expect(secret).toEqual([
      'mgr_api_key',
      'vnd_api_key',
      'v3_token',
      'iot_password',
      'flow_password',
    ]);
    expect(named(real.provider.attributes, 'v2_url')?.description).toContain('TRUEUP_V2_URL');
  });
});

it('has no free text of the service, which no state may hold', () => {
  const { resources, dataSources } = providerSchema(kinds, collections);
  for (const schema of [
    resources['devicecloud_alert_push_destination'],
    dataSources['devicecloud_alert_push_destination'],
  ]) {
    const names = schema?.attributes.map(({ name }) => name);
    expect(names).toContain('last_error_at');
    expect(names).not.toContain('last_error_text');
  }
});
