// A replica that lags behind: the reading right before a write, and the one that proves it, may show the object as it was
// before the plan read it. Two readings are compared by the same members.
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/client/index.js';
import { dummyCredentials } from '../../../src/emulator/index.js';
import { Secret, type Json, type JsonObject, type Value } from '../../../src/model/index.js';
import { readBack, type ReadBackTools } from '../../../src/reconciler/apply/read-back.js';
import { withKept } from '../../../src/reconciler/plan/diff.js';
import { declare, kindOf, project as projectOf } from '../../support/planning.js';
import { desire, rig, type Rig } from '../../support/rig.js';

const PATH = '/api/v2/configuration_managers/';
const before: JsonObject = { vpn: { a: 1 }, lan: { _id_: '7', mtu: 1400, name: 'a' } };

interface Replica extends Rig {
  /** As others write. */
  byOthers(body: JsonObject, path?: string): Promise<void>;
  /** So many readings show what the service shows now, after so many that do not. */
  lag(readings: number, after?: number): Promise<void>;
}

/** @param masked members that read back masked; @param onWrite stands in for the service at each write */
function replica(
  masked: JsonObject = {},
  onWrite: (write: () => Promise<HttpResponse>, cloud: Replica) => Promise<HttpResponse> = (
    write,
  ) => write(),
): Replica {
  let stale: { answer: HttpResponse; left: number; at: number } | undefined;
  const base = rig({
    estate: {
      version: 1,
      root: '1',
      records: {
        accounts: [{ id: '1', name: 'Headquarters', account: null }],
        configuration_managers: [
          {
            id: '30',
            router: '12',
            account: '1',
            configuration: [{ ...before, ...masked }, []],
            suspended: false,
            version_number: 4,
          },
        ],
        alert_rules: [
          {
            alert_config_id: RULE,
            associated_accounts: [1],
            schedule: 'daily',
            filter_criteria: { alert_type__in: ['account_locked'] },
          },
        ],
      },
    },
    behaviours: { patching_configuration: true },
    intercept: async ({ method, path }, proceed) => {
      if (method !== 'GET') return onWrite(proceed, cloud);
      if (!stale || path !== PATH || stale.left <= 0 || (stale.at -= 1) >= 0) return proceed();
      stale.left -= 1;
      return stale.answer;
    },
  });
  const fetch = (method: string, path: string, body?: JsonObject): Promise<Response> =>
    base.emulator.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...dummyCredentials.v2[1],
          accept: 'application/json',
          'content-type': 'application/json',
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  const cloud: Replica = Object.assign(base, {
    async byOthers(body: JsonObject, path = `${PATH}30/`) {
      expect((await fetch('PUT', path, body)).status).toBe(200);
    },
    async lag(readings: number, after = 1) {
      const answer = await fetch('GET', `${PATH}?limit=500`);
      const { 'content-length': _, ...headers } = Object.fromEntries(answer.headers);
      stale = {
        answer: { status: 200, headers, body: await answer.text() },
        left: readings,
        at: after,
      };
    },
  });
  return cloud;
}

const RULE = '22222222-2222-11f0-8000-000000000001';
const manager = (more: Record<string, Value>): ReturnType<typeof declare> =>
  declare('configuration_managers.depot', { router: '12', ...more }, { adopt: '30' });
const mtu = (value: number): ReturnType<typeof desire> =>
  desire(manager({ configuration: [{ lan: { mtu: value } }] }));
const live = (cloud: Rig): JsonObject => cloud.objects('configuration_managers')[0] as JsonObject;
const sent = (cloud: Rig): readonly Json[] =>
  cloud.emulator.requests.flatMap(({ method, body }) => (method === 'GET' ? [] : [body]));

