// @ts-check
// The smallest estate that does something: an account, someone to tell, and what to tell them.
import { Account, AlertPushDestination, AlertRule, App, Stack, secret } from 'trueup/constructs';

const app = new App();
const stack = new Stack(app, 'first-steps', { settings: { target: 'emulator' } });

const fieldOps = new Account(stack, 'field-ops', { name: 'Field operations' });

const pager = new AlertPushDestination(stack, 'pager', {
  name: 'On-call pager',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/alerts' },
  authentication: { secret: secret.env('PAGER_SECRET') }, // never the value itself
});

new AlertRule(stack, 'wan-down', {
  // References imply the order; identifiers are filled in once the objects exist.
  associatedAccounts: [fieldOps.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
  lifecycle: { protect: true },
});

app.synth();
