// All inputs of a plan. There are no others, so the same input gives the same plan.
import type { CloudReader, Now, PlanRequest, Project, Provider, State } from '../../model/index.js';
import type { Visibility } from '../visibility.js';
import type { SecretVerdict } from './diff.js';
import type { LiveCollections } from '../live-collections.js';
import type { Selection } from './target-selection.js';

export interface PlanInput extends Pick<Provider, 'kinds' | 'rules'> {
  readonly project: Project;
  readonly state: State | undefined;
  readonly liveObjects: LiveCollections;
  /** What of project and state the request covers. */
  readonly selection: Selection;
  /** By `<address> <path>` of each declared secret. */
  readonly secrets: ReadonlyMap<string, SecretVerdict>;
  readonly compose: CloudReader['compose'];
  readonly request: PlanRequest;
  /** What listings may get wrong of objects that were created or deleted just now. */
  readonly visibility: Visibility;
  /** For limits that hold over 24 hours. */
  readonly now: Now;
}
