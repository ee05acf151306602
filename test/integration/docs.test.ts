// The documentation is true: its commands parse, its names exist, its links lead somewhere, its YAML loads, its
// paragraphs are short, and what a page prints is what its commands print.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { commands } from '../../src/cli/command-table.js';
import { parse } from '../../src/cli/program.js';
import { lint, load } from '../../src/declarations/index.js';
import { lifecycle, settings } from '../../src/declarations/vocabulary.js';
import { functionNames } from '../../src/expressions/hcl-functions.js';
import { exits, walk } from '../../src/model/index.js';
import { declarationFiles } from '../../src/platform/declaration-files.js';
import { driftFormats } from '../../src/report/formats.js';
import { collections, kinds } from '../../src/resources/index.js';
import { folder } from '../support/cli.js';
import { anywhere, blocksOf, follow, pattern, stepsOf } from '../support/printed.js';
import { everyRule } from '../support/rule-names.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesBelow = (path: string, ending: string): readonly string[] =>
  readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.endsWith(ending) ? [join(path, name)] : [],
  );

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...filesBelow('docs', '.md'),
  ...filesBelow('examples', '.md').filter((path) => !path.includes('node_modules')),
];

const isPolicy = (text: string): boolean => /^ {2}when: /m.test(text);
const isPolicyTest = (text: string): boolean => /^ {2}violations: /m.test(text);

const proseOf = (markdown: string): string => markdown.replaceAll(/^```.*?^```$/gms, '');

/** Lines to type, without prompts, comments and what the shell does with the answer, and inline code that begins like one. */
function commandsIn(markdown: string): readonly string[] {
  const typed = blocksOf(markdown).flatMap(({ language, text }) =>
    language === 'sh'
      ? text.split('\n')
      : language === 'console'
        ? text.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))
        : [],
  );
  const inline = [...proseOf(markdown).matchAll(/`(trueup [^`]+)`/g)].map(
    ([, code]) => code as string,
  );
  return [...typed, ...inline]
    .map((line) => line.replace(/\s+[#|>&].*$/, '').trim())
    .filter((line) => line.startsWith('trueup ') && !line.includes('…'));
}

describe.each(pages)('%s', (page) => {
  const markdown = read(page);

  it('names commands and flags that exist', () => {
    const wrong = commandsIn(markdown).flatMap((line) => {
      let said = '';
      const parsed = parse(
        (line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).slice(1),
        () => undefined,
        (text) => (said += text),
      );
      return 'exit' in parsed && parsed.exit !== 0 ? [`${line}: ${said}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('links to what is there', () => {
    const broken = [...proseOf(markdown).matchAll(/\]\(([^)]+)\)/g)].flatMap(([, link = '']) => {
      if (/^https?:/.test(link)) return [];
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(target)) return [link];
      const headings =
        anchor === undefined
          ? []
          : [...readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
              slug(heading),
            );
      return anchor === undefined || headings.includes(anchor) ? [] : [link];
    });
    expect(broken).toEqual([]);
  });

  it('shows policies that compile, and tests of them', async () => {
    const blocks = blocksOf(markdown).filter(({ language }) => language === 'yaml');
    const policies = blocks.filter(({ text }) => isPolicy(text));
    const tests = blocks.filter(({ text }) => isPolicyTest(text));
    if (policies.length === 0 && tests.length === 0) return;
    const home = folder({
      ...Object.fromEntries(policies.map(({ text }, at) => [`policies/${at}.cel.yaml`, text])),
      ...Object.fromEntries(tests.map(({ text }, at) => [`policies/${at}.test.yaml`, text])),
    });
    await home.expect(0, ['test']);
  });

  it('shows declarations that load', async () => {
    const blocks = blocksOf(markdown).filter(
      ({ language, text }) => language === 'yaml' && !isPolicy(text) && !isPolicyTest(text),
    );
    for (const { text } of blocks) {
      const home = folder({ 'trueup.yaml': text });
      const { diagnostics, project } = await load({
        kinds,
        collections,
        paths: [],
        cwd: home.path,
        files: declarationFiles,
        stdin: async () => '',
        environment: {},
        variables: {},
      });
      const all = [...diagnostics, ...(project ? lint(project, kinds) : [])];
      expect(
        all
          .filter(({ severity, code }) => severity === 'error' && code !== 'no-declarations')
          .map(({ summary }) => summary),
      ).toEqual([]);
    }
  });
});

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const generated = (page: string): boolean => read(page).startsWith('<!-- Generated');
const guides = [
  'README.md',
  ...filesBelow('docs', '.md').filter(
    (page) => !page.startsWith('docs/decisions') && !generated(page),
  ),
];

