// The laws, over what the emulator stored: each says what is wrong with one write, one run or the end of a scenario.
import {
  Reference,
  type Declaration,
  type Json,
  type JsonObject,
  type Plan,
  type State,
  type Values,
} from '../../src/model/index.js';
import type { Audit } from '../../src/reconciler/audit/drift.js';
import { content, nearly, plain, type Asked, type Ledger, type Written } from './ledger.js';
import { SETTLE, type Scenario } from './scenario.js';

export const laws = {
  'no-duplicate':
    'one live object an address, and never a create beside an equal object that could be seen',
  'apply-twice': 'a second apply sends nothing',
  'plan-empty': 'a plan after an apply is empty',
  'no-wrong-write':
    'nothing is changed or deleted that no declaration means, and no attribute that none names',
  'crash-safe':
    'whatever a run was cut off at, reruns end where a whole one would, or a person decides and nothing was written',
  'one-verdict':
    'what plan calls changed outside, drift lists; without a state nothing is claimed that nobody can know',
  'first-run':
    'without a state nothing that exists is changed, and nothing is created beside what nearly equals it',
  limits: 'the limits hold over all runs of 24 hours',
  'no-lost-id': 'the state holds the id of every object that a run made, and holds it once',
} as const;

export type Law = keyof typeof laws;
export type Fail = (law: Law, detail: string) => void;

const DAY = 24 * 3_600_000;
const SERVERS: ReadonlySet<string> = new Set([
  'updated_at',
  'version_number',
  'synched',
  'pending',
  'actual',
  'target',
  'resource_url',
]);

const methodOf = ({ kind, before, after }: Written): 'POST' | 'PUT' | 'PATCH' | 'DELETE' =>
  !before ? 'POST' : !after ? 'DELETE' : kind.startsWith('alert_') ? 'PATCH' : 'PUT';

/** Since when every reading shows that an object holds what it holds now, as far as `alike` tells. */
function shownSince(
  { written }: Ledger,
  { lag }: Scenario,
  kind: string,
  id: string,
  alike: (record: JsonObject) => boolean,
): number {
  const changes = written.filter((one) => one.kind === kind && one.id === id);
  const first = changes.findLastIndex((one) => !one.before || !alike(one.before));
  const change = changes[first];
  return change ? change.at + lag[methodOf(change)] : -Infinity;
}

/** Judges each write as it lands. */
export function watch(scenario: Scenario, ledger: Ledger, fail: Fail): void {
  ledger.onWritten = (one) => {
    const { run, kind, id, before, after } = one;
    if (!run) return;
    if (!before && after) judgeCreate(scenario, ledger, { ...one, run, after }, fail);
    else if (before && !after) judgeDelete(ledger, { ...one, run }, fail);
    else if (before && after) judgeUpdate(scenario, ledger, { ...one, run, before, after }, fail);
    if (
      before &&
      !run.remembers &&
      !run.allow.includes('first-run') &&
      ledger.made.get(`${kind} ${id}`)?.run !== run
    )
      fail('first-run', `run ${run.number} had no state and wrote to ${kind} ${id}`);
  };
}

function judgeCreate(
  scenario: Scenario,
  ledger: Ledger,
  one: Written & { readonly run: Asked; readonly after: JsonObject },
  fail: Fail,
): void {
  const { kind, id, run, after, sent } = one;
  const addresses = ledger.meant.get(`${kind} ${id}`) ?? new Set();
  if (addresses.size === 0)
    fail('no-wrong-write', `${kind} ${id} was made and no declaration means it`);
  for (const [other, record] of ledger.live.get(kind) ?? []) {
    if (other === id) continue;
    const equal = (some: JsonObject): boolean => content(kind, some) === content(kind, after);
    const made = ledger.made.get(`${kind} ${other}`);
    // What was made before the state was lost is an object like any other: only its content tells that it is ours.
    if (made && made.losses === one.losses) {
      if (
        equal(record) ||
        [...(ledger.meant.get(`${kind} ${other}`) ?? [])].some((address) => addresses.has(address))
      )
        fail(
          'no-duplicate',
          `${kind} ${id} was made beside ${other}, which run ${made.run?.number} made for ${[...addresses].join(', ')}`,
        );
      continue;
    }
    // What was not to be seen when the run looked cannot be known; a run does not act on what it read long ago.
    const seen = (alike: (some: JsonObject) => boolean): boolean => {
      const since = shownSince(ledger, scenario, kind, other, alike);
      return since < run.began || since < sent - SETTLE;
    };
    if (equal(record) && seen(equal))
      fail(
        'no-duplicate',
        `${kind} ${id} was made beside ${other}, which is equal and was to be seen`,
      );
    const near = (some: JsonObject): boolean => nearly(kind, some, after);
    const unmanaged = !ledger.meant.has(`${kind} ${other}`);
    if (
      near(record) &&
      unmanaged &&
      seen(near) &&
      !isShifted(ledger, one) &&
      !run.allow.includes('possible-duplicate')
    )
      fail('first-run', `${kind} ${id} was made beside ${other}, which nearly equals it`);
  }
}

