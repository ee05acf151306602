// An emulator that keeps every request with what was answered. Secrets in the bodies stand as `sha256:<hex>`, so that a
// test can tell them apart and no test prints them.
import {
  ConnectionReset,
  createEmulator,
  type Emulator,
  type EmulatorOptions,
} from '../../src/emulator/index.js';
import {
  isObject,
  mapMembers,
  own,
  sha256,
  tryJson,
  type Attributes,
  type Json,
  type Kinds,
} from '../../src/model/index.js';

/** One request as it came. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
  /** Null where there is none. */
  readonly body: Json;
  /** 0 where the connection was reset. */
  readonly status: number;
  /** ISO 8601. */
  readonly at: string;
}

export interface RecordingEmulator extends Emulator {
  /** The oldest first. */
  readonly requests: readonly Exchange[];
}

export function recordingEmulator(options: EmulatorOptions): RecordingEmulator {
  const emulator = createEmulator(options);
  const requests: Exchange[] = [];
  return {
    ...emulator,
    requests,
    async fetch(request) {
      const { method } = request;
      const { pathname: path, search: query } = new URL(request.url);
      const text = method === 'GET' ? '' : await request.clone().text();
      const at = new Date(options.clock.now()).toISOString();
      const body = text === '' ? null : keptBody(options.kinds, path, text);
      const record = (status: number): void =>
        void requests.push({ method, path, query, body, status, at });
      try {
        const response = await emulator.fetch(request);
        record(response.status);
        return response;
      } catch (error) {
        if (error instanceof ConnectionReset) record(0);
        throw error;
      }
    },
  };
}

function keptBody(kinds: Kinds, path: string, text: string): Json {
  const kind = [...kinds.values()].find(({ operations: { dialect, collection } }) =>
    `${path}/`.startsWith(`/api/${dialect}/${collection}/`),
  );
  const body = tryJson(text);
  return body === undefined ? '(not JSON)' : withoutSecrets(kind?.attributes ?? {}, body);
}

const hashed = (secret: Json): Json => `sha256:${sha256(String(secret))}`;

function withoutSecrets(attributes: Attributes, body: Json): Json {
  if (!isObject(body)) return body;
  return mapMembers(body, (value, name): Json => {
    const attribute = own(attributes, name);
    if (attribute?.secret === true) return hashed(value);
    if (attribute?.wire === 'merge') return withoutNamedSecrets(value);
    return attribute?.word === 'object' ? withoutSecrets(attribute.attributes, value) : value;
  });
}

/** A document: secrets are recognised by their names. */
function withoutNamedSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNamedSecrets);
  if (!isObject(value)) return value;
  return mapMembers(value, (item, name) =>
    /password|passphrase|secret|psk/i.test(name) && typeof item === 'string'
      ? hashed(item)
      : withoutNamedSecrets(item),
  );
}
