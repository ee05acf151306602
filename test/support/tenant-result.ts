// The result of a tenant in the run `r` of a fleet, as it is stored.
import type { TenantResult } from '../../src/model/index.js';

/** As declared, unless said otherwise. */
export const tenantResult = (tenant: string, more: Partial<TenantResult> = {}): TenantResult => ({
  format_version: '1.0',
  trueup_version: '1',
  run: 'r',
  command: 'drift',
  tenant,
  labels: {},
  exit: 0,
  status: 'unchanged',
  summary: '',
  kinds: {},
  changes: [],
  requests: 0,
  diagnostics: [],
  digest: 'd',
  attempt: 1,
  started_at: '',
  ended_at: '',
  document: null,
  outcomes: [],
  ...more,
});