/** An account that is deleted while pages are read can hide another one. The filter by name, which proves absence, shows equal names only, and no nearly equal ones. */
function isShifted(
  { written }: Ledger,
  { kind, run, sent }: Written & { readonly run: Asked },
): boolean {
  return (
    kind === 'accounts' &&
    written.some(
      (one) => !one.run && one.kind === kind && !one.after && one.at >= run.began && one.at <= sent,
    )
  );
}

function judgeDelete(
  ledger: Ledger,
  { kind, id, run }: Written & { readonly run: Asked },
  fail: Fail,
): void {
  const addresses = ledger.meant.get(`${kind} ${id}`);
  if (!addresses)
    return fail('no-wrong-write', `${kind} ${id} was deleted and no declaration ever meant it`);
  if ([...addresses].every((address) => run.declared.some((one) => one.address === address)))
    fail(
      'no-wrong-write',
      `${kind} ${id} was deleted although ${[...addresses].join(', ')} is declared`,
    );
  if (!covers(run, addresses)) fail('no-wrong-write', `${kind} ${id} was deleted and is no target`);
}

function judgeUpdate(
  scenario: Scenario,
  ledger: Ledger,
  one: Written & { readonly run: Asked; readonly before: JsonObject; readonly after: JsonObject },
  fail: Fail,
): void {
  const { kind, id, run, before, after } = one;
  const addresses = ledger.meant.get(`${kind} ${id}`);
  if (!addresses)
    return fail('no-wrong-write', `${kind} ${id} was changed and no declaration ever meant it`);
  if (!covers(run, addresses)) fail('no-wrong-write', `${kind} ${id} was changed and is no target`);
  const versions = ledger.declared.filter(({ address }) => addresses.has(address));
  for (const name of Object.keys(after)) {
    if (SERVERS.has(name) || plain(before[name]) === plain(after[name])) continue;
    const meant = versions.some(
      ({ values }) =>
        Object.hasOwn(values, name) && isMeant(ledger, values[name], before[name], after[name]),
    );
    if (!meant && !isHidden(scenario, ledger, one, name))
      fail(
        'no-wrong-write',
        `${name} of ${kind} ${id} became ${plain(after[name])} instead of ${plain(before[name])}, which nobody declared`,
      );
  }
}

/** A PUT carries what it does not change as it was read; what another hand wrote and no reading shows yet, or wrote after the PUT had left, goes with it. */
function isHidden(
  scenario: Scenario,
  { written }: Ledger,
  { kind, id, sent, known }: Written,
  name: string,
): boolean {
  return (
    !kind.startsWith('alert_') &&
    written.some(
      (one, index) =>
        !one.run &&
        one.kind === kind &&
        one.id === id &&
        one.before &&
        one.after &&
        plain(one.before[name]) !== plain(one.after[name]) &&
        (index >= known || one.at + scenario.lag.PUT > sent),
    )
  );
}

