// Objects that are there already are taken over, and one is moved.
const [library, stage = 'first'] = process.argv.slice(2);
const { App, TerraformStack } = await import(library);
const { Account, AlertPushDestination, DevicecloudProvider } = await import(`trueup/${library}`);

const app = new App();
const stack = new TerraformStack(app, 'takeover');
new DevicecloudProvider(stack, 'devicecloud');
const depot = new Account(stack, 'depot', { name: 'Their depot', account: '1' });
depot.importFrom('2');
new AlertPushDestination(stack, 'board', {
  name: 'Our board',
  enabled: true,
  endpoint: { url: 'https://board.example.com' },
}).importFrom('11111111-1111-11f0-8000-000000000002');
const child = new Account(stack, stage === 'first' ? 'child' : 'grandchild', {
  name: 'Child',
  account: depot.id,
});
if (stage !== 'first') child.moveFromId('devicecloud_account.child');
const named = new Account(stack, stage === 'first' ? 'named' : 'named-anew', {
  name: 'Named',
  account: depot.id,
});
if (stage !== 'first') named.moveFromId('devicecloud_account.named');
app.synth();
