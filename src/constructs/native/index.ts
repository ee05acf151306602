// The constructs of `trueup/constructs`, on `constructs` alone. What touches the disk is added by the entry point.
import { accountAuthorizations } from '../../resources/account-authorizations.js';
import { accounts } from '../../resources/accounts.js';
import { alertPushDestinations } from '../../resources/alert-push-destinations.js';
import { alertRules } from '../../resources/alert-rules.js';
import { configurationManagers } from '../../resources/configuration-managers.js';
import { lookupClass, resourceClass } from './classes.js';

export { Lookup, Resource } from './classes.js';
export type { PropsOf } from '../props.js';
export { Stack, type StackProps, type StackSettings } from './stack.js';
export { secret, type Reference, type SecretReference } from './tokens.js';

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
