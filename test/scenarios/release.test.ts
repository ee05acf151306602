// What a release consists of: its files with their checksums, the files of the container image, and the name of the build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
let home: string;

beforeAll(() => (home = mkdtempSync(join(tmpdir(), 'trueup-release-'))));
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Where {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
}

/** What a program says on stdout. It has to succeed. */
function said(command: string, args: readonly string[], { cwd = root, env, uid }: Where = {}) {
  const as = uid === undefined ? {} : { uid, gid: uid };
  const ran = spawnSync(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: tmpdir(), ...env },
    encoding: 'utf8',
    ...as,
  });
  if (ran.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

const node = (args: readonly string[], where?: Where): string =>
  said(process.execPath, args, where);
const sha256 = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted();
const digests = (folder: string): readonly string[] =>
  filesBelow(folder).map((name) => `${sha256(join(folder, name))}  ${name}`);

describe('the files of a release', () => {
  let folder: string;
  beforeAll(() => {
    node(['scripts/ensure.mjs']);
    folder = join(home, 'files');
    node(['scripts/release-files.mjs', '--out', folder]);
  });
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8');

  test('are the package, its SBOM, the provider, and checksums of all of it', () => {
    const provider = `terraform-provider-devicecloud_${version}`;
    const zips = ['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm', 'linux_arm64'];
    const registry = [...zips.map((one) => `${provider}_${one}.zip`), `${provider}_manifest.json`];
    const all = [
      ...registry,
      `${provider}_SHA256SUMS`,
      `trueup-${version}.tgz`,
      `trueup-${version}.cdx.json`,
    ];
    expect(filesBelow(folder)).toEqual([...all, 'SHA256SUMS'].toSorted());
    const sums = (names: readonly string[]): string =>
      names
        .toSorted()
        .map((name) => `${sha256(join(folder, name))}  ${name}\n`)
        .join('');
    expect(text(`${provider}_SHA256SUMS`)).toBe(sums(registry));
    expect(text('SHA256SUMS')).toBe(sums(all));
    expect(JSON.parse(text(`${provider}_manifest.json`))).toEqual({
      version: 1,
      metadata: { protocol_versions: ['6.0'] },
    });
  });

  test('have the same bytes each time, in any time zone', () => {
    const again = join(home, 'again');
    node(['scripts/release-files.mjs', '--out', again], { env: { TZ: 'Asia/Tokyo' } });
    expect(digests(again)).toEqual(digests(folder));
  });

  test('are written into a new folder only', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['scripts/release-files.mjs', '--out', folder],
      { cwd: root, encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([1, expect.stringContaining('is not empty')]);
  });

  test('the SBOM names what the package depends on and what is bundled, and nothing else', () => {
    const bom = JSON.parse(text(`trueup-${version}.cdx.json`)) as {
      bomFormat: string;
      metadata: { component: { purl: string; name: string } };
      components: readonly { 'bom-ref': string; name: string; purl: string }[];
      dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
    };
    expect(bom.bomFormat).toBe('CycloneDX');
    expect(bom.metadata.component).toMatchObject({
      name: 'trueup',
      purl: `pkg:npm/trueup@${version}`,
    });
    const names = bom.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['undici', 'yaml', 'ajv', 'protobufjs', 'long']));
    expect(names.filter((name) => /vitest|esbuild|typescript|cdktf/.test(name))).toEqual([]);
    const licences = readFileSync(join(root, 'dist/third-party-licences.txt'), 'utf8');
    for (const [, name] of licences.matchAll(/^(\S+) [\d.]+ \(/gm)) expect(names).toContain(name);
    const refs = new Set(bom.components.map((one) => one['bom-ref']));
    expect(
      bom.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((one) => !refs.has(one)),
    ).toEqual([]);
  });
});

describe('the container image', () => {
  let app: string;
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  /** Another user may not reach a Node in the home folder of this one. */
  const ofImage = (args: readonly string[], where: Where): string =>
    said(join(home, 'node'), args, where);
  /** The user of the image, which may write nowhere. Without root, files without write permission stand for it. */
  const uid = process.getuid?.() === 0 ? { uid: 65532 } : {};

  beforeAll(() => {
    for (const folder of [tmpdir(), home]) chmodSync(folder, 0o711);
    cpSync(process.execPath, join(home, 'node'));
    app = join(home, 'image');
    node(['scripts/image-files.mjs', app]);
    for (const name of ['.', ...readdirSync(app, { recursive: true, encoding: 'utf8' })]) {
      const path = join(app, name);
      chmodSync(path, statSync(path).mode & 0o555);
    }
  });
  afterAll(() => {
    for (const name of ['.', ...readdirSync(app, { recursive: true, encoding: 'utf8' })])
      chmodSync(join(app, name), 0o755);
    chmodSync(tmpdir(), 0o700);
  });

  test('is made by the script of this test, runs as a user without rights, and without a shell', () => {
    expect(dockerfile).toContain('RUN node scripts/image-files.mjs /image\n');
    expect(dockerfile).toContain('COPY --from=build /image /app\n');
    expect(dockerfile).toContain('USER 65532:65532\n');
    const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
    expect(JSON.parse(entry)).toEqual(['/nodejs/bin/node', '/app/dist/trueup.cjs']);
    expect(dockerfile).not.toMatch(/\bnpx\b/);
  });

  test('holds the bundled command alone', () => {
    const names = filesBelow(app).map((name) => name.replace(/chunks\/.*/, 'chunks'));
    expect([...new Set(names)]).toEqual([
      'LICENSE',
      'dist/chunks',
      'dist/main.js',
      'dist/main.wasm.gz',
      'dist/provider.cjs',
      'dist/terraform-provider-devicecloud.cjs',
      'dist/third-party-licences.txt',
      'dist/trueup.cjs',
      'package.json',
    ]);
  });

  test('works where nothing can be written', () => {
    const project = join(home, 'project');
    cpSync(join(root, 'examples/first-steps/trueup.yaml'), join(project, 'trueup.yaml'));
    chmodSync(project, 0o555);
    const before = digests(app);
    // No folder is writable, so the folder for temporary files is none either.
    const where = { cwd: project, env: { TMPDIR: app, HOME: app, PAGER_SECRET: 's' }, ...uid };
    const script = join(app, 'dist/trueup.cjs');
    expect(ofImage([script, '--version'], where)).toMatch(`trueup ${version}`);
    expect(ofImage([script, 'validate'], where)).toBe('Valid: 3 declarations.\n');
    expect(ofImage([script, 'plan'], where)).toContain('Plan: 3 to create');
    expect(() => ofImage([script, 'apply', '--auto-approve'], where)).toThrow(
      'permission is denied',
    );
    expect(digests(app)).toEqual(before);
    expect(readdirSync(project)).toEqual(['trueup.yaml']);
    chmodSync(project, 0o755);
  });
});

