// The request of each verb, and what becomes of it: every outcome has its class, and no write is sent twice blindly.
import { describe, expect, it } from 'vitest';
import { TransportError, type HttpResponse } from '../../../src/client/index.js';
import {
  Reference,
  Secret,
  type CloudWriter,
  type Live,
  type OutcomeClass,
  type Values,
  type Write,
} from '../../../src/model/index.js';
import { kinds } from '../../../src/resources/index.js';
import { breaks, encodings } from '../../support/encodings.js';
import {
  bench,
  json,
  lost,
  never,
  refusal,
  refused,
  script,
  secret,
  v2Headers,
  type Bench,
} from './fake-cloud.js';

const rules = kinds.get('alert_rules')!;
const accounts = kinds.get('accounts')!;
const destinations = kinds.get('alert_push_destinations')!;
const authorizations = kinds.get('account_authorizations')!;

const live: Live = {
  id: 'au 1',
  values: { id: 'au 1', user: '77', account: '5', role: 'no_access' },
  raw: {
    type: 'account_authorizations',
    id: 'au 1',
    attributes: { role: 'no_access', stranger: { kept: [1] } },
    relationships: {
      user: { data: { type: 'users', id: '77' }, links: { related: '/u' } },
      account: { data: { type: 'accounts', id: '5' } },
    },
    links: { self: '/self' },
    meta: { not: 'sent' },
  },
};

