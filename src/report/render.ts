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

const planRenderers: Readonly<Record<PlanFormat, Renderer<PlanDocument>>> = {
  text: planInText,
  json: jsonText,
  markdown: planMarkdown,
  html: planHtml,
};
const driftRenderers: Readonly<Record<DriftFormat, Renderer<DriftDocument>>> = {
  text: lined(driftText),
  json: jsonText,
  markdown: driftMarkdown,
  html: driftHtml,
  junit: driftJunit,
  sarif: driftSarif,
};

const fleetRenderers: Readonly<Record<FleetFormat, Renderer<FleetDocument>>> = {
  text: fleetText,
  json: jsonText,
  markdown: fleetMarkdown,
  html: fleetHtml,
  junit: fleetJunit,
  sarif: fleetSarif,
  prometheus: fleetMetrics,
  ndjson: fleetReportNdjson,
};

/** Ends with a line feed. Only JSON needs the unchanged in the document, and shows what it holds. */
export function renderPlan(document: PlanDocument, format: PlanFormat, style: Style): string {
  return planRenderers[format](document, style);
}

/** Ends with a line feed. */
export function renderDrift(document: DriftDocument, format: DriftFormat, style: Style): string {
  return driftRenderers[format](document, style);
}

/** Ends with a line feed. */
export function renderFleet(document: FleetDocument, format: FleetFormat, style: Style): string {
  return fleetRenderers[format](document, style);
}
