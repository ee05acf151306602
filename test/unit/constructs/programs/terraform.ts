// Read by the compiler alone. A line after `@ts-expect-error` must not compile, and every other one must; types.test.ts
// does it again for programs of other forms, through the package's own door.
import { TerraformVariable, Token, type TerraformStack } from '#cdk';
import {
  Account,
  AccountAuthorization,
  AlertPushDestination,
  AlertRule,
  DataAlerts,
  DataAccount,
  DevicecloudProvider,
  type PropsOf,
} from '../../../../src/constructs/terraform/index.js';
import { ConfigurationManager, DataAuditLogs } from '../../../../src/constructs/terraform/index.js';

export function declare(stack: TerraformStack): readonly unknown[] {
  const secret = new TerraformVariable(stack, 'secret', { type: 'string', sensitive: true });
  new DevicecloudProvider(stack, 'devicecloud', {
    requestsPerMinute: 100,
    v2Headers: { 'X-MGR-API-ID': 'X-App' },
    mgrApiKey: secret.stringValue,
  });
  new DevicecloudProvider(stack, 'other', { alias: 'other' });
  // @ts-expect-error no such setting
  new DevicecloudProvider(stack, 'p1', { requestPerMinute: 100 });

  const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });
  const ops = new Account(stack, 'ops', { name: 'Ops', account: hq.id, isDisabled: false });
  new Account(stack, 'a0', {
    name: Token.asString('x'),
    isDisabled: ops.isDisabled,
    account: undefined,
  });
  // @ts-expect-error the name is missing
  new Account(stack, 'a1', {});
  // @ts-expect-error the props are missing
  new Account(stack, 'a2');
  // @ts-expect-error unknown
  new Account(stack, 'a3', { name: 'Ops', nmae: 'Ops' });
  // @ts-expect-error the service's own
  new Account(stack, 'a4', { name: 'Ops', resourceUrl: 'https://x.example.com/' });
  // @ts-expect-error the API's spelling
  new Account(stack, 'a5', { name: 'Ops', is_disabled: true });
  // @ts-expect-error a text where a flag is expected
  new Account(stack, 'a6', { name: 'Ops', isDisabled: 'yes' });

  const pager = new AlertPushDestination(stack, 'pager', {
    name: 'Pager',
    endpoint: { url: 'https://hooks.example.com/' },
    authentication: { secretWo: secret.stringValue, secretWoVersion: 2 },
  });
  // @ts-expect-error the URL is missing
  new AlertPushDestination(stack, 'd1', { name: 'Pager', endpoint: {} });
  new AlertPushDestination(stack, 'd2', {
    name: 'Pager',
    // @ts-expect-error what is write-only is called so
    authentication: { secret: secret.stringValue },
  });
  new AlertPushDestination(stack, 'd3', {
    name: 'Pager',
    // @ts-expect-error a text where a number is expected
    authentication: { secretWo: secret.stringValue, secretWoVersion: '2' },
  });

  const rule = new AlertRule(stack, 'rule', {
    associatedAccounts: [ops.id, '12'],
    filterCriteria: { alertTypeIn: ['wwan_connected', 'a_type_nobody_listed'] },
    httpDestinations: [pager.destinationConfigId],
    settings: { service: [1] },
    dependsOn: [pager],
    lifecycle: { preventDestroy: true },
  });
  new AlertRule(stack, 'r0');
  new AlertRule(stack, 'r1', {
    settings: '{"service":[1]}',
    associatedAccounts: rule.associatedAccounts,
  });
  // @ts-expect-error a number where an identifier is expected
  new AlertRule(stack, 'r2', { associatedAccounts: [12] });
  // @ts-expect-error a number where a choice is expected
  new AlertRule(stack, 'r3', { filterCriteria: { alertTypeIn: [7] } });
  // @ts-expect-error one where a list is expected
  new AlertRule(stack, 'r4', { httpDestinations: pager.destinationConfigId });
  // @ts-expect-error no such meta argument
  new AlertRule(stack, 'r5', { dependOn: [pager] });

  new AlertRule(stack, 't0', {
    timeouts: { create: '10m', read: '90s', update: Token.asString('5m'), delete: undefined },
  });
  new AccountAuthorization(stack, 't1', {
    user: '77',
    account: hq.id,
    role: 'read_only_user',
    timeouts: { update: '1h30m' },
  });
  // @ts-expect-error a block is written out
  new AlertRule(stack, 't6', { timeouts: Token.asAny({}) });
  // @ts-expect-error no such operation
  new AlertRule(stack, 't2', { timeouts: { creation: '10m' } });
  // @ts-expect-error a number where a length of time is expected
  new AlertRule(stack, 't3', { timeouts: { create: 600 } });
  new AccountAuthorization(stack, 't4', {
    user: '77',
    account: hq.id,
    role: 'read_only_user',
    // @ts-expect-error what the API cannot delete takes no time for it
    timeouts: { delete: '5m' },
  });
  // @ts-expect-error what is only read has none
  new DataAccount(stack, 't5', { timeouts: { read: '1m' } });

  const role = new AccountAuthorization(stack, 'dana', {
    user: '77',
    account: hq.id,
    role: 'a_role_nobody_listed',
  });
  // @ts-expect-error the role is missing
  new AccountAuthorization(stack, 'u1', { user: '77', account: hq.id });
  new ConfigurationManager(stack, 'm0', {
    router: '12',
    configuration: [{ system: { system_id: 'x' } }, ['wan.old', ['wan', 'rules', 0]]],
  });
  new ConfigurationManager(stack, 'm1', { router: '12', configuration: { system: {} } });
  // @ts-expect-error the paths are a list
  new ConfigurationManager(stack, 'm2', { router: '12', configuration: [{}, 'wan.old'] });

  const alerts = new DataAlerts(stack, 'alerts', { filter: { type: 'wwan_connected' }, limit: 5 });
  const audit = new DataAuditLogs(stack, 'audit');
  // @ts-expect-error records are read, not given
  new DataAlerts(stack, 'l1', { records: [] });
  // @ts-expect-error a secret finds nothing
  new DataAccount(stack, 'l2', { authentication: {} });

  const texts: readonly string[] = [
    hq.resourceUrl,
    pager.destinationConfigId,
    rule.settings,
    role.role,
    alerts.records.get(0).type,
    audit.records.get(0).record,
    rule.timeouts.create,
  ];
  const numbers: readonly number[] = [pager.authentication.secretWoVersion, alerts.limit];
  const lists: readonly string[][] = [
    rule.httpDestinations,
    rule.filterCriteria.alertTypeIn,
    rule.emailDestinations,
  ];
  // @ts-expect-error a flag that is only known later is no boolean
  const flag: boolean = pager.suspended;
  // @ts-expect-error a secret cannot be read
  const read = pager.authentication.secretWo;
  // @ts-expect-error nor given to what finds
  const found = new DataAccount(stack, 'l3').authentication;
  return [texts, numbers, lists, flag, read, found];
}

/** A class of a program's own. */
export class QuietRule extends AlertRule {
  constructor(stack: TerraformStack, id: string, props: PropsOf<typeof AlertRule>) {
    super(stack, id, { schedule: 'daily', ...props });
  }
}

export const account: (stack: TerraformStack) => Account = (stack) =>
  new Account(stack, 'x', { name: 'x' });