describe('composing', () => {
  const { cloud, asked } = bench(() => json({}));
  const id = '6e7f2a10-0000-11f0-8000-000000000001';
  const pager = new Secret('env.PAGER_SECRET', () => 'sesame');
  const later = new Reference('declared', 'accounts.hq', 'id');

  it.each<[string, ReturnType<typeof kinds.get>, Write, unknown]>([
    [
      'creates a rule with integers where they travel as such',
      rules,
      {
        verb: 'create',
        fields: { associated_accounts: ['12', '9'], http_destinations: [id], schedule: null },
      },
      {
        method: 'POST',
        path: '/api/v2/alert_rules/',
        body: { associated_accounts: [12, 9], http_destinations: [id], schedule: null },
      },
    ],
    [
      'changes only what is given',
      rules,
      { verb: 'update', id, fields: { schedule: 'daily' } },
      { method: 'PATCH', path: `/api/v2/alert_rules/${id}/`, body: { schedule: 'daily' } },
    ],
    [
      'deletes without a body',
      rules,
      { verb: 'delete', id, fields: {} },
      { method: 'DELETE', path: `/api/v2/alert_rules/${id}/` },
    ],
    [
      'replaces an account',
      accounts,
      { verb: 'update', id: '7', fields: { name: 'n', account: '1' } },
      { method: 'PUT', path: '/api/v2/accounts/7/', body: { name: 'n', account: '1' } },
    ],
    [
      'leaves references and secrets as they are',
      destinations,
      { verb: 'create', fields: { authentication: { secret: pager }, name: later } },
      {
        method: 'POST',
        path: '/api/v2/alert_push_destinations/',
        body: { authentication: { secret: pager }, name: later },
      },
    ],
    [
      'keeps identifiers inside their path segment',
      rules,
      { verb: 'delete', id: 'a/../b c', fields: {} },
      { method: 'DELETE', path: '/api/v2/alert_rules/a%2F..%2Fb%20c/' },
    ],
    [
      'sends the whole v3 resource back, with the role changed',
      authorizations,
      {
        verb: 'update',
        id: 'au 1',
        fields: { role: 'administrator', user: '77', account: '5' },
        live,
      },
      {
        method: 'PUT',
        path: '/api/v3/beta/account_authorizations/au%201',
        body: {
          data: {
            type: 'account_authorizations',
            id: 'au 1',
            attributes: { role: 'administrator', stranger: { kept: [1] } },
            relationships: {
              user: { data: { type: 'users', id: '77' }, links: { related: '/u' } },
              account: { data: { type: 'accounts', id: '5' } },
            },
            links: { self: '/self' },
          },
        },
      },
    ],
  ])('%s', (_, kind, write, request) => {
    expect(cloud.compose(kind!, write)).toEqual(request);
    expect(asked).toEqual([]);
  });

  it.each(['..', '.', ''])('refuses the identifier %j, which would be another path', (id) => {
    expect(() => cloud.compose(rules, { verb: 'delete', id, fields: {} })).toThrow(
      'is not an identifier',
    );
    expect(() => cloud.compose(authorizations, { verb: 'update', id, fields: {}, live })).toThrow(
      'is not an identifier',
    );
  });

  it('puts the path of the base address first', () => {
    const other = bench(() => json({}), {
      v2: { url: 'https://api.example.com/tenant/api/v2/', headers: v2Headers },
      v3: { url: 'https://api.example.com/tenant/', token: secret('t', 'x') },
    });
    expect(other.cloud.compose(rules, { verb: 'delete', id: 'a', fields: {} }).path).toBe(
      '/tenant/api/v2/alert_rules/a/',
    );
    expect(
      other.cloud.compose(authorizations, { verb: 'update', id: 'a', fields: {}, live }).path,
    ).toBe('/tenant/api/v3/beta/account_authorizations/a');
    expect(other.cloud.target).toBe(
      'https://api.example.com/tenant/api/v2 https://api.example.com/tenant',
    );
  });

  it('refuses a mask, wherever it came from', async () => {
    const write: Write = {
      verb: 'update',
      id: '30',
      fields: { configuration: [{ wlan: { list: [{ psk: '***' }] } }, []] },
    };
    const promise = Promise.resolve().then(() =>
      cloud.compose(kinds.get('configuration_managers')!, write),
    );
    expect((await refusal(promise)).text).toMatch(/wlan\.list\.0\.psk is a mask.*secret\.env/);
  });

  it('refuses an identifier that would lose digits', async () => {
    const promise = Promise.resolve().then(() =>
      cloud.compose(rules, {
        verb: 'create',
        fields: { associated_accounts: ['90071992547409930'] },
      }),
    );
    expect((await refusal(promise)).text).toMatch(/90071992547409930/);
  });

  it('refuses an address that must never be sent, unless the live object has it', async () => {
    const url = 'https://user:hunter2@hooks.example.com/';
    const write: Write = { verb: 'update', id: 'd1', fields: { endpoint: { url } } };
    const promise = Promise.resolve().then(() => cloud.compose(destinations, write));
    expect((await refusal(promise)).text).toBe(
      'alert_push_destinations: `endpoint.url` holds a user name or a password Deliveries are signed with the secret of `authentication`. Write the address without the part before the @.',
    );
    expect(
      cloud.compose(destinations, { ...write, live: { id: 'd1', values: { endpoint: { url } } } })
        .body,
    ).toEqual({ endpoint: { url } });
  });

  it('has no verb that the kind has not', () => {
    expect(() => cloud.compose(authorizations, { verb: 'create', fields: {} })).toThrow(
      /cannot create/,
    );
  });
});

const fields: Values = {
  name: "O'Brien & Sons",
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/' },
  authentication: { secret: new Secret('env.PAGER_SECRET', () => 'sesame') },
};
const create: Write = { verb: 'create', fields };
const echo = (more: object = {}) => ({
  destination_config_id: 'd1',
  name: 'O&#39;Brien &amp; Sons',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/' },
  authentication: { secret: '*' },
  ...more,
});
const send = ({ cloud }: { readonly cloud: CloudWriter }, write = create) =>
  cloud.send(destinations, cloud.compose(destinations, write), write);
const change: Write = { verb: 'update', id: 'd1', fields: { enabled: false } };
const remove: Write = { verb: 'delete', id: 'd1', fields: {} };

