// The provider in process, and a little of terraform's core in front of it: what core asks, in its order, and what it
// holds a provider to. Each `start` is a process of a terraform run; it may be killed, and a later run goes on.
import { endpointsIn } from '../../src/cli/environment-credentials.js';
import { checkerOf } from '../../src/declarations/single-declaration.js';
import { checkedUrl } from '../../src/client/index.js';
import { equal } from '../../src/model/index.js';
import { collections, kinds as builtIn } from '../../src/resources/index.js';
import { providerFunctions } from '../../src/resources/provider-functions.js';
import { policyRules } from '../../src/resources/rules/index.js';
import { fileStore, notesBeside, scryptFingerprints } from '../../src/state/index.js';
import { isRecord } from '../../src/terraform/convert.js';
import { decode, encode, type CtyObject, type CtyValue } from '../../src/terraform/protocol/cty.js';
import type {
  PlanReply,
  ProviderServer,
  SchemaAttribute,
  WireDiagnostic,
} from '../../src/terraform/protocol/provider-replies.js';
import { createProvider, type ProviderTools } from '../../src/terraform/provider-calls.js';
import { typeOf } from '../../src/terraform/terraform-schema.js';
import { rig, type Rig } from './rig.js';
import { corePlanErrors, coreResultErrors } from './core-rules.js';
import { seededRandom } from './simulated.js';

export interface Process {
  readonly provider: ProviderServer;
  readonly log: string[];
  /** Ends the process as SIGKILL does; `run`: the terraform run too. */
  kill(run?: boolean): void;
}

export interface ProviderRig extends Rig {
  /** A provider process; `run` is that of an earlier process where both belong to one terraform run. */
  start(options?: {
    readonly config?: Partial<CtyObject>;
    readonly run?: number;
    readonly environment?: ProviderTools['environment'];
    readonly settle?: number;
  }): Promise<Process & { readonly run: number }>;
}

/** What is enough for the v2 API. */
export const configured: Readonly<Record<string, string>> = {
  TRUEUP_V2_URL: 'https://api.example.com/api/v2',
  TRUEUP_MGR_API_ID: 'a',
  TRUEUP_MGR_API_KEY: 'b',
  TRUEUP_VND_API_ID: 'c',
  TRUEUP_VND_API_KEY: 'd',
};

