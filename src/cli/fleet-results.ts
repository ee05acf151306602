// Where the results of a fleet are kept: `fleet/<run>`, and `fleet/<run>/<tenant>`, each written once. In a folder they
// are files below `.trueup`. A tenant that runs again in the same run gets a further result, `<tenant>@2`.
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
import { ifThere, isDiskError, withDisk } from '../state/disk-errors.js';
import type { Context } from './context.js';

export interface RunRecords {
  /** The run as it was begun; undefined where there is none. */
  run(): Promise<FleetRun | undefined>;
  /** Begins it, or goes on with it. @returns whether it was there @throws Refusal where it is another one */
  begin(run: FleetRun): Promise<boolean>;
  /** The last result of a tenant. */
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
  };
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
  return {
    run,
    async last(tenant) {
      let newest: TenantResult | undefined;
      for (let attempt = 1; ; attempt += 1) {
        const found = await read<TenantResult>(keyOf(tenant, attempt));
        if (!found) return newest;
        newest = found;
      }
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
