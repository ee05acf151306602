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
import { addressList } from './change-groups.js';
import { appliedOtherwise, loggedDifferences, recordDifference } from './differences.js';
import { driftGroups } from './drift-groups.js';
import { codeOf, codes, markup, moment, withCode, type Markup } from './markup.js';
import {
  countTable,
  diagnosticNotes,
  diagnosticSection,
  facts,
  fieldTable,
  htmlTable,
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
  causeSentence,
  changedBy,
  driftActions,
  driftMeaning,
  driftSentence,
  driftSignOf,
  expectationSentence,
  healthGroups,
  healthSubject,
} from './words.js';

/** The most dangerous statuses come first. */
const titles: Readonly<Record<DriftRecord['status'], string>> = {
  gone: 'Gone',
  replaced: 'Replaced outside of trueup',
  changed: 'Changed',
  missing: 'Missing',
  undeclared: 'No longer declared',
  settled: 'Settled by themselves',
};

export function driftHtml(document: DriftDocument, style: Style): string {
  const { drift, summary, expectations, health, unmanaged_objects, access } = document;
  const unmanaged = unmanagedTables(document.unmanaged, unmanaged_objects);
  const verdicts = expectations.map((one) => expectationItem(one, style));
  const items = itemGroups(driftGroups(drift, style.verbose), {
    titles,
    noun: 'Status',
    groupOf: ([record]) => record!.status,
    kindOf: ([record]) => record!.kind,
    countOf: ({ length }) => length,
    item: (records, open) => recordItem(records, open, style),
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
      [summary.unmanaged, 'unmanaged', document.unmanaged_is_drift ? 'update' : undefined],
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

function recordItem(records: readonly DriftRecord[], open: boolean, style: Style): Markup {
  const record = records[0]!;
  const { kind, status, changes, changed_by } = record;
  const settled = status === 'settled';
  const applied = appliedOtherwise(record).map(({ path, applied: value }) => {
    const said = markup`<code>${path}</code> as <code>${value}</code>`;
    return ['Last applied', said] as const;
  });
  return itemOf({
    kind,
    count: records.length,
    what: status,
    tone: driftActions[status],
    sign: typeset(driftSignOf(status)),
    verb: status,
    address: addressList(records, status === 'gone'),
    why: driftMeaning(record),
    open,
    body: [
      ...(records.length === 1
        ? [facts([...recordFacts(record, style), ...applied])]
        : [recordTable(records, style), facts(applied)]),
      fieldTable(
        settled ? 'From last applied to live' : 'From declared to live',
        changes.map(recordDifference(record)),
        settled ? ['Last applied', 'Live'] : ['Declared', 'Live'],
      ),
      fieldTable('In the activity log', loggedDifferences(changed_by), ['Before', 'After']),
    ],
  });
}

const authorMarkup = (record: DriftRecord): Markup | undefined =>
  record.status === 'missing' || record.status === 'undeclared'
    ? undefined
    : withCode(changedBy(record));

const recordFacts = (record: DriftRecord, style: Style) =>
  [
    ['Who', authorMarkup(record)],
    ['Declared', placeMarkup(record.origin, style)],
    ['Live id', codeOf(record.id)],
  ] as const;

/** The objects of a group, so that each is found by its address. */
function recordTable(records: readonly DriftRecord[], style: Style): Markup {
  const body = records.map((record) => {
    const { address, id, origin } = record;
    return markup`<tr><th scope="row"><code>${address}</code></th><td>${codeOf(id)}</td><td>${authorMarkup(record)}</td><td>${placeMarkup(origin, style)}</td></tr>\n`;
  });
  return htmlTable('Objects', ['Address', 'Live id', 'Who', 'Declared'], body);
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

/** One row for each cause, which opens to its objects. */
function healthTable(health: readonly HealthIssue[]): readonly Markup[] {
  const body = healthGroups(health).map((issues) => {
    const { kind, at } = issues[0]!;
    const since = at === undefined ? undefined : moment(at);
    const said = issues.length === 1 ? issueMarkup(issues[0]!) : causeMarkup(issues);
    const of = issues.length === 1 ? healthSubject(issues[0]!) : `${issues.length} ${kind}`;
    return markup`<tr data-kind="${kind}"><th scope="row"><code>${of}</code></th><td>${said}</td><td>${since}</td></tr>\n`;
  });
  const caption = 'Live objects that do not work, declared or not';
  return tableIfAny(caption, ['Object', 'What', 'Since'], body);
}

function issueMarkup({ summary, detail }: HealthIssue): Markup {
  const more =
    detail === undefined ? undefined : markup`<br><span class="muted text">${detail}</span>`;
  return markup`${summary}${more}`;
}

const causeMarkup = (issues: readonly HealthIssue[]): Markup =>
  markup`<details><summary>${causeSentence(issues)}</summary>${codes(issues.map(healthSubject))}</details>`;

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
