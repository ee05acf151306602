// The keys of one project. Numbers have twelve digits, so that keys in the order of their bytes are in the order of time.
import type { PutTools } from './settled-put.js';

const digits = (value: number): string => String(value).padStart(12, '0');

export type Keys = ReturnType<typeof registerKeys>;

/** Where the values of one project are, and what writes them. */
export interface ProjectPlace extends PutTools {
  readonly keys: Keys;
}

/** @param project as in the settings, with the environment */
export function registerKeys(project: string) {
  const log = (serial: number): string => `${project}/log/${digits(serial)}/`;
  return {
    head: `${project}/head`,
    state: (serial: number, nonce: string): string => `${project}/state/${digits(serial)}-${nonce}`,
    /** @param at milliseconds since 1970 */
    probe: (at: number, nonce: string): string =>
      `${project}/probe/${digits(Math.floor(at / 1000))}-${nonce}`,
    /** All keys of probes begin so. */
    probes: `${project}/probe/`,
    /** All keys of states begin so. */
    states: `${project}/state/`,
    /** All keys of the log begin so. */
    logs: `${project}/log/`,
    log,
    entry: (serial: number, slot: string): string => `${log(serial)}${slot}`,
  };
}

/** The place of a wave in the log of a serial. */
export const slotOf = (epoch: number, sequence: number): string =>
  `${digits(epoch)}/${digits(sequence)}`;
