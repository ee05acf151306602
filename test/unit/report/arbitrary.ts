// Plans of every shape for properties: the real kinds, random attributes, hostile text, references and secrets.
import fc from 'fast-check';
import {
  Reference,
  Secret,
  Template,
  normal,
  writables,
  type Attribute,
  type AttributeChange,
  type Change,
  type Diagnostic,
  type Kind,
  type Plan,
  type Request,
  type Value,
  type Values,
} from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { canary } from './plans.js';
import { everyRule } from '../../support/rule-names.js';

/** Texts that try to be more than text. */
export const hostile: readonly string[] = [
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u009b31m',
  'a\r\nb\nc',
  '\u202etxt.exe',
  '\u2066isolate\u2069',
  'zero\u200bwidth\ufeff',
  'line\u2028separator\u2029',
  'tag\u{e0041}\u{e007f}',
  'half \ud83d pair',
  '::error file=a,line=1::pwned',
  '\n::add-mask::x',
  '\n  ::set-output name=a::b',
  '##[error]pwned',
  '##vso[task.setvariable variable=a]b',
  '`code` ``` ~~~',
  '```\n</details>\n# Title',
  '| cell | \\| \\\\|',
  '</details></summary><script>alert(1)</script>',
  '<!-- trueup:plan -->',
  '--> <img src=x onerror=alert(1)>',
  '[link](https://evil.example) ![img](https://evil.example/x.png)',
  'https://evil.example www.evil.example',
  '@everyone #1 GH-1',
  '**bold** _it_ ~~no~~ $x^2$ &lt;b&gt; &#60;',
  '- item\n1. item\n> quote\n    code',
  '=HYPERLINK("https://evil.example")',
  '名前が長い日本語のテキスト'.repeat(8),
  '👩‍👩‍👧‍👦 family ☀️ 🇩🇪 e\u0301',
  ' leading and trailing ',
  '',
  '__proto__',
];

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostile) },
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('plain', 'Field operations'),
);
/** Names that every object inherits something under. */
export const inherited: readonly string[] = [
  'hasOwnProperty',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  '__proto__',
  'length',
  '0',
  '-',
  'a/b',
  'a~1b',
  'a.b',
  '',
];

/** A tree in which such names stand at every level, among others. */
export function treesWith<T>(
  leaf: fc.Arbitrary<T>,
  names = inherited,
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const { tree } = fc.letrec<{ value: unknown; tree: Readonly<Record<string, unknown>> }>(
    (tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        tie('tree'),
      ),
      tree: fc
        .array(
          fc.tuple(fc.oneof(fc.constantFrom(...names), fc.constantFrom('a', 'b')), tie('value')),
          { maxLength: 4 },
        )
        .map((members) => Object.fromEntries(members)),
    }),
  );
  return tree;
}

const name = fc.oneof(fc.constantFrom('a', 'wan-down'), text);
const reference = fc
  .constantFrom('accounts.x', 'alert_push_destinations.y')
  .map((target) => new Reference('declared', target, 'id'));
const secret = fc.constant(new Secret('env.S', () => canary));

function valueOf(attribute: Attribute, known: boolean): fc.Arbitrary<Value> {
  if (attribute.secret) return known ? fc.constant('*') : secret;
  const plain = plainOf(attribute, known);
  if (known || attribute.word === 'object') return plain;
  return fc.oneof(
    { weight: 5, arbitrary: plain },
    reference,
    reference.map((one) => new Template(['x-', one])),
  );
}

function plainOf(attribute: Attribute, known: boolean): fc.Arbitrary<Value> {
  switch (attribute.word) {
    case 'flag':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.integer();
    case 'ref':
      return attribute.wire === 'integer'
        ? fc.bigInt({ min: 0n, max: 99999999999999999999n }).map(String)
        : fc.uuid();
    case 'list':
    case 'set':
      return fc.array(valueOf(attribute.of, known), { maxLength: 6 });
    case 'map':
      return fc.dictionary(name, valueOf(attribute.of, known), { maxKeys: 3 });
    case 'object':
      return valuesOf(Object.entries(attribute.attributes), known);
    case 'document':
      return fc.oneof(
        fc.constant(null),
        treesWith(
          known
            ? fc.oneof(fc.integer(), fc.constant(null))
            : fc.oneof(fc.integer(), text, secret, reference),
        ) as fc.Arbitrary<Value>,
        fc.dictionary(
          name,
          known
            ? fc.jsonValue({ maxDepth: 2 }).map((json) => JSON.parse(JSON.stringify(json)) as Value)
            : fc.oneof(text, secret, reference),
          { maxKeys: 4 },
        ),
      );
    case 'text':
    case 'choice':
      return text;
  }
}

