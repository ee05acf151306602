// `trueup export`: writes live objects as declarations whose plan has no changes. Changes no state, overwrites no file.
import { join, resolve } from 'node:path';
import { exits, note, refuse, type Kind } from '../../model/index.js';
import { otherWords, typed, updateCommand } from '../commands-to-type.js';
import type { Flags } from '../command-table.js';
import type { Command, Context } from '../context.js';
import { exportRequest, exportSelection } from '../export-selection.js';
import { exportedTexts } from '../export-texts.js';
import { settingsHere } from '../project.js';
import { withCloud } from '../working-context.js';
import { writeTogether } from '../written-folder.js';

export const run: Command = async (context, names) => {
  if (context.flags.update) {
    checkUpdate(context);
    const { updateDeclarations } = await import('../export-update.js');
    return updateDeclarations(context, names);
  }
  checkWithoutUpdate(context);
  const { flags, out, err, cwd } = context;
  checkSplit(context, names);
  const settings = await settingsHere(context);
  // What is wrong with the arguments is said before anything is read.
  exportRequest(context, names, settings);
  const selection = await withCloud(context, settings, ({ context: { cloud }, snapshot }) =>
    exportSelection(
      context,
      { cloud, snapshot },
      exportRequest(context, names, settings, snapshot),
    ),
  );
  const texts = await exportedTexts(context, selection);
  if (texts.size === 0)
    err.write(
      'There is nothing to write: the selected objects are already managed (--all writes them, too) or do not exist.\n',
    );
  if (texts.size > 0 && flags.out !== undefined) {
    await writeTogether(context, resolve(cwd, flags.out), texts);
    for (const name of texts.keys()) out.write(`wrote ${join(flags.out, name)}\n`);
    err.write(next(flags.format, flags.out));
  } else {
    const shown = [...texts].filter(([name]) => !name.endsWith('.json'));
    out.write(shown.map(([, text]) => text).join('\n'));
  }
  await tellUnread(context, names, selection.chosen);
  return exits.done;
};

/** Kinds beyond the API reference are read only where somebody names them. */
async function tellUnread(
  { kinds, said, flags, tell }: Context,
  names: readonly string[],
  chosen: ReadonlyMap<Kind, unknown>,
): Promise<void> {
  const read = new Set([...chosen.keys()].map(({ name }) => name));
  const left = [...kinds.values()].filter(({ beyond, name }) => beyond && !read.has(name));
  if (names.length > 0 || left.length === 0) return;
  const words = left.map(({ name }) => name);
  // Only plain YAML has no file in common with what was written just now.
  const isPlain = flags.split === undefined && flags.format === 'yaml';
  const asked = isPlain || flags.out === undefined ? flags : { ...flags, out: 'FOLDER' };
  const command = ['trueup export', ...words, ...otherWords('export', asked)].join(' ');
  const they = words.length === 1 ? 'it' : 'them';
  const summary = `Not read, because neither the command, the settings nor the state names ${they}: ${words.join(', ')}.`;
  const detail = `To export ${they}: ${typed(command, said)}\nTo export ${they} each time, add ${they} to \`settings.kinds\`.`;
  await tell([note('kinds-not-read', summary, detail)]);
}

/** Flags that say which objects are written anew, and how. */
const anew = ['account', 'filter', 'out', 'split', 'all', 'path'] as const;

function checkUpdate({ flags }: Context): void {
  const [flag] = anew.filter((name) => flags[name] !== undefined);
  if (flag === undefined && flags.format === 'yaml') return;
  refuse(
    'usage',
    `--update edits the YAML files that are there, and takes no --${flag ?? 'format'}.`,
    {
      detail: `Name files or folders as PATHs, or addresses: ${updateCommand({ ...flags, target: flags.target ?? ['ADDRESS'] })}`,
    },
  );
}

function checkWithoutUpdate({ flags, said }: Context): void {
  const flag = flags.target ? 'target' : flags.dryRun && 'dry-run';
  if (flag)
    refuse('usage', `--${flag} needs --update.`, {
      detail: `To edit declarations: ${typed(updateCommand(flags), said)}`,
    });
}

function checkSplit({ flags, said }: Context, kinds: readonly string[]): void {
  const { split, format, out } = flags;
  if (split === undefined) return;
  const exporting = (asked: Flags): string =>
    typed(
      ['trueup export', ...kinds, ...otherWords('export', { ...asked, out: 'FOLDER' })].join(' '),
      said,
    );
  if (format !== 'yaml')
    refuse('usage', `--split writes YAML, not ${format}.`, {
      detail: `Leave out --split, or --format: ${exporting({ ...flags, format: 'yaml' })}`,
    });
  if (out === undefined)
    refuse('usage', '--split writes folders, which standard output cannot hold.', {
      detail: `Name a folder: ${exporting(flags)}`,
    });
}

/** The commands to run if the files are not enough. */
function next(format: string | undefined, folder: string): string {
  if (format === 'hcl')
    return `To plan it: trueup provider install, then terraform init and terraform plan in ${folder}.\n`;
  if (format === 'cdktf' || format === 'cdktn')
    return `To plan it: npm install in ${folder}, then trueup plan there.\n`;
  return '';
}