describe('sending a create', () => {
  it('reveals the secret in the body alone, and takes the echo as proof', async () => {
    const desk = bench(() => json(echo(), 201));
    const { class: outcome, live: made, diagnostic } = await send(desk);
    expect([outcome, diagnostic]).toEqual(['applied', undefined]);
    expect(made).toMatchObject({ id: 'd1', values: { name: 'O&#39;Brien &amp; Sons' } });
    const [request] = desk.asked;
    expect(request).toMatchObject({
      method: 'POST',
      url: 'http://127.0.0.1:9/api/v2/alert_push_destinations/',
    });
    expect(request!.headers).toMatchObject({
      'content-type': 'application/json',
      'X-VND-API-ID': 'vnd-id-1',
    });
    expect(JSON.parse(request!.body!)).toEqual({
      name: "O'Brien & Sons",
      enabled: true,
      endpoint: { url: 'https://hooks.example.com/' },
      authentication: { secret: 'sesame' },
    });
  });

  it.each<[string, HttpResponse, OutcomeClass]>([
    ['an answer that lacks fields', json({ destination_config_id: 'd1' }, 200), 'applied'],
    ['an id alone as a number', json({ destination_config_id: 7 }, 202), 'applied'],
    ['no body', json('', 204), 'unknown'],
    ['no id', json({ name: 'x' }, 201), 'unknown'],
    ['an empty id', json(echo({ destination_config_id: '' }), 201), 'unknown'],
    [
      'an id that is an address',
      json(echo({ destination_config_id: 'https://x.example/1/' }), 201),
      'unknown',
    ],
    ['another name', json(echo({ name: 'Other' }), 201), 'unknown'],
    ['another address', json(echo({ endpoint: { url: 'https://evil.example/' } }), 201), 'unknown'],
    ['truncated JSON', json(JSON.stringify(echo()).slice(0, -2), 201), 'unknown'],
    ['a web page', json('<html>', 200, { 'content-type': 'text/html' }), 'unknown'],
    ['a list', json([echo()], 200), 'unknown'],
    ['a partial answer', json(echo(), 206), 'unknown'],
  ])('judges success with %s', async (_, answer, outcome) => {
    const desk = bench(() => answer);
    const sent = await send(desk);
    expect(sent.class).toBe(outcome);
    // The id of an object that is not as it was sent: recovery looks whether it is new.
    const isOther = (sent.diagnostic?.summary ?? '').includes('another');
    expect(sent.live !== undefined).toBe(outcome === 'applied' || isOther);
    expect(sent.diagnostic !== undefined).toBe(outcome !== 'applied');
    expect(desk.asked).toHaveLength(1);
  });
});

