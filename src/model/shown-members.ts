// The members of a mapping in an error that has to tell which of many mappings is meant.
import { firstNamed } from './json.js';

/** Members that an error names at most. */
const FEW = 5;

/** The first names of a mapping, as in `\`name\`, \`desk\``: no values, because one may come from the environment or be a secret. */
export function shownMembers(names: Iterable<string>): string {
  const all = Array.from(names, (name) => `\`${name}\``);
  return all.length === 0 ? 'no members' : firstNamed(all, FEW);
}
