// ApplyResourceChange: the planned change is carried out by the same executor as all other writes, checked against the
// live object, read back, and returned as planned. On an error, a known id is still returned.
import {
  defined,
  isEmpty,
  keptMembers,
  Refusal,
  refuse,
  secretsIn,
  withId,
  writables,
  type Change,
  type Delete,
  type Diagnostic,
  type Kind,
  type Live,
  type Value,
  type Values,
  type Write,
} from '../model/index.js';
import { diff, updateOf } from '../reconciler/plan/diff.js';
import type { WrittenChange } from '../reconciler/apply/executor.js';
import type { Performed } from '../reconciler/apply/write-operation.js';
import { literalsAtMasks, declaredPart } from '../reconciler/plan/document-diff.js';
import type { LiveCollection, LiveCollections } from '../reconciler/live-collections.js';
import {
  endangers,
  judgeAlone,
  judgeUnread,
  policyNeeds,
  type OwnFinding,
} from '../reconciler/plan/policy.js';
import { missingCredentials } from '../reconciler/plan/propose.js';
import {
  asShown,
  composedAll,
  identified,
  isRecord,
  managed,
  resultOf,
  isSameValue,
  stateOf,
  valueOf,
  versionOf,
} from './convert.js';
import { declaredCovers } from './covered-documents.js';
import { failureOf, make, named } from './create-resource.js';
import type { CtyObject, CtyValue } from './protocol/cty.js';
import { createdIn, createdNow, readUntilVisible } from './creation-time.js';
import { complaints, wireDiagnosticOf, wordsFor } from './wire-diagnostics.js';
import { claimOf } from './provider-journal.js';
import type { ApplyReply, WireDiagnostic } from './protocol/provider-replies.js';
import { sameObject, timed, timeoutsOf, timeoutError, type Limit, type Timed } from './timeouts.js';
import type { OperationContext, WriteContext } from './write-session.js';

export interface Applying<Held extends CtyValue = CtyValue> {
  readonly kind: Kind;
  readonly prior: Held;
  readonly planned: Held;
  readonly config: Held;
  /** The private part of terraform's state. */
  readonly kept: Uint8Array;
}

export async function applyChange(
  context: WriteContext,
  { kind, prior, planned, config, kept }: Applying,
): Promise<ApplyReply> {
  const nothing = isRecord(prior) ? {} : { new_state: null };
  try {
    if (!isRecord(planned) || !isRecord(config))
      return isRecord(prior) ? await remove(context, kind, prior, kept) : nothing;
    // The timeouts were perhaps unknown when the configuration was validated.
    const diagnostics = timeoutError(planned);
    if (diagnostics.length > 0) return { diagnostics, ...nothing };
    return await (isRecord(prior)
      ? update(context, { kind, prior, planned, config, kept })
      : create(context, kind, planned, config));
  } catch (error) {
    return { diagnostics: complaints(kind, error), ...nothing };
  }
}

/** Writes under the lock. An operation's time begins once it is had and what an earlier run left open is settled: that is not the operation's. */
function within<T>(
  context: WriteContext,
  what: Timed,
  write: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  const narrowed = (limit: Limit, signal?: AbortSignal): WriteContext =>
    signal
      ? {
          ...context,
          limit,
          cloud: context.within(signal),
          signal: AbortSignal.any([context.signal, signal]),
        }
      : context;
  return context.journal.during((writer) =>
    timed(context.clock, what, (...time) =>
      write({ ...narrowed(...time), kind: what.kind, writer }),
    ),
  );
}

/** The values that a plan declares. @throws Refusal where a mask would be sent: what was not known at the plan may hold one */
function sendable(kind: Kind, planned: CtyObject, config: CtyObject): Values {
  const declared = managed(kind, planned, config);
  const covers = declaredCovers(kind, declared);
  if (covers.length > 0) throw new Refusal(covers);
  return declared;
}

function create(whole: WriteContext, kind: Kind, planned: CtyObject, config: CtyObject) {
  const declared = sendable(kind, planned, config);
  return within(whole, { kind, operation: 'create', block: planned }, async (context) => {
    const { live, fits, created } = await make(context, declared);
    if (fits)
      return {
        new_state: resultOf(withId(kind), planned, identified(live)),
        ...(created && { private: createdNow(context) }),
      };
    try {
      const bringing = { live, declared, renewed: () => true };
      const { now, diagnostics } = await brought(context, bringing);
      return { new_state: resultOf(withId(kind), planned, identified(now)), diagnostics };
    } catch (error) {
      // The update failed, and the object is there: terraform marks it for another try.
      return {
        new_state: kind.operations.create
          ? stateOf(withId(kind), identified(live), timeoutsOf(planned))
          : null,
        diagnostics: complaints(kind, error),
      };
    }
  });
}

