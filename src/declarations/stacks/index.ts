// The door to synthesised stacks, loaded only where a PATH leads to one.
import type { Kinds } from '../../model/index.js';
import type { DeclarationFiles } from '../../platform/index.js';
import type { StackSource } from '../paths.js';
import { desiredOf, type StackBlock } from './stack.js';
import { readStacks, type ProgramDocument, type Synthesise } from './stack-files.js';

interface Bringing {
  readonly files: DeclarationFiles;
  readonly kinds: Kinds;
  readonly cwd: string;
  readonly synthesise?: Synthesise;
}

export async function bring(
  { files, kinds, cwd, synthesise }: Bringing,
  sources: readonly StackSource[],
): Promise<StackBlock & { readonly documents: readonly ProgramDocument[] }> {
  const read = await readStacks(files, sources, synthesise);
  return { ...desiredOf(read, kinds, cwd), documents: read.documents };
}
