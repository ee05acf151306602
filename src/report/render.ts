// All formats of plans and audits. Loaded only for formats other than a plan as text: they are half of this module.
import type { DriftDocument, FleetDocument, PlanDocument } from '../model/index.js';
import { driftHtml } from './drift-html.js';
import { driftMarkdown } from './drift-markdown.js';
import { driftText } from './drift-text.js';
import { fleetHtml } from './fleet-html.js';
import { fleetMarkdown } from './fleet-markdown.js';
import { fleetReportNdjson } from './fleet-ndjson.js';
import { fleetText } from './fleet-text.js';
import type { DriftFormat, FleetFormat, PlanFormat } from './formats.js';
import { jsonText } from './json-output.js';
import { driftJunit, fleetJunit } from './junit.js';
import { fleetMetrics } from './metrics.js';
import { lined, planInText, type Renderer } from './plan-text.js';
import { planHtml } from './plan-html.js';
import { planMarkdown } from './plan-markdown.js';
import { driftSarif, fleetSarif } from './sarif.js';
import type { Style } from './style.js';

/** Renders in the format of that name. The text ends with a line feed. */
const renderer =
  <Document, Format extends string>(renderers: Readonly<Record<Format, Renderer<Document>>>) =>
  (document: Document, format: Format, style: Style): string =>
    renderers[format](document, style);

/** Only JSON needs the unchanged in the document, and shows what it holds. */
export const renderPlan = renderer<PlanDocument, PlanFormat>({
  text: planInText,
  json: jsonText,
  markdown: planMarkdown,
  html: planHtml,
});

export const renderDrift = renderer<DriftDocument, DriftFormat>({
  text: lined(driftText),
  json: jsonText,
  markdown: driftMarkdown,
  html: driftHtml,
  junit: driftJunit,
  sarif: driftSarif,
});

export const renderFleet = renderer<FleetDocument, FleetFormat>({
  text: fleetText,
  json: jsonText,
  markdown: fleetMarkdown,
  html: fleetHtml,
  junit: fleetJunit,
  sarif: fleetSarif,
  prometheus: fleetMetrics,
  ndjson: fleetReportNdjson,
});
