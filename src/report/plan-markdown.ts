// A plan as a pull-request comment: counts first, blocked rules, deletes on top, everything else folded.
import { SENSITIVE, type PlanDocument, type ResourceChange } from '../model/index.js';
import { blockedByRule, isWrong } from './brief-diagnostics.js';
import {
  addressesOf,
  addressList,
  goneWords,
  groupsOf,
  outsideGroups,
  placesOf,
  reasonsOf,
  shownDifferences,
  type ChangeGroup,
} from './change-groups.js';
import { inline, outsideDifference } from './differences.js';
import { impactItems } from './impact-text.js';
import { code, fence, prose, shorten } from './escaping.js';
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
import type { Style } from './style.js';
import {
  baseSentence,
  blockedAdvice,
  destroys,
  isShown,
  planSentence,
  requestSentence,
  plural,
  requestsInOrder,
  signOf,
  verbOf,
  type Again,
} from './words.js';

/** Characters of the heading, which has all counts at every level. References of a comparison may be long. */
const MOST_OF_HEADING = 400;

/** The first line is a hidden marker by which a job finds its earlier comment. */
export function planMarkdown(document: PlanDocument, { requests, verbose, again }: Style): string {
  const changes = document.resource_changes.filter(isShown);
  const ordered = changes.toSorted((a, b) => Number(destroys(b)) - Number(destroys(a)));
  return fitted(function* (level) {
    yield '<!-- trueup:plan -->';
    yield* planLines(document, groupsOf(ordered, verbose === true), level, {
      sent: requests ? changes : [],
      verbose,
      again,
    });
  });
}

/** Without the marker, at most `limit` characters: deletes first, then what changes most. @param again of a saved plan */
export function planComment(document: PlanDocument, limit: number, again?: Again): string {
  const changes = document.resource_changes.filter(isShown);
  const biggestFirst = changes
    .map((change) => ({ change, size: JSON.stringify(change.patch).length }))
    .toSorted((a, b) => Number(destroys(b.change)) - Number(destroys(a.change)) || b.size - a.size)
    .map(({ change }) => change);
  const groups = groupsOf(biggestFirst, false);
  return fitted((level) => planLines(document, groups, level, { again }), limit);
}

interface Wanted extends Pick<Style, 'again'> {
  readonly verbose?: boolean | undefined;
  /** The changes whose requests are listed, in the order of execution. */
  readonly sent?: readonly ResourceChange[];
}

function* planLines(
  document: PlanDocument,
  groups: readonly ChangeGroup[],
  level: Level,
  { sent = [], verbose, again }: Wanted,
): Lines {
  yield* [`### ${prose(shorten(planSentence(document), MOST_OF_HEADING))}`, ''];
  yield* policyItems(document, level, again);
  yield* diagnosticItems(document.diagnostics, level, verbose);
  if (groups.length > 0) {
    yield* markdownTable(['Action', 'Address', 'Why', 'Declared'], groups, level, (group) =>
      cellsOf(group, level),
    );
    const detailed = groups.filter(({ differences }) => differences.length > 0);
    yield* foldedDetails('Attributes', detailed, level, (group) => detailOf(group, level));
    yield* requestItems(sent, level);
    const requests = requestSentence(groups.flatMap(({ changes }) => changes));
    if (requests !== undefined) yield* [requests, ''];
  }
  yield* driftItems(document, level, verbose);
  yield* impactItems(document.impact, level, verbose);
  if (!level.details) yield* leftOut('Attribute details', 'plan');
  else if (!level.bodies && sent.length > 0) yield* leftOut('Request bodies', 'plan');
  yield* footer(document, level);
}

function cellsOf(group: ChangeGroup, level: Level): readonly string[] {
  const { first } = group;
  const verb = `${code(signOf(first))} ${verbOf(first)}`;
  return [
    destroys(first) ? `**${verb}**` : verb,
    level.code(addressesOf(group)),
    reasonsOf(group).map(level.prose).join(' · '),
    placesOf(group).map(level.code).join(),
  ];
}

function* detailOf(group: ChangeGroup, level: Level): Lines {
  yield* ['', `**${verbOf(group.first)}** ${level.code(addressesOf(group))}`, ''];
  yield* differenceFence(shownDifferences(group), level);
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

function* policyItems(document: PlanDocument, level: Level, again: Again | undefined): Lines {
  const { policy, diagnostics } = document;
  if (policy.length === 0) return;
  const blocked = blockedByRule(document, false);
  yield* some(blocked, level, ({ rule, shown, more, flag }) => {
    const allow = flag === undefined || again ? '' : ` To allow it: ${code(flag)}`;
    const others = more === 0 ? '' : ` And ${more} more.`;
    const details = shown.map(({ detail, address }) => {
      const isNamed = address === undefined || detail.includes(address);
      return `${level.prose(detail)}${isNamed ? '' : ` ${level.code(address)}`}.`;
    });
    return [`- **BLOCKED** by policy ${code(rule)}: ${details.join(' ')}${others}${allow}`];
  });
  const allowed = new Set(
    policy.flatMap(({ rule, verdict }) => (verdict === 'blocked' ? [] : [rule])),
  );
  if (allowed.size > 0) yield `- allowed: ${[...allowed].map(code).join(', ')}`;
  if (blocked.length > 0 && (again || isWrong(diagnostics)))
    yield* ['', level.prose(blockedAdvice(document, again))];
  yield '';
}

function* driftItems(
  { resource_drift }: PlanDocument,
  level: Level,
  verbose: boolean | undefined,
): Lines {
  if (resource_drift.length === 0) return;
  const lines = some(outsideGroups(resource_drift, verbose), level, function* (same) {
    const { actions, changes } = same[0]!;
    const isGone = actions[0] === 'delete';
    const differs = same.length === 1 ? 'differs in' : 'differ in';
    const what = isGone ? goneWords(same) : `${differs} ${plural(changes.length, 'attribute')}`;
    yield* ['', `${level.code(addressList(same, isGone))} ${what}`];
    if (!level.details || changes.length === 0) return;
    yield '';
    yield* differenceFence(changes.map(outsideDifference(same[0]!)), level);
  });
  const objects = plural(resource_drift.length, 'object');
  yield* folded(`${objects} changed outside of trueup since the last apply`, lines);
}