describe('the reading right before a write', () => {
  it('is repeated while it is older than the plan, so that nothing of others is carried back', async () => {
    const cloud = replica();
    await cloud.lag(2);
    await cloud.byOthers({ configuration: [{ ...before, vpn: { a: 2 } }, []] });
    const { exit } = await cloud.apply(mtu(1500));
    expect([exit, live(cloud)['configuration']]).toEqual([
      0,
      [{ ...before, vpn: { a: 2 }, lan: { _id_: '7', mtu: 1500, name: 'a' } }, []],
    ]);
  });

  it('withholds the write where it stays older for the settle time', async () => {
    const cloud = replica();
    await cloud.lag(1000);
    await cloud.byOthers({ configuration: [{ ...before, vpn: { a: 2 } }, []] });
    const written = sent(cloud).length;
    const { exit, outcomes } = await cloud.apply(mtu(1500));
    expect([exit, outcomes[0]?.diagnostic?.code, sent(cloud).length - written]).toEqual([
      1,
      'old-reading',
      0,
    ]);
  });

  it('is given up without a failure where the run is interrupted', async () => {
    const stop = new AbortController();
    const cloud = replica();
    await cloud.lag(1000);
    await cloud.byOthers({ configuration: [{ ...before, vpn: { a: 2 } }, []] });
    const approve = async (): Promise<boolean> => {
      void cloud.clock.sleep(2000).then(() => stop.abort(new Error('SIGINT')));
      return true;
    };
    const { outcomes } = await cloud.apply(mtu(1500), { approve, signal: stop.signal });
    expect(outcomes).toMatchObject([{ outcome: 'skipped', reason: 'the run was interrupted' }]);
  });

  it('makes no write unneeded that the plan found needed', async () => {
    const cloud = replica();
    await cloud.lag(2);
    await cloud.byOthers({ suspended: true });
    const { exit } = await cloud.apply(desire(manager({ suspended: false })));
    expect([exit, live(cloud)['suspended']]).toEqual([0, false]);
  });

  it('makes no write unneeded of an object without a version: the reading may be the older one', async () => {
    const cloud = replica();
    const account = declare('accounts.hq', { name: 'Head office' }, { adopt: '1' });
    const { exit, diagnostics } = await cloud.apply(desire(account), {
      approve: async () => {
        await cloud.byOthers({ name: 'Head office' }, '/api/v2/accounts/1/');
        return true;
      },
    });
    expect([exit, diagnostics, sent(cloud)]).toMatchObject([
      0,
      [],
      [{ name: 'Head office' }, { name: 'Head office' }],
    ]);
  });

  it('refuses a PATCH of a member that others changed since the plan, and of no other one', async () => {
    const patching = (declared: Value): ReturnType<typeof projectOf> =>
      projectOf([manager({ configuration: [declared] })], { configuration_writes: 'patch' });
    const approve = (cloud: Replica, lan: JsonObject) => async () => {
      await cloud.byOthers({ configuration: [{ ...before, lan }, []] });
      return true;
    };
    const one = replica();
    const declared = { lan: { mtu: 1500, name: 'a' } };
    const same = await one.apply(patching(declared), {
      approve: approve(one, { _id_: '7', mtu: 1450, name: 'a' }),
    });
    expect([same.exit, same.outcomes[0]?.diagnostic?.code]).toEqual([1, 'changed-since-plan']);
    const other = replica();
    const beside = await other.apply(patching(declared), {
      approve: approve(other, { _id_: '7', mtu: 1400, name: 'theirs' }),
    });
    expect([beside.exit, beside.outcomes[0]?.diagnostic]).toMatchObject([
      1,
      {
        code: 'not-as-declared',
        summary:
          'configuration_managers.depot: the update took effect, but configuration.0.lan.name is not as declared after it.',
      },
    ]);
  });

  it('keeps what it does not show as it was planned, and members whose name holds a dot', () => {
    const write = {
      fields: { account: '50', endpoint: { url: 'new', 'retry.max': 3 } },
      kept: ['account', 'endpoint.retry.max'],
    };
    expect(withKept(write, { endpoint: { url: 'old', 'retry.max': 9 } })).toEqual({
      account: '50',
      endpoint: { url: 'new', 'retry.max': 9 },
    });
    expect(withKept(write, { account: null, endpoint: {} })).toEqual({
      account: null,
      endpoint: { url: 'new' },
    });
  });
});

