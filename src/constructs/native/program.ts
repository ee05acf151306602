// The root of a program: checks everything below it and returns one document per stack.
import { Construct, type IConstruct } from 'constructs';
import { cached, defined, NAME, madeComment, nameWords, type Comment } from '../../model/index.js';
import type { Given } from '../props.js';
import { entry, isEntry, type Entry } from './classes.js';
import { Stack, nameOf, traceOf, writtenSettings } from './stack.js';

/** First line of every document that a program wrote. */
export const mark = '# Written by a program: change that, not this.';

export class Program extends Construct {
  constructor() {
    super(undefined!, '');
  }

  /**
   * Text of a declaration file by the name of each stack.
   * @param placeOf the place in the program that a trace leads to
   * @throws where `validate()` of any construct has something to say: all of it
   */
  documents(
    placeOf: (trace: readonly string[]) => Comment['at'] = () => undefined,
  ): ReadonlyMap<string, string> {
    const all = this.node.findAll();
    const stacks = all.filter(Stack.isStack);
    const entries = all.filter(isEntry);
    const said = all.flatMap(({ node }) =>
      node.validate().map((text) => (text.startsWith(node.path) ? text : `${node.path}: ${text}`)),
    );
    const wrong = [...said, ...badStacks(stacks), ...collisions(entries)];
    if (wrong.length > 0)
      throw new Error(['the program declares what cannot be:', ...wrong].join('\n  '));
    const made = (key: string, one: IConstruct): string => {
      const at = placeOf(traceOf(one));
      return madeComment(key, { path: one.node.path, ...defined({ at }) });
    };
    return new Map(
      stacks.map((stack) => {
        const inside = entries.filter((one) => Stack.of(one) === stack);
        const origins = [
          ...(stack.settings ? [made('settings', stack)] : []),
          ...inside.map((one) => made(addressOf(one), one)),
        ];
        return [
          nameOfStack(stack),
          `${mark}\n${JSON.stringify(documentOf(stack, inside), undefined, 2)}\n${origins.join('')}`,
        ];
      }),
    );
  }
}

const nameOfStack = ({ node }: Stack): string =>
  node.scopes
    .slice(1)
    .map((scope) => scope.node.id)
    .join('-');

const badStacks = (stacks: readonly Stack[]): readonly string[] =>
  stacks
    .filter((stack) => !NAME.test(nameOfStack(stack)))
    .map(
      (stack) =>
        `${stack.node.path}: \`${nameOfStack(stack)}\` cannot name a stack: it ${nameWords}`,
    );

const addressOf = (one: Entry): string => `${one[entry].section}.${nameOf(one)}`;

/** All documents of a program are one project, in which an address is there once. */
function collisions(entries: readonly Entry[]): readonly string[] {
  const known = new Map<string, Entry>();
  return entries.flatMap((one) => {
    const address = addressOf(one);
    const first = cached(known, address, () => one);
    return first === one
      ? []
      : [
          `${one.node.path}: ${address} is what ${first.node.path} is called already. Rename one of them.`,
        ];
  });
}

function documentOf({ settings }: Stack, entries: readonly Entry[]): Given {
  const sections: Record<string, Record<string, unknown>> = {};
  for (const one of entries) {
    const { section, body } = one[entry];
    const members = (sections[section] ??= {});
    members[nameOf(one)] = body();
  }
  return { ...(settings && { settings: writtenSettings(settings) }), ...sections };
}