export function providerRig(options: Parameters<typeof rig>[0] = {}): ProviderRig {
  const world = rig(options);
  const { clock, files, machine } = world;
  const kinds = options.kinds ?? builtIn;
  const random = seededRandom(7);
  const settings = {
    kinds,
    rules: policyRules,
    collections,
    functions: providerFunctions,
    clock,
    random,
    fingerprints: scryptFingerprints({ cost: 4 }),
  };
  return {
    ...world,
    async start({
      config = {},
      run = machine.start().pid,
      environment = configured,
      settle = 60,
    } = {}) {
      const process = machine.start();
      const log: string[] = [];
      const provider = createProvider({
        ...settings,
        environment,
        log: (level, message) => void log.push(`${level}: ${message}`),
        journal: async (place, name) => {
          const path = `/sim/${place}/${name}.json`;
          return {
            store: fileStore({ path, files, clock, random, lock: process, version: '0.0.0' }),
            notes: notesBeside(path, { files, random }),
            journalSettings: `{ state: ${JSON.stringify(path)} }`,
            run: {
              id: `terraform ${run}`,
              isOver: async ({ file }) =>
                (await process.find(Number(file.split(' ')[1]))) === undefined,
            },
          };
        },
        endpoints: (named) => endpointsIn({ environment: named }),
        reach: async (_environment, _settings, { signal }) => ({
          cloud: world.connect(signal),
          settleMilliseconds: settle * 1000,
          close: () => Promise.resolve(),
        }),
        check: checkerOf(kinds),
        checkAddress: async (address, source) => checkedUrl(address, source),
      });
      const block = complete(provider.schema.provider.attributes, config);
      holds((await provider.configureProvider({ config: block })).diagnostics ?? []);
      const kill = (whole = true): void => {
        machine.kill(process.pid);
        if (whole) machine.kill(run);
      };
      return { provider, log, run, kill };
    },
  };
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not so: ${what}`);
}

/** What core, and the wire before it, would call a bug. */
function holds(trouble: readonly WireDiagnostic[]): void {
  must(trouble.length === 0, JSON.stringify(trouble));
}

/** An object with every attribute of a schema: those that are not given are null. */
export function complete(schema: readonly SchemaAttribute[], given: Partial<CtyObject>): CtyObject {
  return Object.fromEntries(
    schema.map(({ name, nested }) => {
      const value = given[name] ?? null;
      return [name, nested && isRecord(value) ? complete(nested.attributes, value) : value];
    }),
  );
}

/** What core, and the wire, refuse: throws where a reply breaks the contract. */
export class Core {
  constructor(readonly provider: ProviderServer) {}

  /** The private part of each object, by type and first text of its state, as core keeps it. */
  readonly #kept = new Map<string, Uint8Array>();

  #privateOf(type: string, state: CtyValue): Uint8Array {
    return this.#kept.get(this.#objectOf(type, state)) ?? new Uint8Array();
  }

  #keep(type: string, state: CtyValue, bytes: Uint8Array | undefined): void {
    if (bytes) this.#kept.set(this.#objectOf(type, state), bytes);
  }

  #objectOf(type: string, state: CtyValue): string {
    const id = this.provider.schema.identities[type]?.attributes[0]?.name ?? '';
    return `${type} ${isRecord(state) ? String(state[id]) : ''}`;
  }

  #schema(type: string): readonly SchemaAttribute[] {
    return this.provider.schema.resources[type]?.attributes ?? [];
  }

  /** There and back over the wire. */
  #carried(type: string, value: CtyValue): CtyValue {
    const shape = typeOf(this.#schema(type));
    return decode(shape, { msgpack: encode(shape, value), json: new Uint8Array() });
  }

  async validate(
    type: string,
    given: Partial<CtyObject>,
    allowed = true,
  ): Promise<readonly WireDiagnostic[]> {
    const config = complete(this.#schema(type), given);
    const { diagnostics = [] } = await this.provider.validateResourceConfig({
      type_name: type,
      config,
      client_capabilities: { write_only_attributes_allowed: allowed },
    });
    return diagnostics;
  }

  async plan(type: string, prior: CtyValue, given: Partial<CtyObject> | null): Promise<PlanReply> {
    const schema = this.#schema(type);
    const config = given && complete(schema, given);
    const proposed_new_state = config;
    const reply = await this.provider.planResourceChange({
      type_name: type,
      prior_state: prior,
      proposed_new_state,
      config,
    });
    holds(corePlanErrors(schema, prior, config, reply.planned_state ?? null));
    return { ...reply, planned_state: this.#carried(type, reply.planned_state ?? null) };
  }

  /** Plans, and says whether there is anything to do. */
  async isEmpty(type: string, prior: CtyValue, given: Partial<CtyObject>): Promise<boolean> {
    return equal((await this.plan(type, prior, given)).planned_state, prior);
  }

  /** Plans and applies. @throws Error with the summaries of errors, `state` being what is kept */
  async apply(type: string, prior: CtyValue, given: Partial<CtyObject> | null): Promise<CtyObject> {
    const { state, errors } = await this.tryApply(type, prior, given);
    if (errors.length > 0)
      throw Object.assign(
        new Error(errors.map(({ summary, detail }) => `${summary} ${detail ?? ''}`).join('\n')),
        { state },
      );
    return state as CtyObject;
  }

  async tryApply(
    type: string,
    prior: CtyValue,
    given: Partial<CtyObject> | null,
  ): Promise<{
    readonly state: CtyValue;
    readonly errors: readonly WireDiagnostic[];
    readonly warnings: readonly WireDiagnostic[];
  }> {
    const { planned_state = null } = await this.plan(type, prior, given);
    const config = given && complete(this.#schema(type), given);
    const reply = await this.provider.applyResourceChange({
      type_name: type,
      prior_state: prior,
      planned_state,
      config,
      planned_private: this.#privateOf(type, prior),
    });
    const [errors, warnings] = [
      (reply.diagnostics ?? []).filter((one) => one.severity === 'error'),
      (reply.diagnostics ?? []).filter((one) => one.severity === 'warning'),
    ];
    const state = reply.new_state === undefined ? prior : this.#carried(type, reply.new_state);
    this.#keep(type, state, reply.private);
    if (errors.length === 0) holds(coreResultErrors(this.#schema(type), planned_state, state));
    return { state, errors, warnings };
  }

  async read(type: string, state: CtyValue): Promise<CtyValue> {
    const {
      new_state,
      diagnostics,
      private: kept,
    } = await this.provider.readResource({
      type_name: type,
      current_state: state,
      private: this.#privateOf(type, state),
    });
    this.#keep(type, state, kept);
    must((diagnostics ?? []).length === 0, `${type} is read: ${diagnostics?.[0]?.summary}`);
    return this.#carried(type, new_state ?? null);
  }

  async import(type: string, id: string): Promise<CtyObject> {
    const { imported_resources = [], diagnostics = [] } = await this.provider.importResourceState({
      type_name: type,
      id,
      identity: null,
    });
    if (diagnostics.length > 0)
      throw new Error(
        diagnostics.map(({ summary, detail }) => `${summary} ${detail ?? ''}`).join('\n'),
      );
    return (await this.read(type, imported_resources[0]?.state ?? null)) as CtyObject;
  }
}
