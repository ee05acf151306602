// @ts-check
// One program for every environment: what differs is data. TRUEUP_ENV names the one that is meant.
import { Account, AlertPushDestination, AlertRule, App, Stack, secret } from 'trueup/constructs';

const environments = {
  test: { hooks: 'https://hooks.test.example.com', sites: ['depot-7'] },
  prod: { hooks: 'https://hooks.example.com', sites: ['depot-7', 'depot-8', 'clinic-2'] },
};
const stage = process.env.TRUEUP_ENV === 'prod' ? 'prod' : 'test';
const { hooks, sites } = environments[stage];

const app = new App();
const stack = new Stack(app, 'environments');

const fieldOps = new Account(stack, 'field-ops', { name: `Field operations (${stage})` });
for (const site of sites) new Account(stack, `site-${site}`, { name: `${site} (${stage})`, account: fieldOps.id });

const pager = new AlertPushDestination(stack, 'pager', {
  name: `On-call pager (${stage})`,
  enabled: true,
  endpoint: { url: `${hooks}/pager` },
  authentication: { secret: secret.env('PAGER_SECRET') }, // never the value itself
});

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [fieldOps.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
});

app.synth();
