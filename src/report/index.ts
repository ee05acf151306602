// The report room: one model of what happened, and its renderers.
import type { DriftDocument, PlanDocument } from '../model/index.js';
import { driftHtml } from './drift-html.js';
import { driftMarkdown } from './drift-markdown.js';
import { driftText } from './drift-text.js';
import type { DriftFormat, PlanFormat } from './formats.js';
import { driftJunit } from './junit.js';
import { jsonText } from './json.js';
import { planHtml } from './plan-html.js';
import { planMarkdown } from './plan-markdown.js';
import { planText } from './plan-text.js';
import { driftSarif } from './sarif.js';
import type { Style } from './style.js';

export { renderDiagnostics } from './diagnostics.js';
export { accessHead, accessList, accessMarkdown, accessRows, accessSentence, type AccessDocument } from './access.js';
export { accessDocument, driftDocument, planDocument, type DriftInput, type Meta, type PlanInput } from './document.js';
export { guard, inert, visible } from './inert.js';
export { metricsText, watchSentence, type WatchRecord } from './metrics.js';
export { ndjson, type Ndjson } from './ndjson.js';
export { renderOutcomes } from './outcomes.js';
export { advance, noProgress, progressLine, type Progress } from './progress.js';
export type { Style } from './style.js';
export { clip, columns } from './width.js';

type Renderer<Document> = (document: Document, style: Style) => string;

const lined =
  <Document>(render: (document: Document, style: Style) => Iterable<string>): Renderer<Document> =>
  (document, style) =>
    [...render(document, style), ''].join('\n');

const planRenderers: Readonly<Record<PlanFormat, Renderer<PlanDocument>>> = { text: lined(planText), json: jsonText, markdown: planMarkdown, html: planHtml };
const driftRenderers: Readonly<Record<DriftFormat, Renderer<DriftDocument>>> = {
  text: lined(driftText),
  json: jsonText,
  markdown: driftMarkdown,
  html: driftHtml,
  junit: driftJunit,
  sarif: driftSarif,
};

/** Ends with a line feed. Only JSON needs the unchanged in the document, and shows what it holds. */
export function renderPlan(document: PlanDocument, format: PlanFormat, style: Style): string {
  return planRenderers[format](document, style);
}

/** Ends with a line feed. */
export function renderDrift(document: DriftDocument, format: DriftFormat, style: Style): string {
  return driftRenderers[format](document, style);
}
