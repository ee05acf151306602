// Members of documents that are named as secrets: a mask stands for each in what terraform is told, and is never sent.
import { describe, expect, it } from 'vitest';
import { covered, declaresCovered } from '../../../src/terraform/covered-documents.js';
import type { Estate } from '../../../src/emulator/index.js';
import type { CtyObject } from '../../../src/terraform/protocol/cty.js';
import { theirs } from '../../support/estate.js';
import { complete, Core, providerRig, type ProviderRig } from '../../support/provider.js';

const MANAGER = 'devicecloud_configuration_manager';
const RULE = 'devicecloud_alert_rule';
const COVER = '********';

const tree = {
  sys: {
    name: 'depot',
    api_key: 'LIVE-1',
    'Private-Key': 'LIVE-2',
    wifi: [{ token: 'LIVE-3', ssid: 'x' }],
  },
};
const settings = { sim: { token: 'LIVE-4', days: 3 } };
const RULE_ID = '22222222-2222-11f0-8000-000000000001';
const estate: Estate = {
  ...theirs,
  records: {
    ...theirs.records,
    configuration_managers: (theirs.records['configuration_managers'] ?? []).map((one) =>
      one['id'] === '30'
        ? { ...one, configuration: [tree, []], target: [tree, []], actual: [tree, []] }
        : one,
    ),
    alert_rules: (theirs.records['alert_rules'] ?? []).map((one) => ({ ...one, settings })),
  },
};
const rig = (): ProviderRig => providerRig({ estate });
const begun = async (world: ProviderRig): Promise<Core> => new Core((await world.start()).provider);
const liveDocument = (world: ProviderRig): unknown =>
  world.objects('configuration_managers').find(({ id }) => id === '30')?.['configuration'];
const document = (value: unknown): string => JSON.stringify(value);

describe('a document', () => {
  it.each([
    ['nothing', undefined, { token: COVER, a: [{ psk: COVER, b: 1 }] }],
    ['a literal', { token: 'mine' }, { token: 'x', a: [{ psk: COVER, b: 1 }] }],
    ['a mask', { token: '*' }, { token: COVER, a: [{ psk: COVER, b: 1 }] }],
    ['an item of a list', { a: [{}, { psk: 'mine' }] }, { token: COVER, a: [{ psk: 'y', b: 1 }] }],
  ])('is covered where terraform holds %s', (_, held, expected) => {
    expect(covered({ token: 'x', a: [{ psk: 'y', b: 1 }] }, held)).toEqual(expected);
    expect(covered([{ token: 'x', a: [{ psk: 'y', b: 1 }] }, []], held)).toEqual([expected, []]);
  });

  it('keeps what says nothing', () => {
    const said = { token: null, password: '', psk: '*', secret: true, api_key: {}, passwd: [] };
    expect(covered(said)).toEqual(said);
    expect(covered({ token: 5, password: { a: 1 } })).toEqual({ token: COVER, password: COVER });
  });

  it.each([
    [{ token: 'x' }, { token: COVER }, true],
    [{ token: 'x' }, [{ token: COVER }], true],
    [{ a: [1, { token: 'x' }] }, { a: [1, { token: COVER }] }, true],
    [{ token: COVER }, { token: COVER }, false],
    [{ token: '*' }, { token: COVER }, false],
    [{ a: 1 }, { token: COVER, a: 1 }, false],
    [{ token: 'x' }, { token: '*' }, false],
  ])('%j declares what is covered in %j: %s', (wanted, held, is) => {
    expect(declaresCovered(wanted, held)).toBe(is);
  });
});

