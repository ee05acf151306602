// @ts-check
// Two routers of a depot. Only what stands here is ours: whatever else they are configured with stays as it is.
// Planned by trueup, the password is a secret. Terraform keeps a document, with all that is in it, in its state.
import { App, TerraformStack, TerraformVariable } from 'cdktn';
import { ConfigurationManager, DevicecloudProvider } from 'trueup/cdktn';

const app = new App();
const stack = new TerraformStack(app, 'router-configuration');
new DevicecloudProvider(stack, 'devicecloud');

const password = new TerraformVariable(stack, 'ROUTER_PASSWORD', { type: 'string', sensitive: true });
const mtu = 1500;

new ConfigurationManager(stack, 'gate', {
  router: '5001',
  suspended: false,
  configuration: [
    {
      system: { system_id: 'depot-7-gate', users: { admin: { password: password.stringValue } } },
      lan: { main: { mtu } },
      firewall: { rules: { temporary: null } },
    },
  ],
});

new ConfigurationManager(stack, 'yard', {
  router: '5002',
  configuration: [{ lan: { main: { mtu } } }],
});

app.synth();
