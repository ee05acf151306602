// The members of a mapping in an error that has to tell which of many mappings is meant.
import { firstNamed } from './json.js';
import { isCredentialName, isSecretName } from './secret-names.js';

/** Members that an error names at most. */
const FEW = 5;

/** The first members of a mapping, as in `\`name\` "elm", \`desk\` false`: with their values, if those are short and no secrets. */
export const shownMembers = (
  members: Iterable<readonly [name: string, value: unknown]>,
): string => {
  const all = Array.from(members, ([name, value]) => {
    const shown = shownValue(name, value);
    return `\`${name}\`${shown === undefined ? '' : ` ${shown}`}`;
  });
  return all.length === 0 ? 'no members' : firstNamed(all, FEW);
};

/** Characters of a string that are shown. */
const LONGEST_SHOWN = 60;

/** What a name stands for, as in `"elm"`; undefined if that is long, no single value, or may be a secret. */
function shownValue(name: string, value: unknown): string | undefined {
  if (isSecretName(name) || isCredentialName(name)) return undefined;
  if (typeof value === 'string')
    return value.length > LONGEST_SHOWN ? undefined : JSON.stringify(value);
  return ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
