// The formats of plans, audits and notifications. Imports nothing, because the command line lists them before it loads anything.

export const planFormats = ['text', 'json', 'markdown', 'html'] as const;
export const driftFormats = [...planFormats, 'junit', 'sarif'] as const;

/** Of the merged report of a fleet. */
export const fleetFormats = [...driftFormats, 'prometheus', 'ndjson'] as const;
export type FleetFormat = (typeof fleetFormats)[number];

export const listFormats = ['text', 'json'] as const;
/** Of records; the access review is a report as well. */
export const recordFormats = ['table', 'wide', 'json', 'yaml', 'csv', 'ndjson'] as const;
export const accessFormats = ['markdown', 'html'] as const;
export const graphFormats = ['mermaid', 'dot'] as const;

export const notificationFormats = ['generic', 'slack', 'teams'] as const;

export type PlanFormat = (typeof planFormats)[number];
export type DriftFormat = (typeof driftFormats)[number];
export type RecordFormat = (typeof recordFormats)[number];
export type GraphFormat = (typeof graphFormats)[number];
export type NotificationFormat = (typeof notificationFormats)[number];
