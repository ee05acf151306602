// What may not happen by accident. Each rule is a small named function over the ordered changes; a rule that
// speaks blocks the run (exit 3) unless it is allowed by name. Rules only ever remove: none adds a change.
import {
  allowableRules,
  changesOf,
  hostOf,
  isEmpty,
  policyRules,
  Reference,
  shellWord,
  Template,
  writes,
  type Change,
  type Create,
  type Diagnostic,
  type Kind,
  type Kinds,
  type Live,
  type PolicyRule,
  type Roles,
  type Spent,
  type Value,
  type Values,
  type Verdict,
  type Write,
} from '../../model/index.js';
import { possibleDuplicates } from './possible-duplicates.js';
import { ownRoot, previousAddress } from './match.js';
import { mergedNames, travellingMasks } from './document-diff.js';
import type { World } from '../observe.js';
import type { PlanInput } from './plan-input.js';
import { guards } from '../administrators.js';
import { ACCOUNTS, AUTHORIZATIONS, demotes, moves, rank, reroles, rises, roleAfter } from '../roles.js';
import type { Selection } from './select.js';
import { phases } from './order.js';

const RULES = 'alert_rules';
const DESTINATIONS = 'alert_push_destinations';
/** From this many recorded objects on, the share of changed ones is limited. */
const SHARE_FROM = 10;
export const SPENT_WINDOW = 24 * 3600 * 1000;
/** Addresses that one verdict names. */
const FEW = 5;

/** What a plan knows beside its changes. */
export interface Circumstances {
  readonly selection: Selection;
  readonly input: PlanInput;
  /** `<kind> <id>` of live objects that declarations mean. */
  readonly matched: ReadonlySet<string>;
  /** Live objects that nothing manages, by kind name. */
  readonly unmanaged: ReadonlyMap<string, readonly Live[]>;
}

interface Case extends Circumstances {
  readonly changes: readonly Change[];
  readonly world: World;
  readonly roles: Roles;
}
type Finding = Omit<Verdict, 'rule' | 'verdict'>;
type Rule = (at: Case) => readonly Finding[];

/** Rules that protect others, and need nothing but what is live. */
const liveRules = {
  'last-administrator': ({ changes, world, roles }) =>
    guards(changes, world, roles).flatMap(({ change: { address }, account, waits }) =>
      waits
        ? []
        : [
            {
              address,
              detail: address.startsWith(`${ACCOUNTS}.`)
                ? `${address} moves account ${account} away from its last administrator`
                : `${address} is the last administrator of account ${account}`,
            },
          ],
    ),

  'account-in-use': ({ changes, world }) => {
    const deleted = changes.flatMap((change) => (change.action === 'delete' && change.kind === ACCOUNTS ? [change] : []));
    if (deleted.length === 0) return [];
    const [first] = phases(changes);
    const early = holdersByAccount(world, goingIds(first), new Map());
    const late = holdersByAccount(world, goingIds(changes), afterChanges(changes));
    return deleted.flatMap((change) => {
      const holders = first.includes(change) ? early : late;
      const held = [...(holders.get(change.id) ?? [])].map(([kind, count]) => `${count} of ${kind}`);
      return held.length === 0 ? [] : [{ address: change.address, detail: `${change.address} (account ${change.id}) still holds ${held.join(', ')}` }];
    });
  },
} as const satisfies Partial<Record<PolicyRule, (at: Pick<Case, 'changes' | 'world' | 'roles'>) => readonly Finding[]>>;

/** Whether a change, alone, may take from others what they need: then it is judged by what is live when it is carried out. */
export const endangers = (change: Change, roles?: Roles): boolean => demotes(change, roles) || moves(change) || (change.action === 'delete' && change.kind === ACCOUNTS);

/** What the rules that need only what is live say of one change that no plan of ours holds. */
export function judgeAlone(change: Change, world: World, roles: Roles = {}): readonly (Finding & { readonly rule: PolicyRule })[] {
  return Object.entries(liveRules).flatMap(([rule, judged]) =>
    judged({ changes: [change], world, roles }).map((finding) => ({ rule: rule as keyof typeof liveRules, ...finding })),
  );
}

export function judge(changes: readonly Change[], circumstances: Circumstances): readonly Verdict[] {
  const { input } = circumstances;
  const at: Case = { ...circumstances, changes, world: input.world, roles: input.project.settings.roles };
  const allowed: ReadonlySet<PolicyRule> = new Set(allowableRules.filter((rule) => input.request.allow.includes(rule)));
  return policyRules.flatMap((rule) => rules[rule](at).map((finding) => ({ rule, verdict: allowed.has(rule) ? ('allowed' as const) : ('blocked' as const), ...finding })));
}

