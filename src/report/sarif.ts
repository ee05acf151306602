// An audit for code scanning: SARIF 2.1.0, one result per object, at the line that declares it. Every result has a
// location in a file, because GitHub refuses the whole report otherwise.
import { createHash } from 'node:crypto';
import {
  type Diagnostic,
  type DriftDocument,
  type DriftRecord,
  type Origin,
  type Verified,
  own,
} from '../model/index.js';
import { inline, oneLine, recordDifference } from './differences.js';
import { inert, shorten } from './escaping.js';
import { jsonText } from './json-output.js';
import {
  healthIssueSentence,
  changedBy,
  driftMeanings,
  driftSentence,
  expectationSentence,
} from './words.js';

type Level = 'error' | 'warning' | 'note';

interface Finding {
  /** Stable name of what kind of thing this is. */
  readonly rule: string;
  readonly level: Level;
  /** The subject of the finding: an address, or the name of an expectation. */
  readonly subject: string;
  readonly message: string;
  readonly origin: Origin | null | undefined;
}

/** GitHub shows no more results of one run, and reads no more of each text. */
const mostResults = 5000;
const longestText = 1000;

const urgency: Readonly<Record<Level, number>> = { error: 0, warning: 1, note: 2 };
const driftLevels: Readonly<Record<DriftRecord['status'], Level>> = {
  changed: 'error',
  gone: 'error',
  replaced: 'error',
  missing: 'warning',
  undeclared: 'warning',
  settled: 'note',
};

export function driftSarif(document: DriftDocument): string {
  const { diagnostics, generated_from: source } = document;
  const findings = findingsOf(document).toSorted((a, b) => urgency[a.level] - urgency[b.level]);
  const shown = findings.slice(0, mostResults);
  const rules = [...new Set(shown.map(({ rule }) => rule))].toSorted();
  const file = shown.find(({ origin }) => origin)?.origin?.file ?? source.paths[0] ?? '.';
  const left = findings.length - shown.length;
  const told = [
    driftSentence(document),
    ...(left > 0 ? [`${left} more findings are left out.`] : []),
  ];
  const driver = {
    name: 'trueup',
    semanticVersion: document.trueup_version,
    rules: rules.map(ruleOf),
  };
  const invocation = {
    executionSuccessful: !diagnostics.some(({ severity }) => severity === 'error'),
    endTimeUtc: document.generated_at,
    toolExecutionNotifications: told.map((text) => ({ level: 'note', message: messageOf(text) })),
  };
  const run = {
    tool: { driver },
    columnKind: 'utf16CodeUnits',
    invocations: [invocation],
    results: shown.map((finding) => resultOf(finding, rules, file)),
  };
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return jsonText({ $schema, version: '2.1.0', runs: [run] });
}

function findingsOf(document: DriftDocument): readonly Finding[] {
  const { drift, expectations, health, diagnostics } = document;
  const origins = new Map(drift.map(({ address, origin }) => [address, origin]));
  return [
    ...drift.map(driftFinding),
    ...expectations.filter(({ verdict }) => verdict !== 'met').map(expectationFinding),
    ...health.map((issue): Finding => {
      const subject = issue.address ?? `${issue.kind} ${issue.id}`;
      const [rule, message] = [`health/${issue.code}`, healthIssueSentence(issue)];
      return { rule, level: 'warning', subject, message, origin: origins.get(subject) };
    }),
    ...diagnostics.map(diagnosticFinding),
  ];
}

function driftFinding(record: DriftRecord): Finding {
  const { status, address, changes, origin } = record;
  const differences = changes.map((change) => {
    const difference = recordDifference(record)(change);
    return `${difference.path}: ${oneLine(difference) ?? `${inline(difference.before ?? null)} → ${inline(difference.after ?? null)}`}`;
  });
  const message = [`${address}: ${driftMeanings[status]}`, ...differences, changedBy(record)];
  return {
    rule: `drift/${status}`,
    level: driftLevels[status],
    subject: address,
    message: message.map((sentence) => `${sentence}.`).join(' '),
    origin,
  };
}

function expectationFinding(verified: Verified): Finding {
  const { name, verdict, offenders, origin } = verified;
  const named = offenders.map(({ id, why }) => ` ${id}: ${why}.`).join('');
  return {
    rule: `expectation/${verdict}`,
    level: verdict === 'failed' ? 'error' : 'warning',
    subject: `expectations.${name}`,
    message: `expectations.${name}: ${expectationSentence(verified)}.${named}`,
    origin,
  };
}

function diagnosticFinding(diagnostic: Diagnostic): Finding {
  const { code, severity, summary, detail, address, attribute, origin } = diagnostic;
  const subject = [address, attribute, summary].filter((one) => one !== undefined).join(' ');
  return {
    rule: `diagnostic/${code}`,
    level: severity === 'info' ? 'note' : severity,
    subject,
    message: detail === undefined ? summary : `${summary} ${detail}`,
    origin,
  };
}

function ruleOf(id: string): object {
  const [family = '', name = ''] = id.split('/');
  const meaning =
    family === 'drift'
      ? (own<string>(driftMeanings, name) ?? name)
      : `${family}: ${name.replaceAll('-', ' ')}`;
  return {
    id,
    shortDescription: messageOf(meaning),
    fullDescription: messageOf(`${meaning}. Reported by trueup drift.`),
  };
}

function resultOf(
  { rule, level, subject, message, origin }: Finding,
  rules: readonly string[],
  file: string,
): object {
  const { line, column } = origin ?? { line: 1, column: 1 };
  const fingerprint = createHash('sha256').update(`${rule}\n${subject}`).digest('hex').slice(0, 16);
  const location = {
    physicalLocation: {
      artifactLocation: artifactOf(origin?.file ?? file),
      region: { startLine: Math.max(line, 1), startColumn: Math.max(column, 1) },
    },
    logicalLocations: [{ fullyQualifiedName: shorten(subject, longestText) }],
  };
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level,
    message: messageOf(message),
    locations: [location],
    // The same finding keeps its alert when lines above its declaration come and go.
    partialFingerprints: { primaryLocationLineHash: `${fingerprint}:1` },
  };
}

/** A path of the project is relative to its root; an absolute one is a URI of its own. */
function artifactOf(path: string): object {
  const uri = inert(shorten(path, longestText).replaceAll('\\', '/'))
    .split('/')
    .map(encodeURIComponent)
    .join('/');
  const absolute = /^(?:\/|[A-Za-z]%3A\/)/.test(uri);
  return absolute
    ? { uri: `file://${uri.startsWith('/') ? '' : '/'}${uri}` }
    : { uri, uriBaseId: '%SRCROOT%' };
}

/** Plain text: neither a placeholder (`{0}`) nor an embedded link (`[text](target)`). */
function messageOf(text: string): { readonly text: string } {
  return { text: shorten(text, longestText).replaceAll('](', ']\\u0028').replace(/[{}]/g, '$&$&') };
}
