// Services that show late what was written, or carry it out late, and clocks that are set or tell no time: whole runs.
import { expect, it } from 'vitest';
import { parseFault } from '../../../src/emulator/index.js';
import { theirs } from '../../support/estate.js';
import { declare, steps } from '../../support/planning.js';
import { desire, rig } from '../../support/rig.js';

const rule = declare('alert_rules.r', {
  associated_accounts: ['2'],
  filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
});

it('a young object that a replica does not show is deleted, and not let go', async () => {
  let hidden = false;
  const cloud = rig({
    estate: theirs,
    async intercept({ method, path }, proceed) {
      const answer = await proceed();
      return hidden &&
        method === 'GET' &&
        path.includes('alert_rules') &&
        cloud.clock.elapsed() < 5000
        ? { ...answer, body: JSON.stringify({ data: [], meta: { next: null } }) }
        : answer;
    },
  });
  await cloud.apply(desire(rule));
  hidden = true;
  expect(await cloud.apply(desire(), { allow: ['all-removed'] })).toMatchObject({
    exit: 0,
    outcomes: [{ action: 'delete', outcome: 'done' }],
  });
  expect(cloud.objects('alert_rules')).toHaveLength(1);
});

it.each([10_000, 59_000])(
  'an object that the state let go before any listing showed it, %i ms late, is waited for and not made again',
  async (lag) => {
    const cloud = rig({ estate: theirs, faults: [parseFault(`stale=${lag},method=POST`)] });
    await cloud.apply(desire(rule));
    const session = await cloud.open();
    await session.record({
      type: 'result',
      class: 'applied',
      address: rule.address,
      entry: null,
    });
    await session.release();
    const before = cloud.clock.elapsed();
    expect(steps(await cloud.plan(desire(rule)))).toEqual(['create alert_rules.r']);
    expect((await cloud.drift(desire(rule))).exit).toBe(2);
    expect(cloud.clock.elapsed() - before).toBeLessThan(1000);
    expect(await cloud.apply(desire(rule))).toMatchObject({
      exit: 0,
      outcomes: [{ action: 'adopt', outcome: 'done' }],
    });
    expect(cloud.mutations()).toEqual(['POST /api/v2/alert_rules/']);
  },
);

it('a deleted object that no listing showed is not waited for', async () => {
  const cloud = rig({ estate: theirs, faults: [parseFault('stale=2000,method=POST')] });
  await cloud.apply(desire(rule));
  await cloud.apply(desire(), { allow: ['all-removed'] });
  cloud.events.length = 0;
  expect((await cloud.apply(desire(rule))).exit).toBe(0);
  expect(cloud.events.filter(({ type }) => type === 'waiting')).toEqual([]);
});

it('a young object that a reading after its update lacks is read again', async () => {
  let hidden = 0;
  const cloud = rig({
    estate: theirs,
    async intercept({ method, path }, proceed) {
      const answer = await proceed();
      if (method === 'PATCH') hidden = 2;
      if (method !== 'GET' || !path.includes('alert_rules') || hidden === 0) return answer;
      hidden -= 1;
      return { ...answer, body: JSON.stringify({ data: [], meta: { next: null } }) };
    },
  });
  const other = {
    ...rule,
    values: { ...rule.values, filter_criteria: { alert_type__in: ['connection_state'] } },
  };
  await cloud.apply(desire(rule));
  expect(await cloud.apply(desire(other))).toMatchObject({
    exit: 0,
    outcomes: [{ action: 'update', outcome: 'done' }],
  });
  expect([hidden, (await cloud.plan(desire(other))).exit]).toEqual([0, 0]);
});

it.each([120_000, -120_000])(
  'the clock is set by %i ms while a plan is looked at, and the machine starts again before the create lands',
  async (step) => {
    const cloud = rig({
      estate: theirs,
      faults: [parseFault('late=30000,mode=reset,method=POST,times=1')],
    });
    cloud.onMutation = () => cloud.files.crashAt(0);
    const approve = (): Promise<boolean> => {
      cloud.clock.step(step);
      return Promise.resolve(true);
    };
    await expect(cloud.apply(desire(rule), { approve })).rejects.toThrow('power cut');
    cloud.onMutation = undefined;
    cloud.files.reboot();
    cloud.clock.reboot();
    expect(await cloud.apply(desire(rule))).toMatchObject({ exit: 0 });
    await cloud.clock.sleep(60_000);
    expect([cloud.mutations(), cloud.objects('alert_rules').length]).toEqual([
      ['POST /api/v2/alert_rules/'],
      2,
    ]);
  },
);

it.each([
  'Tue, 01 Jan 12345 00:00:00 GMT',
  'Sat, 13 Sep 275760 00:00:00 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'yesterday',
])('a service whose Date is %s', async (date) => {
  const cloud = rig({
    estate: theirs,
    async intercept(_, proceed) {
      const answer = await proceed();
      return { ...answer, headers: { ...answer.headers, date } };
    },
  });
  for (const turn of [1, 2])
    expect([turn, await cloud.apply(desire(rule))]).toMatchObject([turn, { exit: 0 }]);
  expect(cloud.mutations()).toEqual(['POST /api/v2/alert_rules/']);
});
