// Health issues of live objects, declared or not: destinations that do not deliver, routers that do not apply their
// configuration, rules that can reach nobody. Pure, and based only on objects that were read anyway.
import {
  defined,
  firstNamed,
  isEmpty,
  isTree,
  labelOf,
  labelsIn,
  liveObjectWords,
  mergeOf,
  stringsIn,
  type HealthIssue,
  type Live,
  type LiveObjects,
  type Values,
} from '../../model/index.js';
import { configurationManagers } from '../configuration-managers.js';
import {
  DESTINATIONS,
  inScope,
  RULES,
  tells,
  resumeDelivery,
  undeliverable,
  works,
} from './rule-without-destination.js';

type Finding = Pick<HealthIssue, 'code' | 'summary' | 'detail' | 'at' | 'cause'>;

/** Members of a configuration, and destinations of a rule, that are named at most. */
const FEW = 5;

/** Warnings about a declared rule that say of it what `rule-cannot-fire` says of the live one. */
export const retold = ['rule-without-scope', 'rule-without-destination'];

/** @param addressOf the address that manages an object, where one does */
export function healthOf(
  objects: LiveObjects,
  addressOf: (kind: string, id: string) => string | undefined,
): readonly HealthIssue[] {
  const destinations = objects.get(DESTINATIONS)?.byId;
  const others = labelsIn(objects);
  const nameOf = (id: string): string =>
    addressOf(DESTINATIONS, id) ?? liveObjectWords(objects, DESTINATIONS, id);
  const examine: Readonly<
    Record<string, (values: Values, address?: string) => readonly Finding[]>
  > = {
    [DESTINATIONS]: deliveries,
    [RULES]: (values) => silence(values, destinations, nameOf),
    [configurationManagers.name]: syncs,
  };
  return [...objects.values()].flatMap(({ kind, byId }) =>
    [...byId.values()].flatMap(({ id, values }) => {
      const address = addressOf(kind.name, id);
      return (examine[kind.name]?.(values, address) ?? []).map(
        ({ code, ...finding }): HealthIssue => {
          const label = address === undefined ? labelOf(kind, values, others) : null;
          const named = defined({ address, label: label ?? undefined });
          return { code, kind: kind.name, id, ...named, ...finding };
        },
      );
    }),
  );
}

/** The service reports the last failure and never a success, so a failure counts until it is cleared in the record. */
function deliveries(
  { suspended, enabled, last_error_at, last_error_text }: Values,
  address: string | undefined,
): readonly Finding[] {
  const said = {
    ...(typeof last_error_text === 'string' &&
      last_error_text !== '' && { detail: last_error_text }),
    ...(typeof last_error_at === 'string' && last_error_at !== '' && { at: last_error_at }),
  };
  if (suspended === true)
    return [
      {
        code: 'destination-suspended',
        summary: `the service stopped delivering to it (to resume: ${resumeDelivery(address)})`,
        ...said,
      },
    ];
  if (enabled === false || Object.keys(said).length === 0) return [];
  return [{ code: 'delivery-failing', summary: 'the last reported delivery failed', ...said }];
}

function silence(
  rule: Values,
  destinations: ReadonlyMap<string, Live> | undefined,
  nameOf: (destination: string) => string,
): readonly Finding[] {
  // Destinations that were not read may work.
  const isHeard = tells(rule, (id) => !destinations || works(destinations.get(String(id))?.values));
  const states = isHeard
    ? []
    : undeliverable(
        stringsIn(rule.http_destinations),
        (id) => destinations?.get(id)?.values,
        nameOf,
      );
  const why = [
    ...(inScope(rule) ? [] : ['it has neither accounts nor groups']),
    ...(isHeard ? [] : [unreachable(states)]),
  ];
  if (why.length === 0) return [];
  const summary = `the rule cannot fire: ${why.join(', and ')}`;
  const cause = inScope(rule) && states.length > 0 ? states.join(', ') : undefined;
  return [{ code: 'rule-cannot-fire', summary, ...defined({ cause }) }];
}

/** @param states why each push destination does not deliver */
const unreachable = (states: readonly string[]): string =>
  states.length === 0
    ? 'it has no destination'
    : `${firstNamed(states, FEW)}, and there is no e-mail destination`;

function syncs({ synched, suspended, pending }: Values): readonly Finding[] {
  const found: Finding[] = [];
  if (suspended === true)
    found.push({
      code: 'sync-paused',
      summary: 'the router does not receive its configuration',
    });
  if (synched !== false) return found;
  const names = membersOf(mergeOf(pending).tree);
  const detail = `it has not applied ${firstNamed(names, FEW)} yet`;
  return [
    ...found,
    {
      code: 'out-of-sync',
      summary: 'the router does not have its configuration',
      ...(names.length > 0 && { detail }),
    },
  ];
}

/** Dotted names of what stands in a tree; never its values. */
function membersOf(tree: Values, path = ''): readonly string[] {
  return Object.entries(tree).flatMap(([name, value]) =>
    isTree(value) && !isEmpty(value) ? membersOf(value, `${path}${name}.`) : [`${path}${name}`],
  );
}
