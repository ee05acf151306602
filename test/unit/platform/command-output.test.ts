// What a program printed, or why there is nothing: the programs are real.
import { describe, expect, it } from 'vitest';
import { commandOutput } from '../../../src/platform/command-output.js';

const outputOf = (script: string) =>
  commandOutput(['sh', '-c', script], {
    cwd: '/',
    environment: { PATH: process.env['PATH'] },
    signal: new AbortController().signal,
  });

describe('the output of a program', () => {
  it('is complete once the program has ended, though a child holds it open', async () => {
    const begun = performance.now();
    expect(await outputOf(`(trap '' TERM; exec sleep 5) & sleep 0.3; echo '{}'`)).toEqual({
      value: '{}\n',
    });
    expect(performance.now() - begun).toBeLessThan(4_000);
  });

  it('is missing with what is wrong with it, or the signal or the exit code that ended the program', async () => {
    expect(await outputOf('kill -9 $$')).toEqual({ problem: 'it was ended by SIGKILL' });
    expect(await outputOf(String.raw`printf '\377\376'`)).toEqual({
      problem: 'its bytes are not valid UTF-8',
      isUnusable: true,
    });
    expect(await outputOf('exit 3')).toEqual({ problem: 'it ended with exit code 3' });
  });
});
