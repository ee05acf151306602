// @ts-check
// Who is meant to do what, and where. Dana's role is not declared: it is listed, and left alone.
import { AccountAuthorization, App, DataAccount, Stack } from 'trueup/constructs';

const app = new App();
const stack = new Stack(app, 'access-review', { settings: { target: 'emulator' } });

const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });
const north = new DataAccount(stack, 'north', { name: 'North region' });
const depot = new DataAccount(stack, 'depot', { name: 'Depot 7' });

new AccountAuthorization(stack, 'ada', { user: '71', account: hq.id, role: 'administrator' });
new AccountAuthorization(stack, 'ben', { user: '72', account: north.id, role: 'full_access_user' });
new AccountAuthorization(stack, 'ben-at-the-depot', { user: '72', account: depot.id, role: 'read_only_user' });
new AccountAuthorization(stack, 'chloe', { user: '73', account: depot.id, role: 'read_only_user' });

app.synth();
