// The head of a place that has none. If it was lost, the newest state and the log behind it are still there: they tell what
// was created, and a new head continues them.
import { Buffer } from 'node:buffer';
import { defined, sha256 } from '../../../model/index.js';
import { decodeState } from '../../state-format.js';
import { refuseDamaged } from '../backend-errors.js';
import type { Head, StoredState } from './head.js';
import type { ProjectPlace } from './keys.js';
import { keysBelow } from './port.js';

/** More often than any lock was taken: waves that a run still writes under the lost head stay behind those of the new one. */
const LATER = 1_000_000_000;

interface HeadlessPlace extends ProjectPlace {
  /** Of trueup, for messages. */
  readonly version: string;
}

type Remains = Pick<Head, 'lineage' | 'secrets_salt' | 'target' | 'states'>;

/** Its epoch is 0 where nothing is left. @param target of the run, where nothing tells another @throws Refusal where what is left is damaged */
export async function newHead(place: HeadlessPlace, target: string): Promise<Head> {
  const { clock, random } = place;
  const [states, waves] = await Promise.all([
    numbersBelow(place, place.keys.states, /^(\d{12})-/),
    numbersBelow(place, place.keys.logs, /^(\d{12})\/(\d{12})\//),
  ]);
  const [serial = 0] = states.at(-1)?.numbers ?? [];
  const [logged = 0, epoch = 0] = waves.at(-1)?.numbers ?? [];
  const newest = states.filter(({ numbers }) => numbers[0] === serial && serial >= logged);
  return {
    format: 2,
    lineage: random.uuid(),
    secrets_salt: Buffer.from(random.bytes(16)).toString('base64'),
    target,
    states: [],
    ...(newest[0] && (await remains(place, { serial, keys: newest.map(({ key }) => key) }))),
    serial: Math.max(serial, logged),
    epoch: states.length + waves.length > 0 ? epoch + LATER : 0,
    beat: 0,
    holder: null,
    log_from: '',
    carry: [],
    moved: null,
    probed_at: new Date(clock.now()).toISOString(),
  };
}

async function numbersBelow(
  { registers }: HeadlessPlace,
  prefix: string,
  shape: RegExp,
): Promise<readonly { readonly key: string; readonly numbers: readonly number[] }[]> {
  const keys = await keysBelow(registers, prefix);
  return keys.flatMap((key) => {
    const [, ...numbers] = shape.exec(key.slice(prefix.length)) ?? [];
    return numbers.length > 0 ? [{ key, numbers: numbers.map(Number) }] : [];
  });
}

/** Of the newest state. Two of one serial are left by runs of which only one counted. */
async function remains(
  { registers, clock, version }: HeadlessPlace,
  { serial, keys: [key, other] }: { readonly serial: number; readonly keys: readonly string[] },
): Promise<Partial<Remains>> {
  const place = `${registers.location}: ${key!}`;
  const advice = 'Nothing was changed. Restore the head of the state from a backup of the place.';
  if (other !== undefined)
    refuseDamaged(
      place,
      `${other} has the same serial, and the head that names one is gone`,
      advice,
    );
  const found = await registers.get(key!);
  if (!found) return refuseDamaged(place, 'it was removed', advice);
  const text = Buffer.from(found.body).toString('utf8');
  const state = await decodeState(text, place, version, advice);
  const { lineage, target, secrets_salt, resources, runs = [] } = state;
  const { at, operation, host } = runs.find((run) => run.serial === serial) ?? {
    at: new Date(clock.now()).toISOString(),
    operation: '',
    host: '',
  };
  const stored: StoredState = {
    serial,
    key: key!,
    sha256: sha256(found.body),
    at,
    operation,
    host,
    objects: Object.keys(resources).length,
  };
  return { lineage, target, ...defined({ secrets_salt }), states: [stored] };
}
