// Carries out one change: the intent is on disk before the first byte is sent, and the result is on disk before
// anything that depends on it starts. Nothing here decides which changes to make; that is the plan's task.
import {
  canonical,
  changesOf,
  defined,
  digest,
  keptMembers,
  keyOf,
  redactAll,
  referencesIn,
  refuse,
  Refusal,
  resultRecord,
  secretsIn,
  writes,
  type Change,
  type Delete,
  type DeclaredObject,
  type Diagnostic,
  type Entry,
  type Fingerprint,
  type Forget,
  type Intent,
  type JsonObject,
  type Kind,
  type Live,
  type Moment,
  type Outcome,
  type OutcomeClass,
  type PolicyRule,
  type Request,
  type Result,
  type SaltedFingerprint,
  type Sent,
  type Spent,
  type Values,
  type Write,
} from '../../model/index.js';
import { momentNow, replacedValue, waitFor } from '../recent-writes.js';
import { isApplied, withKept } from '../plan/diff.js';
import {
  isUnmoved,
  needsReading,
  prepare,
  replacesDocument,
  UNNEEDED,
  type PreparedWrite,
} from './document-write.js';
import { applied, isStorable, namedPart } from '../plan/document-diff.js';
import { comparableText } from '../plan/match.js';
import { storedValues } from '../live-collections.js';
import { differing, unproven } from './write-proof.js';
import { FIRST_PAUSE, readBack, shownOf, type ReadBack, type SentFields } from './read-back.js';
import { fillAll } from '../plan/resolve-references.js';
import type { ExecutionContext, RunContext, WriteOperation } from './execution-context.js';
import { INTERRUPTED, senderWithIntent, WITHHELD } from './journal-intent.js';

export const outcomeBase = (
  change: Change,
): Pick<
  Outcome,
  'address' | 'kind' | 'action' | 'deposed' | 'renamed_from' | 'updates' | 'forgets' | 'id'
> => {
  const { address, kind, action, deposed, renamed_from } = change;
  return {
    address,
    kind,
    action,
    ...(deposed && 'id' in change && { deposed, id: change.id }),
    ...defined({ renamed_from }),
    ...(action === 'adopt' && writes(change) && { updates: true }),
    ...(action === 'update' && change.declaredObject === undefined && { forgets: true }),
  };
};

/** @param reason as the end of a sentence */
export const skipped = (change: Change, reason: string): Outcome => ({
  ...outcomeBase(change),
  outcome: 'skipped',
  reason,
  diagnostic: {
    severity: 'warning',
    code: 'skipped',
    summary: `${keyOf(change)} was skipped: ${reason}.`,
    address: change.address,
  },
});

/** One change carried out. `entry` is what the state holds now; `pending` the create whose outcome is unknown. */
export interface Performed {
  readonly outcome: Outcome;
  readonly entry?: Entry | null;
  readonly pending?: Intent;
  /** True if the create may be sent again once it is proven that it had no effect. */
  readonly again?: boolean;
  /** For an update: what was written, to be proven by a reading. */
  readonly written?: SentFields;
  /** For a delete: the service returned that there is no such object. */
  readonly toldGone?: true;
}

/** The same before its outcome is told. */
type Ended = Omit<Performed, 'outcome'> &
  Pick<Outcome, 'outcome' | 'reason' | 'gone' | 'partly' | 'id' | 'diagnostic'>;

