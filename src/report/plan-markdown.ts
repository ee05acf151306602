// A plan as a pull-request comment: counts first, blocked rules, deletes on top, everything else folded.
import { flagToAllow, SENSITIVE, type PlanDocument, type ResourceChange } from '../model/index.js';
import { differences, inline, outsideDifference } from './differences.js';
import { impactItems } from './impact-text.js';
import { code, fence, shorten } from './escaping.js';
import type { Lines } from './layout.js';
import {
  diagnosticItems,
  differenceFence,
  fitted,
  folded,
  foldedDetails,
  footer,
  leftOut,
  some,
  markdownTable,
  type Level,
} from './markdown.js';
import {
  baseSentence,
  circumstances,
  destroys,
  isShown,
  place,
  planSentence,
  plural,
  requestsInOrder,
  signOf,
  verbOf,
} from './words.js';

/** The first line is a hidden marker by which a job finds its earlier comment. */
export function planMarkdown(document: PlanDocument): string {
  const changes = document.resource_changes.filter(isShown);
  const deletesFirst = changes.toSorted((a, b) => Number(destroys(b)) - Number(destroys(a)));
  return fitted((level) => planLines(document, changes, deletesFirst, level));
}

function* planLines(
  document: PlanDocument,
  inOrder: readonly ResourceChange[],
  deletesFirst: readonly ResourceChange[],
  level: Level,
): Lines {
  yield* ['<!-- trueup:plan -->', `### ${planSentence(document)}`, ''];
  yield* policyItems(document, level);
  yield* diagnosticItems(document.diagnostics, level);
  if (deletesFirst.length > 0) {
    yield* markdownTable(['Action', 'Address', 'Why', 'Declared'], deletesFirst, level, (change) =>
      cellsOf(change, level),
    );
    const detailed = deletesFirst.filter((change) => change.patch.length > 0);
    yield* foldedDetails('Attributes', detailed, level, (change) => detailOf(change, level));
    yield* requestItems(inOrder, level);
  }
  yield* driftItems(document, level);
  yield* impactItems(document.impact, level);
  if (!level.details) yield* leftOut('Attribute details', 'plan');
  else if (!level.bodies) yield* leftOut('Request bodies', 'plan');
  yield* footer(document, level);
}

function cellsOf(change: ResourceChange, level: Level): readonly string[] {
  const verb = `${code(signOf(change))} ${verbOf(change)}`;
  return [
    destroys(change) ? `**${verb}**` : verb,
    level.code(change.address),
    circumstances(change).map(level.prose).join(' · '),
    change.origin ? level.code(place(change.origin)) : '',
  ];
}

function* detailOf(change: ResourceChange, level: Level): Lines {
  yield* ['', `**${verbOf(change)}** ${level.code(change.address)}`, ''];
  yield* differenceFence(differences(change), level);
}

function* requestItems(changes: readonly ResourceChange[], level: Level): Lines {
  const requests = requestsInOrder(changes);
  if (requests.length === 0) return;
  const lines = some(requests, level, ({ request }, index) => {
    const { method, path, body } = request;
    const base = baseSentence(request);
    return [
      `${index + 1}. ${method} ${shorten(path, level.length)}`,
      ...(level.bodies && body !== null
        ? [`   ${shorten(body === SENSITIVE ? SENSITIVE : inline(body), level.length)}`]
        : []),
      ...(level.bodies && base !== undefined ? [`   ${base}`] : []),
    ];
  });
  yield* folded(`${plural(requests.length, 'request')}, in order`, ['', ...fence('', lines)]);
}

function* policyItems({ policy }: PlanDocument, level: Level): Lines {
  if (policy.length === 0) return;
  yield* some(policy, level, ({ rule, verdict, detail, address }) => {
    const where = address === undefined ? '' : ` ${level.code(address)}`;
    const flag = flagToAllow(rule);
    const allow = verdict === 'blocked' && flag !== undefined ? ` To allow it: ${code(flag)}` : '';
    const said = verdict === 'blocked' ? '**BLOCKED**' : 'allowed';
    return [`- ${said} by policy ${code(rule)}: ${level.prose(detail)}${where}.${allow}`];
  });
  yield '';
}

function* driftItems({ resource_drift }: PlanDocument, level: Level): Lines {
  if (resource_drift.length === 0) return;
  const lines = some(resource_drift, level, function* ({ address, actions, changes }) {
    const differs = `differs in ${plural(changes.length, 'attribute')}`;
    yield* ['', `${level.code(address)} ${actions[0] === 'delete' ? 'is gone' : differs}`];
    if (!level.details || changes.length === 0) return;
    yield '';
    yield* differenceFence(changes.map(outsideDifference), level);
  });
  const objects = plural(resource_drift.length, 'object');
  yield* folded(`${objects} changed outside of trueup since the last apply`, lines);
}
