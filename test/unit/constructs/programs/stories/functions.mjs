// Depots of a region, with what Terraform offers for values: functions, conditions, operators and the workspace.
const [library] = process.argv.slice(2);
const {
  App,
  Fn,
  Op,
  TerraformCount,
  TerraformIterator,
  TerraformLocal,
  TerraformStack,
  TerraformVariable,
  Token,
  conditional,
  ref,
} = await import(library);
const { Account, AlertRule, DataAccount, DevicecloudProvider } = await import(`trueup/${library}`);

const app = new App();
const stack = new TerraformStack(app, 'functions');
new DevicecloudProvider(stack, 'devicecloud');
const region = new TerraformVariable(stack, 'region', { type: 'string', default: 'north' });
const large = new TerraformVariable(stack, 'large', { type: 'bool', default: true });
const names = new TerraformVariable(stack, 'names', {
  type: 'list(string)',
  default: ['quay', 'hill', 'mill'],
});
const levels = new TerraformVariable(stack, 'level-of', {
  type: 'map(number)',
  default: { quay: 2, hill: 0.5 },
});
const prefix = new TerraformLocal(
  stack,
  'prefix',
  Fn.join('-', [Fn.upper(region.stringValue), ref('terraform.workspace', stack)]),
);

const hq = new DataAccount(stack, 'theirs', { name: 'Headquarters' });
const root = new Account(stack, 'root', {
  name: `${prefix.asString} ${conditional(large.value, 'large', 'small')}`,
  account: hq.id,
});
const count = TerraformCount.of(
  Token.asNumber(conditional(Op.gt(Fn.lengthOf(names.listValue), 2), 2, 0)),
);
new Account(stack, 'depots', {
  name: Fn.format('%s depot %03d of %s', [
    prefix.asString,
    Op.add(count.index, 1),
    Fn.element(names.listValue, count.index),
  ]),
  account: root.id,
  count,
});
const levelled = TerraformIterator.fromList(Fn.toset(Fn.keys(levels.value)));
new Account(stack, 'levels', {
  name: `Level ${Fn.lookup(levels.value, levelled.value, 0)} of ${Fn.replace(levelled.value, 'i', 'I')}`,
  account: root.id,
  forEach: levelled,
});
new AlertRule(stack, 'offline', {
  associatedAccounts: [root.id],
  filterCriteria: {
    alertTypeIn: Fn.split(',', 'modem_wan_disconnected,ethernet_wan_disconnected'),
  },
  settings: Fn.jsonencode({
    names: Fn.concat([names.listValue, [Fn.lower('LAST')]]),
    level: Op.mul(Fn.lookup(levels.value, 'hill', 1), 3),
    merged: Fn.merge([{ a: 1 }, { b: region.stringValue }]),
    known: Fn.contains(names.listValue, 'quay'),
    note: Fn.coalesce(['', region.stringValue]),
  }),
});
app.synth();