async function update(
  whole: WriteContext,
  { kind, prior, planned, config, kept }: Applying<CtyObject>,
): Promise<ApplyReply> {
  const id = String(prior[kind.id]);
  for (const held of [whole.claims, whole.bound]) held.add(claimOf(kind.name, id));
  if (sameObject(planned, prior)) return { new_state: planned };
  const declared = sendable(kind, planned, config);
  const renewed = (path: string): boolean =>
    memberAt(planned, versionOf(path)) !== memberAt(prior, versionOf(path));
  return within(whole, { kind, operation: 'update', block: planned }, async (context) => {
    const live = await present(context, id, kept);
    if (!live)
      return refuse('gone', `${wordsFor(kind)} ${id} was deleted outside of Terraform meanwhile.`, {
        detail: 'Plan again.',
      });
    const bringing = { live, declared, renewed, prior };
    const { now, diagnostics } = await brought(context, bringing);
    return { new_state: resultOf(withId(kind), planned, identified(now)), diagnostics };
  });
}

/** The object as it is now. One that was created just now is waited for. */
const present = async (context: OperationContext, id: string, kept: Uint8Array) =>
  (await context.writer.current(context, context.kind, id)) ??
  readUntilVisible(context, context.kind, id, createdIn(kept));

/** The value at a dotted path. */
function memberAt(block: CtyObject, path: string): CtyValue {
  return path
    .split('.')
    .reduce<CtyValue>((value, step) => (isRecord(value) ? (value[step] ?? null) : null), block);
}

interface Bringing {
  readonly live: Live;
  readonly declared: Values;
  /** True if the secret at a path has to be sent. */
  readonly renewed: (path: string) => boolean;
  /** The state before; absent for an object that terraform has not held before. */
  readonly prior?: CtyObject;
}

/** Changes an object to what is declared. @throws Refusal where that was not possible */
async function brought(context: OperationContext, { live, declared, renewed, prior }: Bringing) {
  const { kind } = context;
  const before = { ...live, values: declaredPart(kind, declared, live.values) };
  const masks = literalsAtMasks(kind, declared, live.values);
  if (masks.length > 0)
    refuse(
      'masked-value',
      `${masks.join(', ')} of ${wordsFor(kind)} ${live.id} reads back masked, so the declared value cannot be compared with it.`,
      {
        detail: 'Leave the member out: what is not declared stays as it is.',
        attribute: masks[0]!.split('.', 1)[0]!,
      },
    );
  const changes = diff({
    kind,
    declared,
    live: { ...before, values: composedAll(before.values) },
    secret: (path) => (renewed(path) ? 'changed' : 'same'),
  });
  if (changes.length === 0) return { now: live, diagnostics: [] };
  const fixed = changes.find(({ path }) => kind.attributes[path]?.immutable);
  if (fixed)
    refuse('immutable', `${fixed.path} of ${wordsFor(kind)} ${live.id} is fixed.`, {
      detail: 'Plan again.',
      attribute: fixed.path,
    });
  const paths = changes.map(({ path }) => path);
  if (prior) refuseMoved(kind, prior, live, paths);
  const update = updateOf({
    kind,
    declared,
    live,
    changes,
    patch: context.settings.configuration_writes === 'patch',
    resend: renewed,
  });
  if (!update)
    refuse(
      'additions-only',
      `Something of ${wordsFor(kind)} ${live.id} has to be taken out, and a PATCH can only add.`,
      { detail: 'Remove configuration_writes from the provider block.' },
    );
  const write: Write = { verb: 'update', id: live.id, live: before, ...update };
  const change: Change & { readonly id: string } = {
    action: 'update',
    ...named(context),
    id: live.id,
    before: before.values,
    changes,
    write,
    request: context.cloud.compose(kind, write),
  };
  const { warnings, performed } = await written(context, change);
  const proof = await proven(context, { change, ...performed.written });
  const wire = proof.notes.map((note) => wireDiagnosticOf(kind, note));
  if (proof.live) return { now: proof.live, diagnostics: [...warnings, ...wire] };
  return {
    now: { ...live, values: { ...live.values, ...withoutSecretsOf(write.fields) } },
    diagnostics: [...warnings, unread(kind, live.id)],
  };
}

/** @throws Refusal where a reading shows that the service did not carry out what it returned success for */
async function proven(context: OperationContext, written: WrittenChange) {
  const proof = await context.writer.prove(context, written);
  const { change } = written;
  const failure = proof.shown === 'unread' ? undefined : proof.failure?.diagnostic;
  if (failure) {
    const name = `${wordsFor(context.kind)} ${change.id}`;
    throw new Refusal([{ ...failure, summary: failure.summary.replaceAll(change.address, name) }]);
  }
  return proof;
}

const withoutSecretsOf = (fields: Values): Values =>
  keptMembers(fields, (value) => secretsIn(value).size === 0);

const unread = (kind: Kind, id: string): WireDiagnostic => ({
  severity: 'warning',
  summary: `The service took the change of ${wordsFor(kind)} ${id}, but nobody could read it back`,
  detail: 'The next plan shows what it holds.',
});

