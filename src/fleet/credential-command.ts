// What the credential command of a tenant printed: a JSON object of variables. Nothing of it is ever repeated in a
// message, because it may be a secret at the wrong place.
import { isObject, tryJson } from '../model/index.js';
import type { Variables } from './tenant-environment.js';

/** A variable of the declarations is named as they name it. */
const NAME_OF_VARIABLE = /^(?:[A-Z_][A-Z0-9_]{0,127}|TRUEUP_VAR_[A-Za-z][A-Za-z0-9_-]{0,127})$/;

/** Or why there is nothing: part of a sentence, which continues "it …". */
export function printedVariables(
  text: string,
): { readonly variables: Variables } | { readonly problem: string } {
  const value = tryJson(text);
  if (!isObject(value)) return { problem: 'it printed no JSON object' };
  const variables: Record<string, string> = {};
  for (const [index, [name, one]] of Object.entries(value).entries()) {
    const which = `member ${index + 1} of what it printed`;
    if (!NAME_OF_VARIABLE.test(name))
      return { problem: `${which} is not named like a variable, as in TRUEUP_V2_URL` };
    if (typeof one !== 'string') return { problem: `${which} is not a string` };
    variables[name] = one;
  }
  return Object.keys(variables).length > 0
    ? { variables }
    : { problem: 'it printed an empty JSON object' };
}
