// Diagnostics for failed reads and writes, with the server's own messages made safe to print.
import {
  defined,
  isObject,
  isSecretName,
  maskerOf,
  tryJson,
  unescapeHtml,
  type Diagnostic,
} from '../model/index.js';
import { isThrottled } from './classify.js';
import type { Surface } from './dialect.js';
import { longestRetryAfter } from './retry.js';
import {
  finalCodes,
  type HttpResponse,
  type HttpResult,
  type TransportError,
} from './transport.js';

/** Text of the service, made fit for a message. */
export type Tidy = (text: string) => string;

/** @param secrets yields every value that must not be seen, and more as time goes by: those that were sent, of whatever length, because a response is most likely to repeat them. */
export function tidier(secrets: () => Iterable<string>): Tidy {
  const clean = (text: string): string =>
    text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const cap = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}…` : text);
  let known: readonly string[] = [];
  let mask = (text: string): string => text;
  return (text) => {
    const values = [...secrets()];
    // None is ever taken back.
    if (values.length > known.length)
      mask = maskerOf((known = values), { mark: '***', short: 'inside' });
    return cap(clean(unescapeHtml(mask(text))));
  };
}

/**
 * The words of an error body: `exception`, `message`, `error_message` and `errors` of v2, `errors` of JSON:API, `title` and
 * `detail` of problem+json; where there are none of these, every text with its path. Else the text itself, of a page without
 * its markup. Half a JSON document has none: it may be data.
 */
function serverMessage({ headers, body }: HttpResponse): string {
  const type = headers['content-type'] ?? '';
  const parsed = tryJson(body);
  if (parsed !== undefined) {
    const all = (isObject(parsed) ? messagesOf(parsed) : detailsOf(parsed)).filter(Boolean);
    const known = all.filter((one, at) => !all.slice(0, at).some((said) => said.includes(one)));
    return (known.length > 0 ? known : textsIn(parsed)).join('; ');
  }
  if (/\bhtml\b/i.test(type) || /^\s*<[!a-z]/i.test(body)) return pageText(body);
  return /\bjson\b/i.test(type) ? '' : body;
}

const joined = (...texts: readonly string[]): string => texts.filter(Boolean).join(': ');

function messagesOf(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { exception, message, error_message, errors, title, detail } = body;
  const what = isObject(exception) ? exception['message'] : exception;
  const headline = joined(textOf(what), textOf(message));
  return [
    headline || textOf(error_message) || joined(textOf(title), textOf(detail)),
    ...detailsOf(errors),
  ];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const mostDetails = 10;
const mostDepth = 8;

/** A list of errors, or an object that has them by field. */
function detailsOf(errors: unknown): readonly string[] {
  if (Array.isArray(errors)) return errors.slice(0, mostDetails).map(detailOf);
  if (!isObject(errors)) return [textOf(errors)];
  const most = Object.entries(errors).slice(0, mostDetails);
  return most.map(([field, error]) => {
    const details = [error].flat().slice(0, mostDetails).map(detailOf).filter(Boolean);
    return details.length > 0
      ? `${field}: ${details.join(', ')}`
      : textsIn(error, field).join('; ') || field;
  });
}

/** The first texts at any depth of what the server says, with their paths. Of a member that is named as a secret it shows the name alone. */
function textsIn(said: unknown, ...field: readonly string[]): readonly string[] {
  const texts: string[] = [];
  const look = (value: unknown, path: readonly string[], depth: number): void => {
    if (texts.length === mostDetails || depth > mostDepth) return;
    if (typeof value === 'string' && value.trim() !== '')
      texts.push(joined(path.join('.'), path.some(isSecretName) ? '***' : value));
    else if (Array.isArray(value)) for (const item of value) look(item, path, depth + 1);
    else if (isObject(value))
      for (const [name, item] of Object.entries(value)) look(item, [...path, name], depth + 1);
  };
  look(said, field, 0);
  return texts;
}

function detailOf(error: unknown): string {
  if (!isObject(error)) return textOf(error);
  const source = isObject(error['source']) ? error['source'] : {};
  const first = (...values: readonly unknown[]): string => values.map(textOf).find(Boolean) ?? '';
  return joined(
    first(error['path'], source['pointer'], source['parameter']),
    first(error['detail'], error['message'], error['title'], error['code']),
  );
}

/** The text of an HTML page; of one without any, its title. By tokens, which takes no longer than the page is long. */
function pageText(page: string): string {
  const uncommented = page
    .replaceAll('&nbsp;', ' ')
    .split('<!--')
    .map((part, index) => (index === 0 ? part : part.split('-->').slice(1).join('-->')))
    .join(' ');
  const without = (hidden: RegExp): string => {
    let inside: string | undefined;
    let text = '';
    for (const token of uncommented.split(/(<[^<>]*>)/)) {
      const [, slash, name = ''] = /^<(\/?)([a-z][a-z0-9]*)/i.exec(token) ?? [];
      if (inside === undefined && slash === '' && hidden.test(name)) inside = name.toLowerCase();
      else if (inside !== undefined && slash === '/' && name.toLowerCase() === inside)
        inside = undefined;
      else if (inside === undefined) text += /^<[!/a-z]/i.test(token) ? ' ' : token;
    }
    return text.trim();
  };
  return without(/^(?:script|style|title)$/i) || without(/^(?:script|style)$/i);
}

/** The message for a failed request: what happened, where, and what to do next. */
export function complaint(
  told: { readonly method: string; readonly path: string },
  surface: Surface,
  result: HttpResult,
  tidy: Tidy,
): Diagnostic {
  const request = `${told.method} ${told.path}`;
  if ('error' in result) {
    const { error } = result;
    const [code, summary, detail] = failure(surface, error, tidy(error.message));
    return { severity: 'error', code, summary: `${request}: ${summary}`, ...defined({ detail }) };
  }
  const said = tidy(serverMessage(result.response));
  const summary = `${request} returned ${result.response.status}${said && `: ${said}`}`;
  const [code, detail] = meaning(surface, result);
  return { severity: 'error', code, summary, ...defined({ detail }) };
}

type Meaning = readonly [code: string, detail?: string];

function meaning(
  surface: Surface,
  { response, wait }: Extract<HttpResult, { response: HttpResponse }>,
): Meaning {
  const { status } = response;
  const { name, address, credentials } = surface;
  const hint = name === 'v2' ? ' (it includes /api/v2)' : '';
  const absent = `There is no such object, or ${address} is not the base address${hint}.`;
  const byStatus: Readonly<Record<number, Meaning>> = {
    401: ['unauthenticated', `The credentials are not accepted: check ${credentials}.`],
    403: [
      'forbidden',
      `The credentials do not have the right to do this: check the role of the user or keys in ${credentials}.`,
    ],
    404: ['not-found', absent],
    410: ['not-found', absent],
  };
  if (isThrottled(surface, response)) return ['rate-limited', waiting(wait)];
  if (status >= 300 && status < 400)
    return ['redirected', `Redirects are never followed: set ${address} to the final address.`];
  if (status === 408 || status === 425 || status >= 500)
    return [
      'service-error',
      (wait ?? 0) > longestRetryAfter
        ? waiting(wait)
        : 'The service is failing; run the command again later.',
    ];
  return byStatus[status] ?? ['rejected'];
}

function waiting(wait: number | undefined): string {
  if (wait === undefined)
    return 'Too many requests: run the command again in a few minutes, or lower settings.requests_per_minute.';
  return `The service asks to wait ${Math.ceil(wait / 1000)} s${wait > longestRetryAfter ? `, longer than the ${longestRetryAfter / 1000} s a run waits` : ''}: run the command again after that.`;
}

/** Code, message and advice for a failure without a response. */
function failure(
  { address }: Surface,
  { code, sent }: TransportError,
  message: string,
): readonly [code: string, summary: string, detail?: string] {
  if (code === 'interrupted') return ['interrupted', 'the run was interrupted'];
  if (code === 'proxy-refused')
    return [
      code,
      message,
      'It is the proxy that HTTPS_PROXY names, not the service: give what it asks for as http://USER:PASSWORD@HOST:PORT, or leave it out with NO_PROXY.',
    ];
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
    return [
      'untrusted',
      `the connection is not trusted (${message})`,
      'A private certificate authority is named by NODE_EXTRA_CA_CERTS.',
    ];
  if (code === 'timeout' || code === 'body-unfinished')
    return ['timeout', message, 'The service or the network is slow; run the command again later.'];
  if (finalCodes.has(code)) return ['unreadable-answer', message];
  const said = message || code;
  return sent
    ? [
        'connection-lost',
        `the connection broke before the response was complete (${said})`,
        'The service or the network is failing; run the command again later.',
      ]
    : ['unreachable', `no response (${said})`, `Check ${address}, the network and HTTPS_PROXY.`];
}
