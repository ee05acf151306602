// Written by `npm run generate`; do not edit.
import type { Collection, Kind } from '../../model/index.js';
import { accounts } from '../accounts.js';
import { alertPushDestinations } from '../alert-push-destinations.js';
import { alertRules } from '../alert-rules.js';
import { accountAuthorizations } from '../account-authorizations.js';
import { configurationManagers } from '../configuration-managers.js';
import { alerts } from '../alerts.js';
import { activityLogs } from '../activity-logs.js';
import { auditLogs } from '../audit-logs.js';
import { batteries } from '../batteries.js';
import { assetEndpoints } from '../asset-endpoints.js';
import { subscriptions } from '../subscriptions.js';

export const listed: readonly (Kind | Collection)[] = [
  accounts,
  alertPushDestinations,
  alertRules,
  accountAuthorizations,
  configurationManagers,
  alerts,
  activityLogs,
  auditLogs,
  batteries,
  assetEndpoints,
  subscriptions,
];
