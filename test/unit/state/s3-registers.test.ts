// Registers in S3: what the answers of a server mean.
import { describe, expect, it } from 'vitest';
import { registerKeys } from '../../../src/state/backends/registers/keys.js';
import { probe } from '../../../src/state/backends/registers/probe.js';
import { s3Registers, type S3Options } from '../../../src/state/backends/registers/s3.js';
import { seededRandom, simulatedClock } from '../../support/simulated.js';
import { refusal } from './conformance.js';

type Transport = S3Options['transport'];
type Answer = Awaited<ReturnType<Transport>>;

const error = (status: number, code: string): Answer => ({
  status,
  headers: {},
  body: `<Error><Code>${code}</Code></Error>`,
});

/** A server that keeps conditions. */
function bucket() {
  const values = new Map<string, { readonly body: string; readonly etag: string }>();
  let versions = 0;
  const transport: Transport = async ({ method, url, headers, body = '' }) => {
    const { pathname, searchParams } = new URL(url);
    const found = values.get(pathname);
    if (searchParams.has('list-type')) {
      const names = [...values.keys()].map((key) => decodeURIComponent(key.slice('/b/'.length)));
      const keys = names.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('');
      const page = `<ListBucketResult><IsTruncated>false</IsTruncated>${keys}</ListBucketResult>`;
      return { status: 200, headers: {}, body: page };
    }
    if (method === 'DELETE') {
      values.delete(pathname);
      return { status: 204, headers: {}, body: '' };
    }
    if (method === 'PUT') {
      const isRight =
        headers['if-match'] === undefined ? !found : headers['if-match'] === found?.etag;
      if (!isRight) return error(412, 'PreconditionFailed');
      const etag = `"${(versions += 1)}"`;
      values.set(pathname, { body, etag });
      return { status: 200, headers: { etag }, body: '' };
    }
    if (!found) return error(404, 'NoSuchKey');
    return { status: 200, headers: { etag: found.etag }, body: found.body };
  };
  return { values, transport };
}

const place = (transport: Transport, endpoint = 'https://s3.example.com') => {
  const [clock, random] = [simulatedClock(), seededRandom(1)];
  const registers = s3Registers({
    url: new URL(`s3://b/p?endpoint=${endpoint}`),
    region: 'us-east-1',
    credentials: async () => ({ accessKeyId: 'id', secretAccessKey: 'key' }),
    transport,
    clock,
    random,
  });
  return { registers, clock, random, keys: registerKeys('default') };
};

describe('a place in S3', () => {
  it('has the same location on another server, and another endpoint without credentials', () => {
    const { transport } = bucket();
    const [one, other] = ['https://user:key@s3.example.com', 'https://s3.example.org/x'].map(
      (endpoint) => place(transport, endpoint).registers,
    );
    expect([one!.location, other!.location]).toEqual(['s3://b/p', 's3://b/p']);
    expect(one!.endpoint).toBe('https://s3.example.com/b/');
    expect(other!.endpoint).toBe('https://s3.example.org/x/b/');
  });

  it('is said to give no response where a request is given up', async () => {
    const transport: Transport = async () => {
      throw Object.assign(new Error('given up'), { code: 'aborted' });
    };
    const { code, words } = await refusal(place(transport).registers.get('key'));
    expect(code).toBe('backend-unreachable');
    expect(words).toContain('cannot be reached: it gave no response within 30 s');
  });

  it('is fit if it keeps conditions', async () => {
    const { values, transport } = bucket();
    await probe(place(transport));
    expect([...values.keys()]).toEqual([]);
  });

  it.each<[title: string, isUnknown: (headers: Readonly<Record<string, string>>) => boolean]>([
    ['If-None-Match', (headers) => headers['if-none-match'] !== undefined],
    ['If-Match', (headers) => headers['if-match'] !== undefined],
    [
      'the conditions of writes that fail',
      (() => {
        let puts = 0;
        return (headers) =>
          (headers['if-match'] ?? headers['if-none-match']) !== undefined && (puts += 1) > 2;
      })(),
    ],
  ])('is unfit if its server does not know %s', async (_, isUnknown) => {
    const { values, transport } = bucket();
    const unknowing: Transport = async (request) =>
      isUnknown(request.headers) ? error(501, 'NotImplemented') : transport(request);
    const { code, words } = await refusal(probe(place(unknowing)));
    expect(code).toBe('backend-cannot-lock');
    expect(words).toContain('it does not support conditional writes: NotImplemented, status 501');
    expect([...values.keys()]).toEqual([]);
  });
});
