// A plan as a page: blocked rules and deletes on top, attribute by attribute, the requests in order, the impact.
import {
  canonical,
  flagToAllow,
  groupedBy,
  type Impact,
  type PlanDocument,
  type ResourceChange,
  type ResourceDrift,
  keysOf,
} from '../model/index.js';
import { CORRECT_FIRST, isWrong } from './brief-diagnostics.js';
import { addressesOf, goneWords, groupsOf, reasonsOf, type ChangeGroup } from './change-groups.js';
import { outsideDifference } from './differences.js';
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
  differenceMarkup,
  diagnosticSection,
  facts,
  fieldTable,
  htmlTable,
  itemGroups,
  itemOf,
  json,
  placeMarkup,
  tableIfAny,
  typeset,
} from './html-parts.js';
import { page, pageSection } from './html-page.js';
import type { Style } from './style.js';
import {
  actionOf,
  baseSentence,
  blockedAdvice,
  blockedRules,
  isShown,
  planTitle,
  plural,
  requestsInOrder,
  signOf,
  verbOf,
  type Again,
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

export function planHtml(document: PlanDocument, style: Style): string {
  const changes = document.resource_changes.filter(isShown);
  const requests = requestsInOrder(changes);
  const { summary, policy, resource_drift: drift, impact } = document;
  const blocked = policy.filter(({ verdict }) => verdict === 'blocked').length;
  const items = itemGroups(groupsOf(changes, style.verbose === true), {
    titles,
    noun: 'Action',
    groupOf: ({ first }) => actionOf(first),
    kindOf: ({ first }) => first.kind,
    countOf: ({ changes: all }) => all.length,
    item: (group, open) => groupItem(group, open, style),
  });
  return page({
    kind: 'plan',
    sentence: planTitle(document),
    counts: [
      ...(blocked > 0 ? [[blocked, 'blocked', 'delete'] as const] : []),
      ...keysOf(titles)
        .slice(0, -1)
        .filter((action) => action !== 'replace' || summary.replace > 0)
        .map((action) => [summary[action], `to ${action}`, toneOf(action)] as const),
      [summary.keep, 'unchanged'],
    ],
    document,
    style,
    sections: [
      pageSection('policy', 'Policy', verdictNotes(document, style.again), policy.length),
      diagnosticSection(document.diagnostics),
      pageSection('changes', 'Changes', items, changes.length),
      pageSection('impact', 'What it means for alerts', impact ? impactTables(impact) : []),
      pageSection(
        'requests',
        'Requests, in the order of dependencies',
        requestItems(requests),
        requests.length,
      ),
      pageSection('outside', 'Drift since the last apply', drift.map(outsideItem), drift.length),
      pageSection('unmanaged', 'Unmanaged', countTable(document.unmanaged)),
    ],
  });
}

/** Sentences of one rule that are open; the others are behind a line that counts them. */
const OPEN_SENTENCES = 5;

/** One note a rule, blocked ones first. What is said of several objects in the same words stands once. */
function verdictNotes(document: PlanDocument, again: Again | undefined): readonly Markup[] {
  const { policy, diagnostics } = document;
  const blockedFirst = policy.toSorted(
    (a, b) => Number(b.verdict === 'blocked') - Number(a.verdict === 'blocked'),
  );
  const notes = groupedBy(blockedFirst, ({ rule, verdict }) => canonical([rule, verdict])).map(
    (all) => {
      const { rule, verdict } = all[0]!;
      const [blocked, flag] = [verdict === 'blocked', flagToAllow(all[0]!)];
      const allowed = flag === undefined ? undefined : markup`To allow it: <code>${flag}</code>`;
      const advice = isWrong(diagnostics) ? CORRECT_FIRST : allowed;
      const said = groupedBy(all, ({ detail }) => detail).map((same) => {
        const addresses = same.flatMap(({ address, detail }) =>
          address === undefined || detail.includes(address) ? [] : address,
        );
        return markup`<p><span class="text">${same[0]!.detail}</span>${addresses.length === 0 ? undefined : markup` ${codes(addresses)}`}</p>\n`;
      });
      return markup`<div class="note ${blocked ? 'delete' : 'adopt'}">
<p><span class="badge">${blocked ? 'BLOCKED' : 'allowed'}</span> <code>${rule}</code>${all.length > 1 ? markup` <span class="number">${all.length}</span>` : undefined}</p>
${said.slice(0, OPEN_SENTENCES)}${folded(said.slice(OPEN_SENTENCES))}${blocked && !again && advice !== undefined ? markup`<p class="muted">${advice}</p>\n` : undefined}</div>
`;
    },
  );
  if (!again || blockedRules(policy).rules.length === 0) return notes;
  return [...notes, markup`<p class="text">${blockedAdvice(document, again)}</p>\n`];
}

const folded = (rest: readonly Markup[]): Markup | undefined =>
  rest.length === 0
    ? undefined
    : markup`<details><summary>and ${rest.length} more</summary>\n${rest}</details>\n`;

function groupItem(group: ChangeGroup, open: boolean, style: Style): Markup {
  const { first, changes, differences } = group;
  const action = actionOf(first);
  const isOne = changes.length === 1;
  return itemOf({
    kind: first.kind,
    count: changes.length,
    what: action,
    tone: toneOf(action),
    sign: typeset(signOf(first)),
    verb: verbOf(first),
    address: addressesOf(group),
    why: isOne ? first.reason : reasonsOf(group).join(' · '),
    open,
    body: [
      isOne ? changeFacts(first, style) : objectTable(group, style),
      fieldTable(
        'Attributes',
        differences,
        action === 'delete'
          ? ['Lost', '']
          : ['Before', first.change.before === null ? 'Value' : 'After'],
      ),
    ],
  });
}

const liveId = ({ change, deposed }: ResourceChange): string | undefined =>
  change.importing?.id ?? deposed;

const changeFacts = (change: ResourceChange, style: Style): Markup =>
  facts([
    ['Declared', placeMarkup(change.origin, style)],
    ['Renamed from', codeOf(change.previous_address)],
    ['Live id', codeOf(liveId(change))],
    ['Needs first', change.depends_on.length === 0 ? undefined : codes(change.depends_on)],
  ]);

/** The objects of a group, so that each is found by its address, with the values in which they differ. */
function objectTable({ changes, differences }: ChangeGroup, style: Style): Markup {
  const hasIds = changes.some((change) => liveId(change) !== undefined);
  const different = differences.filter(({ others }) => others !== undefined);
  const body = changes.map((change, index) => {
    const id = hasIds ? markup`<td>${codeOf(liveId(change))}</td>` : undefined;
    const values = different.map(
      ({ others }) => markup`<td>${differenceMarkup(others![index]!)}</td>`,
    );
    return markup`<tr><th scope="row"><code>${change.address}</code></th>${id}<td>${placeMarkup(change.origin, style)}</td>${values}</tr>\n`;
  });
  const titles = [...(hasIds ? ['Live id'] : []), 'Declared', ...different.map(({ path }) => path)];
  return htmlTable('Objects', ['Address', ...titles], body);
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

function outsideItem(drift: ResourceDrift): Markup {
  const {
    address,
    kind,
    id,
    actions: [action],
    changes,
  } = drift;
  const gone = action === 'delete';
  const live = changes.map(outsideDifference(drift));
  return itemOf({
    kind,
    tone: action,
    sign: gone ? '−' : '~',
    verb: gone ? 'gone' : 'changed',
    address,
    why: gone
      ? `the live object ${goneWords([drift])}`
      : `differs in ${plural(changes.length, 'attribute')}`,
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
