// The pages of single tenants: each is linked from the page of the fleet and back, and replaces nothing but pages.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/cli/context.js';
import { tenantPages } from '../../../src/cli/tenant-pages.js';
import type { TenantResult } from '../../../src/model/index.js';
import { fleetOf, type FleetHome } from '../../support/fleet-home.js';
import { freshFolder, inProcess } from '../../support/in-process.js';

const REPORT = ['--report', 'html=my fleet.html'];
const read = ({ cwd }: Pick<FleetHome, 'cwd'>, path: string): string =>
  readFileSync(join(cwd, path), 'utf8');
const pagesOf = ({ cwd }: FleetHome): readonly string[] =>
  readdirSync(join(cwd, 'my fleet.tenants')).toSorted();

test.each(['plan', 'drift'] as const)('of a %s and of its report', async (command) => {
  const home = await fleetOf(['acme', 'globex.com']);
  home.write(
    'trueup.fleet.yaml',
    'fleet: { tenants: { from: tenants/* }, defaults: { paths: [base] } }',
  );
  const ran = await home.run(command, '--run', 'r', ...REPORT);
  expect(ran.code).toBe(1);
  const fleet = read(home, 'my fleet.html');
  expect(fleet).toContain('<a href="my%20fleet.tenants/acme.html">acme</a>');
  // It failed: its error is on the page of the fleet.
  expect(fleet).toContain('<th scope="row"><a href="#error-1">globex.com</a></th>');
  expect(pagesOf(home)).toEqual(['acme.html']);
  // A web server of another user reads them.
  expect(statSync(join(home.cwd, 'my fleet.tenants')).mode & 0o777).toBe(0o777 & ~process.umask());
  const page = read(home, 'my fleet.tenants/acme.html');
  expect(page).toContain('<a href="../my%20fleet.html">All tenants</a>');
  expect(page).toMatch(/<h1>acme: (?:Plan|Drift): /);
  expect(page).toMatch(/<a href="#(?:changes|drift)">/);
  home.write('my fleet.tenants/acme.html', page.replace('acme: ', 'old: '));
  await home.run('report', 'r', ...REPORT);
  expect(read(home, 'my fleet.tenants/acme.html')).toBe(page);
});

test('of an apply, also of what was done before', async () => {
  const home = await fleetOf(['acme', 'globex']);
  await home.run('apply', '--auto-approve', '--run', 'r', '--select', 'tenant=acme');
  const { code } = await home.run('apply', '--auto-approve', '--run', 'all', ...REPORT);
  expect(code).toBe(0);
  expect(pagesOf(home)).toEqual(['acme.html', 'globex.html']);
  const again = await home.run('apply', '--auto-approve', '--run', 'all', '--report', 'html=b.htm');
  expect(again.code).toBe(0);
  expect(read(home, 'b.htm')).toContain('href="b.tenants/globex.html"');
});

test('are not there without the report', async () => {
  const home = await fleetOf(['acme']);
  await home.run('plan', '--run', 'r', '--report', 'markdown=f.html');
  expect(existsSync(join(home.cwd, 'f.tenants'))).toBe(false);
});

describe('something in the way is refused before anything is read', () => {
  test.each([
    ['a file', (at: string) => writeFileSync(at, ''), 'it is not a folder'],
    ['a note', (at: string) => holding(at, 'acme.html', 'mine'), 'no report wrote acme.html in it'],
    ['another file', (at: string) => holding(at, 'x', 'mine'), 'no report wrote x in it'],
    [
      'a folder in it',
      (at: string) => mkdirSync(join(at, 'acme.html'), { recursive: true }),
      'no report wrote acme.html in it',
    ],
    [
      'a link',
      (at: string) => {
        mkdirSync(at);
        symlinkSync('/etc/hosts', join(at, 'acme.html'));
      },
      'no report wrote acme.html in it',
    ],
  ])('%s', async (_, make, why) => {
    const home = await fleetOf(['acme']);
    make(join(home.cwd, 'my fleet.tenants'));
    const { code, stderr } = await home.run('plan', ...REPORT);
    expect(code).toBe(1);
    expect(stderr).toContain(why);
    expect(home.calls('acme')).toBe(0);
    expect(existsSync(join(home.cwd, 'my fleet.html'))).toBe(false);
  });

  const holding = (at: string, name: string, text: string): void => {
    mkdirSync(at);
    writeFileSync(join(at, name), text);
  };
});

test('a result of a tenant whose name leads elsewhere has no page', async () => {
  const home = await fleetOf(['acme']);
  await home.run('plan', '--run', 'r');
  const cwd = freshFolder();
  const probe: Command = async (context) => {
    const pages = await tenantPages(context, {
      shown: 'text',
      complete: false,
      files: [['html', join(cwd, 'a', 'f.html')]],
    });
    for (const tenant of ['../x', 'a/b', '..', '', '<b>', 'acme'])
      await pages.add({ ...home.result('r', 'acme'), tenant } satisfies TenantResult);
    expect(pages.problems).toEqual([]);
    expect(pages.links(join(cwd, 'a', 'f.html')).pageOf?.('../x')).toBeUndefined();
    return 0;
  };
  await inProcess(probe, ['fleet', 'plan'], { cwd, env: {} });
  expect(readdirSync(cwd, { recursive: true }).map(String).toSorted()).toEqual([
    'a',
    'a/f.tenants',
    'a/f.tenants/acme.html',
  ]);
});

test('a page that cannot be written is an error of the report, and ends nothing', async () => {
  const home = await fleetOf(['acme']);
  await home.run('plan', '--run', 'r');
  const probe: Command = async (context) => {
    const pages = await tenantPages(
      {
        ...context,
        files: {
          ...context.files,
          replace: () => Promise.reject(Object.assign(new Error(), { code: 'ENOSPC' })),
        },
      },
      { shown: 'text', complete: false, files: [['html', join(home.cwd, 'f.html')]] },
    );
    await pages.add(home.result('r', 'acme'));
    expect(pages.problems).toMatchObject([{ severity: 'error', code: 'report-unwritten' }]);
    return 0;
  };
  await inProcess(probe, ['fleet', 'plan'], home);
});
