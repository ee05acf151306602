// Makes the published document of a plan: redacted, and the only form that renderers and plan files get.
import {
  defined,
  addressOf,
  fingerprintOf,
  mapMembers,
  Reference,
  Secret,
  SENSITIVE,
  Template,
  compareText,
  countWrites,
  isTree,
  normal,
  paired,
  redact,
  sorted,
  summarise,
  toWire,
  writables,
  type Attribute,
  type AttributeChange,
  type Change,
  type Declaration,
  type DocumentHead,
  type Drift,
  type DriftDocument,
  type Findings,
  type Impact,
  type Json,
  type JsonObject,
  type Kind,
  type Kinds,
  type Masking,
  type Plan,
  type PlanDocument,
  type PatchOperation,
  type Request,
  type ResourceChange,
  type ResourceDrift,
  type Value,
  type Values,
} from '../model/index.js';
import type { AccessDocument } from './access-text.js';
import { patchBetween, patched, pointer, replaceAlike } from './patch.js';

/** The metadata of a document. The digest of ten thousand declarations costs 0.1 s, and only JSON shows it: it is computed when it is read. */
export interface Meta extends Omit<DocumentHead, 'format_version' | 'compared'> {
  /** Masks the secrets, which no document may hold. */
  readonly masking: Masking;
}

export interface PlanDocumentInput {
  readonly plan: Plan;
  readonly kinds: Kinds;
  readonly meta: Meta;
  /** `count`: what stays as it is appears in the summary alone, which is all that text and Markdown need. Default `all`. */
  readonly keeps?: 'all' | 'count';
  readonly impact?: Impact | undefined;
  readonly compared?: PlanDocument['compared'] | undefined;
}

/** The redacted view of a plan. Pure: equal inputs give equal documents. */
export function planDocument({
  plan,
  kinds,
  meta,
  keeps = 'all',
  impact,
  compared,
}: PlanDocumentInput): PlanDocument {
  const shown = paired(plan.changes).filter(
    ([change]) => keeps === 'all' || change.action !== 'keep' || change.renamed_from !== undefined,
  );
  return meta.masking.said({
    ...head(meta),
    ...defined({ compared }),
    resource_changes: shown.map(([change, old]) => {
      const resource = resourceChange(change, old, kindOf(kinds, change.kind));
      return compared ? declarationChange(resource) : resource;
    }),
    resource_drift: plan.drift.map((drift) => resourceDrift(drift, kindOf(kinds, drift.kind))),
    unmanaged: plan.unmanaged,
    policy: plan.verdicts,
    summary: { ...summarise(plan.changes), writes: countWrites(plan.changes) },
    ...defined({ impact }),
    diagnostics: plan.diagnostics,
  });
}

/** Declarations as policies read them: references as their text, secrets as `(sensitive)`. */
export const declarationDocuments = (
  declarations: readonly Declaration[],
  kinds: Kinds,
  masking: Masking,
): readonly JsonObject[] =>
  masking.said(
    declarations.map(({ address, kind, name, values, origin, lifecycle }) => ({
      address,
      kind,
      name,
      attributes: view(kindOf(kinds, kind), values).shown,
      lifecycle: { protect: lifecycle.protect === true },
      origin: { file: origin.file, line: origin.line, column: origin.column },
    })),
  );

export interface DriftInput extends Findings, Pick<DriftDocument, 'unmanaged_is_drift'> {
  readonly meta: Meta;
}

export function driftDocument({ meta, ...findings }: DriftInput): DriftDocument {
  const { drift, in_sync, unmanaged, expectations } = findings;
  const counted = Object.values(unmanaged).reduce((sum, count) => sum + count, 0);
  const failed = expectations.filter(({ verdict }) => verdict === 'failed').length;
  return meta.masking.said({
    ...head(meta),
    ...findings,
    summary: {
      drifted: drift.length,
      in_sync: in_sync.length,
      unmanaged: counted,
      expectations_failed: failed,
    },
  });
}

/** The document of an access review. */
export const accessDocument = ({
  meta,
  ...review
}: Pick<AccessDocument, 'access' | 'diagnostics'> & { readonly meta: Meta }): AccessDocument =>
  meta.masking.said({ ...head(meta), ...review });

const head = ({ masking: _, ...meta }: Meta) => ({ format_version: '1.0' as const, ...meta });

function kindOf(kinds: Kinds, name: string): Kind {
  const kind = kinds.get(name);
  if (!kind) throw new Error(`a plan names the kind ${name}, which this run does not know`);
  return kind;
}

