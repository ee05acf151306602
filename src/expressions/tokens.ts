// The strings, comments and words of a CEL expression. Apart from the evaluator, because every text with `${` is scanned
// and few hold an expression.

const RAW = String.raw`(?:[rR][bB]?|[bB][rR])(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')`;
const QUOTED = String.raw`[bB]?(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*')`;

/** A string, a comment, a word, or one character of anything else. */
const TOKEN = new RegExp(String.raw`${RAW}|${QUOTED}|//[^\n]*|[A-Za-z_]\w*|[^]`, 'y');

export function* tokensOf(source: string, from = 0) {
  const token = new RegExp(TOKEN);
  token.lastIndex = from;
  for (let found = token.exec(source); found; found = token.exec(source))
    yield { text: found[0], start: found.index, word: /^\w+$/.test(found[0]) };
}

/** Offset of the `}` that ends an expression; mappings and strings inside may hold others. -1 where nothing ends it. */
export function closingBrace(source: string, from: number): number {
  let open = 0;
  for (const { text, start } of tokensOf(source, from)) {
    if (text === '{') open += 1;
    if (text === '}' && open-- === 0) return start;
  }
  return -1;
}