/** Paragraphs and items of lists: what stands between blank lines, without headings, tables and code. */
const paragraphsOf = (markdown: string): readonly string[] =>
  proseOf(markdown)
    .split(/\n{2,}|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((text) => text.trim())
    .filter((text) => text !== '' && !text.startsWith('|') && !text.startsWith('#'));

const written = pages.filter((page) => !generated(page));

test.each(written)('%s has paragraphs below 500 characters', (page) => {
  expect(paragraphsOf(read(page)).filter((text) => text.length >= 500)).toEqual([]);
});

const typed = guides.filter((page) => stepsOf(read(page)).length > 0);

test.each(typed)('%s prints what its commands print, with the files that it shows', (page) => {
  const home = folder();
  try {
    follow(read(page), home);
  } finally {
    for (const name of readdirSync(home.path).filter((one) => one.endsWith('.pid')))
      spawnSync('kill', [home.read(name).trim()]);
  }
});

test('the README, the tutorial and three guides are typed', () => {
  expect(typed.toSorted()).toEqual([
    'README.md',
    'docs/how-to/emulator.md',
    'docs/how-to/recover-from-exit-5.md',
    'docs/how-to/rename-and-move.md',
    'docs/tutorial/first-project.md',
  ]);
});

test('the index names every page', () => {
  const index = read('docs/README.md');
  const named = filesBelow('docs', '.md').filter(
    (page) => !/^docs\/(?:decisions|reference\/resources)\/|^docs\/README/.test(page),
  );
  expect(named.filter((page) => !index.includes(`](${relative('docs', page)})`))).toEqual([]);
});

test('the README begins with the picture of a plan that is one', async () => {
  const home = folder();
  await home.expect(0, ['init']);
  await home.expect(0, ['apply', '--auto-approve']);
  const edit = (name: string, from: string, to: string): void =>
    home.write(name, home.read(name).replace(from, to));
  edit('.trueup/emulator.json', '"enabled":true', '"enabled":false');
  edit('trueup.yaml', 'modem_wan_disconnected', 'wwan_disconnected');
  edit(
    'trueup.yaml',
    'accounts:\n',
    'accounts:\n  depot-7:\n    name: Depot 7\n    account: "${accounts.field-ops.id}"\n\n',
  );
  const picture =
    blocksOf(read('README.md')).find(({ language }) => language === 'text')?.text ?? '';
  expect(anywhere((await home.expect(0, ['plan'])).stdout)).toMatch(pattern(anywhere(picture)));
});

describe('the reference', () => {
  it('names every variable of the environment that the code reads, and no other', () => {
    const plain = (name: string): string => name.replace(/_(?:FILE|NAME|name)$/, '');
    const names = (text: string): readonly string[] =>
      text
        .match(
          /\b(?:TRUEUP_[A-Z0-9_]*[A-Z0-9]|AWS_[A-Z_]*[A-Z]|G(?:H|ITLAB)_TOKEN|GITHUB_[A-Z_]*[A-Z]|PG(?:USER|PASSWORD)|(?:CI|CIRCLE)_NODE_(?:INDEX|TOTAL)|JOB_COMPLETION(?:_INDEX|S)|BUILDKITE_PARALLEL_JOB(?:_COUNT)?|SYSTEM_(?:JOBPOSITION|TOTALJOBS)INPHASE|HTTPS_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS)/g,
        )
        ?.map(plain) ?? [];
    const code = filesBelow('src', '.ts').flatMap((path) => [
      ...names(read(path)),
      ...[...read(path).matchAll(/environment\['([A-Z0-9_]+)'\]/g)].map(([, name = '']) =>
        plain(name),
      ),
    ]);
    const told = [
      ...read('docs/reference/environment.md').matchAll(/`([A-Z][A-Z0-9_]*(?:_name)?)`/g),
    ].map(([, name = '']) => plain(name));
    expect(new Set(told)).toEqual(new Set(code));
  });

  it('names every command, exit code and policy rule', () => {
    const told = read('docs/reference/commands.md');
    expect(
      commands
        .filter(({ name }) => !told.includes(`\n## trueup ${name}\n`))
        .map(({ name }) => name),
    ).toEqual([]);
    const codes = [...read('docs/reference/exit-codes.md').matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(
      ([, list = '']) => list.split(', ').map(Number),
    );
    expect(new Set(codes)).toEqual(new Set(Object.values(exits)));
    expect(
      everyRule.filter(
        (rule) => !read('docs/reference/policy-rules.md').includes(`\n| \`${rule}\` |`),
      ),
    ).toEqual([]);
  });

  it('names every setting, and everything that `lifecycle` takes', () => {
    const page = read('docs/reference/declarations.md') + read('docs/reference/configurations.md');
    const taken = [...kinds.values()].flatMap((kind) => {
      const attribute = lifecycle(kind);
      return attribute.word === 'object'
        ? Object.keys(attribute.attributes).map((name) => `\`${name}: `)
        : [];
    });
    const set = [...walk(settings.attributes)].flatMap(([path, { word }]) =>
      word === 'object' ? [] : [`\`${path.replace(/^v2_headers\./, '')}\``],
    );
    expect(
      [...set, ...taken].filter(
        (name) => !page.includes(name) && !page.includes(name.replace('`', '`lifecycle: { ')),
      ),
    ).toEqual([]);
  });

  it('names every function of Terraform that is evaluated, and no other', () => {
    const table =
      read('docs/reference/stacks.md')
        .match(/^\| functions of .*$/gm)
        ?.join('') ?? '';
    const [, list = ''] =
      /functions are evaluated: (.*?)\. \[/.exec(read('docs/how-to/cdk.md')) ?? [];
    for (const text of [table, list]) {
      const told = [...text.matchAll(/`([a-z]+)`/g)].flatMap(([, name]) => name ?? []);
      expect(told.toSorted()).toEqual(functionNames);
    }
  });

  it('names every metric and every format of a report', () => {
    const source = read('src/report/metrics.ts') + read('src/report/fleet-watch-metrics.ts');
    const made = [...source.matchAll(/\[\s*'([a-z]+_[a-z_]+)',/g)].map(
      ([, name]) => `trueup_${name}`,
    );
    const told = [...read('docs/reference/metrics.md').matchAll(/`(trueup_\w+)[`{]/g)].map(
      ([, name]) => name,
    );
    expect(new Set(told)).toEqual(new Set(made));
    expect(
      driftFormats.filter(
        (format) => !read('docs/reference/reports.md').includes(`| \`${format}\` |`),
      ),
    ).toEqual([]);
  });
});

test('the guide to audits shows what an example shows', () => {
  const example = read('examples/who-changed-it/README.md');
  const shown = blocksOf(read('docs/how-to/audit-drift.md')).flatMap(({ language, text }) =>
    language === 'text' ? text.trimEnd().split('\n\n') : [],
  );
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((part) => !example.includes(part))).toEqual([]);
});

describe('docs/decisions', () => {
  it('lists every page, no number twice', () => {
    const files = readdirSync(join(root, 'docs/decisions'))
      .filter((name) => /^\d/.test(name))
      .toSorted();
    const numbers = files.map((name) => Number(name.slice(0, 4)));
    expect(numbers.filter((number, index) => number <= (numbers[index - 1] ?? 0))).toEqual([]);
    const index = read('docs/decisions/README.md');
    for (const name of files) {
      const title = /^# \d+\. (.*)$/m.exec(
        read(relative(root, join(root, 'docs/decisions', name))),
      )?.[1];
      expect(index).toContain(`| [${name.slice(0, 4)}](${name}) | ${title} |`);
    }
  });
});
