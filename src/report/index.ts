// The report room: one model of what happened, and its renderers.
import type { DriftDocument, PlanDocument } from '../model/index.js';
import { driftMarkdown } from './drift-markdown.js';
import { driftText } from './drift-text.js';
import { jsonText } from './json.js';
import { planMarkdown } from './plan-markdown.js';
import { planText } from './plan-text.js';
import type { Style } from './style.js';

export { renderDiagnostics } from './diagnostics.js';
export { driftDocument, planDocument, type DriftInput, type Meta, type PlanInput } from './document.js';
export { inert, visible } from './inert.js';
export { ndjson, type Ndjson } from './ndjson.js';
export { renderOutcomes } from './outcomes.js';
export { advance, noProgress, progressLine, type Progress } from './progress.js';
export type { Style } from './style.js';
export { clip, columns } from './width.js';

export type Format = 'text' | 'json' | 'markdown';

/** Ends with a line feed. Text and Markdown do not need the unchanged in the document; JSON shows what it holds. */
export function renderPlan(document: PlanDocument, format: Format, style: Style): string {
  if (format === 'json') return jsonText(document);
  return format === 'markdown' ? planMarkdown(document) : ended(planText(document, style));
}

/** Ends with a line feed. */
export function renderDrift(document: DriftDocument, format: Format, style: Style): string {
  if (format === 'json') return jsonText(document);
  return format === 'markdown' ? driftMarkdown(document) : ended(driftText(document, style));
}

const ended = (lines: Iterable<string>): string => [...lines, ''].join('\n');
