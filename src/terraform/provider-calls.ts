// Every call of the protocol, over one configured provider, which opens the cloud and its journal on first use.
import {
  allowableRules,
  limited,
  Refusal,
  refuse,
  sameTarget,
  sha256,
  storedKinds,
  withId,
  type Cloud,
  type Collection,
  type Collections,
  type ConfigCheck,
  type Emit,
  type Kind,
  type Live,
  type ProviderFunction,
  type Settings,
} from '../model/index.js';
import { applyChange } from './apply-resource.js';
import {
  assertKnown,
  blockComplaints,
  configurationOf,
  keyless,
  unaddressed,
  type CheckAddress,
  type Configuration,
  type ProviderEndpoint,
  type EnvironmentVariables,
} from './provider-block.js';
import { identified, isRecord, stateOf } from './convert.js';
import { withoutSecretValues } from './reply-checks.js';
import { CtyError, fromJson, wordsOfPath, type CtyObject, type CtyValue } from './protocol/cty.js';
import { askedBadly, listForQuery, readObject, readRecords } from './data-sources.js';
import { createdIn, seenMark, readUntilVisible } from './creation-time.js';
import { complaints, wireError, wordsFor } from './wire-diagnostics.js';
import { importedId } from './import-resource.js';
import { claimOf, journalOf, type JournalPlace, type ProviderJournal } from './provider-journal.js';
import { planChange } from './plan-resource.js';
import type {
  ProviderServer,
  ReadReply,
  Schema,
  WireDiagnostic,
} from './protocol/provider-replies.js';
import { providerSchema, typeName, typeOf } from './terraform-schema.js';
import { listingCacheOf } from './listing-cache.js';
import { timed, unlimited } from './timeouts.js';
import { configComplaints } from './validate-resource.js';
import { writeSessionOf, type WriteSession, type WriteContext } from './write-session.js';

export interface ProviderTools extends Pick<
  WriteContext,
  'kinds' | 'rules' | 'clock' | 'random' | 'fingerprints'
> {
  readonly collections: Collections;
  readonly functions: readonly ProviderFunction[];
  readonly environment: EnvironmentVariables;
  /** Opens the cloud that an environment names. Sends nothing. @throws Refusal for an address that must not be used */
  readonly reach: (
    environment: EnvironmentVariables,
    settings: Settings,
    how: { readonly emit: Emit; readonly signal: AbortSignal },
  ) => Promise<ProviderTarget>;
  /** The services that an environment names. Sends nothing. @throws Refusal for a credential that is given twice */
  readonly endpoints: (environment: EnvironmentVariables) => readonly ProviderEndpoint[];
  /** @param place its folder, relative to the working folder, or its address @param name of the cloud: each has a journal @throws Refusal for an address that cannot hold one */
  readonly journal: (place: string, name: string) => Promise<JournalPlace>;
  readonly check: ConfigCheck;
  readonly checkAddress: CheckAddress;
  readonly log: (level: 'info' | 'error', message: string) => void;
}

export interface ProviderTarget {
  readonly cloud: Cloud;
  /** The settle time: until it has passed, a create without a response may still take effect. */
  readonly settleMilliseconds: number;
  close(): Promise<void>;
}

/** Open from the first need until the provider is configured again, or ends. */
type Site = Awaited<ReturnType<typeof openSite>>;

