// A service may HTML-escape the texts it answers. Escaped and plain forms mean the same wherever they are compared; what
// is stored, exported and referred to is plain; what nobody declares travels exactly as it was read.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Behaviours, Estate } from '../../src/emulator/index.js';
import {
  document,
  flag,
  list,
  normal,
  object,
  Reference,
  same,
  set,
  text,
  type Attribute,
  type Values,
} from '../../src/model/index.js';
import { resultOf, stateOf } from '../../src/terraform/convert.js';
import { Unknown } from '../../src/terraform/protocol/cty.js';
import { folder } from '../support/cli.js';
import { box, type Box } from '../support/box.js';
import { declare, kindOf } from '../support/planning.js';
import { desire, rig } from '../support/rig.js';
import { drawn } from '../support/drawn.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const plain = `O'Brien & "Sons" <R&D>`;
const escaped = 'O&#39;Brien &amp; &quot;Sons&quot; &lt;R&amp;D&gt;';
const destination = '11111111-aaaa-11ef-8000-000000000001';
const rule = '22222222-aaaa-11ef-8000-000000000001';
const estate: Estate = {
  version: 1,
  next_id: 50,
  root: '1',
  records: {
    accounts: [
      { id: '1', name: 'Headquarters', account: null },
      { id: '12', name: plain, account: '1' },
      { id: '13', name: 'Lab', account: '12' },
    ],
    alert_push_destinations: [
      {
        destination_config_id: destination,
        name: plain,
        enabled: true,
        endpoint: { url: 'https://hooks.example.com/?a=1&b=2' },
      },
    ],
    alert_rules: [
      {
        alert_config_id: rule,
        associated_accounts: [12],
        http_destinations: [destination],
        settings: { [plain]: [{ text: plain }] },
      },
    ],
    configuration_managers: [
      {
        id: '30',
        router: '12',
        account: '1',
        configuration: [{ wlan: { ssid: plain, hidden: true } }, []],
      },
    ],
  },
};

async function open(behaviours: Partial<Behaviours> = { escape_html: true }): Promise<Box> {
  const one = await box(estate, behaviours);
  boxes.push(one);
  return one;
}

describe('both forms are equal, on either side, for', () => {
  const of = (attribute: Attribute, a: unknown, b: unknown): boolean =>
    same(attribute, normal(attribute, a as never), normal(attribute, b as never));

  test.each<[string, Attribute, unknown, unknown]>([
    ['a text', text(''), plain, escaped],
    ['hexadecimal and named entities', text(''), `'"`, '&#x27;&quot;'],
    ['a set of texts', set('', text('')), ['b', plain], [escaped, 'b']],
    ['a list of texts', list('', text('')), ['b', plain], ['b', escaped]],
    [
      'a member of an object',
      object('', { inner: text('') }),
      { inner: plain },
      { inner: escaped },
    ],
    ['a document', document(''), { a: [{ b: plain }], c: 1 }, { a: [{ b: escaped }], c: 1 }],
    ['a text that holds an entity itself', text(''), 'R&amp;D', 'R&amp;amp;D'],
    ['a text that was escaped twice', text(''), 'R&D', 'R&amp;amp;D'],
  ])('%s', (_, attribute, one, other) => {
    expect([of(attribute, one, other), of(attribute, other, one)]).toEqual([true, true]);
  });

  test.each<[string, Attribute, unknown, unknown]>([
    ['another text', text(''), plain, 'O&#39;Brian'],
    ['half an entity', text(''), 'R&D', 'R&ampD'],
    ['an entity that nobody knows', text(''), 'R D', 'R&nbsp;D'],
    ['another member', document(''), { a: 'R&D', b: 'x' }, { a: 'R&amp;D', b: 'y' }],
    ['a flag', flag(''), true, 'true'],
  ])('but not for %s', (_, attribute, one, other) => {
    expect([of(attribute, one, other), of(attribute, other, one)]).toEqual([false, false]);
  });
});

describe('a plan after an apply is empty with escaping on', () => {
  const texts = fc
    .array(
      fc.oneof(
        fc.constantFrom('&', "'", '"', '<', '>', '&amp;', '&#39;', '&lt;'),
        fc.constantFrom('a', 'b ', 'é'),
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => `x${parts.join('')}`);
  const project = (name: string, other: string) =>
    desire(
      declare('accounts.a', { name }),
      declare('accounts.b', {
        name: new Reference('declared', 'accounts.a', 'name'),
        account: new Reference('declared', 'accounts.a', 'id'),
      }),
      declare('alert_push_destinations.d', {
        name,
        endpoint: { url: `https://hooks.example.com/?q=${encodeURIComponent(name)}&r=1` },
      }),
      declare('alert_rules.r', {
        associated_accounts: [new Reference('declared', 'accounts.a', 'id')],
        settings: { text: other, list: [name] },
      }),
    );

  test('in every text, after a change, and with the state lost', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, async (name, other) => {
        const cloud = rig({ behaviours: { escape_html: true } });
        for (const wanted of [project(name, name), project(name, other)]) {
          expect((await cloud.apply(wanted, { allow: ['rule-without-destination'] })).exit).toBe(0);
          const { plan, exit } = await cloud.plan(wanted);
          expect([
            exit,
            plan.changes.filter(({ action }) => action !== 'keep'),
            plan.drift,
          ]).toEqual([0, [], []]);
        }
        expect(cloud.objects('accounts').map((one) => one['name'])).toContain(name);
        await cloud.files.remove('/sim/state.json');
        const { plan } = await cloud.plan(project(name, other));
        expect(
          plan.changes.map((change) => [change.action, 'changes' in change && change.changes]),
        ).toEqual(Array.from({ length: 4 }, () => ['adopt', []]));
        await cloud.apply(project(name, other));
        expect((await cloud.snapshot())?.state.resources['accounts.a']?.observed['name']).toBe(
          name,
        );
      }),
      { numRuns: drawn(60) },
    );
  });
});

