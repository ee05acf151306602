// One run's conversation with the cloud: which address a kind is spoken to at, with which credentials, and reads
// that are answered or refused. Credentials are revealed here, for the request that carries them.
import { Refusal, exits, refuse, type Emit, type Secret } from '../model/index.js';
import type { Clock, Random } from '../ports/index.js';
import { Malformed, parseAnswer } from './answer.js';
import { courier, type Call, type Courier } from './courier.js';
import type { Dialect } from './dialect.js';
import { baseOf, isLoopback, type Base } from './endpoint.js';
import { complaint, isTransient, tidier, type Tidy } from './errors.js';
import type { ReadPage } from './paging.js';
import type { Answer, Transport } from './transport.js';
import { v2 } from './v2.js';
import { v3 } from './v3.js';

export interface ConnectOptions {
  /** `headers`: names as this deployment spells them. */
  readonly v2?: { readonly url: string; readonly headers: Readonly<Record<string, Secret>> };
  readonly v3?: { readonly url: string; readonly token: Secret };
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /** Default 450, and no limit where every address is loopback. */
  readonly requestsPerMinute?: number;
  readonly emit: Emit;
  /** Interruption: reads end at once, writes that have begun run to their end, nothing new is sent. */
  readonly signal: AbortSignal;
  /** Wall clock of one request, default 30. */
  readonly deadlineSeconds?: number;
  /** Objects to expect, by kind name: pages are fetched ahead for that many. */
  readonly ahead?: Readonly<Record<string, number>>;
}

/** One dialect at one base address. Header values are secrets until a request leaves. */
export interface Door {
  readonly dialect: Dialect;
  readonly base: Base;
  readonly headers: Readonly<Record<string, { readonly prefix: string; readonly secret: Secret }>>;
}

export interface Session extends Courier {
  readonly options: ConnectOptions;
  readonly target: string;
  readonly tidy: Tidy;
  /** @throws Refusal where there is no address for the dialect; `subject` is what needs it. */
  readonly doorOf: (name: Dialect['name'], subject: string) => Door;
  /** @throws Refusal where the value cannot be had, or cannot travel in a header. */
  readonly reveal: (secret: Secret, inHeader?: boolean) => string;
  /** A request with its credentials. @throws Refusal */
  readonly callOf: (door: Door, method: string, path: string, more: Pick<Call, 'counted' | 'body' | 'signal'>) => Call;
  /** The answer to a GET that was one of `statuses` (200). @throws Refusal */
  readonly read: (door: Door, counted: string, path: string, query: string, more?: ReadOptions) => Promise<Answer>;
  /** Reads pages; `heed` sees each answer. */
  readonly reader: (door: Door, counted: string, path: string, heed?: (answer: Answer) => void) => ReadPage;
}

interface ReadOptions {
  readonly statuses?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** @throws Refusal for an address that must not be used. */
export function openSession(options: ConnectOptions): Session {
  const doors = doorsOf(options);
  const all = [doors.v2, doors.v3].filter((door) => door !== undefined);
  const limited = all.some(({ base }) => !isLoopback(new URL(base.origin)));
  const messenger = courier({ ...options, requestsPerMinute: options.requestsPerMinute ?? (limited ? 450 : undefined), deadlineSeconds: options.deadlineSeconds ?? 30 });
  const revealed = new Set<string>();
  const tidy = tidier(() => revealed);

  function doorOf(name: Dialect['name'], subject: string): Door {
    const dialect = name === 'v2' ? v2 : v3;
    return doors[name] ?? refuse('no-target', `${subject}: there is no ${name} address to speak to`, { detail: `Set ${dialect.address}, and ${dialect.credentials}.` });
  }

  function reveal(secret: Secret, inHeader = false): string {
    const value = secret.reveal();
    if (value === undefined || value === '') return refuse('secret-missing', `${secret.source} has no value`, { detail: `Set ${secret.source} where this command runs.` });
    revealed.add(value);
    if (inHeader && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
      return refuse('secret-unusable', `${secret.source} holds characters that no header can carry`, { detail: 'Look for a line break or a space at its end.' });
    return value;
  }

  function callOf(door: Door, method: string, path: string, more: Pick<Call, 'counted' | 'body' | 'signal'>): Call {
    const credentials = Object.fromEntries(Object.entries(door.headers).map(([name, { prefix, secret }]) => [name, prefix + reveal(secret, true)]));
    const { media } = door.dialect;
    const typed = more.body !== undefined || door.dialect === v3;
    return { method, url: door.base.origin + path, headers: { accept: media, ...(typed && { 'content-type': media }), 'user-agent': 'trueup', ...credentials }, ...more };
  }

  async function read(door: Door, counted: string, path: string, query: string, { statuses = [200], signal }: ReadOptions = {}): Promise<Answer> {
    const call = callOf(door, 'GET', query === '' ? path : `${path}?${query}`, { counted, signal: signal ? AbortSignal.any([options.signal, signal]) : options.signal });
    const result = await messenger.carry(call, (one) => isTransient(door.dialect, one));
    if ('answer' in result && statuses.includes(result.answer.status)) return result.answer;
    const found = complaint({ method: 'GET', path }, door.dialect, result, tidy);
    throw new Refusal([{ ...found, summary: `${counted} cannot be read: ${found.summary}` }], found.code === 'interrupted' ? exits.interrupted : exits.error);
  }

  function reader(door: Door, counted: string, path: string, heed: (answer: Answer) => void = () => undefined): ReadPage {
    return async (query, signal) => {
      const answer = await read(door, counted, path, query, { signal });
      heed(answer);
      return door.dialect.page(parseAnswer(answer));
    };
  }

  return { ...messenger, options, target: all.map(({ base }) => base.origin + base.path).join(' '), tidy, doorOf, reveal, callOf, read, reader };
}

function doorsOf({ v2: two, v3: three }: ConnectOptions): { readonly v2?: Door; readonly v3?: Door } {
  return {
    ...(two && {
      v2: { dialect: v2, base: baseOf(two.url, v2.address), headers: Object.fromEntries(Object.entries(two.headers).map(([name, secret]) => [name, { prefix: '', secret }])) },
    }),
    ...(three && { v3: { dialect: v3, base: baseOf(three.url, v3.address), headers: { authorization: { prefix: 'Bearer ', secret: three.token } } } }),
  };
}

/** Runs a reading; what is malformed in it becomes a refusal. */
export async function understood<T>(counted: string, path: string, reading: () => Promise<T>): Promise<T> {
  try {
    return await reading();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return refuse('unreadable-answer', `${counted} cannot be read: the answer to GET ${path} ${error.message}`, {
      detail: 'Nothing was concluded from it. Check the address, and any proxy on the way; then run the command again.',
    });
  }
}
