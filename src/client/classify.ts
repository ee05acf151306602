// The outcome class of a write, by its status and the form of the response body.
import { Buffer } from 'node:buffer';
import { isObject, tryJson, type OutcomeClass } from '../model/index.js';
import type { Surface } from './dialect.js';
import type { HttpResponse, HttpResult } from './transport.js';

const succeeded: ReadonlySet<number> = new Set([200, 201, 202, 204]);
const rejected: ReadonlySet<number> = new Set([
  400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429,
]);

/** Whether the service asks to wait. */
export function isThrottled(surface: Surface, { status, body }: HttpResponse): boolean {
  return status === 429 || (status === 409 && surface.throttles(body));
}

/** Members of the errors of the service. */
const errorMembers = ['exception', 'errors', 'message', 'error_message'];
/** A JSON:API error of the service is shorter, in bytes. */
const LONGEST_ERROR = 1024;

/** Whether a 429 has the form of the service. Any other one may come from a gateway, which may return it after the request was carried out. */
function isOfService({ headers, body }: HttpResponse): boolean {
  if (body.trim() === '') return true;
  const isJsonApi = /^application\/vnd\.api\+json\b/i.test(headers['content-type'] ?? '');
  if (isJsonApi && Buffer.byteLength(body) < LONGEST_ERROR) return true;
  const parsed = tryJson(body);
  return isObject(parsed) && errorMembers.some((name) => Object.hasOwn(parsed, name));
}

/**
 * The class of a write, before the body of a success is looked at.
 * @param refusals statuses that say that nothing was done
 * @param creates whether it creates something: then a 429 of a gateway proves nothing
 */
export function classify(
  result: HttpResult,
  { refusals = rejected, creates = false } = {},
): OutcomeClass {
  if ('error' in result) return result.error.sent ? 'unknown' : 'not_sent';
  const { status } = result.response;
  if (creates && status === 429 && !isOfService(result.response)) return 'unknown';
  if (succeeded.has(status)) return 'applied';
  return refusals.has(status) ? 'rejected' : 'unknown';
}
