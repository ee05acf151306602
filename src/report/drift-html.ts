// An audit as a page: what drifted and who did it, what was expected, health issues, the access review.
import {
  type HealthIssue,
  type DriftDocument,
  type DriftRecord,
  type UnmanagedRecord,
  type Verified,
} from '../model/index.js';
import { accessTable } from './access-html.js';
import { appliedOtherwise, inline, loggedDifferences, recordDifference } from './differences.js';
import { markup, moment, withCode, type Markup } from './markup.js';
import {
  countTable,
  diagnosticNotes,
  facts,
  fieldTable,
  group,
  itemOf,
  htmlTable,
  typeset,
} from './html-parts.js';
import { filterForm, page } from './html-page.js';
import {
  authorSentence,
  changedBy,
  driftActions,
  driftMeanings,
  driftSentence,
  driftSigns,
  expectationSentence,
  place,
} from './words.js';

/** What is most to be feared comes first. */
const order = ['gone', 'replaced', 'changed', 'missing', 'undeclared', 'settled'] as const;
const titles: Readonly<Record<(typeof order)[number], string>> = {
  gone: 'Gone',
  replaced: 'Replaced outside of trueup',
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
      ...order.map((status) => ({
        count: drift.filter((one) => one.status === status).length,
        words: status,
        tone: driftActions[status],
      })),
      { count: summary.expectations_failed, words: 'expectations failed', tone: 'delete' },
      { count: summary.in_sync, words: 'in sync' },
      { count: summary.unmanaged, words: 'unmanaged' },
    ],
    document,
    sections: [
      {
        id: 'diagnostics',
        title: 'To be known',
        count: diagnostics.length,
        content: diagnosticNotes(diagnostics),
      },
      { id: 'drift', title: 'Drift', count: drift.length, content: recordItems(drift) },
      {
        id: 'expectations',
        title: 'Expectations',
        count: expectations.length,
        content: expectations.map(expectationItem),
      },
      { id: 'health', title: 'Health issues', count: health.length, content: healthTable(health) },
      {
        id: 'unmanaged',
        title: 'Unmanaged',
        count: summary.unmanaged,
        content: unmanagedTables(document.unmanaged, unmanaged_objects),
      },
      { id: 'access', title: 'Access review', content: access ? [accessTable(access)] : [] },
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
      records
        .filter((record) => record.status === status)
        .map((record) => recordItem(record, open)),
    ),
  );
  return [form, ...groups];
}

function recordItem(record: DriftRecord, open: boolean): Markup {
  const { kind, status, address, id, origin, changes, changed_by } = record;
  const settled = status === 'settled';
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
        [
          'Who',
          status === 'missing' || status === 'undeclared' ? undefined : withCode(changedBy(record)),
        ],
        ['Declared', origin ? markup`<code>${place(origin)}</code>` : undefined],
        ['Live id', id === null ? undefined : markup`<code>${id}</code>`],
        ...appliedOtherwise(record).map(
          ({ path, applied }) =>
            [
              'Last applied',
              markup`<code>${path}</code> as <code>${inline(applied)}</code>`,
            ] as const,
        ),
      ]),
      fieldTable(
        settled ? 'From last applied to live' : 'From declared to live',
        changes.map(recordDifference(record)),
        settled ? ['Last applied', 'Live'] : ['Declared', 'Live'],
      ),
      fieldTable('In the activity log', loggedDifferences(changed_by), ['Before', 'After']),
    ],
  });
}

function expectationItem(verified: Verified): Markup {
  const { name, collection, origin, verdict, offenders, failed, diagnostic } = verified;
  const looks = {
    met: ['create', '✓'],
    failed: ['delete', '✗'],
    unknown: ['update', '?'],
  } as const;
  const [tone, sign] = looks[verdict];
  const rest = failed - offenders.length;
  const named = offenders.map(
    ({ id, why }) => markup`<tr><th scope="row"><code>${id}</code></th><td>${why}</td></tr>\n`,
  );
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
      offenders.length === 0
        ? undefined
        : htmlTable(
            `Records that are not as expected${rest > 0 ? `, the first ${offenders.length} of ${failed}` : ''}`,
            ['Record', 'Why'],
            named,
          ),
      ...diagnosticNotes(diagnostic ? [diagnostic] : []),
    ],
  });
}

function healthTable(health: readonly HealthIssue[]): readonly Markup[] {
  if (health.length === 0) return [];
  const body = health.map(
    ({ kind, id, address, summary, detail, at }) =>
      markup`<tr data-kind="${kind}"><th scope="row"><code>${address ?? `${kind} ${id}`}</code></th><td>${summary}${detail === undefined ? undefined : markup`<br><span class="muted text">${detail}</span>`}</td><td>${at === undefined ? undefined : moment(at)}</td></tr>\n`,
  );
  return [
    htmlTable('Live objects that do not work, declared or not', ['Object', 'What', 'Since'], body),
  ];
}

function unmanagedTables(
  counts: Readonly<Record<string, number>>,
  objects: readonly UnmanagedRecord[],
): readonly Markup[] {
  const body = objects.map((unmanaged) => {
    const { kind, id, label } = unmanaged;
    return markup`<tr data-kind="${kind}"><th scope="row"><code>${kind}</code> <code>${id}</code></th><td>${label ?? ''}</td><td>${withCode(authorSentence(unmanaged))}</td></tr>\n`;
  });
  return [
    ...countTable('Live objects in no state and no declaration', counts),
    ...(body.length === 0 ? [] : [htmlTable('Each of them', ['Object', 'Name', 'Who'], body)]),
  ];
}
