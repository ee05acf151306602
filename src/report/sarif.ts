// An audit, or the run of a fleet, for code scanning: SARIF 2.1.0, one result per object, at the line that declares it.
// Every result has a location in a file, because GitHub refuses the whole report otherwise.
import { createHash } from 'node:crypto';
import {
  type Diagnostic,
  type DriftDocument,
  type DriftRecord,
  type FleetDocument,
  type Origin,
  type TenantChange,
  type TenantEntry,
  type Verified,
  defined,
  isGood,
  own,
} from '../model/index.js';
import { inline, oneLine, recordDifference } from './differences.js';
import { inert, shorten } from './escaping.js';
import { fleetSentence } from './fleet-text.js';
import { jsonText } from './json-output.js';
import {
  healthIssueSentence,
  changedBy,
  driftMeaning,
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
  /** Of a fleet. */
  readonly tenant?: string;
}

interface Report {
  /** What was run, such as `drift`. */
  readonly command: string;
  readonly sentence: string;
  /** The most urgent first. */
  readonly findings: readonly Finding[];
  /** Whether nothing was left unchecked. */
  readonly isWhole: boolean;
  /** The place of what has none. */
  readonly file: string;
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
/** Outcomes of what was to be written. */
const undoneLevels: Readonly<Record<string, Level>> = {
  failed: 'error',
  unknown: 'error',
  skipped: 'warning',
};

export function driftSarif(document: DriftDocument): string {
  const { diagnostics, generated_from: source } = document;
  const findings = byUrgency(findingsOf(document));
  const file = findings.find(({ origin }) => origin)?.origin?.file;
  return logOf(document, {
    command: 'drift',
    sentence: driftSentence(document),
    findings,
    isWhole: !diagnostics.some(isError),
    file: file ?? source.paths[0] ?? '.',
  });
}

/** One run with the results of all tenants; each names its tenant. */
export function fleetSarif(document: FleetDocument): string {
  const { command, tenants, diagnostics } = document;
  return logOf(document, {
    command: `fleet ${command}`,
    sentence: fleetSentence(document),
    findings: byUrgency([
      ...diagnostics.map(diagnosticFinding),
      ...tenants.flatMap(tenantFindings),
    ]),
    isWhole: !diagnostics.some(isError) && tenants.every(({ exit }) => isGood(exit)),
    file: 'trueup.fleet.yaml',
  });
}

function logOf(
  { trueup_version, generated_at }: Pick<DriftDocument, 'trueup_version' | 'generated_at'>,
  { command, sentence, findings, isWhole, file }: Report,
): string {
  const shown = findings.slice(0, mostResults);
  const rules = [...new Set(shown.map(({ rule }) => rule))].toSorted();
  const left = findings.length - shown.length;
  const told = [sentence, ...(left > 0 ? [`${left} more findings are left out.`] : [])];
  const driver = {
    name: 'trueup',
    semanticVersion: trueup_version,
    rules: rules.map((rule) => ruleOf(rule, command)),
  };
  const invocation = {
    executionSuccessful: isWhole,
    endTimeUtc: generated_at,
    toolExecutionNotifications: told.map((text) => ({ level: 'note', message: messageOf(text) })),
  };
  const places = new Map(rules.map((rule, index) => [rule, index]));
  const run = {
    tool: { driver },
    columnKind: 'utf16CodeUnits',
    invocations: [invocation],
    results: shown.map((finding) => resultOf(finding, places.get(finding.rule)!, file)),
  };
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return jsonText({ $schema, version: '2.1.0', runs: [run] });
}

const byUrgency = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((a, b) => urgency[a.level] - urgency[b.level]);

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

function tenantFindings(entry: TenantEntry): readonly Finding[] {
  const { tenant, status, summary, changes, diagnostics } = entry;
  // What went wrong is said by its errors, if there are any.
  const isSaid = isGood(entry.exit) || diagnostics.some(isError);
  const ended: Finding = {
    rule: `tenant/${status}`,
    level: 'error',
    subject: tenant,
    message: summary,
    origin: undefined,
  };
  return [
    ...(isSaid ? [] : [ended]),
    ...changes.map(changeFinding),
    ...diagnostics.map(diagnosticFinding),
  ].map((one) => ({ ...one, message: `${tenant}: ${one.message}`, tenant }));
}

/** An action of a plan is a note, because it is what was declared; drift and what was not done are more. */
function changeFinding({ address, action, origin }: TenantChange): Finding {
  const meaning = own<string>(driftMeanings, action);
  const undone = own<Level>(undoneLevels, action);
  const family = meaning === undefined ? 'plan' : 'drift';
  return {
    rule: undone === undefined ? `${family}/${action}` : `apply/${action}`,
    level: undone ?? own<Level>(driftLevels, action) ?? 'note',
    subject: address,
    message: `${address}: ${meaning ?? action}.`,
    origin,
  };
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
    return `${difference.path}: ${oneLine(difference) ?? `${inline(difference.before ?? null, difference.labels)} → ${inline(difference.after ?? null, difference.labels)}`}`;
  });
  const message = [`${address}: ${driftMeaning(record)}`, ...differences, changedBy(record)];
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

function ruleOf(id: string, command: string): object {
  const [family = '', name = ''] = id.split('/');
  const meaning =
    family === 'drift'
      ? (own<string>(driftMeanings, name) ?? name)
      : `${family}: ${name.replaceAll('-', ' ')}`;
  return {
    id,
    shortDescription: messageOf(meaning),
    fullDescription: messageOf(`${meaning}. Reported by trueup ${command}.`),
  };
}

function resultOf(
  { rule, level, subject, message, origin, tenant }: Finding,
  ruleIndex: number,
  file: string,
): object {
  const { line, column } = origin ?? { line: 1, column: 1 };
  const about = [...(tenant === undefined ? [] : [tenant]), rule, subject];
  const fingerprint = createHash('sha256').update(about.join('\n')).digest('hex').slice(0, 16);
  const location = {
    physicalLocation: {
      artifactLocation: artifactOf(origin?.file ?? file),
      region: { startLine: Math.max(line, 1), startColumn: Math.max(column, 1) },
    },
    logicalLocations: [{ fullyQualifiedName: shorten(subject, longestText) }],
  };
  return {
    ruleId: rule,
    ruleIndex,
    level,
    message: messageOf(message),
    locations: [location],
    // The same finding keeps its alert when lines above its declaration come and go.
    partialFingerprints: { primaryLocationLineHash: `${fingerprint}:1` },
    ...defined({ properties: tenant === undefined ? undefined : { tenant } }),
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
