// What `trueup watch` repeats: the audit of a project, or of all tenants of a fleet.
import { reasonIn, Refusal, type Exit } from '../model/index.js';
import { visible } from '../report/index.js';
import type { Context } from './context.js';
import { failed, type Ended } from './notify.js';

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

/** A cycle that a Refusal ended: its line names the first error, and stderr holds all of them with their places. */
export async function failedCycle(
  { tell }: Pick<Context, 'tell'>,
  error: unknown,
): Promise<AuditCycle> {
  if (!(error instanceof Refusal)) throw error;
  const { diagnostics, exit } = error;
  await tell(diagnostics);
  return {
    words: `failed: ${visible(reasonIn(diagnostics)?.summary ?? 'no reason was reported')}`,
    exit,
    ended: failed(diagnostics),
    result: 'failed',
  };
}
