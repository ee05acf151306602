// The report of a fleet as a page: a table of tenants and kinds in which what differs is coloured, the worst tenant
// first; below it the errors, and the objects of each tenant that differ.
import {
  tenantStatuses,
  type FleetDocument,
  type KindCount,
  type TenantEntry,
  type TenantStatus,
} from '../model/index.js';
import {
  kindsIn,
  warningCounts,
  warningsSentence,
  worstFirst,
  writesByKind,
  writesSentence,
} from './fleet-figures.js';
import { fleetErrorsOf, fleetSentence, isWell, statusWord, writesTitle } from './fleet-text.js';
import { pageSection, htmlPage } from './html-page.js';
import { diagnosticNotes, htmlTable, wideTable } from './html-parts.js';
import { markup, moment, raw, type Markup } from './markup.js';
import type { Style } from './style.js';
import { plural } from './words.js';

const tones: Readonly<Partial<Record<TenantStatus, string>>> = {
  blocked: 'forget',
  drift: 'update',
  changes: 'update',
  applied: 'create',
};
/** Class of the colour of a status; none for what is as declared. */
const toneOf = (status: TenantStatus): string | undefined =>
  tones[status] ?? (isWell(status) ? undefined : 'delete');

/** Errors that are shown in full. */
const MOST_ERRORS = 200;

export function fleetHtml(document: FleetDocument, style: Style): string {
  const tenants = worstFirst(document.tenants);
  const errors = fleetErrorsOf(document, tenants);
  const warnings = warningCounts(tenants);
  const changed = tenants.filter(({ changes }) => changes.length > 0);
  const counts = tenantStatuses.flatMap((status) => {
    const { [status]: count = 0 } = document.summary;
    return count > 0 ? [[count, statusWord(status), toneOf(status)] as const] : [];
  });
  return htmlPage({
    kind: `fleet ${document.command}`,
    sentence: fleetSentence(document),
    counts,
    about: markup`Run <code>${document.run}</code>, reported ${moment(document.generated_at)}`,
    foot: markup`<p>trueup ${document.trueup_version} · ${plural(requestsOf(tenants), 'request')}</p>\n`,
    sections: [
      pageSection(
        'tenants',
        'Tenants',
        [heatMap(tenants, kindsIn(document), linksOf(errors, style))],
        tenants.length,
      ),
      pageSection('writes', writesTitle(document), writesTable(document)),
      pageSection('errors', 'Errors', errorNotes(errors), errors.length),
      pageSection('warnings', 'Warnings', warningTable(warnings, style)),
      pageSection('changes', 'Objects that differ', changed.map(changesOf), changed.length),
    ],
  });
}

function writesTable(document: FleetDocument): readonly Markup[] {
  const kinds = writesByKind(document);
  if (kinds.length === 0) return [];
  const rows = kinds.map(([kind, { writes, tenants }]) => {
    const counts = [writes.create, writes.update, writes.delete, tenants];
    return markup`<tr><th scope="row"><code>${kind}</code></th>${counts.map((count) => markup`<td>${count}</td>`)}</tr>\n`;
  });
  const titles = ['Kind', 'create', 'update', 'delete', 'Tenants'];
  return [htmlTable(writesSentence(document.impact!), titles, rows)];
}

/** Folded: the pages of the tenants hold the warnings themselves. */
function warningTable(
  warnings: ReturnType<typeof warningCounts>,
  { pageOf }: Style,
): readonly Markup[] {
  if (warnings.length === 0) return [];
  const said = warningsSentence(warnings);
  const rows = warnings.map(
    ({ tenant, code, count }) =>
      markup`<tr><th scope="row">${linked(tenant, pageOf?.(tenant))}</th><td><code>${code}</code></td><td>${count}</td></tr>\n`,
  );
  return [
    markup`<details class="item">
<summary>${said}</summary>
<div class="body">
${htmlTable('Warnings of each tenant', ['Tenant', 'Warning', 'Count'], rows)}</div>
</details>
`,
  ];
}

/** The name of a tenant, with a link where there is an address. */
const linked = (tenant: string, address: string | undefined): Markup =>
  address === undefined ? markup`${tenant}` : markup`<a href="${address}">${tenant}</a>`;

const requestsOf = (tenants: readonly TenantEntry[]): number =>
  tenants.reduce((sum, { requests }) => sum + requests, 0);

type FleetErrors = ReturnType<typeof fleetErrorsOf>;

/** Of what is not shown. */
const MORE = 'errors-more';
const errorId = (index: number): string => (index < MOST_ERRORS ? `error-${index + 1}` : MORE);

function errorNotes(errors: FleetErrors): readonly Markup[] {
  const left = errors.length - MOST_ERRORS;
  const more =
    left > 0 ? [markup`<p id="${MORE}">… and ${left} more; the JSON form has them.</p>\n`] : [];
  const shown = errors.slice(0, MOST_ERRORS).map(({ diagnostic }) => diagnostic);
  const idOf = (index: number) => (errors[index]!.tenants.length > 0 ? errorId(index) : undefined);
  return [...diagnosticNotes(shown, idOf), ...more];
}

/** Where more is said of a tenant: its page, or else what differs, or else its first error. */
function linksOf(errors: FleetErrors, { pageOf }: Style) {
  const first = new Map<string, string>();
  for (const [index, { tenants }] of errors.entries())
    for (const tenant of tenants) if (!first.has(tenant)) first.set(tenant, `#${errorId(index)}`);
  return ({ tenant, changes }: TenantEntry): string | undefined =>
    pageOf?.(tenant) ?? (changes.length > 0 ? `#tenant-${tenant}` : first.get(tenant));
}

function heatMap(
  tenants: readonly TenantEntry[],
  kinds: readonly string[],
  linkOf: (entry: TenantEntry) => string | undefined,
): Markup {
  const heads = ['Tenant', 'Status', 'Result', ...kinds].map(
    (title) => markup`<th scope="col">${title}</th>`,
  );
  const rows = tenants.map((one) => {
    const { tenant, status, summary } = one;
    const cells = kinds.map((kind) => cellOf(one.kinds[kind], one.exit === 0));
    return markup`<tr><th scope="row">${linked(tenant, linkOf(one))}</th><td${classOf(toneOf(status))}>${statusWord(status)}</td><td class="text">${summary}</td>${cells}</tr>\n`;
  });
  const caption = markup`Objects of each kind that differ, of all that were read; the worst tenant first`;
  return wideTable({ label: 'Tenants and kinds', caption, look: 'scroll heat' }, heads, rows);
}

const classOf = (tone: string | undefined): Markup | undefined =>
  tone === undefined ? undefined : raw(` class="${tone}"`);

/** Half of the objects or more is the darker colour. */
function cellOf(count: KindCount | undefined, isDone: boolean): Markup {
  if (!count) return markup`<td class="muted">–</td>`;
  const { changed, objects } = count;
  if (changed === 0) return markup`<td>${objects}</td>`;
  const tone = changed * 2 >= objects ? 'delete' : 'update';
  return markup`<td${classOf(isDone ? 'create' : tone)}>${changed} of ${objects}</td>`;
}

const changesOf = ({ tenant, changes }: TenantEntry): Markup =>
  markup`<details class="item" id="tenant-${tenant}">
<summary><span class="address">${tenant}</span> <span class="muted">${plural(changes.length, 'object')}</span></summary>
<div class="body">
<ul>
${changes.map(({ action, address }) => markup`<li>${action} <code>${address}</code></li>\n`)}</ul>
</div>
</details>
`;
