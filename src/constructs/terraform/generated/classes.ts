// Written by `npm run generate`; do not edit.
import { accounts } from '../../../resources/accounts.js';
import { alertPushDestinations } from '../../../resources/alert-push-destinations.js';
import { alertRules } from '../../../resources/alert-rules.js';
import { accountAuthorizations } from '../../../resources/account-authorizations.js';
import { configurationManagers } from '../../../resources/configuration-managers.js';
import { alerts } from '../../../resources/alerts.js';
import { activityLogs } from '../../../resources/activity-logs.js';
import { auditLogs } from '../../../resources/audit-logs.js';
import { batteries } from '../../../resources/batteries.js';
import { assetEndpoints } from '../../../resources/asset-endpoints.js';
import { subscriptions } from '../../../resources/subscriptions.js';
import { lookupClass, recordsClass, resourceClass } from '../classes.js';

export class Account extends resourceClass(accounts) {}
export class AlertPushDestination extends resourceClass(alertPushDestinations) {}
export class AlertRule extends resourceClass(alertRules) {}
export class AccountAuthorization extends resourceClass(accountAuthorizations) {}
export class ConfigurationManager extends resourceClass(configurationManagers) {}
export class DataAccount extends lookupClass(accounts) {}
export class DataAlertPushDestination extends lookupClass(alertPushDestinations) {}
export class DataAlertRule extends lookupClass(alertRules) {}
export class DataAccountAuthorization extends lookupClass(accountAuthorizations) {}
export class DataConfigurationManager extends lookupClass(configurationManagers) {}
export class DataAlerts extends recordsClass(alerts) {}
export class DataActivityLogs extends recordsClass(activityLogs) {}
export class DataAuditLogs extends recordsClass(auditLogs) {}
export class DataBatteries extends recordsClass(batteries) {}
export class DataAssetEndpoints extends recordsClass(assetEndpoints) {}
export class DataSubscriptions extends recordsClass(subscriptions) {}
