// What the provider knows of an object when it writes: it looks at that moment, however long the lock is held already.
import { expect, it } from 'vitest';
import { dummyCredentials, type V2Key } from '../../../src/emulator/index.js';
import { theirs } from '../../support/estate.js';
import { Core, providerRig, type ProviderRig } from '../../support/provider.js';

const [, other] = dummyCredentials.v2 as readonly [V2Key, V2Key];

async function byOthers(
  cloud: ProviderRig,
  method: string,
  path: string,
  body: unknown,
): Promise<void> {
  const type = 'application/json';
  const response = await cloud.emulator.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...other, accept: type, 'content-type': type } as Record<string, string>,
      body: JSON.stringify(body),
    }),
  );
  expect([method, path, response.ok]).toEqual([method, path, true]);
}
const down = { status: 500, headers: {}, body: '' };
const done = { status: 200, headers: {}, body: '' };
const push = (name: string) => ({
  name,
  enabled: true,
  endpoint: { url: `https://${name.toLowerCase()}.example.com` },
});

it('a delete that nobody could look at afterwards is told', async () => {
  let gone = false;
  const cloud = providerRig({
    estate: theirs,
    intercept: async ({ method }, proceed) => {
      if (method === 'DELETE') {
        gone = true;
        return done;
      }
      return gone && method === 'GET' ? down : proceed();
    },
  });
  const core = new Core((await cloud.start()).provider);
  const state = await core.apply('devicecloud_account', null, { name: 'A' });
  const { errors, warnings } = await core.tryApply('devicecloud_account', state, null);
  expect(cloud.objects('accounts').some(({ name }) => name === 'A')).toBe(true);
  expect(errors.length + warnings.length).toBe(1);
});

it.each([2, 7])(
  'account %i of 7 is not overwritten once somebody renamed and moved it',
  async (n) => {
    const type = 'devicecloud_account';
    const cloud = providerRig({ estate: theirs });
    const first = new Core((await cloud.start()).provider);
    const states = [];
    for (let i = 1; i <= 7; i += 1) states.push(await first.apply(type, null, { name: `A${i}` }));
    await cloud.clock.sleep(600_000);
    const core = new Core((await cloud.start()).provider);
    for (const state of states) await core.read(type, state);
    for (let i = 1; i < n; i += 1) await core.apply(type, states[i - 1] ?? null, { name: `B${i}` });
    const id = String(states[n - 1]?.['id']);
    await byOthers(cloud, 'PUT', `/api/v2/accounts/${id}/`, {
      name: 'theirs',
      account: '/api/v2/accounts/2/',
    });
    const { errors } = await core.tryApply(type, states[n - 1] ?? null, { name: `B${n}` });
    expect(errors).toHaveLength(1);
    expect(cloud.objects('accounts').find((one) => one.id === id)).toMatchObject({
      name: 'theirs',
      account: '2',
    });
  },
);

it('an object that somebody made while creates waited is not taken for ours', async () => {
  let posts = 0;
  const cloud = providerRig({
    estate: theirs,
    requestsPerMinute: 2,
    intercept: async ({ method, body = '' }, proceed) => {
      if (method !== 'POST') return proceed();
      if ((posts += 1) === 2)
        await byOthers(cloud, 'POST', '/api/v2/alert_push_destinations/', push('B'));
      return body.includes('"B"') ? { status: 504, headers: {}, body: '' } : proceed();
    },
  });
  const core = new Core((await cloud.start()).provider);
  const all = await Promise.all(
    ['P', 'Q', 'R', 'S', 'B'].map((name) =>
      core.tryApply('devicecloud_alert_push_destination', null, push(name)),
    ),
  );
  expect(all.map(({ errors }) => errors.length)).toEqual([0, 0, 0, 0, 1]);
});

it('creates whose listing is old share one new listing', async () => {
  const posted: string[] = [];
  const cloud: ProviderRig = providerRig({
    estate: theirs,
    intercept: async ({ method, body = '' }, proceed) => {
      if (method === 'POST') posted.push(body);
      if (body.includes('"First"')) await cloud.clock.sleep(120_000);
      return proceed();
    },
  });
  const core = new Core((await cloud.start()).provider);
  const listings = (): number =>
    cloud.emulator.requests.filter(({ path }) => path === '/api/v2/accounts/').length - posts();
  const posts = (): number => cloud.mutations().length;
  const create = (name: string) => core.tryApply('devicecloud_account', null, { name });
  const first = create('First');
  await cloud.clock.sleep(90_000);
  expect([posted.length, listings()]).toEqual([1, 1]);
  const others = await Promise.all(['A', 'B', 'C', 'D', 'E'].map(create));
  expect([await first, ...others].flatMap(({ errors }) => errors)).toEqual([]);
  expect([posts(), listings()]).toEqual([6, 2]);
});

it('an object that another create of the run made, and that is not answered yet, is not of others', async () => {
  let posts = 0;
  const cloud = providerRig({
    estate: theirs,
    intercept: async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'POST') await cloud.clock.service.sleep((posts += 1) === 1 ? 70_000 : 90_000);
      return answer;
    },
  });
  const core = new Core((await cloud.start()).provider);
  const make = async (name: string, after: number): Promise<number> => {
    await cloud.clock.sleep(after);
    const { errors } = await core.tryApply('devicecloud_alert_push_destination', null, push(name));
    return errors.length;
  };
  // The reading is old by the third one, which is made while the second one waits for its answer.
  const all = [make('A', 0), make('B', 30_000), make('b', 75_000)];
  expect(await Promise.all(all)).toEqual([0, 0, 0]);
});

it('a destination is changed by what is live, not by a listing of before', async () => {
  const type = 'devicecloud_alert_push_destination';
  const cloud = providerRig({ estate: theirs });
  const state = await new Core((await cloud.start()).provider).apply(type, null, push('A'));
  const id = String(state?.['destination_config_id']);
  await cloud.clock.sleep(600_000);
  const core = new Core((await cloud.start()).provider);
  // Its listing shows the destination as it was.
  await core.apply(type, null, push('Z'));
  await byOthers(cloud, 'PATCH', `/api/v2/alert_push_destinations/${id}/`, { name: 'Theirs' });
  const { errors } = await core.tryApply(type, state, push('B'));
  expect(errors).toHaveLength(1);
  expect(cloud.objects('alert_push_destinations').some(({ name }) => name === 'Theirs')).toBe(true);
});
