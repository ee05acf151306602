// Timeouts through the real terraform and the provider as it is built: what is told, what is left, and what is sent.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { box, type Box } from '../support/box.js';
import { theirs } from '../support/estate.js';
import { terraformIsHere, workspace, type Workspace } from '../support/terraform.js';

const here = terraformIsHere('timeouts', 5);
const executable = fileURLToPath(
  new URL('../../dist/terraform-provider-devicecloud.cjs', import.meta.url),
);
vi.setConfig({ testTimeout: 120_000 });

interface Stage {
  readonly cloud: Box;
  readonly place: Workspace;
  declare(timeouts: string, accounts?: string): void;
}

async function staged(): Promise<Stage> {
  const cloud = await box(theirs);
  onTestFinished(() => cloud.close());
  const place = workspace('', {
    executable,
    env: { ...cloud.env, TRUEUP_SETTLE_SECONDS: '0', TF_INPUT: '0' },
  });
  const declare = (timeouts: string, accounts = '"2"'): void =>
    place.write({
      'main.tf': `resource "devicecloud_alert_rule" "r" {\n  associated_accounts = [${accounts}]\n  filter_criteria = { alert_type__in = ["modem_wan_disconnected"] }\n  ${timeouts}\n}\n`,
    });
  return { cloud, place, declare };
}

describe.runIf(here)('timeouts', () => {
  it.each(['POST', 'PATCH', 'DELETE'] as const)(
    'a %s that takes too long is told of, and the next run leaves what is declared',
    async (verb) => {
      const { cloud, place, declare } = await staged();
      const limit = 'timeouts {\n    create = "2s"\n    update = "2s"\n    delete = "2s"\n  }';
      const [rules, final] = [
        cloud.objects('alert_rules').length,
        verb === 'DELETE' ? ['destroy', '-auto-approve'] : ['apply', '-auto-approve'],
      ];
      declare(limit);
      const { status } =
        verb === 'POST' ? { status: 0 } : await place.run('apply', '-auto-approve');
      expect(status).toBe(0);
      if (verb === 'PATCH') declare(limit, '"1"');
      let release = (): void => undefined;
      const released = new Promise<void>((go) => (release = go));
      cloud.intercept = async ({ method }, proceed) => {
        const answer = await proceed();
        if (method === verb) await released;
        return answer;
      };
      const late = await place.run(...final);
      release();
      expect([late.status, late.stderr.replaceAll(/[\s│╷╵]+/g, ' ')]).toEqual([
        1,
        expect.stringMatching(
          /took longer than timeouts\.\w+ allows: 2s .*whether the service carried it out is not known/,
        ),
      ]);
      // What is deleted is not configured any more.
      expect(
        /on main\.tf line [56], in resource "devicecloud_alert_rule" "r":\s+[^]*(?:create|update) = "2s"/.test(
          late.stderr,
        ),
      ).toBe(verb !== 'DELETE');
      cloud.intercept = undefined;
      expect(await place.run(...final)).toMatchObject({ status: 0, stderr: '' });
      expect(cloud.objects('alert_rules')).toHaveLength(rules + (verb === 'DELETE' ? 0 : 1));
      expect(cloud.writes().filter((one) => one.startsWith(verb))).toHaveLength(1);
      expect(
        await place.run('plan', '-detailed-exitcode', ...(verb === 'DELETE' ? ['-destroy'] : [])),
      ).toMatchObject({ status: 0 });
    },
  );

  it('a change of them alone is planned as that, and writes nothing', async () => {
    const { cloud, place, declare } = await staged();
    declare('');
    await place.run('apply', '-auto-approve');
    const before = cloud.writes().length;
    declare('timeouts {\n    create = "10m"\n    delete = "1h30m"\n  }');
    const planned = (await place.run('plan')).stdout;
    expect(planned).toContain('1 to change');
    expect(planned).not.toContain('known after apply');
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0 });
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
    expect(cloud.writes()).toHaveLength(before);
    const file = join(place.folder, 'terraform.tfstate');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('"create": "10m"');
    // As older versions left it: a map of what was given, or nothing.
    writeFileSync(
      file,
      text.replace(/"timeouts": \{[^}]*\}/, '"timeouts": {"create": "10m", "delete": "1h30m"}'),
    );
    for (const refresh of ['true', 'false'])
      expect(await place.run('plan', '-detailed-exitcode', `-refresh=${refresh}`)).toMatchObject({
        status: 0,
      });
    declare(
      'timeouts {\n    create = "20m"\n  }\n  lifecycle {\n    ignore_changes = [timeouts]\n  }',
    );
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
    writeFileSync(file, text.replace(/,\s*"timeouts": \{[^}]*\}/, ''));
    declare('');
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
  });

  it('what is no length of time is pointed at, an import plans empty, and an unknown one waits', async () => {
    const { place, declare } = await staged();
    declare('timeouts {\n    create = "soon"\n  }');
    const { status, stderr } = await place.run('plan');
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /`timeouts\.create` is not a duration[^]*on main\.tf line 5[^]*create = "soon"/,
      ),
    ]);
    declare('timeouts {\n    creates = "1m"\n  }');
    expect((await place.run('validate')).stderr).toMatch(
      /Unsupported argument[^]*on main\.tf line 5[^]*Did you mean "create"\?/,
    );
    declare('timeouts = { create = "1m" }');
    expect((await place.run('validate')).stderr.replaceAll(/[\s│]+/g, ' ')).toContain(
      'Did you mean to define a block of type "timeouts"?',
    );
    place.write({
      'main.tf': `import {\n  to = devicecloud_account.depot\n  id = "2"\n}\nresource "devicecloud_account" "depot" {\n  name = "Their depot"\n}\n`,
    });
    expect((await place.run('plan')).stdout).toContain(
      '1 to import, 0 to add, 0 to change, 0 to destroy',
    );
    declare('timeouts {\n    create = terraform_data.t.output\n  }');
    place.write({ 'more.tf': 'resource "terraform_data" "t" {\n  input = "1m"\n}\n' });
    expect(await place.run('apply', '-auto-approve')).toMatchObject({ status: 0, stderr: '' });
    expect(await place.run('plan', '-detailed-exitcode')).toMatchObject({ status: 0 });
  });
});
