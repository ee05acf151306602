// Expectations as files declare them: what they become, and each complaint at its place.
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { declarationsSchema } from '../../../src/declarations/index.js';
import { schemaComplaints } from '../../../src/declarations/expectation-schema-checks.js';
import { patternFault } from '../../../src/expressions/schema-options.js';
import { keywords } from '../../../src/declarations/schema-keywords.js';
import { schemaOptions } from '../../../src/expressions/schema-options.js';
import type { Json } from '../../../src/model/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { errors, loading, project } from './project.js';
import { drawn } from '../../support/drawn.js';

describe('an expectation', () => {
  it('holds the filters by their names in the API, and what is filled in', async () => {
    const { expectations, declarations } = await project(
      [
        'expectations:',
        '  admins:',
        '    collection: account_authorizations',
        '    where: { role: administrator, "search[email]": "${env.MAIL}" }',
        '    count: { min: 1, max: "${var.most}" }',
        '  synched:',
        '    collection: configuration_managers',
        '    where: { account: 12, suspended: false, router__in: "1,${var.most}" }',
        '    every: { required: [synched], properties: { synched: { const: true }, router: { pattern: "^$${x}|/routers/\\\\d+/$" }, note: { const: "${var.word}", enum: [yes, "$${a}"] } } }',
      ]
        .join('\n')
        .replace('^$${x}|', '^'),
      { variables: { most: '3', word: '${var.most}' }, environment: { MAIL: '${env.NONE}' } },
    );
    expect(declarations).toEqual([]);
    expect(expectations).toEqual([
      {
        name: 'admins',
        collection: 'account_authorizations',
        where: { 'filter[role]': 'administrator', 'search[email]': '${env.NONE}' },
        count: { min: 1, max: 3 },
        origin: { file: 'trueup.yaml', line: 2, column: 3 },
      },
      {
        name: 'synched',
        collection: 'configuration_managers',
        where: { account: '12', suspended: 'false', router__in: '1,3' },
        every: {
          required: ['synched'],
          properties: {
            synched: { const: true },
            router: { pattern: '^/routers/\\d+/$' },
            note: { const: '${var.most}', enum: ['yes', '${a}'] },
          },
        },
        origin: { file: 'trueup.yaml', line: 6, column: 3 },
      },
    ]);
  });

  it('may be a whole variable', async () => {
    const { expectations } = await project(
      'variables: { active: { properties: { state: { const: ACTIVE } } } }\nexpectations:\n  sims: { collection: subscriptions, where: { label: fleet-a }, every: "${var.active}" }\n',
    );
    expect(expectations[0]?.every).toEqual({ properties: { state: { const: 'ACTIVE' } } });
  });

  it('leaves the digest as it is: no plan changes with it', async () => {
    const rest = 'accounts:\n  a: { name: a }\n';
    expect(
      (
        await project(`${rest}expectations: { few: { collection: accounts, count: { max: 5 } } }\n`)
      ).digest(),
    ).toBe((await project(rest)).digest());
  });

  const at = (body: string): string => `expectations:\n  one:\n${body.replaceAll(/^/gm, '    ')}\n`;
  const wrong: readonly (readonly [body: string, place: string, code: string, says: string])[] = [
    [
      'collection: subscriptons\ncount: { min: 1 }',
      '3:5',
      'unknown-choice',
      '`collection` is not one of its words. Did you mean `subscriptions`?',
    ],
    ['count: { min: 1 }', '2:3', 'missing-attribute', '`collection` is missing in an expectation'],
    [
      'collection: accounts\ncount: { min: 1 }\nwhen: {}',
      '5:5',
      'unknown-attribute',
      '`when` is not an attribute of an expectation.',
    ],
    [
      'collection: accounts\nwhere:\n  nam: x\ncount: { min: 1 }',
      '5:7',
      'unknown-filter',
      'accounts cannot be filtered by "nam". Did you mean `name`?',
    ],
    [
      'collection: account_authorizations\nwhere: { rol: x }\ncount: { min: 1 }',
      '4:14',
      'unknown-filter',
      'account_authorizations cannot be filtered by "rol". Did you mean `role`?',
    ],
    [
      'collection: account_authorizations\nwhere: { role: x, "filter[role]": y }\ncount: { min: 1 }',
      '4:23',
      'duplicate-filter',
      '`where` names the filter `filter[role]` twice',
    ],
    [
      'collection: accounts\nwhere: { name: [a] }\ncount: { min: 1 }',
      '4:14',
      'wrong-type',
      '`where.name`: a string is expected, not a list',
    ],
    [
      'collection: accounts\nwhere: { name: no }\ncount: { min: 1 }',
      '4:14',
      'ambiguous-word',
      '`where.name`: a plain `no` is a string to some readers and false to others',
    ],
    [
      'collection: accounts\nwhere: { name: "" }\ncount: { min: 1 }',
      '4:14',
      'empty-filter',
      '`where.name` is empty',
    ],
    [
      'collection: accounts\nwhere: { name: "${lookups.hq.name}" }\ncount: { min: 1 }',
      '4:14',
      'misplaced-reference',
      '${lookups.hq.name} is not allowed here: the value must be known before anything is read',
    ],
    [
      'collection: accounts\nwhere: { name: "${accounts.a.name}" }\ncount: { min: 1 }',
      '4:14',
      'misplaced-reference',
      '${accounts.a.name} is not allowed here: the value must be known before anything is read',
    ],
    [
      'collection: accounts\nwhere: { name: "${secret.env.A}" }\ncount: { min: 1 }',
      '4:14',
      'misplaced-secret',
      '${secret.env.A} is allowed only where a secret belongs',
    ],
    [
      'collection: accounts\nwhere: { name: "${var.none}" }\ncount: { min: 1 }',
      '4:14',
      'unknown-variable',
      'the variable `none` has no value.',
    ],
    [
      'collection: accounts\nevery: { properties: { name: { const: "a-${secret.env.A}" } } }',
      '4:36',
      'misplaced-secret',
      '${secret.env.A} must be the whole value of a secret attribute',
    ],
    [
      'collection: batteries\ncount: { min: 1 }',
      '2:3',
      'filter-needed',
      '`where`: batteries are read by router: name one',
    ],
    [
      'collection: subscriptions\nwhere: {}\ncount: { min: 1 }',
      '4:5',
      'filter-needed',
      '`where`: subscriptions are read by label, company, customField, imsi, icc, msisdn: name one',
    ],
    [
      'collection: subscriptions\nwhere:\n  label: a\n  company: b\ncount: { min: 1 }',
      '6:7',
      'one-filter',
      '`where`: subscriptions are found by exactly one of label, company, customField, imsi, icc, msisdn, not by label and company',
    ],
    ...['a\\"b\'c', 'a\\\\b', 'a\\nb'].map(
      (value) =>
        [
          `collection: subscriptions\nwhere: { label: "${value}" }\ncount: { min: 1 }`,
          '4:14',
          'filter-value',
          '`where`: label cannot be asked for: its value could be read as another condition',
        ] as const,
    ),
    [
      'collection: subscriptions\nwhere: { imsi: " , " }\ncount: { min: 1 }',
      '4:14',
      'filter-value',
      '`where`: imsi names no identifier',
    ],
    [
      'collection: accounts',
      '2:3',
      'missing-attribute',
      'the expectation `one` expects nothing: `every` or `count` is missing',
    ],
    [
      'collection: accounts\ncount: {}',
      '4:5',
      'missing-attribute',
      '`count` says nothing: `min` or `max` is missing',
    ],
    ['collection: accounts\nevery: {}', '4:5', 'missing-attribute', '`every` says nothing'],
    [
      'collection: accounts\nevery: null',
      '4:5',
      'null-value',
      '`every`: a mapping is expected, not null',
    ],
    [
      'collection: accounts\nevery: 5',
      '4:5',
      'wrong-type',
      '`every`: a mapping is expected, not an integer',
    ],
    [
      'collection: accounts\ncount:\n  max: 2\n  min: 3',
      '5:7',
      'out-of-range',
      '`count.max` is less than `count.min`',
    ],
    [
      'collection: accounts\ncount:\n  min: -1',
      '5:7',
      'out-of-range',
      '`count.min` must be at least 0',
    ],
    [
      'collection: accounts\ncount: { min: 1.5 }',
      '4:14',
      'wrong-type',
      '`count.min`: an integer is expected, not a number',
    ],
    [
      'collection: accounts\nevery:\n  propertys: {}',
      '5:7',
      'unknown-keyword',
      '`propertys` is not a keyword that a schema can have here. Did you mean `properties`?',
    ],
    [
      'collection: accounts\nevery:\n  name: { const: x }',
      '5:7',
      'unknown-keyword',
      '`name` is not a keyword that a schema can have here.',
    ],
    [
      'collection: accounts\nevery: { allOf: [{ $ref: "https://example.com/a.json" }] }',
      '4:24',
      'unknown-keyword',
      '`$ref` is not a keyword that a schema can have here.',
    ],
    [
      'collection: accounts\nevery: { not: { $ref: "#" } }',
      '4:21',
      'unknown-keyword',
      '`$ref` is not a keyword that a schema can have here.',
    ],
    [
      'collection: accounts\nevery:\n  properties:\n    name:\n      pattern: (a)\\1',
      '7:11',
      'bad-pattern',
      '`every.properties.name.pattern` cannot be matched: invalid escape sequence: `\\1`',
    ],
    [
      'collection: accounts\nevery: { properties: { name: { pattern: "(?<!a)b" } } }',
      '4:36',
      'bad-pattern',
      '`every.properties.name.pattern` cannot be matched: invalid named capture: `(?<!a)b`',
    ],
    [
      'collection: accounts\nevery: { type: text }',
      '4:14',
      'bad-schema',
      '`every.type`: one of string, number, integer, boolean, object, array, null, or a list of them, is expected, not this string',
    ],
    [
      'collection: accounts\nevery: { required: name }',
      '4:14',
      'bad-schema',
      '`every.required`: a list of names, none of them twice, is expected, not this string',
    ],
    [
      'collection: accounts\nevery: { required: [a, a] }',
      '4:14',
      'bad-schema',
      '`every.required`: a list of names, none of them twice, is expected, not this list',
    ],
    [
      'collection: accounts\nevery: { minLength: -1 }',
      '4:14',
      'bad-schema',
      '`every.minLength`: an integer, 0 or more, is expected, not -1',
    ],
    [
      'collection: accounts\nevery: { properties: { name: text } }',
      '4:28',
      'bad-schema',
      '`every.properties.name`: a schema: a mapping of keywords, or true or false is expected, not this string',
    ],
    [
      'collection: accounts\nevery: { if: { required: [a] } }',
      '4:14',
      'bad-schema',
      '`every.if` decides nothing: there is no `then` and no `else`',
    ],
    [
      'collection: accounts\nevery: { then: { required: [a] } }',
      '4:14',
      'bad-schema',
      '`every.then` has no effect without `if`',
    ],
    [
      `collection: accounts\nevery: { enum: [${Array.from({ length: 2_000 }, (_, index) => index).join()}] }`,
      '4:5',
      'too-large',
      '`every` holds more than 2000 values',
    ],
    [
      `collection: accounts\nevery: ${'{ not: '.repeat(50)}true${' }'.repeat(50)}`,
      '4:5',
      'too-large',
      '`every` is nested more than 48 levels deep',
    ],
  ];
  it.each(wrong.map(([body, ...rest]) => [...rest, body] as const))(
    '%s %s: %s',
    async (place, code, says, body) => {
      const found = await errors(at(body), { environment: {} });
      expect(
        found.map((one) => [`${one.origin?.line}:${one.origin?.column}`, one.code, one.summary]),
      ).toEqual([[place, code, says]]);
      expect(found[0]?.frame).toContain('^');
    },
  );

  it('is a mapping, by a name that stands once', async () => {
    expect((await errors('expectations:\n  one: 1\n'))[0]).toMatchObject({
      code: 'wrong-type',
      summary: 'expectations.one: a mapping is expected, not an integer',
      origin: { line: 2, column: 3 },
    });
    const twice = {
      'a.yaml': 'expectations: { a: { collection: accounts, count: { min: 1 } } }\n',
      'b.yaml': 'expectations:\n  a: { collection: accounts, count: { min: 1 } }\n',
    };
    expect((await errors(twice))[0]).toMatchObject({
      code: 'duplicate-declaration',
      summary: 'expectations.a is declared twice',
      origin: { file: 'b.yaml', line: 2, column: 3 },
    });
  });

  it('has no place in the file of an environment', async () => {
    const tree = {
      'trueup.yaml': 'accounts:\n  a: { name: a }\n',
      'trueup.prod.yaml': 'expectations:\n  a: { collection: accounts, count: { min: 1 } }\n',
    };
    expect((await errors(tree, { env: 'prod' }))[0]).toMatchObject({
      code: 'environment-file',
      origin: { file: 'trueup.prod.yaml', line: 1, column: 1 },
    });
  });
});

