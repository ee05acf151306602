// Events as a stream of JSON lines with the field names of Terraform's machine-readable UI, so that programs that read
// those can read these. Verdicts have a type of their own, `policy`.
import {
  defined,
  summarise,
  tryAddress,
  type Action,
  type Diagnostic,
  type DriftDocument,
  type DriftRecord,
  type Event,
  type Json,
  type Outcome,
  type PlanDocument,
  type ResourceChange,
  type Summary,
} from '../model/index.js';
import type { Clock } from '../platform/index.js';
import { impactSentence } from './impact-text.js';
import { expectationEvent } from './expectations-text.js';
import { visible } from './escaping.js';
import { jsonLine } from './json-output.js';
import {
  actionOf,
  adoptsAndWrites,
  healthIssueSentence,
  authorSentence,
  changedBy,
  driftActions,
  driftMeaning,
  driftSentence,
  during,
  GONE,
  outcomeSentence,
  past,
  planSentence,
  unmanagedObjectSentence,
  verbOf,
  type SummaryKey,
} from './words.js';

export type Ndjson = ReturnType<typeof ndjson>;

type Hook = Readonly<Record<string, Json>>;
type Level = 'info' | 'warn' | 'error';
type More = Readonly<Record<string, unknown>>;
/** The input of a line. */
export type NdjsonLine = readonly [level: Level, type: string, message: string, more: More];
const uiVersion = '1.2';
/** Terraform's words for trueup's actions. An adoption that also writes is an `update` with `importing`; sums count it under both. */
const actions = {
  create: 'create',
  update: 'update',
  replace: 'replace',
  delete: 'delete',
  adopt: 'import',
  forget: 'remove',
  keep: 'noop',
} as const satisfies Readonly<Record<SummaryKey, string>>;
const driftedActions: Readonly<Record<DriftRecord['status'], string>> = {
  ...driftActions,
  undeclared: 'delete',
  settled: 'noop',
};

export const lineAt = (now: number, [level, type, message, more]: NdjsonLine): string =>
  jsonLine({
    '@level': level,
    '@message': visible(message),
    '@module': 'trueup.ui',
    '@timestamp': new Date(now).toISOString(),
    type,
    ...more,
  });

/** The first line of a stream. */
export const versionLine = (now: number, version: string): string =>
  lineAt(now, ['info', 'version', `trueup ${version}`, { trueup: version, ui: uiVersion }]);

/** Each call returns zero or more whole lines. */
export function ndjson({
  version,
  clock,
}: {
  readonly version: string;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}) {
  const line = (said: NdjsonLine): string => lineAt(clock.now(), said);
  const lines = (all: Iterable<NdjsonLine>): string => Array.from(all, line).join('');
  const running = new Map<string, { readonly action: Action; readonly since: number }>();
  // Events do not say of an adoption whether it writes: the plan that came before does.
  let writing: ReadonlySet<string> = new Set();
  const hook = (address: string, action: Action, id?: string): Hook => ({
    resource: resource(address),
    action: action === 'adopt' && writing.has(address) ? actions.update : actions[action],
    ...(id !== undefined && { id_key: 'id', id_value: id }),
  });
  /** One `apply_progress` for each running change: to be asked for every few seconds. */
  const progress = (): string =>
    lines(
      [...running].map(([address, { action, since }]) =>
        stillRunning(address, action, hook(address, action), clock.monotonic() - since),
      ),
    );
  const diagnostics = (all: readonly Diagnostic[]): string => lines(all.map(diagnosed));

  return {
    version: (): string => versionLine(clock.now(), version),
    plan(document: PlanDocument): string {
      writing = new Set(
        document.resource_changes.filter(adoptsAndWrites).map(({ address }) => address),
      );
      return lines(planned(document, changesOf('plan', document.summary, writing.size)));
    },
    drift: (document: DriftDocument): string => lines(audited(document)),
    /** Of the events, changes and diagnostics become lines; waiting tells how the running changes stand. */
    event: (event: Event): string => {
      switch (event.type) {
        case 'start':
          if (event.action === 'keep') return '';
          running.set(event.address, { action: event.action, since: clock.monotonic() });
          return line([
            'info',
            'apply_start',
            `${event.address}: ${during[event.action]}`,
            { hook: hook(event.address, event.action, event.id) },
          ]);
        case 'end': {
          const { address, action, id, diagnostic } = event.outcome;
          running.delete(address);
          const told = [...ended(event.outcome, hook(address, action, id))];
          return lines(told) + diagnostics(diagnostic ? [diagnostic] : []);
        }
        case 'diagnostic':
          return diagnostics([event.diagnostic]);
        case 'waiting':
          return progress();
        case 'reading':
        case 'comparing':
          return '';
      }
    },
    progress,
    outcomes: (outcomes: readonly Outcome[]): string => {
      const done = outcomes.filter(({ outcome }) => outcome === 'done');
      const both = done.filter(
        ({ action, address }) => action === 'adopt' && writing.has(address),
      ).length;
      const changes = changesOf('apply', summarise(done), both);
      return line(['info', 'change_summary', outcomeSentence(outcomes), { changes }]);
    },
    diagnostics,
  };
}

