// Checks one declaration that is in no file, such as a resource of Terraform. Same validators and warnings as for
// files; a place is an attribute path instead of a line.
import { cached, defined, type ConfigCheck, type ConfigError, type Kinds } from '../model/index.js';
import { lint } from './lint.js';
import { bodyValidator, check } from './validation.js';
import type { Validator } from './validator.js';
import { declarationBodyOf } from './vocabulary.js';

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
    const wrong = check(validator, declarationBodyOf(kind), raw, kind.name);
    if (wrong.length > 0) return wrong.map((one) => remarkOf({ severity: 'error', ...one }));
    return lint({ declarations: [declaration] }, kinds).map(({ attribute, ...one }) =>
      remarkOf({
        ...one,
        ...defined({ detail: details[one.code] ?? one.detail }),
        path: attribute?.split('.') ?? [],
      }),
    );
  };
}

const remarkOf = ({ severity, path, summary, detail }: ConfigError): ConfigError => ({
  severity,
  path,
  summary,
  ...defined({ detail }),
});