describe('the schema of a file', () => {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(
    declarationsSchema(kinds, collections),
  );
  it.each([
    ['{ collection: accounts, count: { min: 1 } }', true],
    [
      '{ collection: accounts, where: { name: a, account: 1, id: "${env.A}" }, every: { properties: { name: { type: [string, "null"], minLength: 1 } } } }',
      true,
    ],
    [
      '{ collection: account_authorizations, where: { role: a, "filter[user]": 7, "search[email]": x }, count: { max: 1 } }',
      true,
    ],
    ['{ collection: account_authorizations, where: { "search[]": x }, count: { max: 1 } }', false],
    ['{ collection: account_authorizations, where: { "search[…]": x }, count: { max: 1 } }', true],
    ['{ collection: accounts, where: { label: a }, count: { min: 1 } }', false],
    ['{ collection: batteries, where: { router: 1 }, count: { min: 1 } }', true],
    ['{ collection: batteries, count: { min: 1 } }', false],
    ['{ collection: modems, count: { min: 1 } }', false],
    ['{ collection: accounts }', false],
    ['{ collection: accounts, every: { stat: { const: a } } }', false],
    ['{ collection: accounts, every: { properties: { name: { format: email } } } }', false],
    [
      '{ collection: accounts, every: { anyOf: [{ if: true, then: false }, { not: { enum: [1] } }] } }',
      true,
    ],
  ])('%s: %s', async (text, valid) => {
    const file = `expectations: { a: ${text} }`;
    expect(validate(parse(file)), JSON.stringify(validate.errors)).toBe(valid);
    expect((await loading(file, { environment: { A: '1' } })).project !== undefined).toBe(valid);
  });
});

