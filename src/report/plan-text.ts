// A plan for a terminal: the changes in the order of execution, the requests, notes, the summary last.
import {
  flagToAllow,
  type PlanDocument,
  type ResourceChange,
  type ResourceDrift,
  type Verdict,
} from '../model/index.js';
import { differences, inline, outsideDifference } from './differences.js';
import { ending } from './diagnostics-text.js';
import { impactLines } from './impact-text.js';
import { aside, differenceLines, flow, section, type Lines } from './layout.js';
import { paintOf, screenOf, type Screen, type Style } from './style.js';
import {
  actionOf,
  baseSentence,
  blockedSentence,
  circumstances,
  isShown,
  place,
  planSentence,
  requestsInOrder,
  signOf,
  verbOf,
} from './words.js';

function* planText(document: PlanDocument, style: Style): Lines {
  const screen = screenOf(style);
  const changes = document.resource_changes.filter(isShown);
  for (const change of changes) yield* [...changeLines(change, screen), ''];
  yield* section('Requests, in order', requestLines(changes, screen), screen);
  const drift = document.resource_drift.flatMap((one) => [...driftLines(one, screen)]);
  yield* section('Drift since the last apply', drift, screen);
  yield* impactLines(document.impact, screen);
  const verdicts = document.policy.flatMap((one) => [...verdictLines(one, screen)]);
  yield* section('Policy', verdicts, screen);
  const targeted = changes.some((change) => actionOf(change) !== 'keep');
  yield* ending(document, planSentence(document), targeted, screen);
  const blocked = blockedSentence(document);
  if (blocked !== undefined) yield* flow(blocked, screen, { paint: screen.alarm });
}

function* changeLines(resource: ResourceChange, screen: Screen): Lines {
  const lead = `${signOf(resource)} ${verbOf(resource)} `;
  const paintLead = paintOf(screen, actionOf(resource));
  yield* flow(resource.address, screen, { lead, hang: 4, paint: screen.bold, paintLead });
  const about = [...circumstances(resource), ...(resource.origin ? [place(resource.origin)] : [])];
  yield* aside(about.join(' · '), screen, 2);
  yield* differenceLines(differences(resource), screen);
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
    if (body !== null) yield* aside(inline(body), screen, hang);
    if (base !== undefined) yield* aside(base, screen, hang);
  }
}

function* driftLines({ address, actions, changes }: ResourceDrift, screen: Screen): Lines {
  yield* flow(actions[0] === 'delete' ? `${address} is gone` : address, screen, { lead: '  ' });
  yield* differenceLines(changes.map(outsideDifference), screen);
}

function* verdictLines({ rule, verdict, detail, address }: Verdict, screen: Screen): Lines {
  const [lead, paintLead] =
    verdict === 'blocked' ? ['  BLOCKED ', screen.alarm] : ['  allowed ', screen.dim];
  const where = address === undefined ? '' : ` (${address})`;
  yield* flow(`${rule}: ${detail}${where}`, screen, { lead, hang: 4, paintLead });
  const flag = flagToAllow(rule);
  if (verdict === 'blocked' && flag !== undefined) yield* aside(`to allow it: ${flag}`, screen, 4);
}

export type Renderer<Document> = (document: Document, style: Style) => string;

/** Text of lines, the last of which ends too. */
export const lined =
  <Document>(render: (document: Document, style: Style) => Iterable<string>): Renderer<Document> =>
  (document, style) =>
    [...render(document, style), ''].join('\n');

/** A plan in lines of text: what most runs show. */
export const planInText: Renderer<PlanDocument> = lined(planText);
