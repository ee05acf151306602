// All inputs of a plan. There are no others, so the same input gives the same plan.
import type { CloudReader, Now, PlanRequest, Project, Provider, State } from '../../model/index.js';
import type { Visibility } from '../recent-writes.js';
import type { SecretVerdict } from './diff.js';
import type { LiveCollections } from '../live-collections.js';
import type { Selection } from './target-selection.js';

export interface PlanInput extends Pick<Provider, 'kinds' | 'rules'> {
  readonly project: Project;
  readonly state: State | undefined;
  readonly liveObjects: LiveCollections;
  /** Kinds that rules asked for and that could not be read; a warning says so. */
  readonly unreadable?: ReadonlySet<string>;
  /** The part of project and state that the request covers. */
  readonly selection: Selection;
  /** By `<address> <path>` of each declared secret. */
  readonly secrets: ReadonlyMap<string, SecretVerdict>;
  readonly compose: CloudReader['compose'];
  readonly request: PlanRequest;
  /** Possible errors of listings about objects that were created or deleted recently. */
  readonly visibility: Visibility;
  /** For limits that hold over 24 hours. */
  readonly now: Now;
}
