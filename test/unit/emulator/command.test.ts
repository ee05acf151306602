// The command that serves the emulator: behaviours and the dialect are named on the command line, in either spelling.
import { describe, expect, test } from 'vitest';
import { parseBehaviours } from '../../../src/emulator/index.js';
import { strict } from '../../../src/emulator/behaviours.js';
import { emulator, folder } from '../../support/cli.js';

const help = async (): Promise<string> => (await folder().expect(0, ['emulator', '--help'])).stdout;

describe('--behaviour', () => {
  test('the help lists every behaviour with a sentence, in 80 columns', async () => {
    const text = await help();
    for (const name of Object.keys(strict))
      expect(text).toMatch(
        new RegExp(`^  ${name.replaceAll('_', '-')}(=\\S+)?\\n {6}[A-Z].+\\.$`, 'm'),
      );
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test.each([
    [['escape-html'], { escape_html: true }],
    [['escape_html', 'created-status=201'], { escape_html: true, created_status: 201 }],
    [['retry_after=none', 'token-seconds=60'], { retry_after: 'none', token_seconds: 60 }],
    [
      ['shard-origin=https://shard-3.example.com/'],
      { shard_origin: 'https://shard-3.example.com' },
    ],
    [['dialect=public'], { dialect: 'public' }],
  ])('%j is read', (words, read) => {
    expect(parseBehaviours(words)).toEqual(read);
  });

  test.each([
    ['escape-htm', 'Did you mean `escape-html`?'],
    ['constructor', 'there is no such behaviour'],
    ['escape-html=yes', 'escape-html takes no value'],
    ['created-status', 'write created-status=200|201'],
    ['created-status=202', 'write created-status=200|201'],
    ['token-seconds=soon', 'write token-seconds=SECONDS'],
    ['shard-origin=shard', 'write shard-origin=URL'],
  ])('%s is refused: %s', (word, why) => {
    expect(() => parseBehaviours([word])).toThrow(why);
  });

  test('it holds for what is served; a wrong word ends the command and names the right one', async () => {
    const home = folder();
    const { env } = await emulator(home, [
      '--behaviour',
      'created-status=201',
      '--behaviour',
      'escape_html',
    ]);
    const headers = {
      'X-MGR-API-ID': env['TRUEUP_MGR_API_ID'] ?? '',
      'X-MGR-API-KEY': env['TRUEUP_MGR_API_KEY'] ?? '',
      'X-VND-API-ID': env['TRUEUP_VND_API_ID'] ?? '',
      'X-VND-API-KEY': env['TRUEUP_VND_API_KEY'] ?? '',
      'content-type': 'application/json',
    };
    const answer = await fetch(`${env['TRUEUP_V2_URL']}/accounts/`, {
      method: 'POST',
      headers,
      body: '{"name": "A & B"}',
    });
    expect([answer.status, ((await answer.json()) as { readonly name: string }).name]).toEqual([
      201,
      'A &amp; B',
    ]);
    const { stderr } = await home.expect(1, ['emulator', '--behaviour', 'echo-wirtes']);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('Did you mean `echo-writes`?');
    expect((await home.expect(1, ['emulator', '--dialect', 'privat'])).stderr).toContain(
      'reference, public',
    );
  });
});
