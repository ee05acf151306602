// A service that shows late what was written, moves records between pages, and machines whose clock is wrong: nothing
// is created twice. Each through the command and real sockets.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Estate } from '../../src/emulator/index.js';
import { box, type Box } from '../support/box.js';
import { folder, small, type Folder, type Started } from '../support/cli.js';

const boxes: Box[] = [];
afterEach(async () => {
  for (const one of boxes.splice(0)) await one.close();
});

const bare: Estate = {
  version: 1,
  root: '1',
  records: { accounts: [{ id: '1', name: 'Headquarters', account: null }] },
};

async function cloud(
  estate: Estate = bare,
  settle = 60,
): Promise<Box & { readonly there: { readonly env: Readonly<Record<string, string>> } }> {
  const one = await box(estate);
  boxes.push(one);
  return Object.assign(one, {
    there: { env: { ...one.env, TRUEUP_SETTLE_SECONDS: String(settle) } },
  });
}

const project = (): Folder => folder({ 'trueup.yaml': small.replace(/^settings.*\n/, '') });
const APPLY = ['apply', '--auto-approve'] as const;
const posts = ({ writes }: Box): number => writes().filter((one) => one.startsWith('POST')).length;

describe('a service that shows late what was written', () => {
  const kinds = ['accounts', 'alert_push_destinations', 'alert_rules'];

  test.each(['stale=800', 'stale=15000'])(
    'two applies in a row create everything once, and the plan between them is empty (%s)',
    async (fault) => {
      const one = await cloud();
      one.setFaults(fault);
      const home = project();
      await home.expect(0, APPLY, one.there);
      expect((await home.expect(0, ['plan', '--detailed-exitcode'], one.there)).stdout).toContain(
        'No changes.',
      );
      await home.expect(0, ['drift', '--detailed-exitcode'], one.there);
      await home.expect(0, APPLY, one.there);
      expect([one.writes().length, kinds.map((kind) => one.objects(kind).length)]).toEqual([
        3,
        [2, 1, 1],
      ]);
    },
  );

  test('two applies in a row create everything once, though one reading shows it and the next does not', async () => {
    const one = await cloud();
    one.setFaults('stale=5000,mode=flicker');
    const home = project();
    for (let turn = 0; turn < 4; turn += 1) await home.expect(0, APPLY, one.there);
    expect([one.writes().length, kinds.map((kind) => one.objects(kind).length)]).toEqual([
      3,
      [2, 1, 1],
    ]);
  });

  test('a plan says what is not visible yet', async () => {
    const one = await cloud();
    one.setFaults('stale=30000,path=alert_rules');
    const home = project();
    await home.expect(0, APPLY, one.there);
    const shown = await home.expect(0, ['plan'], one.there);
    expect([shown.stdout, shown.stderr]).toEqual([
      expect.not.stringContaining('not-visible-yet'),
      expect.stringContaining('not-visible-yet'),
    ]);
  });

  test('what was shown and is absent later is gone at once', async () => {
    const one = await cloud();
    const home = project();
    await home.expect(0, APPLY, one.there);
    one.tamper('alert_rules', () => []);
    expect((await home.expect(2, ['drift', '--detailed-exitcode'], one.there)).stdout).toContain(
      '- gone alert_rules.wan-down',
    );
    expect((await home.expect(2, ['plan', '--detailed-exitcode'], one.there)).stdout).toContain(
      '+ create alert_rules.wan-down',
    );
  });

  test('what an update replaced just now is no drift, and is believed after the settle time', async () => {
    const one = await cloud();
    const home = project();
    await home.expect(0, APPLY, one.there);
    home.write('trueup.yaml', home.read('trueup.yaml').replace('On-call pager', 'Pager'));
    await home.expect(0, APPLY, one.there);
    one.tamper('alert_push_destinations', ([pager]) => [{ ...pager, name: 'On-call pager' }]);
    const { stderr } = await home.expect(0, ['plan', '--detailed-exitcode'], one.there);
    expect(stderr).toContain('not-visible-yet');
    await home.expect(0, ['drift', '--detailed-exitcode'], one.there);
    await home.expect(0, APPLY, { env: { ...one.there.env, TRUEUP_SETTLE_SECONDS: '4' } });
    expect(one.objects('alert_push_destinations')).toMatchObject([{ name: 'Pager' }]);
  });

  test('an update is read back until it shows, and what was deleted is not adopted again', async () => {
    const one = await cloud();
    const home = project();
    await home.expect(0, APPLY, one.there);
    one.setFaults('stale=1500');
    home.write('trueup.yaml', home.read('trueup.yaml').replace('On-call pager', 'Pager'));
    await home.expect(0, APPLY, one.there);
    const text = home.read('trueup.yaml');
    home.write('trueup.yaml', text.slice(0, text.indexOf('alert_rules:')));
    await home.expect(0, [...APPLY, '--allow', 'all-removed'], one.there);
    one.setFaults('stale=30000,method=DELETE');
    home.write('trueup.yaml', text.slice(0, text.indexOf('alert_push_destinations:')));
    const gone = await home.run([...APPLY, '--allow', 'all-removed'], {
      env: { ...one.there.env, TRUEUP_SETTLE_SECONDS: '2' },
    });
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining('still-there') as unknown,
    ]);
  });
});

