// The contract as data: exchanges written from the API reference, that client and emulator must both honour.
// Patterns in answers: <uuid> <time> <url> <text> <any>. Answers of success are whole, those of failure hold at least what is written.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Flip } from '../../src/client/index.js';
import type { Estate } from '../../src/emulator/index.js';
import type { Json, JsonObject } from '../../src/model/index.js';

export const ORIGIN = 'http://cloud.test';

/** The headers of the authentication part, and what goes with them. */
export const headerSets = {
  v2: {
    'X-MGR-API-ID': 'mgr-id',
    'X-MGR-API-KEY': 'mgr-key',
    'X-VND-API-ID': 'vnd-id',
    'X-VND-API-KEY': 'vnd-key',
    accept: 'application/json',
    'content-type': 'application/json',
  },
  v3: {
    authorization: 'Bearer token-of-dana',
    accept: 'application/vnd.api+json',
    'content-type': 'application/vnd.api+json',
  },
  /** `<token>` stands for a token that was asked for before. */
  iot: {
    authorization: 'Bearer <token>',
    accept: 'application/json',
    'content-type': 'application/json',
  },
} as const;

/** Who asks the IoT platform for tokens, and the sample flow. */
export const login = { username: 'dana', password: 'sesame' };

export interface ContractRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers: keyof typeof headerSets | Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly body_text?: string;
}

export interface ContractAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Part of the body; lists are as long as written. */
  readonly body_holds?: Json;
  readonly body_text?: string;
}

/** What a client does to send the request, and what it makes of the answer. */
export interface ContractClient {
  readonly do: 'list' | 'find' | 'create' | 'update' | 'delete' | 'activity' | 'records' | 'flip';
  readonly kind?: string;
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly filters?: Readonly<Record<string, string>>;
  readonly expand?: string;
  readonly flip?: Flip;
  /** What of the records is compared: their known attributes, or (`record`) all they hold. */
  readonly gives?: 'record';
  readonly fields?: JsonObject;
  readonly live?: JsonObject;
  /** An update as a PATCH, of a kind that has PATCH beside PUT. */
  readonly patch?: true;
  readonly understands: JsonObject | readonly JsonObject[];
}

export interface Step {
  readonly request: ContractRequest;
  readonly answer: ContractAnswer;
}

export interface Exchange extends Step {
  readonly title: string;
  /** Where the reference says so. */
  readonly source: string;
  readonly given: Estate;
  readonly then?: readonly Step[];
  readonly client?: ContractClient;
}

interface Chapter {
  readonly given: Estate;
  readonly exchanges: readonly Exchange[];
}

const folder = fileURLToPath(new URL('.', import.meta.url));

export const chapters: readonly (readonly [name: string, exchanges: readonly Exchange[]])[] =
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => {
      const { given, exchanges } = JSON.parse(readFileSync(folder + file, 'utf8')) as Chapter;
      return [file.replace('.json', ''), exchanges.map((one) => ({ ...one, given }))];
    });

export function headersOf({ headers }: ContractRequest): Readonly<Record<string, string>> {
  return typeof headers === 'string'
    ? headerSets[headers]
    : { 'content-type': 'application/json', ...headers };
}

const samples: Readonly<Record<string, { readonly shape: RegExp; readonly sample: string }>> = {
  '<uuid>': {
    shape: /^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    sample: '44444444-bbbb-11f0-8000-000000000007',
  },
  '<time>': {
    shape: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/,
    sample: '2026-01-02T03:04:05.000Z',
  },
  '<url>': { shape: /^http:\/\/cloud\.test\/api\//, sample: `${ORIGIN}/api/v2/somewhere/7/` },
  '<text>': { shape: /./, sample: 'Some text.' },
  '<any>': { shape: /(?:)/, sample: '' },
};

/** The body with a sample in place of each pattern. */
export function filled(value: Json): Json {
  if (typeof value === 'string') return samples[value]?.sample ?? value;
  if (Array.isArray(value)) return value.map(filled);
  return value === null || typeof value !== 'object'
    ? value
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
}

/** Where `found` is not as `wanted` says, as paths; none where it is. */
export function differences(
  wanted: Json,
  found: Json | undefined,
  whole: boolean,
  path = '$',
): readonly string[] {
  const pattern = typeof wanted === 'string' ? samples[wanted] : undefined;
  if (wanted === '<any>') return found === undefined ? [path] : [];
  if (pattern)
    return typeof found === 'string' && pattern.shape.test(found)
      ? []
      : [`${path}: ${JSON.stringify(found)} is no ${String(wanted)}`];
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length)
      return [`${path}: ${JSON.stringify(found)} instead of ${wanted.length} items`];
    return wanted.flatMap((item: Json, index) =>
      differences(item, found[index] as Json, whole, `${path}.${index}`),
    );
  }
  if (wanted === null || typeof wanted !== 'object')
    return wanted === found
      ? []
      : [`${path}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
  if (found === null || typeof found !== 'object' || Array.isArray(found))
    return [`${path}: ${JSON.stringify(found)} is not an object`];
  const surplus = whole ? Object.keys(found).filter((key) => !Object.hasOwn(wanted, key)) : [];
  return [
    ...surplus.map((key) => `${path}.${key} is too much`),
    ...Object.entries(wanted).flatMap(([key, item]) =>
      differences(item, (found as JsonObject)[key], whole, `${path}.${key}`),
    ),
  ];
}
