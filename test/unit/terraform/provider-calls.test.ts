// Reading, importing, data sources, policies and complaints, call by call.
import { describe, expect, it } from 'vitest';
import { dummyCredentials, parseFault, type Estate } from '../../../src/emulator/index.js';
import { compareText, type Write } from '../../../src/model/index.js';
import { fiveKinds } from '../../support/fifth-kind.js';
import { Unknown, type CtyObject, type CtyValue } from '../../../src/terraform/protocol/cty.js';
import type { WireDiagnostic } from '../../../src/terraform/protocol/provider-replies.js';
import {
  complete,
  configured,
  Core,
  providerRig,
  type ProviderRig,
} from '../../support/provider.js';
import { DESTINATIONS, theirs } from '../../support/estate.js';
import { kindOf } from '../../support/planning.js';

const RULE = 'devicecloud_alert_rule';
const ACCOUNT = 'devicecloud_account';
const AUTHORIZATION = 'devicecloud_account_authorization';
const MANAGER = 'devicecloud_configuration_manager';
const DESTINATION = 'devicecloud_alert_push_destination';

const gets = ({ emulator }: ProviderRig): readonly string[] =>
  emulator.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
const begun = async (world: ProviderRig, config: Partial<CtyObject> = {}): Promise<Core> =>
  new Core((await world.start({ config })).provider);
const told = (diagnostics: readonly WireDiagnostic[]): readonly string[] =>
  diagnostics.map(
    ({ severity, summary, path = [] }) =>
      `${severity} ${path.map((step) => (typeof step === 'object' ? step.key : step)).join('.')}: ${summary}`,
  );

describe('a service that shows late what was written', () => {
  const late = (seconds: number): ProviderRig =>
    providerRig({ estate: theirs, faults: [parseFault(`stale=${seconds * 1000}`)] });
  const deletes = (world: ProviderRig): number =>
    world.mutations().filter((one) => one.startsWith('DELETE')).length;

  it('is waited for where an object was created just now, and only then', async () => {
    const world = late(20);
    const core = await begun(world);
    const made = await core.apply(ACCOUNT, null, { name: 'A' });
    expect(await core.read(ACCOUNT, made)).toEqual(made);
    expect(world.clock.elapsed()).toBeGreaterThanOrEqual(20_000);
    world.emulator.setFaults([]);
    const cloud = world.connect(new AbortController().signal);
    const write: Write = { verb: 'delete', id: String(made['id']), fields: {} };
    await cloud.send(kindOf('accounts'), cloud.compose(kindOf('accounts'), write), write);
    const before = world.clock.elapsed();
    expect(await core.read(ACCOUNT, made)).toBeNull();
    expect(world.clock.elapsed() - before).toBeLessThan(1000);
  });

  it('is waited for no longer than the settle time', async () => {
    const world = late(200);
    const core = await begun(world);
    const made = await core.apply(ACCOUNT, null, { name: 'A' });
    expect(await core.read(ACCOUNT, made)).toBeNull();
    expect(world.clock.elapsed()).toBeGreaterThanOrEqual(60_000);
    expect(world.clock.elapsed()).toBeLessThan(62_000);
  });

  it('is waited for before an object is changed or deleted that was created just now', async () => {
    const world = late(20);
    const core = await begun(world);
    const [kept, gone] = [
      await core.apply(ACCOUNT, null, { name: 'A' }),
      await core.apply(ACCOUNT, null, { name: 'B' }),
    ];
    await core.apply(ACCOUNT, kept, { name: 'C' });
    expect(await core.apply(ACCOUNT, gone, null)).toBeNull();
    expect([
      deletes(world),
      world
        .objects('accounts')
        .map(({ name }) => String(name))
        .toSorted(compareText),
    ]).toEqual([1, ['C', 'Headquarters', 'Their depot']]);
  });
});

