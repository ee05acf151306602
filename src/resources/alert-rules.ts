// Alert rules: they select alerts of accounts and groups, and send them to destinations. They have no name, so an
// unmanaged one is recognised by its exact content, and people are shown what it sends where.
import {
  Reference,
  choice,
  document,
  firstNamed,
  isEmpty,
  isTree,
  kind,
  object,
  set,
  stringsIn,
  text,
  type Advice,
  type Declaration,
  type LabelOf,
  type Values,
} from '../model/index.js';
import { alertTypes } from './alert-types.js';
import { ref } from './ref.js';

function unscoped({ values }: Declaration): readonly Advice[] {
  if (!isEmpty(values['associated_accounts']) || !isEmpty(values['associated_groups'])) return [];
  return [
    {
      code: 'rule-without-scope',
      summary: 'the rule declares neither accounts nor groups, and a rule without any never fires',
      detail: 'Name some in `associated_accounts` or `associated_groups`.',
    },
  ];
}

/** Only what declarations tell: a destination that the service suspended is seen when it is read. */
function unheard({ values }: Declaration, find: (address: string) => Declaration | undefined) {
  const destinations = Array.isArray(values['http_destinations'])
    ? (values['http_destinations'] as readonly unknown[])
    : [];
  const disabled = destinations.filter(
    (one) =>
      one instanceof Reference &&
      one.source === 'declared' &&
      find(one.target)?.values['enabled'] === false,
  );
  if (destinations.length === 0 || disabled.length < destinations.length) return [];
  const detail = 'Enable one of them, or add another.';
  return [
    {
      code: 'rule-without-destination',
      summary: 'all push destinations of the rule are disabled',
      detail,
      attribute: 'http_destinations',
    },
  ];
}

/** Names of a list that a label shows, and the characters of each: with three lists, a label fits a column. */
const FEW = 1;
const LONGEST = 30;

const brief = (name: string): string =>
  name.length > LONGEST ? `${name.slice(0, LONGEST - 1).replace(/[\ud800-\udbff]$/, '')}…` : name;

const few = (names: readonly string[], none: string): string =>
  names.length === 0 ? none : firstNamed(names.map(brief), FEW);

/** `<accounts>: <alert types> → <destinations>`. Destinations that were not read have long identifiers, so they are counted. */
function label(values: Values, others: LabelOf): string {
  const scope = (
    [
      ['accounts', 'account', values.associated_accounts],
      ['groups', 'group', values.associated_groups],
    ] as const
  ).flatMap(([to, word, ids]) => stringsIn(ids).map((id) => others(to, id) ?? `${word} ${id}`));
  const criteria = values.filter_criteria;
  const types = stringsIn(isTree(criteria) ? criteria['alert_type__in'] : undefined);
  const hooks = stringsIn(values.http_destinations);
  const shown = hooks.flatMap((id) => others('alert_push_destinations', id) ?? []).slice(0, FEW);
  const counted = [
    [hooks.length - shown.length, shown.length > 0 ? 'more' : 'by webhook'],
    [stringsIn(values.email_destinations).length, 'by e-mail'],
  ] as const;
  const receivers = [
    ...shown.map(brief),
    ...counted.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])),
  ];
  return `${few(scope, 'no account')}: ${few(types, 'no alert type')} → ${receivers.join(', ') || 'nobody'}`;
}

export const alertRules = kind({
  name: 'alert_rules',
  singular: 'alert_rule',
  doc: 'Selects alerts and sends them to destinations. Has no name: recognised by its exact content.',
  id: 'alert_config_id',
  identity: 'content',
  likeness: {
    equal: ['associated_accounts', 'associated_groups', 'http_destinations', 'schedule'],
    overlap: 'filter_criteria.alert_type__in',
  },
  unlogged: true,
  attributes: {
    schedule: choice(
      'When notifications are sent; null: at once. If absent at creation: at once. Later, absent means not managed.',
      ['daily'],
      { open: true, optional: true, read_doc: 'When notifications are sent; null: at once.' },
    ),
    associated_accounts: set(
      'Accounts whose alerts are selected.',
      ref('An account.', 'accounts', { wire: 'integer' }),
      { optional: true },
    ),
    associated_groups: set(
      'Router groups whose alerts are selected.',
      ref('A group.', 'groups', { wire: 'integer' }),
      { optional: true },
    ),
    filter_criteria: object(
      'Which alerts are selected.',
      {
        alert_type__in: set(
          'Names of alert types.',
          choice('An alert type.', alertTypes, { open: true }),
        ),
      },
      { optional: true },
    ),
    http_destinations: set(
      'Push destinations that receive the alerts.',
      ref('A push destination.', 'alert_push_destinations'),
      { optional: true },
    ),
    settings: document('Extra settings of service-overage alerts, keyed by alert type.', {
      optional: true,
    }),
    alert_config_id: text('Identifier, a time-based UUID.', { computed: true }),
    account: ref('Account the rule belongs to.', 'accounts', { computed: true, wire: 'url' }),
    email_destinations: set(
      'E-mail destinations. Read-only: set outside of trueup.',
      ref('An e-mail destination.', 'email_destinations', { wire: 'integer' }),
      { computed: true },
    ),
    external_rules: document('Rules of other systems.', { computed: true }),
    last_summary_ts: text('Time of the last summary.', { computed: true, wire: 'timestamp' }),
    updated_at: text('Time of the last change.', {
      computed: true,
      changed_by: 'any',
      wire: 'timestamp',
    }),
    resource_url: text('URL of the record.', { computed: true, format: 'url' }),
  },
  columns: [
    'alert_config_id',
    'filter_criteria.alert_type__in',
    'associated_accounts',
    'associated_groups',
    'http_destinations',
  ],
  operations: {
    dialect: 'v2',
    collection: 'alert_rules',
    paging: 'next',
    page: 500,
    by_id: 'alert_config_id',
    filters: [
      'account',
      'schedule',
      'associated_accounts',
      'associated_groups',
      'filter_criteria',
      'email_destinations',
      'http_destinations',
      'updated_at',
      'settings',
    ],
    create: 'POST',
    update: 'PATCH',
    delete: 'DELETE',
  },
  label,
  named_as: 'wan-down',
  lint: (declaration, find) => [...unscoped(declaration), ...unheard(declaration, find)],
  example: {
    associated_accounts: ['${accounts.example.id}'],
    filter_criteria: { alert_type__in: ['ethernet_wan_disconnected', 'modem_wan_disconnected'] },
    http_destinations: ['${alert_push_destinations.example.destination_config_id}'],
  },
});
