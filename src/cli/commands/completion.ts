// `trueup completion`: scripts for three shells, made from the table of commands. They know commands, flags and
// the words that flags take; files complete as the shell does it.
import { exits, refuse } from '../../model/index.js';
import type { Command } from '../context.js';
import { commands, type CommandSpec, type FlagSpec } from '../command-table.js';

interface Word {
  readonly words: readonly string[];
  readonly doc: string;
}

interface Level {
  /** What has been typed: '' , `plan`, `state`, `state mv`. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly flags: readonly (Word & {
    readonly values: readonly string[];
    readonly takes: 'nothing' | 'words' | 'files';
  })[];
}

const shells: Readonly<Record<string, (levels: readonly Level[]) => string>> = { bash, zsh, fish };

export const run: Command = (context, [shell = '']) => {
  const write = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (!write)
    return refuse('usage', `There is no completion for ${JSON.stringify(shell)}.`, {
      detail: `Type: trueup completion ${Object.keys(shells).join(' | ')}`,
    });
  context.out.write(
    write(
      levelsOf(commands, {
        get: [...context.collections.keys(), 'access'],
        schema: [...context.kinds.keys()],
      }),
    ),
  );
  return Promise.resolve(exits.done);
};

/** @param names what the commands that take a kind take */
function levelsOf(
  all: readonly CommandSpec[],
  names: Readonly<Record<string, readonly string[]>>,
): readonly Level[] {
  const groups = [
    ...new Set(
      all.filter(({ name }) => name.includes(' ')).map(({ name }) => name.split(' ')[0] as string),
    ),
  ];
  const below = (group: string): readonly Word[] =>
    all
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, doc }) => ({ words: [name.slice(group.length + 1)], doc }));
  const top = [
    ...all
      .filter(({ name }) => !name.includes(' '))
      .map(({ name, doc }) => ({ words: [name], doc })),
    ...groups.map((name) => ({ words: [name], doc: `${name} …` })),
  ];
  const argumentsOf = ({ name: command, args }: CommandSpec): readonly Word[] => {
    const choices = args.includes('|') ? args.slice(1, -1).split('|') : [];
    return (names[command] ?? choices).map((name) => ({ words: [name], doc: '' }));
  };
  return [
    { path: '', subcommands: top, flags: [] },
    ...groups.map((path) => ({ path, subcommands: below(path), flags: [] })),
    ...all.map((spec) => ({
      path: spec.name,
      subcommands: argumentsOf(spec),
      flags: spec.flags.map(flagOf),
    })),
  ];
}

function flagOf({ spelling, doc, choices = [] }: FlagSpec): Level['flags'][number] {
  const argument = /file>|folder>/.test(spelling) ? 'files' : 'words';
  return {
    words: spelling.replace(/ <.*/, '').split(', '),
    doc,
    values: choices,
    takes: spelling.includes('<') ? argument : 'nothing',
  };
}

const allWords = (words: readonly Word[]): string => words.flatMap((one) => one.words).join(' ');
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bash(levels: readonly Level[]): string {
  const answers = levels.map(
    ({ path, subcommands, flags }) =>
      `    ${quote(path)}) words=${quote(subcommands.length > 0 ? allWords(subcommands) : '')}; flags=${quote(allWords(flags))} ;;`,
  );
  const values = levels.flatMap(({ path, flags }) =>
    flags
      .filter(({ takes }) => takes !== 'nothing')
      .flatMap(({ words, takes, values }) => {
        const answer = takes === 'files' ? '-f' : `-W ${quote(values.join(' '))}`;
        return words.map(
          (word) =>
            `    ${quote(`${path} ${word}`)}) COMPREPLY=($(compgen ${answer} -- "$cur")); return ;;`,
        );
      }),
  );
  return `# trueup completion for bash. Load it with: source <(trueup completion bash)
_trueup() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words="" flags=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${levels
  .filter(({ path }) => path !== '')
  .map(
    ({ path }) => `      ${quote(path.includes(' ') ? path : ` ${path}`)}) path=${quote(path)} ;;`,
  )
  .join('\n')}
    esac
  done
  case "$path $prev" in
${values.join('\n')}
  esac
  case "$path" in
${answers.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
  esac
}
complete -o filenames -F _trueup trueup
`;
}

function zsh(levels: readonly Level[]): string {
  const describe = ({ words, doc }: Word): readonly string[] =>
    words.map((word) => quote(doc === '' ? word : `${word}:${doc.replaceAll(':', '\\:')}`));
  const answers = levels.map(
    ({ path, subcommands, flags }) =>
      `    ${quote(path)}) words_=(${subcommands.flatMap(describe).join(' ')}); flags_=(${flags.flatMap(describe).join(' ')}) ;;`,
  );
  const values = levels.flatMap(({ path, flags }) =>
    flags
      .filter(({ takes }) => takes !== 'nothing')
      .flatMap(({ words, takes, values }) =>
        words.map(
          (word) =>
            `    ${quote(`${path} ${word}`)}) ${takes === 'files' ? '_files' : `compadd -- ${values.join(' ')}`}; return ;;`,
        ),
      ),
  );
  return `#compdef trueup
# trueup completion for zsh. Load it with: source <(trueup completion zsh)
_trueup() {
  local path_="" word
  local -a words_ flags_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$path_ $word" in
${levels
  .filter(({ path }) => path !== '')
  .map(
    ({ path }) => `      ${quote(path.includes(' ') ? path : ` ${path}`)}) path_=${quote(path)} ;;`,
  )
  .join('\n')}
    esac
  done
  case "$path_ \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$path_" in
${answers.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe flag flags_
  elif (( \${#words_} )); then _describe word words_
  else _files
  fi
}
compdef _trueup trueup
`;
}

function fish(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, subcommands, flags }) => {
    const words = path === '' ? [] : path.split(' ');
    const groups = levels.filter((one) => one.path.startsWith(`${path} `));
    const here =
      path === ''
        ? '__fish_use_subcommand'
        : [
            ...words.map((word) => `__fish_seen_subcommand_from ${word}`),
            ...(groups.length > 0
              ? [
                  `not __fish_seen_subcommand_from ${groups.map((one) => one.path.split(' ').at(-1)).join(' ')}`,
                ]
              : []),
          ].join('; and ');
    const condition = `-n ${quote(here)}`;
    return [
      ...subcommands.flatMap((one) =>
        one.words.map(
          (word) =>
            `complete -c trueup -f ${condition} -a ${word}${one.doc === '' ? '' : ` -d ${quote(one.doc)}`}`,
        ),
      ),
      ...flags.map((flag) => {
        const spelled = flag.words
          .map((word) => (word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`))
          .join(' ');
        const takes = {
          nothing: '',
          files: ' -r',
          words: flag.values.length > 0 ? ` -x -a ${quote(flag.values.join(' '))}` : ' -x',
        }[flag.takes];
        return `complete -c trueup ${condition} ${spelled}${takes} -d ${quote(flag.doc)}`;
      }),
    ];
  });
  return `# trueup completion for fish. Load it with: trueup completion fish | source\n${lines.join('\n')}\n`;
}
