// PlanResourceChange: pure and offline. Configured values are planned as configured, or in the spelling of Terraform's
// state if they are equal; other values stay as they are; values that the write makes the service change are unknown.
import {
  equal,
  faultsOf,
  keptMembers,
  mapMembers,
  withId,
  type Attribute,
  type Attributes,
  type Kind,
} from '../model/index.js';
import { isRecord, isSameValue, valueOf, valuesOf } from './convert.js';
import { declaredCovers, declaresCovered } from './covered-documents.js';
import { NOT_NULL, Unknown, type CtyObject, type CtyValue, type Path } from './protocol/cty.js';
import { wireDiagnosticOf } from './wire-diagnostics.js';
import type { PlanReply, SchemaAttribute } from './protocol/provider-replies.js';
import { sameObject } from './timeouts.js';

export interface Planning {
  readonly kind: Kind;
  readonly schema: readonly SchemaAttribute[];
  /** Null for a create. */
  readonly prior: CtyObject | null;
  readonly config: CtyObject;
}

export function planChange({ kind, schema, prior, config }: Planning): PlanReply {
  const planned = laid(schema, withId(kind), config, prior);
  const declared = valuesOf(kind.attributes, config);
  const diagnostics = [
    ...faultsOf(kind, declared, prior ? valuesOf(kind.attributes, prior) : {}),
    ...declaredCovers(kind, declared),
  ].map((one) => wireDiagnosticOf(kind, one));
  if (diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics };
  return { ...plannedState(kind, prior, planned), ...(diagnostics.length > 0 && { diagnostics }) };
}

function plannedState(kind: Kind, prior: CtyObject | null, planned: CtyObject): PlanReply {
  if (prior === null) {
    const id = new Unknown(NOT_NULL);
    return { planned_state: { ...planned, id, [kind.id]: id } };
  }
  if (sameObject(planned, prior)) return { planned_state: planned };
  const written = Object.keys(kind.attributes).filter((name) => !equal(planned[name], prior[name]));
  const replaced = written.filter((name) => kind.attributes[name]?.immutable);
  return {
    planned_state: { ...planned, ...unsettled(kind, written) },
    ...(replaced.length > 0 && { requires_replace: replaced.map((name): Path => [name]) }),
  };
}

/** What writing these attributes changes beside them: what the service computes from them, or anew with each write. */
const unsettled = ({ attributes, version }: Kind, written: readonly string[]): CtyObject =>
  mapMembers(
    keptMembers(
      attributes,
      ({ changed_by: by = [] }, name) =>
        name === version || by === 'any' || by.some((one) => written.includes(one)),
    ),
    () => new Unknown(),
  );

function laid(
  schema: readonly SchemaAttribute[],
  attributes: Attributes,
  config: CtyObject,
  prior: CtyObject | null,
): CtyObject {
  return Object.fromEntries(
    schema.map((one) => [
      one.name,
      plannedValue(one, attributes[one.name], config[one.name] ?? null, prior),
    ]),
  );
}

function plannedValue(
  schema: SchemaAttribute,
  attribute: Attribute | undefined,
  wanted: CtyValue,
  runContext: CtyObject | null,
): CtyValue {
  const prior = runContext?.[schema.name] ?? null;
  if (schema.write_only) return null;
  if (wanted === null && !schema.computed) return null;
  if (wanted === null) return runContext === null ? new Unknown() : prior;
  if (wanted instanceof Unknown || attribute === undefined) return wanted;
  if (attribute.word === 'object' && schema.nested && isRecord(wanted))
    return laid(
      schema.nested.attributes,
      attribute.attributes,
      wanted,
      isRecord(prior) ? prior : null,
    );
  if (prior === null) return wanted;
  const [declared, held] = [valueOf(attribute, wanted), valueOf(attribute, prior)];
  return isSameValue(attribute, declared, held) && !declaresCovered(declared, held)
    ? prior
    : wanted;
}
