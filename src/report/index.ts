// The report room: one model of what happened, and what every command says. Other forms than text: `render.ts`.
export type { AccessDocument } from './access.js';
export { renderDiagnostics } from './diagnostics.js';
export { accessDocument, driftDocument, planDocument, type DriftInput, type Meta, type PlanInput } from './document.js';
export { guard, inert, visible } from './inert.js';
export { planInText } from './lined.js';
export { ndjson, type Ndjson } from './ndjson.js';
export { renderOutcomes } from './outcomes.js';
export { advance, noProgress, progressLine, type Progress } from './progress.js';
export type { Style } from './style.js';
export { clip, columns } from './width.js';
