// An audit as a page: what drifted and who did it, what was expected, what is not well, who may do what.
import { equal, type AccessCell, type AccessReview, type Ailment, type DriftDocument, type DriftRecord, type UnmanagedRecord, type Verified } from '../model/index.js';
import { driftDifference, inline, outsideDifference } from './differences.js';
import { markup, moment, raw, type Markup } from './markup.js';
import { authorFacts, authorLines, countTable, diagnosticNotes, facts, fieldTable, group, itemOf, table, typeset } from './page-parts.js';
import { filterForm, page } from './page.js';
import { driftActions, driftMeanings, driftSentence, driftSigns, expectationSentence, place } from './words.js';

/** What is most to be feared comes first. */
const order = ['gone', 'changed', 'missing', 'undeclared', 'settled'] as const;
const titles: Readonly<Record<(typeof order)[number], string>> = {
  gone: 'Gone',
  changed: 'Changed',
  missing: 'Missing',
  undeclared: 'Declared no more',
  settled: 'Settled by themselves',
};

/** Up to this many objects are shown opened. */
const fewRecords = 12;

export function driftHtml(document: DriftDocument): string {
  const { drift, summary, diagnostics, expectations, health, unmanaged_objects, access } = document;
  return page({
    kind: 'drift',
    sentence: driftSentence(document),
    counts: [
      ...order.map((status) => ({ count: drift.filter((one) => one.status === status).length, words: status, tone: driftActions[status] })),
      { count: summary.expectations_failed, words: 'expectations failed', tone: 'delete' },
      { count: summary.in_sync, words: 'in sync' },
      { count: summary.unmanaged, words: 'not managed here' },
    ],
    document,
    sections: [
      { id: 'diagnostics', title: 'To be known', count: diagnostics.length, content: diagnosticNotes(diagnostics) },
      { id: 'drift', title: 'Drift', count: drift.length, content: recordItems(drift) },
      { id: 'expectations', title: 'Expectations', count: expectations.length, content: expectations.map(expectationItem) },
      { id: 'health', title: 'Not well', count: health.length, content: healthTable(health) },
      { id: 'unmanaged', title: 'Not managed here', count: summary.unmanaged, content: unmanagedTables(document.unmanaged, unmanaged_objects) },
      { id: 'access', title: 'Who may do what', content: access ? [accessMatrix(access)] : [] },
    ],
  });
}

function recordItems(records: readonly DriftRecord[]): readonly Markup[] {
  if (records.length === 0) return [];
  const form = filterForm(
    records.map(({ kind }) => kind),
    records.map(({ status }) => status),
    'Status',
    records.length,
  );
  const open = records.length <= fewRecords;
  const groups = order.map((status) =>
    group(
      titles[status],
      records.filter((record) => record.status === status).map((record) => recordItem(record, open)),
    ),
  );
  return [form, ...groups];
}

function recordItem(record: DriftRecord, open: boolean): Markup {
  const { kind, status, address, id, origin, changes, changed_by, window } = record;
  const settled = status === 'settled';
  const earlier = settled ? [] : changes.filter(({ applied, declared }) => !equal(applied, declared));
  return itemOf({
    kind,
    what: status,
    tone: driftActions[status],
    sign: typeset(driftSigns[status]),
    verb: status,
    address,
    why: driftMeanings[status],
    open,
    body: [
      facts([
        ...(status === 'missing' || status === 'undeclared' ? [] : authorFacts(changed_by, window)),
        ['Declared', origin ? markup`<code>${place(origin)}</code>` : undefined],
        ['Live id', id === null ? undefined : markup`<code>${id}</code>`],
        ...earlier.map(({ path, applied }) => ['Last applied', markup`<code>${path}</code> as <code>${inline(applied)}</code>`] as const),
      ]),
      fieldTable(
        settled ? 'From last applied to live' : 'From declared to live',
        changes.map(settled ? outsideDifference : driftDifference),
        settled ? ['Last applied', 'Live'] : ['Declared', 'Live'],
      ),
      authorLines(changed_by),
    ],
  });
}

