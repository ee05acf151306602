// Written by `npm run generate`; do not edit.
import { accounts } from '../../../resources/accounts.js';
import { alertPushDestinations } from '../../../resources/alert-push-destinations.js';
import { alertRules } from '../../../resources/alert-rules.js';
import { accountAuthorizations } from '../../../resources/account-authorizations.js';
import { configurationManagers } from '../../../resources/configuration-managers.js';
import { lookupClass, resourceClass } from '../classes.js';

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
