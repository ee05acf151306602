// @ts-check
// Two routers of a depot. Only what stands here is ours: whatever else they are configured with stays as it is.
import { App, ConfigurationManager, Stack, secret } from 'trueup/constructs';

const app = new App();
const stack = new Stack(app, 'router-configuration', { settings: { target: 'emulator' } });

const mtu = 1500;

new ConfigurationManager(stack, 'gate', {
  router: '5001',
  suspended: false,
  configuration: [
    {
      system: { system_id: 'depot-7-gate', users: { admin: { password: secret.env('ROUTER_PASSWORD') } } },
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
