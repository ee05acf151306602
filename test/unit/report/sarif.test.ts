// SARIF against its official schema, and against what GitHub takes of it.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type { DriftDocument, DriftRecord } from '../../../src/model/index.js';
import { renderDrift } from '../../../src/report/render.js';
import { hostile } from './arbitrary.js';
import { audits, hostileAudit } from './audits.js';
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

function logOf(document: DriftDocument): Log {
  const log = JSON.parse(renderDrift(document, 'sarif', { color: false, width: 80 })) as Log;
  expect([valid(log), valid.errors]).toEqual([true, null]);
  return log;
}

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