/** @param old the delete of the object that a create takes the place of */
function resourceChange(change: Change, old: Change | undefined, kind: Kind): ResourceChange {
  const replaces = change.action === 'create' ? change.replaces : undefined;
  const prior = 'before' in change ? change.before : replaces?.before;
  const before = prior && view(kind, prior);
  const after = afterOf(change, kind, before);
  const patch = patchOf(change, before, after);
  return {
    address: change.address,
    kind: change.kind,
    name: change.name,
    origin: change.origin ?? null,
    change: {
      actions: actionWords(change),
      before: before?.shown ?? null,
      after: after?.known ?? null,
      after_unknown: after?.unknown ?? {},
      before_sensitive: before?.sensitive ?? {},
      after_sensitive: after?.sensitive ?? {},
      ...(change.action === 'adopt' && { importing: { id: change.id } }),
      ...(replaces && { replace_paths: replaces.fixed.map((path) => path.split('.')) }),
    },
    reason: change.reason,
    depends_on: [...new Set(change.depends_on.map(addressOf))].filter(
      (address) => address !== change.address,
    ),
    fingerprint: prior ? fingerprintOf(kind, prior) : null,
    patch,
    requests: (replaces?.first === 'delete' ? [old, change] : [change, old]).flatMap((one) =>
      one && 'request' in one && one.request ? [documentRequest(one.request)] : [],
    ),
    ...defined({
      previous_address: change.renamed_from,
      previous_id: change.previous_id,
      label: change.label,
      reference_labels: change.reference_labels,
    }),
    ...(change.deposed && 'id' in change && { deposed: change.id }),
  };
}

/** A change between declarations: nothing is sent, nothing was read, and what only a cloud knows stays a reference. */
function declarationChange(resource: ResourceChange): ResourceChange {
  const { before, after } = resource.change;
  const change = {
    ...resource.change,
    after: after && patched(before, resource.patch),
    after_unknown: {},
  };
  return { ...resource, change, fingerprint: null, requests: [] };
}

function actionWords(change: Change): ResourceChange['change']['actions'] {
  if (change.action === 'keep') return ['no-op'];
  if (change.action === 'adopt') return [change.request ? 'update' : 'no-op'];
  if (change.action !== 'create' || !change.replaces) return [change.action];
  return change.replaces.first === 'create' ? ['create', 'delete'] : ['delete', 'create'];
}

function afterOf(change: Change, kind: Kind, before: View | undefined): View | undefined {
  // A document is sent without the members that are declared null.
  if (change.action === 'create') return view(kind, change.write.fields);
  if (change.action === 'delete' || change.action === 'forget') return undefined;
  if (change.action === 'keep' || change.changes.length === 0) return before;
  return view(kind, normalised(kind, withChanges(change.before, change.changes)));
}

/** The patch of the live object; empty if it is only forgotten. */
function patchOf(
  change: Change,
  before: View | undefined,
  after: View | undefined,
): readonly PatchOperation[] {
  if (before === after || change.action === 'forget') return [];
  const patch = patchBetween(before?.shown ?? null, after?.shown ?? null);
  if (!('changes' in change) || !before) return patch;
  const resent = change.changes
    .map(({ path }) => path.split('.'))
    .filter((path) => at(before.sensitive, path) === true);
  return [...patch, ...resent.flatMap((path) => replaceAlike(pointer(path), SENSITIVE))];
}

const at = (tree: Json, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, key) => {
    if (Array.isArray(inner)) return (inner as readonly Json[])[Number(key)];
    return isTree(inner) ? inner[key] : undefined;
  }, tree);

/** As it is sent: exact numbers are numbers here, and texts, as they can be declared, in what is shown before and after. */
function documentRequest({ method, path, body, base }: Request): ResourceChange['requests'][0] {
  return {
    method,
    path,
    body: body === undefined ? null : sorted(redact(body, () => SENSITIVE)),
    ...defined({ base }),
  };
}

/** A value as it is shown: `shown` has references as their text, `known` leaves out what only apply can tell. */
interface Seen {
  readonly shown: Json;
  /** Absent where the whole value is unknown. */
  readonly known?: Json;
  readonly unknown?: Json;
  readonly sensitive?: Json;
}

type View = Readonly<Record<keyof Seen, JsonObject>>;

/** The writable attributes among `values`. */
function view(kind: Kind, values: Values): View {
  const names = writables(kind).map(([name]) => name);
  return seeTree(
    (name) => kind.attributes[name],
    values,
    names.filter((name) => Object.hasOwn(values, name)),
  );
}

