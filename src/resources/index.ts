// Every kind, by hand: adding one is a file and a line here. The order is the order of docs and listings.
import { kindsOf, type Kind } from '../model/index.js';
import { accountAuthorizations } from './account-authorizations.js';
import { accounts } from './accounts.js';
import { alertPushDestinations } from './alert-push-destinations.js';
import { alertRules } from './alert-rules.js';

const all: readonly Kind[] = [accounts, alertPushDestinations, alertRules, accountAuthorizations];

export const kinds = kindsOf(all);
