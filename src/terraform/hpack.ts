// Header blocks of HTTP/2 (RFC 7541), read in full, because every block changes what the next one refers to, and written
// without reference to anything.

/** The table that both sides know: names, each with the values it has there. */
const known =
  ':authority|:method=GET=POST|:path=/=/index.html|:scheme=http=https|:status=200=204=206=304=400=404=500|accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate';

export type Header = readonly [name: string, value: string];

const fixed: readonly Header[] = known.split('|').flatMap((row) => {
  const [name = '', ...values] = row.split('=');
  return (values.length === 0 ? [''] : values).map((value): Header => [name, value]);
});

/** Bits of the code of each byte, as letters: e is 5. The code is canonical, so they say all of it; the last is its end. */
const bits =
  'mwBBBBBBBxDBBDBBBBBBBBDBBBBBBBBBfjjlmfhkjjhkhfffeeefffffffghofljmfgggggggggggggggggggggghghmsmnfoefefefffeggfffefgfeefgggggokn' +
  'mBtvttvvvwvwwwwwxwxxvwxwwwwuvwvwwxvutvvwwuwvvxuvwwuuvuwvwwtvvvwvvwzztsvwvyzzzAAzxysuzAAzAxuuzzBAAAtxtuvuuwvvyyxxzwzAzzAAAAABAAAAAz' +
  'D';
const lengthOf = (letter: string): number => 'efghijklmnopqrstuvwxyzABCD'.indexOf(letter) + 5;

/** By length of the code: the first code of that length, and the bytes in the order of their codes. */
const codes = (() => {
  const rows = Array.from({ length: 31 }, (): { first: number; readonly bytes: number[] } => ({ first: 0, bytes: [] }));
  bits.split('').forEach((letter, byte) => rows[lengthOf(letter)]?.bytes.push(byte));
  rows.forEach((row, length) => {
    const before = rows[length - 1];
    row.first = before ? (before.first + before.bytes.length) << 1 : 0;
  });
  return rows;
})();

function unpacked(packed: Buffer): string {
  const out: number[] = [];
  let [code, length] = [0, 0];
  for (const byte of packed) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = (code << 1) | ((byte >> bit) & 1);
      length += 1;
      const row = codes[length];
      if (!row) throw new RangeError('a text with a code that is none');
      const at = code - row.first;
      if (at < 0 || at >= row.bytes.length) continue;
      out.push(row.bytes[at] as number);
      [code, length] = [0, 0];
    }
  }
  if (length > 7) throw new RangeError('a text that is cut off');
  return Buffer.from(out).toString('latin1');
}

/** What an entry of the moving table counts for beside its texts. */
const ENTRY = 32;
const TABLE = 4096;

/** Calls that are known again, and bytes of their blocks. */
const CALLS = 32;
const SHORT = 64;

/** Reads the header blocks of one connection, in their order. */
export class HeaderReader {
  readonly #recent: Header[] = [];
  /** What blocks of references mean while the table stays as it is: a client sends the same few with every call. */
  readonly #meanings = new Map<string, readonly Header[]>();
  #size = 0;
  #most = TABLE;

  /** @throws RangeError where it is no header block */
  read(block: Buffer): readonly Header[] {
    const key = block.length <= SHORT && block.every((byte) => byte > 0x80) ? block.toString('latin1') : undefined;
    const known = key === undefined ? undefined : this.#meanings.get(key);
    if (known) return known;
    const headers = this.#parse(block);
    if (key !== undefined && this.#meanings.size < CALLS) this.#meanings.set(key, headers);
    return headers;
  }

  #parse(block: Buffer): readonly Header[] {
    const headers: Header[] = [];
    let at = 0;
    const integer = (prefix: number): number => {
      const most = (1 << prefix) - 1;
      let value = byte() & most;
      if (value < most) return value;
      for (let shift = 0; shift < 28; shift += 7) {
        const next = byte();
        value += (next & 127) << shift;
        if (next < 128) return value;
      }
      throw new RangeError('a number that is too large');
    };
    const byte = (): number => {
      const next = block[at];
      if (next === undefined) throw new RangeError('a header block that is cut off');
      at += 1;
      return next;
    };
    const text = (): string => {
      const isPacked = ((block[at] ?? 0) & 0x80) !== 0;
      const length = integer(7);
      if (at + length > block.length) throw new RangeError('a header block that is cut off');
      at += length;
      const bytes = block.subarray(at - length, at);
      return isPacked ? unpacked(bytes) : bytes.toString('latin1');
    };
    while (at < block.length) {
      const first = block[at] as number;
      if (first & 0x80) headers.push(this.#at(integer(7)));
      else if ((first & 0xe0) === 0x20) this.#resize(integer(5));
      else {
        const index = integer(first & 0x40 ? 6 : 4);
        const header: Header = [index === 0 ? text() : this.#at(index)[0], text()];
        headers.push(header);
        if (first & 0x40) this.#remember(header);
      }
    }
    return headers;
  }

  #at(index: number): Header {
    const header = index <= fixed.length ? fixed[index - 1] : this.#recent[index - fixed.length - 1];
    if (!header) throw new RangeError('a reference to no header');
    return header;
  }

  #resize(most: number): void {
    if (most > TABLE) throw new RangeError('a table that is larger than was agreed');
    this.#most = most;
    this.#meanings.clear();
    this.#drop();
  }

  #remember(header: Header): void {
    this.#meanings.clear();
    this.#recent.unshift(header);
    this.#size += sizeOf(header);
    this.#drop();
  }

  #drop(): void {
    while (this.#size > this.#most) this.#size -= sizeOf(this.#recent.pop() as Header);
  }
}

const sizeOf = ([name, value]: Header): number => name.length + value.length + ENTRY;

/** A header block that leaves no trace in anybody's table. Texts are ASCII and shorter than 127. */
export function headerBlock(headers: readonly Header[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value, 'latin1')]);
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}
