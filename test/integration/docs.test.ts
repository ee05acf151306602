// What the documentation says is so: its commands parse, its names exist, its links lead somewhere, its YAML loads,
// and the tour of the README, typed as it stands, answers what is printed there.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/command-table.js';
import { parse } from '../../src/cli/program.js';
import { lint, load } from '../../src/declarations/index.js';
import { exits } from '../../src/model/index.js';
import { declarationFiles } from '../../src/platform/declaration-files.js';
import { driftFormats } from '../../src/report/formats.js';
import { collections, kinds } from '../../src/resources/index.js';
import { folder } from '../support/cli.js';
import { anywhere, blocksOf, pattern, replay, stepsOf } from '../support/printed.js';
import { everyRule } from '../support/rule-names.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesBelow = (path: string, ending: string): readonly string[] =>
  readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).flatMap((name) => (name.endsWith(ending) ? [join(path, name)] : []));

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow('docs', '.md'), ...filesBelow('examples', '.md').filter((path) => !path.includes('node_modules'))];

const proseOf = (markdown: string): string => markdown.replaceAll(/^```.*?^```$/gms, '');

/** Lines to type, without prompts, comments and what the shell does with the answer, and inline code that begins like one. */
function commandsIn(markdown: string): readonly string[] {
  const typed = blocksOf(markdown).flatMap(({ language, text }) =>
    language === 'sh' ? text.split('\n') : language === 'console' ? text.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : [])) : [],
  );
  const inline = [...proseOf(markdown).matchAll(/`(trueup [^`]+)`/g)].map(([, code]) => code as string);
  return [...typed, ...inline].map((line) => line.replace(/\s+[#|>&].*$/, '').trim()).filter((line) => line.startsWith('trueup ') && !line.includes('…'));
}

describe.each(pages)('%s', (page) => {
  const markdown = read(page);

  it('names commands and flags that exist', () => {
    const wrong = commandsIn(markdown).flatMap((line) => {
      let said = '';
      const parsed = parse(
        line.split(/\s+/).slice(1),
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
      const headings = anchor === undefined ? [] : [...readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slug(heading));
      return anchor === undefined || headings.includes(anchor) ? [] : [link];
    });
    expect(broken).toEqual([]);
  });

  it('shows declarations that load', async () => {
    for (const { text } of blocksOf(markdown).filter(({ language }) => language === 'yaml')) {
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
      expect(all.filter(({ severity, code }) => severity === 'error' && code !== 'no-declarations').map(({ summary }) => summary)).toEqual([]);
    }
  });
});

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

describe('README.md', () => {
  const readme = read('README.md');
  const section = (name: string): string => new RegExp(`^## ${name}\n(.*?)^## `, 'ms').exec(readme)?.[1] ?? '';

  it('names every variable of the environment that the code reads, and no other', () => {
    const plain = (name: string): string => name.replace(/_(?:FILE|NAME|name)$/, '');
    const names = (text: string): readonly string[] => text.match(/\b(?:TRUEUP_[A-Z0-9_]*[A-Z0-9]|HTTPS_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS)/g)?.map(plain) ?? [];
    const code = filesBelow('src', '.ts').flatMap((path) => [...names(read(path)), ...[...read(path).matchAll(/environment\['([A-Z_]+)'\]/g)].map(([, name = '']) => plain(name))]);
    const told = [...section('Environment').matchAll(/`([A-Z][A-Z0-9_]*(?:_name)?)`/g)].map(([, name = '']) => plain(name));
    expect(new Set(told)).toEqual(new Set(code));
  });

  it('names every command, exit code and policy rule', () => {
    const told = section('Commands');
    expect(commands.filter(({ name }) => !told.includes(`\`${name}\``) && !told.includes(`\`trueup ${name}`)).map(({ name }) => name)).toEqual([]);
    const codes = [...section('Exit codes').matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, list = '']) => list.split(', ').map(Number));
    expect(new Set(codes)).toEqual(new Set(Object.values(exits)));
    for (const text of [section('Safety'), read('docs/reliability.md')]) expect(everyRule.filter((rule) => !text.includes(`\`${rule}\``))).toEqual([]);
  });

  it('begins with the picture of a plan that is one', async () => {
    const home = folder();
    await home.expect(0, ['init']);
    await home.expect(0, ['apply', '--auto-approve']);
    const edit = (name: string, from: string, to: string): void => home.write(name, home.read(name).replace(from, to));
    edit('.trueup/emulator.json', '"enabled":true', '"enabled":false');
    edit('trueup.yaml', 'modem_wan_disconnected', 'wwan_disconnected');
    edit('trueup.yaml', 'accounts:\n', 'accounts:\n  depot-7:\n    name: Depot 7\n    account: "${accounts.field-ops.id}"\n\n');
    const picture = blocksOf(readme).find(({ language }) => language === 'text')?.text ?? '';
    expect(anywhere((await home.expect(0, ['plan'])).stdout)).toMatch(pattern(anywhere(picture)));
  });

  it('tells a tour that goes as it is printed', () => {
    const steps = stepsOf(readme);
    expect(steps.length).toBeGreaterThan(5);
    replay(steps, folder().path);
  });
});

describe('docs/emulator.md', () => {
  it('tells a tour that goes as it is printed, with the files that it shows', () => {
    const page = read('docs/emulator.md');
    const shown = blocksOf(page).flatMap(({ text }) => {
      const [, name] = /^(?:\/\/|#) ([\w.-]+)\n/.exec(text) ?? [];
      return name === undefined ? [] : [[name, text] as const];
    });
    const home = folder(Object.fromEntries(shown));
    try {
      replay(stepsOf(page), home.path);
    } finally {
      for (const name of readdirSync(home.path).filter((one) => one.endsWith('.pid'))) spawnSync('kill', [home.read(name).trim()]);
    }
  });
});

describe('docs/audit.md', () => {
  const page = read('docs/audit.md');

  it('shows of an audit what an example shows', () => {
    const example = read('examples/who-changed-it/README.md');
    const shown = blocksOf(page).flatMap(({ language, text }) => (language === 'text' ? text.trimEnd().split('\n\n') : []));
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter((part) => !example.includes(part))).toEqual([]);
  });

  it('names every metric and every form of a report', () => {
    const made = [...read('src/report/metrics.ts').matchAll(/(?:gauge|counter)\(\s*'(\w+)'/g)].map(([, name]) => `trueup_${name}`);
    const told = [...page.matchAll(/`(trueup_\w+)[`{]/g)].map(([, name]) => name);
    expect(new Set(told)).toEqual(new Set(made));
    expect(driftFormats.filter((format) => !read('docs/reports.md').includes(`| \`${format}\` |`))).toEqual([]);
  });
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
      const title = /^# \d+\. (.*)$/m.exec(read(relative(root, join(root, 'docs/decisions', name))))?.[1];
      expect(index).toContain(`| [${name.slice(0, 4)}](${name}) | ${title} |`);
    }
  });
});
