// What people do around the typed props: overrides, aspects, tokens made by hand, lifecycle.
const [library] = process.argv.slice(2);
const {
  Annotations,
  App,
  Aspects,
  Lazy,
  TerraformResource,
  TerraformStack,
  TerraformVariable,
  Token,
} = await import(library);
const { Account, AlertPushDestination, AlertRule, DevicecloudProvider } = await import(
  `trueup/${library}`
);

const app = new App();
const stack = new TerraformStack(app, 'hatches');
new DevicecloudProvider(stack, 'devicecloud');
const number = new TerraformVariable(stack, 'number', { type: 'number', default: 7 });
const flag = new TerraformVariable(stack, 'flag', { type: 'bool', default: false });
const text = new TerraformVariable(stack, 'text', { default: '12' });
const settings = new TerraformVariable(stack, 'site', {
  type: 'object({ name = string, tags = list(string) })',
  default: { name: 'Yard', tags: ['t0', 't1'] },
});

const later = [];
const list = new Account(stack, 'list', {
  name: Lazy.stringValue({ produce: () => later.join('+') }),
  account: '1',
});
later.push('one', 'two');
const overridden = new Account(stack, 'overridden', { name: 'to be replaced' });
overridden.addOverride('name', 42);
overridden.addOverride('account', 1);
new Account(stack, 'numbered', { name: Token.asString(number.value), account: '1' });
new Account(stack, 'flagged', { name: Token.asString(flag.value), account: Token.asString(2) });
new Account(stack, 'yard', { name: `\${${settings.fqn}.name}`, account: '1' });
new Account(stack, 'tagged', {
  name: `$\{${settings.fqn}["tags"][1]} costs $$\{5} %%{x} 100%`,
  account: list.account,
});
const pager = new AlertPushDestination(stack, 'pager', {
  name: 'Pager',
  enabled: Token.asAny('true'),
  endpoint: { url: 'https://hooks.example.com/x' },
  lifecycle: { createBeforeDestroy: true },
});
pager.addOverride('enabled', 'false');
const rule = new AlertRule(stack, 'rule', {
  associatedAccounts: Token.asList([1, 2]),
  filterCriteria: { alertTypeIn: ['account_locked'] },
  settings: `{"n": ${number.numberValue}, "s": "${text.stringValue}", "both": "${number.stringValue}/${flag.stringValue}", "asText": "${number.stringValue}", "on": ${flag.stringValue}}`,
  lifecycle: { preventDestroy: true, ignoreChanges: ['schedule'] },
});
rule.addOverride('http_destinations', [
  '${devicecloud_alert_push_destination.pager.destination_config_id}',
]);

Aspects.of(stack).add({
  visit(node) {
    if (node instanceof Account && node.node.id === 'list')
      node.addOverride('lifecycle.prevent_destroy', true);
    if (node instanceof TerraformResource && node.node.id === 'rule')
      Annotations.of(node).addWarning('mind the rule');
  },
});
app.synth();
