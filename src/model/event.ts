// The events of a run. One stream feeds the progress line, the NDJSON output and the tests.
import type { Diagnostic } from './diagnostic.js';
import type { Action, Outcome } from './plan.js';

export type Event =
  | { readonly type: 'reading'; readonly kind: string; readonly objects: number }
  /** Distinct secrets that are compared with the state one by one. */
  | { readonly type: 'comparing'; readonly done: number; readonly total: number }
  | {
      readonly type: 'start';
      readonly address: string;
      readonly action: Action;
      readonly id?: string;
    }
  /** `late`: the change was told as done before. */
  | { readonly type: 'end'; readonly outcome: Outcome; readonly late?: true }
  | { readonly type: 'waiting'; readonly why: string; readonly milliseconds: number }
  | { readonly type: 'diagnostic'; readonly diagnostic: Diagnostic };

export type Emit = (event: Event) => void;
