// An audit for test runners: one suite per kind, one case per address, a failure if it drifted. Elements and attributes
// are in an order that both Ant's and Jenkins' schemas accept.
import {
  groupedBy,
  isGood,
  tryAddress,
  type DriftDocument,
  type DriftRecord,
  type FleetDocument,
  type TenantEntry,
  type UnmanagedRecord,
  type Verified,
} from '../model/index.js';
import { renderDiagnostics } from './diagnostics-text.js';
import { recordLines } from './drift-text.js';
import { guard } from './escaping.js';
import {
  authorSentence,
  healthIssueSentence,
  driftMeaning,
  driftSentence,
  expectationSentence,
  place,
  unmanagedObjectSentence,
} from './words.js';
import { markup, type Markup } from './markup.js';
import { screenOf, type Style } from './style.js';

interface Case {
  readonly suite: string;
  readonly name: string;
  readonly error?: {
    readonly element: 'failure' | 'error';
    readonly type: string;
    readonly message: string;
  };
  /** Lines below the failures; without a failure they are said of the suite. */
  readonly lines: readonly string[];
  readonly seconds?: number | undefined;
}

const style: Style = { color: false, width: 100 };

export function driftJunit(document: DriftDocument): string {
  const suites = groupedBy([...casesOf(document)], ({ suite }) => suite);
  return written(suites.map((cases, id) => suiteOf(document, cases[0]!.suite, cases, id)));
}

const FAILING: ReadonlySet<string> = new Set(['drift', 'blocked']);

/** One suite per tenant: whether its run ended well, and one case for each object that differs; before them, why the run stopped. */
export function fleetJunit({
  tenants,
  generated_at,
  command,
  run,
  diagnostics,
}: FleetDocument): string {
  const about = { generated_at, target: run };
  const suite = `fleet ${command}`;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const stops = errors.map(({ code: type, summary: message, detail = '' }): Case => {
    const error = { element: 'failure', type, message } as const;
    return { suite, name: type, lines: [message, detail], error };
  });
  const suites = [
    ...(stops.length > 0 ? [[suite, stops] as const] : []),
    ...tenants.map((one) => [one.tenant, [...tenantCases(command, one)]] as const),
  ];
  return written(suites.map(([name, cases], id) => suiteOf(about, name, cases, id)));
}

function* tenantCases(command: string, entry: TenantEntry): Generator<Case> {
  const { tenant: suite, status, summary, exit, changes, elapsed_seconds, diagnostics } = entry;
  const element = FAILING.has(status) ? 'failure' : 'error';
  yield {
    suite,
    name: `${command} ends well`,
    lines: [summary, ...textOf(diagnostics)],
    seconds: elapsed_seconds,
    ...(!isGood(exit) && { error: { element, type: status, message: summary } }),
  };
  for (const { kind, address: name, action } of changes) {
    const isFailure = command === 'drift' || outcomesThatFail.has(action);
    const error = { element: 'failure', type: action, message: `${kind}: ${action}` } as const;
    yield { suite, name, lines: [], ...(isFailure && { error }) };
  }
}

const outcomesThatFail: ReadonlySet<string> = new Set(['failed', 'skipped', 'unknown']);

function written(suites: readonly Markup[]): string {
  return markup`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites}</testsuites>\n`
    .markup;
}

function* casesOf(document: DriftDocument): Generator<Case> {
  yield auditCase(document);
  for (const record of document.drift) yield driftCase(record);
  for (const address of document.in_sync)
    yield { suite: tryAddress(address)?.kind ?? 'objects', name: address, lines: [] };
  for (const verified of document.expectations) yield expectationCase(verified);
  if (document.unmanaged_is_drift)
    for (const object of document.unmanaged_objects) yield unmanagedCase(object);
}

/** Always there: an audit that could not be made must not look like one that found nothing. */
function auditCase(document: DriftDocument): Case {
  const { diagnostics, health } = document;
  const first = diagnostics.find(({ severity }) => severity === 'error');
  return {
    suite: 'audit',
    name: 'the audit can be made',
    lines: [driftSentence(document), ...textOf(diagnostics), ...health.map(healthIssueSentence)],
    ...(first && { error: { element: 'error', type: first.code, message: first.summary } }),
  };
}

function unmanagedCase(object: UnmanagedRecord): Case {
  const [name, message] = [unmanagedObjectSentence(object), 'managed by no declaration'];
  const error = { element: 'failure', type: 'unmanaged', message } as const;
  return { suite: object.kind, name, lines: [authorSentence(object)], error };
}

function driftCase(record: DriftRecord): Case {
  const { kind: suite, address: name, status } = record;
  const error = { element: 'failure', type: status, message: driftMeaning(record) } as const;
  const lines = [...recordLines(record, screenOf(style))];
  return { suite, name, lines, ...(status !== 'settled' && { error }) };
}

function expectationCase(verified: Verified): Case {
  const { name, verdict, collection, origin, offenders, diagnostic } = verified;
  const suite = 'expectations';
  if (verdict === 'met') return { suite, name, lines: [] };
  const lines = [
    `${collection}, ${place(origin)}`,
    ...offenders.map(({ id, why }) => `${id}: ${why}`),
    ...textOf(diagnostic ? [diagnostic] : []),
  ];
  const element = verdict === 'failed' ? 'failure' : 'error';
  const error = { element, type: verdict, message: expectationSentence(verified) } as const;
  return { suite, name, lines, error };
}

const textOf = (diagnostics: DriftDocument['diagnostics']): readonly string[] =>
  diagnostics.length === 0 ? [] : renderDiagnostics(diagnostics, style).trimEnd().split('\n');

function suiteOf(
  { generated_at, target }: Pick<DriftDocument, 'generated_at' | 'target'>,
  name: string,
  cases: readonly Case[],
  id: number,
): Markup {
  const count = (element: 'failure' | 'error'): number =>
    cases.filter(({ error }) => error?.element === element).length;
  const seconds = cases.reduce((sum, { seconds: one = 0 }) => sum + one, 0);
  const said = cases.filter(({ error }) => error === undefined).flatMap(({ lines }) => lines);
  return markup`<testsuite id="${id}" package="trueup" name="${name}" timestamp="${generated_at.slice(0, 19)}" hostname="localhost" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="0" time="${seconds}">
<properties><property name="target" value="${target}"/></properties>
${cases.map(caseOf)}<system-out>${linesOf(said)}</system-out>
<system-err></system-err>
</testsuite>
`;
}

function caseOf({ suite, name, error, lines, seconds = 0 }: Case): Markup {
  const head = markup`<testcase classname="${suite}" name="${name}" time="${seconds}"`;
  if (!error) return markup`${head}/>\n`;
  const { element, type, message } = error;
  return markup`${head}><${element} type="${type}" message="${message}">${linesOf(lines)}</${element}></testcase>\n`;
}

/** Each on a line of its own, where no CI log takes it for a command. */
const linesOf = (lines: readonly string[]): readonly Markup[] =>
  lines.map((line) => markup`\n${guard(line)}`);
