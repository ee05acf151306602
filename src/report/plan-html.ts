// A plan as a page: what blocks it, deletes on top, field by field, the requests in order, what it means.
import {
  flagToAllow,
  type Impact,
  type PlanDocument,
  type ResourceChange,
  type Verdict,
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
import { codes, markup, raw, withCode, type Markup } from './markup.js';
import {
  countTable,
  diagnosticNotes,
  facts,
  fieldTable,
  group,
  itemOf,
  json,
  htmlTable,
  typeset,
} from './html-parts.js';
import { filterForm, page } from './html-page.js';
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
} from './words.js';

/** What is most to be feared comes first. */
const order = ['delete', 'replace', 'update', 'create', 'adopt', 'forget', 'keep'] as const;
const titles: Readonly<Record<(typeof order)[number], string>> = {
  delete: 'Deletes',
  replace: 'Replaces, which delete an object and create another',
  update: 'Updates',
  create: 'Creates',
  adopt: 'Adopts, which exist and are managed from now on',
  forget: 'Forgets, which stay as they are',
  keep: 'Renames, which change nothing in the cloud',
};
const tones: Readonly<Record<(typeof order)[number], string>> = {
  delete: 'delete',
  replace: 'delete',
  update: 'update',
  create: 'create',
  adopt: 'adopt',
  forget: 'forget',
  keep: 'keep',
};

/** Up to this many objects are shown opened. */
const fewChanges = 12;

export function planHtml(document: PlanDocument): string {
  const changes = document.resource_changes.filter(isShown);
  const requests = requestsInOrder(changes);
  const { summary, policy, resource_drift, impact, diagnostics } = document;
  return page({
    kind: 'plan',
    sentence: planSentence(document),
    counts: [
      ...order
        .slice(0, -1)
        .filter((action) => action !== 'replace' || summary.replace > 0)
        .map((action) => ({ count: summary[action], words: `to ${action}`, tone: tones[action] })),
      { count: summary.keep, words: 'unchanged' },
    ],
    document,
    sections: [
      { id: 'policy', title: 'Policy', count: policy.length, content: policy.map(verdictNote) },
      {
        id: 'diagnostics',
        title: 'To be known',
        count: diagnostics.length,
        content: diagnosticNotes(diagnostics),
      },
      { id: 'changes', title: 'Changes', count: changes.length, content: changeItems(changes) },
      {
        id: 'impact',
        title: 'What it means for alerts',
        content: impact ? impactTables(impact) : [],
      },
      {
        id: 'requests',
        title: 'Requests, in order',
        count: requests.length,
        content: requestItems(requests),
      },
      {
        id: 'outside',
        title: 'Drift since the last apply',
        count: resource_drift.length,
        content: outsideItems(document),
      },
      {
        id: 'unmanaged',
        title: 'Unmanaged',
        content: countTable('Live objects in no state and no declaration', document.unmanaged),
      },
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

function changeItems(changes: readonly ResourceChange[]): readonly Markup[] {
  if (changes.length === 0) return [];
  const form = filterForm(
    changes.map(({ kind }) => kind),
    changes.map(actionOf),
    'Action',
    changes.length,
  );
  const open = changes.length <= fewChanges;
  const groups = order.map((action) =>
    group(
      titles[action],
      changes
        .filter((change) => actionOf(change) === action)
        .map((change) => changeItem(change, open)),
    ),
  );
  return [form, ...groups];
}

function changeItem(change: ResourceChange, open: boolean): Markup {
  const { kind, address, reason, origin, depends_on, previous_address } = change;
  const action = actionOf(change);
  const id = change.change.importing?.id ?? change.deposed;
  return itemOf({
    kind,
    what: action,
    tone: tones[action],
    sign: typeset(signOf(change)),
    verb: verbOf(change),
    address,
    why: reason,
    open,
    body: [
      facts([
        ['Declared', origin ? markup`<code>${place(origin)}</code>` : undefined],
        [
          'Renamed from',
          previous_address === undefined ? undefined : markup`<code>${previous_address}</code>`,
        ],
        ['Live id', id === undefined ? undefined : markup`<code>${id}</code>`],
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
  const items = requests.map(({ change, request: { method, path, body, base } }, index) => {
    const line = markup`<span class="number">${index + 1}</span> <code><strong>${method}</strong> ${path}</code>`;
    const shown =
      body === null
        ? markup`<div class="note">${line}</div>`
        : markup`<details class="item"><summary>${line}</summary><div class="body">${json(body)}${base && markup`<p class="muted">${baseSentence(base)}</p>`}</div></details>`;
    return markup`<li data-kind="${change.kind}" data-what="${actionOf(change)}">${shown}</li>\n`;
  });
  return [markup`<ol class="plain">\n${items}</ol>\n`];
}

function outsideItems({ resource_drift }: PlanDocument): readonly Markup[] {
  return resource_drift.map(({ address, kind, id, actions: [action], changes }) =>
    itemOf({
      kind,
      tone: action,
      sign: action === 'delete' ? '−' : '~',
      verb: action === 'delete' ? 'gone' : 'changed',
      address,
      why:
        action === 'delete'
          ? 'the live object is gone'
          : `differs in ${plural(changes.length, 'attribute')}`,
      open: false,
      body: [
        facts([['Live id', markup`<code>${id}</code>`]]),
        fieldTable('From last applied to live', changes.map(outsideDifference), [
          'Last applied',
          'Live',
        ]),
      ],
    }),
  );
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
  return [
    ...(sent.length === 0
      ? []
      : [
          htmlTable(
            'Notifications that rules would have sent',
            ['Rule', 'Would have sent', 'To, before', 'To, after'],
            sent,
          ),
        ]),
    ...(others === undefined ? [] : [markup`<p>${others}</p>\n`]),
    ...(lost.length === 0
      ? []
      : [htmlTable('Alerts that nobody would hear of', ['Type', 'Alerts'], lost)]),
    ...impactBasis(impact).map((sentence) => markup`<p class="muted">${withCode(sentence)}</p>\n`),
  ];
}
