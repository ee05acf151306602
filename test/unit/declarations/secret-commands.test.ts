import { describe, expect, it } from 'vitest';
import { commandSecrets } from '../../../src/declarations/secret-commands.js';
import type { CommandOutput } from '../../../src/platform/index.js';

function manager(command: readonly string[], answer: Awaited<ReturnType<CommandOutput>>) {
  const runs: (readonly [string, readonly string[]])[] = [];
  const secret = commandSecrets({
    environment: { PATH: '/bin', VAULT_TOKEN: 'theirs', TRUEUP_V3_TOKEN: 'ours' },
    cwd: '/project',
    commands: { vault: { command } },
    output: async (words, { environment }) => {
      runs.push([words.join(' '), Object.keys(environment)]);
      return answer;
    },
  });
  const fetched = async (key: string) => {
    const one = secret('vault', key);
    const wrong = await one.fetch?.(new AbortController().signal);
    return [one.reveal(), wrong?.problem];
  };
  return { runs, secret: (key: string) => secret('vault', key), fetched };
}

describe('the secrets that a command prints', () => {
  it('have no value before they are fetched, once, without the credentials of trueup', async () => {
    const { runs, secret, fetched } = manager(['get', '{key}'], { value: 'a b\n' });
    expect([secret('pager').reveal(), secret('pager').source, runs]).toEqual([
      undefined,
      'vault.pager',
      [],
    ]);
    expect(await Promise.all([fetched('pager'), fetched('pager')])).toEqual([
      ['a b', undefined],
      ['a b', undefined],
    ]);
    expect(runs).toEqual([['get pager', ['PATH', 'VAULT_TOKEN']]]);
    expect(secret('pager').reveal()).toBe('a b');
    await fetched('$& desk');
    expect(runs[1]?.[0]).toBe('get $& desk');
  });

  it('come from one run where the command prints all of them', async () => {
    const { runs, fetched } = manager(['all'], {
      value: '{"pager":"p","desk":"d","on":true,"off":""}',
    });
    expect(await Promise.all(['pager', 'desk', 'on', 'off', 'toString'].map(fetched))).toEqual([
      ['p', undefined],
      ['d', undefined],
      [undefined, expect.stringContaining('its member `on` is not a string')],
      [undefined, expect.stringContaining('its member `off` is an empty string')],
      [undefined, expect.stringContaining('no member `toString`, but desk, off, on, pager')],
    ]);
    expect(runs).toHaveLength(1);
  });

  it.each([
    [['get', '{key}'], { value: '\n' }, 'it printed nothing'],
    [['all'], { value: 'plain' }, 'it printed no JSON object'],
    [['all'], { problem: 'it ended with 3' }, 'it ended with 3'],
  ])('are absent where %j gives %j, which says why', async (command, answer, why) => {
    const { secret, fetched } = manager(command, answer);
    const [value, problem] = await fetched('pager');
    expect([value, problem]).toEqual([
      undefined,
      expect.stringContaining(`\`settings.secrets.vault\` returned no value: ${why}`),
    ]);
    expect(secret('pager').advice).toContain('Its command has to print it: ');
  });
});
