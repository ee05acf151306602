// What is wrong with one declaration that stands in no file: a resource of terraform's. The same validators and the
// same advice as for files, with the steps to each place instead of its line.
import {
  defined,
  type Declaration,
  type Diagnostic,
  type JsonObject,
  type Kind,
  type Kinds,
} from '../model/index.js';
import { lint } from './lint.js';
import { bodyValidator, check } from './validation.js';
import type { Validator } from './validator.js';
import { declarationBodyOf } from './vocabulary.js';

/** A complaint; `path` leads to the place, from the declaration's attributes on. */
export interface Remark extends Pick<Diagnostic, 'severity' | 'summary' | 'detail'> {
  readonly path: readonly string[];
}

/** `raw`: the declaration as a file would have it, where `${…}` stands for what is not known. */
export type CheckOne = (
  kind: Kind,
  raw: JsonObject,
  declaration: Declaration,
) => Promise<readonly Remark[]>;

/** @param kinds all that there are */
export function checkerOf(kinds: Kinds): CheckOne {
  const validators = new Map<string, Promise<Validator>>();
  return async (kind, raw, declaration) => {
    const validating = validators.get(kind.name) ?? bodyValidator(kind);
    validators.set(kind.name, validating);
    const validator = await validating;
    const wrong = check(validator, declarationBodyOf(kind), raw, kind.name);
    if (wrong.length > 0) return wrong.map((one) => remarkOf({ severity: 'error', ...one }));
    return lint({ declarations: [declaration] }, kinds).map(({ attribute, ...one }) =>
      remarkOf({ ...one, path: attribute?.split('.') ?? [] }),
    );
  };
}

const remarkOf = ({ severity, path, summary, detail }: Remark): Remark => ({
  severity,
  path,
  summary,
  ...defined({ detail }),
});