const rules: Readonly<Record<PolicyRule, Rule>> = {
  ...liveRules,

  'max-deletes': ({ changes, input }) => {
    const now = objectsOf(changes, ['delete']);
    const before = recent(input, ['delete']);
    const limit = input.project.settings.policy.max_deletes;
    const all = countAll(now, before);
    return now.size > 0 && all > limit ? [{ detail: `${now.size} to delete${earlier(all - now.size)}; the limit is ${limit} in 24 hours (settings.policy.max_deletes)` }] : [];
  },

  'max-changed': ({ changes, input, matched }) => {
    const entries = Object.values(input.state?.resources ?? {});
    const objects = new Set([...matched, ...entries.map(({ kind, id }) => `${kind} ${id}`)]).size;
    const now = objectsOf(changes, ['update', 'delete']);
    const all = countAll(now, recent(input, ['delete', 'update']));
    const limit = input.project.settings.policy.max_changed_percent;
    if (objects < SHARE_FROM || now.size === 0 || (all / objects) * 100 <= limit) return [];
    return [
      { detail: `${now.size} of ${objects} objects to update or delete${earlier(all - now.size)}; the limit is ${limit} % in 24 hours (settings.policy.max_changed_percent)` },
    ];
  },

  'first-run': ({ changes, input }) => {
    if (Object.keys(input.state?.resources ?? {}).length > 0) return [];
    const named = new Set(input.project.declarations.flatMap((one) => (one.lifecycle.adopt === undefined ? [] : [one.address])));
    const adopted = changes.filter((change) => change.action === 'adopt');
    const changed = adopted.filter((change) => writes(change) && !named.has(change.address)).map(({ address }) => address);
    if (changed.length === 0) return [];
    const shown = changed.slice(0, FEW).join(', ') + (changed.length > FEW ? ` and ${changed.length - FEW} more` : '');
    return [
      {
        detail: `there is no state, and ${changed.length} of ${adopted.length} adopted objects would be changed: ${shown}; to change an object, name it in lifecycle.adopt, or bind it first: \`trueup import ADDRESS ID\``,
      },
    ];
  },

  'possible-duplicate': ({ changes, input, world, unmanaged }) => {
    const allowed = new Set(input.project.declarations.flatMap((one) => (one.lifecycle.allow_duplicate ? [one.address] : [])));
    const creates = changes.filter((change): change is Create => change.action === 'create' && !allowed.has(change.address));
    return [...world.values()].flatMap((collection) => {
      const { kind } = collection;
      const mine = creates.filter((change) => change.kind === kind.name);
      const root = mine.length === 0 ? {} : ownRoot(collection);
      return possibleDuplicates(kind, mine, unmanaged.get(kind.name) ?? [], (values) => ({ ...root, ...values })).map(({ change, live, differing }) => ({
        address: change.address,
        detail: `${change.address} is a possible duplicate of the unmanaged ${kind.singular.replaceAll('_', ' ')} ${live.id} (${differing.length === 0 ? 'no declared attribute differs' : `differs in ${differing.join(', ')}`}); if both are the same object, bind it: \`trueup import ${shellWord(change.address)} ${shellWord(live.id)}\``,
      }));
    });
  },

  'all-removed': ({ selection, changes }) =>
    selection.all_removed
      .filter((kind) => selection.removed.some(([address]) => address.startsWith(`${kind}.`)))
      .map((kind) => ({ detail: `no declaration of ${kind} is left: ${changes.filter((change) => change.kind === kind).length} would be removed` })),

  protected: ({ changes, input }) => {
    const protects = input.project.declarations.filter((one) => one.lifecycle.protect);
    const declared = new Set(protects.flatMap((one) => [one.address, previousAddress(one, input.state) ?? []].flat()));
    return changes
      .filter(isRemoval)
      .filter((change) => input.state?.resources[change.address]?.protect || declared.has(change.address))
      .map((change) => ({
        address: change.address,
        detail: `${change.address} is protected; remove lifecycle.protect and apply that first`,
      }));
  },

  'privilege-escalation': ({ changes, roles }) =>
    changes
      .filter(reroles)
      .filter((change) => rises(change.before.role, roleAfter(change), roles))
      .map((change) => {
        const unknown = [change.before.role, roleAfter(change)].filter((role) => rank(role, roles) < 0).map(String);
        const why = unknown.length === 0 ? '' : `; the rank of ${unknown.join(' and ')} is not known: set it in settings.roles`;
        return { address: change.address, detail: `${change.address} changes from ${String(change.before.role)} to the higher role ${String(roleAfter(change))}${why}` };
      }),

  'rule-without-destination': ({ changes, world }) => {
    const blame = new Map<string, string>(
      changes.flatMap((change) => (writes(change) && change.action !== 'create' ? [[`${change.kind} ${change.id}`, change.address] as const] : [])),
    );
    if (blame.size === 0) return [];
    const after = afterChanges(changes);
    const going = goingIds(changes);
    const destinations = world.get(DESTINATIONS)?.byId;
    const made = new Map(changes.flatMap((change) => (change.action === 'create' ? [[change.address, change.write.fields] as const] : [])));
    const delivers = (one: Value, later: boolean): boolean => {
      if (one instanceof Reference) return works(made.get(one.target) ?? {});
      const key = `${DESTINATIONS} ${String(one)}`;
      const live = destinations?.get(String(one));
      return live !== undefined && !(later && going.has(key)) && works(later ? (after.get(key) ?? live.values) : live.values);
    };
    return [...(world.get(RULES)?.byId.values() ?? [])].flatMap((rule) => {
      const key = `${RULES} ${rule.id}`;
      if (going.has(key) || !isHeard(rule.values, (one) => delivers(one, false))) return [];
      const values = after.get(key) ?? rule.values;
      if (isHeard(values, (one) => delivers(one, true))) return [];
      const culprit = blame.get(key) ?? texts(rule.values.http_destinations).flatMap((id) => blame.get(`${DESTINATIONS} ${id}`) ?? [])[0];
      const name = blame.get(key) ?? `alert rule ${rule.id}`;
      return [
        {
          ...(culprit === undefined ? {} : { address: culprit }),
          detail: `${name} would be left ${inScope(values) ? 'without an enabled, unsuspended destination' : 'without accounts and groups'}`,
        },
      ];
    });
  },

  'destination-moved': ({ changes, input: { domainOf = hostOf } }) =>
    changes.flatMap((change) => {
      if (change.kind !== DESTINATIONS) return [];
      return changesOf(change).flatMap(({ path, before, after }) => {
        if (path !== 'endpoint.url' || typeof before !== 'string' || after === null) return [];
        const known = knownUrl(after);
        const [from, to] = [before, known].map((url) => (url === undefined ? 'an address that is known only after apply' : (domainOf(url) ?? 'an address that is no URL')));
        const downgrade = known !== undefined && /^https:/i.test(before) && !/^https:/i.test(known);
        if (from === to && !downgrade) return [];
        return [{ address: change.address, detail: `${change.address} moves from ${String(from)} to ${String(to)}${downgrade ? ', and from https to http' : ''}` }];
      });
    }),

  'masked-configuration': ({ changes, world, input: { kinds } }) =>
    changes.flatMap((change) => {
      const masks =
        (change.action === 'update' || change.action === 'adopt') && change.write
          ? masksSent(kinds.get(change.kind) as Kind, change.write, world.get(change.kind)?.byId.get(change.id))
          : [];
      const { what, out } = maskedWords(masks);
      return masks.length === 0 ? [] : [{ address: change.address, detail: `${what}; ${out}` }];
    }),
};

