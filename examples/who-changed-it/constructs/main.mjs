// @ts-check
// A depot that others change now and then.
import { Account, AccountAuthorization, AlertPushDestination, AlertRule, App, DataAccount, Stack } from 'trueup/constructs';

const app = new App();
const stack = new Stack(app, 'who-changed-it', { settings: { target: 'emulator' } });

const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });

const depot7 = new Account(stack, 'depot-7', { name: 'Depot 7', account: hq.id });
new Account(stack, 'laboratory', { name: 'Laboratory', account: hq.id });

const pager = new AlertPushDestination(stack, 'pager', { name: 'On-call pager', enabled: true, endpoint: { url: 'https://hooks.example.com/pager' } });

new AlertRule(stack, 'wan-down', {
  associatedAccounts: [depot7.id],
  filterCriteria: { alertTypeIn: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
  httpDestinations: [pager.destinationConfigId],
});

new AccountAuthorization(stack, 'ada', { user: '71', account: hq.id, role: 'administrator' });
new AccountAuthorization(stack, 'ben', { user: '72', account: depot7.id, role: 'read_only_user' });

app.synth();
