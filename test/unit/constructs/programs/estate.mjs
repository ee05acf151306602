// Something of everything, with the library and the outdir from the command line: run by terraform.test.ts.
import { createRequire } from 'node:module';

const [library, outdir, form] = process.argv.slice(2);
const load = form === 'cjs' ? createRequire(import.meta.url) : (name) => import(name);
const { App, TerraformOutput, TerraformStack, TerraformVariable } = await load(library);
const {
  Account,
  AccountAuthorization,
  AlertPushDestination,
  AlertRule,
  ConfigurationManager,
  DataAccount,
  DataAlerts,
  DataAuditLogs,
  DevicecloudProvider,
} = await load(`trueup/${library}`);

class QuietRule extends AlertRule {
  constructor(scope, id, props) {
    super(scope, id, { schedule: 'daily', ...props });
  }
}

const app = new App({ outdir });
const stack = new TerraformStack(app, 'edge');
new DevicecloudProvider(stack, 'devicecloud', {
  requestsPerMinute: 100,
  allow: ['all-removed'],
  v2Headers: { 'X-MGR-API-ID': 'X-App' },
});
const far = new DevicecloudProvider(stack, 'far', {
  alias: 'far',
  v2Url: 'https://far.example.com/api/v2',
});
const secret = new TerraformVariable(stack, 'PAGER_SECRET', { type: 'string', sensitive: true });
const hq = new DataAccount(stack, 'hq', { name: 'Headquarters', provider: far });
const ops = new Account(stack, 'ops', { name: 'Operations', account: hq.id });
const pager = new AlertPushDestination(stack, 'pager', {
  name: 'Pager',
  enabled: true,
  endpoint: { url: 'https://hooks.example.com/' },
  authentication: { secretWo: secret.stringValue, secretWoVersion: 1 },
});
const rule = new QuietRule(stack, 'rule', {
  associatedAccounts: [ops.id],
  filterCriteria: { alertTypeIn: ['wwan_connected'] },
  httpDestinations: [pager.destinationConfigId],
  settings: { site: ops.id, levels: [1, true, null] },
  dependsOn: [pager],
  lifecycle: { preventDestroy: true, ignoreChanges: ['settings'] },
});
rule.importFrom('11111111-1111-1111-1111-111111111111');
new AlertRule(stack, 'old', { associatedAccounts: rule.associatedAccounts }).moveToId(
  'devicecloud_alert_rule.new',
);
new ConfigurationManager(stack, 'router', {
  router: '12',
  suspended: false,
  configuration: [{ system: { name: ops.name } }, ['wan.old']],
});
new AccountAuthorization(stack, 'dana', { user: '77', account: hq.id, role: 'full_access_user' });
const alerts = new DataAlerts(stack, 'alerts', { filter: { type: 'wwan_connected' }, limit: 5 });
const audit = new DataAuditLogs(stack, 'audit');
new TerraformOutput(stack, 'out', {
  value: [
    alerts.records.get(0).type,
    alerts.records,
    audit.records.get(1).record,
    rule.filterCriteria.alertTypeIn,
    pager.suspended,
    pager.authentication.secretWoVersion,
  ],
});
app.synth();
