// `id` of every kind: beside an identifier of another name, in every reply that holds a state, and by every way to select.
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/terraform/convert.js';
import { kinds } from '../../../src/resources/index.js';
import { theirs } from '../../support/estate.js';
import { complete, Core, providerRig } from '../../support/provider.js';

const all = [...kinds.values()].map((kind) => [`devicecloud_${kind.singular}`, kind] as const);
const live = all.flatMap(([type, { name, id }]) => {
  const [record] = theirs.records[name] ?? [];
  return record === undefined ? [] : [[type, id, String(record[id])] as const];
});
const begun = async (): Promise<Core> =>
  new Core((await providerRig({ estate: theirs }).start()).provider);

it.each(all)('%s has it as a computed string, and so has its data source', async (type, kind) => {
  const { schema } = (await begun()).provider;
  const [resource, source] = [schema.resources, schema.dataSources].map((schemas) =>
    schemas[type]?.attributes.find(({ name }) => name === 'id'),
  );
  expect(resource).toMatchObject({ type: 'string', computed: true });
  expect(resource).not.toHaveProperty('optional');
  expect(source).toMatchObject({ type: 'string', optional: true, computed: true });
  expect(resource?.description).toBe(
    kind.id === 'id' ? kind.attributes['id']?.doc : `Same value as \`${kind.id}\`.`,
  );
});

describe.each(live)('%s', (type, id, value) => {
  it('has it after an import, and is found by it', async () => {
    const core = await begun();
    expect(await core.import(type, value)).toMatchObject({ id: value, [id]: value });
    const schema = core.provider.schema.dataSources[type]?.attributes ?? [];
    const { state } = await core.provider.readDataSource({
      type_name: type,
      config: complete(schema, { id: value }),
    });
    expect(state).toMatchObject({ id: value, [id]: value });
  });

  it('gets it from a state of an older version, offline and with no difference', async () => {
    const core = await begun();
    const state = await core.import(type, value);
    const { id: _, ...older } = { ...state, [id]: value };
    const raw = id === 'id' ? state : older;
    const { upgraded } = await core.provider.upgradeResourceState({
      type_name: type,
      version: 0,
      raw,
    });
    expect(upgraded).toEqual(state);
    expect(isRecord(upgraded) && upgraded['id']).toBe(value);
  });
});

it('is known after a create, and stays in a plan', async () => {
  const core = await begun();
  const type = 'devicecloud_alert_push_destination';
  const given = { name: 'A', endpoint: { url: 'https://a.example.com' } };
  const made = await core.apply(type, null, given);
  expect(made['id']).toBe(made['destination_config_id']);
  const { planned_state } = await core.plan(type, made, { ...given, name: 'B' });
  expect(planned_state).toMatchObject({ id: made['id'] });
  expect(await core.read(type, made)).toEqual(made);
});
