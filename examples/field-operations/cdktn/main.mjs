// @ts-check
// Thirty objects, some of which exist already. What YAML says with `for_each` is a loop here.
import { App, TerraformStack, TerraformVariable } from 'cdktn';
import { Account, AccountAuthorization, AlertPushDestination, AlertRule, DataAccount, DevicecloudProvider } from 'trueup/cdktn';

const app = new App();
const stack = new TerraformStack(app, 'field-operations');
new DevicecloudProvider(stack, 'devicecloud');

// Terraform deletes first; what has this is deleted after what names it was changed.
const lifecycle = { createBeforeDestroy: true };

const secret = new TerraformVariable(stack, 'PAGER_SECRET', { type: 'string', sensitive: true });
const hooks = new TerraformVariable(stack, 'hooks', { type: 'string', default: 'https://hooks.example.com' });
const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });

// The tree: regions below headquarters, sites below their region. `North region` exists already.
const region = (key, name) => new Account(stack, `region-${key}`, { name, account: hq.id, lifecycle });
const regions = { north: region('north', 'North region'), south: region('south', 'South region'), coast: region('coast', 'Coast region') };
regions.north.importFrom('1002');

const site = (key, name, within) => new Account(stack, `site-${key}`, { name, account: regions[within].id, lifecycle });
const sites = {
  depot7: site('depot-7', 'Depot 7', 'north'),
  depot8: site('depot-8', 'Depot 8', 'north'),
  clinic2: site('clinic-2', 'Clinic 2', 'south'),
  plant1: site('plant-1', 'Plant 1', 'south'),
  terminal3: site('terminal-3', 'Terminal 3', 'coast'),
};

// Who is told. `Ticket desk` exists already.
const destination = (key, name, path, more = {}) =>
  new AlertPushDestination(stack, key, { name, enabled: true, endpoint: { url: `${hooks.stringValue}/${path}` }, lifecycle, ...more });
const pager = destination('pager', 'On-call pager', 'pager', { authentication: { secretWo: secret.stringValue, secretWoVersion: 1 } });
const board = destination('board', 'Operations board', 'board');
const tickets = destination('tickets', 'Ticket desk', 'tickets');
const nightShift = destination('night-shift', 'Night shift', 'night', { enabled: false }); // not yet staffed
tickets.importFrom('0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10');

// What is told, of which accounts, to whom.
const rule = (key, accounts, types, destinations, more = {}) =>
  new AlertRule(stack, key, {
    associatedAccounts: accounts.map(({ id }) => id),
    filterCriteria: { alertTypeIn: types },
    httpDestinations: destinations.map(({ destinationConfigId }) => destinationConfigId),
    ...more,
  });
for (const [key, account] of Object.entries(regions)) {
  rule(`wan-down-${key}`, [account], ['ethernet_wan_disconnected', 'modem_wan_disconnected', 'wwan_network_unavailable'], [pager, board], {
    lifecycle: { preventDestroy: true },
  });
  rule(`wan-up-${key}`, [account], ['ethernet_wan_connected', 'modem_wan_connected'], [board]);
}
// Exists already with exactly this content.
rule('tunnels', [hq], ['ipsec_tunnel_down', 'ipsec_tunnel_up'], [tickets]).importFrom('1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10');
rule('overload', [hq], ['cpu_utilization', 'memory_utilization', 'sustained_system_overload'], [tickets], { schedule: 'daily' });
rule('heat', [sites.plant1], ['thermal_exceeds_limit'], [pager]);
rule('data-cap', [hq], ['data_cap_threshold'], [tickets], { settings: { data_cap_threshold: { percent: 80 } } });
rule('intrusion', [sites.depot7, sites.depot8], ['sim_door_event', 'geofence_proximity_change'], [pager, nightShift]);
rule('locked-out', [hq], ['account_locked'], [tickets]);

// Roles of users. The API neither creates nor deletes authorizations: these exist and are adopted by user and account.
const role = (key, user, account, name) => new AccountAuthorization(stack, key, { user, account: account.id, role: name });
role('ada-everywhere', '71', hq, 'administrator');
role('ben-everywhere', '72', hq, 'administrator');
role('chloe-everywhere', '73', hq, 'read_only_user');
role('dana-north', '74', regions.north, 'full_access_user');
role('emil-north', '75', regions.north, 'read_only_user'); // has full access today
role('fatima-north', '76', regions.north, 'read_only_user');

app.synth();