export function createProvider(given: ProviderTools): ProviderServer {
  const tools: ProviderTools = { ...given, kinds: storedKinds(given.kinds) };
  const types = typesOf(tools);
  const { schema, kindOf, readOnly, attributesOf } = types;
  const { claim, context, ...calls } = siteCalls(tools);

  /** Older versions had no `id` beside an identifier of another name. @throws Refusal */
  function upgradedState(type: string, raw: unknown): CtyValue {
    const kind = kindOf(type);
    const state = stated(attributesOf(schema.resources, type), raw);
    claim(kind, state);
    return isRecord(state) ? { ...state, id: state[kind.id] ?? null } : state;
  }

  return {
    schema,
    ...calls,
    ...readCalls(types, { claim, context }),

    async validateResourceConfig({ type_name, config, client_capabilities }) {
      if (!isRecord(config)) return {};
      const { write_only_attributes_allowed: allowed } = client_capabilities;
      const kind = kindOf(type_name);
      return { diagnostics: await configComplaints(tools.check, kind, config, allowed) };
    },

    async validateDataResourceConfig({ type_name, config }) {
      const collection = readOnly.get(type_name);
      return { diagnostics: collection && isRecord(config) ? askedBadly(collection, config) : [] };
    },

    async upgradeResourceState({ type_name, version, raw }) {
      const known = schema.resources[type_name];
      return known && version > known.version
        ? { diagnostics: [tooNew(version, known.version)] }
        : { upgraded: upgradedState(type_name, raw) };
    },

    async moveResourceState({ type_name, raw, source }) {
      if (source.type !== type_name) return { diagnostics: [immovable(source.type, type_name)] };
      // The same type at another address, as of a private registry: the state is of this provider.
      return { target: upgradedState(type_name, raw) };
    },

    async callFunction({ name, values }) {
      const { parameters, call } = tools.functions.find((one) => one.name === name)!;
      const names = Object.keys(parameters);
      const done = call(Object.fromEntries(names.map((one, index) => [one, values[index]])));
      return 'error' in done
        ? { error: { text: done.error, argument: names.indexOf(done.argument) } }
        : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts, and lists of them
          { result: done.result as CtyValue };
    },

    async upgradeResourceIdentity({ type_name, version, raw }) {
      const known = schema.identities[type_name];
      if (known && version > known.version)
        return { diagnostics: [tooNew(version, known.version)] };
      return { upgraded: fromJson(typeOf(known?.attributes ?? []), raw) };
    },

    async planResourceChange({ type_name, prior_state, proposed_new_state, config }) {
      const kind = kindOf(type_name);
      claim(kind, prior_state);
      if (!isRecord(config) || proposed_new_state === null)
        return { planned_state: null, diagnostics: partingWords(kind, prior_state) };
      const prior = isRecord(prior_state) ? prior_state : null;
      return planChange({ kind, schema: attributesOf(schema.resources, type_name), prior, config });
    },

    async applyResourceChange({ type_name, prior_state, planned_state, config, planned_private }) {
      return applyChange(await context(), {
        kind: kindOf(type_name),
        prior: prior_state,
        planned: planned_state,
        config,
        kept: planned_private,
      });
    },
  };
}

/** The types that a configuration may name. */
function typesOf({ kinds, collections, functions }: ProviderTools) {
  const schema = providerSchema(kinds, collections, functions);
  const resources = new Map([...kinds.values()].map((kind) => [typeName(kind.singular), kind]));
  const readOnly = new Map(
    [...collections.values()]
      .filter(({ name }) => !kinds.has(name))
      .map((one) => [typeName(one.name), one]),
  );
  const kindOf = (type: string): Kind =>
    resources.get(type) ?? refuse('unknown-type', `There is no resource type ${type}.`);
  const attributesOf = (all: Readonly<Record<string, Schema>>, type: string) =>
    all[type]?.attributes ?? [];
  return { schema, kindOf, readOnly, attributesOf };
}

