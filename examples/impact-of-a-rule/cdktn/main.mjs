// @ts-check
// What a depot's routers and people are heard about, and where.
import { App, TerraformStack } from 'cdktn';
import { Account, AlertPushDestination, AlertRule, DataAccount, DevicecloudProvider } from 'trueup/cdktn';

const app = new App();
const stack = new TerraformStack(app, 'impact-of-a-rule');
new DevicecloudProvider(stack, 'devicecloud');

// Terraform deletes first; what has this is deleted after what names it was changed.
const lifecycle = { createBeforeDestroy: true };

const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });

const depot7 = new Account(stack, 'depot-7', { name: 'Depot 7', account: hq.id, lifecycle });
depot7.importFrom('1002');

const pager = new AlertPushDestination(stack, 'pager', { name: 'On-call pager', endpoint: { url: 'https://hooks.example.com/pager' }, lifecycle });
pager.importFrom('0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10');
const tickets = new AlertPushDestination(stack, 'tickets', { name: 'Ticket desk', endpoint: { url: 'https://hooks.example.com/tickets' }, lifecycle });
tickets.importFrom('0e1b2c41-97c4-11f0-8a51-3d2c9b7f6e10');

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
}).importFrom('1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10');
new AlertRule(stack, 'doors', {
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['sim_door_event'] },
  httpDestinations: [tickets.destinationConfigId],
}).importFrom('1a2c3d51-97c4-11f0-8a51-3d2c9b7f6e10');

app.synth();
