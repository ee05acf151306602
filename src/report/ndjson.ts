// What happens, as a stream of JSON lines with the field names of Terraform's machine-readable UI,
// so that what reads those can read ours. Verdicts have a type of their own, `policy`.
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
  healthIssueSentence,
  authorSentence,
  changedBy,
  driftMeanings,
  driftSentence,
  during,
  outcomeSentence,
  past,
  planSentence,
  unmanagedObjectSentence,
  verbOf,
  type SummaryKey,
} from './words.js';

/** Each call answers zero or more whole lines. */
export interface Ndjson {
  version(): string;
  plan(document: PlanDocument): string;
  drift(document: DriftDocument): string;
  /** Of the events, changes and diagnostics become lines; waiting tells how the running changes stand. */
  event(event: Event): string;
  /** One `apply_progress` for each running change: to be asked for every few seconds. */
  progress(): string;
  outcomes(outcomes: readonly Outcome[]): string;
  diagnostics(diagnostics: readonly Diagnostic[]): string;
}

type Hook = Readonly<Record<string, Json>>;
type Level = 'info' | 'warn' | 'error';
type Line = (
  level: Level,
  type: string,
  message: string,
  more: Readonly<Record<string, unknown>>,
) => string;

const uiVersion = '1.2';
/** Terraform's words for our actions. An adoption that writes as well is an `update`, and `importing` tells the rest; sums count it under both. */
const actions: Readonly<Record<SummaryKey, string>> = {
  create: 'create',
  update: 'update',
  replace: 'replace',
  delete: 'delete',
  adopt: 'import',
  forget: 'remove',
  keep: 'noop',
};
const driftedActions: Readonly<Record<DriftRecord['status'], string>> = {
  changed: 'update',
  gone: 'delete',
  replaced: 'update',
  missing: 'create',
  undeclared: 'delete',
  settled: 'noop',
};

