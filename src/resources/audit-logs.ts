// The audit log. Its members are not documented, so records are shown as they are.
import { collection } from '../model/index.js';

export const auditLogs = collection({
  name: 'audit_logs',
  singular: 'audit_log',
  doc: 'Records of the audit log, as the service returns them.',
  log: true,
  attributes: {},
  operations: {
    dialect: 'v2',
    collection: 'audit_logs',
    paging: 'next',
    page: 500,
    filters: [
      'account_id',
      'account_id_in',
      'reported_at',
      'reported_at__lt',
      'reported_at__gt',
      'reported_at_timeuuid',
      'reported_at_timeuuid_in',
      'reported_at_timeuuid_gt',
      'reported_at_timeuuid_gte',
      'reported_at_timeuuid_lt',
      'reported_at_timeuuid_lte',
    ],
    since: 'reported_at__gt',
    until: 'reported_at__lt',
  },
});
