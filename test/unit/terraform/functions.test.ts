// Functions and moves between types, as core asks for them: over the wire, and before anything is configured.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertRules } from '../../../src/resources/alert-rules.js';
import { callsOf, type Calls } from '../../../src/terraform/protocol/calls.js';
import { decode, encode, type CtyType } from '../../../src/terraform/protocol/cty.js';
import { drawn } from '../../support/drawn.js';
import { theirs } from '../../support/estate.js';
import { Core, providerRig } from '../../support/provider.js';
import { madeUp } from './made-up.js';
import { typeOf } from '../../../src/terraform/terraform-schema.js';

const json = new Uint8Array();
const wired = async (): Promise<Calls> =>
  callsOf((await providerRig({ estate: theirs }).start()).provider, () => undefined);
const text = (value: string) => ({ msgpack: encode('string', value), json });
const named = async (calls: Calls, name: string, ...values: readonly string[]) => {
  const reply = await calls['CallFunction']?.({ name, arguments: values.map(text) });
  const { result, error } = reply as {
    readonly result?: { readonly msgpack: Uint8Array };
    readonly error?: unknown;
  };
  const type: CtyType = name === 'alert_types' ? ['set', 'string'] : 'string';
  return { error, result: result && decode(type, { ...result, json }) };
};

describe('functions', () => {
  it('are in the schema, and asked for by themselves, with their types', async () => {
    const calls = await wired();
    const functions = (await calls['GetProviderSchema']?.({}))?.['functions'];
    expect(await calls['GetFunctions']?.({})).toEqual({ functions });
    const [string, strings] = ['"string"', '["set","string"]'].map((one) => Buffer.from(one));
    expect(functions).toMatchObject([
      {
        key: 'canonical_url',
        value: { parameters: [{ name: 'url', type: string }], return: { type: string } },
      },
      { key: 'alert_types', value: { parameters: [], return: { type: strings } } },
    ]);
  });

  it.each([
    ['https://hooks.example.com/alerts', 'https://hooks.example.com/alerts'],
    ['HTTPS://Hooks.Example.COM:443', 'https://hooks.example.com/'],
    ['https://hooks.example.com:8443/a/../b/./c', 'https://hooks.example.com:8443/b/c'],
    ['https://bücher.example/größe', 'https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe'],
    ['https://h.example.com/a%2fb?x=1#y', 'https://h.example.com/a%2fb?x=1#y'],
    ['http://127.0.0.1:80/x', 'http://127.0.0.1/x'],
    ['https://2130706433/x', 'https://127.0.0.1/x'],
  ])('canonical_url(%j) is %j', async (given, expected) => {
    expect(await named(await wired(), 'canonical_url', given)).toEqual({ result: expected });
  });

  it.each([
    ['', 'is not a URL'],
    ['hooks.example.com', 'is not a URL'],
    ['https://a b.example.com', 'holds a blank or a control character'],
    ['https:\\\\h.example.com', 'holds a backslash'],
    ['http://hooks.example.com', 'begins with http:// instead of https://'],
    ['https://me:s3cret@hooks.example.com', 'holds a user name or a password'],
  ])('canonical_url(%j) %s', async (given, says) => {
    const { result, error } = await named(await wired(), 'canonical_url', given);
    expect([result, error]).toEqual([
      undefined,
      {
        text: expect.stringMatching(new RegExp(`^\`url\` ${says}.*[^.]$`)) as string,
        function_argument: 0,
      },
    ]);
    expect(JSON.stringify(error)).not.toContain('s3cret');
  });

  it('canonical_url is the same of what it gave', async () => {
    const calls = await wired();
    await fc.assert(
      fc.asyncProperty(
        fc.webUrl({ validSchemes: ['https'], withQueryParameters: true, withFragments: true }),
        async (url) => {
          const { result } = await named(calls, 'canonical_url', url);
          expect(typeof result).toBe('string');
          expect(await named(calls, 'canonical_url', String(result))).toEqual({ result });
        },
      ),
      { numRuns: drawn(100) },
    );
  });

  it('alert_types are those that a rule is checked against', async () => {
    const { of } = alertRules.attributes.filter_criteria.attributes.alert_type__in;
    expect(await named(await wired(), 'alert_types')).toEqual({ result: [...of.values] });
  });

  it.each([
    ['twice', '', /^nothing to double$/, 0],
    ['twice', 'throws', /^(?!.*secret)/, undefined],
    ['twice', 'liar', /a string is expected/, undefined],
    ['thrice', 'a', /^There is no function thrice$/, undefined],
  ])('%s(%j) is an error', async (name, value, says, argument) => {
    const { error, result } = await named(
      callsOf(madeUp(), () => undefined),
      name,
      value,
    );
    expect(result).toBeUndefined();
    expect(error).toEqual({
      text: expect.stringMatching(says) as string,
      ...(argument !== undefined && { function_argument: argument }),
    });
  });

  it('an argument of another type is named', async () => {
    const calls = callsOf(madeUp(), () => undefined);
    const wrong = { msgpack: encode('number', 7), json };
    expect(await calls['CallFunction']?.({ name: 'twice', arguments: [wrong] })).toEqual({
      error: {
        text: expect.stringContaining('a string is expected') as string,
        function_argument: 0,
      },
    });
  });
});

