// @ts-check
// One program for every environment: what differs is data. TRUEUP_ENV names the one that is meant.
import { App, TerraformStack, TerraformVariable } from 'cdktn';
import { Account, AlertPushDestination, AlertRule, DevicecloudProvider } from 'trueup/cdktn';

const environments = {
  test: { hooks: 'https://hooks.test.example.com', sites: ['depot-7'] },
  prod: { hooks: 'https://hooks.example.com', sites: ['depot-7', 'depot-8', 'clinic-2'] },
};
const stage = process.env.TRUEUP_ENV === 'prod' ? 'prod' : 'test';
const { hooks, sites } = environments[stage];

const app = new App();
const stack = new TerraformStack(app, 'environments');
new DevicecloudProvider(stack, 'devicecloud');

// Terraform deletes first; what has this is deleted after what names it was changed.
const lifecycle = { createBeforeDestroy: true };

const secret = new TerraformVariable(stack, 'PAGER_SECRET', { type: 'string', sensitive: true });

const fieldOps = new Account(stack, 'field-ops', { name: `Field operations (${stage})`, lifecycle });
for (const site of sites) new Account(stack, `site-${site}`, { name: `${site} (${stage})`, account: fieldOps.id, lifecycle });

const pager = new AlertPushDestination(stack, 'pager', {
  name: `On-call pager (${stage})`,
  enabled: true,
  endpoint: { url: `${hooks}/pager` },
  authentication: { secretWo: secret.stringValue, secretWoVersion: 1 },
  lifecycle,
});

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [fieldOps.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
});

app.synth();
