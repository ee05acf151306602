// The time that an operation may take: what becomes of it, of the request that had left, and of those beside it.
import { describe, expect, it } from 'vitest';
import { TransportError, type HttpResponse } from '../../../src/client/index.js';
import { parseFault } from '../../../src/emulator/index.js';
import { callsOf } from '../../../src/terraform/protocol/calls.js';
import {
  encode,
  Unknown,
  type CtyObject,
  type CtyValue,
} from '../../../src/terraform/protocol/cty.js';
import { typeOf } from '../../../src/terraform/terraform-schema.js';
import type { WireDiagnostic } from '../../../src/terraform/protocol/provider-replies.js';
import { theirs } from '../../support/estate.js';
import { complete, Core, providerRig, type ProviderRig } from '../../support/provider.js';

const RULE = 'devicecloud_alert_rule';
const AUTHORIZATION = 'devicecloud_account_authorization';
const rule = {
  associated_accounts: ['2'],
  filter_criteria: { alert_type__in: ['modem_wan_disconnected'] },
};
const hurried = (timeouts: CtyObject): CtyObject => ({ ...rule, timeouts });

type Intercept = NonNullable<NonNullable<Parameters<typeof providerRig>[0]>['intercept']>;
type Asked = Parameters<Intercept>[0];

/** As a socket does it: nothing comes, until the request is given up. */
const silence = ({ signal }: Pick<Asked, 'signal'>): Promise<HttpResponse> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () =>
      reject(new TransportError('the request was given up', { sent: true, code: 'aborted' })),
    ),
  );

interface Slow {
  /** Requests that get no answer. */
  slow: (request: Asked) => boolean;
  /** Whether they do what they are to do. */
  lands: boolean;
  /** Milliseconds after which they get their answer, after all. */
  delay: number | undefined;
}

function slowCloud(): ProviderRig & Slow {
  const how: Slow = { slow: () => false, lands: true, delay: undefined };
  const world: ProviderRig = providerRig({
    estate: theirs,
    async intercept(request, proceed) {
      if (!how.slow(request)) return proceed();
      if (how.delay !== undefined) return world.clock.sleep(how.delay).then(proceed);
      if (how.lands) await proceed();
      return silence(request);
    },
  });
  return Object.assign(how, world);
}

/** Resolves when the first such request has left, which is the only slow one. */
const leaving = (world: Slow, verb: string, end: string): Promise<void> =>
  new Promise((seen) => {
    world.slow = ({ method, path }) => {
      if (method !== verb || !path.endsWith(end)) return false;
      world.slow = () => false;
      seen();
      return true;
    };
  });

const begun = async (world: ProviderRig, config: Partial<CtyObject> = {}): Promise<Core> =>
  new Core((await world.start({ config })).provider);
const rulesOf = (world: ProviderRig): number => world.objects('alert_rules').length - 1;
const told = (found: readonly WireDiagnostic[]): readonly string[] =>
  found.map(
    ({ summary, path = [] }) =>
      `${path.map((step) => (typeof step === 'object' ? step.key : step)).join('.')}: ${summary}`,
  );
const posts = (world: ProviderRig): number =>
  world.mutations().filter((one) => one.startsWith('POST')).length;

