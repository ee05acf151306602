// What `trueup watch` repeats: the audit of a project, or of all tenants of a fleet.
import type { Exit } from '../model/index.js';
import type { Ended } from './notify.js';

export interface AuditCycle {
  /** Its line. */
  readonly words: string;
  readonly exit: Exit;
  readonly ended: Ended;
  /** Equal where a cycle found the same as the one before. */
  readonly result: string;
}

export interface RepeatedAudit {
  cycle(): Promise<AuditCycle>;
  /** In the format of Prometheus. */
  metrics(): string;
  /** Resolves once nothing of it runs any more. */
  close(): Promise<void>;
}

/** The result of a cycle that found nothing. */
export const AS_DECLARED = '';
