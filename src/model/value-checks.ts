// Values that are never sent, however they are declared. If such a value is already live, it is only a warning.
import { valueAt } from './collection.js';
import type { Declaration, Values } from './declaration.js';
import type { Diagnostic } from './diagnostic.js';
import type { JsonObject } from './json.js';
import { writables, type Advice, type Kind } from './kind.js';
import { equalUnescaped } from './normalize.js';

export interface ValueFault extends Advice {
  readonly severity: 'error' | 'warning';
}

/** Errors in `values`, as far as they are known. @param live the current values, if the object exists */
export function faultsOf(kind: Kind, values: Values, live: Values = {}): readonly ValueFault[] {
  const raised = writables(kind).flatMap(([name, { only_false }]) =>
    only_false === true && values[name] === true ? [onlyFalse(name)] : [],
  );
  return [...raised, ...(kind.faults?.(values) ?? [])].map((one) => ({
    ...one,
    severity:
      one.attribute !== undefined && stands(values, live, one.attribute) ? 'warning' : 'error',
  }));
}

const stands = (values: Values, live: Values, path: string): boolean =>
  equalUnescaped(valueAt(values, path), valueAt(live, path));

/** About an attribute with the trait of that name that is declared as true. */
export const onlyFalse = (path: string): Advice => ({
  code: 'only-false',
  summary: `\`${path}\`: only false can be declared; the service sets true by itself`,
  detail: 'Write false, or leave the key out: what is absent is not managed.',
  attribute: path,
});

/** An error in a declaration without a file; `path` starts at its attributes. */
export interface ConfigError extends Pick<Diagnostic, 'severity' | 'summary' | 'detail'> {
  readonly path: readonly string[];
}

/** @param raw the declaration as a file would have it, where `${…}` stands for what is not known */
export type ConfigCheck = (
  kind: Kind,
  raw: JsonObject,
  declaration: Declaration,
) => Promise<readonly ConfigError[]>;