describe('a create whose time is over', () => {
  it.each([
    ['and that was carried out is found by the next run', true],
    ['and that did nothing is made by the next run', false],
  ])('%s', async (_, lands) => {
    const world = slowCloud();
    let sent = 0;
    world.lands = lands;
    world.slow = ({ method }) => method === 'POST' && (sent += 1) === 1;
    const first = await world.start();
    const asked = world.clock.elapsed();
    const { state, errors } = await new Core(first.provider).tryApply(
      RULE,
      null,
      hurried({ create: '2s' }),
    );
    expect(world.clock.elapsed() - asked).toBeLessThan(3000);
    expect([state, told(errors)]).toEqual([
      null,
      ['timeouts.create: Creating the alert rule took longer than timeouts.create allows: 2s'],
    ]);
    expect(errors[0]?.detail).toMatch(
      /is not known\. Apply again: that looks first, and sends nothing twice\. .* raise timeouts\.create\.$/,
    );
    await first.provider.stopProvider();
    await first.provider.close();
    first.kill();
    const core = await begun(world);
    const made = await core.apply(RULE, null, hurried({ create: '2s' }));
    expect([rulesOf(world), sent]).toEqual([1, lands ? 1 : 2]);
    expect(await core.isEmpty(RULE, await core.read(RULE, made), hurried({ create: '2s' }))).toBe(
      true,
    );
  });

  it('before its turn came sends nothing', async () => {
    const world = slowCloud();
    world.slow = ({ method, path }) => method === 'GET' && path.includes('alert_rules');
    const { state, errors } = await (
      await begun(world)
    ).tryApply(RULE, null, hurried({ create: '2s' }));
    expect([state, errors[0]?.detail]).toEqual([
      null,
      'Nothing was sent. Apply again. Where it may take longer, raise timeouts.create.',
    ]);
    expect(world.mutations()).toEqual([]);
  });

  it('lets those beside it go on, and leaves them one object each', async () => {
    const world = slowCloud();
    const left = leaving(world, 'POST', '');
    const first = await world.start();
    const core = new Core(first.provider);
    const hasty = core.tryApply(RULE, null, hurried({ create: '2s' }));
    await left;
    const others = await Promise.all(
      [rule, { ...rule, associated_accounts: ['1'] }].map((given) =>
        core.tryApply(RULE, null, given),
      ),
    );
    const late = await hasty;
    expect([late.state, late.errors.length, others.map(({ errors }) => errors)]).toEqual([
      null,
      1,
      [[], []],
    ]);
    await first.provider.close();
    first.kill();
    const states = others.map(({ state }) => state);
    const next = await begun(world);
    for (const state of states) await next.plan(RULE, state, rule);
    const made = await next.apply(RULE, null, hurried({ create: '2s' }));
    expect(
      new Set([made, ...states].map((one) => (one as CtyObject)['alert_config_id'])).size,
    ).toBe(3);
    expect([rulesOf(world), posts(world)]).toEqual([3, 3]);
  });

  it('is looked for while the run goes on, under the lock', async () => {
    const world = slowCloud();
    world.slow = ({ method }) => method === 'POST';
    const first = await world.start();
    await new Core(first.provider).tryApply(RULE, null, hurried({ create: '2s' }));
    await world.clock.sleep(120_000);
    expect(world.files.contents.get('/sim/.trueup/terraform/loopback.json')).toContain(
      String(world.objects('alert_rules').at(-1)?.['alert_config_id']),
    );
    world.slow = () => false;
    await first.provider.close();
    first.kill();
    const [asked, next] = [world.clock.elapsed(), await begun(world)];
    await next.apply(RULE, null, hurried({ create: '2s' }));
    expect(world.clock.elapsed() - asked).toBeLessThan(2000);
    expect([rulesOf(world), posts(world)]).toEqual([1, 1]);
  });

  it('is given the time that an earlier run left it to wait', async () => {
    const world = slowCloud();
    const left = leaving(world, 'POST', '');
    const first = await world.start();
    void new Core(first.provider).tryApply(RULE, null, rule);
    await left;
    first.kill();
    const asked = world.clock.elapsed();
    await (await begun(world)).apply(RULE, null, hurried({ create: '2s' }));
    expect(world.clock.elapsed() - asked).toBeGreaterThan(30_000);
    expect([rulesOf(world), posts(world)]).toEqual([1, 1]);
  });
});

