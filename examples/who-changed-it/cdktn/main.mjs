// @ts-check
// A depot that others change now and then.
import { App, TerraformStack } from 'cdktn';
import { Account, AccountAuthorization, AlertPushDestination, AlertRule, DataAccount, DevicecloudProvider } from 'trueup/cdktn';

const app = new App();
const stack = new TerraformStack(app, 'who-changed-it');
new DevicecloudProvider(stack, 'devicecloud');

// Terraform deletes first; what has this is deleted after what names it was changed.
const lifecycle = { createBeforeDestroy: true };

const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });

const depot7 = new Account(stack, 'depot-7', { name: 'Depot 7', account: hq.id, lifecycle });
depot7.importFrom('1002');
new Account(stack, 'laboratory', { name: 'Laboratory', account: hq.id, lifecycle }).importFrom('1003');

const pager = new AlertPushDestination(stack, 'pager', { name: 'On-call pager', enabled: true, endpoint: { url: 'https://hooks.example.com/pager' }, lifecycle });
pager.importFrom('0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10');

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
}).importFrom('1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10');

new AccountAuthorization(stack, 'ada', { user: '71', account: hq.id, role: 'administrator' });
new AccountAuthorization(stack, 'ben', { user: '72', account: depot7.id, role: 'read_only_user' });

app.synth();
