// Another team works on the same cloud, with keys and a user of its own: it renames, deletes and makes an account,
// gives a role, and switches a destination off. The emulator serves the data that `settings.target: emulator` keeps.
import { spawn } from 'node:child_process';

const emulator = spawn('trueup', ['emulator', '--data', '.trueup/emulator.json'], { shell: process.platform === 'win32', stdio: ['ignore', 'pipe', 'ignore'] });
let printed = '';
for await (const piece of emulator.stdout) {
  printed += piece;
  if (/TRUEUP_V3_URL=.*\n/.test(printed)) break;
}
const [, cloud] = /TRUEUP_V3_URL=(.*)/.exec(printed);

const key = { 'X-MGR-API-ID': 'other-mgr-id', 'X-MGR-API-KEY': 'other-mgr-key', 'X-VND-API-ID': 'other-vnd-id', 'X-VND-API-KEY': 'other-vnd-key' };
const user = { authorization: 'Bearer other-token', accept: 'application/vnd.api+json' };

async function ask(method, path, headers, body) {
  const type = { 'content-type': headers.accept ?? 'application/json' };
  const answer = await fetch(`${cloud}${path}`, { method, headers: { ...headers, ...type }, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`);
  return answer.text();
}

await ask('PUT', '/api/v2/accounts/1002/', key, { name: 'Depot seven' });
await ask('DELETE', '/api/v2/accounts/1003/', key);
await ask('POST', '/api/v2/accounts/', key, { name: 'Pilot site' });
await ask('PATCH', '/api/v2/alert_push_destinations/0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10/', key, { enabled: false });
const role = '/api/v3/beta/account_authorizations/9002';
const { data } = JSON.parse(await ask('GET', role, user));
await ask('PUT', role, user, { data: { ...data, attributes: { ...data.attributes, role: 'administrator' } } });
emulator.kill();
console.log('Five changes, by another key and another user.');
