// Deliveries to push destinations: signed webhooks, retried after the documented minutes, until the destination is
// suspended. They leave this machine only if that is allowed, and are always signed unless a behaviour turns that off.
import { createHmac } from 'node:crypto';
import { urlFrom, valueAt, type JsonObject, type Kind } from '../model/index.js';
import type { Clock, Random } from '../platform/index.js';
import { system } from './activity-log.js';
import type { Behaviours } from './behaviours.js';
import { LIVE_MASK } from './configuration.js';
import type { RenderContext, StoredRecord } from './records.js';
import type { RecordStore } from './record-store.js';

/** Sends one POST and returns the status of the response. @throws Error with the reason if there is no response */
export type Send = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal?: AbortSignal,
) => Promise<number>;

export interface DeliveryOptions {
  /** Absent: the emulator has no network, and every delivery is refused. */
  readonly send?: Send;
  /** Deliver to other machines, too. */
  readonly anywhere?: boolean;
  /** Milliseconds that stand for a minute of the documented waits; default 60,000. */
  readonly minute?: number;
  /** Ends the waits. */
  readonly signal?: AbortSignal;
}

/** As it is shown. */
export interface Delivery {
  readonly id: string;
  /** Null for a test. */
  readonly alert_config_id: string | null;
  readonly destination_config_id: string;
  /** `created_at_timeuuid` of its alerts. */
  readonly alerts: string[];
  /** `queued`: for the daily summary. `skipped`: the destination takes nothing. `refused`: the emulator does not send it. `failed`: after the last attempt. */
  status: 'delivered' | 'retrying' | 'queued' | 'skipped' | 'refused' | 'failed';
  reason?: string;
  /** ISO 8601. */
  next_attempt_at?: string;
  readonly attempts: ({ readonly at: string } & Outcome)[];
}

export type Deliveries = ReturnType<typeof createDeliveries>;

interface Job {
  readonly delivery: Delivery;
  readonly data: JsonObject[];
  readonly face: RenderContext;
}

export interface Shared {
  readonly store: RecordStore;
  readonly behaviours: Behaviours;
  readonly secrets: ReturnType<typeof createSecrets>;
  readonly clock: Clock;
  readonly random: Random;
}
type DeliveryContext = DeliveryOptions & Shared;

const KEPT = 10_000;
const RETRY_MINUTES = [1, 15, 45, 90, 120];
const DAY_MINUTES = 24 * 60;
const DESTINATIONS = 'alert_push_destinations';
const SECRET = 'authentication.secret';

export function createDeliveries(context: DeliveryContext) {
  const list: Delivery[] = [];
  /** Summaries that wait, by rule and destination. */
  const queued = new Map<string, Job>();
  const begin = (rule: StoredRecord | null, destination: string, face: RenderContext): Job => {
    const delivery: Delivery = {
      id: context.random.uuid(),
      alert_config_id: rule && String(rule.alert_config_id),
      destination_config_id: destination,
      alerts: [],
      status: 'skipped',
      attempts: [],
    };
    if (list.push(delivery) > KEPT) list.shift();
    return { delivery, data: [], face };
  };
  return {
    /** The newest, at most KEPT, the oldest first. */
    list: list as readonly Delivery[],
    /** Sends an alert at once, or queues it as the rule's schedule says. Resolves after the first attempt. */
    deliver: async (
      rule: StoredRecord,
      destination: string,
      alert: JsonObject,
      face: RenderContext,
    ): Promise<Delivery> => {
      const name = `${String(rule.alert_config_id)} ${destination}`;
      const waiting = queued.get(name);
      const job = waiting ?? begin(rule, destination, face);
      job.data.push(alert);
      job.delivery.alerts.push(String(alert.created_at_timeuuid));
      if (waiting) return job.delivery;
      if (rule.schedule === null) return send(context, job);
      const why = `what the schedule ${JSON.stringify(rule.schedule)} means is not known`;
      if (rule.schedule !== 'daily') return end(job, 'refused', why);
      queued.set(name, job);
      const sending = (): void => void queued.delete(name);
      beside(context, summarise(context, job, sending));
      return job.delivery;
    },
    /** One attempt with an empty list of alerts, whether or not the destination is enabled. */
    test: async (destination: string, face: RenderContext): Promise<Delivery> => {
      const job = begin(null, destination, face);
      const error = await attempt(context, job, true);
      return error === undefined ? job.delivery : end(job, 'failed', error);
    },
  };
}

function end({ delivery }: Job, status: Delivery['status'], reason?: string): Delivery {
  delete delivery.next_attempt_at;
  return Object.assign(delivery, { status }, reason !== undefined && { reason });
}

async function pause(
  { clock, minute = 60_000, signal }: DeliveryContext,
  { delivery }: Job,
  status: 'retrying' | 'queued',
  minutes: number,
): Promise<void> {
  const milliseconds = minutes * minute;
  delivery.status = status;
  delivery.next_attempt_at = new Date(clock.now() + milliseconds).toISOString();
  await clock.sleep(milliseconds, signal);
}

/** Work that nobody waits for; it ends with the emulator. */
function beside({ signal }: DeliveryContext, work: Promise<unknown>): void {
  void work.catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
}

async function send(context: DeliveryContext, job: Job): Promise<Delivery> {
  const error = await attempt(context, job);
  if (error !== undefined) beside(context, retry(context, job, error));
  return job.delivery;
}

