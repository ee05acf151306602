// `trueup completion`: scripts for three shells, generated from the table of commands. They complete commands, flags
// and the choices of flags, and ask the state for addresses; the shell completes files.
import { exits, own, refuse } from '../../model/index.js';
import type { Command } from '../context.js';
import { commands, type CommandSpec, type FlagSpec } from '../command-table.js';

interface Word {
  readonly words: readonly string[];
  readonly doc: string;
}

interface Level {
  /** The words typed so far: '' , `plan`, `state`, `state mv`. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  /** Present where its arguments are addresses of the state. */
  readonly addresses?: true;
  readonly flags: readonly (Word & {
    readonly values: readonly string[];
    readonly takes: 'nothing' | 'words' | 'files' | 'addresses';
  })[];
}

/** Shell code that prints the addresses of the state, one a line. @param env shell code for the flag of the environment that was typed */
const addressesOf = (env: string): string =>
  `trueup state list ${env} 2>/dev/null | sed -e 1d -e 's/  .*//'`;

const shells: Readonly<Record<string, (levels: readonly Level[]) => string>> = { bash, zsh, fish };

export const run: Command = async ({ collections, kinds, out }, [shell = '']) => {
  const write = own(shells, shell);
  if (!write)
    refuse('usage', `There is no completion for ${JSON.stringify(shell)}.`, {
      detail: `Type: trueup completion ${Object.keys(shells).join(' | ')}`,
    });
  const names = {
    get: [...collections.keys(), 'access'],
    schema: [...kinds.keys()],
    export: [...kinds.keys()],
  };
  out.write(write(levelsOf(commands, names)));
  return exits.done;
};

/** @param names what the commands that take a kind take */
function levelsOf(
  all: readonly CommandSpec[],
  names: Readonly<Record<string, readonly string[]>>,
): readonly Level[] {
  const grouped = all.filter(({ name }) => name.includes(' '));
  const single = all.filter(({ name }) => !name.includes(' '));
  const groups = [...new Set(grouped.map(({ name }) => name.split(' ')[0]!))];
  const below = (group: string): readonly Word[] =>
    grouped
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, doc }) => ({ words: [name.slice(group.length + 1)], doc }));
  const top = [
    ...single.map(({ name, doc }) => ({ words: [name], doc })),
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
      ...(/^state (?:show|mv|rm)$/.test(spec.name) && { addresses: true as const }),
      flags: spec.flags.map(flagOf),
    })),
  ];
}

function flagOf({ spelling, doc, choices = [] }: FlagSpec): Level['flags'][number] {
  const named = /file>|folder>/.test(spelling) ? 'files' : 'words';
  const argument = spelling.includes('<address>') ? 'addresses' : named;
  return {
    words: spelling.replace(/ <.*/, '').split(', '),
    doc,
    values: choices,
    takes: spelling.includes('<') ? argument : 'nothing',
  };
}

const allWords = (words: readonly Word[]): string => words.flatMap((one) => one.words).join(' ');
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** One line per level or flag inside a `case` of bash or zsh. */
const answer = (pattern: string, commands: string): string =>
  `    ${quote(pattern)}) ${commands} ;;`;

/** Shell code, for bash and zsh, that finds the typed command word by word. */
const walk = (levels: readonly Level[], variable: string): string =>
  levels
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const typed = path.includes(' ') ? path : ` ${path}`;
      return `      ${quote(typed)}) ${variable}=${quote(path)} ;;`;
    })
    .join('\n');

type FlagOf = Level['flags'][number];

/** Shell code that completes the values of flags. */
const valuesOf = (levels: readonly Level[], complete: (flag: FlagOf) => string): string =>
  levels
    .flatMap(({ path, flags }) =>
      flags
        .filter(({ takes }) => takes !== 'nothing')
        .flatMap((flag) =>
          flag.words.map((word) => answer(`${path} ${word}`, `${complete(flag)}; return`)),
        ),
    )
    .join('\n');