describe('reading', () => {
  it('answers a thousand reads from few requests', async () => {
    const records = Array.from({ length: 1000 }, (_, index) => ({
      alert_config_id: `22222222-2222-11f0-8000-${String(index).padStart(12, '0')}`,
      associated_accounts: [2],
    }));
    const world = providerRig({
      estate: { ...theirs, records: { ...theirs.records, alert_rules: records } },
    });
    const core = await begun(world);
    await Promise.all(
      records.map(({ alert_config_id }) =>
        core.read(
          RULE,
          complete(core.provider.schema.resources[RULE]?.attributes ?? [], { alert_config_id }),
        ),
      ),
    );
    expect(gets(world).length).toBeLessThanOrEqual(8);
  });

  it('sees what the same process made after its listing', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const first = await core.apply(ACCOUNT, null, { name: 'A' });
    await core.read(ACCOUNT, first);
    const second = await core.apply(ACCOUNT, null, { name: 'B' });
    expect(await core.read(ACCOUNT, second)).not.toBeNull();
  });

  it('keeps what the service answers to a create only', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    const made = await core.apply(DESTINATION, null, {
      name: 'P',
      endpoint: { url: 'https://x.example.com/' },
    });
    expect(made['resource_url']).toEqual(expect.stringContaining('/alert_push_destinations/'));
    expect(await (await begun(world)).read(DESTINATION, made)).toEqual(made);
  });

  it.each([
    ['decomposed', 'Cafe\u0301', 'Caf\u00e9'],
    ['cut in half', 'Cafe\ud83d', 'Cafe\ufffd'],
  ])(
    'changes and deletes what has a name that core spells in other characters: %s',
    async (_, live, spelt) => {
      const accounts = [
        ...(theirs.records['accounts'] ?? []),
        { id: '3', name: live, account: '1' },
      ];
      const world = providerRig({
        estate: { ...theirs, records: { ...theirs.records, accounts } },
      });
      const core = await begun(world);
      // As core hands it back, whatever the reading answered.
      const state = { ...(await core.import(ACCOUNT, `name=${spelt}`)), name: spelt };
      expect(state).toMatchObject({ id: '3' });
      expect(await core.isEmpty(ACCOUNT, state, { name: spelt })).toBe(true);
      const changed = await core.apply(ACCOUNT, state, { name: spelt, is_disabled: true });
      expect(await core.apply(ACCOUNT, changed, null)).toBeNull();
    },
  );

  it('deletes a rule whose settings core spells in other characters', async () => {
    const [rule] = theirs.records['alert_rules'] ?? [];
    const world = providerRig({
      estate: {
        ...theirs,
        records: {
          ...theirs.records,
          alert_rules: [{ ...rule, settings: { 'e\u0301': ['o\u0308'] } }],
        },
      },
    });
    const core = await begun(world);
    const state = {
      ...(await core.import(RULE, String(rule?.['alert_config_id']))),
      settings: '{"\u00e9":["\u00f6"]}',
    };
    expect(await core.apply(RULE, state, null)).toBeNull();
  });

  it('keeps the state where a listing failed, and drops an object only when it is gone', async () => {
    let fails = false;
    const world = providerRig({
      estate: theirs,
      intercept: ({ method }, proceed) =>
        fails && method === 'GET'
          ? Promise.resolve({ status: 500, headers: {}, body: '' })
          : proceed(),
    });
    const state = await (await begun(world)).apply(ACCOUNT, null, { name: 'A' });
    fails = true;
    const broken = await begun(world);
    await expect(broken.read(ACCOUNT, state)).rejects.toThrow('accounts cannot be read');
    fails = false;
    const next = await begun(world);
    await next.apply(ACCOUNT, state, null);
    expect(await (await begun(world)).read(ACCOUNT, state)).toBeNull();
    const destroyed = await begun(world);
    expect(await destroyed.apply(ACCOUNT, state, null)).toBeNull();
  });

  it('shows what another hand changed, of a document only what is ours', async () => {
    const world = providerRig({ estate: theirs });
    const given = { router: '12', configuration: '[{"lan":{"mtu":1400}}]' };
    const core = await begun(world);
    const state = await core.apply(MANAGER, null, given);
    const other = await begun(world);
    const theirState = await other.import(MANAGER, '30');
    await other.apply(MANAGER, theirState, {
      router: '12',
      configuration: '[{"wan":{"other":true}}]',
    });
    const same = await (await begun(world)).read(MANAGER, state);
    expect((same as CtyObject)['configuration']).toBe(given.configuration);
    await other.apply(MANAGER, await other.read(MANAGER, theirState), {
      router: '12',
      configuration: '[{"lan":{"mtu":9000}}]',
    });
    const drifted = await begun(world);
    const seen = (await drifted.read(MANAGER, state)) as CtyObject;
    expect(seen['configuration']).toBe('[{"lan":{"mtu":9000}}]');
    expect(await drifted.isEmpty(MANAGER, seen, given)).toBe(false);
  });

  it('refuses a state of a newer version and drops what it does not know of an older one', async () => {
    const { provider } = await begun(providerRig());
    const newer = await provider.upgradeResourceState({
      type_name: ACCOUNT,
      version: 1,
      raw: { id: '1' },
    });
    expect(newer.upgraded).toBeUndefined();
    expect(newer.diagnostics?.[0]?.detail).toContain('terraform init -upgrade');
    const older = await provider.upgradeResourceState({
      type_name: ACCOUNT,
      version: 0,
      raw: { id: '1', colour: 'red' },
    });
    expect(older.upgraded).toEqual({
      id: '1',
      name: null,
      account: null,
      is_disabled: null,
      resource_url: null,
      timeouts: null,
    });
  });

  it('takes no secret from a state that holds one', async () => {
    const { provider } = await begun(providerRig());
    const raw = {
      destination_config_id: DESTINATIONS[0],
      name: 'N',
      authentication: { secret_wo: 'hand-written', secret_wo_version: 1 },
    };
    const { upgraded = null } = await provider.upgradeResourceState({
      type_name: DESTINATION,
      version: 0,
      raw,
    });
    expect(upgraded).toMatchObject({
      name: 'N',
      authentication: { secret_wo: null, secret_wo_version: 1 },
    });
  });

  it('says of a state that does not fit that it is the state', async () => {
    const { provider } = await begun(providerRig());
    const raw = { alert_config_id: '1', associated_accounts: [null, 1] };
    await expect(
      provider.upgradeResourceState({ type_name: RULE, version: 0, raw }),
    ).rejects.toMatchObject({
      diagnostics: [
        {
          summary:
            "What terraform's state holds does not fit the schema: associated_accounts.1: a string is expected",
          detail: expect.stringContaining('terraform state rm') as string,
        },
      ],
    });
  });
});

