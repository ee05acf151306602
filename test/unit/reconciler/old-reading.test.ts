// What somebody changes between the reading that a plan was made of and the request: the rate limit, a slow service and a
// person who thinks leave minutes there. What nobody declared is sent as it is live then; what is declared is not overwritten.
import { expect, it } from 'vitest';
import { dummyCredentials, type V2Key } from '../../../src/emulator/index.js';
import { theirs } from '../../support/estate.js';
import { declare } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const [, other] = dummyCredentials.v2 as readonly [V2Key, V2Key];

async function byOthers(cloud: Rig, method: string, path: string, body?: unknown): Promise<void> {
  const v3 = path.startsWith('/api/v3');
  const type = v3 ? 'application/vnd.api+json' : 'application/json';
  const keys = v3 ? { authorization: `Bearer ${Object.keys(dummyCredentials.v3)[0]}` } : other;
  const response = await cloud.emulator.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...keys, accept: type, 'content-type': type } as Record<string, string>,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  expect([method, path, response.ok]).toEqual([method, path, true]);
}

/** A cloud that answers the first write of a collection with 429, after others did their work. */
function busy(collection: string, work: (cloud: Rig) => Promise<void>): Rig {
  let isBusy = true;
  const cloud: Rig = rig({
    estate: theirs,
    intercept: async ({ method, path }, proceed) => {
      if (method === 'GET' || method === 'POST' || !path.includes(collection) || !isBusy)
        return proceed();
      isBusy = false;
      await work(cloud);
      return { status: 429, headers: { 'retry-after': '60' }, body: '' };
    },
  });
  return cloud;
}

const settled = (cloud: Rig): Promise<void> => cloud.clock.sleep(600_000);
const role = (user: string, name: string) => ({
  data: {
    type: 'account_authorizations',
    attributes: { role: name },
    relationships: {
      user: { data: { type: 'users', id: user } },
      account: { data: { type: 'accounts', id: '1' } },
    },
  },
});

it('a member that somebody adds to a configuration while its PUT waits is not lost', async () => {
  const wan = { rules: { old: { prio: 1 }, new: { prio: 2 } } };
  const cloud = busy('configuration_managers', (self) =>
    byOthers(self, 'PUT', '/api/v2/configuration_managers/30/', {
      configuration: [{ lan: { mtu: 1400 }, wan, vpn: { tunnel: 'theirs' } }, []],
    }),
  );
  await cloud.apply(
    desire(
      declare('configuration_managers.gate', {
        router: '12',
        configuration: [{ lan: { mtu: 1500 } }],
      }),
    ),
    { allow: ['first-run', 'max-changed'] },
  );
  expect(cloud.objects('configuration_managers')[0]?.['configuration']).toEqual([
    { lan: { mtu: 1500 }, wan, vpn: { tunnel: 'theirs' } },
    [],
  ]);
});

it('a role that somebody changed is not overwritten: the account keeps an administrator', async () => {
  const cloud = busy('account_authorizations', async (self) => {
    const path = '/api/v3/beta/account_authorizations';
    for (const [id, user, name] of [
      ['9', '77', 'administrator'],
      ['10', '78', 'no_access'],
    ] as const)
      await byOthers(self, 'PUT', `${path}/${id}`, {
        data: { id, ...role(user, name).data },
      });
  });
  const { exit, outcomes } = await cloud.apply(
    desire(
      declare('account_authorizations.dana', {
        user: '77',
        account: '1',
        role: 'read_only_user',
      }),
    ),
    { allow: ['first-run'] },
  );
  expect([exit, outcomes[0]?.diagnostic?.code]).toEqual([1, 'changed-since-plan']);
  expect(cloud.objects('account_authorizations').map((one) => one['role'])).toEqual([
    'administrator',
    'no_access',
  ]);
});

it('a rename does not move an account back that somebody moved', async () => {
  const cloud = busy('/accounts/', (self) =>
    byOthers(self, 'PUT', '/api/v2/accounts/50/', { account: '/api/v2/accounts/2/' }),
  );
  await cloud.apply(desire(declare('accounts.a', { name: 'A' })));
  await settled(cloud);
  await cloud.apply(desire(declare('accounts.a', { name: 'A2' })));
  expect(cloud.objects('accounts').find(({ id }) => id === '50')).toMatchObject({
    name: 'A2',
    account: '2',
  });
});

it('an account that somebody renamed is not deleted', async () => {
  const cloud = busy('/accounts/', (self) =>
    byOthers(self, 'PUT', '/api/v2/accounts/50/', { name: 'Production' }),
  );
  await cloud.apply(desire(declare('accounts.a', { name: 'A' })));
  await settled(cloud);
  const { exit, outcomes } = await cloud.apply(desire(), { allow: ['all-removed'] });
  expect([exit, outcomes[0]?.diagnostic?.code]).toEqual([1, 'changed-since-plan']);
  expect(cloud.objects('accounts').some(({ name }) => name === 'Production')).toBe(true);
});

it('an object that one reading does not show is deleted all the same', async () => {
  let misses = 0;
  const cloud = busy('/accounts/', async () => void (misses = 1));
  await cloud.apply(desire(declare('accounts.a', { name: 'A' })));
  await settled(cloud);
  const { fetch } = cloud.emulator;
  Object.assign(cloud.emulator, {
    fetch: (request: Request) =>
      request.method === 'GET' && misses-- > 0
        ? Promise.resolve(Response.json({ data: [], meta: { next: null } }))
        : fetch(request),
  });
  expect((await cloud.apply(desire(), { allow: ['all-removed'] })).exit).toBe(0);
  expect(cloud.objects('accounts').some(({ name }) => name === 'A')).toBe(false);
});

it('a member that nobody declared is sent as it is live at that moment', async () => {
  const url = (host: string) => ({ url: `https://${host}.example.com` });
  let [extra, sent, isBusy] = ['old', '', true];
  const cloud = rig({
    intercept: async ({ method, body }, proceed) => {
      if (method === 'PATCH' && isBusy) {
        [extra, isBusy] = ['new', false];
        return { status: 429, headers: { 'retry-after': '60' }, body: '' };
      }
      if (method === 'PATCH') sent = body ?? '';
      const answer = await proceed();
      return {
        ...answer,
        body: answer.body.replaceAll('"endpoint":{', `"endpoint":{"region":"${extra}",`),
      };
    },
  });
  const push = (host: string) =>
    desire(declare('alert_push_destinations.p', { name: 'P', endpoint: url(host) }));
  await cloud.apply(push('one'));
  await settled(cloud);
  await cloud.apply(push('two'));
  expect(JSON.parse(sent)).toEqual({ endpoint: { ...url('two'), region: 'new' } });
});

it('a PUT that loses what it does not send is told', async () => {
  const cloud = rig({
    estate: {
      ...theirs,
      records: {
        ...theirs.records,
        accounts: [
          { id: '1', name: 'HQ' },
          { id: '2', name: 'Old', account: '1', is_disabled: true },
        ],
      },
    },
    behaviours: { replacing_put: true },
  });
  const { exit, outcomes } = await cloud.apply(
    desire(declare('accounts.a', { name: 'New', account: '1' }, { adopt: '2' })),
    { allow: ['max-changed'] },
  );
  expect([exit, outcomes[0]?.diagnostic?.summary]).toEqual([
    1,
    'accounts.a: members that were live before the write are gone or altered: is_disabled.',
  ]);
});
