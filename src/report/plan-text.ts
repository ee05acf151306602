// A plan for a terminal: what changes in the order of execution, the requests, what to know, the summary last.
import {
  flagToAllow,
  type PlanDocument,
  type ResourceChange,
  type ResourceDrift,
  type Verdict,
} from '../model/index.js';
import { differences, inline, outsideDifference } from './differences.js';
import { ending } from './closing-lines.js';
import { impactLines } from './impact-text.js';
import { differenceLines, flow, type Lines } from './layout.js';
import { paintOf, palette, widthOf, type Palette, type Style } from './style.js';
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

export function* planText(document: PlanDocument, style: Style): Lines {
  const color = palette(style);
  const width = widthOf(style);
  const changes = document.resource_changes.filter(isShown);
  for (const change of changes) {
    yield* changeLines(change, color, width);
    yield '';
  }
  yield* requestLines(changes, color, width);
  yield* driftLines(document.resource_drift, color, width);
  yield* impactLines(document.impact, color, width);
  yield* policyLines(document.policy, color, width);
  yield* ending(
    document,
    {
      sentence: planSentence(document),
      targeted: changes.some((change) => actionOf(change) !== 'keep'),
    },
    color,
    width,
  );
  const blocked = blockedSentence(document);
  if (blocked !== undefined)
    yield* flow(blocked, { width, paint: (text) => color.bold(color.red(text)) });
}

function* changeLines(resource: ResourceChange, color: Palette, width: number): Lines {
  const action = actionOf(resource);
  yield* flow(resource.address, {
    width,
    lead: `${signOf(resource)} ${verbOf(resource)} `,
    hang: 4,
    paint: color.bold,
    paintLead: paintOf(color, action),
  });
  const about = [...circumstances(resource), ...(resource.origin ? [place(resource.origin)] : [])];
  yield* flow(about.join(' · '), { width, lead: '  ', paint: color.dim });
  yield* differenceLines(differences(resource), color, width, 4);
}

function* requestLines(changes: readonly ResourceChange[], color: Palette, width: number): Lines {
  const requests = requestsInOrder(changes);
  if (requests.length === 0) return;
  yield color.bold('Requests, in order');
  const digits = String(requests.length).length;
  for (const [
    index,
    {
      request: { method, path, body, base },
    },
  ] of requests.entries()) {
    const lead = `${String(index + 1).padStart(digits)} `;
    yield* flow(`${method} ${path}`, {
      width,
      lead,
      hang: lead.length + 2,
      paintLead: color.dim,
      ...(method === 'DELETE' && { paint: color.red }),
    });
    if (body !== null)
      yield* flow(inline(body), { width, lead: ' '.repeat(lead.length + 2), paint: color.dim });
    if (base)
      yield* flow(baseSentence(base), {
        width,
        lead: ' '.repeat(lead.length + 2),
        paint: color.dim,
      });
  }
  yield '';
}

function* driftLines(drift: readonly ResourceDrift[], color: Palette, width: number): Lines {
  if (drift.length === 0) return;
  yield color.bold('Drift since the last apply');
  for (const one of drift) {
    yield* flow(one.actions[0] === 'delete' ? `${one.address} is gone` : one.address, {
      width,
      lead: '  ',
    });
    yield* differenceLines(one.changes.map(outsideDifference), color, width, 4);
  }
  yield '';
}

function* policyLines(verdicts: readonly Verdict[], color: Palette, width: number): Lines {
  if (verdicts.length === 0) return;
  yield color.bold('Policy');
  for (const { rule, verdict, detail, address } of verdicts) {
    const blocked = verdict === 'blocked';
    yield* flow(`${rule}: ${detail}${address === undefined ? '' : ` (${address})`}`, {
      width,
      lead: blocked ? '  BLOCKED ' : '  allowed ',
      hang: 4,
      paintLead: blocked ? (text) => color.bold(color.red(text)) : color.dim,
    });
    const flag = flagToAllow(rule);
    if (blocked && flag !== undefined)
      yield* flow(`to allow it: ${flag}`, { width, lead: '    ', paint: color.dim });
  }
  yield '';
}
