// Between an intent and the bytes that leave there may be minutes: a turn to wait for, a rate limit, a service that
// asks for patience. What happens meanwhile must still be heeded.
import { describe, expect, it } from 'vitest';
import { TransportError, type HttpResponse } from '../../../src/client/index.js';
import { bareEstate } from '../../../src/emulator/index.js';
import { compareText, Reference, type Project } from '../../../src/model/index.js';
import type { Applied } from '../../../src/reconciler/apply/apply.js';
import { declare } from '../../support/planning.js';
import { allowable } from '../../support/rule-names.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const many = (count: number): Project =>
  desire(
    ...Array.from({ length: count }, (_, index) =>
      declare(`alert_push_destinations.d${index}`, {
        name: `D${index}`,
        endpoint: { url: `https://d${index}.example.com` },
      }),
    ),
  );
const json = (status: number, body = '{}', headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});
const names = (cloud: Rig): readonly string[] =>
  cloud
    .objects('alert_push_destinations')
    .map(({ name }) => String(name))
    .toSorted(compareText);
const told = ({ outcomes }: Applied): Record<string, number> =>
  outcomes.reduce<Record<string, number>>(
    (counts, { outcome }) => ({ ...counts, [outcome]: (counts[outcome] ?? 0) + 1 }),
    {},
  );

it('sends nothing once the lock is lost', async () => {
  let [lost, late] = [false, 0];
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      if (method !== 'POST') return proceed();
      if (lost) late += 1;
      await cloud.clock.sleep(20_000);
      return proceed();
    },
  });
  void cloud.clock.sleep(10_000).then(async () => {
    await cloud.files.remove('/sim/state.json.lock');
    lost = true;
  });
  const applied = await cloud.apply(many(20), { parallelism: 3 }).catch((error: unknown) => error);
  expect(late).toBe(0);
  expect(applied).toMatchObject({ exit: expect.any(Number) as number });
});

it('reads what a write rests on after the lock of a remote state was looked at', async () => {
  let [read, gap] = [NaN, NaN];
  const cloud: Rig = rig({
    remote: { delay: 400 },
    estate: {
      ...bareEstate,
      records: {
        ...bareEstate.records,
        configuration_managers: [
          { id: '30', router: '30', account: '1', configuration: [{ lan: { mtu: 1500 } }, []] },
        ],
      },
    },
    intercept: ({ method, path }, proceed) => {
      const now = cloud.clock.elapsed();
      if (method === 'PUT') gap = now - read;
      else if (path.includes('configuration_managers')) read = now;
      return proceed();
    },
  });
  const configuration = [{ lan: { mtu: 1400 } }, []];
  const wanted = desire(declare('configuration_managers.gate', { router: '30', configuration }));
  await cloud.apply(wanted, { allow: allowable });
  expect(cloud.objects('configuration_managers')[0]).toMatchObject({ configuration });
  // Nobody else can write in between: the cloud answers at once.
  expect(gap).toBe(0);
});

it.each([1, 2, 10, 100])(
  'sends nothing new after five unclear answers, at a parallelism of %i',
  async (parallelism) => {
    let [unclear, after] = [0, 0];
    const seen = new Set<string>();
    const cloud: Rig = rig({
      intercept: async ({ method, body = '' }, proceed) => {
        if (method !== 'POST') return proceed();
        if (!seen.has(body) && unclear >= 5) after += 1;
        seen.add(body);
        await cloud.clock.sleep(1000 + 37 * seen.size);
        unclear += 1;
        return json(500);
      },
    });
    const applied = await cloud.apply(many(200), { parallelism, settle: 1 });
    expect(after).toBe(0);
    expect(applied.exit).not.toBe(0);
  },
);

it('tells what an interruption kept from leaving as skipped', async () => {
  const stop = new AbortController();
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      if (method !== 'POST') return proceed();
      await cloud.clock.sleep(1000);
      stop.abort(new Error('SIGINT'));
      return proceed();
    },
  });
  const applied = await cloud.apply(many(12), { parallelism: 4, signal: stop.signal });
  expect(told(applied)).toEqual({ done: 4, skipped: 8 });
  const skipped = applied.outcomes.filter(({ outcome }) => outcome === 'skipped');
  expect(skipped.map(({ reason, diagnostic }) => [reason, diagnostic])).toEqual(
    skipped.map(({ address }) => [
      'the run was interrupted',
      {
        severity: 'warning',
        code: 'skipped',
        summary: `${address} was skipped: the run was interrupted.`,
        address,
      },
    ]),
  );
  expect((await cloud.snapshot())?.pending).toEqual([]);
});

it('keeps what was answered before an interruption', async () => {
  const stop = new AbortController();
  let sent = 0;
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'PATCH' && (sent += 1) === 2) stop.abort(new Error('SIGINT'));
      return answer;
    },
  });
  await cloud.apply(many(4));
  await cloud.clock.sleep(600_000);
  const changed = many(4).declarations.map(({ name, values }) =>
    declare(`alert_push_destinations.${name}`, { ...values, enabled: false }),
  );
  const applied = await cloud.apply(desire(...changed), {
    parallelism: 1,
    signal: stop.signal,
    allow: ['max-changed'],
  });
  expect(told(applied)).toEqual({ done: 2, skipped: 2 });
});

