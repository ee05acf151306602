// The tools of the provider in a real process: environment, disk, network, and the Terraform run that started it.
import { relative, resolve } from 'node:path';
import type { checkerOf } from '../declarations/single-declaration.js';
import { addressMistyped, isAddress, refuse } from '../model/index.js';
import { machine } from '../platform/host.js';
import { notesBeside } from '../state/index.js';
import type { ProviderServer } from '../terraform/protocol/provider-replies.js';
import { createProvider, type ProviderTools } from '../terraform/provider-calls.js';
import type { JournalPlace } from '../terraform/provider-journal.js';
import { providerFunctions } from '../resources/provider-functions.js';
import { policyRules } from '../resources/rules/index.js';
import { contextOf, type Context } from './context.js';
import { runOf, stateIn, type ProviderProcess } from './interrupted-provider-runs.js';
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

interface JournalName extends ProviderProcess {
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
