// The forms a plan and an audit can take. Imports nothing: the command line lists them before anything is loaded.

export const planFormats = ['text', 'json', 'markdown', 'html'] as const;
export const driftFormats = [...planFormats, 'junit', 'sarif'] as const;

export type PlanFormat = (typeof planFormats)[number];
export type DriftFormat = (typeof driftFormats)[number];
