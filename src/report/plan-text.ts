// A plan for a terminal: the changes in the order of execution, the requests, notes, the summary last.
import {
  type PlanDocument,
  type ResourceChange,
  type ResourceDrift,
  type Verdict,
} from '../model/index.js';
import { blockedByRule } from './brief-diagnostics.js';
import {
  addressesOf,
  waysToSeeAll,
  addressList,
  goneWords,
  isOnlyRecorded,
  groupsOf,
  isAbridged,
  namesOnlySome,
  outsideGroups,
  placesOf,
  reasonsOf,
  requestsOf,
  shownDifferences,
  type ChangeGroup,
} from './change-groups.js';
import { outsideDifference } from './differences.js';
import { advice, ending } from './diagnostics-text.js';
import { visible } from './escaping.js';
import { impactLines } from './impact-text.js';
import { aside, closing, differenceLines, flow, jsonLines, section, type Lines } from './layout.js';
import { paintOf, screenOf, type Paint, type Screen, type Style } from './style.js';
import { columns } from './text-width.js';
import {
  actionOf,
  baseSentence,
  blockedSentence,
  isShown,
  planSentence,
  requestSentence,
  requestsInOrder,
  signOf,
  verbOf,
  destroys,
} from './words.js';

function* planText(document: PlanDocument, style: Style): Lines {
  const screen = screenOf(style);
  const changes = document.resource_changes.filter(isShown);
  const groups = groupsOf(changes, screen.verbose);
  for (const [index, group] of groups.entries()) {
    yield* groupLines(group, screen);
    const next = groups[index + 1];
    if (!next || !isOnlyRecorded(group) || !isOnlyRecorded(next)) yield '';
  }
  if (style.requests)
    yield* section('Requests, in the order of dependencies', requestLines(changes, screen), screen);
  const outside = outsideGroups(document.resource_drift, screen.verbose);
  const sending = changes.filter(({ requests }) => requests.length > 0);
  const acting = new Set(sending.map(({ address }) => address));
  const drift = outside.flatMap((same) => [...driftLines(same, acting, screen)]);
  yield* section('Drift: last applied → live', drift, screen);
  yield* impactLines(document.impact, screen);
  yield* section('Policy', verdictLines(document, screen), screen);
  const isTargeted = changes.some((change) => actionOf(change) !== 'keep');
  yield* ending(document, { sentence: planSentence(document), isTargeted }, screen);
  const sent = requestSentence(changes);
  if (sent !== undefined) yield* closing(sent, screen, String);
  const blocked = blockedSentence(document, style.again);
  if (blocked !== undefined) yield* advice(blocked, screen, { lead: '', paint: screen.alarm });
}

function* groupLines(group: ChangeGroup, screen: Screen): Lines {
  const { first } = group;
  const lead = `${signOf(first)} ${verbOf(first)} `;
  const paintLead = paintOf(screen, actionOf(first));
  const addresses = addressesOf(group);
  const places = placesOf(group);
  const isPart =
    (namesOnlySome(group.changes.length) && !destroys(first)) ||
    (group.changes.length > 1 && places.length === 0);
  const more = waysToSeeAll(isPart || isAbridged(group));
  const isOneLine = isOnlyRecorded(group);
  const reasons = isOneLine ? ['as declared, only recorded'] : reasonsOf(group);
  const about = [...reasons, ...places, ...more].join(' · ');
  const beside = isOneLine ? about : requestsOf(group);
  const fits = columns(visible(`${lead}${addresses}  ${beside}`)) <= screen.width;
  const own = { lead, hang: 4, paint: screen.bold, paintLead };
  if (fits && beside !== '')
    yield paintLead(lead) + screen.bold(visible(addresses)) + screen.dim(`  ${visible(beside)}`);
  else yield* flow(addresses, screen, own);
  if (!fits && beside !== '') yield* aside(beside, screen, 4);
  if (isOneLine) return;
  yield* aside(about, screen, 2);
  const isUpdate = !['create', 'delete'].includes(actionOf(first));
  yield* differenceLines(shownDifferences(group), screen, isUpdate);
}

function* requestLines(changes: readonly ResourceChange[], screen: Screen): Lines {
  const requests = requestsInOrder(changes);
  const digits = String(requests.length).length;
  const hang = digits + 3;
  for (const [index, { request }] of requests.entries()) {
    const { method, path, body } = request;
    const base = baseSentence(request);
    const lead = `${String(index + 1).padStart(digits)} `;
    const deletes = method === 'DELETE' && { paint: screen.red };
    yield* flow(`${method} ${path}`, screen, { lead, hang, paintLead: screen.dim, ...deletes });
    if (body !== null) yield* jsonLines(body, screen, hang);
    if (base !== undefined) yield* aside(base, screen, hang);
  }
}

function* driftLines(
  same: readonly ResourceDrift[],
  acting: ReadonlySet<string>,
  screen: Screen,
): Lines {
  const { actions, changes } = same[0]!;
  const isGone = actions[0] === 'delete';
  const addresses = addressList(same, isGone);
  const isQuiet = same.every(({ address }) => !acting.has(address));
  const still = isQuiet ? `${addresses} (nothing is sent)` : addresses;
  const said = isGone ? `${addresses} ${goneWords(same)}` : still;
  yield* flow(said, screen, { lead: '  ', hang: 4 });
  yield* differenceLines(changes.map(outsideDifference(same[0]!)), screen);
}

/** The last sentence of the plan has what allows the rules. */
function* verdictLines(document: PlanDocument, screen: Screen): Lines {
  for (const { rule, shown, more } of blockedByRule(document, screen.verbose)) {
    for (const one of shown) yield* verdictLine(one, '  BLOCKED ', screen.alarm, screen);
    if (more > 0) yield* aside(`and ${more} more by ${rule}. All of them: --verbose`, screen, 4);
  }
  const allowed = document.policy.filter(({ verdict }) => verdict === 'allowed');
  if (screen.verbose)
    for (const one of allowed) yield* verdictLine(one, '  allowed ', screen.dim, screen);
  else if (allowed.length > 0) {
    const rules = [...new Set(allowed.map(({ rule }) => rule))].join(', ');
    yield* flow(rules, screen, { lead: '  allowed: ', hang: 4, paintLead: screen.dim });
  }
}

function* verdictLine(
  { rule, detail, address }: Verdict,
  lead: string,
  paintLead: Paint,
  screen: Screen,
): Lines {
  const where = address === undefined || detail.includes(address) ? '' : ` (${address})`;
  yield* flow(`${rule}: ${detail}${where}`, screen, { lead, hang: 4, paintLead });
}

export type Renderer<Document> = (document: Document, style: Style) => string;

/** Text of lines, the last of which ends too. */
export const lined =
  <Document>(render: (document: Document, style: Style) => Iterable<string>): Renderer<Document> =>
  (document, style) =>
    [...render(document, style), ''].join('\n');

/** A plan in lines of text: what most runs show. */
export const planInText: Renderer<PlanDocument> = lined(planText);