/** Whether what a value became is what was declared, and what is beside it stayed. */
function isMeant(
  ledger: Ledger,
  declared: unknown,
  before: Json | undefined,
  after: Json | undefined,
): boolean {
  if (declared instanceof Reference)
    return (
      ledger.meant
        .get(`${declared.target.slice(0, declared.target.indexOf('.'))} ${String(after)}`)
        ?.has(declared.target) ?? false
    );
  if (Array.isArray(declared)) {
    if (!Array.isArray(after)) return false;
    if (
      declared.some(
        (item) => typeof item === 'object' && item !== null && !(item instanceof Reference),
      )
    )
      return declared.every((item, index) =>
        isMeant(
          ledger,
          item,
          Array.isArray(before) ? (before as readonly Json[])[index] : undefined,
          (after as readonly Json[])[index],
        ),
      );
    return (
      declared.length === after.length &&
      (after as readonly Json[]).every((item) =>
        declared.some((wanted) => isMeant(ledger, wanted, undefined, item)),
      )
    );
  }
  if (typeof declared === 'object' && declared !== null) {
    const [was, is] = [(before ?? {}) as JsonObject, (after ?? {}) as JsonObject];
    return [...new Set([...Object.keys(was), ...Object.keys(is), ...Object.keys(declared)])].every(
      (name) =>
        Object.hasOwn(declared, name)
          ? isMeant(ledger, (declared as Values)[name], was[name], is[name])
          : plain(was[name]) === plain(is[name]),
    );
  }
  return plain(declared as Json) === plain(after);
}

const isAsDeclared = (ledger: Ledger, values: Values, record: JsonObject): boolean =>
  Object.entries(values).every(([name, value]) =>
    isMeant(ledger, value, record[name], record[name]),
  );

/** What plan and drift say of the same objects, once every reading shows what is stored. */
export function judgeVerdicts(
  scenario: Scenario,
  ledger: Ledger,
  state: State | undefined,
  declared: readonly Declaration[],
  { plan, audit }: Verdicts,
  fail: Fail,
): void {
  const listed = new Map(audit.drift.map((one) => [one.address, one]));
  for (const { address } of plan.drift)
    if (!listed.has(address))
      fail('one-verdict', `${address} is changed outside as plan says, and drift says nothing`);
  const entries = state?.resources ?? {};
  for (const { address, kind, values } of declared) {
    const entry = entries[address];
    const record = entry && ledger.live.get(kind)?.get(entry.id);
    if (
      entry &&
      (!record || !isAsDeclared(ledger, values, record)) &&
      !listed.has(address) &&
      !isForgotten(scenario, ledger, address)
    )
      fail('one-verdict', `${address} is ${record ? 'changed' : 'gone'}, and drift says nothing`);
  }
  if (Object.keys(entries).length > 0) return;
  for (const { address, status, changes } of audit.drift)
    if (status === 'gone' || status === 'replaced' || changes.some((one) => 'applied' in one))
      fail('one-verdict', `${address} is ${status} as drift says, and there is no state`);
}

interface Verdicts {
  readonly plan: Plan;
  readonly audit: Audit;
}

/** Whether a run may write to what these addresses mean: its targets, and all that they refer to. */
function covers({ targets, declared }: Asked, addresses: ReadonlySet<string>): boolean {
  if (targets.length === 0) return true;
  const covered = new Set<string>();
  const open = [...targets];
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    if (covered.has(address)) continue;
    covered.add(address);
    const text = JSON.stringify(declared.find((one) => one.address === address)?.values ?? {});
    for (const one of declared) if (text.includes(`\${${one.address}.`)) open.push(one.address);
  }
  return [...addresses].some((address) => covered.has(address));
}

/** Existing objects that runs wrote to in the last 24 hours, as long as a state remembers it; what another hand has undone nobody can know. */
function spent(ledger: Ledger, now: number, deletes: boolean): ReadonlySet<string> {
  const mine = ledger.written.filter(
    ({ run, before, after, losses, at }) =>
      run && before && losses === ledger.losses && at > now - DAY && (!deletes || !after),
  );
  const undone = (one: Written): boolean =>
    ledger.written.some(
      (other) => !other.run && other.kind === one.kind && other.id === one.id && other.at >= one.at,
    );
  return new Set(mine.flatMap((one) => (undone(one) ? [] : [`${one.kind} ${one.id}`])));
}

