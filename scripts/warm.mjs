// Writes V8's code cache of the command beside it: what the common commands compile is compiled once, here. They run
// in this process, against an emulator in another one, so that the cache holds what they really use. In front of it
// stands the SHA-256 of the script and the code.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import v8 from 'node:v8';
import { Script } from 'node:vm';

const [folder] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const estate = `accounts:
  field: { name: Field operations }
alert_push_destinations:
  pager: { name: Pager, enabled: true, endpoint: { url: "https://hooks.example.com/alerts" } }
alert_rules:
  down: { associated_accounts: ["\${accounts.field.id}"], filter_criteria: { alert_type__in: [account_locked] }, http_destinations: ["\${alert_push_destinations.pager.destination_config_id}"] }
`;

/** An emulator of its own, and what leads to it. */
function emulator() {
  const child = spawn(process.execPath, [join(folder, 'trueup.cjs'), 'emulator'], { stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((done, fail) => {
    let text = '';
    child.on('close', () => fail(new Error('the emulator ended')));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const pairs = [...text.matchAll(/^export (\w+)='?([^'\n]*)'?\n/gm)].map(([, name, value]) => [name, value]);
      if (pairs.some(([name]) => name === 'TRUEUP_V3_TOKEN')) done({ child, environment: Object.fromEntries(pairs) });
    });
  });
}

const silent = () => Object.assign(new Writable({ write: (_chunk, _encoding, next) => next() }), { isTTY: false });

/** The command as the process would run it, in this one. */
function run(main, argv, env) {
  return new Promise((done) => {
    const own = { argv: ['node', 'trueup', ...argv], env, stdout: silent(), stderr: silent(), exit: done };
    void main(Object.create(process, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value, writable: true }]))));
  });
}

// The cache counts for the flags that V8 has when it is read, which is before the command sets its own.
v8.setFlagsFromString = () => undefined;
function loaded(name) {
  const file = join(folder, `${name}.cjs`);
  const source = readFileSync(file);
  const script = new Script(source.toString('latin1'), { filename: `trueup/${name}.cjs` });
  const made = { exports: {} };
  script.runInThisContext()(made.exports, require, made, file, folder);
  const keep = () => {
    const code = script.createCachedData();
    writeFileSync(join(folder, `${name}.cache`), Buffer.concat([createHash('sha256').update(source).update(code).digest(), code]));
  };
  return { ...made.exports, keep };
}

// Just enough of protocol buffers for these few messages: fields with a length, shorter than 16 KiB.
const field = (number, value) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.of((number << 3) | 2, (bytes.length & 127) | 128, bytes.length >> 7), bytes]);
};
const message = (fields) => Buffer.concat(Object.entries(fields).map(([number, value]) => field(Number(number), value)));
function lengthAt(bytes, at, shift = 0) {
  const [low, next] = [(bytes[at] & 127) << shift, at + 1];
  return bytes[at] < 128 ? [low, next] : lengthAt(bytes, next, shift + 7).map((one, index) => (index === 0 ? one + low : one));
}
/** The first field of a message, which is the answer in all replies that are looked at. */
function firstOf(bytes) {
  const [length, at] = lengthAt(bytes, 1);
  return bytes.subarray(at, at + length);
}

const rule = '{"associated_groups":["1"],"filter_criteria":{"alert_type__in":["account_locked"]},"schedule":"daily"}';

/** The provider as terraform starts it, and what terraform asks of it for a resource that is made and then stays. */
async function provider(load, environment) {
  const { main } = require(join(folder, 'terraform-provider-devicecloud.cjs'));
  const { Client, credentials } = require('@grpc/grpc-js');
  const cookie = 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2';
  let line = () => undefined;
  const said = new Promise((done) => (line = done));
  const stdout = new Writable({ write: (chunk, _encoding, next) => next(line(String(chunk))) });
  const own = { env: { ...environment, TF_PLUGIN_MAGIC_COOKIE: cookie, TF_DISABLE_PLUGIN_TLS: '1' }, stdout, exit: () => undefined };
  await main(Object.create(process, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value, writable: true }]))), load);
  const client = new Client(`unix:${(await said).split('|')[3]}`, credentials.createInsecure());
  const same = (bytes) => bytes;
  const ask = (method, fields = {}) =>
    new Promise((done, fail) => client.makeUnaryRequest(`/tfplugin6.Provider/${method}`, same, same, message(fields), (error, reply) => (error ? fail(error) : done(reply))));
  const type = 'devicecloud_alert_rule';
  const nothing = field(1, Buffer.of(0xc0));
  await ask('GetProviderSchema');
  await ask('ConfigureProvider', { 1: '1.11.4', 2: nothing });
  const config = firstOf(await ask('UpgradeResourceState', { 1: type, 3: field(1, rule) }));
  await ask('ValidateResourceConfig', { 1: type, 2: config });
  const planned = firstOf(await ask('PlanResourceChange', { 1: type, 2: nothing, 3: config, 4: config }));
  const state = firstOf(await ask('ApplyResourceChange', { 1: type, 2: nothing, 3: planned, 4: config }));
  const there = firstOf(await ask('ReadResource', { 1: type, 2: state }));
  await ask('PlanResourceChange', { 1: type, 2: there, 3: there, 4: config });
  client.close();
}

const place = mkdtempSync(join(tmpdir(), 'trueup-warm-'));
const { child, environment } = await emulator();
try {
  process.chdir(place);
  writeFileSync('trueup.yaml', estate);
  const commands = [['validate'], ['apply', '--auto-approve'], ['plan'], ['plan', '--format', 'json'], ['drift'], ['get', 'accounts', '-o', 'ndjson'], ['get', 'accounts']];
  const command = loaded('command');
  for (const words of commands) if ((await run(command.main, words, environment)) !== 0) throw new Error(`${words.join(' ')} failed`);
  command.keep();
  const served = loaded('provider');
  await provider(served.load, environment);
  served.keep();
} finally {
  process.chdir(tmpdir());
  rmSync(place, { recursive: true, force: true });
  child.removeAllListeners('close');
  child.kill();
}
process.exit(0);
