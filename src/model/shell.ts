// Commands in messages are quoted so that they can be pasted into a shell.

/** A word as every POSIX shell takes it: in single quotes if it holds anything that means something to one, or to zsh. */
export function shellWord(word: string): string {
  return /^(?!=)[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A path as every command takes it: one that begins with a dash would be a flag. */
export const pathWord = (path: string): string => shellWord(/^-./.test(path) ? `./${path}` : path);
