// What a notification says and to whom: no secret, no address but its host, and a token only where no chat listens.
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.js';
import { notifierOf, type Ended } from '../../../src/cli/notify.js';
import { maskingOf, Secret, type Diagnostic } from '../../../src/model/index.js';
import { systemClock } from '../../../src/platform/clock.js';
import { receiver } from '../../support/receiver.js';
import { seededRandom } from '../../support/simulated.js';

function contextOf(notify: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const masking = maskingOf();
  masking.add(new Secret('env.PAGER', () => 'hunter2hunter2'));
  const told: Diagnostic[] = [];
  const context = {
    masking,
    flags: { notify },
    environment,
    cwd: '/projects/hunter2hunter2',
    said: { paths: [], env: undefined, variables: [] },
    signal: AbortSignal.abort(new Error('SIGINT')),
    clock: systemClock(),
    random: seededRandom(1),
    tell: (diagnostics: readonly Diagnostic[]) => told.push(...diagnostics),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are read
  } as unknown as Context;
  return { context, told };
}

const summary = 'the service said hunter2hunter2';
const ended: Ended = {
  summary,
  counts: {},
  target: null,
  diagnostics: [
    { severity: 'error', code: 'x', summary, address: 'accounts.a' },
    { severity: 'warning', code: 'y', summary },
  ],
};

describe('a notification', () => {
  it('repeats no secret, whatever its form, and tells of an interruption', async () => {
    const { url, heard } = await receiver();
    const { context, told } = contextOf([url, `slack=${url}`, `teams=${url}`], {
      BUILD_URL: 'https://me:hunter2hunter2@ci.example.com/',
    });
    await (
      await notifierOf(context, 'apply')
    )(7, ended);
    expect(told).toEqual([]);
    expect(heard).toHaveLength(3);
    expect(JSON.stringify(heard)).not.toContain('hunter2');
    expect(heard.find(({ body }) => 'errors' in body)?.body).toMatchObject({
      exit: 130,
      project: '(sensitive)',
      run_url: null,
      errors: ['accounts.a: the service said (sensitive)'],
    });
  });

  it('brings the token to generic addresses alone', async () => {
    const { url, heard } = await receiver();
    const { context } = contextOf([`slack=${url}`, `teams=${url}`, url], {
      TRUEUP_NOTIFY_TOKEN: 'letmein',
    });
    await (
      await notifierOf(context, 'apply')
    )(0, ended);
    const tokens = (generic: boolean) =>
      heard
        .filter(({ body }) => 'errors' in body === generic)
        .map(({ headers }) => headers.authorization);
    expect(tokens(true)).toEqual(['Bearer letmein']);
    expect(tokens(false)).toEqual([undefined, undefined]);
  });

  it('that is not delivered is a warning that names the host', async () => {
    const { url, host } = await receiver(404);
    const { context, told } = contextOf([url]);
    await (
      await notifierOf(context, 'apply')
    )(0, ended);
    expect(told).toMatchObject([{ severity: 'warning', code: 'not-notified' }]);
    expect(told[0]?.summary).toBe(
      `The notification to ${host} was not delivered: it returned 404.`,
    );
    expect(JSON.stringify(told)).not.toContain('S3CRET');
  });
});