describe('the class of a status', () => {
  const table: readonly (readonly [readonly number[], OutcomeClass, number])[] = [
    [[400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422], 'rejected', 1],
    [[429], 'rejected', 3],
    [[408, 425, 500, 501, 502, 503, 504, 599], 'unknown', 1],
    [[300, 301, 302, 303, 307, 308], 'unknown', 1],
    [[402, 418, 203, 206], 'unknown', 1],
  ];
  const rows = table.flatMap(([statuses, outcome, times]) =>
    statuses.flatMap((status) =>
      [create, change, remove].map((write) => [status, write.verb, outcome, times, write] as const),
    ),
  );
  it.each(rows)('%i for a %s is %s after %i', async (status, _, outcome, times, write) => {
    const desk = bench(() => json('', status, { location: 'https://evil.example/' }));
    const sent = await send(desk, write);
    expect(sent.class).toBe(outcome);
    expect(sent.diagnostic?.summary).toContain(String(status));
    expect(desk.asked).toHaveLength(times);
  });

  it.each<[string, string, Partial<Write>, boolean]>([
    [
      'a document',
      'configuration_managers',
      { patch: true, fields: { configuration: [{}] } },
      true,
    ],
    ['a whole document', 'configuration_managers', { fields: { configuration: [{}] } }, false],
    ['another attribute', 'groups', { patch: true, fields: { name: 'G' } }, false],
  ])('405 leads to the setting that asks for the PATCH: %s', async (_, name, more, isNamed) => {
    const { cloud } = bench(() => json('', 405));
    const kind = kinds.get(name)!;
    const write: Write = { verb: 'update', id: '7', fields: {}, ...more };
    const sent = await cloud.send(kind, cloud.compose(kind, write), write);
    expect(sent.diagnostic?.code).toBe('rejected');
    expect((sent.diagnostic?.detail ?? '').includes('configuration_writes: patch')).toBe(isNamed);
  });

  const jsonApi = { 'content-type': 'application/vnd.api+json; charset=utf-8' };
  it.each<[string, HttpResponse, OutcomeClass]>([
    ['an empty body', json(' ', 429), 'rejected'],
    ['an exception', json({ exception: { type: 'x' } }, 429), 'rejected'],
    ['errors', json({ errors: [] }, 429), 'rejected'],
    ['a message', json({ message: 'slow down' }, 429), 'rejected'],
    ['an error message', json({ error_message: 'slow down' }, 429), 'rejected'],
    ['short JSON:API', json({ meta: 'x'.repeat(1000) }, 429, jsonApi), 'rejected'],
    ['long JSON:API', json({ meta: 'x'.repeat(1024) }, 429, jsonApi), 'unknown'],
    [
      'long JSON:API with errors',
      json({ errors: [{ detail: 'x'.repeat(1024) }] }, 429, jsonApi),
      'rejected',
    ],
    ['another object', json({ data: {} }, 429), 'unknown'],
    ['a list', json([{ message: 'slow down' }], 429), 'unknown'],
    ['a text in JSON', json('"message"', 429), 'unknown'],
    ['plain text', json('Too many requests', 429, { 'content-type': 'text/plain' }), 'unknown'],
    ['a web page', json('<html>', 429, { 'content-type': 'text/html' }), 'unknown'],
    ['half an object', json('{"message": "slow', 429), 'unknown'],
  ])('429 with %s, for a create', async (_, answer, outcome) => {
    const desk = bench(() => answer);
    expect((await send(desk, create)).class).toBe(outcome);
    expect(desk.asked).toHaveLength(outcome === 'rejected' ? 3 : 1);
    expect(
      (
        await send(
          bench(() => answer),
          change,
        )
      ).class,
    ).toBe('rejected');
  });

  it.each([
    ['PATCH', change, json('', 200)],
    ['PATCH', change, json({ anything: 1 }, 202)],
    ['DELETE', remove, json('', 204)],
    ['DELETE', remove, { status: 200, headers: {}, body: '' }],
  ])('%s needs no body to be applied', async (_, write, answer) => {
    expect(
      await send(
        bench(() => answer),
        write,
      ),
    ).toEqual({ class: 'applied' });
  });

  it.each([
    ['a web page', json('<html>', 200, { 'content-type': 'text/html' })],
    ['half a body', json('{"destination_config_id": "d', 200)],
  ])('a change answered by %s is unknown', async (_, answer) => {
    expect(
      (
        await send(
          bench(() => answer),
          change,
        )
      ).class,
    ).toBe('unknown');
  });

  it('names a delete of what is not there', async () => {
    expect(
      await send(
        bench(() => json('', 404)),
        remove,
      ),
    ).toMatchObject({ class: 'rejected', diagnostic: { code: 'not-found' } });
  });
});

