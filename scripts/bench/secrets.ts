// What secrets cost a plan: a thousand destinations without any, with a secret each, with one of them changed, and with
// a key; and one secret that all of them share.
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  cloud,
  fixed,
  quick,
  repeat,
  root,
  row,
  seconds,
  time,
  tool,
  type Cloud,
  type Run,
} from './measuring.js';

const COUNT = 1000;

interface Stand {
  readonly folder: string;
  readonly up: Cloud;
  readonly environment: NodeJS.ProcessEnv;
}

const variableOf = (index: number): string => `HOOK_SECRET_${index}`;
const value = (index: number): string => `value of secret number ${index}`;

/** @param secret the variable that holds the secret of a destination; undefined where it has none */
async function stand(
  name: string,
  secret: (index: number) => string | undefined,
  more: NodeJS.ProcessEnv = {},
): Promise<Stand> {
  const folder = join(root, `secrets-${name}`);
  mkdirSync(folder);
  const indexes = Array.from({ length: COUNT }, (_, index) => index);
  const written = indexes.map((index) => {
    const variable = secret(index);
    const authentication =
      variable === undefined
        ? ''
        : `    authentication: { secret: "\${secret.env.${variable}}" }\n`;
    return `  hook-${index}:\n    name: Hook ${index}\n    enabled: true\n    endpoint: { url: "https://hooks.example.com/${index}" }\n${authentication}`;
  });
  writeFileSync(join(folder, 'trueup.yaml'), `alert_push_destinations:\n${written.join('')}`);
  const up = await cloud(folder, {
    version: 1,
    root: '1',
    records: { accounts: [{ id: '1', name: 'Root', account: null }] },
  });
  // The same variables for all: a large environment is slow by itself.
  const secrets = Object.fromEntries(indexes.map((index) => [variableOf(index), value(index)]));
  const environment = { ...up.environment, ...secrets, ...more };
  await time(
    process.execPath,
    [tool, 'apply', '--auto-approve', '--parallelism', '50'],
    folder,
    environment,
  );
  return { folder, up, environment };
}

const plan = ({ folder, environment }: Stand, more: NodeJS.ProcessEnv = {}): Promise<Run> =>
  time(process.execPath, [tool, 'plan'], folder, { ...environment, ...more });

export async function secrets(): Promise<void> {
  const stands = [
    await stand('without', () => undefined),
    await stand('distinct', variableOf),
    await stand('keyed', variableOf, { TRUEUP_FINGERPRINT_KEY: 'the key of this benchmark' }),
    await stand('shared', () => variableOf(0)),
  ] as const;
  // One after the other in each turn, so that whatever else the machine does meets all of them.
  const runs = stands.map((): Run[] => []);
  for (let turn = 0; turn < (quick ? 7 : 21); turn += 1)
    for (const [index, one] of stands.entries()) runs[index]?.push(await plan(one));
  const [bare, unchanged, keyed, shared] = runs.map(seconds) as [number, number, number, number];
  const plain = `plan of ${COUNT} destinations`;
  row(
    `${plain} with ${COUNT} distinct, unchanged secrets`,
    `${fixed(unchanged)} s, ${fixed(unchanged - bare)} s more than without (${fixed(bare)} s)`,
    'at most 0.2 s more',
    unchanged - bare <= 0.2,
  );
  row(
    `${plain} with one secret for all`,
    `${fixed(shared)} s, ${fixed(shared - bare)} s more`,
    'at most 0.2 s more',
    shared - bare <= 0.2,
  );
  row(
    `${plain} with TRUEUP_FINGERPRINT_KEY`,
    `${fixed(keyed)} s, ${fixed(keyed / bare)} × the plan without secrets`,
    'at most 1.2 ×',
    keyed <= 1.2 * bare,
  );
  const cores = availableParallelism();
  const reach = (COUNT * 0.04) / cores;
  const changed =
    seconds(await repeat(quick ? 1 : 3, () => plan(stands[1], { HOOK_SECRET_7: 'rotated' }))) -
    bare;
  row(
    `${plain} with one of ${COUNT} secrets changed`,
    `${fixed(changed, 1)} s more on ${cores} cores, ${fixed((changed * cores * 1000) / COUNT, 0)} ms a secret and core`,
    `at most ${fixed(reach, 0)} s (40 ms)`,
    changed <= reach,
  );
  for (const { up } of stands) await up.stop();
}
