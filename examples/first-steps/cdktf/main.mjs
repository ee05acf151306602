// @ts-check
// The smallest estate that does something: an account, someone to tell, and what to tell them.
import { App, TerraformStack, TerraformVariable } from 'cdktf';
import { Account, AlertPushDestination, AlertRule, DevicecloudProvider } from 'trueup/cdktf';

const app = new App();
const stack = new TerraformStack(app, 'first-steps');
new DevicecloudProvider(stack, 'devicecloud');

// Terraform deletes first; what has this is deleted after what names it was changed.
const lifecycle = { createBeforeDestroy: true };

// Never the value itself: it comes from TRUEUP_VAR_PAGER_SECRET or TF_VAR_PAGER_SECRET.
const secret = new TerraformVariable(stack, 'PAGER_SECRET', { type: 'string', sensitive: true });

const fieldOps = new Account(stack, 'field-ops', { name: 'Field operations', lifecycle });

const pager = new AlertPushDestination(stack, 'pager', {
  name: 'On-call pager',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/alerts' },
  authentication: { secretWo: secret.stringValue, secretWoVersion: 1 },
  lifecycle,
});

new AlertRule(stack, 'wan-down', {
  // References imply the order; identifiers are filled in once the objects exist.
  associatedAccounts: [fieldOps.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
  lifecycle: { preventDestroy: true },
});

app.synth();
