// The impact of a plan on past alerts: every alert is tested against the rules before and after the plan. Alerts are
// processed one at a time, and only counts are kept. If the API does not show a fact (the members of a group, the
// account of a router, the parents of an account that cannot be read), the alert is counted as not judged.
import {
  append,
  cached,
  compareText,
  isEmpty,
  isTree,
  liveObjectWords,
  type Audited,
  type Found,
  type Impact,
  type LiveObjects,
  type RuleImpact,
  type Value,
  type Values,
} from '../../model/index.js';
import { ownRoot } from '../../reconciler/plan/match.js';
import { lineage, nodeOf } from './administrators.js';
import { valuesAfter, valuesBefore, type ValuesOf } from './after-changes.js';
import { routers as routerKind } from '../routers.js';
import { ACCOUNTS } from './roles.js';
import { DESTINATIONS, RULES, works } from './rule-without-destination.js';

const ROUTERS = routerKind.name;
const DAY = 86_400_000;
/** A rule is noisy from this number of notifications a day, if that is also this many times the number before. */
const NOISY_A_DAY = 10;
const NOISY_TIMES = 3;

/** Where the rules stand (accounts, rules and destinations, as far as they were read), and what would change. */
export type ImpactContext = Pick<Audited, 'live' | 'changes' | 'addressOf'>;

interface Named extends ImpactContext {
  /** Addresses of what the plan makes. */
  readonly made: ReadonlySet<string>;
}

/** The alerts, and the accounts of routers. */
export interface Evidence {
  /** ISO 8601. */
  readonly since: string;
  readonly until: string;
  readonly alerts: AsyncIterable<readonly Found[]>;
  /** The account of a router; undefined if unknown. */
  readonly accountOf: (router: string) => Promise<string | undefined>;
}

/** A rule that sends somewhere, with what it would have sent. */
interface RuleTally {
  readonly receivers: readonly string[];
  readonly notifications: number;
  readonly schedule: Value | undefined;
  readonly days: Set<string>;
  alerts: number;
  unjudged: number;
}

/** Rules that select one alert type: by the accounts they name, those that name any, those that name groups, and all. */
interface Listeners {
  readonly byAccount: Map<string, RuleTally[]>;
  readonly byGroup: Map<string, RuleTally[]>;
  readonly scoped: Set<RuleTally>;
  readonly grouped: Set<RuleTally>;
  readonly all: Set<RuleTally>;
}

type Side = ReturnType<typeof sideOf>;
type Alert = Awaited<ReturnType<typeof alertOf>>;

/** Judges the alerts as they come, in memory that depends on the rules, accounts and days alone. */
export async function impactOf(
  known: ImpactContext,
  { since, until, alerts, accountOf }: Evidence,
): Promise<Impact> {
  const scene: Named = {
    ...known,
    made: new Set(
      known.changes.flatMap((change) => (change.action === 'create' ? [change.address] : [])),
    ),
  };
  const [before, after] = [sideOf(scene, valuesBefore), sideOf(scene, valuesAfter)];
  const types = new Map<string, { alerts: number; before: number; after: number }>();
  const counts = { alerts: 0, inherited: 0, groups: 0, routers: 0 };
  for await (const page of alerts) {
    for (const { values } of page) {
      const alert = await alertOf(values, known.live, accountOf);
      const [then, now] = [countAlert(before, alert), countAlert(after, alert)];
      const type = cached(types, alert.type, () => ({ alerts: 0, before: 0, after: 0 }));
      type.alerts += 1;
      if (!then.heard && !then.open) type.before += 1;
      if (!now.heard && !now.open) type.after += 1;
      counts.alerts += 1;
      if (then.inherited || now.inherited) counts.inherited += 1;
      if (then.open || now.open) counts[alert.placed ? 'groups' : 'routers'] += 1;
    }
  }
  const days = Math.max((Date.parse(until) - Date.parse(since)) / DAY, 1);
  return {
    since,
    until,
    alerts: counts.alerts,
    rules: ruleImpacts(scene, before, after, days),
    unheard: [...types]
      .filter(([, type]) => type.after > 0)
      .map(([type, numbers]) => ({ type, ...numbers }))
      .toSorted((a, b) => compareText(a.type, b.type)),
    through_sub_accounts: counts.inherited,
    unjudged: { groups: counts.groups, routers: counts.routers },
  };
}

async function alertOf(
  { type, account, router, created_at }: Values,
  live: LiveObjects,
  accountOf: Evidence['accountOf'],
) {
  let own = typeof account === 'string' ? account : undefined;
  if (own === undefined && typeof router === 'string') own = await accountOf(router);
  return {
    type: typeof type === 'string' ? type : '',
    account: own,
    /** Whether it is known what is above its account. */
    placed: own !== undefined && live.get(ACCOUNTS)?.byId.has(own) === true,
    router: typeof account !== 'string',
    device: typeof router === 'string' ? router : '',
    day: String(created_at).slice(0, 10),
  };
}

