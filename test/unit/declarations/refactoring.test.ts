// `moved`, `removed` and `import` blocks: what they give to declarations, and what is refused, each with its place.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, type Project } from '../../../src/model/index.js';
import { drawn } from '../../support/drawn.js';
import { errors, loading, project, shown, type Tree } from './project.js';

const formerOf = ({ declarations }: Project): unknown =>
  Object.fromEntries(
    declarations.flatMap(({ address, moved_from }) =>
      moved_from ? [[address, moved_from.map((one) => one.address)]] : [],
    ),
  );
const adoptedOf = ({ declarations }: Project): unknown =>
  Object.fromEntries(declarations.map(({ address, lifecycle }) => [address, lifecycle.adopt]));

/** Characters that mean something in an address, in an expression or in YAML. */
const unit = fc.constantFrom(...Array.from('a"\'\\${}[].ü #:'));

describe('moved', () => {
  it.each<[string, string, unknown]>([
    ['one name', '- { from: accounts.a, to: accounts.one }', { 'accounts.one': ['accounts.a'] }],
    [
      'one key of a for_each',
      `- { from: 'accounts.shop["x"]', to: 'accounts.shop["n"]' }`,
      { 'accounts.shop["n"]': ['accounts.shop["x"]'] },
    ],
    [
      'a whole for_each',
      '- { from: accounts.store, to: accounts.shop }',
      {
        'accounts.shop["n"]': ['accounts.store["n"]'],
        'accounts.shop["s"]': ['accounts.store["s"]'],
      },
    ],
    [
      'into a for_each, and out of one',
      `- { from: accounts.a, to: 'accounts.shop["n"]' }\n- { from: 'accounts.b["k"]', to: accounts.one }`,
      { 'accounts.one': ['accounts.b["k"]'], 'accounts.shop["n"]': ['accounts.a'] },
    ],
    [
      'a chain, the latest first',
      '- { from: accounts.a, to: accounts.b }\n- { from: accounts.c, to: accounts.one }\n- { from: accounts.b, to: accounts.c }',
      { 'accounts.one': ['accounts.c', 'accounts.b', 'accounts.a'] },
    ],
    [
      'a chain over a whole for_each and a key',
      `- { from: accounts.old, to: accounts.store }\n- { from: 'accounts.store["x"]', to: 'accounts.shop["n"]' }`,
      { 'accounts.shop["n"]': ['accounts.store["x"]', 'accounts.old["x"]'] },
    ],
    [
      'a member elsewhere than the others of its name',
      `- { from: accounts.store, to: accounts.shop }\n- { from: 'accounts.store["n"]', to: accounts.one }`,
      {
        'accounts.one': ['accounts.store["n"]'],
        'accounts.shop["s"]': ['accounts.store["s"]'],
      },
    ],
    [
      'to a key that a variable names',
      `- { from: accounts.a, to: 'accounts.shop["\${var.key}"]' }`,
      { 'accounts.shop["n"]': ['accounts.a'] },
    ],
  ])('of %s', async (_, moves, expected) => {
    const text = `variables: { key: n }\naccounts:\n  one: { name: One }\n  shop: { for_each: [n, s], name: "\${each.key}" }\nmoved:\n${moves}\n`;
    expect(formerOf(await project(text))).toEqual(expected);
  });

  it('stands in any file and document, and has its place', async () => {
    const tree: Tree = {
      'a.yaml': 'accounts: { one: { name: One }, two: { name: Two } }\n',
      'b.yaml':
        'moved:\n  - { from: accounts.a, to: accounts.one }\n---\nmoved:\n  - from: accounts.b\n    to: accounts.two\n',
    };
    const { declarations, refactorings = [] } = await project(tree);
    const places = [
      { file: 'b.yaml', line: 2, column: 5 },
      { file: 'b.yaml', line: 5, column: 5 },
    ];
    expect(declarations.flatMap(({ moved_from = [] }) => moved_from)).toEqual([
      { address: 'accounts.a', origin: places[0] },
      { address: 'accounts.b', origin: places[1] },
    ]);
    expect(refactorings.map(({ origin }) => origin)).toEqual(places);
  });

  const chains = fc
    .record({
      length: fc.integer({ min: 1, max: 12 }),
      order: fc.infiniteStream(fc.nat()),
      key: fc.option(fc.string({ minLength: 1, maxLength: 4, unit })),
    })
    .map(({ length, order, key }) => {
      const at = (index: number): string =>
        formatAddress({ kind: 'accounts', name: `a${index}`, ...(key !== null && { key }) });
      const escaped = (index: number): string => at(index).replaceAll('${', () => '$${');
      const moves = Array.from({ length }, (_, index) => ({
        from: escaped(index),
        to: escaped(index + 1),
        rank: order.next().value,
      })).toSorted((a, b) => a.rank - b.rank);
      return {
        length,
        at,
        moves: moves.map(({ from, to }) => ({ from, to })),
        back: { from: escaped(length), to: escaped(0) },
        body: {
          name: 'x',
          ...(key !== null && { for_each: { [key.replaceAll('${', () => '$${')]: '' } }),
        },
      };
    });

  it('leads over any chain to the end of it, in whatever order it was written', async () => {
    await fc.assert(
      fc.asyncProperty(chains, async ({ length, at, moves, body }) => {
        const text = JSON.stringify({ accounts: { [`a${length}`]: body }, moved: moves });
        const earlier = Array.from({ length }, (_, index) => at(length - 1 - index));
        expect(formerOf(await project(text))).toEqual({ [at(length)]: earlier });
      }),
      { numRuns: drawn(100) },
    );
  });

  it('is refused where a chain leads back to its beginning, once', async () => {
    await fc.assert(
      fc.asyncProperty(chains, async ({ moves, back }) => {
        const accounts = { other: { name: 'y' } };
        const found = await errors(JSON.stringify({ accounts, moved: [...moves, back] }));
        expect(found.map(({ code }) => code)).toEqual(['moved-circle']);
      }),
      { numRuns: drawn(100) },
    );
  });
});