describe('an object that moves between two pages while they are read', () => {
  const APART = 500;
  /** `last` is the name of the account that is hidden. */
  async function shifting(last = `Site ${APART}`, ...extra: readonly object[]) {
    const sites = Array.from({ length: 501 }, (_, index) => ({
      id: String(index + 2),
      name: index + 1 === APART ? last : `Site ${index + 1}`,
      account: '1',
    }));
    const accounts = [{ id: '1', name: 'Headquarters', account: null }, ...sites, ...extra];
    const one = await cloud({ ...bare, records: { accounts } } as Estate);
    return Object.assign(one, {
      shift: () => one.setFaults('page-shift,mode=remove,method=GET,path=offset=500,times=1'),
    });
  }

  test('is not created again', async () => {
    const one = await shifting();
    const home = folder({
      'trueup.yaml': 'accounts:\n  last: { name: Site 500 }\n  new: { name: New site }\n',
    });
    one.shift();
    const { stdout } = await home.expect(0, APPLY, one.there);
    expect(stdout).toContain('adopt accounts.last');
    expect(one.objects('accounts').filter(({ name }) => name === 'Site 500')).toHaveLength(1);
    expect(posts(one)).toBe(1);
  });

  test('is not created again under nearly the same name', async () => {
    const one = await shifting('SITE 500');
    const home = folder({ 'trueup.yaml': 'accounts:\n  last: { name: Site 500 }\n' });
    one.shift();
    expect((await home.expect(3, APPLY, one.there)).stdout).toContain('BLOCKED possible-duplicate');
    expect(one.writes()).toEqual([]);
  });

  test.each<[what: string, code: 1 | 5, text: string, said: string]>([
    [
      'an adoption of one of two equal objects',
      5,
      'accounts:\n  one: { name: Site 1 }\n  last: { name: Site 2, is_disabled: true }\n',
      'matches 2 live objects',
    ],
    [
      'a lookup that matches two objects',
      1,
      'accounts:\n  one: { name: Site 1 }\nlookups: { site: { accounts: { name: Site 2 } } }\nalert_rules:\n  r: { associated_accounts: ["${lookups.site.id}"], filter_criteria: { alert_type__in: [login_success] } }\n',
      'but matches 2',
    ],
  ])('does not hide %s, of which one would be written', async (_, code, text, said) => {
    const one = await shifting('Site 2');
    const home = folder({ 'trueup.yaml': 'accounts:\n  one: { name: Site 1 }\n' });
    await home.expect(0, APPLY, one.there);
    home.write('trueup.yaml', text);
    one.shift();
    const { stdout, stderr } = await home.expect(code, APPLY, one.there);
    expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toContain(said);
    expect(one.writes()).toEqual([]);
  });
});