function resource(address: string): Json {
  const { kind, name, key } = tryAddress(address) ?? { kind: '', name: address };
  return {
    addr: address,
    module: '',
    resource: address,
    implied_provider: 'devicecloud',
    resource_type: kind,
    resource_name: name,
    resource_key: key ?? null,
  };
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);

function stillRunning(address: string, action: Action, hook: Hook, elapsed: number): NdjsonLine {
  const elapsed_seconds = seconds(elapsed);
  const message = `${address}: still ${during[action]} after ${elapsed_seconds} s`;
  return ['info', 'apply_progress', message, { hook: { ...hook, elapsed_seconds } }];
}

/** Skipped changes never started; they and kept objects have no line except their diagnostic. */
function* ended(outcome: Outcome, hook: Hook): Generator<NdjsonLine> {
  const { address, action, outcome: end, id, gone, elapsed = 0 } = outcome;
  if (end === 'skipped' || action === 'keep') return;
  const more = { hook: { ...hook, elapsed_seconds: seconds(elapsed) } };
  const after = `after ${seconds(elapsed)} s`;
  const known = id === undefined ? '' : ` (id ${id}${gone ? GONE : ''})`;
  const failed = end === 'unknown' ? 'has an unknown outcome' : 'failed';
  yield end === 'done'
    ? ['info', 'apply_complete', `${address}: ${past[action]} ${after}${known}`, more]
    : ['error', 'apply_errored', `${address}: ${action} ${failed} ${after}`, more];
}

function* planned(document: PlanDocument, changes: Json): Generator<NdjsonLine> {
  for (const {
    address,
    actions: [action],
  } of document.resource_drift) {
    const said = `${address}: ${action === 'delete' ? 'deleted' : 'changed'} outside`;
    yield ['info', 'resource_drift', said, { change: { resource: resource(address), action } }];
  }
  for (const change of document.resource_changes)
    if (actionOf(change) !== 'keep') yield plannedChange(change);
  for (const policy of document.policy) {
    const { verdict, rule, detail } = policy;
    const level = verdict === 'blocked' ? 'error' : 'info';
    yield [level, 'policy', `${verdict} by policy ${rule}: ${detail}`, { policy }];
  }
  const { impact } = document;
  if (impact) yield ['info', 'impact', impactSentence(impact), { impact }];
  yield* document.diagnostics.map(diagnosed);
  yield ['info', 'change_summary', planSentence(document), { changes }];
}

function plannedChange(planned: ResourceChange): NdjsonLine {
  const { address, change, reason, previous_address: previous } = planned;
  const content = {
    resource: resource(address),
    action: adoptsAndWrites(planned) ? actions.update : actions[actionOf(planned)],
    reason,
    ...defined({ importing: change.importing, previous_resource: previous && resource(previous) }),
  };
  return [
    'info',
    'planned_change',
    `${address}: to ${verbOf(planned).toLowerCase()}`,
    { change: content },
  ];
}

function* audited(document: DriftDocument): Generator<NdjsonLine> {
  const { summary, unmanaged } = document;
  for (const record of document.drift) {
    const { address, status, changed_by, window, since, changes } = record;
    const more = {
      change: { resource: resource(address), action: driftedActions[status] },
      drift: { status, changed_by, window, since, changes },
    };
    const said = `${address}: ${driftMeaning(record)}; ${changedBy(record)}`;
    yield ['info', 'resource_drift', said, more];
  }
  yield* document.expectations.map(expectationEvent);
  for (const health_issue of document.health)
    yield ['warn', 'health_issue', healthIssueSentence(health_issue), { health_issue }];
  for (const object of document.unmanaged_objects) {
    const said = `${unmanagedObjectSentence(object)}: unmanaged; ${authorSentence(object)}`;
    yield ['info', 'unmanaged', said, { object }];
  }
  yield* document.diagnostics.map(diagnosed);
  yield ['info', 'drift_summary', driftSentence(document), { summary, unmanaged }];
}

const levels = { error: 'error', warning: 'warn', info: 'info' } as const;

export function diagnosed(diagnostic: Diagnostic): NdjsonLine {
  const { severity, code, summary, detail = '', address, attribute, origin } = diagnostic;
  const at = origin && { line: origin.line, column: origin.column };
  const range = origin && { filename: origin.file, start: at, end: at };
  const place = { address, attribute, snippet: diagnostic.frame, range };
  const content = { severity, code, summary, detail, ...place };
  return [levels[severity], 'diagnostic', `${severity}: ${summary}`, { diagnostic: content }];
}

/** A replacement adds one and removes one. @param both how many adoptions write as well */
function changesOf(operation: 'plan' | 'apply', counts: Summary, both: number): Json {
  return {
    add: counts.create + counts.replace,
    change: counts.update + both,
    import: counts.adopt,
    remove: counts.delete + counts.replace,
    forget: counts.forget,
    operation,
  };
}
