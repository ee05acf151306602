// The tools of the provider in a real process: environment, disk, network, and the Terraform run that started it.
import { hostname } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { checkerOf } from '../declarations/single-declaration.js';
import {
  addressMistyped,
  canonical,
  isAddress,
  isObject,
  refuse,
  sha256,
  tryJson,
  type Entry,
} from '../model/index.js';
import type { LockPort } from '../platform/index.js';
import { machine } from '../platform/host.js';
import { notesBeside } from '../state/index.js';
import type { ProviderServer } from '../terraform/protocol/provider-replies.js';
import { createProvider, type ProviderTools } from '../terraform/provider-calls.js';
import type { JournalPlace, JournalRun } from '../terraform/provider-journal.js';
import { providerFunctions } from '../resources/provider-functions.js';
import { policyRules } from '../resources/rules/index.js';
import { contextOf, type Context } from './context.js';
import { tryFile } from './masked-credentials.js';
import { settleMilliseconds } from './environment-settings.js';
import { fingerprintsOf, storeAt } from './state-location.js';
import { reach } from './cloud-connection.js';
import { endpointsIn } from './environment-credentials.js';

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
  const { kinds, collections, clock, random, environment } = context;
  const lock = await machine();
  let checker: ReturnType<typeof checkerOf> | undefined;
  return createProvider({
    kinds,
    rules: policyRules,
    collections,
    functions: providerFunctions,
    clock,
    random,
    environment,
    log,
    fingerprints: await fingerprintsOf(context),
    journal: (place, name) => journalAt(context, { lock, parent, place, name }),
    endpoints: (named) => endpointsIn({ environment: named }),
    async reach(named, settings, { emit, signal }) {
      const there: Context = { ...context, environment: named, signal };
      const reached = await reach(there, settings, { emit });
      return { ...reached, settleMilliseconds: settleMilliseconds(there) };
    },
    async check(kind, raw, declaration) {
      checker ??= (await import('../declarations/single-declaration.js')).checkerOf(kinds);
      return checker(kind, raw, declaration);
    },
    async checkAddress(address, source) {
      (await import('../client/index.js')).checkedUrl(address, source);
    },
  });
}

interface JournalName {
  readonly lock: LockPort;
  /** The process id of terraform. */
  readonly parent: number;
  /** A folder or an address. */
  readonly place: string;
  /** Of the cloud. */
  readonly name: string;
}

/** The provider waits for the lock itself. */
const LOCK = { wait: '0' };

/** @throws Refusal where the place cannot hold it */
export async function journalAt(context: Context, named: JournalName): Promise<JournalPlace> {
  const { cwd, files, random } = context;
  const { place, name } = named;
  if (isAddress(place)) {
    const project = `terraform.${name}`;
    return {
      store: await storeAt(context, { url: place, project, lock: LOCK }),
      journalSettings: `{ state: ${JSON.stringify({ url: place, project })} }`,
      run: await runOf(context, named, stateIn(context)),
    };
  }
  const mistyped = addressMistyped('the location of the journal', place);
  if (mistyped) refuse(mistyped.code, mistyped.summary, mistyped);
  const path = resolve(cwd, place, `${name}.json`);
  const file = { url: path, project: 'default', lock: LOCK, afterLoss: AFTER_LOSS };
  return {
    store: await storeAt(context, file),
    notes: notesBeside(path, { files, random }),
    journalSettings: `{ state: ${JSON.stringify(path)} }`,
    run: await runOf(context, named, { id: relative(resolve(cwd, place), cwd), isAlone: false }),
  };
}

/** What a run works on. */
interface WorkedOn {
  readonly id: string;
  /** Whether no other run works on it at the same time. */
  readonly isAlone: boolean;
}

/** Milliseconds after which an entry of another machine counts as abandoned, because its process cannot be checked here. */
const ELSEWHERE = 3_600_000;

/**
 * Named by machine, process, its start, and for which state it works: only what was made for the same one may be taken.
 * Nobody tells a provider its state, so the workspace stands for it, and `on`. For a journal in a folder that is the
 * working folder as seen from there: it may have moved with the journal, or the journal may serve several folders.
 */
async function runOf(
  { environment, cwd, clock }: Context,
  { lock, parent }: JournalName,
  on: WorkedOn,
): Promise<JournalRun> {
  const noted = tryFile(join(dataFolder({ environment, cwd }), 'environment'))?.trim();
  const workspace = environment['TF_WORKSPACE'] || noted || 'default';
  const start = (await lock.find(parent))?.startTime ?? '';
  return {
    id: ['terraform', hostname(), parent, start || '-', workspace, on.id].join(' '),
    async isOver({ file, applied_at }: Entry) {
      const [, host, pid, began, theirs, ...rest] = file.split(' ');
      if (theirs !== workspace || rest.join(' ') !== on.id) return false;
      if (host !== hostname())
        return on.isAlone || clock.now() - Date.parse(applied_at) > ELSEWHERE;
      const found = await lock.find(Number(pid));
      return !found || (found.startTime !== null && found.startTime !== began);
    },
  };
}

const dataFolder = ({ environment, cwd }: Pick<Context, 'environment' | 'cwd'>): string =>
  join(cwd, environment['TF_DATA_DIR'] || '.terraform');

/** Members of a backend that tell where it keeps states; others may differ from machine to machine. */
const PLACE =
  /^(?:address|bucket|key|prefix|path|hostname|organization|workspaces|schema_name|namespace|(?:workspace_)?key_prefix|container_name|storage_account_name|secret_suffix|endpoints?)$/;

/**
 * The remote state that terraform works on, as terraform itself noted it: the folder is another one on each machine.
 * Terraform locks a remote state, so a run that holds it is alone.
 */
function stateIn(context: Pick<Context, 'environment' | 'cwd'>): WorkedOn {
  const workspace = context.environment['TFC_WORKSPACE_SLUG'];
  if (workspace) return { id: workspace, isAlone: true };
  const noted = tryJson(tryFile(join(dataFolder(context), 'terraform.tfstate')) ?? '');
  const backend = isObject(noted) ? noted['backend'] : undefined;
  if (!isObject(backend) || backend['type'] === 'local' || !isObject(backend['config']))
    return { id: '', isAlone: false };
  const place = Object.entries(backend['config']).filter(
    ([name, value]) => PLACE.test(name) && value !== null,
  );
  const digest = sha256(canonical([backend['type'] ?? null, Object.fromEntries(place)]));
  return { id: digest.slice(0, 16), isAlone: true };
}
