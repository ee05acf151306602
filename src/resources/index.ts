// All kinds and all collections that can only be read: adding one takes a file, a line here and `npm run generate`.
// This is also the order of docs and listings.
import { collectionsOf, isKind, kindsOf } from '../model/index.js';
import { listed } from './generated/listed.js';

export { accounts } from './accounts.js';
export { alertPushDestinations } from './alert-push-destinations.js';
export { alertRules } from './alert-rules.js';
export { accountAuthorizations } from './account-authorizations.js';
export { configurationManagers } from './configuration-managers.js';
export { users } from './users.js';
export { groups } from './groups.js';
export { routers } from './routers.js';
export { alerts } from './alerts.js';
export { activityLogs } from './activity-logs.js';
export { auditLogs } from './audit-logs.js';
export { batteries } from './batteries.js';
export { assetEndpoints } from './asset-endpoints.js';
export { subscriptions } from './subscriptions.js';
export { products } from './products.js';
export { firmwares } from './firmwares.js';

/** All kinds. */
export const kinds = kindsOf(listed.filter(isKind));

/** All collections: the kinds, and those that can only be read. */
export const collections = collectionsOf(listed);