/** The calls that read what is live. */
function readCalls(
  { schema, kindOf, readOnly, attributesOf }: ReturnType<typeof typesOf>,
  { claim, context }: Pick<ReturnType<typeof siteCalls>, 'claim' | 'context'>,
) {
  return {
    async readResource({ type_name, current_state, private: kept }) {
      const kind = kindOf(type_name);
      claim(kind, current_state);
      return isRecord(current_state)
        ? readState(context, kind, current_state, kept)
        : { new_state: null };
    },

    async importResourceState({ type_name, id, identity }) {
      const kind = kindOf(type_name);
      const known = isRecord(identity) ? identity[kind.id] : null;
      try {
        const { listings } = await context();
        const found = await importedId(listings, kind, typeof known === 'string' ? known : id);
        const attributes = attributesOf(schema.resources, type_name);
        const nothing = Object.fromEntries(attributes.map(({ name }) => [name, null]));
        const state = { ...nothing, id: found, [kind.id]: found };
        claim(kind, state);
        return { imported_resources: [{ type_name, state }] };
      } catch (error) {
        return { diagnostics: complaints(kind, error) };
      }
    },

    async listResource({ type_name, config, limit }) {
      const { listings } = await context();
      const given = isRecord(config) ? config : {};
      return { objects: await listForQuery(listings, kindOf(type_name), { config: given, limit }) };
    },

    async readDataSource({ type_name, config }) {
      if (!isRecord(config)) return { state: null };
      const attributes = attributesOf(schema.dataSources, type_name);
      const { listings, cloud } = await context();
      const collection: Collection | undefined = readOnly.get(type_name);
      return {
        state: collection
          ? await readRecords(cloud, collection, attributes, config)
          : await readObject(listings, kindOf(type_name), attributes, config),
      };
    },
  } satisfies Partial<ProviderServer>;
}

/** The calls that open and close the cloud and its journal, and what the others need of these. */
function siteCalls(tools: ProviderTools) {
  const { environment, log } = tools;
  const allowable = allowableRules(tools.rules.map(({ name }) => name));
  const claims = new Set<string>();
  let configuration: Configuration = configurationOf({}, environment, allowable);
  let configured = false;
  let stop = new AbortController();
  let site: Promise<Site> | undefined;

  async function opened(): Promise<Site> {
    assertKnown(configuration);
    return (site ??= openSite(tools, configuration, claims, stop.signal));
  }

  /** Records what terraform's states showed, even where nothing was read. */
  async function closeSite(): Promise<void> {
    try {
      const open =
        claims.size > 0 && configured && configuration.unknown.length === 0
          ? await opened()
          : await site;
      await open?.close();
    } catch (error) {
      log('error', error instanceof Refusal ? error.message : String(error));
    } finally {
      site = undefined;
    }
  }

  const calls = {
    async validateProviderConfig({ config }) {
      return {
        diagnostics: isRecord(config)
          ? await blockComplaints(config, allowable, tools.checkAddress)
          : [],
      };
    },

    async configureProvider({ config }) {
      if (configured) {
        await closeSite();
        claims.clear();
      }
      configured = true;
      stop = new AbortController();
      configuration = configurationOf(isRecord(config) ? config : {}, environment, allowable);
      const diagnostics = [
        ...unaddressed(configuration),
        ...keyless(configuration, tools.endpoints(configuration.environment)),
      ];
      if (diagnostics.length > 0) return { diagnostics };
      // Faults of the connection are reported once, here, and not by each object.
      if (configuration.unknown.length === 0) await opened();
      return {};
    },

    async stopProvider() {
      stop.abort(new Error('terraform was interrupted'));
    },

    close: closeSite,
  } satisfies Partial<ProviderServer>;
  return {
    ...calls,
    context: async (): Promise<WriteContext> => (await opened()).context,
    /** An object that a state of terraform's holds. */
    claim(kind: Kind, state: CtyValue | undefined): void {
      const id = isRecord(state) ? state[kind.id] : null;
      if (typeof id === 'string') claims.add(claimOf(kind.name, id));
    },
  };
}

/** Objects of one kind never become objects of another. */
const immovable = (from: string, to: string): WireDiagnostic =>
  wireError(
    [],
    `${from} cannot become ${to}`,
    `They are different objects of the service, and each resource type has one kind of them. Remove the moved block. To forget the old object without deleting it, write removed { from = ${from}.NAME } with lifecycle { destroy = false }; for the other, a resource ${to} with import { to = ${to}.NAME, id = "ID" }.`,
  );

const tooNew = (version: number, known: number): WireDiagnostic =>
  wireError(
    [],
    'The state was written by a newer version of this provider',
    `It has the version ${version}, and this provider knows ${known}. Update the provider: terraform init -upgrade`,
  );

