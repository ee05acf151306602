// Read by the compiler alone. A line after `@ts-expect-error` must not compile, and every other one must.
import {
  Account,
  AccountAuthorization,
  AlertPushDestination,
  AlertRule,
  App,
  DataAccount,
  secret,
  Stack,
  type PropsOf,
} from '../../../../src/cli/constructs.js';

export function declare(): readonly unknown[] {
  const stack = new Stack(new App({ outdir: 'out' }), 'edge', {
    settings: { target: 'emulator', policy: { maxDeletes: 1 }, requestsPerMinute: 100 },
  });
  // @ts-expect-error no such setting
  new Stack(stack, 's1', { settings: { requestPerMinute: 100 } });

  const hq = new DataAccount(stack, 'hq', { name: 'Headquarters' });
  const ops = new Account(stack, 'ops', {
    name: 'Ops',
    account: hq.id,
    isDisabled: hq.isDisabled,
    lifecycle: { protect: true, ignoreChanges: ['isDisabled'], onRemoval: 'forget' },
  });
  // @ts-expect-error the name is missing
  new Account(stack, 'a1', {});
  // @ts-expect-error unknown
  new Account(stack, 'a2', { name: 'Ops', nmae: 'Ops' });
  // @ts-expect-error the service's own
  new Account(stack, 'a3', { name: 'Ops', id: '12' });
  // @ts-expect-error a text that is no reference
  new Account(stack, 'a4', { name: 'Ops', isDisabled: 'yes' });
  // @ts-expect-error no attribute of an account
  new Account(stack, 'a5', { name: 'Ops', lifecycle: { ignoreChanges: ['settings'] } });
  // @ts-expect-error no way to treat an account
  new Account(stack, 'a6', { name: 'Ops', lifecycle: { onRemoval: 'no_access' } });

  const pager = new AlertPushDestination(stack, 'pager', {
    name: 'Pager',
    authentication: { secret: secret.env('PAGER_SECRET') },
  });
  new AlertPushDestination(stack, 'd0', {
    name: 'Pager',
    authentication: { secret: '${secret.file./run/secrets/pager}' },
  });
  // @ts-expect-error a secret never stands in a program
  new AlertPushDestination(stack, 'd1', { name: 'Pager', authentication: { secret: 'hunter2' } });
  new AlertPushDestination(stack, 'd2', {
    name: 'Pager',
    // @ts-expect-error nor in a variable that a plan shows
    authentication: { secret: '${var.secret}' },
  });
  new AlertPushDestination(stack, 'd3', {
    name: 'Pager',
    // @ts-expect-error terraform's word
    authentication: { secretWo: secret.env('PAGER_SECRET') },
  });

  const rule = new AlertRule(stack, 'rule', {
    associatedAccounts: [ops.id],
    httpDestinations: [pager.destinationConfigId],
    settings: { site: '${var.site}' },
  });
  new AlertRule(stack, 'r0', {
    associatedAccounts: rule.associatedAccounts,
    filterCriteria: { alertTypeIn: ['wwan_connected', 'a_type_nobody_listed'] },
  });
  // @ts-expect-error a number where an identifier is expected
  new AlertRule(stack, 'r1', { associatedAccounts: [12] });
  new AccountAuthorization(stack, 'dana', {
    user: '77',
    account: hq.id,
    role: 'full_access_user',
    lifecycle: { onRemoval: 'no_access' },
  });
  new AccountAuthorization(stack, 'u1', {
    user: '77',
    account: hq.id,
    role: 'full_access_user',
    // @ts-expect-error it can be deleted by nobody
    lifecycle: { onRemoval: 'delete' },
  });

  const texts: readonly string[] = [hq.resourceUrl, rule.alertConfigId, pager.suspended];
  // @ts-expect-error a secret cannot be read
  const read = pager.authentication;
  return [texts, read];
}

/** A class of a program's own. */
export class QuietRule extends AlertRule {
  constructor(stack: Stack, id: string, props: PropsOf<typeof AlertRule>) {
    super(stack, id, { schedule: 'daily', ...props });
  }
}