function see(attribute: Attribute | undefined, value: Value): Seen {
  if (value instanceof Secret || (attribute?.secret === true && value !== null))
    return { shown: SENSITIVE, known: SENSITIVE, sensitive: true };
  if (value instanceof Reference || value instanceof Template)
    return { shown: value.toString(), unknown: true };
  if (Array.isArray(value)) {
    const items = value as readonly Value[];
    if (attribute?.wire === 'merge') return seeDocument(items);
    return seeList(attribute && 'of' in attribute ? attribute.of : undefined, items);
  }
  if (isTree(value)) {
    const { unknown, sensitive, ...seen } = seeTree(innerOf(attribute), value, Object.keys(value));
    return {
      ...seen,
      ...(Object.keys(unknown).length > 0 && { unknown }),
      ...(Object.keys(sensitive).length > 0 && { sensitive }),
    };
  }
  const plain = redact(onWire(attribute, value));
  return { shown: plain, known: plain };
}

/** The two parts of a document, each by itself. */
function seeDocument(parts: readonly Value[]): Seen {
  const seen = parts.map((part) => see(undefined, part));
  const marks = (name: 'unknown' | 'sensitive'): readonly Json[] | undefined =>
    seen.some((part) => part[name] !== undefined)
      ? seen.map((part) => part[name] ?? false)
      : undefined;
  const shown = seen.map((part) => part.shown);
  const known = seen.map((part) => part.known ?? null);
  return { shown, known, ...defined({ unknown: marks('unknown'), sensitive: marks('sensitive') }) };
}

function seeList(of: Attribute | undefined, values: readonly Value[]): Seen {
  const items = values.map((value) => see(of, value));
  const shown = items.map((item) => item.shown);
  const sensitive = items.some((item) => item.sensitive !== undefined) && { sensitive: true };
  return items.some((item) => item.unknown !== undefined)
    ? { shown, unknown: true, ...sensitive }
    : { shown, known: shown, ...sensitive };
}

function seeTree(
  inner: (name: string) => Attribute | undefined,
  values: Values,
  names: readonly string[],
): View {
  const seen = names
    .toSorted(compareText)
    .map((name) => [name, see(inner(name), values[name]!)] as const);
  const side = (wanted: keyof Seen): JsonObject =>
    Object.fromEntries(
      seen.flatMap(([name, { [wanted]: value }]) => (value === undefined ? [] : [[name, value]])),
    );
  const [shown, unknown, sensitive] = [side('shown'), side('unknown'), side('sensitive')];
  const known = Object.keys(unknown).length === 0 ? shown : side('known');
  return { shown, known, unknown, sensitive };
}

function innerOf(attribute: Attribute | undefined): (name: string) => Attribute | undefined {
  if (attribute?.word === 'object') return (name) => attribute.attributes[name];
  return attribute?.word === 'map' ? () => attribute.of : () => undefined;
}

/** An identifier too long for a JSON number is shown as the text it is. */
function onWire(attribute: Attribute | undefined, value: Value): Value {
  if (attribute === undefined || attribute.word !== 'ref') return value;
  try {
    return toWire(attribute, value);
  } catch (error) {
    if (error instanceof RangeError) return value;
    throw error;
  }
}

/** `before` with each change at its place. */
const withChanges = (before: Values, changes: readonly AttributeChange[]): Values =>
  changes.reduce((values, { path, after }) => placed(values, path.split('.'), after), before);

function placed(
  values: Values,
  [name, ...rest]: readonly string[],
  value: Value | undefined,
): Values {
  if (name === undefined) return values;
  const old = values[name];
  const below = (): Value =>
    Array.isArray(old)
      ? Object.values(placed(Object.fromEntries(Object.entries(old)), rest, value))
      : placed(isTree(old) ? old : {}, rest, value);
  const inner = rest.length === 0 ? value : below();
  const { [name]: _, ...others } = values;
  return inner === undefined ? others : { ...others, [name]: inner };
}

const normalised = ({ attributes }: Kind, values: Values): Values =>
  mapMembers(values, (value, name) => {
    const attribute = attributes[name];
    return attribute ? normal(attribute, value) : value;
  });

/** `before` of such a change is what was applied, `after` what is live. */
function resourceDrift(drift: Drift, kind: Kind): ResourceDrift {
  const { address, id, changes = [], replaced_by, reference_labels } = drift;
  return {
    address,
    kind: kind.name,
    id,
    actions: [drift.changes ? 'update' : 'delete'],
    ...defined({ replaced_by, reference_labels }),
    changes: changes.map(({ path, before, after }) => {
      const attribute = attributeAt(kind, path);
      const shown = (value: Value | undefined): Json => see(attribute, value ?? null).shown;
      return { path, applied: shown(before), live: shown(after) };
    }),
  };
}

function attributeAt(kind: Kind, path: string): Attribute | undefined {
  const [first, ...rest] = path.split('.');
  return rest.reduce<Attribute | undefined>(
    (outer, name) => innerOf(outer)(name),
    kind.attributes[first!],
  );
}
