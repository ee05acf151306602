// The IoT platform's bearer token: one for all requests of a run, asked for again shortly before it ends or once it is
// refused. It lives in memory alone, as a secret.
import { defined, isLoopback, isObject, Secret } from '../model/index.js';
import { Malformed, parseAnswer } from './response.js';
import { rates } from './iot.js';
import { limiter } from './rate-limit.js';
import { understood, type ClientSession } from './client-session.js';

export interface Token {
  readonly secret: Secret;
  /** On the monotonic clock. */
  readonly until: number;
}

export interface Tokens {
  /** @throws Refusal where none is given. */
  readonly current: () => Promise<Token>;
  /** Another one in place of `stale`; those who hold the same one share it. @throws Refusal */
  readonly renewed: (stale: Token) => Promise<Token>;
}

/** Milliseconds before its end from which a token is not used any more; of short ones a tenth of their life. */
const margin = 30_000;
const clientId = 'cm-public-api-client';

/** @param subject what the tokens are needed for, for messages and counting */
export function tokensOf(session: ClientSession, subject: string): Tokens {
  const { clock } = session.options;
  let issued: Token | undefined;
  let asked: Promise<Token> | undefined;

  function issue(): Promise<Token> {
    const begun = clock.monotonic();
    const asking = request().then(
      ({ text, seconds }) =>
        (issued = {
          secret: new Secret("the IoT platform's token", () => text),
          until: begun + seconds * 1000 - Math.min(margin, seconds * 100),
        }),
      (error: unknown) => {
        asked = undefined;
        throw error;
      },
    );
    return (asked = asking);
  }

  async function request(): Promise<{ readonly text: string; readonly seconds: number }> {
    const endpoint = session.endpointOf('iot', subject);
    const gate = isLoopback(new URL(endpoint.base.origin))
      ? undefined
      : (tokenGate ??= limiter(clock, ...rates.token));
    const { username, password } = session.options.iot as NonNullable<typeof session.options.iot>;
    const path = endpoint.base.path + endpoint.dialect.path('auth/token');
    const form = {
      grant_type: 'password',
      client_id: clientId,
      username: session.reveal(username),
      password: session.reveal(password),
    };
    const more = {
      body: new URLSearchParams(form).toString(),
      type: 'application/x-www-form-urlencoded',
    };
    return understood(
      subject,
      path,
      async () =>
        tokenIn(
          parseAnswer(
            await session.read({ ...endpoint, ...defined({ gate }) }, subject, path, '', more),
          ),
        ),
      'POST',
    );
  }
  let tokenGate: ReturnType<typeof limiter> | undefined;

  function renewed(stale: Token): Promise<Token> {
    if (stale === issued) issued = asked = undefined;
    return asked ?? issue();
  }

  async function current(): Promise<Token> {
    const token = await (asked ?? issue());
    return clock.monotonic() < token.until ? token : renewed(token);
  }

  return { current, renewed };
}

/** @throws Malformed */
function tokenIn(body: unknown): { readonly text: string; readonly seconds: number } {
  const { access_token: text, expires_in: seconds } = isObject(body) ? body : {};
  if (typeof text !== 'string' || text === '') throw new Malformed('has no access_token');
  // Without a usable time the token serves until it is refused.
  return { text, seconds: Number(seconds) > 0 ? Number(seconds) : Infinity };
}