/** A URL as far as it says where it leads: all of it, or what stands before the first reference where that ends the host. */
function knownUrl(url: Value | undefined): string | undefined {
  const [start] = url instanceof Template ? url.parts : [url];
  return typeof start === 'string' && (start === url || /^\w+:\/\/[^/?#\\]+[/?#]/.test(start)) ? start : undefined;
}

/** Dotted paths of the masks that a write would have to send back, because it replaces the document that holds them. */
export function masksSent(kind: Kind, { fields, patch }: Write, live: Live | undefined): readonly string[] {
  if (patch || !live) return [];
  return mergedNames(kind).flatMap((name) => (Object.hasOwn(fields, name) ? travellingMasks(fields[name] as Value, live.values[name]).map((path) => `${name}.${path}`) : []));
}

/** What blocks such a write, and the ways out. */
export function maskedWords(masks: readonly string[]): { readonly what: string; readonly out: string } {
  const [reads, they] = masks.length === 1 ? ['reads', 'it'] : ['read', 'them'];
  return {
    what: `${masks.join(', ')} ${reads} back masked, and a PUT would write the mask over ${they}`,
    out: `declare ${they} as "\${secret.env.NAME}", or set settings.configuration_writes: patch, which sends no masks`,
  };
}

/** What the rules need to read beyond what is declared, for these changes. */
export function policyNeeds(changes: readonly Change[], kinds: Kinds, roles: Roles = {}): readonly string[] {
  const needs = new Set<string>();
  for (const change of changes) {
    if (!writes(change)) continue;
    if (demotes(change, roles)) needs.add(ACCOUNTS);
    if (moves(change)) [ACCOUNTS, AUTHORIZATIONS].forEach((name) => needs.add(name));
    if (change.action === 'delete' && change.kind === ACCOUNTS) [ACCOUNTS, RULES, AUTHORIZATIONS].forEach((name) => needs.add(name));
    if (change.kind === RULES && change.action !== 'delete' && !(change.action === 'create' && isEmpty(change.write.fields.http_destinations))) needs.add(DESTINATIONS);
    if (change.kind === DESTINATIONS && (change.action === 'delete' || (change.action !== 'create' && change.write?.fields.enabled === false))) needs.add(RULES);
  }
  return [...needs].filter((name) => kinds.has(name));
}

/** What a plan should say aloud although nothing is wrong with the declarations: rules whose destinations do not deliver. */
export function concerns(changes: readonly Change[], { world, project }: PlanInput): readonly Diagnostic[] {
  const destinations = world.get(DESTINATIONS)?.byId;
  if (!destinations) return [];
  const after = afterChanges(changes);
  const origins = new Map(project.declarations.map((one) => [one.address, one.origin]));
  return changes.flatMap((change): Diagnostic[] => {
    if (change.kind !== RULES || !('desired' in change) || !change.desired) return [];
    const ids = change.desired.declared.http_destinations;
    if (!Array.isArray(ids) || ids.length === 0) return [];
    const silent = (ids as readonly Value[]).every(
      (id) => typeof id === 'string' && destinations.has(id) && !works(after.get(`${DESTINATIONS} ${id}`) ?? (destinations.get(id) as Live).values),
    );
    const origin = origins.get(change.address);
    return silent
      ? [
          {
            severity: 'warning',
            code: 'silent-destinations',
            summary: `${change.address}: every destination is disabled or suspended, so its alerts are not delivered.`,
            address: change.address,
            ...(origin ? { origin } : {}),
          },
        ]
      : [];
  });
}

const earlier = (count: number): string => (count === 0 ? '' : `, and ${count} in the last 24 hours`);

/** `<kind> <id>` of every existing object that is written by one of these verbs, adopted or not. */
function objectsOf(changes: readonly Change[], verbs: readonly Spent['action'][]): ReadonlySet<string> {
  return new Set(
    changes.flatMap((change) => (writes(change) && change.action !== 'create' && verbs.some((verb) => verb === change.write.verb) ? [`${change.kind} ${change.id}`] : [])),
  );
}

/** What was written within the window, each object once; what an older version recorded names no object. */
interface Earlier {
  readonly objects: ReadonlySet<string>;
  readonly nameless: number;
}

function recent({ state, now }: PlanInput, actions: readonly Spent['action'][]): Earlier {
  const spent = (state?.spent ?? []).filter((one) => actions.includes(one.action) && Date.parse(one.at) > now - SPENT_WINDOW);
  const named = spent.flatMap(({ kind, id }) => (kind === undefined || id === undefined ? [] : [`${kind} ${id}`]));
  return { objects: new Set(named), nameless: spent.length - named.length };
}

const countAll = (now: ReadonlySet<string>, { objects, nameless }: Earlier): number => new Set([...now, ...objects]).size + nameless;

/** Deleted, or retired because the declaration went. */
function isRemoval(change: Change): boolean {
  return change.action === 'delete' || (change.action === 'update' && change.desired === undefined);
}

/** Values by `<kind> <id>` of every object that is written. */
function afterChanges(changes: readonly Change[]): ReadonlyMap<string, Values> {
  return new Map(
    changes.flatMap((change) =>
      writes(change) && change.action !== 'create' && change.action !== 'delete' ? [[`${change.kind} ${change.id}`, { ...change.before, ...change.write.fields }] as const] : [],
    ),
  );
}

function goingIds(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(changes.flatMap((change) => (change.action === 'delete' ? [`${change.kind} ${change.id}`] : [])));
}

/** How many objects of each kind will still name an account once the changes are done. */
function holdersByAccount(world: World, going: ReadonlySet<string>, after: ReadonlyMap<string, Values>): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const holders = new Map<string, Map<string, number>>();
  for (const { kind, byId } of world.values()) {
    for (const live of byId.values()) {
      const key = `${kind.name} ${live.id}`;
      const values = after.get(key) ?? live.values;
      if (going.has(key) || (kind.name === AUTHORIZATIONS && values.role === 'no_access')) continue;
      for (const account of new Set([String(values.account), ...texts(values.associated_accounts)])) {
        const counts = holders.get(account) ?? new Map<string, number>();
        holders.set(account, counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1));
      }
    }
  }
  return holders;
}

const texts = (value: Value | undefined): readonly string[] => (Array.isArray(value) ? (value as readonly Value[]).filter((item): item is string => typeof item === 'string') : []);

export const works = (destination: Values): boolean => destination.enabled !== false && destination.suspended !== true;

export const inScope = (rule: Values): boolean => !isEmpty(rule.associated_accounts) || !isEmpty(rule.associated_groups);

/** A rule is heard where it has scope and somebody to tell. */
function isHeard(rule: Values, delivers: (destination: Value) => boolean): boolean {
  const targets = rule.http_destinations;
  const told = Array.isArray(targets) && (targets as readonly Value[]).some(delivers);
  return inScope(rule) && (told || !isEmpty(rule.email_destinations));
}
