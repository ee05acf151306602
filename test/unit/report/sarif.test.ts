// SARIF against its official schema, and against what GitHub takes of it.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { DriftDocument, DriftRecord, FleetDocument } from '../../../src/model/index.js';
import { renderDrift, renderFleet } from '../../../src/report/render.js';
import { hostile } from './arbitrary.js';
import { audits, hostileAudit } from './audits.js';
import { everyStatus, fleetOf, hostileFleet, largeFleet } from './fleets.js';
import { at } from './plans.js';

interface Log {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly invocations: readonly [
        {
          readonly executionSuccessful: boolean;
          readonly toolExecutionNotifications: readonly {
            readonly message: { readonly text: string };
          }[];
        },
      ];
      readonly results: readonly Result[];
    },
  ];
}

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string };
        readonly region: object;
      };
    },
  ];
  readonly partialFingerprints: { readonly primaryLocationLineHash: string };
  readonly properties?: { readonly tenant: string };
}

const official = new URL('./official/sarif-2.1.0.schema.json', import.meta.url);
const { $schema, id, ...schema } = JSON.parse(readFileSync(official, 'utf8')) as Record<
  string,
  unknown
>;
// The schema is written in an older draft; of what differs it uses only the name of its identifier. One of its patterns is no regular expression with Unicode.
const ajv = new Ajv({
  strict: false,
  unicodeRegExp: false,
  formats: {
    uri: (text: string) => URL.canParse(text),
    'uri-reference': (text: string) =>
      URL.canParse(text, 'file:///project/') && /^[\w%./:@!$&'()*+,;=~?#-]*$/.test(text),
    'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
  },
});
const valid = ajv.compile(schema);

const style = { color: false, width: 80 };

function checked(text: string): Log {
  const log = JSON.parse(text) as Log;
  expect([valid(log), valid.errors]).toEqual([true, null]);
  return log;
}

const logOf = (document: DriftDocument): Log => checked(renderDrift(document, 'sarif', style));
const fleetLog = (document: FleetDocument): Log['runs'][0] =>
  checked(renderFleet(document, 'sarif', style)).runs[0];

const resultsOf = (document: DriftDocument): readonly Result[] => logOf(document).runs[0].results;
const [busy, , , , left] = audits.drift.drift as readonly [
  DriftRecord,
  DriftRecord,
  DriftRecord,
  DriftRecord,
  DriftRecord,
];
const only = (...drift: readonly DriftRecord[]): DriftDocument => ({
  ...audits['no-drift'],
  drift,
});

test('the schema is the official one, and refuses what is no SARIF', () => {
  expect([$schema, String(id)]).toEqual([
    'http://json-schema.org/draft-04/schema#',
    expect.stringContaining('sarif-2.1.0'),
  ]);
  expect(valid({ version: '2.1.0', runs: [{ tool: { driver: {} } }] })).toBe(false);
});

describe.each(Object.entries(audits))('the audit %s', (_, document) => {
  test('is valid, each result with its rule and a place in a file', () => {
    const [{ tool, results }] = logOf(document).runs;
    for (const { ruleId, ruleIndex, locations } of results) {
      expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
      expect(locations[0].physicalLocation.region).toMatchObject({
        startLine: expect.any(Number) as number,
      });
    }
    expect(
      new Set(results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash))
        .size,
    ).toBe(results.length);
  });
});

test('levels: drift that somebody made is an error, what settled itself a note', () => {
  const levels = resultsOf(audits.audited).map(({ ruleId, level }) => `${level} ${ruleId}`);
  expect(levels).toEqual([
    'error drift/changed',
    'error drift/changed',
    'error drift/gone',
    'error expectation/failed',
    'warning drift/missing',
    'warning drift/undeclared',
    'warning expectation/unknown',
    'warning health/destination-suspended',
    'warning health/rule-cannot-fire',
    'warning diagnostic/unknown-alert-type',
    'note drift/settled',
  ]);
});

test.each([
  ['estate.yaml', { uri: 'estate.yaml', uriBaseId: '%SRCROOT%' }],
  ['teams/näh e.yaml', { uri: 'teams/n%C3%A4h%20e.yaml', uriBaseId: '%SRCROOT%' }],
  ['a:b#c?d', { uri: 'a%3Ab%23c%3Fd', uriBaseId: '%SRCROOT%' }],
  ['/srv/estate.yaml', { uri: 'file:///srv/estate.yaml' }],
  ['C:\\estate\\a.yaml', { uri: 'file:///C%3A/estate/a.yaml' }],
])('the file %s', (file, location) => {
  const [{ locations }] = resultsOf(only({ ...busy, origin: at(7, file) })) as readonly [Result];
  expect(locations[0].physicalLocation).toEqual({
    artifactLocation: location,
    region: { startLine: 7, startColumn: 3 },
  });
});

test('what is declared nowhere has a place all the same: GitHub refuses a report without', () => {
  const files = (document: DriftDocument): readonly string[] =>
    resultsOf(document).map(({ locations }) => locations[0].physicalLocation.artifactLocation.uri);
  expect(files(only(left))).toEqual(['.']);
  expect(files(only(left, busy))).toEqual(['estate.yaml', 'estate.yaml']);
});

test('a finding keeps its fingerprint when its declaration moves, and has another one when it is about something else', () => {
  const print = (record: DriftRecord): string | undefined =>
    resultsOf(only(record))[0]?.partialFingerprints.primaryLocationLineHash;
  expect(print({ ...busy, origin: at(99, 'other.yaml'), changes: [] })).toBe(print(busy));
  expect(print({ ...busy, address: 'alert_rules.other' })).not.toBe(print(busy));
  expect(print({ ...busy, status: 'gone' })).not.toBe(print(busy));
});

