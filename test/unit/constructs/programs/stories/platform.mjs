// A platform in three stacks: what one makes, the others use.
const [library] = process.argv.slice(2);
const { App, TerraformLocal, TerraformOutput, TerraformStack, TerraformVariable } = await import(
  library
);
const {
  Account,
  AccountAuthorization,
  AlertPushDestination,
  AlertRule,
  ConfigurationManager,
  DataAccount,
  DataConfigurationManager,
  DevicecloudProvider,
} = await import(`trueup/${library}`);

class Base extends TerraformStack {
  constructor(scope, id) {
    super(scope, id);
    new DevicecloudProvider(this, 'devicecloud', { requestsPerMinute: 60000 });
  }
}
class Accounts extends Base {
  constructor(scope) {
    super(scope, 'accounts');
    const found = new DataAccount(this, 'found', { name: 'Headquarters' });
    this.root = new Account(this, 'root', { name: 'Root', account: found.id });
    this.branches = ['a', 'b'].map(
      (name) =>
        new Account(this, `branch-${name}`, { name: `Branch ${name}`, account: this.root.id }),
    );
    this.types = new TerraformLocal(this, 'types', ['account_locked']);
  }
}
class Paging extends Base {
  constructor(scope, { root }) {
    super(scope, 'paging');
    const key = new TerraformVariable(this, 'pager_key', { type: 'string', sensitive: true });
    this.pager = new AlertPushDestination(this, 'pager', {
      name: `Pager of ${root.name}`,
      enabled: true,
      endpoint: { url: 'https://hooks.example.com/root' },
      authentication: { secretWo: key.stringValue, secretWoVersion: 1 },
    });
    new TerraformOutput(this, 'pager-id', {
      value: this.pager.destinationConfigId,
      staticId: true,
    });
  }
}
class Rules extends Base {
  constructor(scope, { root, branches, pager, types }) {
    super(scope, 'rules');
    const found = new DataAccount(this, 'found', { name: 'Their depot' });
    const router = new DataConfigurationManager(this, 'found-router', { router: '7' });
    router.overrideLogicalId('found');
    new AlertRule(this, 'locked', {
      associatedAccounts: [...branches.map(({ id }) => id), found.id],
      filterCriteria: { alertTypeIn: types },
      httpDestinations: [pager.destinationConfigId],
      settings: JSON.stringify({
        root: root.id,
        names: `${branches[0].name} and ${branches[1].name}`,
        router: router.id,
      }),
      dependsOn: [found],
    });
    new AccountAuthorization(this, 'dana', { user: '77', account: '1', role: 'read_only_user' });
    new ConfigurationManager(this, 'router', {
      router: '12',
      suspended: false,
      configuration: [{ lan: { mtu: 1500, note: branches[1].name } }, [['wan', 'rules', 'old']]],
    });
  }
}

const app = new App();
const accounts = new Accounts(app);
const { pager } = new Paging(app, accounts);
new Rules(app, {
  root: accounts.root,
  branches: accounts.branches,
  types: accounts.types.asList,
  pager,
});
app.synth();
