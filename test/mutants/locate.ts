// Finds a piece of code whatever its formatting: white space and trailing commas do not count.

export interface Range {
  readonly start: number;
  /** The first position behind it. */
  readonly end: number;
}

const IGNORED = /\s+|,(?=\s*[)\]}])/g;

/** The code without what formatting decides, and where each of its characters stands in the original. */
function bare(code: string): { readonly text: string; readonly positions: readonly number[] } {
  const positions: number[] = [];
  let [text, at] = ['', 0];
  const keep = (until: number): void => {
    text += code.slice(at, until);
    for (; at < until; at += 1) positions.push(at);
  };
  for (const { index, 0: ignored } of code.matchAll(IGNORED)) {
    keep(index);
    at = index + ignored.length;
  }
  keep(code.length);
  return { text, positions };
}

/** Every place where `code` holds `piece`. */
export function locate(code: string, piece: string): readonly Range[] {
  const [{ text, positions }, { text: wanted }] = [bare(code), bare(piece)];
  const found: Range[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    found.push({
      start: positions[at] as number,
      end: (positions[at + wanted.length - 1] as number) + 1,
    });
  }
  return found;
}

/** `code` with its only `piece` replaced. @throws Error unless it holds the piece exactly once */
export function replaceOnce(code: string, piece: string, by: string): string {
  const [range, ...more] = locate(code, piece);
  if (!range || more.length > 0)
    throw new Error(`the code holds the text ${range ? more.length + 1 : 0} times instead of once`);
  return code.slice(0, range.start) + by + code.slice(range.end);
}
