// Kinds beyond the API reference from the command line: users, groups and routers are found, adopted, made and compared
// with what is live; and a project without them reads none of them.
import { expect, test } from 'vitest';
import { emulator, folder, type Folder } from '../support/cli.js';

const estate = {
  version: 1,
  root: '1',
  next_id: 100,
  records: {
    accounts: [{ id: '1', account: null, name: 'Headquarters' }],
    account_authorizations: [
      { id: '90', user: '77', account: '1', role: 'administrator' },
      { id: '91', user: '78', account: '1', role: 'read_only_user' },
    ],
    products: [{ id: '50', name: 'R1900' }],
    firmwares: [{ id: '60', version: '7.1.0', product: '50' }],
    groups: [
      {
        id: '40',
        name: 'Depots',
        account: '1',
        configuration: [{ users: { admin: { password: 'x' } }, lan: { mtu: 1400 } }, []],
      },
    ],
    routers: [
      { id: '12', mac: '003044AB0001', name: 'Depot 12', account: '1' },
      { id: '13', mac: '003044AB0002', name: 'Depot 13', account: '1' },
    ],
  },
  users: [
    { id: '77', email: 'dana@example.com' },
    { id: '78', email: 'Lee@Example.com' },
  ],
};

const declared = `lookups:
  hq: { accounts: { name: Headquarters } }
  dana: { users: { email: DANA@example.com } }
  spare: { routers: { mac: "00:30:44:ab:00:02" } }
users:
  lee: { email: lee@example.com, last_name: Park }
  sam: { email: sam@example.com }
groups:
  depots:
    name: Depots
    account: "\${lookups.hq.id}"
    product: "50"
  stores:
    name: Stores
    account: "\${lookups.hq.id}"
    configuration: [{ lan: { mtu: 1500 }, users: { admin: { password: "\${secret.env.ROUTER_PASSWORD}" } } }]
routers:
  depot: { mac: "00-30-44-ab-00-01", group: "\${groups.stores.id}" }
  other: { name: Depot 13, asset_id: "\${lookups.spare.id}" }
account_authorizations:
  dana: { user: "\${lookups.dana.id}", account: "\${lookups.hq.id}", role: administrator }
  lee: { user: "\${users.lee.id}", account: "\${lookups.hq.id}", role: full_access_user }
alert_rules:
  wan: { associated_groups: ["\${groups.stores.id}"], filter_criteria: { alert_type__in: [connection_state] } }
`;

interface Running {
  readonly home: Folder;
  readonly env: Readonly<Record<string, string>>;
  readonly say: (code: number, ...args: readonly string[]) => Promise<string>;
}

async function running(text: string): Promise<Running> {
  const home = folder({ 'trueup.yaml': text, 'estate.json': JSON.stringify(estate) });
  const started = await emulator(home, ['--seed', 'estate.json']);
  const env = { ...started.env, ROUTER_PASSWORD: 'canary-router' };
  return {
    home,
    env,
    say: async (code, ...args) => {
      const { stdout, stderr } = await home.expect(code, args, { env });
      expect(stdout + stderr).not.toContain('canary-router');
      return stdout;
    },
  };
}

test('they are made and adopted, plan empty, drift, and go', async () => {
  const { home, env, say } = await running(declared);
  expect(await say(3, 'plan')).toContain(
    'account_authorizations.lee (Lee@Example.com on Headquarters) changes from read_only_user to the higher role',
  );
  const allowed = ['--auto-approve', '--allow', 'privilege-escalation', '--allow', 'first-run'];
  expect(await say(0, 'apply', ...allowed)).toMatch(
    /created groups\.stores[^]*Applied: 3 created, 6 adopted/,
  );
  await say(0, 'plan', '--detailed-exitcode');
  expect(await say(0, 'drift', '--detailed-exitcode')).toContain('No drift.');

  const base = env['TRUEUP_V2_URL']!;
  const headers = {
    'content-type': 'application/json',
    'X-MGR-API-ID': 'other-mgr-id',
    'X-MGR-API-KEY': 'other-mgr-key',
    'X-VND-API-ID': 'other-vnd-id',
    'X-VND-API-KEY': 'other-vnd-key',
  };
  const body = JSON.stringify({ group: '40', description: 'moved' });
  await fetch(`${base}/routers/12/`, { method: 'PUT', headers, body });
  await fetch(`${base}/groups/40/`, { method: 'PATCH', headers, body: '{"name":"Old depots"}' });
  const drift = await say(2, 'drift', '--detailed-exitcode');
  expect(drift).toMatch(/changed groups\.depots[^]*name {2}"Depots" → "Old depots"/);
  expect(drift).toMatch(/changed routers\.depot[^]*group/);
  await say(0, 'apply', '--auto-approve');
  await say(0, 'plan', '--detailed-exitcode');

  // A masked password is not written back, and nothing else of a group needs it.
  home.write(
    'trueup.yaml',
    declared.replace('product: "50"', 'configuration: [{ lan: { mtu: 1 } }]'),
  );
  expect(await say(3, 'plan')).toContain('BLOCKED masked-configuration');

  home.write(
    'trueup.yaml',
    declared.replace(/ {2}sam: .*\n|routers:\n(?: {2}(?:depot|other): .*\n)+/g, ''),
  );
  expect(await say(0, 'apply', '--auto-approve', '--allow', 'all-removed')).toMatch(
    /deleted users\.sam[^]*2 forgotten/,
  );
  expect(await say(0, 'get', 'routers')).toMatch(/Depot 12[^]*Depot 13/);
  expect(await say(0, 'get', 'users')).not.toContain('sam@example.com');
});

test('an ordinary project reads none of them; the settings name them', async () => {
  const ordinary =
    'account_authorizations:\n  lee: { user: "78", account: "1", role: read_only_user }\n';
  const { home, say } = await running(ordinary);
  const cost = async (): Promise<unknown> =>
    (JSON.parse(await say(0, 'plan', '--format', 'json')) as { api_requests: unknown })
      .api_requests;
  expect(await cost()).toEqual({ account_authorizations: 1 });
  expect(await say(0, 'get', 'access')).toMatch(/ 77 +administrator[^]* 78 +read_only_user/);
  expect(await say(0, 'drift')).not.toMatch(/^ +(users|routers|groups) /m);
  expect(await say(0, 'export')).not.toMatch(/^(users|routers|groups):/m);
  expect(await say(0, 'export', 'routers')).toContain('mac: "003044AB0001"');

  home.write('trueup.yaml', `settings: { kinds: [users] }\n${ordinary}`);
  expect(await cost()).toEqual({ account_authorizations: 1, users: 1 });
  expect(await say(0, 'get', 'access')).toMatch(/dana@example\.com +administrator/);
  expect(await say(0, 'drift')).toMatch(
    /account_authorizations dana@example\.com on [^]*users dana@example\.com/,
  );
  expect(await say(0, 'export')).toMatch(/^users:/m);
});

test('products and firmwares are listed', async () => {
  const { say } = await running(declared);
  expect(await say(0, 'get', 'products')).toContain('R1900');
  expect(await say(0, 'get', 'firmwares', '--filter', 'product=50')).toContain('7.1.0');
});

test.each([
  ['kinds: [user]', 'which is not a kind. Did you mean `users`?'],
  ['kinds: [accounts]', 'which is read where it is needed'],
])('settings: { %s } is refused', async (setting, why) => {
  const home = folder({
    'trueup.yaml': `settings: { ${setting} }\nlookups: { hq: { accounts: { id: "1" } } }\n`,
  });
  expect((await home.expect(1, ['validate'], {})).stderr).toContain(why);
});
