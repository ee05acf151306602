// What the killed run is about: a first project that is applied to what others made, and a second one whose plan is
// twelve operations over all kinds.
import type { Estate } from '../../src/emulator/index.js';
import type { JsonObject } from '../../src/model/index.js';

export const secrets = {
  PAGER: 'canary-pager-1',
  PAGER_NEW: 'canary-pager-2',
  HOOK_A: 'canary-hook-a',
  HOOK_B: 'canary-hook-b',
} as const;

const settings = 'settings: { policy: { max_changed_percent: 100 } }\n';
const destination = (name: string, host: string, secret: keyof typeof secrets): string =>
  `  ${name}: { name: Hook ${name}, enabled: true, endpoint: { url: https://${host}.example.com/in }, authentication: { secret: "\${secret.env.${secret}}" } }\n`;
const rule = (name: string, account: string, types: string, hooks: readonly string[]): string =>
  `  ${name}: { associated_accounts: ["\${accounts.${account}.id}"], filter_criteria: { alert_type__in: [${types}] }, http_destinations: [${hooks
    .map((hook) => `"\${alert_push_destinations.${hook}.destination_config_id}"`)
    .join(', ')}] }\n`;
const authorization = (role: string): string =>
  `account_authorizations:\n  dana: { user: "77", account: "1", role: ${role} }\n`;

export const before = `${settings}accounts:
  depot: { name: Depot }
alert_push_destinations:
${destination('pager', 'pager', 'PAGER')}${destination('old', 'old', 'PAGER')}alert_rules:
${rule('paged', 'depot', 'login_success', ['pager'])}${rule('old', 'depot', 'custom_alert', ['old'])}${authorization('full_access_user')}`;

/** Six creates (two below one another, two with a secret), three updates (one with a new secret), a PUT of a role, two deletes. */
export const after = `${settings}accounts:
  depot: { name: Depot two }
  north: { name: North }
  yard: { name: Yard, account: "\${accounts.north.id}" }
alert_push_destinations:
${destination('pager', 'pager', 'PAGER_NEW')}${destination('a', 'a', 'HOOK_A')}${destination('b', 'b', 'HOOK_B')}alert_rules:
${rule('paged', 'depot', 'login_success, wwan_standby', ['pager'])}${rule('made-a', 'north', 'cpu_utilization', ['a'])}${rule('made-b', 'yard', 'wwan_standby', ['b', 'pager'])}${authorization('read_only_user')}`;

export const OPERATIONS = 12;

/** Addresses and what makes each object recognisable, once all is done. */
export const whole: Readonly<Record<string, (live: JsonObject) => boolean>> = {
  'accounts.depot': ({ name }) => name === 'Depot two',
  'accounts.north': ({ name }) => name === 'North',
  'accounts.yard': ({ name }) => name === 'Yard',
  'alert_push_destinations.pager': ({ name }) => name === 'Hook pager',
  'alert_push_destinations.a': ({ name }) => name === 'Hook a',
  'alert_push_destinations.b': ({ name }) => name === 'Hook b',
  'alert_rules.paged': (live) =>
    types(live) === 'login_success wwan_standby' && String(live['email_destinations']) === '5',
  'alert_rules.made-a': (live) => types(live) === 'cpu_utilization',
  'alert_rules.made-b': (live) =>
    types(live) === 'wwan_standby' &&
    (live['http_destinations'] as readonly unknown[]).length === 2,
  'account_authorizations.dana': ({ id, role }) => id === '9' && role === 'read_only_user',
};
const types = (live: JsonObject): string =>
  ((live['filter_criteria'] as { alert_type__in: readonly string[] }).alert_type__in ?? [])
    .toSorted()
    .join(' ');

/** Somebody adds e-mail destinations to a managed rule: a field that is not ours. */
export function withMail(estate: Estate): Estate {
  const rules = (estate.records['alert_rules'] ?? []).map((one) =>
    types(one) === 'login_success' ? { ...one, email_destinations: [5] } : one,
  );
  return { ...estate, records: { ...estate.records, alert_rules: rules } };
}