describe('the network', () => {
  it.each([
    [
      'never sent: again, up to three attempts',
      script(refused, refused, json(echo())),
      'applied',
      3,
    ],
    ['never sent at all', script(refused), 'not_sent', 3],
    ['lost after bytes left: never again', script(lost, json(echo())), 'unknown', 1],
    ['refused, then lost', script(refused, lost, json(echo())), 'unknown', 2],
    ['slowed down, then done', script(json('', 429), json(echo())), 'applied', 2],
  ])('%s', async (_, answer, outcome, times) => {
    const desk = bench(answer);
    expect((await send(desk)).class).toBe(outcome);
    expect(desk.asked).toHaveLength(times);
    expect(desk.cloud.cost()).toEqual({ alert_push_destinations: times });
  });

  it('gives up at the deadline, and does not know then', async () => {
    const desk = bench(({ signal }) => never(signal), { deadlineSeconds: 7 });
    const sent = await send(desk);
    expect(sent).toMatchObject({ class: 'unknown', diagnostic: { code: 'timeout' } });
    expect(desk.clock.elapsed()).toBe(7000);
    expect(desk.asked).toHaveLength(1);
  });

  it('takes an error of another class by its shape', async () => {
    const reset = Object.assign(new Error('reset'), { sent: true });
    expect((await send(bench(() => Promise.reject(reset)))).class).toBe('unknown');
    expect(
      (await send(bench(() => Promise.reject(Object.assign(new Error('reset'), { sent: false })))))
        .class,
    ).toBe('not_sent');
  });

  const strangers =
    '{"whole":12345678901234567890123,"below":[-9007199254740993,{"deep":1e999}],"decimal":0.12345678901234567890,"plain":[1,-2.5,9007199254740991,"9007199254740993"],"quoted":"1, 12345678901234567890, \\" {"}';

  it('sends back every number of somebody else with all its digits', async () => {
    const record = `{"type":"account_authorizations","id":"au","attributes":{"role":"no_access","stranger":${strangers}},"relationships":{}}`;
    const page = {
      status: 200,
      headers: { 'content-type': 'application/vnd.api+json' },
      body: `{"data":[${record}],"links":{"next":null}}`,
    };
    const desk = bench(script(page, json({ data: { id: 'au' } })));
    const [found] = (await desk.cloud.list(authorizations)).objects;
    const write: Write = {
      verb: 'update',
      id: 'au',
      fields: { role: 'administrator' },
      ...(found && { live: found }),
    };
    await desk.cloud.send(authorizations, desk.cloud.compose(authorizations, write), write);
    expect(desk.asked.at(-1)?.body).toBe(
      `{"data":${record.replace('no_access', 'administrator')}}`,
    );
  });

  it('sends back members of an object that nobody declared with all their digits', async () => {
    const desk = bench(
      script(
        {
          status: 200,
          headers: {},
          body: `{"data":[{"destination_config_id":"d","endpoint":{"url":"https://a.example/","stranger":${strangers}}}],"meta":{"next":null}}`,
        },
        json({}),
      ),
    );
    const [found] = (await desk.cloud.list(destinations)).objects;
    const fields = {
      endpoint: { ...(found?.values['endpoint'] as Values), url: 'https://b.example/' },
    };
    const write: Write = { verb: 'update', id: 'd', fields };
    await desk.cloud.send(destinations, desk.cloud.compose(destinations, write), write);
    expect(desk.asked.at(-1)?.body).toBe(
      `{"endpoint":{"url":"https://b.example/","stranger":${strangers}}}`,
    );
  });

  it('takes no text of a listing for such a number', async () => {
    const desk = bench(() => ({
      status: 200,
      headers: {},
      body: '{"data":[{"id":"7","name":"\\u00001","x":12345678901234567890}],"meta":{"next":null}}',
    }));
    expect(await desk.cloud.list(accounts)).toMatchObject({
      objects: [{ id: '7', values: { name: '\u00001' } }],
    });
  });

  it('lets v3 slow down with a 409 that gives no errors, and takes one with errors for a refusal', async () => {
    const write: Write = { verb: 'update', id: 'au 1', fields: { role: 'administrator' }, live };
    const v3 = (desk: Bench) =>
      desk.cloud.send(authorizations, desk.cloud.compose(authorizations, write), write);
    const slowed = bench(script(json({}, 409), json('', 409), json({ data: {} })));
    expect((await v3(slowed)).class).toBe('applied');
    expect(slowed.asked).toHaveLength(3);
    const invalid = bench(() =>
      json(
        {
          errors: [
            {
              title: 'Conflict',
              detail: 'role is not known',
              source: { pointer: '/data/attributes/role' },
            },
          ],
        },
        409,
      ),
    );
    expect(await v3(invalid)).toMatchObject({
      class: 'rejected',
      diagnostic: {
        summary: expect.stringContaining('/data/attributes/role: role is not known') as string,
      },
    });
    expect(invalid.asked).toHaveLength(1);
    const two = bench(() => json({}, 409));
    expect((await send(two)).class).toBe('rejected');
    expect(two.asked).toHaveLength(1);
  });

  it('sends nothing new once interrupted, and lets what has begun end', async () => {
    const late = bench(() => json(echo()));
    late.stop.abort(new Error('SIGINT'));
    expect(await send(late)).toMatchObject({
      class: 'not_sent',
      diagnostic: { code: 'interrupted' },
    });
    expect(late.asked).toEqual([]);
    const during = bench(() => {
      during.stop.abort(new Error('SIGINT'));
      return json(echo());
    });
    expect((await send(during)).class).toBe('applied');
    const waiting = bench(() => {
      waiting.stop.abort(new Error('SIGINT'));
      return json('', 429, { 'retry-after': '60' });
    });
    expect((await send(waiting)).class).toBe('rejected');
    expect([waiting.asked.length, waiting.clock.elapsed()]).toEqual([1, 0]);
  });

  it('ends what has begun when its time is over, and nothing beside it', async () => {
    const time = new AbortController();
    const desk = bench(({ signal, method }) => (method === 'PATCH' ? json({}) : never(signal)));
    const hurried = { cloud: desk.cloud.within(time.signal) };
    const [sent, read] = [send(hurried), refusal(hurried.cloud.list(rules))];
    const patient = desk.cloud.pause(1, 5000);
    await new Promise((resolve) => setImmediate(resolve));
    time.abort();
    expect(await sent).toMatchObject({ class: 'unknown', diagnostic: { code: 'interrupted' } });
    expect(await read).toMatchObject({ code: 'interrupted' });
    expect([desk.clock.elapsed(), await hurried.cloud.pause(1, 5000), await patient]).toEqual([
      0,
      false,
      true,
    ]);
    const asked = desk.asked.length;
    expect(await send(hurried)).toMatchObject({
      class: 'not_sent',
      diagnostic: { code: 'interrupted' },
    });
    expect(desk.asked).toHaveLength(asked);
    expect(await send(desk, change)).toMatchObject({ class: 'applied' });
  });

  it('lets what has begun end when the run is interrupted, however long its own time is', async () => {
    const desk = bench(async ({ signal }) => {
      desk.stop.abort(new Error('SIGINT'));
      return signal.aborted ? lost() : json(echo());
    });
    const hurried = { cloud: desk.cloud.within(new AbortController().signal) };
    expect((await send(hurried)).class).toBe('applied');
    expect(await send(hurried)).toMatchObject({
      class: 'not_sent',
      diagnostic: { code: 'interrupted' },
    });
  });

  it('throws what is a bug', async () => {
    await expect(send(bench(() => Promise.reject(new TypeError('bug'))))).rejects.toThrow('bug');
    const desk = bench(() => json({}));
    await expect(
      desk.cloud.send(
        rules,
        { method: 'POST', path: '/', body: { schedule: new Reference('declared', 'a.b', 'c') } },
        create,
      ),
    ).rejects.toThrow(/not filled/);
    expect(desk.asked).toEqual([]);
  });

  it('does not send without the value of a secret, and says which', async () => {
    const desk = bench(() => json(echo()));
    const write: Write = {
      verb: 'create',
      fields: { authentication: { secret: secret('env.PAGER_SECRET', undefined) } },
    };
    expect(await send(desk, write)).toMatchObject({
      class: 'not_sent',
      diagnostic: {
        code: 'secret-missing',
        summary: expect.stringContaining('env.PAGER_SECRET') as string,
      },
    });
    expect(desk.asked).toEqual([]);
  });
});