export async function carryOut(
  execution: ExecutionContext,
  change: Change,
  runContext: RunContext,
): Promise<Performed> {
  const kind = execution.kinds.get(change.kind)!;
  const started = execution.clock.monotonic();
  const end = (performed: Ended): Performed => {
    const { outcome, reason, gone, partly, id, diagnostic, ...rest } = performed;
    if (reason !== undefined) return { outcome: skipped(change, reason) };
    const base = {
      ...outcomeBase(change),
      outcome,
      elapsed: Math.round(execution.clock.monotonic() - started),
    };
    return {
      ...rest,
      outcome: {
        ...base,
        ...defined({ gone, partly, id }),
        ...(diagnostic && {
          diagnostic: {
            ...diagnostic,
            address: change.address,
            ...defined({ origin: change.origin }),
          },
        }),
      },
    };
  };
  if (!writes(change)) return end(await recordWithoutWrite(execution, change, runContext));
  const fields = fillAll(kind.attributes, change.write.fields, runContext.resolver);
  const open = referencesIn(fields)[0];
  if (open)
    return end({
      outcome: 'failed',
      diagnostic: {
        severity: 'error',
        code: 'unresolved',
        summary: `${change.address} needs ${open.toString()}, which is not known.`,
      },
    });
  const write: Write = { ...change.write, fields };
  const request = composed(execution, kind, write);
  if (request instanceof Refusal)
    return end({ outcome: 'failed', ...defined({ diagnostic: request.diagnostics[0] }) });
  const recheck = runContext.recheck?.(change, fields);
  const operation = { kind, write, request, runContext, ...defined({ recheck }) };
  // A rename whose object is gone: nothing is bound any more, and the old address must not outlive the new one.
  if (change.action === 'create' && change.renamed_from !== undefined)
    await execution.session.record(...unbindFormerAddress(change));
  if (change.action === 'create') {
    const entry = await declaredEntry(execution, change, change.declaredObject, runContext);
    return end(await create(execution, operation, change.address, entry));
  }
  if (change.action === 'delete') return end(await remove(execution, operation, change));
  return end(await update(execution, operation, change));
}

