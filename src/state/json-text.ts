// JSON text from disk. JSON.parse quotes its input in errors and does not always name the place; so its errors are not
// shown, and trueup's own scanner finds the place if the text is wrong.

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
/** Characters of a string that need no escape, in runs: a large file takes a second instead of many. */
const PLAIN = /[^"\\\u0000-\u001f]{1,4096}/y;

export interface JsonPosition {
  readonly line: number;
  readonly column: number;
}

/** The value, or the first place where the text stops being JSON. */
export function parseJsonText(
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): { readonly value: unknown } | { readonly brokenAt: JsonPosition } {
  try {
    return { value: parse(text) };
  } catch {
    return { brokenAt: jsonPositionOf(text, breakOf(text)) };
  }
}

/** Line and column, from 1, of a character offset. */
export function jsonPositionOf(text: string, offset: number): JsonPosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Offset of the first character that cannot stand where it stands. Iterative: depth costs no stack. */
function breakOf(text: string): number {
  const closers: ('}' | ']')[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const takeText = (wanted: string): boolean =>
    text.startsWith(wanted, at) && ((at += wanted.length), true);
  const takeString = (): boolean => {
    if (!takeText('"')) return false;
    while (!takeText('"')) if (!take(PLAIN) && !take(ESCAPE)) return false;
    return true;
  };
  const takeKey = (): boolean =>
    closers.at(-1) === ']' || (take(SPACE) && takeString() && take(SPACE) && takeText(':'));

  for (;;) {
    take(SPACE);
    const closer = takeText('{') ? '}' : takeText('[') && ']';
    if (closer) {
      closers.push(closer);
      take(SPACE);
      if (!text.startsWith(closer, at)) {
        if (!takeKey()) return at;
        continue;
      }
    } else if (!takeString() && !take(SCALAR)) return at;
    while (take(SPACE) && closers.length > 0 && takeText(closers.at(-1)!)) closers.pop();
    if (closers.length === 0 || !takeText(',') || !takeKey()) return at;
  }
}