describe('import', () => {
  it.each<[string, string, unknown]>([
    [
      'one id, in any spelling',
      '- { to: accounts.one, id: "7001" }',
      { 'accounts.one': '7001', 'accounts.shop["n"]': undefined, 'accounts.shop["s"]': undefined },
    ],
    [
      'a number',
      '- { to: accounts.one, id: 7001 }',
      { 'accounts.one': '7001', 'accounts.shop["n"]': undefined, 'accounts.shop["s"]': undefined },
    ],
    [
      'a mapping',
      `- { for_each: { n: "1", s: "2" }, to: 'accounts.shop["\${each.key}"]', id: "\${each.value}" }`,
      { 'accounts.one': undefined, 'accounts.shop["n"]': '1', 'accounts.shop["s"]': '2' },
    ],
    [
      'a mapping, the key without quotes',
      `- { for_each: { n: 1, s: 2 }, to: "accounts.shop[each.key]", id: "\${each.value}" }`,
      { 'accounts.one': undefined, 'accounts.shop["n"]': '1', 'accounts.shop["s"]': '2' },
    ],
    [
      'a whole address of a mapping',
      '- { for_each: { accounts.one: 3 }, to: "${each.key}", id: "${each.value}" }',
      { 'accounts.one': '3', 'accounts.shop["n"]': undefined, 'accounts.shop["s"]': undefined },
    ],
  ])('of %s', async (_, blocks, expected) => {
    const text = `accounts:\n  one: { name: One }\n  shop: { for_each: [n, s], name: "\${each.key}" }\nimport:\n${blocks}\n`;
    expect(adoptedOf(await project(text))).toEqual(expected);
  });

  it('takes any key, whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, unit }), async (key) => {
        const written = key.replaceAll('${', () => '$${');
        const text = JSON.stringify({
          accounts: { shop: { for_each: { [written]: '7' }, name: 'x' } },
          import: [
            {
              for_each: { [written]: '7' },
              to: 'accounts.shop["${each.key}"]',
              id: '${each.value}',
            },
          ],
        });
        const address = formatAddress({ kind: 'accounts', name: 'shop', key });
        expect(adoptedOf(await project(text))).toEqual({ [address]: '7' });
      }),
      { numRuns: drawn(200) },
    );
  });

  it('does not take a text for the id of another object', async () => {
    const text = 'accounts:\n  a: { name: A }\nimport:\n  - { to: accounts.a, id: "2/../3" }\n';
    expect((await errors(text)).map(shown)).toEqual([
      'trueup.yaml:4:5 bad-id: `2/../3` is not an id of accounts / Write the id, or the absolute path of the object, which ends in /accounts/ID/.\nTo list the ids: trueup get accounts',
    ]);
  });

  it('is where errors about the id stand', async () => {
    const text =
      'accounts:\n  a: { name: A, lifecycle: { adopt: "7" } }\n  b: { name: B }\nimport:\n  - { to: accounts.b, id: "7" }\n';
    expect((await errors(text)).map(shown)).toEqual([
      'trueup.yaml:5:5 adopt-taken: accounts.b and accounts.a both take over 7 / The other is in trueup.yaml:2:3. Remove the block or the line from one of them.',
    ]);
  });

  it('of one id to two addresses names both blocks', async () => {
    const text =
      'accounts:\n  a: { name: A }\n  b: { name: B }\nimport:\n  - { to: accounts.a, id: 7 }\n  - { to: accounts.b, id: "7" }\n';
    expect((await errors(text)).map(shown)).toEqual([
      'trueup.yaml:6:5 adopt-taken: accounts.b and accounts.a both take over 7 / The other is in trueup.yaml:5:5. Remove the block or the line from one of them.',
    ]);
  });
});