describe('a build', () => {
  const author = { NAME: 'A', EMAIL: 'a@example.com', DATE: '2026-01-01T00:00:00Z' };
  const env = Object.fromEntries(
    Object.entries(author).flatMap(([name, value]) => [
      [`GIT_AUTHOR_${name}`, value],
      [`GIT_COMMITTER_${name}`, value],
    ]),
  );
  const git = (cwd: string, ...args: readonly string[]): string => said('git', args, { cwd, env });

  /** The sources in a folder of their own, which links to the installed packages. */
  function sources(name: string): string {
    const copy = join(home, name);
    for (const one of [
      'package.json',
      'tsconfig.json',
      'tsconfig.types.json',
      'scripts',
      'schemas',
      'src',
    ])
      cpSync(join(root, one), join(copy, one), { recursive: true });
    mkdirSync(join(copy, 'node_modules'));
    for (const one of readdirSync(join(root, 'node_modules')).filter((one) => one !== '.cache'))
      symlinkSync(join(root, 'node_modules', one), join(copy, 'node_modules', one));
    writeFileSync(join(copy, '.gitignore'), 'node_modules/\ndist/\n');
    return copy;
  }

  /** Builds, and asks the result for its version. */
  function built(copy: string): string {
    node(['scripts/build.mjs'], { cwd: copy });
    return node(['dist/trueup.cjs', '--version'], { cwd: copy });
  }

  test('names its commit, and has the same bytes for the same commit', () => {
    const first = sources('first');
    git(first, 'init', '--quiet');
    git(first, 'add', '--all');
    git(first, 'commit', '--quiet', '--message', 'All of it');
    const commit = git(first, 'rev-parse', 'HEAD').slice(0, 7);
    expect(built(first)).toBe(`trueup ${version} (${commit})\n`);

    const second = sources('second');
    cpSync(join(first, '.git'), join(second, '.git'), { recursive: true });
    built(second);
    expect(digests(join(second, 'dist'))).toEqual(digests(join(first, 'dist')));

    writeFileSync(join(second, 'src/cli/tables.ts'), '\n', { flag: 'a' });
    expect(built(second)).toBe(`trueup ${version} (${commit}-dirty)\n`);
    expect(sha256(join(second, 'dist/provider.cjs'))).toBe(
      sha256(join(first, 'dist/provider.cjs')),
    );

    // In the repository of another project, and without any.
    const inside = sources('second/inside');
    expect(built(inside)).toBe(`trueup ${version}\n`);
  });
});

test('what a pull request has to pass installs with sudo where it does not run as root', () => {
  const bin = join(home, 'hosted-runner');
  mkdirSync(bin);
  for (const name of ['bash', 'dirname'])
    symlinkSync(said('which', [name]).trim(), join(bin, name));
  const stubs = { id: 'echo 1001', sudo: 'echo "sudo $*" >&2', 'apt-get': 'exit 1' };
  for (const [name, line] of Object.entries({ ...stubs, npm: ':', npx: ':' }))
    writeFileSync(join(bin, name), `#!${join(bin, 'bash')}\n${line}\n`, { mode: 0o755 });
  const { status, stderr } = spawnSync(join(bin, 'bash'), ['.ci/run'], {
    cwd: root,
    env: { PATH: bin },
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  expect(stderr).toContain('sudo apt-get -qq install -y postgresql radosgw');
});

test('the workflow that publishes asks for approval, and pins what it runs', () => {
  const path = join(root, '.github/workflows/publish.yml');
  const { permissions, jobs } = parseYaml(readFileSync(path, 'utf8')) as {
    permissions: unknown;
    jobs: Readonly<
      Record<
        string,
        {
          needs?: string;
          environment?: string;
          permissions?: Readonly<Record<string, string>>;
          steps: readonly { uses?: string; run?: string }[];
        }
      >
    >;
  };
  expect(permissions).toEqual({ contents: 'read' });
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const used = steps.flatMap(({ uses = [] }) => uses);
  expect(used.length).toBeGreaterThan(4);
  expect(used.filter((one) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(one))).toEqual([]);
  const publishing = Object.entries(jobs).filter(([, job]) =>
    job.steps.some(({ run = '' }) => run.includes('npm publish')),
  );
  expect(publishing).toMatchObject([
    [
      'publish',
      {
        needs: 'files',
        environment: 'npm',
        permissions: { contents: 'write', 'id-token': 'write' },
      },
    ],
  ]);
  expect(steps.some(({ run = '' }) => run.includes('.ci/run'))).toBe(true);
});
