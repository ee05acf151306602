// @ts-check
// What others made, bound by `importFrom`, as `trueup export --format cdktf` wrote it; only the names were chosen by hand.
import { App, TerraformStack } from 'cdktf';
import { Account, AccountAuthorization, AlertPushDestination, AlertRule, DevicecloudProvider } from 'trueup/cdktf';

const app = new App();
const stack = new TerraformStack(app, 'adopting-an-estate');
new DevicecloudProvider(stack, 'devicecloud');

// Terraform deletes first; what has this is deleted after what names it was changed.
const lifecycle = { createBeforeDestroy: true };

const headquarters = new Account(stack, 'headquarters', { name: 'Headquarters', lifecycle });
headquarters.importFrom('1001');

const northRegion = new Account(stack, 'north-region', { name: 'North region', account: headquarters.id, lifecycle });
northRegion.importFrom('1002');

const depot7 = new Account(stack, 'depot-7', { name: 'Depot 7', account: northRegion.id, lifecycle });
depot7.importFrom('1003');

// authentication.secret reads back masked and is left out
const pager = new AlertPushDestination(stack, 'on-call-pager', { name: 'On-call pager', enabled: true, endpoint: { url: 'https://hooks.example.com/pager' }, lifecycle });
pager.importFrom('0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10');

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [northRegion.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
}).importFrom('1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10');

new AlertRule(stack, 'depot-doors', {
  schedule: 'daily',
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['sim_door_event'] },
  httpDestinations: [pager.destinationConfigId],
}).importFrom('1a2c3d51-97c4-11f0-8a51-3d2c9b7f6e10');

new AccountAuthorization(stack, 'ada-everywhere', { user: '71', account: headquarters.id, role: 'administrator' }).importFrom('9001');
new AccountAuthorization(stack, 'ben-north', { user: '72', account: northRegion.id, role: 'full_access_user' }).importFrom('9002');

app.synth();
