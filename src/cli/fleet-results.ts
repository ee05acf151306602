// Where the results of a fleet are kept: `fleet/<run>`, and `fleet/<run>/<tenant>`, each written once: registers beside
// remote states, else files below `.trueup`. A tenant that runs again in the same run gets a further result, `<tenant>@2`.
import { dirname, join } from 'node:path';
import {
  equal,
  isObject,
  NAME,
  refuse,
  tryJson,
  type FleetRun,
  type TenantResult,
} from '../model/index.js';
import { jsonText } from '../report/json-output.js';
import type { Registers } from '../state/backends/registers/port.js';
import { settledPut } from '../state/backends/registers/settled-put.js';
import type { Pauses } from '../state/backends/retried.js';
import { ifThere, isDiskError, withDisk } from '../state/disk-errors.js';
import type { Context } from './context.js';
import { registersAt } from './state-location.js';

export interface RunRecords {
  /** The run as it was begun; undefined where there is none. */
  run(): Promise<FleetRun | undefined>;
  /** Begins it, or goes on with it. @returns whether it was there @throws Refusal where it is another one */
  begin(run: FleetRun): Promise<boolean>;
  /** The last result of a tenant, of those that were there when it was first asked for. */
  last(tenant: string): Promise<TenantResult | undefined>;
  /** Writes a result under the next free attempt. @returns it */
  write(result: TenantResult): Promise<TenantResult>;
}

const RUN_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

/** @throws Refusal for what cannot be the name of a run */
export function checkedRun(name: string): string {
  if (RUN_NAME.test(name) && NAME.test(name)) return name;
  return refuse('usage', `--run ${JSON.stringify(name.slice(0, 80))} is no name of a run.`, {
    detail: 'A name begins with a letter; then come letters, digits, - and _.',
  });
}

/** Named texts that are written once. */
export interface ResultPlace {
  /** For people. */
  readonly location: string;
  read(key: string): Promise<string | undefined>;
  /** False where the key is there already. */
  create(key: string, text: string): Promise<boolean>;
  /** The keys below a folder, which ends in `/`. */
  list(folder: string): Promise<readonly string[]>;
}

/** Files below `.trueup`. */
export function resultFolder({ files, cwd }: Pick<Context, 'files' | 'cwd'>): ResultPlace {
  const location = join(cwd, '.trueup');
  const pathOf = (key: string): string => join(location, `${key}.json`);
  return {
    location,
    read: (key) => withDisk(pathOf(key), () => ifThere(files.read(pathOf(key)))),
    async create(key, text) {
      const path = pathOf(key);
      return withDisk(path, async () => {
        await files.makeFolder(dirname(path));
        try {
          await files.create(path, text, 0o600);
          return true;
        } catch (error) {
          if (isDiskError(error, 'EEXIST')) return false;
          throw error;
        }
      });
    },
    async list(folder) {
      const path = join(location, folder);
      const names = (await withDisk(path, () => ifThere(files.list(path)))) ?? [];
      return names.flatMap((name) => (name.endsWith('.json') ? [folder + name.slice(0, -5)] : []));
    },
  };
}

/** Registers beside the states. */
export function resultRegisters(registers: Registers, pauses: Pauses): ResultPlace {
  let prepared: Promise<void> | undefined;
  return {
    location: registers.location,
    async read(key) {
      const found = await registers.get(key);
      return found && Buffer.from(found.body).toString('utf8');
    },
    async create(key, text) {
      await (prepared ??= registers.prepare?.() ?? Promise.resolve());
      return (
        (await settledPut({ registers, ...pauses }, key, Buffer.from(text), null)) !== 'conflict'
      );
    },
    async list(folder) {
      const keys: string[] = [];
      for await (const key of registers.list(folder)) keys.push(key);
      return keys;
    },
  };
}

/** Beside the states of the fleet, where they have a remote place in common; and, in any case, a folder. */
export async function resultPlaces(
  context: Context,
  results: string | undefined,
): Promise<readonly ResultPlace[]> {
  const registers = results === undefined ? undefined : await registersAt(context, results);
  const folder = resultFolder(context);
  return registers ? [resultRegisters(registers, context), folder] : [folder];
}

/** By tenant. */
async function lastAttempts(
  place: ResultPlace,
  folder: string,
): Promise<ReadonlyMap<string, number>> {
  const last = new Map<string, number>();
  for (const key of await place.list(folder)) {
    const [tenant = '', attempt = '1'] = key.slice(folder.length).split('@');
    last.set(tenant, Math.max(last.get(tenant) ?? 0, Number(attempt)));
  }
  return last;
}

export function runRecords(place: ResultPlace, name: string): RunRecords {
  const runKey = `fleet/${name}`;
  const keyOf = (tenant: string, attempt: number): string =>
    `${runKey}/${tenant}${attempt === 1 ? '' : `@${attempt}`}`;
  const read = async <T>(key: string): Promise<T | undefined> => {
    const text = await place.read(key);
    const value = text === undefined ? undefined : tryJson(text);
    if (text !== undefined && !isObject(value))
      refuse('damaged-result', `${key} in ${place.location} is no result: somebody edited it`, {
        detail: 'Remove it, and run the tenant again with the same --run.',
      });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was written here
    return value as T | undefined;
  };
  const run = (): Promise<FleetRun | undefined> => read<FleetRun>(runKey);
  let attempts: Promise<ReadonlyMap<string, number>> | undefined;
  return {
    run,
    async last(tenant) {
      const attempt = (await (attempts ??= lastAttempts(place, `${runKey}/`))).get(tenant);
      return attempt === undefined ? undefined : read<TenantResult>(keyOf(tenant, attempt));
    },
    async begin(begun) {
      if (await place.create(runKey, jsonText(begun))) return false;
      const before = await run();
      const same =
        before?.command === begun.command &&
        before.bundle === begun.bundle &&
        equal(before.tenants, begun.tenants);
      if (!same)
        refuse(
          'other-run',
          `the run ${name} is about other tenants, another command or another bundle`,
          {
            detail:
              'To resume it, type the same command with the same --select. For a new run, leave out --run.',
          },
        );
      return true;
    },
    async write(result) {
      for (let { attempt } = result; ; attempt += 1) {
        const numbered = { ...result, attempt };
        if (await place.create(keyOf(result.tenant, attempt), jsonText(numbered))) return numbered;
      }
    },
  };
}