describe('what the server says', () => {
  const summary = async (body: unknown, headers = {}) =>
    (await send(bench(() => json(body, 400, headers)))).diagnostic!.summary;

  it.each([
    [
      'both parts of a v2 error',
      {
        exception: { type: 'error', message: 'name is wrong' },
        errors: [{ path: 'name' }, { path: 'endpoint.url', message: 'no' }],
      },
      '400: name is wrong; endpoint.url: no',
    ],
    ['a v2 exception in plain text', { exception: 'Invalid key' }, '400: Invalid key'],
    [
      'errors of JSON:API',
      {
        errors: [
          { status: '400', title: 'Bad', detail: 'Very bad' },
          { title: 'Worse', source: { parameter: 'page[size]' } },
        ],
      },
      '400: Very bad; page[size]: Worse',
    ],
    ['escaped text', { exception: 'O&#39;Brien &lt;b&gt;' }, "400: O'Brien <b>"],
    ['hostile text', { exception: 'a\u001b[31mb\u202ec\nd\u0000' }, '400: a [31mb c d'],
    [
      'a code and a message',
      { exception: 'E17', message: 'name is taken' },
      '400: E17: name is taken',
    ],
    ['a message alone', { message: 'name is taken' }, '400: name is taken'],
    ['an error_message', { error_message: 'name is taken' }, '400: name is taken'],
    [
      'errors by field',
      {
        errors: { name: ['is taken', 'is long'], account: 'is none', owner: { detail: 'is gone' } },
      },
      '400: name: is taken, is long; account: is none; owner: is gone',
    ],
    ['errors as one text', { errors: 'name is taken' }, '400: name is taken'],
    [
      'a problem',
      { type: 'about:blank', title: 'Bad Request', detail: 'name is taken', status: 400 },
      '400: Bad Request: name is taken',
    ],
    [
      'a list of errors without more',
      ['name is taken', { message: 'try another' }],
      '400: name is taken; try another',
    ],
    ['a JSON text', '"name is taken"', '400: name is taken'],
    ['half a JSON document, which may be data', '{"name": "O', 'returned 400'],
    ['nothing at all', '', 'returned 400'],
    ['something absurd', { exception: { message: { deep: 1 } }, errors: [7, null, 'x'] }, '400: x'],
    [
      'a code and a description',
      { error: 'boom', error_description: 'the quota is used up' },
      '400: error: boom; error_description: the quota is used up',
    ],
    ['fields alone', { name: ['is taken', 'is long'] }, '400: name: is taken; name: is long'],
    ['fields by kind', { accounts: { name: ['is taken'] } }, '400: accounts.name: is taken'],
    [
      'fields in an error_message',
      { error_message: { name: ['is taken'] } },
      '400: error_message.name: is taken',
    ],
    [
      'fields in an exception',
      { exception: { type: 'error', message: { name: ['is taken'] } } },
      '400: exception.type: error; exception.message.name: is taken',
    ],
    [
      'fields below errors',
      { errors: { endpoint: { url: ['is none'] }, name: [] } },
      '400: endpoint.url: is none; name',
    ],
    ['fields in a list', [{ name: ['is taken'] }], '400: name: is taken'],
    [
      'fields that are named as secrets, by their names',
      { authentication: { 'api-key': 'K-7', token: { old: ['K-8'] } }, url: 'is none' },
      '400: authentication.api-key: ***; authentication.token.old: ***; url: is none',
    ],
    [
      'the first ten of very many texts',
      { all: Array.from({ length: 1000 }, (_, index) => ({ n: `no ${index}` })) },
      'all.n: no 8; all.n: no 9',
    ],
    [
      'nothing of texts that are too deep',
      `${'['.repeat(5000)}"x"${']'.repeat(5000)}`,
      'returned 400',
    ],
  ])('is shown: %s', async (_, body, words) => {
    const text = await summary(body);
    expect(text.endsWith(words)).toBe(true);
  });

  it.each([
    ['plain text', 'text/plain', 'name is\n  taken', '400: name is taken'],
    ['text of no type', '', 'name is taken', '400: name is taken'],
    [
      'a page',
      'text/html; charset=utf-8',
      '<!DOCTYPE html><html><head><title>Oops</title><style>p > b { color: red }</style><script>if (a < b) alert("x")</script></head><!-- <b>none</b> --><body><h1>502</h1><p>No &lt;gate&gt;&nbsp;here</p></body>',
      '400: 502 No <gate> here',
    ],
    [
      'a page with nothing but a title',
      'text/html',
      '<html><head><title>502 Bad Gateway</title></head></html>',
      '400: 502 Bad Gateway',
    ],
    [
      'a page that says it is JSON',
      'application/json',
      '<html><body>No gateway</body></html>',
      '400: No gateway',
    ],
    ['a page that never ends its comment', 'text/html', 'before<!-- after', '400: before'],
    ['a page of opened tags', 'text/html', `${'<'.repeat(50_000)}b>end`, '…'],
    [
      'a page that shows a secret',
      'text/html',
      '<p>key mgr-key-1, <b>mgr&#45;key&#45;1</b></p>',
      '400: key ***, ***',
    ],
  ])('is shown: %s', async (_, type, body, words) => {
    const text = await summary(body, { 'content-type': type });
    expect(text.slice(-words.length)).toBe(words);
  });

  it('is cut when it is long', async () => {
    expect((await summary({ exception: 'x'.repeat(100_000) })).length).toBeLessThan(700);
  });

  it.each(['sesame', 'mgr-key-1', 'vnd-key-1'])(
    'never shows %s, however it is echoed',
    async (value) => {
      for (const spelling of [
        value,
        value.replaceAll('-', '&#45;'),
        `${'y'.repeat(495)}${value}`,
        value.replaceAll('e', '\u200be').replaceAll('\u200b', ''),
      ])
        expect(
          await summary({ exception: { message: `got ${spelling}.` }, errors: [{ path: value }] }),
        ).not.toContain(value);
    },
  );

  /** What is said where a secret was sent and the answer repeats it. */
  const repeated = async (value: string, answer: () => HttpResponse): Promise<string> => {
    const desk = bench(answer);
    const write: Write = {
      verb: 'create',
      fields: { name: 'p', authentication: { secret: new Secret('env.S', () => value) } },
    };
    const request = desk.cloud.compose(destinations, write);
    return (await desk.cloud.send(destinations, request, write)).diagnostic!.summary;
  };

  it.each([
    ...Object.entries(encodings).map(([name, echo]) => [name, 'q"u\\o &té', echo] as const),
    // A short one is not looked for inside what was encoded with it.
    ...Object.entries(encodings)
      .filter(([name]) => !/after a user|in the middle/.test(name))
      .map(([name, echo]) => [name, '</é"\'', echo] as const),
  ])('never shows a secret that is echoed in %s: %s', async (_, value, echo) => {
    const said = await repeated(value, () =>
      json({ exception: { message: `got ${echo(value)}.` } }, 400),
    );
    expect(said).toContain('got ');
    expect(said).not.toContain(echo(value));
    expect(said).toContain('***');
  });

  it.each(
    Object.entries(breaks).flatMap(([name, broken]) =>
      ['text/plain', 'text/html', 'application/json'].map((type) => [name, type, broken] as const),
    ),
  )('never shows a line of a secret with %s, in %s', async (_, type, broken) => {
    const lines = ['-----BEGIN KEY-----', 'abcdefghijklmnop', 'qrstu=', '-----END KEY-----'];
    const value = `${lines.join('\n')}\n`;
    const text = broken(value);
    const body = {
      'text/plain': text,
      'text/html': `<html><pre>${text}</pre></html>`,
      'application/json': { message: text },
    }[type];
    const said = await repeated(value, () => json(body, 400, { 'content-type': type }));
    expect(said).toContain('***');
    for (const line of lines.filter(({ length }) => length >= 8)) expect(said).not.toContain(line);
  });

  it('never shows part of a secret at the cut', async () => {
    expect(await summary({ exception: `${'y'.repeat(497)}sesame` })).not.toContain('yse');
  });

  it('is not shown for a transport either', async () => {
    const desk = bench(() =>
      Promise.reject(new TransportError('bad header sesame', { sent: false, code: 'X' })),
    );
    expect((await send(desk)).diagnostic!.summary).not.toContain('sesame');
  });
});