/** A state, as terraform kept it or somebody wrote it, without secrets: core takes back none. @throws Refusal */
function stated(attributes: Schema['attributes'], raw: unknown): CtyValue {
  try {
    return withoutSecretValues(attributes, fromJson(typeOf(attributes), raw));
  } catch (error) {
    if (!(error instanceof CtyError)) throw error;
    // No path: core would show a line of the configuration, which is not what is wrong.
    return refuse(
      'unfit-state',
      `What terraform's state holds does not fit the schema: ${wordsOfPath(error.path)}${error.message}`,
      {
        detail:
          'Restore the state from a backup; or remove the object from it (terraform state rm), and import it again.',
      },
    );
  }
}

/** A kind that cannot be deleted is forgotten. */
function partingWords(kind: Kind, prior: CtyValue): readonly WireDiagnostic[] {
  if (kind.operations.delete || prior === null) return [];
  const summary = `The API cannot delete ${wordsFor(kind)}: terraform forgets it, and it stays as it is`;
  const detail = 'Where it is to lose its effect, change it so in a run of its own first.';
  return [{ severity: 'warning', summary, ...(kind.retire && { detail }) }];
}

/** The live values, in the spelling of the state. @throws Refusal where they could not be read: the state stays then */
async function readState(
  context: () => Promise<WriteContext>,
  kind: Kind,
  state: CtyObject,
  kept: Uint8Array,
): Promise<ReadReply> {
  const id = state[kind.id];
  if (typeof id !== 'string' || id === '')
    return refuse('no-id', `The state of ${wordsFor(kind)} holds no id.`, {
      detail: 'Remove it (terraform state rm) and import the object again.',
    });
  const open = await context();
  const found = async (): Promise<Live | undefined> =>
    (await open.listings.find(kind, id)) ?? readUntilVisible(open, kind, id, createdIn(kept));
  const live = await timed(open.clock, { kind, operation: 'read', block: state }, (limit) =>
    limit.until(found()),
  );
  return live
    ? { new_state: stateOf(withId(kind), identified(live), state), private: seenMark }
    : { new_state: null };
}

async function openSite(
  tools: ProviderTools,
  configuration: Configuration,
  claims: Set<string>,
  signal: AbortSignal,
) {
  const { kinds, rules, clock, random, fingerprints, log } = tools;
  const emit: Emit = (event) => {
    if (event.type === 'waiting')
      log('info', `waiting ${Math.ceil(event.milliseconds / 1000)} s ${event.why}`);
    if (event.type === 'diagnostic')
      log(event.diagnostic.severity === 'error' ? 'error' : 'info', event.diagnostic.summary);
  };
  const { cloud, settleMilliseconds, close } = await tools.reach(
    configuration.environment,
    configuration.settings,
    { emit, signal },
  );
  const listings = listingCacheOf(cloud, kinds, emit);
  const place = await tools.journal(configuration.journal, targetName(cloud.target));
  const shared = {
    ...place,
    kinds,
    rules,
    cloud,
    listings,
    claims,
    bound: new Set<string>(),
    told: new Set<string>(),
    allow: configuration.allow,
    settings: configuration.settings,
    alone: limited(1),
    clock,
    random,
    fingerprints,
    emit,
    signal,
    settleMilliseconds,
  };
  const journal: ProviderJournal<WriteSession> = journalOf(shared, (held) =>
    writeSessionOf(shared, held),
  );
  const within: WriteContext['within'] = (signal) => cloud.within(signal);
  const context: WriteContext = { ...shared, journal, limit: unlimited, within };
  return {
    context,
    async close(): Promise<void> {
      try {
        await journal.close();
      } finally {
        await close();
      }
    },
  };
}

/** One journal a cloud. An emulator takes another port each time. */
const targetName = (target: string): string =>
  sameTarget(target, 'http://localhost')
    ? 'loopback'
    : sha256(target.split(' ', 1)[0]!).slice(0, 16);
