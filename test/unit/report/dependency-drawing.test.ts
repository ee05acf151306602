// Drawings are read again by a grammar of what may stand in them: a name can add neither a node nor an arrow, and is
// found again in its label.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawing, nodesOfPlan, type DrawnNode } from '../../../src/report/dependency-drawing.js';
import { shorten, visible } from '../../../src/report/escaping.js';
import { graphFormats, type GraphFormat } from '../../../src/report/formats.js';
import { planDocument } from '../../../src/report/index.js';
import { kinds } from '../../../src/resources/index.js';
import { drawn } from '../../support/drawn.js';
import { arbitraryPlan, hostile } from './arbitrary.js';
import { meta } from './plans.js';

const actions = ['create', 'update', 'replace', 'delete', 'adopt', 'forget', 'keep'] as const;

interface Read {
  readonly labels: readonly string[];
  readonly arrows: readonly string[];
}

const grammar: Readonly<
  Record<GraphFormat, { node: RegExp; arrow: RegExp; other: RegExp; entity: RegExp }>
> = {
  mermaid: {
    node: /^ {2}(n\d+)\["([^"]*)"\]$/,
    arrow: /^ {2}(n\d+) --> (n\d+)$/,
    other:
      /^(flowchart LR| {2}classDef [a-z]+ fill:#[0-9a-f]{6},stroke:#555,color:#111| {2}class n\d+(,n\d+)* [a-z]+)$/,
    entity: /#(\d+);/g,
  },
  dot: {
    node: /^ {2}(n\d+) \[label="([^"\\]*)"(?:, fillcolor="#[0-9a-f]{6}")?\];$/,
    arrow: /^ {2}(n\d+) -> (n\d+);$/,
    other: /^(digraph trueup \{| {2}rankdir=LR;| {2}node \[[^\]]*\];|\})$/,
    entity: /&#(\d+);/g,
  },
};

function read(text: string, format: GraphFormat): Read {
  const { node, arrow, other, entity } = grammar[format];
  const labels = new Map<string, string>();
  const arrows: string[] = [];
  const others: string[] = [];
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.slice(0, -1).split('\n')) {
    const [, id, label] = node.exec(line) ?? [];
    const [, from, to] = arrow.exec(line) ?? [];
    if (id !== undefined)
      labels.set(
        id,
        label!.replace(entity, (_, code: string) => String.fromCodePoint(Number(code))),
      );
    else if (from !== undefined) arrows.push(`${labels.get(from)} > ${labels.get(to!)}`);
    else others.push(line);
  }
  expect(others.filter((line) => !other.test(line))).toEqual([]);
  return { labels: [...labels.values()], arrows };
}

const shown = (name: string): string => shorten(visible(name), 200);

const name = fc.oneof(
  fc.constantFrom(...hostile),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('a"] --> n0', 'n0", fillcolor="red', '#34;', '&quot;', '\\', '`x`', 'end', '<b>'),
);
const nodes: fc.Arbitrary<readonly DrawnNode[]> = fc
  .uniqueArray(name, { minLength: 1, maxLength: 8, selector: shown })
  .chain((names) =>
    fc.tuple(
      ...names.map((one) =>
        fc.record(
          {
            name: fc.constant(one),
            depends_on: fc.subarray(names),
            action: fc.constantFrom(...actions),
          },
          { requiredKeys: ['name', 'depends_on'] },
        ),
      ),
    ),
  );

describe.each(graphFormats)('as %s', (format) => {
  test('holds each node and each arrow once, whatever the names are', () =>
    fc.assert(
      fc.property(nodes, (all) => {
        const { labels, arrows } = read(drawing(all, format), format);
        const labelOf = (wanted: string): string => {
          const action = all.find((one) => one.name === wanted)?.action;
          return `${action === undefined ? '' : `${action} `}${shown(wanted)}`;
        };
        expect(labels.toSorted()).toEqual(all.map((one) => labelOf(one.name)).toSorted());
        expect(arrows.toSorted()).toEqual(
          all
            .flatMap((one) => one.depends_on.map((to) => `${labelOf(one.name)} > ${labelOf(to)}`))
            .toSorted(),
        );
      }),
      { numRuns: drawn(500) },
    ));

  test('is the same in whatever order the nodes come', () =>
    fc.assert(
      fc.property(
        nodes.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length })),
        ),
        ([all, shuffled]) => {
          expect(drawing(shuffled, format)).toBe(drawing(all, format));
        },
      ),
      { numRuns: drawn(200) },
    ));

  test('of any plan follows the grammar', () =>
    fc.assert(
      fc.property(arbitraryPlan, (plan) => {
        const document = planDocument({ plan, kinds, meta });
        read(drawing(nodesOfPlan(document), format), format);
      }),
      { numRuns: drawn(200) },
    ));
});

test('marks what a plan does, and draws what only an arrow leads to', () => {
  const all: readonly DrawnNode[] = [
    {
      name: 'alert_rules.wan["a"]',
      depends_on: ['accounts.hq', 'accounts.other'],
      action: 'update',
    },
    { name: 'accounts.hq', depends_on: [], action: 'create' },
  ];
  expect(drawing(all, 'mermaid')).toBe(`flowchart LR
  n0["create accounts.hq"]
  n1["accounts.other"]
  n2["update alert_rules.wan#91;#34;a#34;#93;"]
  n2 --> n0
  n2 --> n1
  classDef create fill:#d3f5d9,stroke:#555,color:#111
  class n0 create
  classDef update fill:#fff0c2,stroke:#555,color:#111
  class n2 update
`);
  expect(drawing(all, 'dot')).toBe(`digraph trueup {
  rankdir=LR;
  node [shape=box, style=filled, fillcolor="#ffffff", fontname="sans-serif"];
  n0 [label="create accounts.hq", fillcolor="#d3f5d9"];
  n1 [label="accounts.other"];
  n2 [label="update alert_rules.wan&#91;&#34;a&#34;&#93;", fillcolor="#fff0c2"];
  n2 -> n0;
  n2 -> n1;
}
`);
});