describe('an update or a delete whose time is over', () => {
  it.each([
    ['PATCH', 'update', 'Changing', { ...rule, associated_accounts: ['1'] }],
    ['DELETE', 'delete', 'Deleting', null],
  ] as const)(
    '%s keeps the state, and the next run ends it',
    async (verb, operation, doing, given) => {
      const world = slowCloud();
      const timeouts = { [operation]: '1.5s' };
      const first = await world.start();
      const state = await new Core(first.provider).apply(RULE, null, hurried(timeouts));
      world.slow = ({ method }) => method === verb;
      const core = new Core(first.provider);
      const failed = await core.tryApply(RULE, state, given && { ...given, timeouts });
      expect([failed.state, told(failed.errors)]).toEqual([
        state,
        [
          `timeouts.${operation}: ${doing} the alert rule ${String(state['alert_config_id'])} took longer than timeouts.${operation} allows: 1.5s`,
        ],
      ]);
      expect(failed.errors[0]?.detail).toContain('is not known');
      await first.provider.close();
      first.kill();
      world.slow = () => false;
      const next = await begun(world);
      const found = await next.read(RULE, state);
      expect(given ? await next.isEmpty(RULE, found, { ...given, timeouts }) : found === null).toBe(
        true,
      );
      expect(world.mutations().filter((one) => one.startsWith(verb))).toHaveLength(1);
    },
  );

  it.each([
    ['update', 'PATCH', { associated_accounts: ['1'] }],
    ['delete', 'DELETE', undefined],
  ] as const)(
    'is done where it was answered in time, and the reading after it ends with the time: %s',
    async (operation, verb, changed) => {
      const world = slowCloud();
      const core = await begun(world);
      const timeouts = { [operation]: '2s' };
      const state = await core.apply(RULE, null, hurried(timeouts));
      let written = false;
      world.slow = ({ method }) => {
        written ||= method === verb;
        return written && method === 'GET';
      };
      const asked = world.clock.elapsed();
      const given = changed ? { ...hurried(timeouts), ...changed } : null;
      const { errors, warnings } = await core.tryApply(RULE, state, given);
      expect(world.clock.elapsed() - asked).toBeLessThan(2500);
      expect([errors, told(warnings)]).toEqual([
        [],
        [expect.stringContaining('nobody could read it back')],
      ]);
    },
  );

  it('is read again for no longer than its time where the service shows it late', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    const state = await core.apply(RULE, null, hurried({ update: '2s' }));
    const [late, asked] = [parseFault('stale=600000'), world.clock.elapsed()];
    world.emulator.setFaults([late]);
    const given = { ...hurried({ update: '2s' }), associated_accounts: ['1'] };
    const { errors } = await core.tryApply(RULE, state, given);
    expect(world.clock.elapsed() - asked).toBeLessThan(2500);
    expect(told(errors)).toEqual([expect.stringContaining('still shows')]);
    expect(posts(world)).toBe(1);
  });

  it.each([
    ['is unknown where it is not seen in time', 0, ['is not known'], []],
    ['is done where it is seen, and ends with its time', 1, [], ['nobody could read it back']],
  ] as const)('of a role %s', async (_, readings, failed, warned) => {
    const world = slowCloud();
    const core = await begun(world, { allow: ['privilege-escalation'] });
    const timeouts = { update: '2s' };
    const given = { account: '1', role: 'administrator', timeouts };
    await core.apply(AUTHORIZATION, null, { ...given, user: '77' });
    const state = await core.apply(AUTHORIZATION, null, { ...given, user: '78' });
    let seen = -1;
    world.slow = ({ method }) => {
      if (method === 'PUT') seen = 0;
      else if (seen >= 0) seen += 1;
      return seen > readings;
    };
    const asked = world.clock.elapsed();
    const late = await core.tryApply(AUTHORIZATION, state, {
      ...given,
      user: '78',
      role: 'read_only_user',
    });
    expect(world.clock.elapsed() - asked).toBeLessThan(2500);
    expect([late.errors.map(({ detail }) => detail), told(late.warnings)]).toEqual(
      [failed, warned].map((texts) => texts.map((text) => expect.stringContaining(text) as string)),
    );
  });

  it('waits for no turn any more, and sends nothing when it comes', async () => {
    const world = slowCloud();
    const core = await begun(world, { allow: ['privilege-escalation'] });
    const given = { user: '78', account: '1', role: 'read_only_user' };
    const other = await core.apply(AUTHORIZATION, null, {
      user: '77',
      account: '1',
      role: 'administrator',
    });
    const held = await core.apply(AUTHORIZATION, null, {
      ...given,
      role: 'administrator',
      timeouts: { update: '1s' },
    });
    const left = leaving(world, 'PUT', '/9');
    const next = await begun(world);
    const patient = next.tryApply(AUTHORIZATION, other, {
      user: '77',
      account: '1',
      role: 'read_only_user',
    });
    await left;
    const asked = world.clock.elapsed();
    const late = await next.tryApply(AUTHORIZATION, held, { ...given, timeouts: { update: '1s' } });
    expect(late.errors.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^Nothing was sent\./),
    ]);
    expect(world.clock.elapsed() - asked).toBeLessThan(2000);
    const listings = (): number =>
      world.emulator.requests.filter(({ path }) => path.endsWith('account_authorizations')).length;
    const listed = listings();
    expect(listed).toBeGreaterThan(0);
    expect((await patient).errors).toEqual([]);
    await world.clock.sleep(60_000);
    expect(listings()).toBe(listed);
    expect(world.mutations()).toEqual([
      'PUT /api/v3/beta/account_authorizations/9',
      'PUT /api/v3/beta/account_authorizations/9',
    ]);
  });
});

