// The members of a mapping in an error that has to tell which of many mappings is meant.
import { firstNamed } from './json.js';
import { isCredentialName, isSecretName } from './secret-names.js';

/** The first members of a mapping, as in `\`name\` "elm", \`desk\` false`: with their values, if those are short and no secrets. */
export const shownMembers = (
  members: Iterable<readonly [name: string, value: unknown]>,
  most: number,
): string => {
  const all = Array.from(members, ([name, value]) => {
    const isHidden = isSecretName(name) || isCredentialName(name);
    const shown = isHidden ? undefined : shownValue(value);
    return `\`${name}\`${shown === undefined ? '' : ` ${shown}`}`;
  });
  return all.length === 0 ? 'no members' : firstNamed(all, most);
};

/** Characters of a string that are shown. */
const LONGEST_SHOWN = 60;

function shownValue(value: unknown): string | undefined {
  if (typeof value === 'string')
    return value.length > LONGEST_SHOWN ? undefined : JSON.stringify(value);
  return ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
