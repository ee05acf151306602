// A cloud of the tests' own process behind a real socket, whose records another hand can change behind everybody's
// back, and the provider as it is over it, served to terraform from here: a command costs what terraform costs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { providerOf } from '../../src/cli/provider-tools.js';
import {
  createEmulator,
  dummyCredentials,
  parseFault,
  serve as listen,
  type Behaviours,
  type Emulator,
  type Estate,
} from '../../src/emulator/index.js';
import { isObject, sha256, walk, type Json, type JsonObject } from '../../src/model/index.js';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import { collections, kinds } from '../../src/resources/index.js';
import { serve } from './reattached.js';

const [mgrId, mgrKey, vndId, vndKey] = Object.values(dummyCredentials.v2[0] ?? {}) as [
  string,
  string,
  string,
  string,
];
const [token] = Object.keys(dummyCredentials.v3) as [string];

/** What no file may hold that terraform or the provider writes. */
export const KEYS: readonly string[] = [mgrId, mgrKey, vndId, vndKey, token];

export interface Box {
  /** What leads a client here. */
  readonly env: Readonly<Record<string, string>>;
  objects(kind: string): readonly JsonObject[];
  /** Everything, to begin another box with. */
  snapshot(): Estate;
  /** The secret that an object was given last, as a digest: by kind, identifier and path. */
  secrets(): ReadonlyMap<string, string>;
  /** Mutating requests so far, as `METHOD path`. */
  writes(): readonly string[];
  /** Another hand: the records of a kind are what `change` makes of them. */
  tamper(kind: string, change: (records: readonly JsonObject[]) => readonly JsonObject[]): void;
  /** What goes wrong from now on, in the words of `--fault`. */
  setFaults(...faults: readonly string[]): void;
  /** Stands between client and emulator. */
  intercept:
    ((request: Request, proceed: () => Promise<Response>) => Promise<Response>) | undefined;
  close(): Promise<void>;
}

export async function box(estate: Estate, behaviours: Partial<Behaviours> = {}): Promise<Box> {
  const begin = (now: Estate): Emulator =>
    createEmulator({
      kinds,
      collections,
      clock: systemClock(),
      random: systemRandom(),
      estate: now,
      behaviours,
    });
  let emulator = begin(estate);
  const writes: string[] = [];
  const secrets = new Map<string, string>();
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method !== 'GET') writes.push(`${request.method} ${new URL(request.url).pathname}`);
    const proceed = async (): Promise<Response> => {
      const sent = request.clone();
      const answer = await emulator.fetch(request);
      if (answer.ok)
        for (const [place, digest] of await secretsIn(sent, answer.clone()))
          secrets.set(place, digest);
      return answer;
    };
    return self.intercept ? self.intercept(request, proceed) : proceed();
  };
  const served = await listen({ ...emulator, fetch }, { port: 0 });
  const self: Box = {
    env: {
      TRUEUP_V2_URL: `${served.url}/api/v2`,
      TRUEUP_MGR_API_ID: mgrId,
      TRUEUP_MGR_API_KEY: mgrKey,
      TRUEUP_VND_API_ID: vndId,
      TRUEUP_VND_API_KEY: vndKey,
      TRUEUP_V3_URL: served.url,
      TRUEUP_V3_TOKEN: token,
    },
    objects: (kind) => emulator.objects(kind),
    snapshot: () => emulator.snapshot(),
    secrets: () => secrets,
    writes: () => writes,
    tamper(kind, change) {
      const { records, ...rest } = emulator.snapshot();
      emulator = begin({ ...rest, records: { ...records, [kind]: change(records[kind] ?? []) } });
    },
    setFaults: (...faults) => emulator.setFaults(faults.map(parseFault)),
    intercept: undefined,
    close: () => served.close(),
  };
  return self;
}

const digestOf = (secret: unknown): string => `sha256:${sha256(String(secret))}`;

/** Each secret of a write that was accepted, by the object that has it since. */
async function secretsIn(
  request: Request,
  answer: Response,
): Promise<readonly (readonly [string, string])[]> {
  const [, , version, collection, id] = new URL(request.url).pathname.split('/');
  const kind = [...kinds.values()].find(
    ({ operations }) => operations.dialect === version && operations.collection === collection,
  );
  if (!kind || !['POST', 'PUT', 'PATCH'].includes(request.method)) return [];
  const body = (await request.json()) as JsonObject;
  const given = [...walk(kind.attributes)].flatMap(([path, { secret }]) => {
    const value =
      secret === true
        ? path
            .split('.')
            .reduce<Json | undefined>(
              (tree, step) => (isObject(tree) ? tree[step] : undefined),
              body,
            )
        : undefined;
    return value === undefined ? [] : [[path, digestOf(value)] as const];
  });
  if (given.length === 0) return [];
  const key = id || String(((await answer.json()) as JsonObject)[kind.id]);
  return given.map(([path, digest]) => [`${kind.name} ${key} ${path}`, digest]);
}

export interface Reattached {
  /** The value of TF_REATTACH_PROVIDERS. */
  readonly reattach: string;
  close(): Promise<void>;
}

/** @param cwd where its journal lies, as for a provider that terraform starts in that folder */
export async function served(
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Reattached> {
  const folder = mkdtempSync(join(tmpdir(), 'box-'));
  const streams = { stdout: { value: new PassThrough() }, stderr: { value: new PassThrough() } };
  const own = Object.create(process, {
    env: { value: env },
    cwd: { value: () => cwd },
    ...streams,
  }) as NodeJS.Process;
  const provider = await providerOf(own, () => undefined, process.pid);
  const { reattach, close } = await serve({
    provider,
    log: () => undefined,
    source: 'registry.terraform.io/trueup/devicecloud',
    path: join(folder, 's'),
    pid: process.pid,
  });
  return {
    reattach,
    async close() {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
