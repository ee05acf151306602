// The reference of the commands as Markdown, from the table that the parser and the help texts are made from.
import type { CommandSpec, FlagSpec } from '../src/cli/command-table.js';
import { cell, codes, page, table } from './markdown.js';

export function commandsPage(commands: readonly CommandSpec[]): string {
  const list = commands.map(
    ({ name, doc }) => `| [${name}](#trueup-${name.replaceAll(' ', '-')}) | ${cell(doc)} |`,
  );
  const sections = [
    '# Commands',
    'Every command prints this with `--help`. Flags may be written with one dash. An unknown flag is an error. Results are printed to standard output; progress, warnings, prompts and errors to standard error.',
    table(['command', 'does'], list),
    ...commands.flatMap(section),
  ];
  return page(sections);
}

function section({ name, args, usage = args, doc, flags, more }: CommandSpec): readonly string[] {
  return [
    `## trueup ${name}`,
    `\`trueup ${usage === '' ? name : `${name} ${usage}`}\`: ${doc}.`,
    ...(flags.length === 0 ? [] : [table(['flag', 'does'], flags.map(row))]),
    ...(more === undefined ? [] : [['```text', more.trim(), '```'].join('\n')]),
  ];
}

function row({ spelling, doc, choices, initial }: FlagSpec): string {
  const notes = [
    ...(choices === undefined ? [] : [`one of ${codes(choices)}`]),
    ...(initial === undefined ? [] : [`default \`${initial}\``]),
  ];
  return `| \`${cell(spelling)}\` | ${cell([doc, ...notes].join('; '))} |`;
}
