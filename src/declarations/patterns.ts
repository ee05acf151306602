// Regular expressions of expectations. RE2 matches them in time linear in the text, because patterns come from
// declarations and texts from anywhere. Loaded only if a project has expectations, because it loads slowly.
import { RE2JS, RE2JSException } from 're2js';

const LONGEST = 500;
/** Instructions: what one character of a text may cost. */
const MOST_INSTRUCTIONS = 1_000;

/** Why a pattern cannot be matched; undefined where it can. */
export function patternFault(source: string): string | undefined {
  if (source.length > LONGEST) return `it is longer than ${LONGEST} characters`;
  try {
    const size = RE2JS.compile(RE2JS.translateRegExp(source)).programSize();
    return size > MOST_INSTRUCTIONS ? 'with its repetitions written out it is too long' : undefined;
  } catch (error) {
    if (error instanceof RE2JSException)
      return error.message.replace(/^error parsing regexp: /, '');
    throw error;
  }
}
