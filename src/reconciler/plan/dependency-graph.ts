// The order of declarations: from references, and from the explicit dependencies of a program.
import {
  compareText,
  didYouMeanAddress,
  Reference,
  referencesIn,
  Template,
  type Declaration,
  type Diagnostic,
  type Value,
  isList,
  isTree,
} from '../../model/index.js';
import { formerAddresses } from './match.js';
import { declarationError } from './plan-errors.js';

export type Graph = ReturnType<typeof graph>;

/** Orders declarations by their references, every one behind those it refers to; cycles are reported with their members. `known` tells addresses that a state can resolve. */
export function graph(
  declarations: ReadonlyMap<string, Declaration>,
  known: (address: string) => boolean,
) {
  const diagnostics: Diagnostic[] = [];
  /** Declared addresses each declaration refers to or waits for, sorted. */
  const dependencies = new Map<string, readonly string[]>();
  for (const declaration of declarations.values()) {
    const targets = new Set<string>();
    for (const reference of referencesIn(declaration.values)) {
      if (reference.source === 'lookup') continue;
      if (declarations.has(reference.target)) targets.add(reference.target);
      else if (!known(reference.target))
        diagnostics.push(
          unknownTarget(declaration, reference, declarations, diagnostics.length < SUGGESTED),
        );
    }
    for (const name of declaration.depends_on ?? []) {
      const found = membersOf(name, declarations);
      for (const address of found) if (address !== declaration.address) targets.add(address);
      if (found.length === 0 && !known(name))
        diagnostics.push(nothingToWaitFor(declaration, name, declarations));
    }
    dependencies.set(declaration.address, [...targets].toSorted(compareText));
  }
  const addresses = [...declarations.keys()].toSorted(compareText);
  const order = sortByDependency(addresses, dependencies, declarations, diagnostics);
  return { order, dependencies, diagnostics };
}

/** The declaration of an address, or all members of the `for_each` that it names. */
export function membersOf(
  name: string,
  declarations: ReadonlyMap<string, Declaration>,
): readonly string[] {
  return declarations.has(name)
    ? [name]
    : [...declarations.keys()].filter((address) => address.startsWith(`${name}[`));
}

const nothingToWaitFor = (
  declaration: Declaration,
  name: string,
  declarations: ReadonlyMap<string, Declaration>,
): Diagnostic =>
  declarationError(declaration, {
    code: 'unknown-reference',
    summary: `${declaration.address} depends on ${name}, which is declared nowhere.${didYouMeanAddress(name, others(declarations, declaration).keys())}`,
    detail: 'Declare it, or take it out of `depends_on`.',
    attribute: 'depends_on',
  });

/** What an object may be told to refer to: not itself. */
const others = (
  declarations: ReadonlyMap<string, Declaration>,
  { address }: Declaration,
): ReadonlyMap<string, Declaration> =>
  new Map([...declarations].filter(([one]) => one !== address));

/** The most unknown references that get a suggestion, because a search for the nearest name is slow. */
const SUGGESTED = 20;

function unknownTarget(
  declaration: Declaration,
  reference: Reference,
  declarations: ReadonlyMap<string, Declaration>,
  suggest: boolean,
): Diagnostic {
  const meant: ReadonlyMap<string, Declaration> = suggest
    ? others(declarations, declaration)
    : new Map();
  const members = membersOf(reference.target, meant);
  const successor = [...meant.values()].find((one) =>
    formerAddresses(one).includes(reference.target),
  );
  let detail =
    members.length > 0
      ? `It has members, so name one: \${${members[0]}.${reference.attribute}}.`
      : 'Declare it, add its file to the PATHs, or use a lookup for an object that is not declared in this project.';
  const [, value, source] =
    /\["\$\{\s*((each|param|var|env)\.[\w.-]+)\s*\}"\]$/.exec(reference.target) ?? [];
  if (source === 'each') {
    const whole = reference.target.slice(0, reference.target.indexOf('['));
    detail = `Write the member without quotes: \${${whole}[${value}].${reference.attribute}}.`;
  } else if (source !== undefined)
    detail =
      'Nothing is filled in inside the quotes of a key. Write the key itself, or give the whole reference to a template where it is used.';
  if (successor) detail = `Write \${${successor.address}.${reference.attribute}}.`;
  const why = successor
    ? `was renamed to ${successor.address}.`
    : `is declared nowhere.${didYouMeanAddress(reference.target, meant.keys())}`;
  return declarationError(declaration, {
    code: 'unknown-reference',
    summary: `${declaration.address} refers to ${reference.target}, which ${why}`,
    detail,
    attribute: placeOf(declaration.values, reference),
  });
}

/** Dotted path of the place where a reference stands. */
function placeOf(values: Value, wanted: Reference): string {
  const [step, value] =
    Object.entries<Value>(isList(values) || isTree(values) ? values : {}).find(([, one]) =>
      referencesIn(one).includes(wanted),
    ) ?? [];
  if (step === undefined) return '';
  return value instanceof Reference || value instanceof Template
    ? step
    : `${step}.${placeOf(value ?? null, wanted)}`;
}

/** Depth first, without recursion: a chain of 100,000 references must not end the stack. */
function sortByDependency(
  addresses: readonly string[],
  dependencies: ReadonlyMap<string, readonly string[]>,
  declarations: ReadonlyMap<string, Declaration>,
  diagnostics: Diagnostic[],
): readonly string[] {
  const order: string[] = [];
  const mark = new Map<string, 'open' | 'done'>();
  for (const start of addresses) {
    const stack: { address: string; next: number }[] = mark.has(start)
      ? []
      : [{ address: start, next: 0 }];
    if (stack.length > 0) mark.set(start, 'open');
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const dependency = dependencies.get(top.address)?.[top.next];
      top.next += 1;
      if (dependency === undefined) {
        mark.set(top.address, 'done');
        order.push(top.address);
        stack.pop();
      } else if (mark.get(dependency) === 'open') {
        const members = stack
          .slice(stack.findIndex((frame) => frame.address === dependency))
          .map((frame) => frame.address);
        diagnostics.push(cycle(members, declarations));
      } else if (!mark.has(dependency)) {
        mark.set(dependency, 'open');
        stack.push({ address: dependency, next: 0 });
      }
    }
  }
  return order;
}

const cycle = (
  members: readonly string[],
  declarations: ReadonlyMap<string, Declaration>,
): Diagnostic =>
  declarationError(declarations.get(members[0]!)!, {
    code: 'cycle',
    summary: `These refer to each other in a circle: ${[...members, members[0]].join(' → ')}.`,
    detail: 'Remove one of the references, or write the id of one object as a string.',
  });