describe('importing', () => {
  it.each([
    [ACCOUNT, '2', '2'],
    [ACCOUNT, 'account=1,name=Their depot', '2'],
    [ACCOUNT, 'account=,name=Their depot', '2'],
    [ACCOUNT, 'name=Headquarters', '1'],
    [AUTHORIZATION, 'user=77,account=1', '9'],
    [MANAGER, 'router=7', '31'],
    [DESTINATION, 'name=Theirs', DESTINATIONS[0]],
  ])('%s %s', async (type, id, expected) => {
    const core = await begun(providerRig({ estate: theirs }));
    const state = await core.import(type, id);
    expect(state[type === DESTINATION ? 'destination_config_id' : 'id']).toBe(expected);
  });

  it.each([
    [ACCOUNT, '99', 'There is no account with the id 99'],
    [ACCOUNT, 'name=Nobody', 'none does'],
    [AUTHORIZATION, 'account=1', '2 do: 9, 10'],
    [ACCOUNT, ' ', 'An id of the account is missing'],
  ])('%s %j is refused', async (type, id, why) => {
    const core = await begun(providerRig({ estate: theirs }));
    const { diagnostics = [], imported_resources } = await core.provider.importResourceState({
      type_name: type,
      id,
      identity: null,
    });
    expect(imported_resources).toBeUndefined();
    expect(diagnostics.map(({ summary, path }) => [summary.includes(why), path])).toEqual([
      [true, ['id']],
    ]);
  });

  it('says what may be given where the service looks for no such id', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const { diagnostics } = await core.provider.importResourceState({
      type_name: ACCOUNT,
      id: 'nope',
      identity: null,
    });
    expect(diagnostics).toMatchObject([
      {
        severity: 'error',
        summary: expect.stringContaining('400') as string,
        detail: expect.stringContaining('trueup get accounts') as string,
      },
    ]);
  });
});

