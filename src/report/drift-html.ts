// An audit as a page: drift with its authors, expectations, health issues, the access review.
import {
  type HealthIssue,
  type DriftDocument,
  type DriftRecord,
  type UnmanagedRecord,
  type Verified,
  keysOf,
} from '../model/index.js';
import { accessTable } from './access-html.js';
import { appliedOtherwise, inline, loggedDifferences, recordDifference } from './differences.js';
import { codeOf, markup, moment, withCode, type Markup } from './markup.js';
import {
  countTable,
  diagnosticNotes,
  diagnosticSection,
  facts,
  fieldTable,
  itemGroups,
  itemOf,
  placeMarkup,
  tableIfAny,
  typeset,
} from './html-parts.js';
import { page, pageSection } from './html-page.js';
import type { Style } from './style.js';
import {
  authorSentence,
  changedBy,
  driftActions,
  driftMeanings,
  driftSentence,
  driftSignOf,
  expectationSentence,
  healthSubject,
} from './words.js';

/** The most dangerous statuses come first. */
const titles: Readonly<Record<DriftRecord['status'], string>> = {
  gone: 'Gone',
  replaced: 'Replaced outside of trueup',
  changed: 'Changed',
  missing: 'Missing',
  undeclared: 'Declared no more',
  settled: 'Settled by themselves',
};

export function driftHtml(document: DriftDocument, style: Style): string {
  const { drift, summary, expectations, health, unmanaged_objects, access } = document;
  const unmanaged = unmanagedTables(document.unmanaged, unmanaged_objects);
  const verdicts = expectations.map((one) => expectationItem(one, style));
  const items = itemGroups(drift, {
    titles,
    noun: 'Status',
    groupOf: ({ status }) => status,
    kindOf: ({ kind }) => kind,
    countOf: () => 1,
    item: (record, open) => recordItem(record, open, style),
  });
  return page({
    kind: 'drift',
    sentence: driftSentence(document),
    counts: [
      ...keysOf(titles).map((status) => {
        const { length } = drift.filter((one) => one.status === status);
        return [length, status, driftActions[status]] as const;
      }),
      [summary.expectations_failed, 'expectations failed', 'delete'],
      [summary.in_sync, 'in sync'],
      [summary.unmanaged, 'unmanaged'],
    ],
    document,
    style,
    sections: [
      diagnosticSection(document.diagnostics),
      pageSection('drift', 'Drift', items, drift.length),
      pageSection('expectations', 'Expectations', verdicts, expectations.length),
      pageSection('health', 'Health issues', healthTable(health), health.length),
      pageSection('unmanaged', 'Unmanaged', unmanaged, summary.unmanaged),
      pageSection('access', 'Access review', access ? [accessTable(access)] : []),
    ],
  });
}

function recordItem(record: DriftRecord, open: boolean, style: Style): Markup {
  const { kind, status, address, id, origin, changes, changed_by } = record;
  const settled = status === 'settled';
  return itemOf({
    kind,
    what: status,
    tone: driftActions[status],
    sign: typeset(driftSignOf(status)),
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
        ['Declared', placeMarkup(origin, style)],
        ['Live id', codeOf(id)],
        ...appliedOtherwise(record).map(({ path, applied }) => {
          const said = markup`<code>${path}</code> as <code>${inline(applied)}</code>`;
          return ['Last applied', said] as const;
        }),
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

function expectationItem(verified: Verified, style: Style): Markup {
  const { name, collection, origin, verdict, offenders, failed, diagnostic } = verified;
  const looks = {
    met: ['create', '✓'],
    failed: ['delete', '✗'],
    unknown: ['update', '?'],
  } as const;
  const [tone, sign] = looks[verdict];
  const first = failed > offenders.length ? `, the first ${offenders.length} of ${failed}` : '';
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
        ['Of', codeOf(collection)],
        ['Declared', placeMarkup(origin, style)],
      ]),
      ...tableIfAny(`Records that are not as expected${first}`, ['Record', 'Why'], named),
      ...diagnosticNotes(diagnostic ? [diagnostic] : []),
    ],
  });
}

function healthTable(health: readonly HealthIssue[]): readonly Markup[] {
  const body = health.map((issue) => {
    const { kind, summary, detail, at } = issue;
    const more =
      detail === undefined ? undefined : markup`<br><span class="muted text">${detail}</span>`;
    return markup`<tr data-kind="${kind}"><th scope="row"><code>${healthSubject(issue)}</code></th><td>${summary}${more}</td><td>${at === undefined ? undefined : moment(at)}</td></tr>\n`;
  });
  const caption = 'Live objects that do not work, declared or not';
  return tableIfAny(caption, ['Object', 'What', 'Since'], body);
}

function unmanagedTables(
  counts: Readonly<Record<string, number>>,
  objects: readonly UnmanagedRecord[],
): readonly Markup[] {
  const body = objects.map((unmanaged) => {
    const { kind, id, label } = unmanaged;
    return markup`<tr data-kind="${kind}"><th scope="row"><code>${kind}</code> <code>${id}</code></th><td>${label ?? ''}</td><td>${withCode(authorSentence(unmanaged))}</td></tr>\n`;
  });
  return [...countTable(counts), ...tableIfAny('Each of them', ['Object', 'Name', 'Who'], body)];
}
