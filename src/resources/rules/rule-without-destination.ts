// The rule against leaving an alert rule that could send alerts without any receiver.
import {
  defined,
  groupedBy,
  isEmpty,
  liveObjectWords,
  Reference,
  stringsIn,
  writes,
  type Change,
  type Diagnostic,
  type Finding,
  type Judged,
  type PolicyRule,
  type Value,
  type Values,
} from '../../model/index.js';
import { alertPushDestinations } from '../alert-push-destinations.js';
import { alertRules } from '../alert-rules.js';
import { valuesAfter, valuesBefore } from './after-changes.js';

export const RULES = alertRules.name;
export const DESTINATIONS = alertPushDestinations.name;

/** What is not there does not work. */
export const works = (destination: Values | undefined): boolean =>
  destination !== undefined && destination.enabled !== false && destination.suspended !== true;

export const inScope = (rule: Values): boolean =>
  !isEmpty(rule.associated_accounts) || !isEmpty(rule.associated_groups);

/** Whether a rule has somebody to tell. E-mail goes where nobody here can look. */
export function tells(
  { http_destinations: hooks, email_destinations: mails }: Values,
  delivers: (destination: Value) => boolean,
): boolean {
  return !isEmpty(mails) || (Array.isArray(hooks) && (hooks as readonly Value[]).some(delivers));
}

/** A rule is heard where it has scope and somebody to tell. */
const isHeard = (rule: Values, delivers: (destination: Value) => boolean): boolean =>
  inScope(rule) && tells(rule, delivers);

/** By id. */
const addressesOf = (changes: readonly Change[], kind: string): ReadonlyMap<string, string> =>
  new Map(
    changes.flatMap((change) =>
      change.kind === kind && 'id' in change ? [[change.id, change.address] as const] : [],
    ),
  );

function judge(judged: Judged): readonly Finding[] {
  const { changes, live: objects } = judged;
  const blame = new Map<string, string>(
    changes.flatMap((change) =>
      writes(change) && change.action !== 'create'
        ? [[`${change.kind} ${change.id}`, change.address] as const]
        : [],
    ),
  );
  if (blame.size === 0) return [];
  const addresses = addressesOf(changes, RULES);
  const rulesAfter = valuesAfter(judged, RULES);
  const before = valuesBefore(judged, DESTINATIONS);
  const after = valuesAfter(judged, DESTINATIONS);
  const delivers = (one: Value, there: ReadonlyMap<string, Values>): boolean =>
    one instanceof Reference ? works(after.get(one.target) ?? {}) : works(there.get(String(one)));
  return [...(objects.get(RULES)?.byId.values() ?? [])].flatMap((rule) => {
    const values = rulesAfter.get(rule.id);
    if (!values || !isHeard(rule.values, (one) => delivers(one, before))) return [];
    if (isHeard(values, (one) => delivers(one, after))) return [];
    const culprit =
      blame.get(`${RULES} ${rule.id}`) ??
      stringsIn(rule.values.http_destinations).flatMap(
        (id) => blame.get(`${DESTINATIONS} ${id}`) ?? [],
      )[0];
    const name = addresses.get(rule.id) ?? liveObjectWords(objects, RULES, rule.id);
    return [
      {
        ...defined({ address: culprit }),
        detail: `${name} would be left ${inScope(values) ? 'without an enabled, unsuspended destination' : 'without accounts and groups'}`,
      },
    ];
  });
}

function needs(change: Change): readonly string[] {
  if (!writes(change)) return [];
  if (change.kind === RULES)
    return change.action === 'delete' ||
      (change.action === 'create' && isEmpty(change.write.fields.http_destinations))
      ? []
      : [DESTINATIONS];
  if (change.kind !== DESTINATIONS) return [];
  return change.action === 'delete' ||
    (change.action !== 'create' && change.write.fields.enabled === false)
    ? [RULES]
    : [];
}

/** Why each of these destinations does not deliver. @param valuesOf undefined for one that is not there */
export const undeliverable = (
  ids: readonly string[],
  valuesOf: (id: string) => Values | undefined,
  nameOf: (id: string) => string,
): readonly string[] =>
  ids.map((id) => {
    const values = valuesOf(id);
    const state = values?.suspended === true ? 'suspended' : 'disabled';
    return `${nameOf(id)} is ${values ? state : 'missing'}`;
  });

/** What to do about a suspended destination. @param address undefined for one that nothing manages */
export const resumeDelivery = (address: string | undefined): string =>
  address === undefined
    ? 'clear `suspended` where it is managed'
    : 'declare `suspended: false` in it, and apply';

/** Rules whose destinations do not deliver, although nothing is wrong with the declarations: one warning for each cause. */
function warn({ changes, live }: Judged): readonly Diagnostic[] {
  const destinations = live.get(DESTINATIONS)?.byId;
  if (!destinations) return [];
  // A destination that is deleted is as it was until then.
  const kept = changes.filter(({ action }) => action !== 'delete');
  const after = valuesAfter({ live, changes: kept }, DESTINATIONS);
  const addresses = addressesOf(changes, DESTINATIONS);
  const nameOf = (id: string): string =>
    addresses.get(id) ?? liveObjectWords(live, DESTINATIONS, id);
  const silent = changes.flatMap((change) => {
    if (change.kind !== RULES || !('declaredObject' in change) || !change.declaredObject) return [];
    const ids = change.declaredObject.declared.http_destinations;
    if (!Array.isArray(ids) || ids.length === 0) return [];
    const isSilent = (ids as readonly Value[]).every(
      (id) => typeof id === 'string' && destinations.has(id) && !works(after.get(id)),
    );
    // The rule against it speaks of what this plan silences.
    const before = 'id' in change ? live.get(RULES)?.byId.get(change.id)?.values : undefined;
    const isSilencing =
      before !== undefined && isHeard(before, (id) => works(destinations.get(String(id))?.values));
    if (!isSilent || isSilencing) return [];
    const causes = undeliverable(stringsIn(ids), (id) => after.get(id), nameOf);
    const resuming = stringsIn(ids)
      .filter((id) => after.get(id)?.suspended === true)
      .map((id) => `To resume ${nameOf(id)}: ${resumeDelivery(addresses.get(id))}.`);
    return [{ change, cause: causes.join(' and '), resuming }];
  });
  return groupedBy(silent, ({ cause }) => cause).map((group): Diagnostic => {
    const { change, cause, resuming } = group[0]!;
    const rules = group.map(({ change: { address } }) => address);
    const whose = rules.length === 1 ? change.address : `${rules.length} ${RULES}`;
    const lines = [...(rules.length === 1 ? [] : rules), ...resuming];
    return {
      severity: 'warning',
      code: 'silent-destinations',
      summary: `${cause}, so the alerts of ${whose} are not delivered.`,
      ...defined({ detail: lines.length === 0 ? undefined : lines.join('\n') }),
      address: change.address,
      ...defined({ origin: change.origin }),
    };
  });
}

export const ruleWithoutDestination: Omit<PolicyRule, 'name'> = { judge, needs, warn };