describe('writing', () => {
  it('adopts what cannot be created, once, and says what is not there', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    await core.apply(AUTHORIZATION, null, { user: '77', account: '1', role: 'read_only_user' });
    await expect(
      core.apply(AUTHORIZATION, null, { user: '77', account: '1', role: 'read_only_user' }),
    ).rejects.toThrow('managed by another resource');
    await expect(
      core.apply(AUTHORIZATION, null, { user: '5', account: '1', role: 'read_only_user' }),
    ).rejects.toThrow('cannot be created through the API');
    expect(world.mutations()).toEqual(['PUT /api/v3/beta/account_authorizations/9']);
  });

  it.each(['before', 'after'])(
    'lets go of what cannot be deleted, and another resource has it, %s',
    async (order) => {
      const world = providerRig({ estate: theirs });
      const given = { user: '77', account: '1', role: 'read_only_user' };
      const held = await (await begun(world)).apply(AUTHORIZATION, null, given);
      const core = await begun(world);
      await core.provider.upgradeResourceState({ type_name: AUTHORIZATION, version: 0, raw: held });
      if (order === 'before') await core.apply(AUTHORIZATION, held, null);
      const heir = await core.apply(AUTHORIZATION, null, given);
      if (order === 'after') await core.apply(AUTHORIZATION, held, null);
      expect(heir).toEqual(held);
      await expect(core.apply(AUTHORIZATION, null, given)).rejects.toThrow(
        'managed by another resource',
      );
    },
  );

  it.each([
    [RULE, { associated_accounts: ['1'] }],
    [DESTINATION, { name: 'bare' }],
  ])(
    '%s: what holds nothing is as it was made when it is read, and when it is imported',
    async (type, given) => {
      const core = await begun(providerRig({ estate: theirs }));
      const made = await core.apply(type, null, given);
      const read = await core.read(type, made);
      expect(read).toEqual(made);
      const id = String(made[type === RULE ? 'alert_config_id' : 'destination_config_id']);
      const imported = await core.read(type, await core.import(type, id));
      expect(imported).toMatchObject({ [type === RULE ? 'filter_criteria' : 'endpoint']: null });
      expect(await core.isEmpty(type, imported, given)).toBe(true);
    },
  );

  const two: Estate = {
    ...theirs,
    records: {
      ...theirs.records,
      account_authorizations: [
        ...(theirs.records['account_authorizations'] ?? []),
        { id: '11', user: '79', account: '1', role: 'administrator' },
      ],
    },
  };

  describe('holds the rules that a change alone shows', () => {
    const moved = async (to: string, config: Partial<CtyObject> = {}) => {
      const world = providerRig({ estate: theirs });
      const core = await begun(world, config);
      const webhook = { name: 'P', endpoint: { url: 'https://a.example.co.uk/' } };
      const made = await core.apply(DESTINATION, null, webhook);
      const { errors } = await core.tryApply(DESTINATION, made, {
        ...webhook,
        endpoint: { url: to },
      });
      return [errors, world.mutations().length] as const;
    };

    it.each([['https://b.other.co.uk/'], ['https://127.0.0.1/']])(
      'a destination does not move to %s',
      async (to) => {
        const [errors, sent] = await moved(to);
        expect(errors).toMatchObject([
          {
            summary: expect.stringMatching(/^The alert push destination moves from /) as string,
            detail:
              'The rule destination-moved forbids it. To let it happen: allow = ["destination-moved"] in the provider block.',
          },
        ]);
        expect(sent).toBe(1);
      },
    );

    it.each<[to: string, config: Partial<CtyObject>]>([
      ['https://b.example.co.uk/', {}],
      ['https://b.other.co.uk/', { allow: ['destination-moved'] }],
    ])('it moves to %s with %j', async (to, config) => {
      expect(await moved(to, config)).toEqual([[], 2]);
    });

    it('a user gets no higher role', async () => {
      const world = providerRig({ estate: theirs });
      const raised = { user: '77', account: '1', role: 'administrator' };
      const { errors } = await (await begun(world)).tryApply(AUTHORIZATION, null, raised);
      expect(errors).toMatchObject([
        {
          summary:
            'The account authorization (user 77 on account 1) changes from full_access_user to the higher role administrator',
        },
      ]);
      expect(world.mutations()).toEqual([]);
      const bold = await begun(world, { allow: ['privilege-escalation'] });
      await bold.apply(AUTHORIZATION, null, raised);
      expect(world.mutations()).toHaveLength(1);
    });
  });

  it('judges by what is live since the lock is held, whatever was read before', async () => {
    const world = providerRig({ estate: two });
    const demoted = async (core: Core, user: string): Promise<readonly string[]> => {
      const { errors } = await core.tryApply(AUTHORIZATION, null, {
        user,
        account: '1',
        role: 'no_access',
      });
      return errors.map(({ summary }) => summary);
    };
    const [one, other] = [await begun(world), await begun(world)];
    for (const core of [one, other]) await core.import(AUTHORIZATION, 'user=77,account=1');
    expect(await demoted(one, '78')).toEqual([]);
    expect(await demoted(other, '79')).toEqual([
      'The account authorization is the last administrator of account Headquarters (1)',
    ]);
  });

  it.each(['latency=0', 'stale=30000'])(
    'keeps the last administrator unless that is allowed, whatever runs beside it: %s',
    async (fault) => {
      const world = providerRig({ estate: two, faults: [parseFault(fault)] });
      const core = await begun(world);
      const demote = (user: string): ReturnType<Core['tryApply']> =>
        core.tryApply(AUTHORIZATION, null, { user, account: '1', role: 'no_access' });
      const [one, other] = await Promise.all([demote('78'), demote('79')]);
      expect([...one.errors, ...other.errors].map(({ summary }) => summary)).toEqual([
        'The account authorization is the last administrator of account Headquarters (1)',
      ]);
      expect(
        world.objects('account_authorizations').filter(({ role }) => role === 'administrator'),
      ).toHaveLength(1);
      const bold = await begun(world, { allow: ['last-administrator'] });
      await bold.apply(AUTHORIZATION, null, { user: '79', account: '1', role: 'no_access' });
    },
  );

  it('leaves literals under names of secrets out of its journal', async () => {
    const seenOnDisk: string[] = [];
    const world: ProviderRig = providerRig({
      estate: theirs,
      intercept: async ({ method }, proceed) => {
        if (method === 'PUT') seenOnDisk.push(...world.files.contents.values());
        return proceed();
      },
    });
    const configuration = '{"wifi":{"psk":"canary"}}';
    await (await begun(world)).apply(MANAGER, null, { router: '12', configuration });
    expect(world.mutations()).toHaveLength(1);
    expect(seenOnDisk.join('\n')).toContain('"intent"');
    expect(seenOnDisk.join('\n')).not.toContain('canary');
  });

  it('writes no mask back, and names the way out that this provider has', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    const { errors } = await core.tryApply(MANAGER, null, {
      router: '7',
      configuration: '[{"lan":{"mtu":1500}}]',
    });
    expect(errors).toMatchObject([
      {
        summary: expect.stringContaining('the write would overwrite it') as string,
        detail: expect.stringContaining('configuration_writes = "patch"') as string,
      },
    ]);
    expect(world.mutations()).toEqual([]);
  });

  it('puts a role back where the other administrator is demoted at the same moment', async () => {
    let first = true;
    const world: ProviderRig = providerRig({
      estate: two,
      async intercept({ method, path }, proceed) {
        const byOthers =
          method === 'PUT' &&
          first &&
          world
            .objects('account_authorizations')
            .find(({ id, role }) => role === 'administrator' && !path.endsWith(`/${String(id)}`));
        if (byOthers) {
          first = false;
          const cloud = world.connect(new AbortController().signal);
          const kind = kindOf('account_authorizations');
          const [live] = await cloud.find(kind, [String(byOthers['id'])]);
          const write: Write = {
            verb: 'update',
            id: String(byOthers['id']),
            fields: { role: 'no_access' },
            ...(live && { live }),
          };
          await cloud.send(kind, cloud.compose(kind, write), write);
        }
        return proceed();
      },
    });
    const { errors } = await (
      await begun(world)
    ).tryApply(AUTHORIZATION, null, { user: '78', account: '1', role: 'no_access' });
    expect(errors.map(({ summary }) => summary)).toEqual([
      'The account authorization was updated, and account 1 had no administrator afterwards: the role administrator was put back',
    ]);
    expect(
      world.objects('account_authorizations').filter(({ role }) => role === 'administrator'),
    ).toHaveLength(1);
  });

  it('ranks custom roles as the block says', async () => {
    const owned = {
      ...two,
      records: {
        ...two.records,
        account_authorizations: [{ id: '11', user: '79', account: '1', role: 'owner' }],
      },
    };
    const demote = async (config: Partial<CtyObject>) =>
      (
        await (
          await begun(providerRig({ estate: owned }), config)
        ).tryApply(AUTHORIZATION, null, { user: '79', account: '1', role: 'no_access' })
      ).errors.map(({ summary }) => summary);
    expect(await demote({})).toEqual([]);
    expect(await demote({ roles: { owner: 'administrator' } })).toEqual([
      'The account authorization is the last administrator of account Headquarters (1)',
    ]);
  });

  it('deletes no account that is in use', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const state = await core.import(ACCOUNT, '2');
    const { errors } = await core.tryApply(ACCOUNT, state, null);
    expect(errors[0]?.summary).toMatch(/still holds alert_rules /);
    expect(errors[0]?.detail).toMatch(/create_before_destroy/);
  });

  it('says how core comes to delete after what names an object was changed', async () => {
    const core = await begun(providerRig({ estate: theirs }));
    const state = await core.apply(DESTINATION, null, {
      name: 'Mine',
      endpoint: { url: 'https://mine.example.com' },
    });
    await core.apply(RULE, null, {
      associated_accounts: ['1'],
      http_destinations: [String(state['destination_config_id'])],
    });
    const { errors } = await core.tryApply(DESTINATION, state, null);
    expect(errors).toEqual([
      expect.objectContaining({
        summary: expect.stringMatching(/returned 409/),
        detail: expect.stringMatching(/create_before_destroy/),
      }),
    ]);
  });

  it('sends nothing over what another hand changed since the plan', async () => {
    const world = providerRig({ estate: theirs });
    const state = await (await begun(world)).import(ACCOUNT, '2');
    await (await begun(world)).apply(ACCOUNT, state, { name: 'Moved' });
    const late = await (await begun(world)).tryApply(ACCOUNT, state, { name: 'Mine' });
    expect(told(late.errors)).toEqual([
      'error name: Name of the account 2 was changed outside of Terraform since the plan',
    ]);
    expect(late.state).toEqual(state);
    expect(told((await (await begun(world)).tryApply(ACCOUNT, state, null)).errors)[0]).toContain(
      'since the plan',
    );
    const gone: ProviderRig = providerRig({
      estate: theirs,
      async intercept({ method, path }, proceed) {
        const headers = { ...dummyCredentials.v2[1] };
        const url = `http://localhost${path}`;
        if (method === 'PUT')
          await gone.emulator.fetch(new Request(url, { method: 'DELETE', headers }));
        return proceed();
      },
    });
    const core = await begun(gone);
    const held = await core.apply(ACCOUNT, null, { name: 'New' });
    expect(told((await core.tryApply(ACCOUNT, held, { name: 'Mine' })).errors)).toEqual([
      'error : The account was deleted outside of Terraform since the plan',
    ]);
    // What is as it should be already is no trouble.
    expect((await (await begun(world)).tryApply(ACCOUNT, state, { name: 'Moved' })).errors).toEqual(
      [],
    );
  });

  it('sends a secret with its version, and never tells it', async () => {
    const sent: string[] = [];
    const world = providerRig({
      estate: theirs,
      intercept: ({ body }, proceed) => {
        if (body !== undefined) sent.push(/hush-\w+/.exec(body)?.[0] ?? 'none');
        return proceed();
      },
    });
    const core = await begun(world);
    const given = (secret: string, version: number, enabled = true): CtyObject => ({
      name: 'Pager',
      enabled,
      authentication: { secret_wo: secret, secret_wo_version: version },
    });
    let state: CtyValue = null;
    for (const one of [
      given('hush-one', 1),
      given('hush-two', 1),
      given('hush-two', 1, false),
      given('hush-two', 2, false),
    ])
      state = await core.apply(DESTINATION, state, one);
    expect(sent).toEqual(['hush-one', 'none', 'hush-two']);
    expect(JSON.stringify([state, ...world.files.contents.values()])).not.toContain('hush');
  });

  it('makes two hundred at once', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    const states = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        core.apply(ACCOUNT, null, { name: `Depot ${index}`, account: '1' }),
      ),
    );
    expect(new Set(states.map(({ id }) => id)).size).toBe(200);
    expect(gets(world)).toHaveLength(1);
  });

  it('handles a kind with every word', async () => {
    const world = providerRig({ kinds: fiveKinds, estate: theirs });
    const core = await begun(world);
    const first = {
      name: 'Yard',
      radius: 250,
      latitude: 52.5,
      active: true,
      mode: 'enter',
      points: ['1,1', '1,2'],
      watchers: ['2', '1'],
      labels: { team: 'north' },
      hook: { url: 'https://h.example.com', token_wo: 't', token_wo_version: 1 },
    };
    let state: CtyValue = null;
    for (const given of [
      first,
      { ...first, points: ['1,2', '1,1'], labels: {}, hook: { url: 'https://i.example.com' } },
      { name: 'Yard' },
    ]) {
      expect(await core.validate('devicecloud_geofence', given)).toEqual([]);
      state = await core.apply('devicecloud_geofence', state, given);
      state = await core.read('devicecloud_geofence', state);
      expect(await core.isEmpty('devicecloud_geofence', state, given)).toBe(true);
    }
    const imported = await core.import('devicecloud_geofence', String((state as CtyObject)['id']));
    expect(
      await core.isEmpty('devicecloud_geofence', imported, {
        name: 'Yard',
        points: ['1,2', '1,1'],
      }),
    ).toBe(true);
  });

  it('ends in good order when core says so', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    await core.apply(ACCOUNT, null, { name: 'A' });
    await core.provider.stopProvider();
    const { errors, state } = await core.tryApply(ACCOUNT, null, { name: 'B' });
    expect([errors.length, state]).toEqual([1, null]);
    expect(world.mutations()).toHaveLength(1);
  });
});

