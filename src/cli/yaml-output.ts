// Records as YAML. In its own file because the library loads slowly, and most commands do not need it.
import { stringify, type ScalarTag } from 'yaml';
import { ExactNumber } from '../model/index.js';
import { inert } from '../report/index.js';

/** A number that no double holds, with its digits. */
const exact: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

/**
 * Every text in double quotes and on one line: nothing in it can be taken for a flag, a number or a date by any reader of
 * YAML, nor for a command by a CI log. Names are plain, unless one of them is not as harmless as that.
 */
export function yamlText(value: unknown): string {
  const written = (defaultKeyType: 'PLAIN' | 'QUOTE_DOUBLE'): string =>
    stringify(value, {
      customTags: [exact],
      lineWidth: 0,
      doubleQuotedMinMultiLineLength: Infinity,
      defaultStringType: 'QUOTE_DOUBLE',
      defaultKeyType,
    });
  const plain = written('PLAIN');
  return plain === inert(plain) && !/^\s*::/m.test(plain) ? plain : inert(written('QUOTE_DOUBLE'));
}
