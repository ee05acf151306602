// Sites of a region: iterators, a count, nested constructs, locals and outputs.
const [library] = process.argv.slice(2);
const {
  App,
  TerraformCount,
  TerraformIterator,
  TerraformLocal,
  TerraformOutput,
  TerraformStack,
  TerraformVariable,
  Token,
  propertyAccess,
} = await import(library);
const { Construct } = await import('constructs');
const { Account, AlertRule, DataAccount, DataAlertPushDestination, DevicecloudProvider } =
  await import(`trueup/${library}`);

class Site extends Construct {
  constructor(scope, id, { parent, destinations, types }) {
    super(scope, id);
    this.account = new Account(this, 'account', { name: `Site ${id}`, account: parent });
    this.rule = new AlertRule(this, 'offline', {
      associatedAccounts: [this.account.id],
      filterCriteria: { alertTypeIn: types },
      httpDestinations: destinations,
      settings: { site: this.account.name, level: 3, labels: [id, null, true] },
    });
    new TerraformOutput(this, 'id', { value: this.account.id, description: `Of ${id}` });
  }
}

const app = new App();
const stack = new TerraformStack(app, 'sites');
new DevicecloudProvider(stack, 'devicecloud');
const label = new TerraformVariable(stack, 'label', { type: 'string', default: 'Region' });
const depots = new TerraformVariable(stack, 'depot-count', { type: 'number', default: 2 });
const names = new TerraformVariable(stack, 'names', {
  type: 'list(string)',
  default: ['north', 'south'],
});
const extra = new TerraformVariable(stack, 'extra', {
  type: 'map(string)',
  default: { west: 'Far west', east: 'Near east' },
});
const hq = new DataAccount(stack, 'theirs', { name: 'Headquarters' });
const theirs = new DataAlertPushDestination(stack, 'theirs-destination', { name: 'Theirs' });
theirs.overrideLogicalId('theirs');
const types = new TerraformLocal(stack, 'types', [
  'modem_wan_disconnected',
  'ethernet_wan_disconnected',
]);

const regions = TerraformIterator.fromList(names.listValue);
new Account(stack, 'regions', {
  name: `${label.stringValue} ${regions.value}`,
  account: hq.id,
  forEach: regions,
});
const more = TerraformIterator.fromMap({
  a: { title: 'Alpha', number: 1 },
  b: { title: 'Beta', number: 2 },
});
new Account(stack, 'more', {
  name: `${more.key} ${more.getString('title')} ${more.getNumber('number')}`,
  account: hq.id,
  forEach: more,
});
const fixed = TerraformIterator.fromList(['x', 'y']);
new AlertRule(stack, 'fixed', {
  associatedAccounts: [hq.id],
  filterCriteria: { alertTypeIn: [Token.asString(propertyAccess(types.fqn, [0]))] },
  settings: { key: Token.asString(fixed.key) },
  forEach: fixed,
});
const count = TerraformCount.of(depots.numberValue);
new Account(stack, 'depots', { name: `Depot ${count.index}`, account: hq.id, count });
new Account(stack, 'first', {
  name: Token.asString(propertyAccess(names.fqn, [0])),
  account: hq.id,
});
new Account(stack, 'east', {
  name: Token.asString(propertyAccess(extra.fqn, ['east'])),
  account: hq.id,
});
new Site(stack, 'lab', {
  parent: hq.id,
  destinations: [theirs.destinationConfigId],
  types: types.asList,
});
new Site(new Construct(stack, 'group'), 'shed', {
  parent: hq.id,
  destinations: [],
  types: ['account_locked'],
});
app.synth();