function bash(levels: readonly Level[]): string {
  const answers = levels.map(({ path, subcommands, flags, addresses }) =>
    answer(
      path,
      `words=${quote(allWords(subcommands))}; flags=${quote(allWords(flags))}${addresses ? '; addresses=1' : ''}`,
    ),
  );
  const values = ({ takes, values: choices }: FlagOf): string =>
    takes === 'addresses'
      ? '_trueup_addresses "$cur"'
      : `COMPREPLY=($(compgen ${takes === 'files' ? '-f' : `-W ${quote(choices.join(' '))}`} -- "$cur"))`;
  return `# trueup completion for bash. Load it with: source <(trueup completion bash)
_trueup_addresses() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == "$1"* ]]; then COMPREPLY+=("$line"); fi
  done < <(${addressesOf('${env:+"--env=$env"}')})
}
_trueup() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words="" flags="" addresses="" env="" last=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    # Bash makes three words of --env=NAME.
    if [ "$word" != "=" ]; then
      if [ "$last" = --env ]; then env="$word"; fi
      last="$word"
    fi
    case "$path $word" in
${walk(levels, 'path')}
    esac
  done
  case "$path $prev" in
${valuesOf(levels, values)}
  esac
  case "$path" in
${answers.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) if [ -n "$addresses" ]; then _trueup_addresses "$cur"; elif [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
  esac
}
complete -o filenames -F _trueup trueup
`;
}

function zsh(levels: readonly Level[]): string {
  const described = (all: readonly Word[]): string =>
    all
      .flatMap(({ words, doc }) =>
        words.map((word) => quote(doc === '' ? word : `${word}:${doc.replaceAll(':', '\\:')}`)),
      )
      .join(' ');
  const answers = levels.map(({ path, subcommands, flags, addresses }) =>
    answer(
      path,
      `words_=(${described(subcommands)}); flags_=(${described(flags)})${addresses ? '; addresses_=1' : ''}`,
    ),
  );
  const values = ({ takes, values: choices }: FlagOf): string => {
    if (takes === 'files') return '_files';
    return takes === 'addresses' ? '_trueup_addresses' : `compadd -- ${choices.join(' ')}`;
  };
  return `#compdef trueup
# trueup completion for zsh. Load it with: source <(trueup completion zsh)
_trueup_addresses() {
  compadd -- \${(f)"$(${addressesOf('${env_:+"--env=$env_"}')})"}
}
_trueup() {
  local path_="" word addresses_="" env_="" last_=""
  local -a words_ flags_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ "$last_" == --env ]]; then env_="$word"; fi
    if [[ "$word" == --env=* ]]; then env_="\${word#--env=}"; fi
    last_="$word"
    case "$path_ $word" in
${walk(levels, 'path_')}
    esac
  done
  case "$path_ \${words[CURRENT-1]}" in
${valuesOf(levels, values)}
  esac
  case "$path_" in
${answers.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe flag flags_
  elif [[ -n "$addresses_" ]]; then _trueup_addresses
  elif (( \${#words_} )); then _describe word words_
  else _files
  fi
}
compdef _trueup trueup
`;
}

function fish(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, subcommands, flags, addresses }) => {
    const words = path === '' ? [] : path.split(' ');
    const groups = levels.filter((one) => one.path.startsWith(`${path} `));
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    if (path !== '' && groups.length > 0)
      seen.push(
        `not __fish_seen_subcommand_from ${groups.map((one) => one.path.split(' ').at(-1)).join(' ')}`,
      );
    const here = path === '' ? '__fish_use_subcommand' : seen.join('; and ');
    const condition = `-n ${quote(here)}`;
    return [
      ...subcommands.flatMap((one) =>
        one.words.map(
          (word) =>
            `complete -c trueup -f ${condition} -a ${word}${one.doc === '' ? '' : ` -d ${quote(one.doc)}`}`,
        ),
      ),
      ...(addresses ? [`complete -c trueup -f ${condition} -a '(__trueup_addresses)'`] : []),
      ...flags.map((flag) => {
        const spelled = flag.words
          .map((word) => (word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`))
          .join(' ');
        const takes = {
          nothing: '',
          files: ' -r',
          addresses: ` -x -a '(__trueup_addresses)'`,
          words: flag.values.length > 0 ? ` -x -a ${quote(flag.values.join(' '))}` : ' -x',
        }[flag.takes];
        return `complete -c trueup ${condition} ${spelled}${takes} -d ${quote(flag.doc)}`;
      }),
    ];
  });
  return `# trueup completion for fish. Load it with: trueup completion fish | source
function __trueup_addresses
  set -l typed (commandline -opc)
  set -l env (string match -r -- '^--env=.+' $typed)
  set -l at (contains -i -- --env $typed); and set env --env=$typed[(math $at + 1)]
  ${addressesOf('$env')}
end
${lines.join('\n')}
`;
}
