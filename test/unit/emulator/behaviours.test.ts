// Each behaviour changes what it names; without it the service is the quiet one of the reference.
import { describe, expect, test } from 'vitest';
import type { Behaviours, Estate } from '../../../src/emulator/index.js';
import type { JsonObject } from '../../../src/model/index.js';
import { rig } from './rig.js';

const destination = '11111111-aaaa-11ef-8000-000000000001';
const rule = '22222222-aaaa-11ef-8000-000000000001';
const estate: Estate = {
  version: 1,
  next_id: 50,
  records: {
    accounts: [
      { id: '1', name: 'Headquarters', account: null },
      { id: '12', name: "O'Brien & <Sons>", account: '1', is_disabled: true },
    ],
    alert_push_destinations: [
      { destination_config_id: destination, name: 'Pager', updated_at: '2025-06-01T10:00:00.000Z' },
    ],
    alert_rules: [
      {
        alert_config_id: rule,
        associated_accounts: [12],
        http_destinations: [destination],
        updated_at: '2025-06-01T10:00:00.000Z',
      },
    ],
    account_authorizations: [{ id: '70', user: '7', account: '12', role: 'no_access' }],
  },
};
const odd = (behaviours: Partial<Behaviours> = {}) => rig({ estate, behaviours });
const accountOf = async (behaviours: Partial<Behaviours>): Promise<JsonObject> =>
  (await odd(behaviours).list('/api/v2/accounts/?id=12'))[0] as JsonObject;
const ruleOf = async (behaviours: Partial<Behaviours>): Promise<JsonObject> =>
  (await odd(behaviours).list('/api/v2/alert_rules/'))[0] as JsonObject;

describe('in what is read', () => {
  test('escape_html', async () => {
    expect((await accountOf({})).name).toBe("O'Brien & <Sons>");
    expect((await accountOf({ escape_html: true })).name).toBe('O&#39;Brien &amp; &lt;Sons&gt;');
  });

  test('offset_timestamps', async () => {
    expect((await ruleOf({})).updated_at).toBe('2025-06-01T10:00:00.000Z');
    expect((await ruleOf({ offset_timestamps: true })).updated_at).toBe(
      '2025-06-01T10:00:00.000+00:00',
    );
  });

  test('shard_origin, in bodies and in next, of both surfaces', async () => {
    const shard_origin = 'https://shard-3.example.com';
    expect((await accountOf({ shard_origin })).account).toBe(
      'https://shard-3.example.com/api/v2/accounts/1/',
    );
    expect(
      (await odd({ shard_origin }).ask('GET', '/api/v2/accounts/?limit=1')).body.meta.next,
    ).toBe('https://shard-3.example.com/api/v2/accounts/?limit=1&offset=1');
    const { data } = (await odd({ shard_origin }).ask('GET', '/api/v3/beta/account_authorizations'))
      .body;
    expect(data[0]?.links).toEqual({
      self: 'https://shard-3.example.com/api/v3/beta/account_authorizations/70',
    });
  });

  test('next_drops_expand', async () => {
    const path = '/api/v2/accounts/?limit=1&expand=account';
    expect((await odd().ask('GET', path)).body.meta.next).toContain('expand=account');
    expect((await odd({ next_drops_expand: true }).ask('GET', path)).body.meta.next).toBe(
      'http://cloud.test/api/v2/accounts/?limit=1&offset=1',
    );
  });

  test('swapped_spellings', async () => {
    expect([(await accountOf({})).id, (await ruleOf({})).associated_accounts]).toEqual([
      '12',
      [12],
    ]);
    expect([
      (await accountOf({ swapped_spellings: true })).id,
      (await ruleOf({ swapped_spellings: true })).associated_accounts,
    ]).toEqual([12, ['12']]);
  });
});

describe('in what is written', () => {
  test('empty_document_is_null', async () => {
    const body = { settings: {} };
    expect((await odd().ask('POST', '/api/v2/alert_rules/', body)).body.settings).toEqual({});
    expect(
      (await odd({ empty_document_is_null: true }).ask('POST', '/api/v2/alert_rules/', body)).body
        .settings,
    ).toBeNull();
  });

  test('closed_choices', async () => {
    const data = {
      type: 'account_authorizations',
      id: '70',
      attributes: { role: 'diagnostic_role' },
    };
    expect(
      (await odd().ask('PUT', '/api/v3/beta/account_authorizations/70', { data })).status,
    ).toBe(200);
    expect(
      (
        await odd({ closed_choices: true }).ask('PUT', '/api/v3/beta/account_authorizations/70', {
          data,
        })
      ).status,
    ).toBe(400);
  });

  test('echo_writes', async () => {
    expect(
      (await odd().ask('PATCH', `/api/v2/alert_rules/${rule}/`, { schedule: 'daily' })).text,
    ).toBe('');
    expect(
      (
        await odd({ echo_writes: true }).ask('PATCH', `/api/v2/alert_rules/${rule}/`, {
          schedule: 'daily',
        })
      ).body.schedule,
    ).toBe('daily');
  });

  test('created_status', async () => {
    expect((await odd().ask('POST', '/api/v2/accounts/', { name: 'A' })).status).toBe(200);
    expect(
      (await odd({ created_status: 201 }).ask('POST', '/api/v2/accounts/', { name: 'A' })).status,
    ).toBe(201);
  });

  test('replacing_put', async () => {
    const below = {
      ...estate,
      records: {
        ...estate.records,
        accounts: [
          ...(estate.records.accounts ?? []),
          { id: '13', name: 'Depot', account: '12', is_disabled: true },
        ],
      },
    };
    const put = async (behaviours: Partial<Behaviours>, body: JsonObject) =>
      (await rig({ estate: below, behaviours }).ask('PUT', '/api/v2/accounts/13/', body)).body;
    const kept = { account: 'http://cloud.test/api/v2/accounts/12/', is_disabled: true };
    expect(await put({}, { name: 'Store' })).toMatchObject({ name: 'Store', ...kept });
    expect(await put({}, { is_disabled: true })).toMatchObject({ name: 'Depot', ...kept });
    expect(await put({ replacing_put: true }, { name: 'Store' })).toMatchObject({
      name: 'Store',
      account: 'http://cloud.test/api/v2/accounts/1/',
      is_disabled: false,
    });
    expect((await put({ replacing_put: true }, { is_disabled: true })).errors).toEqual([
      { path: 'name' },
    ]);
  });

  test('dangling_references', async () => {
    expect(
      (await odd().ask('DELETE', `/api/v2/alert_push_destinations/${destination}/`)).status,
    ).toBe(409);
    const one = odd({ dangling_references: true });
    expect(
      (await one.ask('DELETE', `/api/v2/alert_push_destinations/${destination}/`)).status,
    ).toBe(200);
    expect((await one.list('/api/v2/alert_rules/'))[0]?.http_destinations).toEqual([destination]);
  });
});
