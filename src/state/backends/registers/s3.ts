// Registers as objects of an S3 bucket. If-None-Match and If-Match are the conditions; ETags are the versions, and are
// unlike each other because bodies are.
import { Buffer } from 'node:buffer';
import { AwsV4Signer } from 'aws4fetch';
import { defined, forEachLimited, refuse, sha256, urlFrom } from '../../../model/index.js';
import { refuseAddress } from '../../state-address.js';
import { refuseDenied, refuseUnfit, refuseUnreachable } from '../backend-errors.js';
import type { Put, Registers } from './port.js';
import { asFailure, isPassing, REQUEST_TIMEOUT, retried, type Pauses } from '../retried.js';
import { listedKeys } from './s3-listing.js';

/** The status for a header or a request that a server does not know. */
const UNKNOWN_REQUEST = 501;
/** Removals at once, where the server removes one key a request. */
const AT_ONCE = 16;
/** Keys of one DeleteObjects request. Source: Amazon S3 API reference. */
const MOST_KEYS = 1000;

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface S3Response {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const RIGHTS =
  'To read, a user needs s3:GetObject and s3:ListBucket; to write, s3:PutObject and s3:DeleteObject as well.';

export interface S3Options extends Pauses {
  /** `s3://bucket/prefix?region=&endpoint=&style=` */
  readonly url: URL;
  readonly region: string;
  /** Asked before each request, because they may expire. @throws Refusal */
  readonly credentials: () => Promise<S3Credentials>;
  /** Never follows a redirect, never asks twice. */
  readonly transport: (request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal: AbortSignal;
  }) => Promise<S3Response>;
}

/** The origin of all requests, and the address of the bucket. An `endpoint` has the bucket in its path, unless `style=virtual`. @throws Refusal */
export function bucketAddress(url: URL, region: string): URL {
  const bucket = url.host;
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint === null)
    return (
      urlFrom(`https://${bucket}.s3.${region}.amazonaws.com/`) ??
      refuseAddress('names no bucket, or the region is none')
    );
  const address = new URL(endpoint);
  if (url.searchParams.get('style') === 'virtual') address.host = `${bucket}.${address.host}`;
  else address.pathname = `${address.pathname.replace(/\/$/, '')}/${bucket}/`;
  return address;
}

/** Keys below it are those of the backend. */
const folderOf = ({ pathname }: URL): string =>
  decodeURIComponent(pathname).replace(/^\/|\/$/g, '');

/** Signed requests to one bucket, and the meaning of their responses. */
function s3Client(options: S3Options) {
  const { url, region, credentials, transport, clock } = options;
  const address = bucketAddress(url, region);
  const folder = folderOf(url);
  const location = `s3://${url.host}${folder === '' ? '' : `/${folder}`}`;

  const send = async (
    method: string,
    path: string,
    { query = '', headers = {}, body }: SendOptions = {},
  ): Promise<S3Response> => {
    const target = new URL(address);
    target.pathname += path.split('/').map(encodeURIComponent).join('/');
    target.search = query;
    const hash = sha256(body ?? '');
    const signed = await new AwsV4Signer({
      ...(await credentials()),
      method,
      url: target.href,
      headers: { ...headers, 'x-amz-content-sha256': hash },
      service: 's3',
      region,
      datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    }).sign();
    return transport({
      method,
      url: signed.url.href,
      headers: Object.fromEntries(signed.headers),
      ...defined({ body }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT),
    });
  };

  /** A request that changes nothing. */
  const ask = (method: string, path: string, more?: SendOptions): Promise<S3Response> =>
    retried(options, location, async () => {
      const response = await send(method, path, more).catch(asFailure);
      if ('failure' in response) return response;
      return isPassing(response)
        ? { failure: `it responds with status ${response.status}` }
        : { found: explained(response, 'read') };
    });

  const explained = (response: S3Response, what: string): S3Response => {
    const { status } = response;
    const code = codeOf(response);
    const why = reasonOf(response);
    if (status === 401 || status === 403) refuseDenied(location, what, why, RIGHTS);
    if (status < 300 || status === 412 || (status === 404 && code !== 'NoSuchBucket'))
      return response;
    return refuse('backend-error', `the state at ${location} cannot be used: ${why}`, {
      detail:
        status < 400
          ? 'The bucket is in another region: name it, as in s3://bucket/prefix?region=eu-west-1'
          : 'Check bucket, region and endpoint of the address: settings.state, TRUEUP_STATE',
    });
  };
  return { location, endpoint: address.origin + address.pathname, send, ask, explained };
}

