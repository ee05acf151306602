// Addresses of push destinations: what two programs may read in two ways, or would show an alert on its way, is never
// sent; everything else is sent as it is written; and where it leads is what WHATWG reads.
import fc from 'fast-check';
import { afterEach, describe, expect, it, test } from 'vitest';
import type { Estate } from '../../../src/emulator/index.js';
import {
  faultsOf,
  Reference,
  Template,
  type JsonObject,
  type Value,
  type Values,
} from '../../../src/model/index.js';
import { registrableDomain } from '../../../src/resources/rules/registrable-domains.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { planChange } from '../../../src/terraform/plan-resource.js';
import { providerSchema } from '../../../src/terraform/terraform-schema.js';
import { folder, type Folder } from '../../support/cli.js';
import { box, type Box } from '../../support/box.js';
import { blocked, declare, entry, kindOf, live, planScene } from '../../support/planning.js';
import { complete } from '../../support/provider.js';
import { drawn } from '../../support/drawn.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const bad: readonly (readonly [url: string, words: RegExp])[] = [
  ['https://good.example\\@evil.example/', /holds a backslash/],
  ['https:\\\\good.example/', /holds a backslash/],
  ['https://good.example/a\\b', /holds a backslash/],
  ['https://user:hunter2@good.example/', /holds a user name or a password/],
  ['https://user@good.example/', /holds a user name/],
  ['https://:hunter2@good.example/', /holds a user name/],
  ['https://@good.example/', /holds a user name/],
  ['https:user:hunter2@good.example/', /holds a user name/],
  [' https://good.example/', /holds a blank or a control character/],
  ['https://good.example/ ', /holds a blank/],
  ['https://good.example/a b', /holds a blank/],
  ['https://good.example/\u00a0', /holds a blank/],
  ['https://good.exa\tmple/', /holds a blank or a control character/],
  ['https://good.example/\n', /holds a blank or a control character/],
  ['https://good.example/\u0000', /control character/],
  ['https://good.example/\u0085', /control character/],
  ['http://good.example/', /begins with http:\/\/ instead of https:\/\//],
  ['HTTP://good.example/', /begins with http:\/\//],
  ['http://127.0.0.1.good.example/', /begins with http:\/\//],
  ['http://localhost.good.example/', /begins with http:\/\//],
  ['ftp://good.example/', /begins with ftp:\/\//],
  ['javascript:alert(1)', /begins with javascript:/],
  ['file:///etc/passwd', /begins with file:/],
  ['good.example/hook', /is not a URL/],
  ['//good.example/hook', /is not a URL/],
  ['https://', /is not a URL/],
  ['https://good.example:99999/', /is not a URL/],
  ['https://[::1/', /is not a URL/],
  ['https://good%00.example/', /is not a URL/],
  ['', /is not a URL/],
];

const good: readonly string[] = [
  'https://good.example/hook',
  'https://good.example',
  'HTTPS://Good.Example:8443/hook?a=1&b=2#part',
  'https://good.example/@at/path',
  'https://good.example/?who=me@good.example',
  'https://good.example/#@',
  'https://good.example/%5C%20%40',
  'https://bücher.example/',
  'https://203.0.113.7/',
  'https://[2001:db8::1]/',
  'http://localhost:8080/hook',
  'http://127.0.0.1/',
  'http://[::1]:9000/',
];

const destinations = kindOf('alert_push_destinations');
const faults = (url: string, there?: string) =>
  faultsOf(
    destinations,
    { endpoint: { url } },
    there === undefined ? {} : { endpoint: { url: there } },
  );

describe('an address', () => {
  it.each(bad)('%j is refused: %s', (url, words) => {
    expect(faults(url)).toMatchObject([
      {
        severity: 'error',
        code: 'bad-url',
        attribute: 'endpoint.url',
        summary: expect.stringMatching(words) as string,
      },
    ]);
    expect(faults(url, url)).toMatchObject([{ severity: 'warning' }]);
    expect(faults(url, 'https://good.example/')).toMatchObject([{ severity: 'error' }]);
    for (const { summary, detail } of faults(url))
      expect(`${summary} ${detail}`).not.toMatch(/hunter2|evil|good\.example/);
  });

  it.each(good)('%j is sent as it is written', (url) => expect(faults(url)).toEqual([]));

  it('is read alike however often', () => {
    for (let turn = 0; turn < 20_000; turn += 1)
      expect(faults('https://b\u00fccher.example/')).toEqual([]);
  });

  it('leads where WHATWG reads it, whatever is taken', () => {
    const parts = fc.constantFrom(
      'https',
      'http',
      ':',
      '/',
      '//',
      '\\',
      '@',
      'good.example',
      'evil.example',
      '#',
      '?',
      ' ',
      '\t',
      '.',
      '127.0.0.1',
      '[::1]',
      '%2f',
      'x',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 9 }), (some) => {
        const url = `https:${some.join('')}`;
        if (faults(url).length > 0) return;
        const { host, username, password } = new URL(url);
        expect([username, password]).toEqual(['', '']);
        // What stands between the slashes is the host, to whoever reads it.
        expect(
          url
            .replace(/^https:\/*/, '')
            .split(/[/?#]/)[0]
            ?.toLowerCase(),
        ).toContain(host.replace(/^\[|\]$/g, '').slice(0, 1));
      }),
      { numRuns: drawn(3000) },
    );
  });
});

test.each([
  ['https://good.example\\@evil.example/', 'good.example'],
  ['https://good.example@evil.example/', 'evil.example'],
  ['https://evil.example#@good.example', 'evil.example'],
  ['https://evil.example?@good.example', 'evil.example'],
  ['https://a.b.Good.co.UK:8443/', 'good.co.uk'],
  ['https://0x7f.1/', '127.0.0.1'],
  ['https://[2001:db8::1]/', '[2001:db8::1]'],
  ['no url', undefined],
])('the domain of %j is %s', (url, domain) => expect(registrableDomain(url)).toBe(domain));

describe('destination-moved', () => {
  const moves = (from: string, to: Value) => {
    const there = { name: 'Pager', endpoint: { url: from } };
    return planScene({
      declared: [
        declare('accounts.new', { name: 'New' }),
        declare('alert_push_destinations.p', { name: 'Pager', endpoint: { url: to } }),
      ],
      state: { 'alert_push_destinations.p': entry('alert_push_destinations', 'd1', there) },
      live: { alert_push_destinations: [live('alert_push_destinations', 'd1', there)] },
    });
  };

  test.each<readonly [from: string, to: string, rules: readonly string[]]>([
    ['https://a.good.example/', 'https://b.good.example/', []],
    ['https://good.example/', 'https://evil.example/', ['destination-moved']],
    ['https://good.example@evil.example/', 'https://good.example/', ['destination-moved']],
    ['https://evil.example#@good.example', 'https://good.example/', ['destination-moved']],
    ['https://localhost/', 'http://localhost/', ['destination-moved']],
    ['http://localhost/', 'https://localhost/', []],
    ...['azurewebsites.net', 'herokuapp.com', 's3.amazonaws.com', 'github.io', 'ngrok.io'].flatMap(
      (suffix) => [
        [`https://ours.${suffix}/`, `https://stranger.${suffix}/`, ['destination-moved']] as const,
        [`https://ours.${suffix}/`, `https://a.ours.${suffix}/`, []] as const,
      ],
    ),
    ['no url', 'https://good.example/', ['destination-moved']],
  ])('from %s to %s: %j', (from, to, rules) => expect(blocked(moves(from, to))).toEqual(rules));

  const made = new Reference('declared', 'accounts.new', 'id');
  const after = (...parts: Template['parts']): Template => new Template(parts);
  test.each<[what: string, to: Value, rules: readonly string[]]>([
    ['another host', after('https://evil.example/', made), ['destination-moved']],
    ['the same host', after('https://b.good.example/', made), []],
    ['the same host without TLS', after('http://good.example/', made), ['destination-moved']],
    ['a part of the host', after('https://good.example', made), ['destination-moved']],
    [
      'a host behind a user name',
      after('https://good.example', made, '@evil.example/'),
      ['destination-moved'],
    ],
    ['everything', made, ['destination-moved']],
  ])('where a part is known only after apply: %s', (_, to, rules) =>
    expect(blocked(moves('https://a.good.example/', to))).toEqual(rules),
  );

  test('says what moves, and repeats no address', () => {
    const [verdict] = moves('https://localhost/?key=hunter2', 'http://localhost/?key=hunter2').plan
      .verdicts;
    expect(verdict?.detail).toBe(
      'alert_push_destinations.p moves from localhost to localhost, and from https to http',
    );
    expect(moves('https://good.example/', made).plan.verdicts[0]?.detail).toBe(
      'alert_push_destinations.p moves from good.example to an address that is known only after apply',
    );
    expect(moves('hunter2', 'https://good.example/').plan.verdicts[0]?.detail).toBe(
      'alert_push_destinations.p moves from an address that is not a URL to good.example',
    );
  });
});

describe('through the command', () => {
  const evil = 'https://user:hunter2@good.example/';
  /** In one line, as it was before it was broken at the width of the screen. */
  const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
  const estate = (url: string): Estate => ({
    version: 1,
    root: '1',
    records: {
      accounts: [
        { id: '1', name: 'Headquarters', account: null },
        { id: '2', name: evil, account: '1' },
      ],
      alert_push_destinations: [
        {
          destination_config_id: '0de06d30-aa9b-11f0-9b22-116adc8ab9a4',
          name: 'Pager',
          enabled: true,
          endpoint: { url },
        },
      ],
    },
  });
  const open = async (url: string): Promise<Box> => {
    const one = await box(estate(url));
    boxes.push(one);
    return one;
  };
  const declared = (url: string, before = '', more = ''): Folder =>
    folder({
      'trueup.yaml': `${before}alert_push_destinations:\n  pager:\n    name: Pager\n    endpoint: { url: ${JSON.stringify(url)} }\n${more}`,
    });

  test.each([
    ['', evil],
    [`variables: { where: "${evil}" }\n`, '${var.where}'],
  ])('validate refuses it, with its place and without repeating it: %s%s', async (before, url) => {
    const stderr = flat((await declared(url, before).expect(1, ['validate'])).stderr);
    expect(stderr).toContain(
      'alert_push_destinations.pager: `endpoint.url` holds a user name or a password',
    );
    expect(stderr).toMatch(/trueup\.yaml:\d+:17 · .* · \[bad-url\]/);
    expect(stderr).not.toContain('hunter2');
  });

  test('plan and apply refuse it, and send nothing', async () => {
    const there = await open('https://good.example/');
    const home = declared(evil);
    for (const verb of [['plan'], ['apply', '--auto-approve']]) {
      const { stdout, stderr } = await home.expect(1, verb, there);
      expect(flat(stderr)).toContain(
        'alert_push_destinations.pager: `endpoint.url` holds a user name or a password',
      );
      expect(stdout + stderr).not.toContain('hunter2');
    }
    expect(there.writes()).toEqual([]);
  });

  test('what is live already is a warning, in plan, and in validate once the state knows it', async () => {
    const there = await open(evil);
    const home = declared(evil, '', '    enabled: false\n');
    expect(flat((await home.expect(0, ['plan', '--allow', 'first-run'], there)).stderr)).toContain(
      'The live object has it already, so it stays.',
    );
    await home.expect(1, ['validate']);
    await home.expect(0, ['apply', '--auto-approve', '--allow', 'first-run'], there);
    expect(there.writes()).toHaveLength(1);
    expect(flat((await home.expect(0, ['validate'])).stderr)).toContain(
      'warning: alert_push_destinations.pager: `endpoint.url` holds a user name',
    );
    await home.expect(0, ['plan', '--detailed-exitcode'], there);
  });

  test('a reference to one is refused by plan; one that only apply can fill, before it is sent', async () => {
    const there = await open(evil);
    const copied = folder({
      'trueup.yaml':
        'lookups: { old: { accounts: { id: "2" } } }\nalert_push_destinations:\n  new: { name: New, endpoint: { url: "${lookups.old.name}" } }\n',
    });
    await copied.expect(0, ['validate']);
    expect(flat((await copied.expect(1, ['plan'], there)).stderr)).toContain(
      'alert_push_destinations.new: `endpoint.url` holds a user name or a password',
    );
    const late = folder({
      'trueup.yaml':
        'accounts:\n  a: { name: A }\nalert_push_destinations:\n  new: { name: New, endpoint: { url: "https://${accounts.a.id}@good.example/" } }\n',
    });
    await late.expect(0, ['plan'], there);
    expect(flat((await late.expect(7, ['apply', '--auto-approve'], there)).stderr)).toContain(
      'holds a user name or a password',
    );
    expect(there.writes()).toEqual(['POST /api/v2/accounts/']);
  });
});

describe('the provider', () => {
  const { attributes } = providerSchema(kinds, collections).resources[
    'devicecloud_alert_push_destination'
  ] as { readonly attributes: Parameters<typeof complete>[0] };
  const plan = (url: string, prior: string | null, more: JsonObject = {}) =>
    planChange({
      kind: destinations,
      schema: attributes,
      prior:
        prior === null
          ? null
          : complete(attributes, {
              destination_config_id: 'd1',
              name: 'N',
              endpoint: { url: prior },
            }),
      config: complete(attributes, { name: 'N', endpoint: { url }, ...more }),
    });

  test('refuses to plan it, with the path of the attribute', () => {
    for (const prior of [null, 'https://good.example/'])
      expect(plan('https://a@good.example/', prior)).toEqual({
        diagnostics: [
          {
            severity: 'error',
            summary: '`endpoint.url` holds a user name or a password',
            detail: expect.any(String) as string,
            path: ['endpoint', 'url'],
          },
        ],
      });
  });

  test('warns of what is live already', () => {
    expect(
      plan('https://a@good.example/', 'https://a@good.example/', { enabled: true }),
    ).toMatchObject({ planned_state: { name: 'N' }, diagnostics: [{ severity: 'warning' }] });
    expect(plan('https://good.example/', null)).not.toHaveProperty('diagnostics');
  });
});

test('what is not known yet is not judged', () => {
  for (const values of [{}, { endpoint: {} }, { endpoint: { url: null } }] as Values[])
    expect(faultsOf(destinations, values)).toEqual([]);
});
