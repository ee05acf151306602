// What `export` writes loads again, without a word, as what it was made of.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { declarationName, lint, writeDeclarations, type Written } from '../../src/declarations/index.js';
import { NAME, Reference, normalAll, type Kind, type Values } from '../../src/model/index.js';
import { kinds } from '../../src/resources/index.js';
import { loading, project } from './project.js';

async function reloaded(estate: ReadonlyMap<string, readonly Written[]>) {
  const texts = writeDeclarations(kinds, estate);
  const { project: loaded, diagnostics } = await loading(Object.fromEntries([...texts].map(([kind, text]) => [`${kind}.yaml`, text])));
  expect(diagnostics, [...texts.values()].join('\n')).toEqual([]);
  return { texts, declarations: loaded?.declarations ?? [] };
}

describe('writeDeclarations', () => {
  it('writes references to other exported objects, adopt ids and hints for secrets', async () => {
    const estate = new Map<string, readonly Written[]>([
      [
        'accounts',
        [
          { name: 'hq', id: '1', values: { name: 'HQ', account: '9', is_disabled: false, id: '1', resource_url: 'x' } },
          { name: 'sub', id: '2', values: { name: 'Sub: "a"', account: '1', is_disabled: true } },
        ],
      ],
      [
        'alert_push_destinations',
        [
          {
            name: 'pager',
            id: 'd-1',
            comments: ['suspended\nsince: yesterday'],
            values: { name: 'yes', enabled: false, endpoint: { url: 'https://x.example/' }, authentication: { secret: '*' }, suspended: true },
          },
        ],
      ],
      [
        'alert_rules',
        [
          {
            name: 'r',
            id: 'r-1',
            values: {
              schedule: null,
              associated_accounts: ['1', '7'],
              associated_groups: [],
              filter_criteria: { alert_type__in: [] },
              http_destinations: ['d-1'],
              settings: { a: { b: [1, { c: '${x}' }] } },
            },
          },
        ],
      ],
    ]);
    const { texts, declarations } = await reloaded(estate);
    expect([...texts.values()].join('\n')).toMatchInlineSnapshot(`
      "accounts:
        hq:
          name: HQ
          account: "9"
          lifecycle: { adopt: "1" }

        sub:
          name: "Sub: \\"a\\""
          account: "\${accounts.hq.id}"
          is_disabled: true
          lifecycle: { adopt: "2" }

      alert_push_destinations:
        # suspended since: yesterday
        pager:
          # authentication.secret reads back masked and is left out; to manage it, write "\${secret.env.NAME}"
          name: "yes"
          enabled: false
          endpoint: { url: "https://x.example/" }
          lifecycle: { adopt: d-1 }

      alert_rules:
        r:
          associated_accounts: ["\${accounts.hq.id}", "7"]
          filter_criteria:
            alert_type__in: []
          http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"]
          settings:
            a:
              b:
                - 1
                - { c: "$\${x}" }
          lifecycle: { adopt: r-1 }
      "
    `);
    expect(declarations.map(({ values, lifecycle }) => [values, lifecycle])).toEqual([
      [{ name: 'HQ', account: '9' }, { adopt: '1' }],
      [{ name: 'Sub: "a"', account: new Reference('declared', 'accounts.hq', 'id'), is_disabled: true }, { adopt: '2' }],
      [{ name: 'yes', enabled: false, endpoint: { url: 'https://x.example/' } }, { adopt: 'd-1' }],
      [
        {
          associated_accounts: [new Reference('declared', 'accounts.hq', 'id'), '7'],
          filter_criteria: { alert_type__in: [] },
          http_destinations: [new Reference('declared', 'alert_push_destinations.pager', 'destination_config_id')],
          settings: { a: { b: [1, { c: '${x}' }] } },
        },
        { adopt: 'r-1' },
      ],
    ]);
  });

  it('lets live twins be declared, and words of YAML be names', async () => {
    const written = (name: string, id: string, values: Values): Written => ({ name, id, values });
    const estate = new Map<string, readonly Written[]>([
      ['accounts', [written('null', '1', { name: 'null' }), written('true', '2', { name: 'true', account: '1' }), written('on', '3', { name: 'true', account: '1' })]],
      [
        'alert_rules',
        [
          written('a', 'r-1', { associated_accounts: ['2'] }),
          written('b', 'r-2', { associated_accounts: ['2'], settings: {} }),
          written('c', 'r-3', { associated_accounts: ['3'] }),
        ],
      ],
    ]);
    const read = await project(Object.fromEntries([...writeDeclarations(kinds, estate)].map(([kind, text]) => [`${kind}.yaml`, text])));
    expect(lint(read, kinds).filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(read.declarations.map(({ address, lifecycle }) => [address, lifecycle.allow_twin === true])).toEqual([
      ['accounts.null', false],
      ['accounts.true', true],
      ['accounts.on', true],
      ['alert_rules.a', true],
      ['alert_rules.b', true],
      ['alert_rules.c', false],
    ]);
  });

  it('writes any name and any document so that they read back', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom(
        'yes',
        '${accounts.x.id}',
        '$${',
        '# x',
        ': ',
        '- a',
        '\u202e',
        '\u0085',
        'null',
        '1e3',
        '\u001b[0m',
        "it's",
        '{',
        'a\nb',
        ' x ',
        'a\u007fb',
        'a\u009bb',
        '.',
      ),
    );
    const key = fc.string().filter((text) => text !== '__proto__');
    const { json } = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        hostile,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(key, tie('json'), { maxKeys: 3 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(hostile, fc.dictionary(key, json, { maxKeys: 3 }), fc.array(hostile, { maxLength: 3 }), async (text, settings, comments) => {
        const name = text.replaceAll(/\p{Cs}/gu, '?');
        const plain = JSON.parse(JSON.stringify(settings).replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '?')) as Values;
        const estate = new Map<string, readonly Written[]>([
          ['alert_push_destinations', [{ name: 'd', id: 'd-1', values: { name }, comments }]],
          ['alert_rules', [{ name: 'r', id: 'r-1', values: { associated_groups: ['1'], settings: plain } }]],
        ]);
        const { texts, declarations } = await reloaded(estate);
        const kind = kinds.get('alert_rules') as Kind;
        expect([...texts.values()].join('').replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
        expect(declarations[0]?.values).toEqual({ name });
        expect(declarations[1]?.values['settings'] ?? {}).toEqual(normalAll(kind.attributes, { settings: plain })['settings']);
      }),
      { numRuns: 300 },
    );
  });
});

describe('declarationName', () => {
  it.each([
    ['Field operations', [], 'field-operations'],
    ['Field operations', ['field-operations', 'field-operations-2'], 'field-operations-3'],
    ['7 Éléphants & Co.', [], 'elephants-co'],
    ['日本', [], 'object'],
    ['', [], 'object'],
  ])('%j besides %j is %s', (text, taken, name) => {
    expect(declarationName(text, new Set(taken))).toBe(name);
  });

  it('is found at once, however many are called the same', () => {
    let looks = 0;
    class Watched extends Set<string> {
      override has(name: string): boolean {
        looks += 1;
        return super.has(name);
      }
    }
    const taken = new Watched(['depot-3']);
    for (let count = 0; count < 500; count += 1) taken.add(declarationName(count % 2 === 0 ? 'Depot' : 'Hub', taken));
    expect([...taken].slice(1, 6)).toEqual(['depot', 'hub', 'depot-2', 'hub-2', 'depot-4']);
    expect([taken.size, looks < 1500]).toEqual([501, true]);
  });

  it('is always a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        expect(declarationName(text, new Set(['object']))).toMatch(NAME);
      }),
    );
  });
});
