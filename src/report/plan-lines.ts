// A plan in lines of text: what most runs show, and so by itself.
import type { PlanDocument } from '../model/index.js';
import { planText } from './plan-text.js';
import type { Style } from './style.js';

export type Renderer<Document> = (document: Document, style: Style) => string;

/** Text of lines, the last of which ends too. */
export const lined =
  <Document>(render: (document: Document, style: Style) => Iterable<string>): Renderer<Document> =>
  (document, style) =>
    [...render(document, style), ''].join('\n');

export const planInText: Renderer<PlanDocument> = lined(planText);
