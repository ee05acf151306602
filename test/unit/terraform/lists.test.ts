// List resources (Terraform 1.14): the live objects of a kind, selected by their values, from one listing.
import { describe, expect, it } from 'vitest';
import { kinds } from '../../../src/resources/index.js';
import { callsOf, type Calls } from '../../../src/terraform/protocol/calls.js';
import { decode, encode, type CtyObject } from '../../../src/terraform/protocol/cty.js';
import type { ProviderServer } from '../../../src/terraform/protocol/provider-replies.js';
import { typeOf } from '../../../src/terraform/terraform-schema.js';
import { DESTINATIONS, theirs } from '../../support/estate.js';
import { complete, Core, providerRig } from '../../support/provider.js';

const json = new Uint8Array();

interface Event {
  readonly identity?: { readonly identity_data: { readonly msgpack: Uint8Array } };
  readonly display_name?: string;
  readonly resource_object?: { readonly msgpack: Uint8Array };
  readonly diagnostic?: readonly { readonly summary: string }[];
}

async function listed(
  provider: ProviderServer,
  type: string,
  { config = {}, ...more }: { readonly config?: CtyObject; readonly limit?: number } = {},
): Promise<readonly Event[]> {
  const calls: Calls = callsOf(provider, () => undefined);
  const attributes = provider.schema.lists[type]?.attributes ?? [];
  const msgpack = encode(typeOf(attributes), complete(attributes, config));
  const reply = await calls['ListResource']?.({
    type_name: type,
    config: { msgpack, json },
    include_resource_object: true,
    limit: 0,
    ...more,
  });
  return reply?.['events'] as readonly Event[];
}

const live = [...kinds.values()].flatMap(({ name, singular, id }) => {
  const ids = (theirs.records[name] ?? []).map((record) => String(record[id]));
  return ids.length === 0 ? [] : [[`devicecloud_${singular}`, id, ids] as const];
});

describe.each(live)('%s', (type, id, ids) => {
  it('has an event for each object, with identity, name and state as an import has them', async () => {
    const { provider } = await providerRig({ estate: theirs }).start();
    const core = new Core(provider);
    const events = await listed(provider, type);
    const [identity, state] = [provider.schema.identities, provider.schema.resources].map((all) =>
      typeOf(all[type]?.attributes ?? []),
    );
    expect(
      events.map((one) => decode(identity!, { ...one.identity!.identity_data, json })),
    ).toEqual(ids.map((value) => ({ [id]: value })));
    expect(events.map(({ display_name: name }) => name === '')).toEqual(ids.map(() => false));
    for (const [index, { resource_object: whole }] of events.entries())
      expect(decode(state!, { ...whole!, json })).toEqual(await core.import(type, ids[index]!));
  });

  it('is selected by `id`, and has no more than the limit', async () => {
    const { provider } = await providerRig({ estate: theirs }).start();
    expect(await listed(provider, type, { config: { id: ids.at(-1)! } })).toHaveLength(1);
    expect(await listed(provider, type, { config: { id: '404' } })).toEqual([]);
    expect(await listed(provider, type, { limit: 1 })).toHaveLength(1);
  });
});

const DESTINATION = 'devicecloud_alert_push_destination';

it('an object is named as people know it, and one listing serves all questions', async () => {
  const world = providerRig({ estate: theirs });
  const { provider } = await world.start();
  const names = async (config: CtyObject) =>
    (await listed(provider, DESTINATION, { config })).map(({ display_name: name }) => name);
  expect(await names({})).toEqual(['Theirs', 'Their board']);
  expect(await names({ name: 'Theirs', id: DESTINATIONS[0] })).toEqual(['Theirs']);
  expect(await names({ name: 'Theirs', id: DESTINATIONS[1] })).toEqual([]);
  expect(world.emulator.requests).toHaveLength(1);
});

it('a listing that failed is an event with the error, and never a part of the objects', async () => {
  const world = providerRig({ estate: theirs, intercept: () => Promise.reject(new Error('x')) });
  const { provider } = await world.start();
  const events = await listed(provider, DESTINATION);
  expect(events).toHaveLength(1);
  expect(events[0]).not.toHaveProperty('identity');
  expect(events[0]?.diagnostic).toHaveLength(1);
});

it('every kind has one, whose conditions hold one plain value and are all optional', async () => {
  const { provider } = await providerRig({ estate: theirs }).start();
  expect(Object.keys(provider.schema.lists)).toEqual(Object.keys(provider.schema.resources));
  for (const { attributes } of Object.values(provider.schema.lists))
    for (const { name, type, optional, computed } of attributes)
      expect([name, typeof type, optional, computed]).toEqual([name, 'string', true, undefined]);
});