/** Sends once; gives the error of an attempt that may be repeated. */
async function attempt(
  context: DeliveryContext,
  job: Job,
  testing = false,
): Promise<string | undefined> {
  const { delivery, data } = job;
  const found = readyOf(context, delivery.destination_config_id, testing);
  if ('status' in found) return void end(job, found.status, found.reason);
  const at = context.store.now();
  const outcome = await sent(found, JSON.stringify({ data }), context);
  context.signal?.throwIfAborted();
  delivery.attempts.push({ at, ...outcome });
  const { status = 0, error } = outcome;
  if (status < 200 || status >= 300) return error ?? `the receiver returned ${status}`;
  end(job, 'delivered');
  return undefined;
}

async function retry(context: DeliveryContext, job: Job, first: string): Promise<void> {
  let error: string | undefined = first;
  for (const minutes of RETRY_MINUTES) {
    note(context, job, { last_error_text: error });
    await pause(context, job, 'retrying', minutes);
    error = await attempt(context, job);
    if (error === undefined) return;
  }
  note(context, job, { last_error_text: error, suspended: true });
  end(job, 'failed', `after ${RETRY_MINUTES.length + 1} attempts: ${error}`);
}

/** Writes down at the destination what became of an attempt. */
function note({ store }: DeliveryContext, { delivery, face }: Job, fields: JsonObject): void {
  const kind = destinationsOf(store);
  const before = store.get(kind, delivery.destination_config_id);
  const after = { ...before, ...fields, last_error_at: store.now() };
  if (before) store.commit({ kind, before, after, actor: system, face });
}

/** @param sending is called when no further alert can join */
async function summarise(context: DeliveryContext, job: Job, sending: () => void): Promise<void> {
  await pause(context, job, 'queued', DAY_MINUTES);
  sending();
  const { store } = context;
  const kind = store.kinds.get('alert_rules')!;
  const before = store.get(kind, job.delivery.alert_config_id!);
  if (!before) return void end(job, 'skipped', 'the rule was deleted');
  const after = { ...before, last_summary_ts: store.now() };
  store.commit({ kind, before, after, actor: system, face: job.face });
  await send(context, job);
}

const destinationsOf = (store: RecordStore): Kind => store.kinds.get(DESTINATIONS)!;

interface Ready {
  readonly network: Send;
  readonly url: string;
  /** Absent: unsigned. */
  readonly secret?: string;
}

/** @param testing a destination that takes nothing is tried all the same */
function readyOf(
  { store, behaviours, secrets, send: network, anywhere = false }: DeliveryContext,
  id: string,
  testing: boolean,
) {
  const skipped = (reason: string) => ({ status: 'skipped', reason }) as const;
  const refused = (reason: string) => ({ status: 'refused', reason }) as const;
  const kind = destinationsOf(store);
  const record = store.get(kind, id);
  if (!record) return skipped('the destination was deleted');
  if (!testing && record.enabled !== true) return skipped('the destination is disabled');
  if (!testing && record.suspended === true) return skipped('the destination is suspended');
  const url = String(valueAt(record, 'endpoint.url') ?? '');
  if (!network) return refused('this emulator has no network');
  const why = unreachable(url, anywhere);
  if (why !== undefined) return refused(why);
  const secret = secrets.of(id);
  if (secret !== undefined) return { network, url, secret };
  if (behaviours.unsigned_deliveries) return { network, url };
  const set = valueAt(record, SECRET) === LIVE_MASK;
  return refused(
    set
      ? `its secret was set before the emulator was started: send ${SECRET} again, by PATCH`
      : `it has no ${SECRET} to sign with`,
  );
}

/** Why nothing is delivered to a URL: elsewhere it has to be allowed, and https on the ports that the service takes. */
function unreachable(url: string, anywhere: boolean): string | undefined {
  const parsed = urlFrom(url);
  if (!parsed) return 'its endpoint.url is not a URL';
  const { protocol, hostname, port, username, password } = parsed;
  if (!['http:', 'https:'].includes(protocol)) return 'its endpoint.url is neither http nor https';
  if (username !== '' || password !== '') return 'its endpoint.url holds a user name or a password';
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return undefined;
  if (!anywhere)
    return `${hostname} is another machine: to deliver there, start the emulator with --deliver-anywhere`;
  return protocol === 'https:' && ['', '8443'].includes(port)
    ? undefined
    : 'the service delivers to https on port 443 or 8443';
}

/** One of the two. */
interface Outcome {
  readonly status?: number;
  readonly error?: string;
}

async function sent(
  { network, url, secret }: Ready,
  body: string,
  { behaviours, signal }: DeliveryContext,
): Promise<Outcome> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'trueup-emulator',
    ...(secret !== undefined && {
      [behaviours.signature_header]: createHmac('sha256', secret).update(body).digest('hex'),
    }),
  };
  try {
    return { status: await network(url, headers, body, signal) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** The secrets that sign deliveries, by the id of their destination. They are held in memory for as long as the process runs: no record, no response and no file has them. */
export function createSecrets() {
  const known = new Map<string, string>();
  return {
    /** Takes the secret out of a body that was accepted for a record; no other body is read. */
    keep({ name }: Kind, id: string, body: () => JsonObject): void {
      const secret = name === DESTINATIONS ? valueAt(body(), SECRET) : undefined;
      if (typeof secret === 'string') known.set(id, secret);
    },
    /** Undefined where it was never sent to this process. */
    of: (id: string) => known.get(id),
  };
}
