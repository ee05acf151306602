// States by their bytes. Core sends each back with its next call as it was answered, and again with the one after that:
// reading one of them twice takes longer than knowing it again.
import { decode, type CtyType, type CtyValue, type DynamicValue } from './protocol/cty.js';

/** States that are kept, several times as many as are under way at once, and bytes of the largest. */
const STATES = 64;
const LARGEST = 16_384;

export class RecentStates {
  readonly #known = new Map<string, { readonly type: CtyType; readonly value: CtyValue }>();

  /** As `decode`. @throws CtyError */
  decode(type: CtyType, state: DynamicValue | null): CtyValue {
    const key = state ? keyOf(state.msgpack) : undefined;
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known?.type === type) return known.value;
    const value = decode(type, state);
    this.#keep(key, type, value);
    return value;
  }

  /** Bytes that leave, and what they would be read as. */
  keep(type: CtyType, msgpack: Uint8Array, value: CtyValue): void {
    this.#keep(keyOf(msgpack), type, value);
  }

  #keep(key: string | undefined, type: CtyType, value: CtyValue): void {
    if (key === undefined) return;
    this.#known.set(key, { type, value });
    const [oldest] = this.#known.keys();
    if (this.#known.size > STATES && oldest !== undefined) this.#known.delete(oldest);
  }
}

function keyOf(msgpack: Uint8Array): string | undefined {
  if (msgpack.length === 0 || msgpack.length > LARGEST) return undefined;
  return Buffer.from(msgpack.buffer, msgpack.byteOffset, msgpack.byteLength).toString('latin1');
}
