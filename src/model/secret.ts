// A secret is a type that cannot print itself. Only `reveal` returns its value: the client calls it for the request
// that carries the value, and the fingerprint for its hash.
export const SENSITIVE = '(sensitive)';

/** The symbol that `util.inspect` calls. Not imported, because programs with these types would then need the types of Node. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/** Why a value cannot be had. */
export interface Unobtained {
  readonly problem: string;
  /** There is one, which cannot be sent: an error, whatever else is planned. */
  readonly isUnusable?: true;
}

/** The problem is part of a sentence. */
export type Obtained<T> = { readonly value: T } | Unobtained;

/** What other bytes are decoded to is another value. */
export const NOT_UTF8 = { problem: 'its bytes are not valid UTF-8', isUnusable: true } as const;

type Access = Partial<Pick<Secret, 'advice' | 'fetch'>>;

export class Secret {
  /** Where the value comes from, such as `env.PAGER_SECRET`: safe to print, and what a body hash is made of. */
  readonly source: string;
  readonly #read: () => string | undefined;
  /** What to do where there is no value: whole sentences. */
  readonly advice: string;
  readonly #fetch: ((signal: AbortSignal) => Promise<Unobtained | undefined>) | undefined;

  constructor(source: string, read: () => string | undefined, { advice = '', fetch }: Access = {}) {
    this.source = source;
    this.#read = read;
    this.advice = advice;
    this.#fetch = fetch;
  }

  /** The value, or undefined where it cannot be had on this machine (a plan does not need it). */
  reveal(): string | undefined {
    return this.#read();
  }

  /** Fetches the value of a secret that has to be asked for: before that, it has none. Resolves with why there is none, if so, in a sentence. */
  get fetch(): ((signal: AbortSignal) => Promise<Unobtained | undefined>) | undefined {
    return this.#fetch;
  }

  toString(): string {
    return SENSITIVE;
  }

  toJSON(): string {
    return SENSITIVE;
  }

  [INSPECT](): string {
    return SENSITIVE;
  }
}