/** Whether an alert reached somebody, whether a rule is open that may have sent it, whether some rule has it from an account above alone. Only routers are in groups; where routers were not read, a rule for groups cannot be judged for them unless it names their account as well. */
function countAlert(
  { listeners, parent, groupOf }: Side,
  { type, account, placed, router, device, day }: Alert,
) {
  const these = listeners.get(type);
  if (!these) return { heard: false, open: false, inherited: false };
  const above = lineage(parent, account);
  const group = router ? groupOf(device) : undefined;
  const ofGroup = these.byGroup.get(group ?? '') ?? [];
  const certain = new Set([...above.flatMap((one) => these.byAccount.get(one) ?? []), ...ofGroup]);
  const ofKnown = placed ? [] : these.scoped;
  const ofUnknown = placed ? these.grouped : these.all;
  const ofRouter = group === undefined ? ofUnknown : ofKnown;
  const open = [...(router ? ofRouter : ofKnown)].filter((rule) => !certain.has(rule));
  for (const rule of certain) {
    if (isEmpty(rule.schedule) || rule.schedule === 'daily') rule.alerts += 1;
    else rule.unjudged += 1;
    rule.days.add(day);
  }
  for (const rule of open) rule.unjudged += 1;
  const direct = new Set([...(these.byAccount.get(account ?? '') ?? []), ...ofGroup]);
  return { heard: certain.size > 0, open: open.length > 0, inherited: certain.size > direct.size };
}

/** The rules at one time. Objects that are not there yet go by their address, all others by their id. */
function sideOf(scene: Named, valuesOf: ValuesOf) {
  const accounts = valuesOf(scene, ACCOUNTS);
  const destinations = valuesOf(scene, DESTINATIONS);
  const rules = new Map<string, RuleTally>();
  const listeners = new Map<string, Listeners>();
  const delivers = (key: string): boolean => works(destinations.get(key));
  for (const [key, values] of valuesOf(scene, RULES)) {
    const hooks = keysOf(values.http_destinations).filter(delivers);
    const mails = keysOf(values.email_destinations).length;
    const receivers = [
      ...hooks.map((hook) => nameOf(scene, DESTINATIONS, hook)).toSorted(compareText),
      ...(mails > 0 ? [`${mails} by e-mail`] : []),
    ];
    const rule = {
      receivers,
      notifications: hooks.length + mails,
      schedule: values.schedule,
      days: new Set<string>(),
      alerts: 0,
      unjudged: 0,
    };
    rules.set(key, rule);
    if (receivers.length > 0) listen(listeners, rule, values);
  }
  // An account that is made without a parent comes below the root, which ends every lineage.
  const listed = scene.live.get(ACCOUNTS);
  const top = listed && ownRoot(listed).account;
  const parent = (account: string): Value | undefined =>
    accounts.has(account) ? (accounts.get(account)?.account ?? top) : undefined;
  const routers = scene.live.has(ROUTERS) ? valuesOf(scene, ROUTERS) : undefined;
  /** Null for a router in no group, undefined where it is not known. */
  const groupOf = (router: string): string | null | undefined => {
    const values = routers?.get(router);
    return values && (nodeOf(values.group ?? undefined) ?? null);
  };
  return { rules, listeners, parent, groupOf };
}

function listen(
  listeners: Map<string, Listeners>,
  rule: RuleTally,
  { filter_criteria, associated_accounts, associated_groups }: Values,
): void {
  const accounts = keysOf(associated_accounts);
  for (const type of keysOf(
    isTree(filter_criteria) ? filter_criteria['alert_type__in'] : undefined,
  )) {
    const these = cached(listeners, type, () => ({
      byAccount: new Map<string, RuleTally[]>(),
      byGroup: new Map<string, RuleTally[]>(),
      scoped: new Set<RuleTally>(),
      grouped: new Set<RuleTally>(),
      all: new Set<RuleTally>(),
    }));
    for (const account of accounts) append(these.byAccount, account, rule);
    for (const group of keysOf(associated_groups)) append(these.byGroup, group, rule);
    if (accounts.length > 0) these.scoped.add(rule);
    if (!isEmpty(associated_groups)) these.grouped.add(rule);
    if (accounts.length > 0 || !isEmpty(associated_groups)) these.all.add(rule);
  }
}

/** The items of a list: texts, and references to what is not there yet by its address. */
function keysOf(value: Value | undefined): readonly string[] {
  return Array.isArray(value)
    ? (value as readonly Value[]).flatMap((item) => nodeOf(item) ?? [])
    : [];
}

/** The rules of both times, by name. @param days length of the time that is judged */
function ruleImpacts(scene: Named, before: Side, after: Side, days: number): readonly RuleImpact[] {
  return [...new Set([...before.rules.keys(), ...after.rules.keys()])]
    .map((key): RuleImpact => {
      const [then, now] = [before.rules.get(key), after.rules.get(key)];
      const sent = { before: sentBy(then), after: sentBy(now) };
      return {
        rule: nameOf(scene, RULES, key),
        id: scene.live.get(RULES)?.byId.has(key) ? key : null,
        ...sent,
        unjudged: { before: then?.unjudged ?? 0, after: now?.unjudged ?? 0 },
        destinations: { before: then?.receivers ?? [], after: now?.receivers ?? [] },
        noisy: sent.after >= NOISY_A_DAY * days && sent.after >= NOISY_TIMES * sent.before,
      };
    })
    .toSorted((a, b) => compareText(a.rule, b.rule));
}

/** At once, each alert is one notification per destination; daily, each day with alerts is one. For an unknown schedule, none is counted. */
function sentBy(rule: RuleTally | undefined): number {
  if (!rule) return 0;
  return rule.notifications * (rule.schedule === 'daily' ? rule.days.size : rule.alerts);
}

const nameOf = ({ addressOf, made, live }: Named, kind: string, key: string): string =>
  addressOf(kind, key) ?? (made.has(key) ? key : liveObjectWords(live, kind, key));