describe('a move', () => {
  const RULE = 'devicecloud_alert_rule';

  it.each([
    ['devicecloud_account', 'devicecloud_group'],
    ['devicecloud_alert_rule', 'devicecloud_alert_push_destination'],
    ['other_thing', RULE],
  ])('of %s to %s is refused, with what to write', async (from, to) => {
    const reply = await (
      await wired()
    )['MoveResourceState']?.({
      source_provider_address: 'registry.terraform.io/trueup/devicecloud',
      source_type_name: from,
      source_schema_version: 0,
      source_state: { json: Buffer.from('{"id":"1"}') },
      target_type_name: to,
    });
    expect(reply).toEqual({
      diagnostics: [
        expect.objectContaining({ severity: 'ERROR', summary: `${from} cannot become ${to}` }),
      ],
    });
    const { diagnostics } = reply as { diagnostics: [{ detail: string }] };
    expect(diagnostics[0].detail).toMatch(
      new RegExp(
        `removed \\{ from = ${from}\\.NAME \\}.* import \\{ to = ${to}\\.NAME, id = "ID" \\}`,
      ),
    );
  });

  it('of a type to the same one of this provider at another address keeps the object', async () => {
    const world = providerRig({ estate: theirs });
    const { provider } = await world.start();
    const state = await new Core(provider).import(RULE, '22222222-2222-11f0-8000-000000000001');
    const { id: _, ...older } = state;
    const kept = Buffer.from('kept');
    const reply = (await callsOf(provider, () => undefined)['MoveResourceState']?.({
      source_provider_address: 'registry.example.com/acme/devicecloud',
      source_type_name: RULE,
      source_schema_version: 0,
      source_state: { json: Buffer.from(JSON.stringify(older)) },
      source_private: kept,
      target_type_name: RULE,
    })) as { target_state: { msgpack: Uint8Array }; target_private: Buffer; diagnostics: unknown };
    const type = typeOf(provider.schema.resources[RULE]?.attributes ?? []);
    expect(decode(type, { ...reply.target_state, json })).toEqual(state);
    expect(reply).toMatchObject({
      target_private: kept,
      diagnostics: [],
      target_identity: { identity_data: expect.anything() as object },
    });
  });

  it('whose state would be against the schema is an error', async () => {
    const reply = await callsOf(madeUp(), () => undefined)['MoveResourceState']?.({
      source_type_name: 'devicecloud_note',
      source_state: {
        json: Buffer.from(
          '{"id":"1","text":"a","size":null,"tags":null,"lock":{"key_wo":"k","key_wo_version":1}}',
        ),
      },
      target_type_name: 'devicecloud_note',
    });
    expect(reply?.['target_state']).toBeUndefined();
    expect(reply?.['diagnostics']).toHaveLength(1);
  });
});