describe('what an import reads', () => {
  it('holds no member that is named as a secret', async () => {
    const core = await begun(rig());
    const state = await core.import(MANAGER, '30');
    const rule = await core.import(RULE, RULE_ID);
    expect(JSON.stringify([state, rule])).not.toContain('LIVE-');
    expect(JSON.parse(String(state['configuration']))).toEqual([
      {
        sys: {
          name: 'depot',
          api_key: COVER,
          'Private-Key': COVER,
          wifi: [{ token: COVER, ssid: 'x' }],
        },
      },
      [],
    ]);
    expect(await core.read(MANAGER, state)).toEqual(state);
    expect(await core.read(RULE, rule)).toEqual(rule);
  });

  it('changes nothing in a plan, and is not written back with another change', async () => {
    const world = rig();
    const core = await begun(world);
    const state = await core.import(MANAGER, '30');
    for (const configuration of [null, document([{ sys: { name: 'depot' } }])])
      expect(await core.isEmpty(MANAGER, state, { router: '12', configuration })).toBe(true);
    await core.apply(MANAGER, state, {
      router: '12',
      configuration: document([{ sys: { name: 'other' } }]),
    });
    expect(liveDocument(world)).toEqual([{ sys: { ...tree.sys, name: 'other' } }, []]);
    const after = await (await begun(world)).read(MANAGER, state);
    expect(JSON.stringify(after)).not.toContain('LIVE-');
  });

  it('keeps secrets where something else of the object changes', async () => {
    const world = rig();
    const core = await begun(world);
    const state = await core.import(RULE, RULE_ID);
    const given = { ...declaredOf(state), associated_accounts: ['1'] };
    await core.apply(RULE, state, given);
    expect(world.mutations()).toHaveLength(1);
    expect(world.objects('alert_rules')[0]?.['settings']).toEqual(settings);
    await core.apply(RULE, await core.read(RULE, state), null);
    expect(world.mutations()).toHaveLength(2);
  });

  it('is changed by what is declared for a covered member, whose drift shows from then on', async () => {
    const world = rig();
    const core = await begun(world);
    const state = await core.import(MANAGER, '30');
    const given = { router: '12', configuration: document([{ sys: { api_key: 'NEW' } }]) };
    expect(await core.isEmpty(MANAGER, state, given)).toBe(false);
    const declared = await core.apply(MANAGER, state, given);
    expect(liveDocument(world)).toEqual([{ sys: { ...tree.sys, api_key: 'NEW' } }, []]);
    expect(declared['configuration']).toBe(given.configuration);
    const other = await begun(world);
    const drift = { router: '12', configuration: document([{ sys: { api_key: 'DRIFT' } }]) };
    await other.apply(MANAGER, await other.import(MANAGER, '30'), drift);
    const later = await begun(world);
    expect(await later.isEmpty(MANAGER, await later.read(MANAGER, declared), given)).toBe(false);
  });

  it('is refused as a declaration of what would be sent as it is', async () => {
    const world = rig();
    const core = await begun(world);
    const state = await core.import(RULE, RULE_ID);
    const given = { ...declaredOf(state), settings: state['settings'] ?? null };
    const schema = core.provider.schema.resources[RULE]?.attributes ?? [];
    const config = complete(schema, given);
    const call = { type_name: RULE, prior_state: state, config };
    const planned = await core.provider.planResourceChange({
      ...call,
      proposed_new_state: config,
    });
    // What was not known at the plan may hold it.
    const applied = await core.provider.applyResourceChange({
      ...call,
      planned_state: { ...state, ...given, associated_accounts: ['1'] },
      planned_private: new Uint8Array(),
    });
    for (const { diagnostics } of [planned, applied])
      expect(diagnostics).toMatchObject([
        {
          severity: 'error',
          summary: expect.stringContaining('`settings` holds the mask') as string,
        },
      ]);
    expect(world.mutations()).toEqual([]);
  });
});

/** A configuration of a rule that says what is there. */
const declaredOf = (state: CtyObject): CtyObject => ({
  associated_accounts: state['associated_accounts'] ?? null,
  filter_criteria: state['filter_criteria'] ?? null,
});

it('a data source shows no member that is named as a secret', async () => {
  const core = await begun(rig());
  const looked = async (type: string, given: CtyObject): Promise<string> => {
    const config = complete(core.provider.schema.dataSources[type]?.attributes ?? [], given);
    return JSON.stringify((await core.provider.readDataSource({ type_name: type, config })).state);
  };
  for (const found of [await looked(MANAGER, { router: '12' }), await looked(RULE, {})]) {
    expect(found).toContain(COVER);
    expect(found).not.toContain('LIVE-');
  }
});
