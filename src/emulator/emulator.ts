// The emulated cloud: a function from request to response over a store, with the configured faults.
import { Hono } from 'hono';
import type { Collection, Collections, JsonObject, Kinds } from '../model/index.js';
import type { Clock, Random } from '../platform/index.js';
import { system } from './activity-log.js';
import { addAlerts, addTrials } from './raise-alert.js';
import { addCollections } from './collections.js';
import { dummyCredentials, type EmulatorApp, type EmulatedCloud, type Credentials } from './app.js';
import { createDeliveries, createSecrets, type DeliveryOptions } from './deliveries.js';
import { bareEstate, withMentioned, type Estate } from './estate.js';
import { ConnectionReset, staged, type Fault, type FaultContext } from './faults.js';
import { addFlow } from './sample-flow.js';
import { addIot } from './iot.js';
import { strict, type Behaviours } from './behaviours.js';
import type { StoredRecord } from './records.js';
import { dialectOf, Refused, refusalResponse } from './error-responses.js';
import { isNamed, specificsOf } from './collection-rules.js';
import { createStaleFault } from './stale-fault.js';
import { createStore, type Listener } from './record-store.js';
import { addV2 } from './v2.js';
import { addV3 } from './v3.js';

export interface EmulatorOptions {
  readonly kinds: Kinds;
  /** Of these, what is no kind is only read; default: none. */
  readonly collections?: Collections;
  readonly clock: Clock;
  readonly random: Random;
  /** The first records; default: a single account. */
  readonly estate?: Estate;
  readonly credentials?: Credentials;
  readonly behaviours?: Partial<Behaviours>;
  readonly faults?: readonly Fault[];
  /** Default: nothing is delivered. */
  readonly deliveries?: DeliveryOptions;
  /** Another one of the same kinds, collections and behaviours: its routes serve both, and tokens of IoT open both. */
  readonly like?: { readonly app: EmulatorApp };
}

export type Emulator = ReturnType<typeof createEmulator>;

/** @throws Refusal for an estate that does not hold together. */
export function createEmulator(options: EmulatorOptions) {
  const { kinds, collections = new Map(), clock, random, estate: given = bareEstate } = options;
  const behaviours = { ...strict, ...options.behaviours };
  const estate = withMentioned(given, kinds);
  const stored = createStore({ kinds, collections, estate, clock, random });
  const staleFault = createStaleFault(stored, clock, random);
  const { store } = staleFault;
  const shared = { store, behaviours, clock, random, secrets: createSecrets() };
  const cloud: EmulatedCloud = {
    ...shared,
    credentials: options.credentials ?? dummyCredentials,
    deliveries: createDeliveries({ ...options.deliveries, ...shared }),
  };
  const app = options.like?.app ?? createApp(cloud);
  const lagging = { ...cloud, store: staleFault.readings };
  const seenBy = (method: string): EmulatedCloud =>
    method === 'GET' && staleFault.lags() ? lagging : cloud;
  const { later, settled } = lateWrites(clock);
  let play = staged(options.faults ?? []);

  /** @throws ConnectionReset where a fault breaks the connection. */
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const body = request.method === 'GET' ? '' : await request.text();
    const { method } = request;
    const scene: FaultContext = {
      clock,
      behaviours,
      url,
      method,
      request,
      proceed: async () => app.fetch(request, { body, cloud: seenBy(method) }),
      shift: (remove) => shiftBy(cloud, url, remove),
      lagging: staleFault.during,
      later,
    };
    const response = await play(scene);
    response.headers.set('date', new Date(clock.now()).toUTCString());
    return response;
  };

  return {
    fetch,
    app,
    snapshot: (): Estate => store.snapshot(),
    setFaults: (faults: readonly Fault[]): void => void (play = staged(faults)),
    /** Called after each change of the data. */
    onChange: (listener: Listener): void => store.listen(listener),
    /** Records of a kind as they are stored: references as ids, secrets as `*`. */
    objects: (name: string): readonly JsonObject[] => [...store.records(name)],
    settled,
  };
}

/** Requests that are carried out after their time; `settled` resolves once every one of them is. */
function lateWrites(clock: Clock) {
  const landing = new Set<Promise<unknown>>();
  return {
    later: (milliseconds: number, work: () => Promise<unknown>): void => {
      const landed: Promise<unknown> = clock
        .sleep(milliseconds)
        .then(work)
        .catch((error: unknown) => {
          // Nobody is there any more to hear that the connection broke.
          if (!(error instanceof ConnectionReset)) throw error;
        })
        .finally(() => landing.delete(landed));
      landing.add(landed);
    },
    settled: async (): Promise<void> => {
      while (landing.size > 0) await Promise.all(landing);
    },
  };
}

function createApp(cloud: EmulatedCloud): EmulatorApp {
  const app: EmulatorApp = new Hono();
  const refusal = (refused: Refused, path: string): Response =>
    refusalResponse(refused, dialectOf(path), cloud.behaviours);
  app.onError((error, c) => {
    if (error instanceof Refused) return refusal(error, c.req.path);
    throw error;
  });
  app.notFound((c) => refusal(new Refused(404, 'there is nothing at this address'), c.req.path));
  for (const add of [addV2, addV3, addCollections, addTrials, addAlerts, addIot, addFlow])
    add(app, cloud);
  return app;
}

/** The collection that an address is about. */
function named<T extends Collection>(all: Iterable<T>, { pathname }: URL): T | undefined {
  return [...all].find(({ operations }) =>
    `${pathname}/`.startsWith(`/api/${operations.dialect}/${operations.collection}/`),
  );
}

/** Another client inserts a record in front of the collection, or takes away the first that may go. */
function shiftBy({ store, behaviours }: EmulatedCloud, url: URL, remove: boolean): void {
  const collection = named(store.collections, url);
  if (collection) store.happen(collection, remove);
  const kind = named(store.kinds.values(), url);
  if (!kind) return;
  const about = {
    kind,
    actor: system,
    face: { kinds: store.kinds, behaviours, base: `${url.origin}/api/v2` },
  };
  const records = store.all(kind);
  const free = (record: StoredRecord): boolean =>
    specificsOf(kind).hindersDelete?.(store, record, behaviours) === undefined &&
    !isNamed(store, kind, record);
  const goes = remove ? records.find(free) : undefined;
  if (goes) store.commit({ ...about, before: goes });
  if (remove) return;
  const { [kind.id]: _, ...model } = records[0] ?? {};
  const name = 'name' in kind.attributes && { name: `Inserted ${records.length}` };
  const parent = kind.name === 'accounts' && { account: store.root };
  const after = store.draft(kind, { ...model, ...name, ...parent });
  store.commit({ ...about, after, first: true });
}