it('a removed block names an object, or all of a name, and says whether it stays', async () => {
  const { refactorings } = await project(
    `accounts: {}\nremoved:\n  - { from: accounts.a, lifecycle: { destroy: false } }\n  - { from: 'accounts.b["k"]' }\n`,
  );
  expect(refactorings).toMatchObject([
    { block: 'removed', from: { name: 'a', members: true }, forgets: true },
    { block: 'removed', from: { name: 'b', key: 'k', members: false }, forgets: false },
  ]);
});

it.each([
  ['its name', '[{ from: accounts.x, to: accounts.y }]', '{ from: accounts.y }'],
  ['it', `[{ from: 'accounts.x["k"]', to: 'accounts.y["k"]' }]`, `{ from: 'accounts.y["k"]' }`],
  ['the name of it', `[{ from: accounts.x, to: 'accounts.y["k"]' }]`, '{ from: accounts.y }'],
])(
  'a move leads to what is declared nowhere if a removed block names %s',
  async (_, moves, one) => {
    const { refactorings = [] } = await project(
      `accounts: {}\nmoved: ${moves}\nremoved: [${one.replace(' }', ', lifecycle: { destroy: false } }')}]\n`,
    );
    expect(refactorings.map(({ block }) => block)).toEqual(['moved', 'removed']);
  },
);

it('a saved plan is stale after a move to what is removed changed', async () => {
  const digests = await Promise.all(
    ['x', 'z'].map(async (from) =>
      (
        await project(
          `accounts: {}\nmoved: [{ from: accounts.${from}, to: accounts.y }]\nremoved: [{ from: accounts.y }]\n`,
        )
      ).digest(),
    ),
  );
  expect(new Set(digests).size).toBe(2);
});

it('a saved plan is stale after a block changed', async () => {
  const digests = await Promise.all(
    [
      '',
      'moved:\n  - { from: accounts.b, to: accounts.a }\n',
      'removed:\n  - { from: accounts.b }\n',
      'removed:\n  - { from: accounts.b, lifecycle: { destroy: false } }\n',
      'import:\n  - { to: accounts.a, id: "1" }\n',
    ].map(async (more) => (await project(`accounts:\n  a: { name: A }\n${more}`)).digest()),
  );
  expect(new Set(digests).size).toBe(digests.length);
});

