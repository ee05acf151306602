// What `export` writes loads again, without a word, as what it was made of.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lint } from '../../../src/declarations/index.js';
import {
  declarationName,
  writeDeclarations,
  type WrittenObject,
} from '../../../src/declarations/writing.js';
import { latinName } from '../../../src/declarations/export/latin-names.js';
import { NAME, Reference, normalAll, type Kind, type Values } from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { documents, estate, hostile } from './estates.js';
import { loading, project } from './project.js';
import { drawn } from '../../support/drawn.js';

async function reloaded(live: ReadonlyMap<string, readonly WrittenObject[]>) {
  const texts = writeDeclarations(kinds, live);
  const { project: loaded, diagnostics } = await loading(Object.fromEntries(texts));
  expect(diagnostics, [...texts.values()].join('\n')).toEqual([]);
  return { texts, declarations: loaded?.declarations ?? [] };
}

describe('writeDeclarations', () => {
  it('writes references to other exported objects, adopt ids and hints for secrets', async () => {
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
      [
        {
          name: 'Sub: "a"',
          account: new Reference('declared', 'accounts.hq', 'id'),
          is_disabled: true,
        },
        { adopt: '2' },
      ],
      [{ name: 'yes', enabled: false, endpoint: { url: 'https://x.example/' } }, { adopt: 'd-1' }],
      [
        {
          associated_accounts: [new Reference('declared', 'accounts.hq', 'id'), '7'],
          filter_criteria: { alert_type__in: [] },
          http_destinations: [
            new Reference('declared', 'alert_push_destinations.pager', 'destination_config_id'),
          ],
          settings: { a: { b: [1, { c: '${x}' }] } },
        },
        { adopt: 'r-1' },
      ],
    ]);
  });

  it('lets live twins be declared, and words of YAML be names', async () => {
    const written = (name: string, id: string, values: Values): WrittenObject => ({
      name,
      id,
      values,
    });
    const live = new Map<string, readonly WrittenObject[]>([
      [
        'accounts',
        [
          written('null', '1', { name: 'null' }),
          written('true', '2', { name: 'true', account: '1' }),
          written('on', '3', { name: 'true', account: '1' }),
        ],
      ],
      [
        'alert_rules',
        [
          written('a', 'r-1', { associated_accounts: ['2'] }),
          written('b', 'r-2', { associated_accounts: ['2'], settings: {} }),
          written('c', 'r-3', { associated_accounts: ['3'] }),
        ],
      ],
    ]);
    const read = await project(Object.fromEntries(writeDeclarations(kinds, live)));
    expect(lint(read, kinds).filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(
      read.declarations.map(({ address, lifecycle }) => [
        address,
        lifecycle.allow_duplicate === true,
      ]),
    ).toEqual([
      ['accounts.null', false],
      ['accounts.true', true],
      ['accounts.on', true],
      ['alert_rules.a', true],
      ['alert_rules.b', true],
      ['alert_rules.c', false],
    ]);
  });

  it('writes any name and any document so that they read back', async () => {
    await fc.assert(
      fc.asyncProperty(
        hostile,
        documents,
        fc.array(hostile, { maxLength: 3 }),
        async (text, plain, comments) => {
          const name = text.replaceAll(/\p{Cs}/gu, '?');
          const written = new Map<string, readonly WrittenObject[]>([
            ['alert_push_destinations', [{ name: 'd', id: 'd-1', values: { name }, comments }]],
            [
              'alert_rules',
              [{ name: 'r', id: 'r-1', values: { associated_groups: ['1'], settings: plain } }],
            ],
          ]);
          const { texts, declarations } = await reloaded(written);
          const kind = kinds.get('alert_rules') as Kind;
          expect([...texts.values()].join('').replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
          expect(declarations[0]?.values).toEqual({ name });
          expect(declarations[1]?.values['settings'] ?? {}).toEqual(
            normalAll(kind.attributes, { settings: plain })['settings'],
          );
        },
      ),
      { numRuns: drawn(300) },
    );
  });
});

describe('declarationName', () => {
  const account = { kind: 'account', id: '9' };

  it.each([
    ['Field operations', [], 'field-operations'],
    ['Field operations', ['field-operations', 'field-operations-2'], 'field-operations-3'],
    ['7 Éléphants & Co.', [], 'elephants-co'],
    ['日本', [], 'account-9'],
    ['日本', ['account-9'], 'account-9-2'],
    ['2024 / 25', [], 'account-2024-25'],
    ['', [], 'account-9'],
  ])('%j besides %j is %s', (text, taken, name) => {
    expect(declarationName(text, new Set(taken), account)).toBe(name);
  });

  it.each([
    ['Straße', 'strasse'],
    ['Łódź & Ærø', 'lodz-aero'],
    ['Москва', 'moskva'],
    ['日本', 'riben'],
    ['🚀', 'rocket'],
    ['админ@example.com', 'admin-example-com'],
    ['\u202eevil', 'evil'],
    ['…', 'account-9'],
    ['２０２４', 'account-2024'],
  ])('%j in Latin letters is %s', (text, name) => {
    expect(latinName(text, new Set(), account)).toBe(name);
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
    for (let count = 0; count < 500; count += 1)
      taken.add(declarationName(count % 2 === 0 ? 'Depot' : 'Hub', taken, account));
    expect([...taken].slice(1, 6)).toEqual(['depot', 'hub', 'depot-2', 'hub-2', 'depot-4']);
    expect([taken.size, looks < 1500]).toEqual([501, true]);
  });

  it('is always a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        for (const nameFor of [declarationName, latinName])
          expect(nameFor(text, new Set(), { kind: 'account', id: text })).toMatch(NAME);
      }),
    );
  });
});
