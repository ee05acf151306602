// The document model, and the text output of every command. Other formats are in `render.ts`.
export type { AccessDocument } from './access-text.js';
export { renderDiagnostics } from './diagnostics-text.js';
export {
  accessDocument,
  declarationDocuments,
  driftDocument,
  planDocument,
  type DriftInput,
  type Meta,
  type PlanDocumentInput,
} from './document-of-plan.js';
export { guard, inert, visible } from './escaping.js';
export { planInText } from './plan-text.js';
export { ndjson, type Ndjson } from './ndjson.js';
export { renderOutcomes } from './outcomes-text.js';
export { advance, noProgress, progressLine, type Progress } from './progress.js';
export type { Style } from './style.js';
export { blockedRules, driftSentence, outcomeSentence, place, planSentence } from './words.js';
export { clip, columns } from './text-width.js';
