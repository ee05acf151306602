// The report of a fleet as a comment or a job summary: counts first, then the tenants, the worst first, and their errors.
import type { FleetDocument, TenantEntry } from '../model/index.js';
import { code } from './escaping.js';
import {
  warningCounts,
  warningsSentence,
  worstFirst,
  writesByKind,
  writesSentence,
} from './fleet-figures.js';
import { fleetErrors, fleetSentence, isWell, statusWord, writesTitle } from './fleet-text.js';
import {
  diagnosticItems,
  fitted,
  folded,
  foldedDetails,
  markdownTable,
  type Level,
} from './markdown.js';

const WRITE_TITLES = ['Kind', 'create', 'update', 'delete', 'Tenants'];
const WARNING_TITLES = ['Tenant', 'Warning', 'Count'];

export function fleetMarkdown(document: FleetDocument): string {
  return fitted(function* (level) {
    const tenants = worstFirst(document.tenants);
    yield* ['<!-- trueup:fleet -->', `### ${level.prose(fleetSentence(document))}`, ''];
    yield* markdownTable(['Tenant', 'Status', 'Result'], tenants, level, (one) => [
      level.code(one.tenant),
      isWell(one.status) ? statusWord(one.status) : `**${statusWord(one.status)}**`,
      level.prose(one.summary),
    ]);
    const kinds = writesByKind(document);
    if (kinds.length > 0) {
      yield* [level.prose(`${writesTitle(document)}: ${writesSentence(document.impact!)}`), ''];
      yield* markdownTable(WRITE_TITLES, kinds, level, ([kind, { writes, tenants: some }]) => [
        level.code(kind),
        ...[writes.create, writes.update, writes.delete, some].map(String),
      ]);
    }
    const errors = fleetErrors(document, tenants);
    yield* diagnosticItems(errors, level);
    const warnings = warningCounts(tenants);
    if (warnings.length > 0)
      yield* folded(warningsSentence(warnings), [
        '',
        ...markdownTable(WARNING_TITLES, warnings, level, ({ tenant, code: name, count }) => [
          level.code(tenant),
          level.code(name),
          String(count),
        ]),
      ]);
    const changed = tenants.filter(({ changes }) => changes.length > 0);
    yield* foldedDetails('Objects that differ', changed, level, (one) => changesOf(one, level));
    yield `Run ${level.code(document.run)} of ${code(`fleet ${document.command}`)} · trueup ${level.code(document.trueup_version)}`;
  });
}

function* changesOf({ tenant, changes }: TenantEntry, level: Level): Iterable<string> {
  yield* ['', level.code(tenant), ''];
  for (const { action, address } of changes) yield `- ${action} ${level.code(address)}`;
}
