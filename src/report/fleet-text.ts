// The report of a fleet as text: one line per tenant, then how many there are of each status.
import {
  cached,
  digest,
  tenantStatuses,
  type Diagnostic,
  type FleetDocument,
  type TenantCounts,
  type TenantEntry,
  type TenantStatus,
} from '../model/index.js';
import { renderDiagnostics } from './diagnostics-text.js';
import { visible } from './escaping.js';
import { writesByKind, writesSentence } from './fleet-figures.js';
import type { Style } from './style.js';
import { plural } from './words.js';

/** Statuses that people call otherwise. */
const words: Readonly<Partial<Record<TenantStatus, string>>> = {
  partial: 'partly applied',
  'not-run': 'not run',
  drift: 'with drift',
  changes: 'with changes',
  unchanged: 'as declared',
};
export const statusWord = (status: TenantStatus): string => words[status] ?? status;

const well: readonly TenantStatus[] = ['drift', 'changes', 'applied', 'unchanged', 'valid'];

/** Whether the run of a tenant ended as it should: its sentence says the rest. */
export const isWell = (status: TenantStatus): boolean => well.includes(status);

/** One line without its end. */
export const tenantLine = ({ tenant, status, summary }: TenantEntry): string =>
  `${tenant}: ${isWell(status) ? '' : `${statusWord(status).toUpperCase()} `}${visible(summary)}`;

/** As in `2 failed`, the worst first. What is nowhere is left out. */
export const statusCounts = (counts: TenantCounts): readonly string[] =>
  tenantStatuses.flatMap((status) => {
    const count = counts[status] ?? 0;
    return count > 0 ? [`${count} ${statusWord(status)}`] : [];
  });

/** The sentence that a run of a fleet ends with. */
export function fleetSentence({ summary, run }: FleetDocument): string {
  const counts = statusCounts(summary);
  const named = run === '' ? '' : ` Run ${run}.`;
  const each = counts.length > 0 ? `: ${counts.toReversed().join(', ')}` : '';
  return `${plural(summary.tenants, 'tenant')}${each}.${named}`;
}

interface FleetError {
  readonly diagnostic: Diagnostic;
  /** Whose error it is; none where it is one of the run. */
  readonly tenants: readonly string[];
}

/** The errors of the run, and of its tenants, which come in this order. */
export function fleetErrorsOf(
  { diagnostics: ofRun }: Pick<FleetDocument, 'diagnostics'>,
  tenants: readonly TenantEntry[],
): readonly FleetError[] {
  const messages = tenantMessages();
  const ofTenants = tenants.flatMap(({ tenant, diagnostics }) =>
    messages.of(tenant, diagnostics).map((diagnostic) => ({ diagnostic, tenants: [tenant] })),
  );
  return [
    ...ofRun.map((diagnostic) => ({ diagnostic, tenants: [] })),
    ...ofTenants,
    ...messages.left(),
  ].filter(({ diagnostic }) => diagnostic.severity === 'error');
}

export const fleetErrors = (
  ...about: Parameters<typeof fleetErrorsOf>
): TenantEntry['diagnostics'] => fleetErrorsOf(...about).map(({ diagnostic }) => diagnostic);

export function fleetText(document: FleetDocument, style: Style): string {
  const errors = fleetErrors(document, document.tenants);
  const lines = document.tenants.map((one) => `${tenantLine(one)}\n`).join('');
  const said = errors.length > 0 ? `\n${renderDiagnostics(errors, style)}` : '';
  return `${lines}${said}\n${writesText(document)}${fleetSentence(document)}\n`;
}

/** What the writes are called: planned, or sent. */
export const writesTitle = ({ command }: Pick<FleetDocument, 'command'>): string =>
  command === 'apply' ? 'Written' : 'To write';

/** The writes of all tenants, by kind, and an empty line; nothing where there are none. */
export function writesText(document: FleetDocument): string {
  const kinds = writesByKind(document);
  if (kinds.length === 0) return '';
  const lines = kinds.map(([kind, writes]) => `  ${visible(kind)}: ${writesSentence(writes)}\n`);
  return `${writesTitle(document)}: ${writesSentence(document.impact!)}\n${lines.join('')}\n`;
}

/** Messages about a tenant begin with its name. */
export const tenantDiagnostics = (
  tenant: string,
  diagnostics: TenantEntry['diagnostics'],
): TenantEntry['diagnostics'] =>
  diagnostics.map((one) => ({ ...one, summary: `${tenant}: ${one.summary}` }));

/** Tenants for which an equal message is shown. */
const SHOWN = 3;

/** Messages about the tenants of a run. What is wrong with files that all of them share is shown for a few. */
export function tenantMessages() {
  const equals = new Map<string, { readonly one: Diagnostic; readonly tenants: string[] }>();
  /** What was not shown, and of which tenants. */
  const left = (): readonly FleetError[] =>
    [...equals.values()].flatMap(({ one, tenants: all }) => {
      const tenants = all.slice(SHOWN);
      return tenantDiagnostics(plural(tenants.length, 'more tenant'), [one])
        .filter(() => tenants.length > 0)
        .map((diagnostic) => ({ diagnostic, tenants }));
    });
  return {
    of: (tenant: string, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
      tenantDiagnostics(
        tenant,
        diagnostics.filter((one) => {
          const { tenants } = cached(equals, digest(one), () => ({ one, tenants: [] }));
          return tenants.push(tenant) <= SHOWN;
        }),
      ),
    left,
    /** What was not shown, with the number of its tenants. */
    rest: (): readonly Diagnostic[] => left().map(({ diagnostic }) => diagnostic),
  };
}
