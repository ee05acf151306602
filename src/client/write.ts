// Writes: the request of a change, and its outcome.
import {
  defined,
  mapMembers,
  Reference,
  Refusal,
  Secret,
  Template,
  faultsOf,
  isTree,
  normalAll,
  redactAll,
  refuse,
  same,
  wireText,
  type CloudWriter,
  type Kind,
  type Live,
  type Request,
  type Sent,
  type Value,
  type Write,
  type Json,
} from '../model/index.js';
import { Malformed, liveOf, parseResponse } from './response.js';
import type { Dialect } from './dialect.js';
import { classify } from './classify.js';
import { complaint } from './errors.js';
import { isRetryableWrite } from './retry.js';
import type { ClientSession } from './client-session.js';
import type { HttpResponse, HttpResult } from './transport.js';

/** Pure. @throws Refusal where there is no address, or a value that cannot be sent. */
export function compose({ endpointOf }: ClientSession, kind: Kind, write: Write): Request {
  const { base, dialect } = endpointOf(kind.operations.dialect, kind.name);
  const method = write.patch ? 'PATCH' : kind.operations[write.verb];
  if (method === undefined) throw new Error(`${kind.name} cannot ${write.verb}`);
  const path =
    base.path +
    dialect.path(kind.operations.collection, write.verb === 'create' ? undefined : write.id);
  if (write.verb === 'delete') return { method, path };
  const fault = faultsOf(kind, write.fields, write.live?.values).find(
    ({ severity }) => severity === 'error',
  );
  if (fault)
    return refuse(fault.code, `${kind.name}: ${fault.summary}`, defined({ detail: fault.detail }));
  try {
    return { method, path, body: dialect.body(kind, write) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse('not-sendable', `${kind.name}: ${error.message}`);
  }
}

/** Sends once; again only what certainly did nothing. */
export function sender(session: ClientSession): CloudWriter['send'] {
  const { endpointOf, reveal, callOf, carry, tidy } = session;
  const bodyOf = ({ body }: Request): string | undefined =>
    body && wireText(uncovered(body, reveal));
  return async (kind, request, write, mayLeave) => {
    const endpoint = endpointOf(kind.operations.dialect, kind.name);
    const creates = write.verb === 'create';
    let result: HttpResult;
    try {
      const call = callOf(endpoint, request.method, request.path, {
        counted: kind.name,
        ...defined({ body: bodyOf(request) }),
        ...(mayLeave && {
          mayLeave: async () => {
            const instead = await mayLeave();
            return instead && bodyOf(instead);
          },
        }),
      });
      result = await carry(call, (one) => isRetryableWrite(endpoint.dialect, one, creates));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { class: 'not_sent', ...defined({ diagnostic: error.diagnostics[0] }) };
    }
    const outcome = classify(result, { creates });
    if (outcome === 'applied' && 'response' in result)
      return confirmed(kind, endpoint.dialect, write, { request, response: result.response });
    const wait = 'response' in result ? result.wait : undefined;
    const said = complaint(request, endpoint.dialect, result, tidy);
    const isNotTaken = 'response' in result && result.response.status === 405;
    const diagnostic =
      isNotTaken && patchesDocument(kind, write) ? { ...said, detail: NO_PATCH } : said;
    return { class: outcome, diagnostic, ...defined({ wait }) };
  };
}

const NO_PATCH =
  'The service does not take PATCH there, which the setting `configuration_writes: patch` asks for. Remove this setting. Then declare each member that reads back masked as "${secret.env.NAME}".';

/** Whether a setting asks for the PATCH: documents are sent whole otherwise. */
const patchesDocument = ({ attributes }: Kind, { patch, fields }: Write): boolean =>
  patch === true && Object.keys(fields).some((name) => attributes[name]?.wire === 'merge');

/** Judges a success: a create has to give an id and repeat what was sent; anything else may return nothing, but not a web page or half a body. */
function confirmed(
  kind: Kind,
  dialect: Dialect,
  write: Write,
  { request, response }: { readonly request: Request; readonly response: HttpResponse },
): Sent {
  const doubtful = (why: string, live?: Live): Sent => {
    const summary = `${request.method} ${request.path} returned ${response.status}, but the response ${why}`;
    const detail = 'Whether it was carried out is not known.';
    return {
      class: 'unknown',
      ...defined({ live }),
      diagnostic: { severity: 'error', code: 'unreadable-answer', summary, detail },
    };
  };
  try {
    if (write.verb !== 'create') {
      const live =
        response.body.trim() === '' ? undefined : tryLive(kind, dialect, parseResponse(response));
      return { class: 'applied', ...(live?.id === write.id && live && { live }) };
    }
    const live = liveOf(dialect, kind, dialect.single(parseResponse(response)));
    const other = unechoed(kind, write, live);
    return other === undefined
      ? { class: 'applied', live }
      : doubtful(`has another ${other} than was sent`, live);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return doubtful(error.message);
  }
}

/** The object that a response describes; what else an update returns is not specified. */
function tryLive(kind: Kind, dialect: Dialect, body: Json): Live | undefined {
  try {
    return liveOf(dialect, kind, dialect.single(body));
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** The first attribute that was sent and came back different; secrets, documents with masks in them, and what the response does not contain prove nothing. */
function unechoed(kind: Kind, { fields }: Write, { values }: Live): string | undefined {
  const sent = redactAll(normalAll(kind.attributes, fields));
  return Object.entries(kind.attributes).find(
    ([name, attribute]) =>
      attribute.wire !== 'merge' &&
      Object.hasOwn(sent, name) &&
      Object.hasOwn(values, name) &&
      !same(attribute, sent[name], values[name]),
  )?.[0];
}

/** The body as it travels: secrets as their values. */
function uncovered(value: Value, reveal: (secret: Secret) => string): unknown {
  if (value instanceof Secret) return reveal(value);
  if (value instanceof Reference || value instanceof Template)
    throw new Error(`${String(value)} was not filled before sending`);
  if (Array.isArray(value)) return value.map((item: Value) => uncovered(item, reveal));
  return isTree(value) ? mapMembers(value, (item) => uncovered(item, reveal)) : value;
}