describe('through the command', () => {
  test('an export is plain, and plans empty with escaping on and off', async () => {
    const home = folder();
    const there = await open();
    await home.expect(0, ['export', '--out', '.'], there);
    const written = ['accounts', 'alert_push_destinations', 'alert_rules', 'configuration_managers']
      .map((name) => home.read(`${name}.yaml`))
      .join('\n');
    expect(written).not.toMatch(/&(?:amp|lt|gt|quot|#39);/);
    expect(written).toContain('o-brien');
    expect(written).toContain('https://hooks.example.com/?a=1&b=2');
    await home.expect(0, ['plan', '--detailed-exitcode'], there);
    await home.expect(0, ['plan', '--detailed-exitcode'], await open({}));
    await home.expect(0, ['export', '--format', 'hcl', '--out', 'hcl'], there);
    const hcl = readdirSync(join(home.path, 'hcl')).map((name) => home.read(`hcl/${name}`));
    expect(hcl.join('\n')).toContain("O'Brien");
    expect(hcl.join('\n')).not.toMatch(/&(?:amp|lt|gt|quot|#39);/);
  });

  test('lookups, adoption by name and filters take either form; import stores the plain one', async () => {
    const there = await open();
    for (const name of [plain, escaped]) {
      const home = folder({
        'trueup.yaml': `lookups: { there: { accounts: { name: ${JSON.stringify(name)} } } }
accounts:
  same: { name: ${JSON.stringify(name)}, account: "1" }
  below: { name: "Below \${lookups.there.name}", account: "\${lookups.there.id}" }
`,
      });
      const { resource_changes: planned } = JSON.parse(
        (await home.expect(0, ['plan', '--format', 'json'], there)).stdout,
      ) as {
        resource_changes: { change: { actions: string[]; after: { name: string } } }[];
      };
      expect(planned.map(({ change }) => change.actions[0])).toEqual(['create', 'no-op']);
      expect(planned[0]?.change.after.name).toBe(`Below ${plain}`);
      expect(
        (await home.expect(0, ['get', 'accounts', '--filter', `name=${name}`, '-o', 'json'], there))
          .stdout,
      ).toContain('"id": "12"');
      await home.expect(0, ['import', 'accounts.same', '12'], there);
      expect(home.read('.trueup/state.json')).toContain(JSON.stringify(plain).slice(1, -1));
      expect(home.read('.trueup/state.json')).not.toContain('&#39;');
    }
  });

  test('what is not declared goes back byte for byte', async () => {
    const there = await open();
    const bodies: string[] = [];
    there.intercept = async (request, proceed) => {
      if (request.method === 'PUT') bodies.push(await request.clone().text());
      return proceed();
    };
    const home = folder({
      'trueup.yaml': `accounts:\n  same: { name: whatever, account: "13", lifecycle: { adopt: "12", ignore_changes: [name] } }\n`,
    });
    there.tamper('accounts', (records) =>
      records.map((one) => (one['id'] === '13' ? { ...one, account: '1' } : one)),
    );
    await home.run(['apply', '--auto-approve'], there);
    expect(bodies).toEqual([JSON.stringify({ name: escaped, account: '13' })]);
  });
});

describe('the provider', () => {
  const { attributes } = kindOf('alert_rules');
  const read: Values = {
    schedule: escaped,
    settings: { a: escaped },
    filter_criteria: { alert_type__in: [escaped] },
    resource_url: 'https://x.example/?a=1&amp;b=2',
  };
  const held = {
    schedule: plain,
    settings: JSON.stringify({ a: plain }),
    filter_criteria: { alert_type__in: [plain] },
    resource_url: 'https://x.example/?a=1&b=2',
  };

  test('imports the plain form', () => {
    expect(stateOf(attributes, read, null)).toMatchObject(held);
    expect(
      resultOf(
        attributes,
        Object.fromEntries(Object.keys(held).map((name) => [name, new Unknown()])),
        read,
      ),
    ).toEqual(held);
  });

  test('keeps what its state holds, in either form', () => {
    for (const prior of [
      held,
      { ...held, schedule: escaped, settings: JSON.stringify({ a: escaped }) },
    ])
      expect(stateOf(attributes, read, prior)).toMatchObject(prior);
  });
});
