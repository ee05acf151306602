// @ts-check
// What a depot's routers and people are heard about, and where.
import { Account, AlertPushDestination, AlertRule, App, DataAccount, Stack } from 'trueup/constructs';

const app = new App();
const stack = new Stack(app, 'impact-of-a-rule', { settings: { target: 'emulator' } });

const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });

const depot7 = new Account(stack, 'depot-7', { name: 'Depot 7', account: hq.id });

const pager = new AlertPushDestination(stack, 'pager', { name: 'On-call pager', endpoint: { url: 'https://hooks.example.com/pager' } });
const tickets = new AlertPushDestination(stack, 'tickets', { name: 'Ticket desk', endpoint: { url: 'https://hooks.example.com/tickets' } });

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
});
new AlertRule(stack, 'doors', {
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['sim_door_event'] },
  httpDestinations: [tickets.destinationConfigId],
});

app.synth();