describe('blocks that are refused', () => {
  const declared = 'accounts:\n  a: { name: A }\n  shop: { for_each: [n], name: S }\n';
  it.each<[string, string | RegExp]>([
    [
      'moved: { from: accounts.x, to: accounts.a }',
      /4:1 wrong-type: `moved`: a list of blocks is expected, not a mapping/,
    ],
    ['import:', /4:1 null-value: `import`: a list of blocks/],
    [
      'moved: [x]',
      /4:9 wrong-type: a mapping is expected, not a string.*Write: moved: \[\{ from: ADDRESS, to: ADDRESS/s,
    ],
    ['moved: [{ from: accounts.x }]', /4:9 missing-attribute: `to` is missing in a `moved` block/],
    [
      'moved: [{ from: accounts.x, to: accounts.a, too: accounts.a }]',
      /unknown-attribute: `too`.*Did you mean `to`/,
    ],
    [
      'moved: [{ from: accounts, to: accounts.a }]',
      /4:9 bad-address: `from`: `accounts` is not an address/,
    ],
    ['moved: [{ from: "accounts.x[k]", to: accounts.a }]', /bad-address: .*double quotes/],
    ['moved: [{ from: account.x, to: accounts.a }]', /4:9 unknown-kind: .*Did you mean `accounts`/],
    [
      'moved: [{ from: alert_rules.x, to: accounts.a }]',
      /4:9 moved-kind: alert_rules.x cannot be moved to accounts.a/,
    ],
    [
      'moved: [{ from: accounts.a, to: accounts.a }]',
      /4:9 moved-circle: .*accounts.a → accounts.a.*Delete the block\./,
    ],
    [
      'moved: [{ from: accounts.x, to: accounts.y }, { from: accounts.y, to: accounts.x }]',
      /4:9 moved-circle: .*accounts.x → accounts.y → accounts.x.*first accounts.y to a third name, then .* and last from the third name to accounts.x\./,
    ],
    [
      `moved: [{ from: accounts.y, to: accounts.x }, { from: 'accounts.x["k"]', to: 'accounts.y["k"]' }]`,
      /4:47 moved-circle: .*accounts.x\["k"\] → accounts.y\["k"\] → accounts.x\["k"\]/,
    ],
    [
      'moved: [{ from: accounts.x, to: accounts.a }, { from: accounts.y, to: accounts.a }]',
      /4:47 conflicting-blocks: two moves lead to accounts.a .*trueup.yaml:4:9/,
    ],
    [
      'moved: [{ from: accounts.x, to: accounts.a }, { from: accounts.x, to: accounts.shop }]',
      /4:47 conflicting-blocks: accounts.x is moved twice .*trueup.yaml:4:9/,
    ],
    [
      'moved: [{ from: accounts.shop, to: accounts.a }]',
      /4:9 moved-declared: accounts.shop is moved to accounts.a, but accounts.shop is still declared .*trueup.yaml:3:3/,
    ],
    [
      `moved: [{ from: 'accounts.shop["n"]', to: accounts.a }]`,
      /4:9 moved-declared: .* \/ Remove the key "n" from the `for_each` in trueup.yaml:3:11, or delete the block\.$/,
    ],
    [
      'moved: [{ from: accounts.x, to: accounts.shops }]',
      /4:9 undeclared: accounts.x is moved to accounts.shops, which nothing that was read declares. Did you mean `accounts.shop`/,
    ],
    [
      `moved: [{ from: accounts.x, to: accounts.y }]\nremoved: [{ from: 'accounts.y["k"]' }]`,
      /4:9 undeclared: accounts.x is moved to accounts.y, .* If it was removed since, name it in a `removed` block/,
    ],
    ['removed: [{ from: accounts.a }]', /4:11 removed-declared: .*trueup.yaml:2:3/],
    [
      `removed: [{ from: 'accounts.shop["n"]', lifecycle: { destroy: false } }]`,
      /4:11 removed-declared/,
    ],
    ['removed: [{ from: accounts.shop }]', /4:11 removed-declared/],
    [
      'removed: [{ from: accounts.x }, { from: accounts.x }]',
      /4:33 conflicting-blocks: accounts.x is removed twice/,
    ],
    [
      'moved: [{ from: accounts.x, to: accounts.a }]\nremoved: [{ from: accounts.x }]',
      /5:11 conflicting-blocks: accounts.x is moved and removed .*trueup.yaml:4:9/,
    ],
    [
      `moved: [{ from: accounts.x, to: accounts.shop }]\nremoved: [{ from: 'accounts.x["n"]' }]`,
      /5:11 conflicting-blocks: accounts.x\["n"\] is moved and removed .*trueup.yaml:4:9/,
    ],
    [
      'removed: [{ from: accounts.x, lifecycle: { destroy: nein } }]',
      /4:11 wrong-type: `lifecycle.destroy`/,
    ],
    [
      'import: [{ to: accounts.x, id: "1" }]',
      /4:10 undeclared: 1 is imported to accounts.x, which nothing that was read declares/,
    ],
    [
      `import: [{ to: 'accounts.shop["m"]', id: "1" }]`,
      /4:10 undeclared: .*Did you mean `accounts.shop\["n"\]`/,
    ],
    [
      'import: [{ to: accounts.shop, id: "1" }]',
      /4:10 undeclared: .*accounts.shop, which has a `for_each`[^]*accounts.shop\["n"\]/,
    ],
    ['import: [{ to: accounts.a, id: "" }]', /4:10 wrong-type: `id`/],
    ['import: [{ to: accounts.a, id: "${accounts.a.id}" }]', /4:10 misplaced-reference/],
    [
      'import: [{ to: accounts.a, id: "1" }, { to: accounts.a, id: "2" }]',
      /4:39 conflicting-blocks: two imports lead to accounts.a .*trueup.yaml:4:10/,
    ],
    [
      `import: [{ to: accounts.a, id: "1" }, { to: 'accounts.shop["n"]', id: "1" }]`,
      /4:39 adopt-taken/,
    ],
    [
      'import: [{ to: accounts.a, id: "${each.value}" }]',
      /4:10 no-for-each: .* \/ Add `for_each: \[a, b\]` beside the attributes/,
    ],
    [
      `moved: [{ from: 'accounts.x["\${each.key}"]', to: accounts.a }]`,
      /4:\d+ no-for-each: .* \/ No `for_each` can stand here: write the value itself/,
    ],
    [
      `removed: [{ from: "accounts.\${each.key + 'x'}" }]`,
      /4:\d+ no-for-each: .* \/ No `for_each` can stand here/,
    ],
    [`import: [{ for_each: 7, to: accounts.a, id: "1" }]`, /4:10 bad-for-each/],
    [
      `import: [{ for_each: "\${accounts.a.id}", to: accounts.a, id: "1" }]`,
      /4:10 live-reference: `for_each`: \$\{accounts.a.id\} is read from the service/,
    ],
  ])('%s', async (blocks, expected) => {
    const found = await errors(`${declared}${blocks}\n`);
    expect(found.map(shown).join('\n')).toMatch(expected);
    expect(found).toHaveLength(1);
  });

  it.each([
    ['accounts.u-one["n"]', '"n" from the `for_each` of the `use` in trueup.yaml:7:3'],
    [
      'accounts.u-some["n/k"]',
      '"k" from the `for_each` in trueup.yaml:5:15 (used at trueup.yaml:7:3), or the key "n" from the `for_each` of the `use` in trueup.yaml:7:3',
    ],
    [
      'accounts.v-some["k"]',
      '"k" from the `for_each` in trueup.yaml:5:15 (used at trueup.yaml:8:3)',
    ],
    [
      'accounts.u-some["north/k"]',
      '"k" from the `for_each` in trueup.yaml:5:15 (used at trueup.yaml:7:3), or the key "north" from the `for_each` of the `use` in trueup.yaml:7:3',
    ],
    ['accounts.u-one["north/n"]', '"north/n" from the `for_each` of the `use` in trueup.yaml:7:3'],
  ])('removed: [{ from: %s }], of a template', async (from, where) => {
    const text = `templates:
  t:
    accounts:
      one: { name: O }
      some: { for_each: [k], name: S }
use:
  u: { template: t, for_each: [north, north/n, n] }
  v: { template: t }
removed: [{ from: '${from}' }]
`;
    expect((await errors(text)).map(({ code, detail }) => [code, detail])).toEqual([
      ['removed-declared', `Remove the key ${where}, or delete the block.`],
    ]);
  });

  const inner = 'the `for_each` of the `use` in trueup.yaml:8:12 (used at trueup.yaml:10:8)';
  const outer = 'the `for_each` of the `use` in trueup.yaml:10:8';

  it.each([
    ['accounts.u-lab-one["c/k"]', `"k" from ${inner}, or the key "c" from ${outer}`],
    [
      'accounts.u-lab-some["c/k/a"]',
      `"a" from the \`for_each\` in trueup.yaml:5:15 (used at trueup.yaml:10:8), or the key "k" from ${inner}, or the key "c" from ${outer}`,
    ],
  ])('removed: [{ from: %s }], of a template in a template', async (from, where) => {
    const text = `templates:
  t:
    accounts:
      one: { name: "O \${param.x}" }
      some: { for_each: [a], name: "S \${param.x}" }
    parameters: { properties: { x: { type: string } } }
  around:
    use: { lab: { template: t, for_each: [k, m], with: { x: "\${param.y} \${each.key}" } } }
    parameters: { properties: { y: { type: string } } }
use: { u: { template: around, for_each: [c, d], with: { y: "\${each.key}" } } }
removed: [{ from: '${from}' }]
`;
    expect((await errors(text)).map(({ code, detail }) => [code, detail])).toEqual([
      ['removed-declared', `Remove the key ${where}, or delete the block.`],
    ]);
  });

  it.each([
    [
      'lifecycle: { renamed_from: x }',
      'moved: [{ from: accounts.x, to: accounts.b }]',
      'conflicting-renames',
    ],
    ['lifecycle: { adopt: "1" }', 'import: [{ to: accounts.a, id: "2" }]', 'conflicting-blocks'],
  ])('%s beside %s', async (lifecycle, blocks, code) => {
    const text = `accounts:\n  a: { name: A, ${lifecycle} }\n  b: { name: B }\n${blocks}\n`;
    expect((await errors(text)).map((one) => one.code)).toEqual([code]);
  });

  describe('that follow one another', () => {
    const chain = (count: number, last: string): string =>
      Array.from({ length: count }, (_, at) => {
        const to = at === count - 1 ? last : `a${at + 1}`;
        return `  - { from: accounts.a${at}, to: accounts.${to} }\n`;
      }).join('');

    it('are followed over a hundred addresses', async () => {
      const text = `accounts: { z: { name: Z } }\nmoved:\n${chain(100, 'z')}`;
      expect((await project(text)).declarations[0]!.moved_from).toHaveLength(100);
    });

    it('are too many after that, and ten thousand do not fill the memory', async () => {
      for (const count of [101, 10_000]) {
        const text = `accounts: { z: { name: Z } }\nmoved:\n${chain(count, 'z')}`;
        expect(await errors(text)).toMatchObject([
          {
            code: 'too-many',
            summary: expect.stringMatching(
              /^more than 100 moves follow one another up to accounts\./,
            ) as string,
            origin: { line: 103 },
          },
        ]);
      }
    });

    it('in a long circle are named in part', async () => {
      const [one, ...more] = await errors(
        `accounts: { z: { name: Z } }\nmoved:\n${chain(50, 'a0')}`,
      );
      expect(more).toEqual([]);
      expect(one?.summary).toMatch(/: accounts\.a0 → .*accounts\.a9 → … → accounts\.a0$/);
    });
  });

  it('are not told to lead to where they begin', async () => {
    const found = await errors(`${declared}moved: [{ from: accounts.a, to: accounts.b }]\n`);
    expect(found.map(({ code }) => code)).toEqual(['moved-declared', 'undeclared']);
    expect(found.map(shown).join()).not.toContain('Did you mean');
  });

  it('are not complained of where what they lead to cannot be read', async () => {
    const tree = {
      'a.yaml': 'accounts:\n  a: [\n  y: {}\n',
      'b.yaml':
        'import:\n  - { to: accounts.a, id: "1" }\nmoved:\n  - { from: accounts.x, to: accounts.y }\n',
    };
    const { diagnostics } = await loading(tree);
    expect(diagnostics.filter(({ origin }) => origin?.file === 'b.yaml')).toEqual([]);
  });

  it('stand in no file of an environment', async () => {
    const tree = { 'trueup.yaml': declared, 'trueup.prod.yaml': 'moved: []\n' };
    expect((await errors(tree, { env: 'prod' })).map(({ code }) => code)).toEqual([
      'environment-file',
    ]);
  });
});
