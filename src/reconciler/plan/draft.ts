// A plan under construction: the data that its steps share.
import {
  defined,
  type Change,
  type Declaration,
  type Diagnostic,
  type Drift,
  type Entry,
  type Exit,
  type Kind,
  type Live,
  type RemovedBlock,
  type Values,
  type Write,
} from '../../model/index.js';
import type { Graph } from './dependency-graph.js';
import { asApplied, updateOf, type Sending } from './diff.js';
import { baseOf } from './document-diff.js';
import { withoutIdle } from './document-merge.js';
import type { Matcher } from './match.js';
import type { Absent, Fixed } from './plan-errors.js';
import type { PlanInput } from './plan-input.js';
import type { Rename } from './rename-hints.js';
import type { Resolver } from './resolve-references.js';
import type { Selection } from './target-selection.js';

/** An address on its way through planning, as references see it. */
export interface Planned {
  readonly kind: Kind;
  readonly declared: Values;
  readonly live?: Live;
  readonly moves: boolean;
}

export interface Draft {
  readonly input: PlanInput;
  readonly selection: Selection;
  readonly graph: Graph;
  readonly matcher: Matcher;
  readonly planned: Map<string, Planned>;
  /** Everything that is declared, also what this plan does not cover. */
  readonly declared: ReadonlyMap<string, Declaration>;
  /** The `removed` block that forgets the object of an address. */
  readonly forgetting: (address: string) => RemovedBlock | undefined;
  readonly lookups: ReadonlyMap<string, Planned>;
  readonly resolver: Resolver;
  readonly diagnostics: Diagnostic[];
  readonly exits: Exit[];
  /** Declarations of kinds that cannot be created, whose object an address holds that is no longer declared. */
  readonly renamed: Omit<Rename, 'isWhole'>[];
  /** What no update can change, and why the object is not replaced. */
  readonly fixed: Fixed[];
  /** What is not live and cannot be created. */
  readonly absent: Absent[];
  readonly drift: Drift[];
  /** Addresses whose live object is not decided, and what refers to them: nothing of it is planned. By the first of them. */
  readonly undecided: Map<string, string>;
  /** Addresses of recorded objects that no listing shows yet. */
  readonly unseen: Set<string>;
  /** Addresses of recorded objects whose reading may be from before their last update. */
  readonly old: Set<string>;
  /** All of the latter, and of the former, and of recorded objects that are gone so soon, those that have to be waited for. */
  readonly awaited: Set<string>;
  /** Addresses whose object is deleted before another takes its place. */
  readonly vacated: Set<string>;
  /** `<kind> <id>` of objects that stay, or go already: none goes twice. */
  readonly held: Set<string>;
}

export interface FilledDeclaration {
  readonly kind: Kind;
  readonly declaration: Declaration;
  /** Its values, with what references lead to. */
  readonly filled: Values;
}

/** An object as it was last written, where its reading may be from before that: apply waits for a new one. */
export function current(
  { input, old, awaited }: Draft,
  address: string,
  entry: Entry,
  live: Live,
): Live {
  const { applied } = entry;
  const kind = input.kinds.get(entry.kind)!;
  if (!input.visibility.isOld(kind, applied, live)) return live;
  old.add(address);
  awaited.add(address);
  return asApplied(kind, applied, live);
}

/** @param shown the live object as far as a plan may hold it */
export function composedUpdate(
  draft: Draft,
  sending: Sending,
  shown: Live,
): Pick<Extract<Change, { action: 'update' }>, 'write' | 'request'> | undefined {
  const { kind, live } = sending;
  const { project, compose } = draft.input;
  const composed = updateOf({
    ...sending,
    patch: project.settings.configuration_writes === 'patch',
  });
  if (!composed) return undefined;
  const write: Write = { verb: 'update', id: live.id, live: shown, ...composed };
  const base = write.patch ? undefined : baseOf(kind, write.fields, live.values);
  const fields = write.patch ? write.fields : withoutIdle(kind, write.fields, live.values);
  const request = compose(kind, { ...write, fields });
  return { write, request: { ...request, ...defined({ base }) } };
}
