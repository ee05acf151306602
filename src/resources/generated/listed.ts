// Written by `npm run generate`; do not edit.
import type { Collection, Kind } from '../../model/index.js';
import { accounts } from '../accounts.js';
import { alertPushDestinations } from '../alert-push-destinations.js';
import { alertRules } from '../alert-rules.js';
import { accountAuthorizations } from '../account-authorizations.js';
import { configurationManagers } from '../configuration-managers.js';
import { users } from '../users.js';
import { groups } from '../groups.js';
import { routers } from '../routers.js';
import { alerts } from '../alerts.js';
import { activityLogs } from '../activity-logs.js';
import { auditLogs } from '../audit-logs.js';
import { batteries } from '../batteries.js';
import { assetEndpoints } from '../asset-endpoints.js';
import { subscriptions } from '../subscriptions.js';
import { products } from '../products.js';
import { firmwares } from '../firmwares.js';

export const listed: readonly (Kind | Collection)[] = [
  accounts,
  alertPushDestinations,
  alertRules,
  accountAuthorizations,
  configurationManagers,
  users,
  groups,
  routers,
  alerts,
  activityLogs,
  auditLogs,
  batteries,
  assetEndpoints,
  subscriptions,
  products,
  firmwares,
];
