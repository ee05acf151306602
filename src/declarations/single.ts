// What is wrong with one declaration that stands in no file: a resource of terraform's. The same validators and the
// same advice as for files, with the steps to each place instead of its line.
import type { Collections, Declaration, Diagnostic, JsonObject, Kind, Kinds } from '../model/index.js';
import { lint } from './lint.js';
import { check, validatorsOf, type Validators } from './validate.js';
import { bodyOf } from './vocabulary.js';

/** A complaint; `path` leads to the place, from the declaration's attributes on. */
export interface Remark extends Pick<Diagnostic, 'severity' | 'summary' | 'detail'> {
  readonly path: readonly string[];
}

/** `raw`: the declaration as a file would have it, where `${…}` stands for what is not known. */
export type CheckOne = (kind: Kind, raw: JsonObject, declaration: Declaration) => readonly Remark[];

/** @param kinds all that there are */
export async function checkerOf(kinds: Kinds, collections: Collections): Promise<CheckOne> {
  const validators = await validatorsOf(kinds, collections);
  return (kind, raw, declaration) => {
    const wrong = misshapen(validators, kind, raw);
    return wrong.length > 0 ? wrong : advice(kinds, declaration);
  };
}

function misshapen({ body }: Validators, kind: Kind, raw: JsonObject): readonly Remark[] {
  const validator = body.get(kind.name);
  if (!validator || validator(raw)) return [];
  return check(validator, bodyOf(kind), raw, kind.name).map(({ path, summary, detail }) => ({ severity: 'error', path, summary, ...(detail !== undefined && { detail }) }));
}

function advice(kinds: Kinds, declaration: Declaration): readonly Remark[] {
  const project = { declarations: [declaration] };
  return lint(project, kinds).map(({ severity, summary, detail, attribute }) => ({
    severity,
    summary,
    path: attribute?.split('.') ?? [],
    ...(detail !== undefined && { detail }),
  }));
}
