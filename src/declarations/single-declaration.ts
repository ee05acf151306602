// Checks one declaration that is in no file, such as a resource of Terraform. Same validators and warnings as for
// files; a place is an attribute path instead of a line.
import {
  cached,
  defined,
  type Attributes,
  type ConfigCheck,
  type ConfigError,
  type Kinds,
} from '../model/index.js';
import { lint } from './lint.js';
import { bodyValidator, check, rawValueAt, type Violation } from './validation.js';
import type { Validator } from './validator.js';
import { attributeAt, declarationBodyOf } from './vocabulary.js';
import type { Raw } from './yaml/raw-values.js';

/** Advice of other words than in a file, by its code. */
const details: Readonly<Record<string, string>> = {
  'literal-secret': "Terraform's plan and state hold it in clear: whoever reads them reads it.",
  'masked-value': 'Leave the member out: what is not declared stays as it is.',
};

/** @param kinds all that there are */
export function checkerOf(kinds: Kinds): ConfigCheck {
  const validators = new Map<string, Promise<Validator>>();
  return async (kind, raw, declaration) => {
    const validating = cached(validators, kind.name, () => bodyValidator(kind));
    const validator = await validating;
    const attributes = declarationBodyOf(kind);
    const wrong = check(validator, attributes, raw, kind.name);
    if (wrong.length > 0)
      return wrong.map((one) => remarkOf({ severity: 'error', ...inSet(one, attributes, raw) }));
    return lint({ declarations: [declaration] }, kinds).map(({ attribute, ...one }) =>
      remarkOf({
        ...one,
        ...defined({ detail: details[one.code] ?? one.detail }),
        path: attribute?.split('.') ?? [],
      }),
    );
  };
}

/** Terraform orders a set by itself, so a member is named by its value and not by an index. */
function inSet(one: Violation, attributes: Attributes, raw: Raw): Violation {
  const { path } = one;
  const steps = path.findIndex(
    (_, step) => attributeAt(attributes, path.slice(0, step))?.word === 'set',
  );
  if (steps < 0) return one;
  const value = rawValueAt(raw, path.slice(0, steps + 1));
  const member = `\`${path.slice(0, steps).join('.')}\`: ${JSON.stringify(value)}`;
  return { ...one, summary: one.summary.replace(`\`${path.join('.')}\``, () => member) };
}

const remarkOf = ({ severity, path, summary, detail }: ConfigError): ConfigError => ({
  severity,
  path,
  summary,
  ...defined({ detail }),
});
