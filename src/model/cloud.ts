// The cloud as the reconciler sees it: a reader that cannot write, and a writer that only apply gets. The module
// `client` implements both; nothing else knows HTTP.
import type { Activity } from './documents/drift-document.js';
import type { Collection, Query } from './collection.js';
import type { Values } from './declaration.js';
import type { Diagnostic } from './diagnostic.js';
import type { JsonObject } from './json.js';
import type { Kind } from './kind.js';
import type { OutcomeClass } from './state.js';

/** One live object. */
export interface Live {
  readonly id: string;
  /** Every attribute of the kind that the response had, in normal form. */
  readonly values: Values;
  /** The record as the API gave it, kept where an update has to send the whole resource back. */
  readonly raw?: JsonObject;
}

/** A listing that is proven complete: every page read, in order, without loop or truncation. */
export interface Listing {
  readonly kind: string;
  readonly objects: readonly Live[];
  /** How many pages it came in. */
  readonly pages?: number;
  /** Milliseconds by which the server's clock was ahead of this machine's at the first response, if it had a `Date`. */
  readonly skew?: number;
}

/** The live document that a request was planned from: its version, where the kind counts them, and its digest. */
export interface DocumentBase {
  readonly version_number: number | null;
  readonly sha256: string;
}

/** A request as it is planned and sent. `path` begins with the path of the target's base address; `body` may hold references and secrets. */
export interface Request {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: Values;
  /** Where the request replaces a whole document: `body` then holds our members alone, and the rest is read right before it is sent. */
  readonly base?: DocumentBase;
}

/** A write: the fields to send, and their object. */
export interface Write {
  readonly verb: 'create' | 'update' | 'delete';
  readonly id?: string;
  /** Attributes in normal form. For a PATCH only those that change; for a POST or PUT all that are sent. */
  readonly fields: Values;
  readonly live?: Live;
  /** The undeclared members of `fields` (`name`, or `name.member`): sent with their live values, and read again if the reading is old. */
  readonly kept?: readonly string[];
  /** Sent as a PATCH, whatever verb the kind has: an update that only adds to documents (`settings.configuration_writes`), or changes none of a kind that has PATCH beside PUT. */
  readonly patch?: true;
}

/** One record of a listing. */
export interface Found {
  /** As the API gave it, secrets masked even where it gives them in clear. */
  readonly record: JsonObject;
  /** Its known attributes in normal form. */
  readonly values: Values;
}

/** The outcome of one request. */
export interface Sent {
  readonly class: OutcomeClass;
  /** The object as the response described it: always for a create, if the response did so for an update. */
  readonly live?: Live;
  readonly diagnostic?: Diagnostic;
  /** Milliseconds that the service asked to wait. */
  readonly wait?: number;
}

export interface CloudReader {
  /** Stable text that names the target, such as its origins: what a state is bound to. */
  readonly target: string;
  /** Every object of the kind. @throws Refusal where the reading is not proven complete. */
  list(kind: Kind): Promise<Listing>;
  /** Those of the ids that exist, read by identifier. @throws Refusal on any failure: a failed look is no proof of absence. */
  find(kind: Kind, ids: readonly string[]): Promise<readonly Live[]>;
  /** Every object that a filter of the listing lets through. A filter that the service ignores lets everything through. @throws Refusal where the reading is not proven complete */
  search(kind: Kind, filters: Readonly<Record<string, string>>): Promise<readonly Live[]>;
  /** The request that carries a write out. Pure: what is planned is what is sent. */
  compose(kind: Kind, write: Write): Request;
  /** Records of any collection, page by page as they come; nothing is kept. @throws Refusal where the reading is not proven complete. */
  records(collection: Collection, query: Query): AsyncIterable<readonly Found[]>;
  /** Every change of these objects that the activity log knows since a time (ISO 8601), the oldest first. @throws Refusal where the log cannot be read. */
  activity(ids: readonly string[], since: string): Promise<readonly Activity[]>;
  /** Milliseconds by which the clock of the service was ahead of this machine's at its last response; undefined before a `Date` was seen. */
  skew(): number | undefined;
  /** Requests made so far, by collection name. */
  cost(): Readonly<Record<string, number>>;
}

export interface CloudWriter extends CloudReader {
  /**
   * Sends a request whose references are filled. `mayLeave` is asked right before bytes leave, after every wait; what it
   * returns is sent instead, and what it throws (a Refusal) becomes the diagnostic of `not_sent`. Never throws for what
   * the server or the network does.
   */
  send(
    kind: Kind,
    request: Request,
    write: Write,
    mayLeave?: () => Promise<Request | undefined>,
  ): Promise<Sent>;
  /** After the `attempt`th sending (from 1) without a clear response: waits, and says whether another one is allowed at all. */
  pause(attempt: number, wait?: number): Promise<boolean>;
}

/** A cloud that work may be done with which has less time than the run. */
export interface Cloud extends CloudWriter {
  /** The same cloud until `signal` is raised: nothing leaves after that, and what has left and has no response is of unknown outcome. */
  within(signal: AbortSignal): CloudWriter;
}

const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/;

/**
 * Whether two targets are one cloud: one names no address that the other contradicts. An emulator takes another port
 * each time, so any two loopback targets are the same. A v3 address may end in its `/api/v3`.
 */
export function sameTarget(a: string, b: string): boolean {
  const [one = [], other = []] = [a, b]
    .map((target) => target.split(' ').map((url) => url.replace(/\/api\/v3\/?$/, '')))
    .toSorted((x, y) => x.length - y.length);
  return (
    one.every((url) => other.includes(url)) || [...one, ...other].every((url) => LOOPBACK.test(url))
  );
}

/** How the target of a state is set, and how another state is used. @param target the one that is set; empty without any */
export function targetAdvice(wanted: string, target: string): string {
  const variables = `set its variables in the environment${target === 'emulator' ? ', and remove `settings.target`' : ''}. Which are missing: trueup doctor`;
  return [
    `To use the target of the state, ${wanted === 'emulator' ? 'write `settings: { target: emulator }`.' : variables}`,
    'To use another state: settings.state, or --env for another environment.',
  ].join('\n');
}
