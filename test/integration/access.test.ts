// The access review from the command line, in every form, and in the audit.
import { describe, expect, test } from 'vitest';
import { emulator, folder } from '../support/cli.js';

const estate = {
  version: 1,
  root: '1',
  records: {
    accounts: [
      { id: '1', account: null, name: 'Headquarters' },
      { id: '5', account: '1', name: '=North|<b>' },
    ],
    account_authorizations: [
      { id: '90', user: '77', account: '1', role: 'administrator' },
      { id: '91', user: '78', account: '5', role: 'full_access_user' },
    ],
  },
  users: [
    { id: '77', email: 'dana@example.com' },
    { id: '78', email: 'lee@example.com' },
  ],
};
const declared = `lookups: { north: { accounts: { name: "=North|<b>" } } }
account_authorizations:
  lee: { user: "78", account: "\${lookups.north.id}", role: read_only_user }
`;

describe('get access', () => {
  test('shows who may do what, what is inherited, and what is not as declared', async () => {
    const home = folder({ 'trueup.yaml': declared, 'estate.json': JSON.stringify(estate) });
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    const shown = async (form: string): Promise<string> =>
      (await home.expect(0, ['get', 'access', '-o', form], { env })).stdout;
    expect(await shown('table')).toBe(
      [
        'ACCOUNT           ADMINS  USER  ROLE              INHERITED FROM  DECLARED',
        'Headquarters (1)  1       77    administrator                     no',
        '  =North|<b> (5)  1       77    administrator     Headquarters',
        '  =North|<b> (5)  1       78    full_access_user                  read_only_user',
        '',
        'Access review: 2 users, 2 accounts; 1 role not as declared; every account has an administrator.',
        '',
      ].join('\n'),
    );
    const [head, ...rows] = (await shown('csv')).trimEnd().split('\r\n');
    expect(head).toBe(
      'account,account_name,administrators,user,role,inherited_from,own_roles,declared,address',
    );
    expect(rows).toContain(
      "5,'=North|<b>,1,78,full_access_user,,,read_only_user,account_authorizations.lee",
    );
    expect(rows).toContain('1,Headquarters,1,77,administrator,,,no,');
    const review = JSON.parse(await shown('json')) as { cells: unknown[] };
    expect(review.cells).toHaveLength(3);
    expect(
      (await shown('ndjson'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(review.cells);
    const markdown = await shown('markdown');
    expect(markdown).toContain('### Access review: 2 users');
    expect(markdown).not.toContain('<b>');
    const html = await shown('html');
    expect(html).toContain('≠ declared: read_only_user');
    expect(html).not.toContain('<b> (5)');
    const audit = await home.expect(0, ['drift', '--format', 'json'], { env });
    expect((JSON.parse(audit.stdout) as { access: unknown }).access).toEqual(review);
    expect((await home.expect(0, ['drift'], { env })).stdout).toContain(
      'Access review: 2 users, 2 accounts',
    );
  });

  test('works without declarations, and with those that do not load, and refuses filters', async () => {
    const home = folder({ 'estate.json': JSON.stringify(estate) });
    const { env } = await emulator(home, ['--seed', 'estate.json']);
    expect((await home.expect(0, ['get', 'access'], { env })).stdout).toContain(
      'Access review: 2 users, 2 accounts; every account has an administrator.',
    );
    home.write('trueup.yaml', 'accounts: { a: { nam: x } }\n');
    const { stderr } = await home.expect(0, ['get', 'access'], { env });
    expect(stderr).toContain('do not load');
    expect((await home.expect(1, ['get', 'access', '--limit', '3'], { env })).stderr).toContain(
      '--limit cannot be used here',
    );
    expect((await home.expect(1, ['get', 'accounts', '-o', 'html'], { env })).stderr).toContain(
      'shows only access',
    );
  });
});
