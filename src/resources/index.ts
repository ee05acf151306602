// Every kind and every collection that is only read, by hand: adding one is a file and a line here. The order is the
// order of docs and listings.
import { collectionsOf, kindsOf, type Collection, type Kind } from '../model/index.js';
import { accountAuthorizations } from './account-authorizations.js';
import { accounts } from './accounts.js';
import { activityLogs } from './activity-logs.js';
import { alertPushDestinations } from './alert-push-destinations.js';
import { alertRules } from './alert-rules.js';
import { alerts } from './alerts.js';
import { assetEndpoints } from './asset-endpoints.js';
import { auditLogs } from './audit-logs.js';
import { batteries } from './batteries.js';
import { configurationManagers } from './configuration-managers.js';
import { subscriptions } from './subscriptions.js';

const all: readonly Kind[] = [accounts, alertPushDestinations, alertRules, accountAuthorizations, configurationManagers];

const readOnly: readonly Collection[] = [alerts, activityLogs, auditLogs, batteries, assetEndpoints, subscriptions];

/** What can be declared. */
export const kinds = kindsOf(all);

/** What can be listed: the kinds, and what is only read. */
export const collections = collectionsOf([...all, ...readOnly]);