it('lets nothing pass that ajv would not compile, word for word', () => {
  const value = fc.oneof(
    fc.constantFrom<Json>(
      true,
      false,
      null,
      0,
      1,
      -1,
      1.5,
      '',
      'a',
      '(a|b)+$',
      'string',
      [],
      ['a'],
      ['a', 'a'],
      ['string', 'null'],
      {},
    ),
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
  );
  const { tree } = fc.letrec<{ tree: Json }>((tie) => {
    const deep = fc.oneof({ depthSize: 'small', withCrossShrink: true }, value, tie('tree'));
    const keyword = fc.constantFrom(...Object.keys(keywords), 'format', '$ref', '$id');
    return {
      tree: fc.dictionary(
        keyword,
        fc.oneof(
          deep,
          fc.array(deep, { maxLength: 2 }),
          fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), deep, { maxKeys: 2 }),
        ),
        {
          maxKeys: 3,
        },
      ),
    };
  });
  let passed = 0;
  fc.assert(
    fc.property(tree, (every) => {
      if (schemaComplaints(every, patternFault).length > 0) return;
      passed += 1;
      new Ajv({ ...schemaOptions, meta: true, validateSchema: true }).compile(every as object);
    }),
    { numRuns: drawn(1_500) },
  );
  expect(passed).toBeGreaterThan(drawn(150));
});