export function s3Registers(options: S3Options): Registers {
  const client = s3Client(options);
  const { location, endpoint, ask } = client;
  const folder = folderOf(options.url);
  const prefixed = (key: string): string => (folder === '' ? key : `${folder}/${key}`);
  const put = conditionalPut(client);

  return {
    location,
    endpoint,
    async get(key) {
      const { status, body, headers } = await ask('GET', prefixed(key));
      if (status === 404) return undefined;
      const version = headers['etag'];
      if (version === undefined) return refuseUnreachable(location, 'it sends no ETag');
      return { body: Buffer.from(body), version };
    },

    put: (key, body, expect) => put(prefixed(key), body, expect),

    async *list(prefix) {
      let token: string | undefined;
      do {
        const query = new URLSearchParams({
          'list-type': '2',
          prefix: prefixed(prefix),
          ...(token !== undefined && { 'continuation-token': token }),
        });
        const { body } = await ask('GET', '', { query: query.toString() });
        const page = listedKeys(body, location);
        for (const key of page.keys) yield folder === '' ? key : key.slice(folder.length + 1);
        token = page.next;
      } while (token !== undefined);
    },

    async remove(keys) {
      for (let at = 0; at < keys.length; at += MOST_KEYS) {
        const some = keys.slice(at, at + MOST_KEYS).map(prefixed);
        if (some.length === 1 || !(await removeTogether(client, some)))
          await removeEach(client, some);
      }
    },
  };
}

type Client = ReturnType<typeof s3Client>;

/** A long run leaves hundreds of log entries. @returns false where a key may be left: some servers do not know the request */
async function removeTogether({ send }: Client, keys: readonly string[]): Promise<boolean> {
  const objects = keys.map((key) => `<Object><Key>${escaped(key)}</Key></Object>`).join('');
  const body = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
  const sum = Buffer.from(sha256(body), 'hex').toString('base64');
  const headers = { 'content-type': 'application/xml', 'x-amz-checksum-sha256': sum };
  const response = await send('POST', '', { query: 'delete', headers, body }).catch(asFailure);
  return (
    !('failure' in response) &&
    response.status === 200 &&
    response.body.includes('DeleteResult') &&
    !response.body.includes('<Error>')
  );
}

function removeEach({ location, send, explained }: Client, keys: readonly string[]): Promise<void> {
  return forEachLimited(keys, AT_ONCE, async (key) => {
    const response = await send('DELETE', key).catch(asFailure);
    if ('failure' in response) refuseUnreachable(location, response.failure);
    explained(response, 'write');
  });
}

/** As the text of an XML element. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A write of an object under a condition. */
function conditionalPut({ location, send, ask, explained }: Client): Registers['put'] {
  /** Some servers compare the ETag with its quotes, others without. */
  let quotes: boolean | undefined;

  const writeOnce = async (
    path: string,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<Put> => {
    const response = await send('PUT', path, {
      headers,
      body: Buffer.from(body).toString('utf8'),
    }).catch(asFailure);
    // 409: another conditional write of the key was under way, and nobody says which of them took effect.
    if ('failure' in response || response.status === 409 || isPassing(response)) return 'unknown';
    if (response.status === UNKNOWN_REQUEST)
      refuseUnfit(location, `it does not support conditional writes: ${reasonOf(response)}`);
    const { status, headers: told } = explained(response, 'write');
    if (status >= 300) return 'conflict';
    return told['etag'] === undefined ? 'unknown' : { version: told['etag'] };
  };

  return async (path, body, expect) => {
    if (expect === null) return writeOnce(path, body, { 'if-none-match': '*' });
    const bare = expect.replaceAll('"', '');
    const conditional = (quoted: boolean): Promise<Put> =>
      writeOnce(path, body, { 'if-match': quoted ? `"${bare}"` : bare });
    const put = await conditional(quotes ?? true);
    if (quotes !== undefined || put === 'unknown') return put;
    if (put !== 'conflict') {
      quotes = true;
      return put;
    }
    const { headers } = await ask('HEAD', path);
    if (headers['etag'] !== expect) return put;
    const again = await conditional(false);
    if (typeof again === 'object') quotes = false;
    return again;
  };
}

const codeOf = ({ body }: S3Response): string | undefined =>
  /<Code>([\w.]{1,64})<\/Code>/.exec(body)?.[1];

const reasonOf = (response: S3Response): string =>
  [codeOf(response), `status ${response.status}`].filter((part) => part !== undefined).join(', ');

interface SendOptions {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