describe('a reading whose time is over', () => {
  it('says so, and leaves the listing to the others who wait for it', async () => {
    const world = slowCloud();
    const core = await begun(world);
    const made = [
      await core.apply(RULE, null, hurried({ read: '1s' })),
      await core.apply(RULE, null, { ...rule, associated_accounts: ['1'] }),
    ];
    const states = await Promise.all(made.map((state) => core.read(RULE, state)));
    const next = await begun(world);
    world.slow = ({ method }) => method === 'GET';
    world.delay = 5000;
    const before = world.emulator.requests.length;
    const [late, patient] = await Promise.allSettled(states.map((state) => next.read(RULE, state)));
    expect(late).toMatchObject({
      status: 'rejected',
      reason: {
        diagnostics: [
          {
            summary: expect.stringMatching(
              /^Reading the alert rule \S+ took longer than timeouts\.read allows: 1s$/,
            ) as string,
            detail: expect.stringContaining('-refresh=false') as string,
          },
        ],
      },
    });
    expect(patient).toEqual({ status: 'fulfilled', value: states[1] });
    expect(world.emulator.requests.length - before).toBe(1);
  });
});

describe('timeouts', () => {
  const unknown = new Unknown();
  const wrong = (name: string): string =>
    `timeouts.${name}: \`timeouts.${name}\` is not a duration`;

  it.each<readonly [string, CtyValue, readonly string[]]>([
    [RULE, { create: '10m', read: '90s', update: '1h30m', delete: '.5s' }, []],
    [
      RULE,
      { create: 'ten minutes', read: '-5s', update: '0s', delete: '5' },
      [wrong('create'), wrong('read'), wrong('update'), wrong('delete')],
    ],
    [RULE, { create: unknown, update: '' }, [wrong('update')]],
    [RULE, unknown, []],
    [RULE, null, []],
    [AUTHORIZATION, { create: '5 m' }, [wrong('create')]],
  ])('of %s %j', async (type, timeouts, expected) => {
    const given = type === RULE ? rule : { user: '77', account: '1', role: 'read_only_user' };
    expect(told(await (await begun(providerRig())).validate(type, { ...given, timeouts }))).toEqual(
      expected,
    );
  });

  it.each([
    [RULE, ['create', 'read', 'update', 'delete']],
    [AUTHORIZATION, ['create', 'read', 'update']],
  ])('of %s are a block for what can be done, and for nothing else', async (type, operations) => {
    const { provider } = await begun(providerRig({ estate: theirs }));
    const block = provider.schema.resources[type]?.attributes.find(
      ({ name }) => name === 'timeouts',
    );
    expect(block).toMatchObject({ block: true, nested: { nesting: 'SINGLE' } });
    expect(block).not.toHaveProperty('optional');
    expect(
      block?.nested?.attributes.map(({ name, type: of, optional }) => [name, of, optional]),
    ).toEqual(operations.map((name) => [name, 'string', true]));
  });

  it.each([
    [{ create: '10m' }, { create: '10m', read: null, update: null, delete: null }],
    [
      { create: '1m', gone: '2m' },
      { create: '1m', read: null, update: null, delete: null },
    ],
    [null, null],
  ])('that older versions kept as the map %j are read as %j', async (kept, expected) => {
    const core = await begun(providerRig({ estate: theirs }));
    const made = (await core.read(RULE, await core.apply(RULE, null, rule))) as CtyObject;
    const { upgraded = null } = await core.provider.upgradeResourceState({
      type_name: RULE,
      version: 0,
      raw: { ...made, timeouts: kept },
    });
    expect(upgraded).toEqual({ ...made, timeouts: expected });
  });

  it('that are wrong are shown at their own line, which core finds inside of a block alone', async () => {
    const { provider } = await begun(providerRig({ estate: theirs }));
    const attributes = provider.schema.resources[RULE]?.attributes ?? [];
    const msgpack = encode(typeOf(attributes), complete(attributes, hurried({ create: 'soon' })));
    const calls = callsOf(provider, () => undefined);
    const reply = await calls['ValidateResourceConfig']?.({
      type_name: RULE,
      config: { msgpack, json: new Uint8Array() },
    });
    expect(reply?.['diagnostics']).toMatchObject([
      { attribute: { steps: [{ attribute_name: 'timeouts' }, { attribute_name: 'create' }] } },
    ]);
  });

  it('that turn out wrong when they are known stop before anything is sent', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    const held = await core.apply(RULE, null, rule);
    for (const [prior, name] of [
      [null, 'create'],
      [held, 'update'],
    ] as const) {
      const { errors, state } = await core.tryApply(RULE, prior, {
        ...hurried({ [name]: 'soon' }),
        associated_accounts: ['1'],
      });
      expect([told(errors), state]).toEqual([[wrong(name)], prior]);
    }
    expect(world.mutations()).toHaveLength(1);
  });

  it('alone are a change that asks nobody', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    let state = await core.apply(RULE, null, rule);
    const [requests, records] = [world.emulator.requests.length, world.files.boundaries];
    const none = { create: null, read: null, update: null, delete: null };
    for (const timeouts of [
      { ...none, create: '10m', delete: '5m' },
      { ...none, create: '20m' },
      null,
    ]) {
      const given = { ...rule, timeouts };
      const { planned_state, requires_replace } = await core.plan(RULE, state, given);
      expect([planned_state, requires_replace]).toEqual([{ ...state, timeouts }, undefined]);
      state = await core.apply(RULE, state, given);
      expect(state).toEqual(planned_state);
      expect(await core.isEmpty(RULE, state, given)).toBe(true);
    }
    expect([world.emulator.requests.length, world.files.boundaries]).toEqual([requests, records]);
  });

  it('may be unknown in a plan of nothing else', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const state = await core.apply(RULE, null, rule);
    expect((await core.plan(RULE, state, { ...rule, timeouts: unknown })).planned_state).toEqual({
      ...state,
      timeouts: unknown,
    });
  });

  it('are kept by a reading, and no part of an import or of what a journal tells objects by', async () => {
    const world = providerRig({ estate: theirs });
    const first = await world.start();
    const lost = await new Core(first.provider).apply(RULE, null, hurried({ create: '10m' }));
    first.kill();
    const core = await begun(world);
    const found = await core.apply(RULE, null, hurried({ create: '1h' }));
    expect(found['alert_config_id']).toBe(lost['alert_config_id']);
    expect(await core.read(RULE, found)).toEqual(found);
    const imported = await core.import(RULE, String(found['alert_config_id']));
    expect(imported['timeouts']).toBeNull();
    expect(await core.isEmpty(RULE, imported, rule)).toBe(true);
  });

  it('are missing from a state that was written without them, which plans empty', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const { timeouts: _, ...old } = await core.apply(RULE, null, rule);
    const { upgraded = null } = await core.provider.upgradeResourceState({
      type_name: RULE,
      version: 0,
      raw: old,
    });
    expect(await core.isEmpty(RULE, await core.read(RULE, upgraded), rule)).toBe(true);
  });

  it('of a state that cannot be read limit nothing: nobody could get rid of them', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const made = (await core.read(RULE, await core.apply(RULE, null, rule))) as CtyObject;
    const state = { ...made, timeouts: { create: null, read: 'x', update: null, delete: 'x' } };
    expect(await core.read(RULE, state)).toEqual(state);
    expect((await core.tryApply(RULE, state, null)).errors).toEqual([]);
  });
});