describe('complaints', () => {
  const unknown = new Unknown();
  it.each<readonly [string, CtyObject, readonly string[]]>([
    [
      RULE,
      { associated_accounts: ['x'] },
      [
        'error associated_accounts: `associated_accounts`: "x": an identifier of digits or a reference is expected, not a string',
      ],
    ],
    [
      RULE,
      { associated_accounts: ['7', 'x y', '3', '$&'] },
      ['x y', '$&'].map(
        (value) =>
          `error associated_accounts: \`associated_accounts\`: "${value}": an identifier of digits or a reference is expected, not a string`,
      ),
    ],
    [
      RULE,
      { filter_criteria: { alert_type__in: ['cpu_utilisation'] }, associated_accounts: ['1'] },
      [
        'warning filter_criteria.alert_type__in: `filter_criteria.alert_type__in`: `cpu_utilisation` is not a known value. Did you mean `cpu_utilization`?',
      ],
    ],
    [
      ACCOUNT,
      { name: 'A', id: '77' },
      ['error id: `id` belongs to the server and cannot be declared'],
    ],
    [
      ACCOUNT,
      { name: 'A', id: unknown },
      ['error id: `id` belongs to the server and cannot be declared'],
    ],
    [
      RULE,
      { settings: '{oops', associated_accounts: ['1'] },
      ['error settings: `settings` is not JSON'],
    ],
    [
      RULE,
      { settings: '[1]', associated_accounts: ['1'] },
      ['error settings: `settings`: a mapping or null is expected, not a list'],
    ],
    [
      RULE,
      {},
      [
        'warning : The rule declares neither accounts nor groups, and a rule without any never fires',
      ],
    ],
    [
      RULE,
      {
        associated_accounts: unknown,
        filter_criteria: unknown,
        settings: unknown,
        http_destinations: [unknown],
      },
      [],
    ],
    [DESTINATION, { name: unknown, endpoint: { url: unknown }, authentication: unknown }, []],
    [
      DESTINATION,
      { name: 'N', endpoint: { url: 'https://x.example.com:9443' } },
      ['warning endpoint.url: `endpoint.url` names port 9443'],
    ],
    [
      DESTINATION,
      { name: 'N', authentication: { secret_wo: '' } },
      ['error authentication.secret_wo: `authentication.secret_wo` is empty'],
    ],
    [
      DESTINATION,
      { name: 'N', authentication: { secret_wo_version: 2 } },
      ['error authentication.secret_wo: `authentication.secret_wo` is missing'],
    ],
    [
      MANAGER,
      { router: '12', configuration: '[{"a":"*"}]' },
      ['error configuration: The configuration manager: `a` is a mask, not a value'],
    ],
  ])('%s %j', async (type, given, expected) => {
    const core = await begun(providerRig());
    expect(told(await core.validate(type, given))).toEqual(expected);
  });

  it.each([
    ['"psk":"canary"', "Terraform's plan and state hold it in clear: whoever reads them reads it."],
    ['"psk":"*"', 'Leave the member out: what is not declared stays as it is.'],
  ])('say in the words of terraform what becomes of a secret: %s', async (member, detail) => {
    const configuration = `[{"wifi":{${member}}}]`;
    const core = await begun(providerRig());
    expect(await core.validate(MANAGER, { router: '12', configuration })).toMatchObject([
      { detail },
    ]);
  });

  it('are of the kind that is asked for, whichever came first', async () => {
    const core = await begun(providerRig());
    const [rule, account] = [
      { filter_criteria: { alert_type__in: ['account_locked'] } },
      { name: 'A' },
    ];
    for (let turn = 0; turn < 2; turn += 1) {
      expect(told(await core.validate(ACCOUNT, {}))).toEqual([
        'error : `name` is missing in accounts',
      ]);
      expect(await core.validate(ACCOUNT, account)).toEqual([]);
      expect(
        told(await core.validate(RULE, rule)).filter((one) => one.startsWith('error')),
      ).toEqual([]);
    }
  });

  it('refuses a secret that an older core would keep', async () => {
    const core = await begun(providerRig());
    expect(
      told(
        await core.validate(DESTINATION, { name: 'N', authentication: { secret_wo: 's' } }, false),
      ),
    ).toEqual([
      'error authentication.secret_wo: `authentication.secret_wo` needs Terraform 1.11 or later',
    ]);
  });

  it('looks at the block of the provider', async () => {
    const { provider } = await begun(providerRig());
    const block = {
      v2_url: 'http://api.example.com',
      v3_url: unknown,
      allow: ['nonsense'],
      v2_headers: { 'X-Odd': 'y' },
      roles: { auditor: 'reader', administrator: 'no_access', fine: 'no_access' },
      requests_per_minute: 0.5,
      settle_seconds: -1,
    };
    const { diagnostics = [] } = await provider.validateProviderConfig({
      config: complete(provider.schema.provider.attributes, block),
    });
    expect(told(diagnostics)).toEqual([
      'error v2_url: `v2_url` is plain http',
      'error allow: `nonsense` is not a policy rule',
      'error v2_headers.X-Odd: `X-Odd` is none of the v2 headers',
      'error roles.auditor: `reader` is not a known role',
      'error roles.administrator: `administrator` is a known role, which has its rank already',
      'error requests_per_minute: `requests_per_minute` takes a whole number from 1',
      'error settle_seconds: `settle_seconds` takes seconds, from 0 to 86400',
    ]);
  });

  it('needs the block only when something is needed of it', async () => {
    const core = await begun(providerRig(), { v2_url: unknown });
    expect((await core.plan(ACCOUNT, null, { name: 'A' })).planned_state).not.toBeNull();
    await expect(core.import(ACCOUNT, '1')).rejects.toThrow(
      'cannot be used before v2_url of its block is known',
    );
  });

  it('says once that no address is configured', async () => {
    const start = (
      environment: Readonly<Record<string, string>>,
      config: Partial<CtyObject> = {},
    ): Promise<unknown> => providerRig().start({ environment, config });
    await expect(start({})).rejects.toThrow('No address of a service is configured');
    await expect(start({ TRUEUP_V2_URL: '' })).rejects.toThrow(
      'No address of a service is configured',
    );
    await start({ TRUEUP_V3_URL: 'https://api.example.com', TRUEUP_V3_TOKEN: 't' });
    await start({}, { iot_url: 'https://api.example.com', iot_username: 'u', iot_password: 'p' });
    await start({}, { v2_url: unknown });
  });

  const none = {
    TRUEUP_MGR_API_ID: '',
    TRUEUP_MGR_API_KEY: '',
    TRUEUP_VND_API_ID: '',
    TRUEUP_VND_API_KEY: '',
  };
  const v3 = { TRUEUP_V3_URL: 'https://api.example.com' };
  const inBlock = { mgr_api_id: 'a', mgr_api_key: 'b', vnd_api_id: 'c', vnd_api_key: 'd' };

  const started = (environment: Readonly<Record<string, string>>, config: Partial<CtyObject>) =>
    providerRig().start({ environment: { ...configured, ...environment }, config });

  it.each([
    [
      'none at all',
      none,
      '"path":["mgr_api_id"]',
      /TRUEUP_MGR_API_ID, .*, TRUEUP_VND_API_KEY have no value/,
    ],
    [
      'some forgotten',
      { ...v3, TRUEUP_V3_TOKEN: 't', TRUEUP_VND_API_ID: '' },
      '"path":["vnd_api_id"]',
      /TRUEUP_VND_API_ID has no value/,
    ],
    [
      'a file that is not there',
      { TRUEUP_MGR_API_KEY: '', TRUEUP_MGR_API_KEY_FILE: '/nowhere' },
      '"path":["mgr_api_key"]',
      /file that TRUEUP_MGR_API_KEY_FILE names/,
    ],
    [
      'one given twice',
      { TRUEUP_MGR_API_KEY_FILE: '/nowhere' },
      'TRUEUP_MGR_API_KEY_FILE',
      /both set/,
    ],
  ] as const)(
    'says once, at the block, which credentials are missing: %s',
    async (_, environment, path, wording) => {
      const start = started(environment, {});
      await expect(start).rejects.toThrow(wording);
      await expect(start).rejects.toThrow(path);
    },
  );

  it.each([
    ['the block has them', none, inBlock],
    ['no resource may need the service', v3, {}],
    ['one is not known yet', none, { mgr_api_id: unknown }],
    ['another address is not known yet', none, { v3_url: unknown }],
  ] as const)('misses no credentials where %s', async (_, environment, config) => {
    await expect(started(environment, config)).resolves.toBeDefined();
  });
});

