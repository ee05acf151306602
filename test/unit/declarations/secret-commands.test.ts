import { describe, expect, it } from 'vitest';
import { commandSecrets } from '../../../src/declarations/secret-commands.js';
import type { Secret } from '../../../src/model/index.js';
import type { CommandOutput } from '../../../src/platform/index.js';

function manager(command: readonly string[], answer: ReturnType<CommandOutput>) {
  const runs: (readonly [string, readonly string[]])[] = [];
  const found: Secret[] = [];
  const secret = commandSecrets({
    environment: { PATH: '/bin', VAULT_TOKEN: 'theirs', TRUEUP_V3_TOKEN: 'ours' },
    cwd: '/project',
    commands: { vault: { command } },
    output: (words, { environment }) => {
      runs.push([words.join(' '), Object.keys(environment)]);
      return answer;
    },
    found: (one) => found.push(one),
  });
  return { runs, found, secret: (key: string) => secret('vault', key) };
}

describe('the secrets that a command prints', () => {
  it('are asked for when they are revealed, once, without the credentials of trueup', () => {
    const { runs, found, secret } = manager(['get', '{key}'], { text: 'a b\n' });
    const [first, second] = [secret('pager'), secret('pager')];
    expect([runs, found]).toEqual([[], []]);
    expect([first.reveal(), second.reveal(), first.source]).toEqual(['a b', 'a b', 'vault.pager']);
    expect(runs).toEqual([['get pager', ['PATH', 'VAULT_TOKEN']]]);
    expect(found[0]?.reveal()).toBe('a b');
    expect(secret('desk').reveal()).toBe('a b');
    expect(runs).toHaveLength(2);
  });

  it('come from one run where the command prints all of them', () => {
    const { runs, secret } = manager(['all'], { text: '{"pager":"p","desk":"d","on":true}' });
    expect(['pager', 'desk'].map((key) => secret(key).reveal())).toEqual(['p', 'd']);
    expect(runs).toHaveLength(1);
    expect([secret('on').reveal(), secret('on').advice]).toEqual([
      undefined,
      expect.stringContaining('its member `on` is no text'),
    ]);
    expect(secret('toString').reveal()).toBeUndefined();
  });

  it('are absent where it fails, which says why', () => {
    const { runs, found, secret } = manager(['all'], { problem: 'it ended with 3' });
    const one = secret('pager');
    expect([one.reveal(), one.advice]).toEqual([
      undefined,
      'The command of `settings.secrets.vault` gave no value: it ended with 3.',
    ]);
    expect([runs.length, found]).toEqual([1, []]);
  });
});
