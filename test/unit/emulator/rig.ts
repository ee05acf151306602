// An emulator in process with a clock that moves only when told, and short ways to ask it.
import { dummyCredentials, type EmulatorOptions } from '../../../src/emulator/index.js';
import type { Json, JsonObject } from '../../../src/model/index.js';
import type { Clock } from '../../../src/platform/index.js';
import { collections, kinds } from '../../../src/resources/index.js';
import { recordingEmulator, type RecordingEmulator } from '../../support/recording-emulator.js';
import { seededRandom } from '../../support/simulated.js';

export const ORIGIN = 'http://cloud.test';
export const START = Date.parse('2026-01-02T03:04:05.000Z');

export interface HandClock extends Clock {
  advance(milliseconds: number): void;
}

/** Sleepers wake when the clock is advanced past their time. */
export function handClock(start = START): HandClock {
  let now = start;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    monotonic: () => now,
    boot: () => ({ id: 'test', milliseconds: now - start }),
    sleep: (milliseconds) =>
      new Promise((wake) => void sleepers.push({ at: now + milliseconds, wake })),
    advance: (milliseconds) => {
      now += milliseconds;
      const due = sleepers.filter(({ at }) => at <= now);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
    },
  };
}

/** Whatever an answer may hold. */
export interface Reply extends JsonObject {
  readonly data: readonly JsonObject[] & JsonObject;
  readonly meta: JsonObject & { readonly next: string | null };
  readonly links: { readonly next: string | null; readonly prev: string | null };
  readonly errors: readonly JsonObject[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed text, or nothing. */
  readonly body: Reply;
}

export interface Rig {
  readonly emulator: RecordingEmulator;
  readonly clock: HandClock;
  readonly ask: (
    method: string,
    path: string,
    body?: Json,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** Every object of a v2 listing, page after page, by the query of `next` alone. */
  readonly list: (path: string) => Promise<readonly JsonObject[]>;
}

const v2Headers = {
  ...dummyCredentials.v2[0],
  accept: 'application/json',
  'content-type': 'application/json',
};
const v3Headers = {
  authorization: 'Bearer emulator-token',
  accept: 'application/vnd.api+json',
  'content-type': 'application/vnd.api+json',
};

export function requestOf(
  method: string,
  path: string,
  body?: Json,
  headers: Readonly<Record<string, string>> = {},
  origin = ORIGIN,
): Request {
  const usual = path.startsWith('/api/v3') ? v3Headers : v2Headers;
  const text =
    body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Request(origin + path, {
    method,
    headers: { ...usual, ...headers },
    redirect: 'manual',
    ...(text !== undefined && { body: text }),
  });
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let body = {} as Reply;
  try {
    body = JSON.parse(text) as Reply;
  } catch {
    // Not every answer is JSON.
  }
  return { status: response.status, headers: response.headers, text, body };
}

export function rig(options: Partial<EmulatorOptions> = {}): Rig {
  const clock = handClock();
  const emulator = recordingEmulator({
    kinds,
    collections,
    clock,
    random: seededRandom(1),
    ...options,
  });
  const ask: Rig['ask'] = async (method, path, body, headers) =>
    answerOf(await emulator.fetch(requestOf(method, path, body, headers)));
  const list: Rig['list'] = async (path) => {
    const found: JsonObject[] = [];
    const { pathname, search } = new URL(path, ORIGIN);
    for (let query: string | undefined = search; query !== undefined;) {
      const { status, body, text } = await ask('GET', pathname + query);
      if (status !== 200) throw new Error(`${pathname}${query} answered ${status} ${text}`);
      found.push(...body.data);
      const { next } = body.meta;
      query = next === null ? undefined : new URL(next).search;
    }
    return found;
  };
  return { emulator, clock, ask, list };
}