describe('the reading after a write', () => {
  const mask = { wan: { psk: '*' } };
  const rotated = (): ReturnType<typeof desire> =>
    desire(
      manager({ configuration: [{ wan: { psk: new Secret('env.PSK', () => 'canary-psk') } }] }),
    );

  it.each([0, 2])(
    'proves nothing while it is from before the write (%i such readings)',
    async (lag) => {
      const cloud = replica({}, async (write, one) => {
        const answer = await write();
        await one.byOthers({ configuration: [{ lan: { mtu: 1500 } }, []] });
        return answer;
      });
      await cloud.lag(lag);
      const { exit, outcomes } = await cloud.apply(mtu(1500));
      expect([exit, outcomes[0]?.diagnostic?.code]).toEqual([1, 'members-lost']);
    },
  );

  it('proves nothing while it is from before what the plan read, whatever it shows', async () => {
    const cloud = replica();
    await cloud.lag(2, 2);
    await cloud.byOthers({ configuration: [{ ...before, lan: { mtu: 1300 } }, []] });
    expect((await cloud.apply(mtu(1500))).exit).toBe(0);
  });

  it('counts at once, with a note, where the version never moves and only a secret changed', async () => {
    const cloud = replica(mask, async (write) => {
      const answer = await write();
      const [record] = cloud.objects('configuration_managers') as [Record<string, Json>];
      record['version_number'] = 4;
      return answer;
    });
    const began = cloud.clock.monotonic();
    const { exit, diagnostics } = await cloud.apply(rotated());
    expect([exit, cloud.clock.monotonic() - began < 5000]).toEqual([0, true]);
    expect(diagnostics.map(({ summary }) => summary)).toContain(
      'configuration_managers.depot: version_number is still 4, so the reading may be from before the write.',
    );
  });

  it('counts at once where it shows what was sent and the one before did not, whatever its version', async () => {
    const cloud = replica({}, async (write) => {
      const answer = await write();
      const [record] = cloud.objects('configuration_managers') as [Record<string, Json>];
      record['version_number'] = 4;
      return answer;
    });
    const began = cloud.clock.monotonic();
    const { exit, diagnostics } = await cloud.apply(mtu(1500));
    expect([exit, diagnostics]).toEqual([0, []]);
    expect(cloud.clock.monotonic() - began).toBeLessThan(5000);
  });

  it('compares all that is declared, not only what was sent', async () => {
    const cloud = replica({}, async (write) => {
      const answer = await write();
      const [rule] = cloud.objects('alert_rules') as [Record<string, Json>];
      rule['schedule'] = null;
      return answer;
    });
    const { exit, outcomes } = await cloud.apply(
      desire(
        declare(
          'alert_rules.r',
          {
            associated_accounts: ['1'],
            schedule: 'daily',
            filter_criteria: { alert_type__in: ['account_locked', 'login_success'] },
          },
          { adopt: RULE },
        ),
      ),
    );
    expect([exit, outcomes[0]?.diagnostic?.summary]).toEqual([
      1,
      'alert_rules.r: the update took effect, but schedule is not as declared after it.',
    ]);
  });

  it('looks again for what a listing of several pages lacks', async () => {
    const kind = kindOf('alert_rules');
    const asked: (readonly string[])[] = [];
    const tools = {
      cloud: {
        list: () => Promise.resolve({ objects: [{ id: 'a', values: {} }], pages: 2 }),
        find: (_: unknown, ids: readonly string[]) => {
          asked.push(ids);
          return Promise.resolve(ids.map((id) => ({ id, values: {} })));
        },
      },
      clock: { sleep: () => Promise.resolve(), monotonic: () => 0 },
      signal: new AbortController().signal,
      settleMilliseconds: 0,
    } as unknown as ReadBackTools;
    const written = ['a', 'b', 'c'].map((id) => ({
      kind,
      id,
      judge: (found: unknown) => (found ? ('taken' as const) : ('other' as const)),
    }));
    const found = await readBack(tools, written, () => 3);
    expect([asked, written.map((one) => found.get(one)?.shown)]).toEqual([
      [['b', 'c']],
      ['taken', 'taken', 'taken'],
    ]);
  });
});

describe('a write without a clear answer', () => {
  it.each<[string, Record<string, Value>]>([
    ['of another attribute', { suspended: true, configuration: [{ lan: { name: 'a' } }] }],
    ['of a member', { configuration: [{ lan: { mtu: 1500, name: 'a' } }] }],
  ])(
    'is sent again where nobody changed the object: a PUT, and a PATCH, %s',
    async (_, declared) => {
      for (const configuration_writes of ['put', 'patch'] as const) {
        let failing = true;
        const cloud = replica({}, async (write) => {
          if (!failing) return write();
          failing = false;
          return { status: 500, headers: { 'content-type': 'application/json' }, body: '{}' };
        });
        const { exit } = await cloud.apply(
          projectOf([manager(declared)], { configuration_writes }),
        );
        expect([configuration_writes, exit, sent(cloud).length]).toEqual([
          configuration_writes,
          0,
          1,
        ]);
      }
    },
  );
});
