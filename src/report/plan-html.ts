// A plan as a page: blocked rules and deletes on top, attribute by attribute, the requests in order, the impact.
import {
  flagToAllow,
  type Impact,
  type PlanDocument,
  type ResourceChange,
  type ResourceDrift,
  type Verdict,
  keysOf,
} from '../model/index.js';
import { differences, outsideDifference } from './differences.js';
import {
  impactBasis,
  movedRules,
  sentSentence,
  typeWord,
  unheardSentence,
  unmovedSentence,
} from './impact-text.js';
import { codeOf, codes, markup, raw, withCode, type Markup } from './markup.js';
import {
  countTable,
  diagnosticSection,
  facts,
  fieldTable,
  itemGroups,
  itemOf,
  json,
  tableIfAny,
  typeset,
} from './html-parts.js';
import { page, pageSection } from './html-page.js';
import {
  actionOf,
  baseSentence,
  isShown,
  place,
  planSentence,
  plural,
  requestsInOrder,
  signOf,
  verbOf,
  type SentWords,
  type SummaryKey,
} from './words.js';

/** The most dangerous actions come first. */
const titles: Readonly<Record<SummaryKey, string>> = {
  delete: 'Deletes',
  replace: 'Replaces, which delete an object and create another',
  update: 'Updates',
  create: 'Creates',
  adopt: 'Adopts, which exist and are managed from now on',
  forget: 'Forgets, which stay as they are',
  keep: 'Renames, which change nothing in the cloud',
};

const toneOf = (action: SummaryKey): string => (action === 'replace' ? 'delete' : action);

export function planHtml(document: PlanDocument): string {
  const changes = document.resource_changes.filter(isShown);
  const requests = requestsInOrder(changes);
  const { summary, policy, resource_drift: drift, impact } = document;
  const items = itemGroups(changes, {
    titles,
    noun: 'Action',
    groupOf: actionOf,
    item: changeItem,
  });
  return page({
    kind: 'plan',
    sentence: planSentence(document),
    counts: [
      ...keysOf(titles)
        .slice(0, -1)
        .filter((action) => action !== 'replace' || summary.replace > 0)
        .map((action) => [summary[action], `to ${action}`, toneOf(action)] as const),
      [summary.keep, 'unchanged'],
    ],
    document,
    sections: [
      pageSection('policy', 'Policy', policy.map(verdictNote), policy.length),
      diagnosticSection(document.diagnostics),
      pageSection('changes', 'Changes', items, changes.length),
      pageSection('impact', 'What it means for alerts', impact ? impactTables(impact) : []),
      pageSection('requests', 'Requests, in order', requestItems(requests), requests.length),
      pageSection('outside', 'Drift since the last apply', drift.map(outsideItem), drift.length),
      pageSection('unmanaged', 'Unmanaged', countTable(document.unmanaged)),
    ],
  });
}

function verdictNote({ rule, verdict, detail, address }: Verdict): Markup {
  const [blocked, flag] = [verdict === 'blocked', flagToAllow(rule)];
  return markup`<div class="note ${blocked ? 'delete' : 'adopt'}">
<p><span class="badge">${blocked ? 'BLOCKED' : 'allowed'}</span> <code>${rule}</code>: <span class="text">${detail}</span>${address === undefined ? undefined : markup` <code>${address}</code>`}</p>
${blocked && flag !== undefined ? markup`<p class="muted">To allow it: <code>${flag}</code></p>\n` : undefined}</div>
`;
}

function changeItem(change: ResourceChange, open: boolean): Markup {
  const { kind, address, reason, origin, depends_on, previous_address } = change;
  const action = actionOf(change);
  const id = change.change.importing?.id ?? change.deposed;
  return itemOf({
    kind,
    what: action,
    tone: toneOf(action),
    sign: typeset(signOf(change)),
    verb: verbOf(change),
    address,
    why: reason,
    open,
    body: [
      facts([
        ['Declared', codeOf(origin && place(origin))],
        ['Renamed from', codeOf(previous_address)],
        ['Live id', codeOf(id)],
        ['Needs first', depends_on.length === 0 ? undefined : codes(depends_on)],
      ]),
      fieldTable(
        'Attributes',
        differences(change),
        action === 'delete'
          ? ['Lost', '']
          : ['Before', change.change.before === null ? 'Value' : 'After'],
      ),
    ],
  });
}

function requestItems(requests: readonly SentWords[]): readonly Markup[] {
  if (requests.length === 0) return [];
  const items = requests.map(({ change, request }, index) => {
    const { method, path, body } = request;
    const base = baseSentence(request);
    const line = markup`<span class="number">${index + 1}</span> <code><strong>${method}</strong> ${path}</code>`;
    const shown =
      body === null
        ? markup`<div class="note">${line}</div>`
        : markup`<details class="item"><summary>${line}</summary><div class="body">${json(body)}${base && markup`<p class="muted">${base}</p>`}</div></details>`;
    return markup`<li data-kind="${change.kind}" data-what="${actionOf(change)}">${shown}</li>\n`;
  });
  return [markup`<ol class="plain">\n${items}</ol>\n`];
}

function outsideItem({ address, kind, id, actions: [action], changes }: ResourceDrift): Markup {
  const gone = action === 'delete';
  const live = changes.map(outsideDifference);
  return itemOf({
    kind,
    tone: action,
    sign: gone ? '−' : '~',
    verb: gone ? 'gone' : 'changed',
    address,
    why: gone ? 'the live object is gone' : `differs in ${plural(changes.length, 'attribute')}`,
    open: false,
    body: [
      facts([['Live id', codeOf(id)]]),
      fieldTable('From last applied to live', live, ['Last applied', 'Live']),
    ],
  });
}

function impactTables(impact: Impact): readonly Markup[] {
  const sent = movedRules(impact).map((rule) => {
    const { noisy, destinations } = rule;
    const said = markup`<td${raw(noisy ? ' class="differs"' : '')}>${sentSentence(rule)}</td>`;
    return markup`<tr><th scope="row"><code>${rule.rule}</code></th>${said}<td>${codes(destinations.before)}</td><td>${codes(destinations.after)}</td></tr>\n`;
  });
  const lost = impact.unheard.map(
    (one) =>
      markup`<tr><th scope="row"><code>${typeWord(one)}</code></th><td>${unheardSentence(one)}</td></tr>\n`,
  );
  const others = unmovedSentence(impact);
  const titles = ['Rule', 'Would have sent', 'To, before', 'To, after'];
  return [
    ...tableIfAny('Notifications that rules would have sent', titles, sent),
    ...(others === undefined ? [] : [markup`<p>${others}</p>\n`]),
    ...tableIfAny('Alerts that nobody would hear of', ['Type', 'Alerts'], lost),
    ...impactBasis(impact).map((sentence) => markup`<p class="muted">${withCode(sentence)}</p>\n`),
  ];
}