it('counts what is kept as done after an interruption, but for what gets another address', async () => {
  const stop = new AbortController();
  const cloud = rig({
    intercept: async ({ method }, proceed) => {
      if (method === 'PATCH') stop.abort(new Error('SIGINT'));
      return proceed();
    },
  });
  await cloud.apply(many(5));
  await cloud.clock.sleep(600_000);
  const [first, second, third, fourth, fifth] = many(5).declarations;
  const disabled = [first!, second!].map(({ name, values }) =>
    declare(`alert_push_destinations.${name}`, { ...values, enabled: false }),
  );
  const moved = declare('alert_push_destinations.moved', fifth!.values, { renamed_from: 'd4' });
  const { outcomes } = await cloud.apply(desire(...disabled, third!, fourth!, moved), {
    parallelism: 1,
    signal: stop.signal,
    allow: ['max-changed'],
  });
  expect(outcomes.map(({ address, outcome }) => `${address.split('.')[1]} ${outcome}`)).toEqual([
    'd0 done',
    'd1 skipped',
    'd2 done',
    'd3 done',
    'moved skipped',
  ]);
});

describe('a create that leaves long after its intent', () => {
  /** The last POST is carried out 50 s after it left, and the process is killed when it leaves. */
  const rerun = async (
    options: Parameters<typeof rig>[0],
    count: number,
    parallelism: number,
    patient: (tries: number) => boolean,
  ): Promise<Rig> => {
    const tries = new Map<string, number>();
    let killed = false;
    const cloud: Rig = rig({
      ...options,
      intercept: async ({ method, body = '' }, proceed) => {
        if (method !== 'POST' || killed) return proceed();
        tries.set(body, (tries.get(body) ?? 0) + 1);
        if (!patient(tries.get(body) as number)) return json(429, '', { 'retry-after': '100' });
        if (!body.includes(`"D${count - 1}"`)) return proceed();
        killed = true;
        cloud.files.crashAt(0);
        void cloud.clock.sleep(50_000).then(proceed);
        throw new TransportError('reset', { sent: true, code: 'ECONNRESET' });
      },
    });
    await cloud.apply(many(count), { parallelism }).catch(() => undefined);
    expect(killed).toBe(true);
    cloud.files.reboot();
    await cloud.apply(many(count), { parallelism });
    await cloud.clock.sleep(60_000);
    return cloud;
  };

  it('because the service asked for patience is found by the next run', async () => {
    const cloud = await rerun({}, 4, 2, (tries) => tries > 2);
    expect(names(cloud)).toEqual(['D0', 'D1', 'D2', 'D3']);
  });

  it('because of the rate limit is found by the next run', async () => {
    const cloud = await rerun({ requestsPerMinute: 4 }, 12, 10, () => true);
    expect(new Set(names(cloud)).size).toBe(12);
    expect(names(cloud)).toHaveLength(12);
  });
});

it('finds a create that a slow disk held back, although listings show it late', async () => {
  let [slow, killed] = [true, false];
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      const answer = await proceed();
      if (method !== 'POST' || killed) return answer;
      killed = true;
      cloud.files.crashAt(0);
      throw new TransportError('reset', { sent: true, code: 'ECONNRESET' });
    },
  });
  const { stamp } = cloud.files;
  cloud.files.stamp = async (path) => {
    if (
      slow &&
      path.endsWith('.lock') &&
      [...cloud.files.contents.values()].some((text) => text.includes('"type":"intent"'))
    ) {
      slow = false;
      await cloud.clock.sleep(90_000);
    }
    return stamp(path);
  };
  cloud.emulator.setFaults([{ name: 'stale', method: 'POST', value: 20_000 }]);
  await cloud.apply(many(1)).catch(() => undefined);
  expect({ slow, killed }).toEqual({ slow: false, killed: true });
  cloud.files.reboot();
  await cloud.apply(many(1));
  await cloud.clock.sleep(60_000);
  expect(names(cloud)).toEqual(['D0']);
});

it('leaves no intent behind for what cannot be sent, and goes on with the rest', async () => {
  const cloud = rig({
    intercept: async ({ method, path }, proceed) => {
      const answer = await proceed();
      return method === 'POST' && path.includes('accounts')
        ? { ...answer, body: answer.body.replace(/"id":"\d+"/, '"id":"9007199254740993"') }
        : answer;
    },
  });
  const project = desire(
    declare('accounts.a', { name: 'A' }),
    declare('alert_rules.r', {
      associated_accounts: [new Reference('declared', 'accounts.a', 'id')],
    }),
    declare('alert_push_destinations.z', { name: 'Z', endpoint: { url: 'https://z.example.com' } }),
  );
  const applied = await cloud.apply(project);
  expect(applied.exit).toBe(7);
  expect(told(applied)).toEqual({ done: 2, failed: 1 });
  expect((await cloud.snapshot())?.pending).toEqual([]);
});

it('tells what was done where the journal fails, and a rerun makes nothing twice', async () => {
  const cloud: Rig = rig({
    intercept: async ({ method }, proceed) => {
      if (method === 'POST') await cloud.clock.sleep(100);
      return proceed();
    },
  });
  const { append } = cloud.files;
  let left = 12;
  cloud.files.append = async (path, mode) => {
    const appender = await append(path, mode);
    return {
      ...appender,
      write: (text) =>
        left-- > 0
          ? appender.write(text)
          : Promise.reject(Object.assign(new Error('EFBIG'), { code: 'EFBIG', path })),
    };
  };
  const applied = await cloud.apply(many(40), { parallelism: 3 });
  const made = names(cloud).length;
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThan(40);
  expect(applied.exit).toBe(5);
  expect(applied.diagnostics).toMatchObject([{ code: 'disk' }]);
  expect(told(applied)['done']).toBeGreaterThan(0);
  expect(told(applied)['unknown']).toBe(made - (told(applied)['done'] as number));
  cloud.files.append = append;
  expect((await cloud.apply(many(40))).exit).toBe(0);
  expect(new Set(names(cloud)).size).toBe(40);
  expect(names(cloud)).toHaveLength(40);
});
