// Text from outside is data in every format: this is the only place that makes hostile characters visible and disables
// Markdown, HTML and the command syntaxes of CI logs.

/** Controls but the line feed, invisible and bidirectional formatting, lone surrogates, and the mark by which CI logs recognise commands anywhere in a line. */
const unsafe =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|[\ud800-\udfff]|#(?=#[a-z]*\[)/gu;

const short: Readonly<Record<string, string>> = { '\t': '\\t', '\r': '\\r' };

/** As JSON spells it, unit by unit, so that JSON text stays JSON. */
const spelled = (found: string): string =>
  short[found] ??
  Array.from(
    { length: found.length },
    (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');

/** The same text with unsafe characters spelled out; line feeds stay. Valid JSON stays valid and equal. */
export const inert = (text: string): string => text.replace(unsafe, spelled);

/** One line: line feeds are spelled out, too. */
export const visible = (text: string): string => inert(text).replaceAll('\n', '\\n');

/** The first `length` UTF-16 units of `text`; one fewer where the last one is half a character. */
export const beginning = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

export function shorten(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${beginning(text, length)}… (${text.length - length} more characters)`;
}

/** A line that no CI log takes for a command. */
export const guard = (line: string): string => line.replace(/^(\s*):(?=:)/, '$1\\u003a');

/** Words that mean nothing to Markdown, wherever they stand in a paragraph or a table cell. (Without case folding: it takes U+0345, a mark, for a letter.) */
const tame = /^(?:(?![wW]{3}\.)[\p{L}\p{N}]+(?:[.,'’/-][\p{L}\p{N}]+)*|[→–—·=]|)$/u;

/** Words, of which a code span is one, with what stands beside it. */
const WORDS = /(?:`[^`]*`|[^ ])+/g;

/** A command to type, to the end of a line. */
export const COMMAND = /(?<=: )(?:TRUEUP_STATE=.* )?trueup \S.*/g;

/** A block to write into a declaration file, to the end of a line. */
const BLOCK = /(?<=: )(?:moved|removed): \[\{.*/;

/** Prose for Markdown: plain words as they are, everything else in code spans. A code span stays one, and a command or a block at the end is one. */
export function prose(text: string): string {
  const line = visible(text);
  const at = [COMMAND, BLOCK].map((end) => line.search(end)).find((one) => one >= 0) ?? -1;
  return at < 0 ? wordsOf(line) : `${wordsOf(line.slice(0, at))} ${code(line.slice(at))}`;
}

function wordsOf(line: string): string {
  return (line.match(WORDS) ?? [])
    .map((word) => {
      const [, open = '', inner = '', close = ''] = /^(\(?)(.*?)([.,;:!?)]*)$/su.exec(word) ?? [];
      const [, span] = /^`([^`]+)`$/.exec(inner) ?? [];
      return open + (tame.test(inner) ? inner : code(span ?? inner)) + close;
    })
    .join(' ');
}

/** A code span for Markdown that nothing breaks out of, in table cells neither. */
export function code(text: string): string {
  const line = visible(text);
  return /[`|\\]|^\s|\s$|^$/.test(line)
    ? `<code>${line.replace(/[^\p{L}\p{N} .,-]/gu, (found) => `&#${found.codePointAt(0)};`)}</code>`
    : `\`${line}\``;
}

/** A fenced block for Markdown; the lines are made inert here. */
export function* fence(language: string, lines: Iterable<string>): Generator<string> {
  const safe = Array.from(lines, (line) => guard(visible(line)));
  const longest = safe.reduce(
    (most, line) => Math.max(most, ...(line.match(/`+/g) ?? []).map((run) => run.length)),
    2,
  );
  const mark = '`'.repeat(longest + 1);
  yield mark + language;
  yield* safe;
  yield mark;
}
