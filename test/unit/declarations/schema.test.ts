// The schemas say what the loader does, and the committed ones are those of the kinds.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { precompiled } from '../../../src/declarations/generated/validators.js';
import { declarationsSchema, kindSchema } from '../../../src/declarations/index.js';
import {
  blockSchema,
  bodySchema,
  expectationSchema,
  settingsSchema,
  whereSchema,
} from '../../../src/declarations/file-schema.js';
import { fleetSectionSchema, sourceSchema, tenantSchema } from '../../../src/fleet/fleet-schema.js';
import { digest, type JsonObject, type Kind } from '../../../src/model/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { loading } from './project.js';

const list = [...kinds.values()];
const ajv = new Ajv({ strict: false, allErrors: true });

describe('committed files', () => {
  it('hold a validator for each schema of the kinds, and of the fleet file', () => {
    const wanted = [
      settingsSchema(),
      expectationSchema(collections),
      ...(['moved', 'removed', 'import'] as const).map(blockSchema),
      fleetSectionSchema(),
      sourceSchema(),
      tenantSchema(),
      ...list.flatMap((kind) => [bodySchema(kind), whereSchema(kind)]),
    ].map(digest);
    expect(Object.keys(precompiled).toSorted()).toEqual(wanted.toSorted());
  });

  it.each([
    ['declarations', declarationsSchema(kinds, collections)] as const,
    ...list.map((kind) => [kind.name, kindSchema(kind)] as const),
  ])('schemas/%s.schema.json is fresh', (name, schema) => {
    expect(JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'))).toEqual(schema);
  });
});

describe('the schema of a file', () => {
  const validate = ajv.compile(declarationsSchema(kinds, collections));

  it.each(list)('takes the example of $name, as the loader does', async (kind: Kind) => {
    const file = { [kind.name]: { example: kind.example } };
    expect(validate(file), JSON.stringify(validate.errors)).toBe(true);
    expect((await loading(JSON.stringify(file))).diagnostics).toEqual([]);
  });

  const agree: readonly (readonly [text: string, valid: boolean])[] = [
    ['settings: { target: emulator, policy: { max_deletes: 1 } }', true],
    ['settings: { target: other }', false],
    ['variables: { a: [1] }', true],
    ['lookups: { a: { accounts: { id: "1" } } }', true],
    ['lookups: { a: { accounts: {} } }', false],
    ['lookups: { a: { acc: { id: 1 } } }', false],
    ['accounts: { a: { name: x, for_each: [a] } }', true],
    ['accounts: { a: { name: x, is_disabled: "${each.value}", for_each: { a: true } } }', true],
    ['accounts: { a: { name: x, is_disabled: "text" } }', false],
    ['accounts: { a: { name: 1 } }', false],
    ['accounts: { 1a: { name: x } }', false],
    ['accounts: { a: { id: x, name: x } }', false],
    ['accounts: { a: {} }', false],
    ['alert_rules: { a: { http_destinations: null } }', false],
    [
      'alert_rules: { a: { http_destinations: "${alert_rules.b.http_destinations}", schedule: null, settings: null } }',
      true,
    ],
    ['alert_rules: { a: { lifecycle: { on_removal: forget } } }', true],
    ['alert_rules: { a: { lifecycle: { on_removal: null } } }', false],
    ['alert_push_destinations: { a: { name: x, authentication: { secret: literal } } }', false],
    [
      'alert_push_destinations: { a: { name: x, authentication: { secret: "${secret.env.A}" } } }',
      true,
    ],
    ['alert_push_destinations: { a: { name: x, authentication: {} } }', false],
  ];
  it.each(agree)('%s: %s', async (text, valid) => {
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(valid);
    expect((await loading(text)).project !== undefined).toBe(valid);
  });

  it('describes every attribute, for editors', () => {
    const undescribed = (schema: JsonObject, path: string): readonly string[] =>
      Object.entries((schema['properties'] ?? {}) as JsonObject).flatMap(([name, inner]) => [
        ...((inner as JsonObject)['description'] ? [] : [`${path}.${name}`]),
        ...undescribed(inner as JsonObject, `${path}.${name}`),
        ...undescribed(
          ((inner as JsonObject)['additionalProperties'] || {}) as JsonObject,
          `${path}.${name}.*`,
        ),
      ]);
    expect(undescribed(declarationsSchema(kinds, collections), '')).toEqual([]);
  });
});