describe('a run that was killed while an object was created', () => {
  /** Kills the process when its first POST arrives, which is carried out all the same. */
  async function killed(
    one: Box,
    home: Folder,
    options: { readonly env: Readonly<Record<string, string>> },
  ): Promise<void> {
    const run: { started?: Started } = {};
    one.intercept = async (request, proceed) => {
      if (request.method === 'POST') {
        one.intercept = undefined;
        run.started?.child.kill('SIGKILL');
        await run.started?.ended;
      }
      return proceed();
    };
    run.started = home.start(APPLY, options);
    expect((await run.started.ended).signal).toBe('SIGKILL');
  }

  /** The environment of a machine whose clock is so many seconds ahead. */
  function shifted(
    home: Folder,
    env: Readonly<Record<string, string>>,
    seconds: number,
  ): { readonly env: Readonly<Record<string, string>> } {
    home.write('clock.mjs', `const now = Date.now;\nDate.now = () => now() + ${seconds * 1000};\n`);
    return { env: { ...env, NODE_OPTIONS: `--import=${join(home.path, 'clock.mjs')}` } };
  }

  const rule =
    'alert_rules:\n  r: { associated_accounts: ["1"], filter_criteria: { alert_type__in: [login_success] } }\n';

  test('lets the attempt be dropped, and what is bound stays until it is let go itself', async () => {
    const one = await cloud(bare, 3);
    const home = folder({ 'trueup.yaml': rule });
    await home.expect(0, APPLY, one.there);
    one.tamper('alert_rules', () => []);
    await killed(one, home, one.there);
    expect((await home.expect(0, ['plan'], one.there)).stderr).toContain('[unfinished]');
    // It may have been a destroy: an apply would create what that deleted.
    for (const command of ['log', 'doctor']) {
      const { stdout, stderr } = await home.run([command], one.there);
      const said = (stdout + stderr).replaceAll(/\s+/g, ' ');
      expect(said).toContain('To see what is left to change: trueup plan');
      expect(said).not.toContain('trueup apply');
    }
    await home.expect(0, ['state', 'rm', 'alert_rules.r'], one.there);
    expect((await home.expect(0, ['state', 'list'], one.there)).stdout).toContain('alert_rules.r');
    expect((await home.expect(0, ['plan'], one.there)).stderr).not.toContain('[unfinished]');
    await home.expect(0, ['state', 'rm', 'alert_rules.r'], one.there);
    expect((await home.expect(0, ['state', 'list'], one.there)).stdout).not.toContain(
      'alert_rules.r',
    );
  });

  test.each([120, -120, 86_400 * 400])('finds it by a clock that is %i s off', async (seconds) => {
    const one = await cloud(bare, 3);
    const home = folder({ 'trueup.yaml': rule });
    await killed(one, home, one.there);
    const ran = await home.expect(0, APPLY, shifted(home, one.there.env, seconds));
    expect(ran.stdout + ran.stderr).toContain('was created by an interrupted run');
    expect([posts(one), one.objects('alert_rules').length]).toEqual([1, 1]);
  });

  test('is told of by an apply that is refused afterwards', async () => {
    const one = await cloud(bare, 3);
    const home = folder({ 'trueup.yaml': rule });
    await killed(one, home, one.there);
    home.write(
      'more.yaml',
      'alert_push_destinations: { p: { name: P, endpoint: { url: "https://a.test" }, authentication: { secret: "${secret.env.NONE}" } } }\n',
    );
    const { stderr } = await home.expect(1, APPLY, one.there);
    const said = stderr.replaceAll(/\s+/g, ' ');
    expect(said).toContain('alert_rules.r was created by an interrupted run');
    expect(said).toContain('[secret-missing]');
    expect(said).toContain('Nothing was changed in the cloud.');
    expect((await home.expect(0, ['state', 'list'], one.there)).stdout).toContain('alert_rules.r');
  });

  test('is not confused by what another hand created right before', async () => {
    const one = await cloud(bare, 3);
    const home = folder({ 'trueup.yaml': rule });
    const other = folder({
      'trueup.yaml': rule.replace('login_success', 'account_locked').replace('  r:', '  theirs:'),
    });
    await other.expect(0, APPLY, one.there);
    await killed(one, home, one.there);
    await home.expect(0, APPLY, one.there);
    expect(one.objects('alert_rules')).toHaveLength(2);
  });

  test('asks about an object of other content that appeared meanwhile, and advises to import none', async () => {
    const one = await cloud(bare, 3);
    const home = folder({ 'trueup.yaml': rule });
    one.intercept = async (request, proceed) =>
      request.method === 'POST'
        ? new Response('<html>', { status: 429, headers: { 'content-type': 'text/html' } })
        : proceed();
    const ended = home.start(APPLY, one.there);
    const other = folder({ 'trueup.yaml': rule.replace('login_success', 'account_locked') });
    await ended.says('can no longer take effect');
    one.intercept = undefined;
    await other.expect(0, APPLY, one.there);
    const { code, stdout, stderr } = await ended.ended;
    expect([code, stdout + stderr]).toEqual([
      5,
      expect.stringMatching(/differs in filter_criteria/) as unknown,
    ]);
    expect(stdout + stderr).not.toContain('trueup import');
    expect(stdout + stderr).toContain('trueup state rm alert_rules.r');
  });
});

test('a 429 of a gateway is no answer to a create: it is looked for, and not sent again beside it', async () => {
  const one = await cloud(bare, 1);
  const home = project();
  let first = true;
  one.intercept = async (request, proceed) => {
    const answer = await proceed();
    if (request.method !== 'POST' || !first) return answer;
    first = false;
    return new Response('<html>Too many requests</html>', {
      status: 429,
      headers: { 'content-type': 'text/html' },
    });
  };
  await home.expect(0, APPLY, one.there);
  expect([posts(one), one.objects('accounts').length]).toEqual([3, 2]);
  expect(readFileSync(join(home.path, '.trueup/state.json'), 'utf8')).toContain(
    '"accounts.field-ops"',
  );
});
