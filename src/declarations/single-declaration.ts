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
    const validator = validators.get(kind.name) ?? bodyValidator(kind);
    validators.set(kind.name, validator);
    const wrong = misshapen(await validator, kind, raw);
    return wrong.length > 0 ? wrong : advice(kinds, declaration);
  };
}

function misshapen(validator: Validator, kind: Kind, raw: JsonObject): readonly Remark[] {
  if (validator(raw)) return [];
  return check(validator, declarationBodyOf(kind), raw, kind.name).map(
    ({ path, summary, detail }) => ({ severity: 'error', path, summary, ...defined({ detail }) }),
  );
}

function advice(kinds: Kinds, declaration: Declaration): readonly Remark[] {
  const project = { declarations: [declaration] };
  return lint(project, kinds).map(({ severity, summary, detail, attribute }) => ({
    severity,
    summary,
    path: attribute?.split('.') ?? [],
    ...defined({ detail }),
  }));
}
