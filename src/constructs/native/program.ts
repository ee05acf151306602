// The root of a program: checks everything below it and gives one document a stack.
import { Construct } from 'constructs';
import { NAME } from '../../model/index.js';
import { Entry, entry } from './classes.js';
import { Stack, nameOf, writtenSettings } from './stack.js';

/** First line of every document that a program wrote. */
export const mark = '# Written by a program: change that, not this.';

export class Program extends Construct {
  constructor() {
    super(undefined as never, '');
  }

  /** Text of a declaration file by the name of each stack. @throws where `validate()` of any construct has something to say: all of it */
  documents(): ReadonlyMap<string, string> {
    const all = this.node.findAll();
    const stacks = all.filter((one) => one instanceof Stack);
    const entries = all.filter((one) => one instanceof Entry);
    const said = all.flatMap(({ node }) => node.validate().map((text) => (text.startsWith(node.path) ? text : `${node.path}: ${text}`)));
    const wrong = [...said, ...badStacks(stacks), ...collisions(entries)];
    if (wrong.length > 0) throw new Error(['the program declares what cannot be:', ...wrong].join('\n  '));
    return new Map(stacks.map((stack) => [nameOfStack(stack), `${mark}\n${JSON.stringify(documentOf(stack, entries), undefined, 2)}\n`]));
  }
}

const nameOfStack = ({ node }: Stack): string =>
  node.scopes
    .slice(1)
    .map((scope) => scope.node.id)
    .join('-');

const badStacks = (stacks: readonly Stack[]): readonly string[] =>
  stacks.flatMap((stack) =>
    NAME.test(nameOfStack(stack))
      ? []
      : [`${stack.node.path}: \`${nameOfStack(stack)}\` cannot name a stack: it begins with a letter and goes on with letters, digits, \`_\` and \`-\`.`],
  );

/** All documents of a program are one project, in which an address is there once. */
function collisions(entries: readonly Entry[]): readonly string[] {
  const known = new Map<string, Entry>();
  return entries.flatMap((one) => {
    const address = `${one[entry].section}.${nameOf(one)}`;
    const first = known.get(address);
    known.set(address, first ?? one);
    return first ? [`${one.node.path}: ${address} is what ${first.node.path} is called already. Rename one of them.`] : [];
  });
}

function documentOf(stack: Stack, entries: readonly Entry[]): Readonly<Record<string, unknown>> {
  const sections = new Map<string, Record<string, unknown>>();
  for (const one of entries.filter((each) => Stack.of(each) === stack)) {
    const { section, body } = one[entry];
    const members = sections.get(section) ?? {};
    sections.set(section, members);
    members[nameOf(one)] = body();
  }
  return { ...(stack.settings && { settings: writtenSettings(stack.settings) }), ...Object.fromEntries(sections) };
}