/** What a run that ended has to keep, whatever became of it. */
export function judgeRun(scenario: Scenario, ledger: Ledger, run: Asked, fail: Fail): void {
  const own = ledger.written.filter((one) => one.run === run && one.before);
  const now = own.at(-1)?.at ?? 0;
  const all = spent(ledger, now, false);
  const deletes = spent(ledger, now, true);
  // What others make like a declaration while the run reads is adopted, and counts.
  const joined = ledger.written.filter(
    ({ run: by, before, at, kind, id }) =>
      !by && !before && at >= run.began && ledger.meant.has(`${kind} ${id}`),
  ).length;
  const most = run.objects.most + joined;
  // What others delete while it reads may be gone when it counts.
  const left = ledger.written.filter(
    ({ run: by, before, after, at }) => !by && before && !after && at >= run.began,
  ).length;
  const { max_deletes, max_changed_percent } = scenario.policy;
  if (
    own.some((one) => !one.after) &&
    deletes.size > max_deletes &&
    !run.allow.includes('max-deletes')
  )
    fail('limits', `${deletes.size} deleted within 24 hours, the limit is ${max_deletes}`);
  if (
    own.length > 0 &&
    run.objects.least - left >= 10 &&
    (all.size / most) * 100 > max_changed_percent &&
    !run.allow.includes('max-changed')
  )
    fail(
      'limits',
      `${all.size} of ${most} objects written within 24 hours, the limit is ${max_changed_percent} %`,
    );
}

/** @param open addresses whose create nobody knows the outcome of */
export function judgeState(
  ledger: Ledger,
  state: State | undefined,
  open: ReadonlySet<string>,
  fail: Fail,
): void {
  const entries = Object.entries(state?.resources ?? {});
  const keys = entries.map(([, { kind, id }]) => `${kind} ${id}`);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) fail('no-lost-id', `${twice} is recorded twice`);
  for (const [key, made] of ledger.made) {
    if (
      made.losses !== ledger.losses ||
      !ledger.live.get(made.kind)?.has(made.id) ||
      keys.includes(key) ||
      isIndistinguishable(ledger, made)
    )
      continue;
    const addresses = [...(ledger.meant.get(key) ?? [])];
    if (!addresses.some((address) => open.has(address)))
      fail('no-lost-id', `${key} was made for ${addresses.join(', ')} and is nowhere in the state`);
  }
}

/**
 * After a new start of the machine only the service tells how old an object is. Where it does not tell, one that no listing has
 * ever shown counts as not visible yet for a day, also if another hand deleted it meanwhile.
 */
function isForgotten({ service, phases }: Scenario, ledger: Ledger, address: string): boolean {
  if (service.tells || phases.every(({ place }) => place === 'same')) return false;
  return ledger.written.some(
    (one) =>
      !one.run &&
      !one.after &&
      ledger.made.has(`${one.kind} ${one.id}`) &&
      ledger.meant.get(`${one.kind} ${one.id}`)?.has(address),
  );
}

/**
 * The object of a killed run, or of a create without an answer, is recognised by its content. If others made an equal
 * object after the run's, or less than the settle time before, and changed the run's before a run looked, nobody can tell
 * which of the two the run made.
 */
function isIndistinguishable(
  { written, recognised }: Ledger,
  { kind, id }: { readonly kind: string; readonly id: string },
): boolean {
  const create = written.find((one) => one.kind === kind && one.id === id && !one.before);
  const looked = create?.run && recognised.get(create.run);
  if (!create?.after || looked === undefined) return false;
  const made = content(kind, create.after);
  const others = written.filter((one) => !one.run && one.kind === kind && one.at <= looked);
  const equal = others.some(
    (one) =>
      !one.before &&
      one.after &&
      one.id !== id &&
      one.at > create.at - SETTLE &&
      content(kind, one.after) === made,
  );
  return equal && others.some((one) => one.before && one.id === id);
}

/** What has to be live once nothing more is to do. */
export function judgeEnd(scenario: Scenario, ledger: Ledger, run: Asked, fail: Fail): void {
  for (const { address, kind, values } of run.declared) {
    const live = [...(ledger.live.get(kind) ?? [])].filter(([id]) =>
      ledger.meant.get(`${kind} ${id}`)?.has(address),
    );
    const right = live.filter(([, record]) => isAsDeclared(ledger, values, record));
    if (right.length === 0 && !isForgotten(scenario, ledger, address))
      fail(
        'crash-safe',
        `nothing live is as ${address} declares it (of ${live.map(([id, record]) => `${id} ${content(kind, record)}`).join(', ') || 'none'})`,
      );
  }
  for (const [key, made] of ledger.made) {
    const addresses = [...(ledger.meant.get(key) ?? [])];
    const isLive = ledger.live.get(made.kind)?.has(made.id) === true;
    if (
      isLive &&
      made.losses === ledger.losses &&
      !isIndistinguishable(ledger, made) &&
      !addresses.some((address) => run.declared.some((one) => one.address === address))
    )
      fail('crash-safe', `${key} is live and declared no more`);
  }
}