/** Refuses to write what changed since the plan, unless it is already as planned. @throws Refusal */
function refuseMoved(kind: Kind, prior: CtyObject, { id, values }: Live, paths: readonly string[]) {
  const names = paths.map((path) => path.split('.', 1)[0]!);
  const moved = names.find((name) => !stands(kind, name, prior, values[name]));
  if (moved !== undefined)
    refuse(
      'moved',
      `${moved} of ${wordsFor(kind)} ${id} was changed outside of Terraform since the plan.`,
      { detail: 'Plan again to see what is there.', attribute: moved },
    );
}

function stands(kind: Kind, name: string, prior: CtyObject, live: Value | undefined): boolean {
  const attribute = kind.attributes[name];
  const held = prior[name] ?? null;
  if (!attribute || held === null) return true;
  const before = valueOf(attribute, held);
  return isSameValue(attribute, before, asShown(attribute, live, before));
}

/** Deleted, or forgotten if the API cannot delete. */
async function remove(whole: WriteContext, kind: Kind, prior: CtyObject, kept: Uint8Array) {
  const id = String(prior[kind.id]);
  whole.claims.add(claimOf(kind.name, id));
  if (!kind.operations.delete) return { new_state: null };
  return within(whole, { kind, operation: 'delete', block: prior }, async (context) => {
    const live = await present(context, id, kept);
    if (!live) return { new_state: null };
    const paths = writables(kind).map(([path]) => path);
    refuseMoved(kind, prior, live, paths);
    const write: Write = { verb: 'delete', id, fields: {}, live };
    const request = context.cloud.compose(kind, write);
    const before = live.values;
    const change: Delete = { action: 'delete', ...named(context), id, before, write, request };
    const { warnings, performed } = await written(context, change);
    const { toldGone } = performed;
    const { shown } = await proven(context, { change, ...defined({ toldGone }) });
    const notes = shown === 'unread' ? [...warnings, unread(kind, id)] : warnings;
    return { new_state: null, diagnostics: notes };
  });
}

/** Core deletes an object before it changes what names it. Told otherwise, it goes by what its state says: an apply writes that, and the one that imports does not. */
const REMOVE_FIRST =
  'Terraform deletes before it changes what names the object. Remove it from there first, in a run of its own; or put it back with lifecycle { create_before_destroy = true }, apply, and remove it then: with that, it is deleted last.';

function advised({ action }: Change, failure: Diagnostic): Diagnostic {
  return action === 'delete' && failure.code === 'rejected' && failure.detail === undefined
    ? { ...failure, detail: REMOVE_FIRST }
    : failure;
}

/** @throws Refusal where a policy forbids the change, or it was not done */
async function written(context: OperationContext, change: Change) {
  const send = async (liveObjects?: LiveCollections): Promise<Performed> => {
    const performed = await context.writer.write(context, change, liveObjects);
    if (performed.outcome.outcome !== 'done')
      throw new Refusal([advised(change, failureOf(context, performed.outcome))]);
    return performed;
  };
  refuseBlocked(context, await judgeUnread(context.rules, change, context.settings));
  if (!endangers(context.rules, change, context.settings))
    return { warnings: [], performed: await send() };
  return context.limit.inTurn(context.alone, async () => {
    const { warnings, live } = await judged(context, change);
    return { warnings, performed: await send(live) };
  });
}

/** @throws Refusal where the change would take from others what they need, and nobody allowed it */
async function judged(
  { kind, listings, kinds, rules, allow, settings, limit }: OperationContext,
  change: Change,
): Promise<{ readonly warnings: readonly WireDiagnostic[]; readonly live: LiveCollections }> {
  const live = new Map<string, LiveCollection>();
  const warnings: WireDiagnostic[] = [];
  for (const name of new Set([kind.name, ...policyNeeds([change], { kinds, rules }, settings)])) {
    try {
      live.set(name, await limit.until(listings.list(kinds.get(name)!)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const missing = error.diagnostics.find(({ code }) => missingCredentials.has(code));
      if (!missing) throw error;
      const summary = `${name} were not checked for what this change touches: ${missing.summary}`;
      warnings.push(wireDiagnosticOf(kind, { ...missing, severity: 'warning', summary }));
    }
  }
  refuseBlocked({ allow }, judgeAlone(rules, change, live, settings), (rule) =>
    rule.endsWith('-in-use')
      ? `${REMOVE_FIRST} `
      : 'If another resource of this run fixes it, let this one depend on that (depends_on). ',
  );
  return { warnings, live };
}

/** @param advice what else lets a rule pass @throws Refusal where a rule forbids the change, and nobody allowed it */
function refuseBlocked(
  { allow }: Pick<OperationContext, 'allow'>,
  findings: readonly OwnFinding[],
  advice: (rule: string) => string = () => '',
): void {
  const blocked = findings.filter(({ rule }) => !allow.includes(rule));
  if (blocked.length === 0) return;
  throw new Refusal(
    blocked.map(({ rule, detail, address }) => ({
      severity: 'error',
      code: rule,
      summary: detail,
      detail: `The rule ${rule} forbids it. ${advice(rule)}To let it happen: allow = ["${rule}"] in the provider block.`,
      ...(!isEmpty(address) && { address: String(address) }),
    })),
  );
}
