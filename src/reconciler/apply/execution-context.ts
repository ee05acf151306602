// What the execution of one change is given.
import type {
  Change,
  CloudWriter,
  Entry,
  Kind,
  OutcomeClass,
  Recheck,
  Request,
  Values,
  Write,
} from '../../model/index.js';
import type { Random } from '../../platform/index.js';
import type { Session } from '../../state/store-port.js';
import type { PlanContext } from '../plan/propose.js';
import type { Resolver } from '../plan/resolve-references.js';
import type { Visibility } from '../recent-writes.js';
import type { Before } from './pre-image.js';

export interface ExecutionContext extends PlanContext {
  readonly cloud: CloudWriter;
  readonly session: Session;
  readonly random: Random;
  readonly signal: AbortSignal;
}

export interface ApplyContext extends ExecutionContext {
  /** Requests under way at once. */
  readonly parallelism: number;
}

/** The run around the execution of one change. */
export interface RunContext {
  readonly resolver: Resolver;
  readonly before: Before;
  readonly entry: (address: string) => Entry | undefined;
  /** Why nothing more may be sent, where that is so. */
  readonly halt: () => string | undefined;
  /** Called right before the request of the change is sent. */
  readonly onSending: () => void;
  /** Called with the outcome class of each response. */
  readonly onResponse: (outcome: OutcomeClass) => void;
  /** True if other changes wait for the change at this address. */
  readonly awaited: (address: string) => boolean;
  /** The readings that a guarded change rests on, made again at the moment of its write. @param fields what is sent */
  readonly recheck?: (change: Change, fields: Values) => Recheck | undefined;
  /** When the reading of an object that the change was planned from began, in milliseconds since the start of the machine. */
  readonly readAt: (kind: string, id: string) => number | undefined;
  readonly isOld?: Visibility['isOld'];
  /** True if an object was created less than the settle time ago: a reading that lacks it proves nothing. */
  readonly isNew?: (kind: string, id: string) => boolean;
  /** True if an object existed before the run, or was created by it. */
  readonly known: (kind: string, id: string) => boolean;
}

/** One request of a change. */
export interface WriteOperation {
  readonly kind: Kind;
  readonly write: Write;
  readonly request: Request;
  readonly runContext: RunContext;
  readonly recheck?: Recheck;
}
