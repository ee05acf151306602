// Creates: an object that an earlier Terraform run created and no state ever showed is used before another one is
// created. A kind that cannot be created is adopted: the one live object of its identity, looked up now.
import {
  digest,
  isKnown,
  Refusal,
  refuse,
  resultRecord,
  secretsIn,
  type Create,
  type Diagnostic,
  type Entry,
  type Live,
  type Outcome,
  type Values,
  recognisedBy,
} from '../model/index.js';
import { createdFields, isApplied } from '../reconciler/plan/diff.js';
import { applied } from '../reconciler/plan/document-diff.js';
import { adviceToFind, identityKey, indexByIdentity } from '../reconciler/plan/match.js';
import { question, type Undecided } from '../reconciler/apply/recovery.js';
import { readUntilVisible } from './creation-time.js';
import { wordsFor } from './wire-diagnostics.js';
import { claimOf, SHOWN, withPlace } from './provider-journal.js';
import { typeName } from './terraform-schema.js';
import type { OperationContext } from './write-session.js';

/** An object that is terraform's from now on. `fits`: nothing has to be sent to it any more. */
export interface Created {
  readonly live: Live;
  readonly fits: boolean;
  /** True if this call created it; false if it existed before. */
  readonly created: boolean;
}

/** @throws Refusal if nothing was created, or if that is unknown */
export async function make(context: OperationContext, declared: Values): Promise<Created> {
  const { kind, writer } = context;
  if (!kind.operations.create)
    return { live: await adopted(context, declared), fits: false, created: false };
  const open = writer.undecided.filter(({ intent }) => intent.kind === kind.name);
  if (open.length > 0) throw new Refusal(questions(context, open));
  const left = await leftOver(context, declared);
  // The secret of a left-over object cannot be read back, so it may differ from the present one.
  if (left) return { live: left, fits: secretsIn(declared).size === 0, created: false };
  const outcome = await writer.make(context, kind, creation(context, declared));
  const entry = writer.entries.get(outcome.address);
  if (!entry) throw new Refusal([asked(context, failureOf(context, outcome))]);
  const live = { id: entry.id, values: { ...entry.observed, [kind.id]: entry.id } };
  // An object that was created, and is not as it was sent, is Terraform's all the same.
  return { live, fits: outcome.outcome === 'done', created: true };
}

/** Each question is told once a process; creates that wait for its result as well only say so. */
function questions(context: OperationContext, open: readonly Undecided[]): readonly Diagnostic[] {
  const { kind } = context;
  const fresh = open.filter(({ intent }) => !context.told.has(intent.address));
  if (fresh.length > 0) return fresh.map((one) => asked(context, question(one)));
  const [what, where] =
    open.length === 1
      ? ['an earlier create', 'The question stands']
      : [`${open.length} earlier creates`, 'The questions stand'];
  return [
    {
      severity: 'error',
      code: 'undecided',
      summary: `${wordsFor(kind)} was not created: what became of ${what} of ${kind.name} is not clear.`,
      detail: `${where} with another resource of this run. Answer first, then apply again.`,
    },
  ];
}

/** A question to a person, with what to type in terraform's words: nobody here knows the address. */
function asked({ kind, journalSettings, told }: OperationContext, one: Diagnostic): Diagnostic {
  if (one.code !== 'undecided' || one.detail === undefined) return one;
  if (one.address !== undefined) told.add(one.address);
  const imported = one.detail.replace(
    /trueup import \S+ (\S+)/,
    `terraform import ${typeName(kind.singular)}.<name> $1`,
  );
  return { ...one, detail: withPlace(imported, journalSettings) };
}

export function failureOf({ kind, limit }: OperationContext, outcome: Outcome): Diagnostic {
  const { diagnostic, address } = outcome;
  return (
    limit.failure(outcome) ??
    diagnostic ?? {
      severity: 'error',
      code: 'failed',
      summary: `${wordsFor(kind)} could not be written.`,
      address,
    }
  );
}

function creation(context: OperationContext, declared: Values): Create {
  const write = { verb: 'create' as const, fields: createdFields(context.kind, declared) };
  const declaredObject = { declared, file: context.run.id, protect: false };
  const request = context.cloud.compose(context.kind, write);
  return { action: 'create', ...named(context), declaredObject, write, request };
}

/** Address and operation id of a change in the journal. */
export const named = ({ kind, random }: OperationContext) => {
  const name = `tf-${random.uuid()}`;
  return { address: `${kind.name}.${name}`, kind: kind.name, name, reason: '', depends_on: [] };
};

/** An object of the same content that an earlier run created, where it is live and still equal. One that no listing may show yet is waited for. */
async function leftOver(context: OperationContext, declared: Values) {
  const { kind, writer, run, claims, limit } = context;
  const { recent = [] } = writer.session.snapshot.state;
  const content = digest(applied(kind, declared));
  const alike = ({ kind: name, file, applied: theirs }: Entry): boolean =>
    name === kind.name && file !== run.id && file !== SHOWN && digest(theirs) === content;
  for (const [address, entry] of [...writer.entries].filter(([, one]) => alike(one))) {
    if (claims.has(claimOf(kind.name, entry.id)) || !(await run.isOver(entry))) continue;
    const created = recent.find((one) => one.kind === kind.name && one.unseen.includes(entry.id));
    const found = (await limit.until(writer.base(kind))).byId.get(entry.id);
    const live = found ?? (await limit.until(readUntilVisible(context, kind, entry.id, created)));
    if (!live || !isApplied(kind, entry.applied, live) || writer.entries.get(address) !== entry)
      continue;
    const mine = { ...entry, file: run.id };
    writer.entries.set(address, mine);
    await writer.session.record(resultRecord(address, 'applied', { entry: mine }));
    return live;
  }
  return undefined;
}

/** @throws Refusal unless exactly one object that nobody has yet is meant */
async function adopted({ kind, writer, bound, limit }: OperationContext, declared: Values) {
  const key = identityKey(kind, declared);
  const collection = await limit.until(writer.base(kind));
  const index = indexByIdentity(collection, recognisedBy(kind, declared));
  const all = key === undefined || !isKnown(declared) ? [] : (index.get(key) ?? []);
  const [live, ...others] = all;
  if (!live)
    return refuse(
      'cannot-create',
      `${wordsFor(kind)} has no live object, and ${kind.name} cannot be created through the API.`,
      { detail: adviceToFind(kind, declared, collection.byId.values()) },
    );
  if (others.length > 0)
    return refuse(
      'ambiguous',
      `${wordsFor(kind)} matches ${all.length} live objects of ${kind.name}: ${all.map(({ id }) => id).join(', ')}.`,
      { detail: `Import the right one by its id: terraform import <address> ${live.id}` },
    );
  const claim = claimOf(kind.name, live.id);
  // A state may show it as well, of a resource that forgets it in this run: by another name, or to be created again.
  if (bound.has(claim))
    refuse('bound', `${wordsFor(kind)} ${live.id} is managed by another resource already.`, {
      detail: 'Remove one of the two.',
    });
  bound.add(claim);
  return live;
}
