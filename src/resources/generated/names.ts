// Written by `npm run generate`; do not edit.
/** What is declared, or listed, by name. */
export type CollectionName =
  | 'accounts'
  | 'alert_push_destinations'
  | 'alert_rules'
  | 'account_authorizations'
  | 'configuration_managers'
  | 'users'
  | 'groups'
  | 'routers'
  | 'alerts'
  | 'activity_logs'
  | 'audit_logs'
  | 'batteries'
  | 'asset_endpoints'
  | 'subscriptions'
  | 'products'
  | 'firmwares';
