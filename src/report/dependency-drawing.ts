// Drawings of dependencies, as Mermaid and as DOT. An arrow leads from an object to what it refers to or waits for. Nodes
// have numbers, and names stand in labels alone, where every character that could mean something is a numeric entity.
import { compareText, keyOf, type PlanDocument } from '../model/index.js';
import { shorten, visible } from './escaping.js';
import type { GraphFormat } from './formats.js';
import { actionOf, type SummaryKey } from './words.js';

export interface DrawnNode {
  readonly name: string;
  /** Names of other nodes. One that there is no node for is drawn as well. */
  readonly depends_on: readonly string[];
  /** What a plan does with the object. */
  readonly action?: SummaryKey;
}

const fills: Readonly<Record<SummaryKey, string>> = {
  create: '#d3f5d9',
  update: '#fff0c2',
  replace: '#ffdcb8',
  delete: '#ffd6d6',
  adopt: '#d6e8ff',
  forget: '#e6e6e6',
  keep: '#ffffff',
};

/** Characters of a label. */
const LONGEST = 200;

/** The changes of a plan; an object that another takes the place of is a node of its own. */
export const nodesOfPlan = ({ resource_changes }: PlanDocument): readonly DrawnNode[] =>
  resource_changes.map((one) => ({
    name:
      one.deposed === undefined ? one.address : keyOf({ ...one, id: one.deposed, deposed: true }),
    depends_on: one.depends_on,
    action: actionOf(one),
  }));

/** Ends with a line feed. The order of the nodes given makes no difference. */
export const drawing = (nodes: readonly DrawnNode[], format: GraphFormat): string =>
  [...(format === 'dot' ? dot : mermaid)(numbered(nodes)), ''].join('\n');

interface Numbered extends Pick<DrawnNode, 'name' | 'action'> {
  readonly id: string;
  /** Ids, in the order of names. */
  readonly targets: readonly string[];
}

function numbered(nodes: readonly DrawnNode[]): readonly Numbered[] {
  const known = new Map(nodes.map((one) => [one.name, one]));
  const names = [...new Set(nodes.flatMap(({ name, depends_on }) => [name, ...depends_on]))];
  const ids = new Map(names.toSorted(compareText).map((name, index) => [name, `n${index}`]));
  return [...ids].map(([name, id]) => {
    const { depends_on = [], ...node } = known.get(name) ?? { name };
    const targets = [...new Set(depends_on)].toSorted(compareText);
    return { ...node, id, targets: targets.map((target) => ids.get(target)!) };
  });
}

function* mermaid(nodes: readonly Numbered[]): Generator<string> {
  yield 'flowchart LR';
  for (const { id, ...node } of nodes) yield `  ${id}["${label(node, '#')}"]`;
  for (const { id, targets } of nodes) for (const target of targets) yield `  ${id} --> ${target}`;
  for (const [action, fill] of Object.entries(fills)) {
    const members = nodes.filter((one) => one.action === action).map(({ id }) => id);
    if (members.length === 0) continue;
    yield `  classDef ${action} fill:${fill},stroke:#555,color:#111`;
    yield `  class ${members.join(',')} ${action}`;
  }
}

function* dot(nodes: readonly Numbered[]): Generator<string> {
  yield 'digraph trueup {';
  yield '  rankdir=LR;';
  yield '  node [shape=box, style=filled, fillcolor="#ffffff", fontname="sans-serif"];';
  for (const { id, ...node } of nodes) {
    const fill = node.action === undefined ? '' : `, fillcolor="${fills[node.action]}"`;
    yield `  ${id} [label="${label(node, '&#')}"${fill}];`;
  }
  for (const { id, targets } of nodes) for (const target of targets) yield `  ${id} -> ${target};`;
  yield '}';
}

/** @param entity what begins a numeric entity in the syntax */
function label({ name, action }: Pick<DrawnNode, 'name' | 'action'>, entity: string): string {
  const escaped = shorten(visible(name), LONGEST).replace(
    /[^\p{L}\p{N} ._-]/gu,
    (found) => `${entity}${found.codePointAt(0)};`,
  );
  return action === undefined ? escaped : `${action} ${escaped}`;
}