test('GitHub shows 5,000 results: errors first, the rest is counted', () => {
  const of = (record: DriftRecord, count: number): readonly DriftRecord[] =>
    Array.from({ length: count }, (_, index) => ({
      ...record,
      address: `${record.address}-${index}`,
    }));
  const [{ results, invocations }] = logOf(only(...of(left, 5000), ...of(busy, 10))).runs;
  expect([results.length, results.filter(({ level }) => level === 'error').length]).toEqual([
    5000, 10,
  ]);
  expect(invocations[0].toolExecutionNotifications.map(({ message }) => message.text)).toContain(
    '10 more findings are left out.',
  );
});

test('an audit that could not be made says so', () => {
  expect(logOf(audits['no-drift']).runs[0].invocations[0].executionSuccessful).toBe(true);
  expect(logOf(hostileAudit('x')).runs[0].invocations[0].executionSuccessful).toBe(false);
});

test.each(hostile)('%j is no link, no placeholder and not long', (text) => {
  for (const { message } of resultsOf(hostileAudit(`${text} {0} [a](https://evil.example)`))) {
    expect(message.text).not.toMatch(/\]\(|(?<!\{)\{\d/);
    expect(message.text.length).toBeLessThan(2500);
  }
});

describe('a fleet', () => {
  const placeOf = ({ locations }: Result): string => {
    const { artifactLocation, region } = locations[0].physicalLocation;
    return `${artifactLocation.uri}:${(region as { startLine: number }).startLine}`;
  };

  test('is one run with the results of all tenants, each with its name and the place of its declaration', () => {
    const { results, invocations, tool } = fleetLog(everyStatus);
    expect(invocations[0].executionSuccessful).toBe(false);
    expect(tool.driver.rules.map((one) => one.id)).toContain('tenant/missing');
    const drifted = results.filter(({ ruleId }) => ruleId === 'drift/changed');
    expect(
      drifted.map((one) => [one.level, placeOf(one), one.properties?.tenant, one.message.text]),
    ).toEqual(
      [
        ['acme', 0],
        ['globex.com', 0],
        ['globex.com', 1],
        ['globex.com', 2],
      ].map(([tenant, rule]) => [
        'error',
        `base/alerting.yaml:${7 + Number(rule)}`,
        tenant,
        `${tenant}: alert_rules.rule-${rule}: the live object is not as declared.`,
      ]),
    );
    const ofRun = results.find(({ ruleId }) => ruleId === 'diagnostic/changed-tenants');
    expect(ofRun).toMatchObject({ level: 'error' });
    expect(ofRun).not.toHaveProperty('properties');
  });

  test('has a result for every tenant that did not end well, by its errors where it has any', () => {
    const { results } = fleetLog(everyStatus);
    const rulesOf = (tenant: string): readonly string[] =>
      results
        .filter(({ properties }) => properties?.tenant === tenant)
        .map(({ ruleId, level }) => `${level} ${ruleId}`);
    expect(rulesOf('t-missing')).toEqual(['error tenant/missing']);
    expect(rulesOf('t-not-run')).toEqual(['error tenant/not-run']);
    expect(rulesOf('initech')).toEqual([
      'error diagnostic/unreadable-answer',
      'warning diagnostic/some-warning',
    ]);
    expect(rulesOf('t-unchanged')).toEqual([]);
    const missing = results.find(({ ruleId }) => ruleId === 'tenant/missing')!;
    expect(placeOf(missing)).toBe('trueup.fleet.yaml:1');
  });

  test('tells one address of two tenants apart, whatever else changes', () => {
    const prints = (document: FleetDocument): readonly string[] =>
      fleetLog(document).results.map((one) => one.partialFingerprints.primaryLocationLineHash);
    const before = prints(everyStatus);
    expect(new Set(before).size).toBe(before.length);
    const moved = fleetOf(
      everyStatus.tenants.toReversed().map((one) => ({
        ...one,
        changes: one.changes.map((change) => ({ ...change, origin: at(99, 'other.yaml') })),
      })),
    );
    const after = new Set(prints(moved));
    const [ofRun] = before;
    expect(before.filter((one) => !after.has(one))).toEqual([ofRun]);
  });

  test.each([
    ['create', 'note plan/create'],
    ['delete', 'note plan/delete'],
    ['failed', 'error apply/failed'],
    ['skipped', 'warning apply/skipped'],
  ])('the change %s of a plan or an apply is a %s', (action, rule) => {
    const [tenant] = fleetOf([
      everyStatus.tenants.find(({ tenant: name }) => name === 'acme')!,
    ]).tenants;
    const one = { ...tenant!, changes: [{ ...tenant!.changes[0]!, action }] };
    const { results } = fleetLog({ ...fleetOf([one]), command: 'apply' });
    expect(results.map(({ ruleId, level }) => `${level} ${ruleId}`)).toEqual([rule]);
  });

  test('of hostile texts is valid, and shows GitHub what it takes', () => {
    for (const { message } of fleetLog(hostileFleet).results)
      expect(message.text).not.toMatch(/\]\(|(?<!\{)\{\d/);
    const { results, invocations } = fleetLog(largeFleet);
    expect(results).toHaveLength(4000);
    expect(invocations[0].executionSuccessful).toBe(true);
  });
});
