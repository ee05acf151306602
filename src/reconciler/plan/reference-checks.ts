// Checks of references without live objects: references to nothing, and cycles.
import {
  WHOLE_PLAN,
  type Diagnostic,
  type Kinds,
  type PlanRequest,
  type Project,
  type State,
} from '../../model/index.js';
import { graph } from './dependency-graph.js';
import { select } from './target-selection.js';

/** Complaints about references that no plan could follow. `state` resolves what other PATHs declare, `mayBeDeclared` for what could not be read. */
export function brokenReferences(
  kinds: Kinds,
  project: Project,
  {
    state,
    request = WHOLE_PLAN,
    mayBeDeclared = () => false,
  }: {
    readonly state?: State;
    readonly request?: PlanRequest;
    readonly mayBeDeclared?: (address: string) => boolean;
  },
): readonly Diagnostic[] {
  const { declarations, known } = select(kinds, project, state, request);
  return graph(declarations, (address) => known.has(address) || mayBeDeclared(address)).diagnostics;
}
