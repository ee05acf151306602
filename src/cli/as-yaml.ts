// Records as YAML. Alone in its file because the library costs time to load, and most commands do without.
import { stringify } from 'yaml';
import { inert } from '../report/index.js';

/** Every text in double quotes: nothing in it can be taken for a flag, a number or a date by any reader of YAML. */
export function yamlText(value: unknown): string {
  return inert(stringify(value, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' }));
}
