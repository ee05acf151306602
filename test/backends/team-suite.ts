// Two clones of one project on two machines' worth of folders, with one remote state: what a team types.
import { describe, expect, it } from 'vitest';
import { emulator, folder, type Folder } from '../support/cli.js';

interface Place {
  /** Of the state: the value of `settings.state.url`. */
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

const accounts = (names: readonly string[]): string =>
  names.map((name) => `  ${name.toLowerCase()}: { name: ${name} }\n`).join('');

const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo', 'Foxtrot'];

export function teamSuite(name: string, makePlace: () => Place): void {
  describe(`a team with its state in ${name}`, () => {
    /** Two clones of the project, and the environment of their jobs. */
    async function team(faults: readonly string[] = []) {
      const cloud = await emulator(folder(), faults);
      const { url, environment } = makePlace();
      const settings = `settings:\n  state: { url: "${url}", lock: { lease: 2s } }\n`;
      const project = (names: readonly string[]): string =>
        `${settings}accounts:\n${accounts(names)}`;
      const env = { ...cloud.env, ...environment, TRUEUP_SETTLE_SECONDS: '1' };
      const clone = (names: readonly string[]): Folder => folder({ 'trueup.yaml': project(names) });
      const live = async (home: Folder): Promise<readonly string[]> => {
        const { stdout } = await home.expect(0, ['get', 'accounts', '-o', 'json'], { env });
        return (JSON.parse(stdout) as { name: string }[])
          .map((one) => one.name)
          .filter((one) => NAMES.includes(one))
          .toSorted();
      };
      return { env, project, clone, live, url, cloud };
    }

    it('plans in one folder, applies that file in another, and is done', async () => {
      const { env, clone, live, project } = await team();
      const [a, b] = [clone(NAMES), clone(NAMES)];
      await a.expect(0, ['plan', '--out', 'p.plan'], { env });
      b.write('p.plan', a.read('p.plan'));
      const applied = await b.expect(0, ['apply', 'p.plan'], { env });
      expect(applied.stdout).toContain('Applied: 6 created');
      expect((await a.expect(0, ['plan', '--detailed-exitcode'], { env })).stdout).toContain(
        'No changes',
      );
      expect(await live(a)).toEqual(NAMES);
      const stale = await a.expect(6, ['apply', 'p.plan'], { env });
      expect(stale.stderr).toContain('it was made without a state, and there is one now');

      // Removing an object shows its delete on the pull request, because the state is the real one.
      a.write('trueup.yaml', project(NAMES.slice(0, 5)));
      b.write('trueup.yaml', project(NAMES.slice(0, 5)));
      const planned = await a.expect(0, ['plan', '--out', 'q.plan'], { env });
      expect(planned.stdout).toContain('0 to create, 0 to update, 1 to delete');
      // The state moves on, but nothing that the plan rests on.
      const c = clone(NAMES.slice(0, 5));
      await c.expect(0, ['state', 'mv', 'accounts.alpha', 'accounts.first'], { env });
      await c.expect(0, ['state', 'mv', 'accounts.first', 'accounts.alpha'], { env });
      b.write('q.plan', a.read('q.plan'));
      await b.expect(0, ['apply', 'q.plan'], { env });
      expect(await live(b)).toEqual(NAMES.slice(0, 5));
    });

    it('keeps the objects of another project that was given the same place', async () => {
      const { env, clone, live, project } = await team();
      await clone(NAMES.slice(0, 3)).expect(0, ['apply', '--auto-approve'], { env });
      const other = folder({ 'trueup.yaml': project(NAMES.slice(3)) });
      const blocked = await other.expect(3, ['apply', '--auto-approve'], { env });
      expect(blocked.stdout + blocked.stderr).toContain('settings.state.project');
      await other.expect(3, ['plan', '--out', 'p.plan'], { env });
      await other.expect(3, ['apply', 'p.plan'], { env });
      expect(await live(other)).toEqual(NAMES.slice(0, 3));
      other.write('trueup.yaml', project(NAMES.slice(3)).replace('lock:', 'project: other, lock:'));
      const { stdout } = await other.expect(0, ['plan'], { env });
      expect(stdout).toContain('0 to delete');
    });

    it('applies on two machines at once: one waits, and nothing is created twice', async () => {
      const { env, clone, live } = await team(['--fault', 'latency=100']);
      const homes = [clone(NAMES), clone(NAMES), clone(NAMES)];
      const ran = await Promise.all(
        homes.map((home) => home.run(['apply', '--auto-approve', '--lock-wait', '25s'], { env })),
      );
      expect(ran.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
        [0, ''],
        [0, ''],
        [0, ''],
      ]);
      expect(await live(homes[0]!)).toEqual(NAMES);
      const now = await homes[0]!.run(['apply', '--auto-approve', '--lock-wait', '0'], { env });
      expect(now.code).toBe(0);
    });

    it('takes over from a run that was killed, and creates nothing twice', async () => {
      const { env, clone, live } = await team(['--fault', 'latency=300']);
      const [a, b] = [clone(NAMES), clone(NAMES)];
      // Only the events tell of an outcome before the end of the run.
      const one = ['apply', '--auto-approve', '--parallelism', '1', '--json'];
      const killed = a.start(one, { env });
      await killed.says('accounts.bravo: created');
      // Nobody else can know whether it goes on. It stands still meanwhile, so that it cannot end on a busy machine.
      killed.child.kill('SIGSTOP');
      const planned = await b.expect(0, ['plan'], { env });
      expect(planned.stderr.replaceAll(/\s+/g, ' ')).not.toContain('An earlier run ended');
      killed.child.kill('SIGKILL');
      expect((await killed.ended).stdout).not.toContain('accounts.foxtrot: created');
      const refused = await b.expect(4, ['apply', '--auto-approve'], { env });
      expect(refused.stderr).toContain('trueup unlock');
      const begun = performance.now();
      const taken = await b.expect(0, ['apply', '--auto-approve', '--lock-wait', '20s'], { env });
      expect(taken.stderr).toContain('Waiting up to 20 s');
      expect(performance.now() - begun).toBeLessThan(20_000);
      expect(await live(b)).toEqual(NAMES);
      await b.expect(0, ['plan', '--detailed-exitcode'], { env });
    });

    it('plans and audits without a place, and makes none', async () => {
      const { env, clone } = await team();
      const home = clone(['Alpha']);
      await home.expect(0, ['plan'], { env });
      await home.expect(0, ['drift'], { env });
      expect((await home.expect(0, ['state', 'history'], { env })).stderr).toContain(
        'no state yet',
      );
      expect((await home.expect(0, ['doctor'], { env })).stdout).toContain('does not exist yet');
    });

    it('rolls a state back, pulls it, and pushes it', async () => {
      const { env, clone } = await team();
      const home = clone(['Alpha']);
      await home.expect(0, ['apply', '--auto-approve'], { env });
      await home.expect(0, ['state', 'mv', 'accounts.alpha', 'accounts.other'], { env });
      const { stdout: history } = await home.expect(0, ['state', 'history'], { env });
      const serials = [...history.matchAll(/^(\d+) /gm)].map(([, serial]) => Number(serial));
      expect(serials).toEqual(serials.toSorted((a, b) => b - a));
      const { stdout: pulled } = await home.expect(0, ['state', 'pull'], { env });
      home.write('pulled.json', pulled);
      await home.expect(0, ['state', 'rollback', String(serials[1])], { env });
      expect((await home.expect(0, ['state', 'list'], { env })).stdout).toContain('accounts.alpha');
      await home.expect(0, ['plan', '--detailed-exitcode'], { env });
      const refused = await home.expect(1, ['state', 'push', 'pulled.json'], { env });
      const [, typed] = /--serial (\d+)/.exec(refused.stderr) ?? [];
      expect(typed).toBeDefined();
      await home.expect(
        1,
        ['state', 'push', 'pulled.json', '--serial', String(Number(typed) - 1)],
        {
          env,
        },
      );
      await home.expect(0, ['state', 'push', 'pulled.json', '--serial', String(typed)], { env });
      expect((await home.expect(0, ['state', 'list'], { env })).stdout).toContain('accounts.other');
      expect((await home.expect(1, ['state', 'rollback', '999'], { env })).stderr).toContain(
        'trueup state history',
      );
    });

    it('moves a state file to the place, and every run that names the file says so', async () => {
      const { env, project, url } = await team();
      const local = `accounts:\n${accounts(NAMES)}`;
      const home = folder({ 'trueup.yaml': local });
      await home.expect(0, ['apply', '--auto-approve'], { env });
      home.write('trueup.yaml', project(NAMES));
      const refused = await home.expect(1, ['apply', '--auto-approve'], { env });
      expect(refused.stderr).toContain('trueup state migrate --to');
      home.write('trueup.yaml', local);
      const dry = await home.expect(0, ['state', 'migrate', '--to', url, '--dry-run'], { env });
      expect(dry.stdout).toContain('6 objects');
      await home.expect(0, ['state', 'migrate', '--to', url], { env });
      expect((await home.expect(1, ['plan'], { env })).stderr).toContain('settings.state');
      // Again is as good as once.
      await home.expect(0, ['state', 'migrate', '--to', url], { env });
      home.write('trueup.yaml', project(NAMES));
      await home.expect(0, ['plan', '--detailed-exitcode'], { env });
      expect((await home.expect(0, ['state', 'list'], { env })).stdout).toContain('accounts.echo');
      const other = folder({ 'trueup.yaml': local });
      await other.expect(0, ['apply', '--auto-approve'], { env });
      expect((await other.expect(1, ['state', 'migrate', '--to', url], { env })).stderr).toContain(
        'holds a state already',
      );
    });
  });
}