export function ndjson({
  version,
  clock,
}: {
  readonly version: string;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}): Ndjson {
  const line: Line = (level, type, message, more) =>
    jsonLine({
      '@level': level,
      '@message': visible(message),
      '@module': 'trueup.ui',
      '@timestamp': new Date(clock.now()).toISOString(),
      type,
      ...more,
    });
  const running = new Map<string, { readonly action: Action; readonly since: number }>();
  // Events do not say of an adoption whether it writes: the plan that came before does.
  let writing: ReadonlySet<string> = new Set();
  const hook = (address: string, action: Action, id?: string): Hook => ({
    resource: resource(address),
    action: action === 'adopt' && writing.has(address) ? actions.update : actions[action],
    ...(id !== undefined && { id_key: 'id', id_value: id }),
  });
  const progress = (): string =>
    [...running]
      .map(([address, { action, since }]) =>
        progressed(line, address, during[action], {
          ...hook(address, action),
          elapsed_seconds: seconds(clock.monotonic() - since),
        }),
      )
      .join('');
  const diagnostics = (all: readonly Diagnostic[]): string =>
    all.map((one) => diagnosed(line, one)).join('');

  return {
    version: () => line('info', 'version', `trueup ${version}`, { trueup: version, ui: uiVersion }),
    plan: (document) => {
      writing = new Set(
        document.resource_changes.filter(adoptsAndWrites).map(({ address }) => address),
      );
      const changes = changesOf('plan', document.summary, writing.size);
      const { impact } = document;
      const meaning = impact ? line('info', 'impact', impactSentence(impact), { impact }) : '';
      return (
        planned(line, document) +
        meaning +
        diagnostics(document.diagnostics) +
        line('info', 'change_summary', planSentence(document), { changes })
      );
    },
    drift: (document) =>
      document.drift.map((record) => drifted(line, record)).join('') +
      document.expectations.map((one) => line(...expectationEvent(one))).join('') +
      document.health
        .map((issue) =>
          line('warn', 'health_issue', healthIssueSentence(issue), { health_issue: issue }),
        )
        .join('') +
      document.unmanaged_objects
        .map((object) =>
          line(
            'info',
            'unmanaged',
            `${unmanagedObjectSentence(object)}: unmanaged; ${authorSentence(object)}`,
            { object },
          ),
        )
        .join('') +
      diagnostics(document.diagnostics) +
      line('info', 'drift_summary', driftSentence(document), {
        summary: document.summary,
        unmanaged: document.unmanaged,
      }),
    event: (event) => {
      switch (event.type) {
        case 'start':
          if (event.action === 'keep') return '';
          running.set(event.address, { action: event.action, since: clock.monotonic() });
          return line('info', 'apply_start', `${event.address}: ${during[event.action]}`, {
            hook: hook(event.address, event.action, event.id),
          });
        case 'end':
          running.delete(event.outcome.address);
          return (
            ended(
              line,
              event.outcome,
              hook(event.outcome.address, event.outcome.action, event.outcome.id),
            ) + (event.outcome.diagnostic ? diagnostics([event.outcome.diagnostic]) : '')
          );
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
    outcomes: (outcomes) => {
      const done = outcomes.filter(({ outcome }) => outcome === 'done');
      const both = done.filter(
        ({ action, address }) => action === 'adopt' && writing.has(address),
      ).length;
      return line('info', 'change_summary', outcomeSentence(outcomes), {
        changes: changesOf('apply', summarise(done), both),
      });
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

function progressed(
  line: Line,
  address: string,
  doing: string,
  hook: Hook & { readonly elapsed_seconds: number },
): string {
  return line(
    'info',
    'apply_progress',
    `${address}: still ${doing} after ${hook.elapsed_seconds} s`,
    { hook },
  );
}

/** What was skipped never started; it and what is kept have no line but their diagnostic. */
function ended(
  line: Line,
  { address, action, outcome, id, elapsed = 0 }: Outcome,
  hook: Hook,
): string {
  if (outcome === 'skipped' || action === 'keep') return '';
  const more = { hook: { ...hook, elapsed_seconds: seconds(elapsed) } };
  if (outcome === 'done')
    return line(
      'info',
      'apply_complete',
      `${address}: ${past[action]} after ${seconds(elapsed)} s${id === undefined ? '' : ` (id ${id})`}`,
      more,
    );
  return line(
    'error',
    'apply_errored',
    `${address}: ${action} ${outcome === 'unknown' ? 'has an unknown outcome' : 'failed'} after ${seconds(elapsed)} s`,
    more,
  );
}

function planned(line: Line, { resource_drift, resource_changes, policy }: PlanDocument): string {
  const outside = resource_drift.map(({ address, actions: [action] }) =>
    line(
      'info',
      'resource_drift',
      `${address}: ${action === 'delete' ? 'deleted' : 'changed'} outside`,
      { change: { resource: resource(address), action } },
    ),
  );
  const changes = resource_changes
    .filter((change) => actionOf(change) !== 'keep')
    .map((change) => plannedChange(line, change));
  const verdicts = policy.map((verdict) =>
    line(
      verdict.verdict === 'blocked' ? 'error' : 'info',
      'policy',
      `${verdict.verdict} by policy ${verdict.rule}: ${verdict.detail}`,
      { policy: verdict },
    ),
  );
  return [...outside, ...changes, ...verdicts].join('');
}

const adoptsAndWrites = (change: ResourceChange): boolean =>
  actionOf(change) === 'adopt' && change.change.actions[0] === 'update';

function plannedChange(line: Line, change: ResourceChange): string {
  return line('info', 'planned_change', `${change.address}: to ${verbOf(change).toLowerCase()}`, {
    change: {
      resource: resource(change.address),
      action: adoptsAndWrites(change) ? actions.update : actions[actionOf(change)],
      reason: change.reason,
      ...defined({ importing: change.change.importing }),
      ...(change.previous_address !== undefined && {
        previous_resource: resource(change.previous_address),
      }),
    },
  });
}

function drifted(line: Line, record: DriftRecord): string {
  const { address, status, changed_by, window, since, changes } = record;
  return line(
    'info',
    'resource_drift',
    `${address}: ${driftMeanings[status]}; ${changedBy(record)}`,
    {
      change: { resource: resource(address), action: driftedActions[status] },
      drift: { status, changed_by, window, since, changes },
    },
  );
}

const levels = { error: 'error', warning: 'warn', info: 'info' } as const;

function diagnosed(
  line: Line,
  { severity, code, summary, detail, address, attribute, origin, frame }: Diagnostic,
): string {
  const at = origin && { line: origin.line, column: origin.column };
  return line(levels[severity], 'diagnostic', `${severity}: ${summary}`, {
    diagnostic: {
      severity,
      code,
      summary,
      detail: detail ?? '',
      address,
      attribute,
      snippet: frame,
      ...(origin && { range: { filename: origin.file, start: at, end: at } }),
    },
  });
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