function expectationItem(verified: Verified): Markup {
  const { name, collection, origin, verdict, offenders, failed, diagnostic } = verified;
  const looks = { met: ['create', '✓'], failed: ['delete', '✗'], unknown: ['update', '?'] } as const;
  const [tone, sign] = looks[verdict];
  const rest = failed - offenders.length;
  const named = offenders.map(({ id, why }) => markup`<tr><th scope="row"><code>${id}</code></th><td>${why}</td></tr>\n`);
  return itemOf({
    kind: collection,
    tone,
    sign,
    verb: verdict,
    address: `expectations.${name}`,
    why: expectationSentence(verified),
    open: verdict !== 'met',
    body: [
      facts([
        ['Of', markup`<code>${collection}</code>`],
        ['Declared', markup`<code>${place(origin)}</code>`],
      ]),
      offenders.length === 0 ? undefined : table(`Records that are not as expected${rest > 0 ? `, the first ${offenders.length} of ${failed}` : ''}`, ['Record', 'Why'], named),
      ...diagnosticNotes(diagnostic ? [diagnostic] : []),
    ],
  });
}

function healthTable(health: readonly Ailment[]): readonly Markup[] {
  if (health.length === 0) return [];
  const body = health.map(
    ({ kind, id, address, summary, detail, at }) =>
      markup`<tr data-kind="${kind}"><th scope="row"><code>${address ?? `${kind} ${id}`}</code></th><td>${summary}${detail === undefined ? undefined : markup`<br><span class="muted text">${detail}</span>`}</td><td>${at === undefined ? undefined : moment(at)}</td></tr>\n`,
  );
  return [table('Live objects that are as declared, or not declared, and still not well', ['Object', 'What', 'Since'], body)];
}

function unmanagedTables(counts: Readonly<Record<string, number>>, objects: readonly UnmanagedRecord[]): readonly Markup[] {
  const body = objects.map(({ kind, id, label, changed_by, window }) => {
    const said = authorFacts(changed_by, window).map(([, text]) => text);
    return markup`<tr data-kind="${kind}"><th scope="row"><code>${kind}</code> <code>${id}</code></th><td>${label ?? ''}</td><td>${said}</td></tr>\n`;
  });
  return [...countTable('Live objects that nothing here manages', counts), ...(body.length === 0 ? [] : [table('Each of them', ['Object', 'Name', 'Changed by'], body)])];
}

/** A row a user, a column an account. */
function accessMatrix({ users, accounts, cells }: AccessReview): Markup {
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const found = new Map(cells.map((cell) => [JSON.stringify([cell.user, cell.account]), cell]));
  const heads = accounts.map(
    ({ id, name, depth, administrators }) =>
      markup`<th scope="col">${'↳ '.repeat(Math.min(depth, 8))}${name} <code>${id}</code><br>${administrators === 0 ? raw('<span class="differs">no administrator</span>') : `administrators: ${administrators}`}</th>`,
  );
  const body = users.map(
    ({ id, email }) =>
      markup`<tr><th scope="row">${email ?? 'user'} <code>${id}</code></th>${accounts.map((account) => cellOf(found.get(JSON.stringify([id, account.id])), names))}</tr>\n`,
  );
  return markup`<div class="scroll" role="region" aria-label="Roles by user and account" tabindex="0">
<table>
<caption>Every user's role in every account, with what is inherited through the account tree</caption>
<thead><tr><th scope="col">User</th>${heads}</tr></thead>
<tbody>
${body}</tbody>
</table>
</div>
`;
}

function cellOf(cell: AccessCell | undefined, names: ReadonlyMap<string, string>): Markup {
  if (!cell) return raw('<td><span class="muted">none</span></td>');
  const { role, inherited_from, declared } = cell;
  const from = inherited_from === undefined ? undefined : markup`<br><span class="muted">from ${names.get(inherited_from) ?? inherited_from}</span>`;
  const other = declared === undefined ? undefined : markup`<br><span class="differs">≠ declared: ${declared}</span>`;
  return markup`<td>${role}${from}${other}</td>`;
}
