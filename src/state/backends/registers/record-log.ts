// The journal as a log of waves: write-once values, each naming the one that it follows. After a takeover, the first
// wave of the new holder names the last one that it saw. What the former holder wrote behind that one does not count:
// its requests were never sent, because the check before a request fails once the lock is taken.
import { Buffer } from 'node:buffer';
import { sha256, type RunRecord } from '../../../model/index.js';
import { checkedLine, decodeWave, parseCheckedLine } from '../../journal-text.js';
import { filled, isWhole, members, orNull } from '../../shape-check.js';
import { refuseDamaged } from '../backend-errors.js';
import type { Head } from './head.js';
import { slotOf, type Keys } from './keys.js';
import { keysBelow, type Registers } from './port.js';

/** Values read at the same time. */
const AT_ONCE = 16;

/** Names a wave and proves its content. */
export interface Link {
  readonly slot: string;
  readonly sha256: string;
}

interface WaveHeader {
  readonly format: 1;
  /** Of the lock under which it was written. */
  readonly holder: string;
  readonly after: Link | null;
  /** Makes this body unlike any other. */
  readonly nonce: string;
}

interface Wave extends Link {
  readonly after: Link | null;
  readonly records: readonly RunRecord[];
}

/** The waves that count, and the last of them. */
export interface JournalLog {
  readonly records: readonly RunRecord[];
  readonly last: Link | null;
}

const shape = members<WaveHeader>({
  format: isWhole(1, 1),
  holder: filled,
  after: orNull(members<Link>({ slot: filled, sha256: filled })),
  nonce: filled,
});

/** @param lines as `encodeRecord` gives them */
export function encodeWave(header: Omit<WaveHeader, 'format'>, lines: string): Uint8Array {
  return Buffer.from(`${checkedLine({ format: 1, ...header })}${lines}`);
}

/** Reads what follows the state that a head names. @throws Refusal where a value is damaged or missing */
export async function readLog(registers: Registers, keys: Keys, head: Head): Promise<JournalLog> {
  const prefix = keys.log(head.serial);
  const beyond = slotOf(head.epoch + 1, 0);
  const slots = (await keysBelow(registers, prefix))
    .map((key) => key.slice(prefix.length))
    .filter((slot) => slot >= head.log_from && slot < beyond);
  const waves: Wave[] = [];
  for (let at = 0; at < slots.length; at += AT_ONCE) {
    const some = slots.slice(at, at + AT_ONCE);
    waves.push(...(await Promise.all(some.map((slot) => readWave(registers, keys, head, slot)))));
  }
  const counted = followed(waves, `${registers.location}: ${prefix}`);
  const newest = counted.at(-1);
  return {
    records: counted.flatMap(({ records }) => records),
    last: newest ? { slot: newest.slot, sha256: newest.sha256 } : null,
  };
}

async function readWave(registers: Registers, keys: Keys, head: Head, slot: string): Promise<Wave> {
  const key = keys.entry(head.serial, slot);
  const place = `${registers.location}: ${key}`;
  const found = await registers.get(key);
  if (!found) return refuseWave(place, 'it was removed');
  const [first = '', ...lines] = Buffer.from(found.body).toString('utf8').split('\n');
  const header = parseCheckedLine(first);
  if (header === undefined || shape(header) || lines.pop() !== '')
    refuseWave(place, 'it is not what trueup wrote');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked
  const { after } = header as WaveHeader;
  return { slot, sha256: sha256(found.body), after, records: decodeWave(lines, place, 2) };
}

/** The waves in their order, each behind the one that it names. */
function followed(waves: readonly Wave[], place: string): readonly Wave[] {
  const kept: Wave[] = [];
  for (const wave of waves) {
    while (kept.length > 0 && kept.at(-1)!.slot !== wave.after?.slot) kept.pop();
    if (kept.at(-1)?.sha256 !== wave.after?.sha256)
      refuseWave(`${place}${wave.slot}`, 'it does not continue the record before it');
    kept.push(wave);
  }
  return kept;
}

const refuseWave = (place: string, problem: string): never =>
  refuseDamaged(
    place,
    problem,
    'It is a part of the journal. Restore it from a backup of the place. Nothing was changed.',
  );