function valuesOf(
  attributes: readonly (readonly [string, Attribute])[],
  known: boolean,
): fc.Arbitrary<Values> {
  const all = Object.fromEntries(
    attributes.map(([key, attribute]) => [
      key,
      valueOf(attribute, known).map((value) => normal(attribute, value)),
    ]),
  );
  return fc.record(all, { requiredKeys: [] }) as fc.Arbitrary<Values>;
}

function changesOf(kind: Kind): fc.Arbitrary<readonly AttributeChange[]> {
  const paths = writables(kind).flatMap(
    ([key, attribute]): readonly (readonly [string, Attribute])[] =>
      attribute.word === 'object'
        ? Object.entries(attribute.attributes).map(
            ([inner, of]) => [`${key}.${inner}`, of] as const,
          )
        : [[key, attribute]],
  );
  const one = fc.constantFrom(...paths).chain(([path, attribute]) =>
    fc.record({
      path: fc.constant(path),
      before: fc.constant(undefined),
      after: valueOf(attribute, false),
      drifted: fc.boolean(),
    }),
  );
  return fc.uniqueArray(one, { selector: ({ path }) => path, minLength: 1, maxLength: 4 });
}

const kind = fc.constantFrom(...kinds.values());

export const arbitraryChange: fc.Arbitrary<Change> = kind.chain((of) =>
  fc
    .record({
      action: fc.constantFrom(
        'create' as const,
        'adopt' as const,
        'update' as const,
        'delete' as const,
        'forget' as const,
        'keep' as const,
      ),
      name,
      reason: text,
      file: name,
      id: name,
      before: valuesOf(Object.entries(of.attributes), true),
      declared: valuesOf(writables(of), false),
      changes: changesOf(of),
      sends: fc.boolean(),
      renamed: fc.option(name, { nil: undefined }),
    })
    .map(
      ({
        action,
        name: called,
        reason,
        file,
        id,
        before,
        declared,
        changes,
        sends,
        renamed,
      }): Change => {
        const common = {
          address: `${of.name}.${called}`,
          kind: of.name,
          name: called,
          origin: { file, line: 1, column: 1 },
          reason,
          depends_on: [`accounts.${called}`],
          ...(renamed !== undefined && { renamed_from: `${of.name}.${renamed}` }),
        };
        const live = { id, before };
        const declaredObject = { declared, file, protect: false };
        const write = { verb: 'update' as const, fields: declared };
        const request: Request = {
          method: 'PATCH',
          path: `/api/v2/${of.name}/${id}/`,
          body: declared,
        };
        switch (action) {
          case 'create':
            return {
              ...common,
              action,
              declaredObject,
              write: { ...write, verb: 'create' },
              request: { ...request, method: 'POST' },
              ...(sends && {
                replaces: {
                  ...live,
                  changes,
                  fixed: changes.map(({ path }) => path),
                  first: renamed === undefined ? ('create' as const) : ('delete' as const),
                },
              }),
            };
          case 'adopt':
            return sends
              ? { ...common, ...live, action, declaredObject, changes, write, request }
              : { ...common, ...live, action, declaredObject, changes: [] };
          case 'update':
            return { ...common, ...live, action, declaredObject, changes, write, request };
          case 'delete':
            return {
              ...common,
              ...live,
              action,
              ...(sends && { deposed: true as const }),
              write: { ...write, verb: 'delete' },
              request: { method: 'DELETE', path: `/api/v2/${of.name}/${id}/` },
            };
          case 'forget':
            return { ...common, ...live, action };
          case 'keep':
            return { ...common, ...live, action, declaredObject };
        }
      },
    ),
);

const diagnostic: fc.Arbitrary<Diagnostic> = fc.record(
  {
    severity: fc.constantFrom('error' as const, 'warning' as const, 'info' as const),
    code: fc.constant('some-code'),
    summary: text,
    detail: text,
    address: name,
    attribute: name,
    frame: text,
    origin: fc.record({ file: name, line: fc.nat(), column: fc.nat() }),
  },
  { requiredKeys: ['severity', 'code', 'summary'] },
);

export const arbitraryPlan: fc.Arbitrary<Plan> = fc.record({
  changes: fc.array(arbitraryChange, { maxLength: 6 }),
  drift: fc.array(
    kind.chain((of) =>
      fc.record(
        {
          address: name.map((called) => `${of.name}.${called}`),
          kind: fc.constant(of.name),
          id: name,
          changes: changesOf(of),
        },
        { requiredKeys: ['address', 'kind', 'id'] },
      ),
    ),
    { maxLength: 2 },
  ),
  unmanaged: fc.dictionary(fc.constantFrom(...kinds.keys()), fc.nat(50)),
  verdicts: fc.array(
    fc.record(
      {
        rule: fc.constantFrom(...everyRule),
        verdict: fc.constantFrom('blocked' as const, 'allowed' as const),
        detail: text,
        address: name,
      },
      { requiredKeys: ['rule', 'verdict', 'detail'] },
    ),
    { maxLength: 2 },
  ),
  diagnostics: fc.array(diagnostic, { maxLength: 2 }),
});