/** A write with the request that carries it. */
/** Before any intent is written: what cannot be sent leaves no trace. */
function composed({ cloud }: ExecutionContext, kind: Kind, write: Write): Request | Refusal {
  try {
    return cloud.compose(kind, write);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Changes that only write the state: bind, move, refresh or drop an address. */
async function recordWithoutWrite(
  execution: ExecutionContext,
  change: Change,
  runContext: RunContext,
): Promise<Ended> {
  if (change.action === 'forget') {
    const entry = entryWithout(change, runContext);
    await execution.session.record(resultRecord(change.address, 'applied', { entry }));
    return { outcome: 'done', id: change.id, entry };
  }
  if (change.action !== 'keep' && change.action !== 'adopt') return { outcome: 'done' };
  const kind = execution.kinds.get(change.kind)!;
  const now = priorOf(change, runContext);
  const base = await declaredEntry(execution, change, change.declaredObject, runContext);
  const entry: Entry = { ...base, id: change.id, observed: storedValues(kind, change.before) };
  if (change.action === 'keep' && !change.renamed_from && now && sameEntry(kind, now, entry))
    return { outcome: 'done', id: change.id };
  await execution.session.record(
    resultRecord(change.address, 'applied', { entry }),
    ...unbindFormerAddress(change),
  );
  return { outcome: 'done', id: change.id, entry };
}

/** The entry of the object that a change is about; undefined where the entry is of another, which is gone. */
function priorOf(change: Change, runContext: RunContext): Entry | undefined {
  const entry = runContext.entry(change.renamed_from ?? change.address);
  return entry && 'id' in change && change.id === entry.id ? entry : undefined;
}

/** The entry of an address once an object has left it: none, unless another object took its place. */
function entryWithout(
  { address, id, deposed }: Delete | Forget,
  runContext: RunContext,
): Entry | null {
  const entry = deposed && runContext.entry(address);
  if (!entry || entry.id === id) return null;
  const { deposed: all = [], ...rest } = entry;
  const left = all.filter((one) => one !== id);
  return left.length === 0 ? rest : { ...rest, deposed: left };
}

/** Compares two entries without computed attributes and applied_at, which alone cause no write of the state. */
function sameEntry(kind: Kind, a: Entry, b: Entry): boolean {
  const stable = (entry: Entry): string => {
    const observed = keptMembers(
      entry.observed,
      (_, name) => kind.attributes[name]?.computed !== true,
    );
    return canonical({ ...entry, observed, applied_at: '' });
  };
  return stable(a) === stable(b);
}

const momentIn = ({ clock, cloud }: Pick<ExecutionContext, 'clock' | 'cloud'>): Moment =>
  momentNow(clock, cloud.skew());

const timestamp = ({ clock }: Pick<ExecutionContext, 'clock'>): string =>
  new Date(clock.now()).toISOString();

/** Unbinds the former address of a rename. Recorded after the new address is bound: a journal that is cut in between then holds both addresses, never neither. */
export const unbindFormerAddress = (change: Change): readonly Result[] =>
  change.renamed_from === undefined
    ? []
    : [resultRecord(change.renamed_from, 'applied', { entry: null })];

/** The entry of a change once it is done, but for id and observation. Secrets become fingerprints here. */
async function declaredEntry(
  execution: ExecutionContext,
  change: Change,
  declaredObject: DeclaredObject,
  runContext: RunContext,
): Promise<Omit<Entry, 'id' | 'observed'>> {
  const kind = execution.kinds.get(change.kind)!;
  const declared = fillAll(kind.attributes, declaredObject.declared, runContext.resolver);
  const known = priorOf(change, runContext)?.secrets ?? {};
  const sent = 'write' in change ? change.write?.fields : undefined;
  const secrets: Record<string, Fingerprint | SaltedFingerprint> = {};
  const carried = secretsIn(sent ?? {});
  for (const path of secretsIn(declared).keys()) {
    const value = carried.get(path)?.reveal();
    if (value !== undefined)
      secrets[path] = await execution.fingerprints.make(
        execution.session.snapshot.state.secrets_salt!,
        `${change.address} ${path}`,
        value,
      );
    else if (known[path]) secrets[path] = known[path];
  }
  const held =
    runContext.entry(change.address) ?? runContext.entry(change.renamed_from ?? change.address);
  const deposed = [
    ...(held?.deposed ?? []),
    ...(held && change.action === 'create' && change.replaces ? [held.id] : []),
  ];
  return {
    kind: kind.name,
    file: declaredObject.file,
    applied: applied(kind, declared),
    depends_on: change.depends_on,
    applied_at: timestamp(execution),
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    ...(declaredObject.protect ? { protect: true } : {}),
    ...defined({ on_removal: declaredObject.on_removal }),
    ...(deposed.length > 0 ? { deposed } : {}),
  };
}

async function create(
  execution: ExecutionContext,
  operation: WriteOperation,
  address: string,
  entry: Omit<Entry, 'id' | 'observed'>,
): Promise<Ended> {
  const { kind, write, runContext } = operation;
  const body = applied(kind, write.fields);
  const intent: Intent = {
    type: 'intent',
    op: execution.random.uuid(),
    address,
    kind: kind.name,
    action: 'create',
    content: digest(redactAll(write.fields, (secret) => secret.source)),
    body,
    ...(await hiddenOf(execution, kind, write.fields, body)),
    preimage: runContext.before.equals(kind, write.fields),
    entry,
    ...runContext.before.youngest(kind),
    ...momentIn(execution),
  };
  const sent = await (await senderWithIntent(execution, operation, intent))(operation.request);
  // A new object cannot have the id of another: whatever the response describes, it is not what was asked for.
  if (sent.class === 'applied' && sent.live && !runContext.known(kind.name, sent.live.id)) {
    const done: Entry = {
      ...entry,
      applied_at: timestamp(execution),
      id: sent.live.id,
      observed: storedValues(kind, sent.live.values),
    };
    const lately = {
      ...momentIn(execution),
      what: 'created',
      kind: kind.name,
      id: done.id,
    } as const;
    await execution.session.record(
      resultRecord(address, 'applied', { op: intent.op, entry: done, lately }),
    );
    return { outcome: 'done', id: done.id, entry: done };
  }
  await execution.session.record(
    resultRecord(address, sent.class === 'applied' ? 'unknown' : sent.class, { op: intent.op }),
  );
  if (sent.class === 'rejected' || sent.class === 'not_sent') return undone(sent);
  const again = sent.class === 'unknown' && (await execution.cloud.pause(1, sent.wait));
  const answered = sent.live && !runContext.known(kind.name, sent.live.id) && sent.live.id;
  return {
    outcome: 'unknown',
    pending: {
      ...intent,
      ...(answered && { answered }),
      ...defined({ unclear: sent.diagnostic?.summary }),
    },
    again,
    ...defined({ diagnostic: sent.diagnostic }),
  };
}

/** The fields of a create that the journal does not hold in clear. */
async function hiddenOf(
  { fingerprints, session }: ExecutionContext,
  kind: Kind,
  fields: Values,
  body: JsonObject,
): Promise<Pick<Intent, 'hidden'>> {
  const names = Object.keys(fields).filter(
    (name) =>
      kind.attributes[name]?.secret !== true &&
      (!Object.hasOwn(body, name) || session.hides?.(body[name])),
  );
  if (names.length === 0) return {};
  const salt = session.snapshot.state.secrets_salt!;
  const fingerprint = await fingerprints.make(
    salt,
    names.join(' '),
    comparableText(kind, names, fields),
  );
  return { hidden: { names, salt, fingerprint } };
}

async function update(
  execution: ExecutionContext,
  operation: WriteOperation,
  change: Change & { readonly id: string; readonly before: Values },
): Promise<Ended> {
  const { kind, write, runContext } = operation;
  const declaredObject = 'declaredObject' in change ? change.declaredObject : undefined;
  const entry =
    declaredObject && (await declaredEntry(execution, change, declaredObject, runContext));
  const prior = priorOf(change, runContext);
  const known =
    declaredObject && entry && (!prior || change.renamed_from !== undefined)
      ? bound(kind, change, entry, prior)
      : prior;
  const doubted = known && withoutSent(known, write.fields);
  if (doubted && doubted !== prior)
    await execution.session.record(
      resultRecord(change.address, 'applied', { entry: doubted }),
      ...unbindFormerAddress(change),
    );
  const intent: Intent = {
    ...repeatable(execution, change, 'update'),
    // A field that is sent as it is live tells nothing of the write.
    body: applied(kind, omit(write.fields, write.kept ?? [])),
  };
  const answered = await sendUntilKnown(execution, operation, intent, change.before);
  // A response that repeats the object is no proof. Read it back if others wait for this change, or if the response
  // contradicts what was sent.
  const needsReadBack =
    answered.class === 'applied' &&
    (runContext.awaited(change.address) ||
      (answered.live !== undefined && !echoes(kind, answered.fields, answered.live)));
  const sent = needsReadBack ? await proven(execution, kind, intent, answered) : answered;
  const moment = momentIn(execution);
  if (sent.class === 'applied') {
    const done = entry
      ? {
          ...entry,
          applied_at: moment.at,
          id: change.id,
          observed: storedValues(kind, { ...change.before, ...answered.fields }),
        }
      : null;
    const spent = !answered.unneeded && { spent: updated(execution, change, moment) };
    const result = resultRecord(change.address, 'applied', { entry: done });
    // A former value that others must not see again may come back after the next run: that one waits, and counts it.
    if (answered.lingers && isSensitive(execution.rules, change))
      await execution.session.record(
        result,
        resultRecord(change.address, 'unknown', { op: intent.op }),
      );
    else await execution.session.record({ ...result, op: intent.op, ...spent });
    const lost =
      !answered.unneeded && (await checkAfterUpdate(execution, operation, change, known));
    if (lost) return lost;
    return {
      outcome: 'done',
      id: change.id,
      entry: done,
      written: {
        fields: answered.fields,
        before: answered.before,
        ...defined({ document: answered.document, isOld: answered.isOld }),
      },
    };
  }
  await execution.session.record(resultRecord(change.address, openOrNot(sent), { op: intent.op }));
  const told = isGone(sent) ? await whetherGone(execution, operation, change, sent) : sent;
  return { ...undone(told), id: change.id };
}

const updated = (
  { session }: ExecutionContext,
  change: Change & { readonly id: string },
  moment: Moment,
): Spent => ({
  ...moment,
  action: 'update',
  kind: change.kind,
  id: change.id,
  // A digest is quick to guess from: there is none of what may be a secret.
  replaced: changesOf(change).flatMap(({ path, before = null }) =>
    isStorable(path, before) && !session.hides?.(before) ? [replacedValue(path, before)] : [],
  ),
});

/** Whether others rest on a change. */
export const isSensitive = (rules: readonly PolicyRule[], change: Change): boolean =>
  rules.some((rule) => rule.sensitive?.(change));

/** Runs the check after a guarded change. If the change turned out unsafe, it is taken back where the rule says how, and it failed. Undefined if all is well, or if the check could not be read (then a warning is emitted). */
async function checkAfterUpdate(
  execution: ExecutionContext,
  { recheck, ...operation }: WriteOperation,
  change: Change & { readonly id: string; readonly before: Values },
  known: Entry | undefined,
): Promise<Ended | undefined> {
  const failure = await recheck?.after?.();
  if (!failure) return undefined;
  if (failure.verdict === 'unread') {
    execution.emit({ type: 'diagnostic', diagnostic: failure.diagnostic });
    return undefined;
  }
  const { restore, diagnostic } = failure;
  if (!restore) return { outcome: 'failed', partly: true, id: change.id, diagnostic: diagnostic() };
  const write: Write = { ...operation.write, fields: restore };
  const after = { ...change.before, ...operation.write.fields };
  const back: WriteOperation = {
    ...operation,
    write,
    request: execution.cloud.compose(operation.kind, write),
  };
  const intent: Intent = {
    ...repeatable(execution, change, 'update'),
    body: applied(back.kind, write.fields),
  };
  const answered = await sendUntilKnown(execution, back, intent, after);
  const sent =
    answered.class === 'applied' ? await proven(execution, back.kind, intent, answered) : answered;
  const entry = known
    ? { ...known, observed: storedValues(operation.kind, change.before) }
    : undefined;
  await execution.session.record(
    resultRecord(change.address, sent.class, {
      op: intent.op,
      ...(sent.class === 'applied' && defined({ entry })),
    }),
  );
  if (sent.class === 'applied')
    return {
      outcome: 'failed',
      id: change.id,
      ...defined({ entry }),
      diagnostic: diagnostic(),
    };
  const why = sent.diagnostic?.summary ?? 'there was no response';
  return {
    outcome: sent.class === 'unknown' ? 'unknown' : 'failed',
    partly: true,
    id: change.id,
    diagnostic: diagnostic(why),
  };
}

const CHANGED_OUTSIDE = 'moved';
/** The code of a refusal that has no code of its own. */
const REJECTED = 'rejected';

/** The outcome of a write that is not done: where somebody else changed the object first, it may still take effect, and the next run waits for that. */
const openOrNot = ({ class: one, diagnostic }: Sent): OutcomeClass =>
  diagnostic?.code === CHANGED_OUTSIDE ? 'unknown' : one;

/** A write that is not done: it was not sent because the run ends, is unknown, or failed. */
function undone({ class: one, diagnostic }: Sent): Ended {
  if (one === 'not_sent' && diagnostic?.code === WITHHELD)
    return { outcome: 'skipped', reason: diagnostic.summary };
  // The client, and a reading before a write, name the request that they did not send.
  if (one === 'not_sent' && diagnostic?.code === 'interrupted')
    return { outcome: 'skipped', reason: INTERRUPTED };
  return { outcome: one === 'unknown' ? one : 'failed', ...defined({ diagnostic }) };
}

/** Somebody else was quicker. */
const overtaken = (
  { address }: Pick<Change, 'address'>,
  code: string,
  what: string,
): Diagnostic => ({
  severity: 'error',
  code,
  summary: `${address} was ${what} outside of trueup since the plan.`,
  detail: 'Plan again.',
});

/** The service returned that there is no such object to update: one reading tells whether that is so. */
async function whetherGone(
  execution: ExecutionContext,
  { kind, runContext }: WriteOperation,
  change: Change & { readonly id: string },
  { class: one, diagnostic }: Sent,
): Promise<Sent> {
  const look = await tryFind(execution, kind, change.id);
  const isNew = runContext.isNew?.(kind.name, change.id) === true;
  if (look === undefined && !isNew)
    return { class: one, diagnostic: overtaken(change, 'gone', 'deleted') };
  const detail =
    look === undefined || look === 'unread'
      ? 'It is not known whether the object still exists. Plan again.'
      : 'A reading after it shows that the object still exists. Plan again.';
  return { class: one, diagnostic: { ...diagnostic!, detail } };
}

/** True if a response that describes the object contradicts no sent value. */
const echoes = (kind: Kind, fields: Values, { values }: Live): boolean =>
  isApplied(
    kind,
    keptMembers(fields, (_, name) => Object.hasOwn(values, name)),
    { id: '', values },
  );

/** A success that is doubtful, or that the safety of another change rests on, counts once it was seen. */
async function proven(
  execution: ExecutionContext,
  kind: Kind,
  { address, id = '' }: Intent,
  sent: Tried,
): Promise<Sent> {
  const one: ReadBack = { kind, id, judge: (live, isLast) => shownOf(kind, sent, live, isLast) };
  const read = await readBack(execution, [one], () => Infinity);
  const { shown = 'unread', live } = read.get(one) ?? {};
  if (shown === 'taken') return { class: 'applied' };
  return {
    class: shown === 'other' ? 'rejected' : 'unknown',
    diagnostic: unproven(
      address,
      shown === 'unread' && execution.signal.aborted ? 'interrupted' : shown,
      differing(kind, sent.fields, live),
    ),
  };
}

/** An adopted or renamed object is ours before anything is sent to it; nothing counts as applied yet. */
function bound(
  kind: Kind,
  change: Change & { readonly id: string; readonly before: Values },
  entry: Omit<Entry, 'id' | 'observed'>,
  prior: Entry | undefined,
): Entry {
  const { secrets: _, ...rest } = entry;
  return {
    ...rest,
    applied: prior?.applied ?? {},
    ...(prior?.secrets ? { secrets: prior.secrets } : {}),
    id: change.id,
    observed: storedValues(kind, change.before),
  };
}

/** An entry that records no secret which is about to be sent: until the response is proven, the old one may be live or the new one. */
export function withoutSent(entry: Entry, fields: Values): Entry {
  const sent = secretsIn(fields);
  const { secrets = {}, ...rest } = entry;
  const kept = Object.entries(secrets).filter(([path]) => !sent.has(path));
  if (kept.length === Object.keys(secrets).length) return entry;
  return { ...rest, ...(kept.length > 0 ? { secrets: Object.fromEntries(kept) } : {}) };
}

async function remove(
  execution: ExecutionContext,
  operation: WriteOperation,
  change: Delete,
): Promise<Ended> {
  const { kind, write } = operation;
  const { address, id } = change;
  const intent = repeatable(execution, change, 'delete');
  const sent = await sendUntilKnown(execution, operation, intent, write.live?.values ?? {});
  if (sent.class === 'applied' || isGone(sent)) {
    const entry = entryWithout(change, operation.runContext);
    const moment = momentIn(execution);
    await execution.session.record(
      resultRecord(address, 'applied', {
        op: intent.op,
        entry,
        spent: { ...moment, action: 'delete', kind: kind.name, id },
        lately: { ...moment, what: 'deleted', kind: kind.name, id },
      }),
    );
    // A request before this one may have deleted it.
    const isOthers = isGone(sent) && sent.lingers !== true;
    return {
      outcome: 'done',
      id,
      entry,
      ...(isGone(sent) && { toldGone: true }),
      ...(isOthers && { gone: true }),
    };
  }
  await execution.session.record(resultRecord(address, openOrNot(sent), { op: intent.op }));
  const diagnostic = await withAdvice(sent, operation);
  return { ...undone({ ...sent, ...defined({ diagnostic }) }), id };
}

/** What the service said, with what is known of the cause where it refused the request. */
async function withAdvice(
  { class: one, diagnostic }: Sent,
  { recheck }: WriteOperation,
): Promise<Diagnostic | undefined> {
  if (one !== 'rejected' || diagnostic?.code !== REJECTED) return diagnostic;
  const advice = await recheck?.refused?.().catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
  const detail = [diagnostic.detail, advice].filter(Boolean).join('\n');
  return detail === '' ? diagnostic : { ...diagnostic, detail };
}

function repeatable(
  execution: ExecutionContext,
  { address, kind, id }: Pick<Change, 'address' | 'kind'> & { readonly id: string },
  action: 'update' | 'delete',
): Intent {
  return {
    type: 'intent',
    op: execution.random.uuid(),
    address,
    kind,
    action,
    id,
    ...momentIn(execution),
  };
}

/** `lingers`: it is done, and an earlier request of it may still take effect. */
type Tried = Sent &
  SentFields & {
    readonly lingers?: boolean;
    /** The object was as it should be before. */
    readonly unneeded?: boolean;
  };

/** An update or delete without a clear response is looked at, and sent again only if it is still needed and nobody moved the object. */
async function sendUntilKnown(
  execution: ExecutionContext,
  operation: WriteOperation,
  intent: Intent,
  base: Values,
): Promise<Tried> {
  const { kind, write, runContext } = operation;
  let prepared: PreparedWrite | undefined;
  const send = await senderWithIntent(execution, operation, intent, async () => {
    prepared = await preparedWrite(execution, operation, intent, base);
    return prepared?.request;
  });
  let [unneeded, lingers] = [false, false];
  const fields = (): Values => prepared?.fields ?? write.fields;
  const tried = (sent: Sent): Tried => ({
    ...sent,
    lingers,
    unneeded,
    fields: fields(),
    before: prepared ? withKept({ ...write, fields: base }, prepared.fields) : base,
    ...defined({ document: prepared?.document, isOld: runContext.isOld }),
  });
  const attempt = async (): Promise<Sent> => {
    const sent = await send(operation.request);
    const isWithheld = sent.diagnostic?.code === UNNEEDED;
    unneeded = !lingers && (isWithheld || prepared?.unneeded === true);
    return isWithheld ? { class: 'applied' } : sent;
  };
  const refused = (code: string, what: string): Tried =>
    tried({ class: 'rejected', diagnostic: overtaken(intent, code, what) });
  let sent = await attempt();
  for (let attempts = 1; sent.class === 'unknown'; attempts += 1) {
    const doubt = sent;
    const again = await execution.cloud.pause(attempts, sent.wait);
    const look = await tryFind(execution, kind, intent.id!);
    if (look === 'unread') return tried(sent);
    const isNew = runContext.isNew?.(kind.name, intent.id!) === true;
    if (look === undefined && write.verb !== 'delete')
      return isNew ? tried(sent) : refused('gone', 'deleted');
    if (look === undefined && !isNew) return tried({ class: 'applied' });
    if (look) {
      const visible = write.verb === 'update' && isApplied(kind, fields(), look);
      if (visible && secretsIn(write.fields).size === 0) return tried({ class: 'applied' });
      const part = (values: Values): Values =>
        namedPart(kind, { ...base, ...write.fields }, values, base);
      const isOld = runContext.isOld?.(kind, part(base), look) === true;
      if (!visible && !isOld && !isUnmoved(kind, part(base), part(look.values)))
        return refused(CHANGED_OUTSIDE, 'changed');
    }
    if (!again || execution.signal.aborted) return tried(sent);
    // The first PUT may still take effect later, and would then remove what others have added since.
    if (replacesDocument(kind, write) && !(await waitUntilSettled(execution, intent)))
      return tried(sent);
    lingers = true;
    sent = await attempt();
    // Whatever the outcome of this request, the earlier one may still take effect.
    if (
      sent.class === 'not_sent' ||
      (sent.class === 'rejected' && !(write.verb === 'delete' && isGone(sent)))
    )
      return tried(doubt);
  }
  return tried(sent);
}

/** Waits until no request of an intent can take effect any more; false if the run is to end. */
async function waitUntilSettled(
  execution: ExecutionContext,
  { address }: Intent,
): Promise<boolean> {
  const why = `until the update of ${address} can no longer take effect`;
  await waitFor(execution, why, execution.settleMilliseconds).catch(() => undefined);
  return !execution.signal.aborted;
}

/** Readings that took longer than the settle time before a write is given up. */
const SLOW_READINGS = 3;

/** A reading that began longer ago than this (milliseconds) is repeated before something is written that rests on it. */
export const FRESH = 5000;

/**
 * The request to send in place of the composed one, if it needs a new reading. A reading that took longer than the settle
 * time is repeated; one that is older than the plan is repeated until the settle time has passed. @throws Refusal
 */
async function preparedWrite(
  { cloud, clock, signal, settleMilliseconds }: ExecutionContext,
  { kind, write, runContext }: WriteOperation,
  { address }: Intent,
  planned: Values,
): Promise<PreparedWrite | undefined> {
  const readAt = runContext.readAt(kind.name, write.id!) ?? -Infinity;
  if (!needsReading(kind, write) && clock.boot().milliseconds - readAt <= FRESH) return undefined;
  const slow = Math.max(FRESH, settleMilliseconds);
  const start = clock.monotonic();
  let slowReadings = 0;
  for (let pause = FIRST_PAUSE; ; pause *= 2) {
    const began = clock.boot().milliseconds;
    const prepared = await prepare(cloud, {
      kind,
      write,
      address,
      planned,
      isOld: runContext.isOld,
    });
    const isSlow = clock.boot().milliseconds - began > slow;
    if (prepared && !isSlow) return prepared;
    slowReadings += Number(isSlow);
    if (slowReadings === SLOW_READINGS)
      refuse(
        'slow-reading',
        `${address} was not written: each of ${SLOW_READINGS} readings of it took longer than the settle time.`,
        { detail: 'Plan again when the service responds faster.', address },
      );
    const left = settleMilliseconds - (clock.monotonic() - start);
    if (!prepared && (left <= 0 || signal.aborted))
      refuse(
        'old-reading',
        `${address} was not written: the service shows an older version of it than the one that was planned from.`,
        { detail: 'Plan again.', address },
      );
    if (!prepared) await clock.sleep(Math.min(pause, left), signal).catch(() => undefined);
  }
}

const isGone = (sent: Sent): boolean =>
  sent.class === 'rejected' && sent.diagnostic?.code === 'not-found';

const tryFind = ({ cloud }: ExecutionContext, kind: Kind, id: string) =>
  cloud.find(kind, [id]).then(
    ([live]) => live,
    () => 'unread' as const,
  );

/** A create or update that carries a secret needs its value; everything else works without. */
export function missingSecret({ address, origin }: Change, fields: Values): Diagnostic | undefined {
  const missing = [...secretsIn(fields).values()].find((secret) => secret.reveal() === undefined);
  if (!missing) return undefined;
  return {
    severity: 'error',
    code: 'secret-missing',
    summary: `${address} needs the value of \${secret.${missing.source}}, which is not available.`,
    detail: missing.advice,
    address,
    ...(origin ? { origin } : {}),
  };
}

const omit = (values: Values, names: readonly string[]): Values =>
  keptMembers(values, (_, name) => !names.includes(name));
