// What can be said of references without reading anything live: those that lead nowhere, and those that go round.
import type { Diagnostic, Kinds, PlanRequest, Project, State } from '../model/index.js';
import { graph } from './resolve.js';
import { select } from './select.js';

const everything: PlanRequest = { targets: [], excludes: [], allow: [], destroy: false };

/** Complaints about references that no plan could follow. `state` answers for what other PATHs declare. */
export function brokenReferences(kinds: Kinds, project: Project, state: State | undefined): readonly Diagnostic[] {
  const { declarations, known } = select(kinds, project, state, everything);
  return graph(declarations, (address) => known.has(address)).diagnostics;
}
