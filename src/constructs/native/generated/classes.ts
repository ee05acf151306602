// Written by `npm run generate`; do not edit.
import { accounts } from '../../../resources/accounts.js';
import { alertPushDestinations } from '../../../resources/alert-push-destinations.js';
import { alertRules } from '../../../resources/alert-rules.js';
import { accountAuthorizations } from '../../../resources/account-authorizations.js';
import { configurationManagers } from '../../../resources/configuration-managers.js';
import { users } from '../../../resources/users.js';
import { groups } from '../../../resources/groups.js';
import { routers } from '../../../resources/routers.js';
import { lookupClass, resourceClass } from '../classes.js';

export class Account extends resourceClass(accounts) {}
export class AlertPushDestination extends resourceClass(alertPushDestinations) {}
export class AlertRule extends resourceClass(alertRules) {}
export class AccountAuthorization extends resourceClass(accountAuthorizations) {}
export class ConfigurationManager extends resourceClass(configurationManagers) {}
export class User extends resourceClass(users) {}
export class Group extends resourceClass(groups) {}
export class Router extends resourceClass(routers) {}
export class DataAccount extends lookupClass(accounts) {}
export class DataAlertPushDestination extends lookupClass(alertPushDestinations) {}
export class DataAlertRule extends lookupClass(alertRules) {}
export class DataAccountAuthorization extends lookupClass(accountAuthorizations) {}
export class DataConfigurationManager extends lookupClass(configurationManagers) {}
export class DataUser extends lookupClass(users) {}
export class DataGroup extends lookupClass(groups) {}
export class DataRouter extends lookupClass(routers) {}