describe('data sources', () => {
  const data = async (core: Core, type: string, given: CtyObject): Promise<CtyObject> => {
    const config = complete(core.provider.schema.dataSources[type]?.attributes ?? [], given);
    const { diagnostics = [] } = await core.provider.validateDataResourceConfig({
      type_name: type,
      config,
    });
    if (diagnostics.length > 0) throw new Error(told(diagnostics).join('\n'));
    return (await core.provider.readDataSource({ type_name: type, config })).state as CtyObject;
  };

  it('finds the one object that is meant', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    expect(await data(core, ACCOUNT, { name: 'Their depot' })).toMatchObject({
      id: '2',
      account: '1',
      name: 'Their depot',
    });
    expect(await data(core, DESTINATION, { name: 'Theirs' })).toMatchObject({
      endpoint: { url: 'https://theirs.example.com' },
    });
    expect(
      await data(core, RULE, { filter_criteria: { alert_type__in: ['account_locked'] } }),
    ).toMatchObject({ email_destinations: ['7'] });
    await expect(data(core, ACCOUNT, { name: 'Nobody' })).rejects.toThrow('none does');
    await expect(data(core, AUTHORIZATION, { account: '1' })).rejects.toThrow('2 do');
    const made = await core.apply(ACCOUNT, null, { name: 'New' });
    expect((await data(core, ACCOUNT, { name: 'New' }))['id']).toBe(made['id']);
    expect(gets(world).filter((path) => path === '/api/v2/accounts/')).toHaveLength(3);
  });

  it('reads records, no more pages than are wanted', async () => {
    const world = providerRig({ estate: theirs });
    const core = await begun(world);
    const state = await core.apply(ACCOUNT, null, { name: 'Logged' });
    await core.apply(ACCOUNT, state, { name: 'Logged again' });
    const logs = await data(core, 'devicecloud_activity_logs', {
      filter: { object__id: String(state['id']) },
    });
    expect(logs['records']).toHaveLength(2);
    expect(
      (
        await data(core, 'devicecloud_activity_logs', {
          filter: { object__id: String(state['id']) },
          limit: 1,
        })
      )['records'],
    ).toHaveLength(1);
    await expect(
      data(core, 'devicecloud_activity_logs', { filter: { objekt__id: '1' } }),
    ).rejects.toThrow('error filter.objekt__id');
    await expect(data(core, 'devicecloud_batteries', {})).rejects.toThrow(
      'batteries are read by router',
    );
    await expect(
      data(core, 'devicecloud_alerts', { since: 'yesterday', limit: 0 }),
    ).rejects.toThrow('`since` is not a time');
    expect((await data(core, 'devicecloud_audit_logs', {}))['records']).toEqual([]);
  });
});
