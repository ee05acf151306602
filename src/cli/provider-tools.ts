// The tools of the provider in a real process: environment, disk, network, and the Terraform run that started it.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { checkerOf } from '../declarations/index.js';
import type { Entry } from '../model/index.js';
import type { LockPort } from '../platform/index.js';
import { machine } from '../platform/host.js';
import { fileStore, maskedStore, notesBeside } from '../state/index.js';
import type { ProviderServer } from '../terraform/protocol/provider-server.js';
import { createProvider, type ProviderTools } from '../terraform/provider-calls.js';
import { policyRules } from '../resources/rules/index.js';
import { contextOf, type Context } from './context.js';
import { fingerprintsOf, settleMilliseconds } from './state-location.js';
import { endpointsIn, reach } from './cloud-connection.js';
import { version } from './version.js';

type Run = Awaited<ReturnType<ProviderTools['run']>>;

/** Terraform offers nothing for adoption. */
const AFTER_LOSS =
  'What it alone knew, terraform makes once more: before the next apply, look for objects that no state of terraform holds (trueup get KIND), and bring each in with an import block.';

/** @param parent the process that started this one: terraform */
export async function providerOf(
  process: NodeJS.Process,
  log: ProviderTools['log'],
  parent = process.ppid,
): Promise<ProviderServer> {
  const context = contextOf(process, {}, new AbortController().signal);
  const { kinds, collections, clock, random, files, environment, cwd } = context;
  const lock = await machine();
  let checker: ReturnType<typeof checkerOf> | undefined;
  return createProvider({
    kinds,
    rules: policyRules,
    collections,
    clock,
    random,
    environment,
    log,
    fingerprints: await fingerprintsOf(context),
    store(path) {
      const disk = { path: resolve(cwd, path), files, clock, random, lock };
      return maskedStore(fileStore({ ...disk, version, afterLoss: AFTER_LOSS }), context.masking);
    },
    notes: (path) => notesBeside(resolve(cwd, path), { files, random }),
    run: (journal) => runOf(context, lock, parent, relative(resolve(cwd, journal), cwd)),
    endpoints: (named) => endpointsIn({ environment: named }),
    async reach(named, settings, { emit, signal }) {
      const there: Context = { ...context, environment: named, signal };
      const reached = await reach(there, settings, { emit });
      return { ...reached, settleMilliseconds: settleMilliseconds(there) };
    },
    async check(kind, raw, declaration) {
      checker ??= (await import('../declarations/index.js')).checkerOf(kinds);
      return checker(kind, raw, declaration);
    },
    async checkAddress(address, source) {
      (await import('../client/index.js')).checkedUrl(address, source);
    },
  });
}

/** Milliseconds after which an entry of another machine counts as abandoned, because its process cannot be checked here. */
const ELSEWHERE = 3_600_000;

/**
 * Named by machine, process, its start, and for which state it works: only what was made for the same one may be taken.
 * Nobody tells a provider its state, so the workspace stands for it, and `place`: the folder as seen from the journal,
 * which may have moved with it, or serve several folders.
 */
async function runOf(
  { environment, cwd, clock }: Context,
  lock: LockPort,
  parent: number,
  place: string,
): Promise<Run> {
  const workspace =
    environment['TF_WORKSPACE'] ||
    workspaceIn(join(cwd, environment['TF_DATA_DIR'] || '.terraform'));
  const start = (await lock.find(parent))?.startTime ?? '';
  return {
    id: ['terraform', hostname(), parent, start || '-', workspace, place].join(' '),
    async isOver({ file, applied_at }: Entry) {
      const [, host, pid, began, theirs, ...rest] = file.split(' ');
      if (theirs !== workspace || rest.join(' ') !== place) return false;
      if (host !== hostname()) return clock.now() - Date.parse(applied_at) > ELSEWHERE;
      const found = await lock.find(Number(pid));
      return !found || (found.startTime !== null && found.startTime !== began);
    },
  };
}

function workspaceIn(folder: string): string {
  try {
    return readFileSync(join(folder, 'environment'), 'utf8').trim() || 'default';
  } catch {
    return 'default';
  }
}
