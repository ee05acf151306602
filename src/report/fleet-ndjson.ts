// The run of a fleet as a stream of JSON lines, with the field names of the stream of one project. What is about a
// tenant has the member `tenant`.
import { isGood, type FleetCommand, type FleetDocument, type TenantEntry } from '../model/index.js';
import { fleetSentence, isWell, tenantLine } from './fleet-text.js';
import { diagnosed, lineAt, versionLine, type NdjsonLine } from './ndjson.js';
import { plural } from './words.js';

export interface FleetBegin extends Pick<FleetDocument, 'run' | 'command'> {
  /** Number of tenants that this process runs. */
  readonly tenants: number;
}

/** Each call returns whole lines. The first one begins with the version of trueup. */
export function fleetNdjson(version: string, now: () => number) {
  let isBegun = false;
  const lines = (all: readonly NdjsonLine[]): string => {
    const head = isBegun ? '' : versionLine(now(), version);
    isBegun = true;
    return head + all.map((said) => lineAt(now(), said)).join('');
  };
  return {
    begin: ({ run, command, tenants }: FleetBegin): string =>
      lines([
        [
          'info',
          'fleet_start',
          `fleet ${command}: ${plural(tenants, 'tenant')}`,
          { fleet: { run, command, tenants } },
        ],
      ]),
    tenantBegin: (tenant: string, command: FleetCommand): string =>
      lines([['info', 'tenant_start', `${tenant}: ${command} begins`, { tenant, command }]]),
    tenantEnd: (entry: TenantEntry, command: FleetCommand): string => lines(ended(entry, command)),
    end: (document: FleetDocument): string => lines(completed(document)),
  };
}

export type FleetNdjson = ReturnType<typeof fleetNdjson>;

/** The report of a run that has ended: without the events of its beginning. */
export function fleetReportNdjson(document: FleetDocument): string {
  const at = Date.parse(document.generated_at);
  const stream = fleetNdjson(document.trueup_version, () => at);
  return (
    document.tenants.map((one) => stream.tenantEnd(one, document.command)).join('') +
    stream.end(document)
  );
}

function ended(entry: TenantEntry, command: FleetCommand): readonly NdjsonLine[] {
  const { tenant, status, exit, summary, kinds, requests, elapsed_seconds, diagnostics } = entry;
  const result = {
    status,
    exit,
    summary,
    kinds,
    requests,
    ...(elapsed_seconds !== undefined && { elapsed_seconds: Math.round(elapsed_seconds) }),
  };
  return [
    ...diagnostics.map((one): NdjsonLine => {
      const [level, type, message, more] = diagnosed(one);
      return [level, type, `${tenant}: ${message}`, { ...more, tenant }];
    }),
    [
      isWell(status) ? 'info' : 'error',
      'tenant_complete',
      tenantLine(entry),
      { tenant, command, result },
    ],
  ];
}

function completed(document: FleetDocument): readonly NdjsonLine[] {
  const { run, command, exit, summary, diagnostics } = document;
  const fleet = { run, command, exit, summary };
  return [
    ...diagnostics.map(diagnosed),
    [isGood(exit) ? 'info' : 'error', 'fleet_complete', fleetSentence(document), { fleet }],
  ];
}
