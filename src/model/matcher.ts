// Runs the steps of a pattern over texts: all threads of a match go on together, one character after another. The
// places they are at are a state, and where a kind of character leads from a state is found out once, so that a long
// text costs little more than reading it. What may be found out for one text is bounded.

/** Pairs of first and last code point. */
export type Ranges = readonly (readonly [first: number, last: number])[];

/** `jump` is taken without a character, to every place that it names; the last step is `match`. */
export type Step = { readonly is: 'characters'; readonly ranges: Ranges } | { readonly is: 'start' | 'end' | 'match' } | { readonly is: 'jump'; to: readonly number[] };

interface State {
  readonly matched: boolean;
  /** Steps that wait for a character or for the end, in their order. */
  readonly waiting: readonly number[];
  /** By kind of character, as far as it is known. */
  readonly next: (State | undefined)[];
}

/** Characters of one text for which no state knew where they lead. */
const MOST_NEW = 10_000;
/** States of one pattern that are kept. */
const MOST_KEPT = 1_000;

/** Whether a text holds a match; undefined where that would take too long to find out, as it never does for up to `MOST_NEW` characters. */
export type Matches = (text: string) => boolean | undefined;

export function matcherOf(steps: readonly Step[]): Matches {
  const edges = edgesOf(steps);
  const accepts = acceptance(steps, edges);
  const kept = new Map<string, State>();
  let first: State | undefined;

  function reached(entries: readonly number[], atStart: boolean, atEnd: boolean): State {
    const marks = new Uint8Array(steps.length);
    const reach = (index: number): void => {
      if (marks[index] === 1) return;
      marks[index] = 1;
      const step = steps[index] as Step;
      if (step.is === 'jump') step.to.forEach(reach);
      else if ((step.is === 'start' && atStart) || (step.is === 'end' && atEnd)) reach(index + 1);
    };
    entries.forEach(reach);
    const waiting: number[] = [];
    for (const [index, { is }] of steps.entries()) if (marks[index] === 1 && (is === 'characters' || is === 'end')) waiting.push(index);
    return { matched: marks.at(-1) === 1, waiting, next: [] };
  }

  /** The one state that is like this; what is kept is let go of when it is too much. */
  function shared(state: State): State {
    const key = (state.matched ? '+' : '-') + String.fromCharCode(...state.waiting);
    const known = kept.get(key);
    if (known) return known;
    if (kept.size >= MOST_KEPT) {
      kept.clear();
      first = undefined;
    }
    kept.set(key, state);
    return state;
  }

  return (text) => {
    let found = 0;
    let state = (first ??= shared(reached([0], true, false)));
    for (let offset = 0; offset < text.length && !state.matched;) {
      const code = text.codePointAt(offset) as number;
      offset += code > 0xffff ? 2 : 1;
      const kind = kindOf(edges, code);
      let next = state.next[kind];
      if (next === undefined) {
        found += 1;
        if (found > MOST_NEW) return undefined;
        next = shared(reached([0, ...state.waiting.filter((index) => accepts[index]?.[kind] === 1).map((index) => index + 1)], false, false));
        state.next[kind] = next;
      }
      state = next;
    }
    return (
      state.matched ||
      reached(
        state.waiting.filter((index) => steps[index]?.is === 'end').map((index) => index + 1),
        text === '',
        true,
      ).matched
    );
  };
}

/** First code points of the kinds of characters that no step tells apart, but for the first kind, which begins at 0. */
function edgesOf(steps: readonly Step[]): readonly number[] {
  const all = new Set(steps.flatMap((step) => (step.is === 'characters' ? step.ranges.flatMap(([first, last]) => [first, last + 1]) : [])));
  return [...all].filter((one) => one > 0).toSorted((a, b) => a - b);
}

function kindOf(edges: readonly number[], code: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle] as number) <= code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** For each step, by kind, whether it takes the characters of the kind. */
function acceptance(steps: readonly Step[], edges: readonly number[]): readonly (Uint8Array | undefined)[] {
  const known = new Map<Ranges, Uint8Array>();
  return steps.map((step) => {
    if (step.is !== 'characters') return undefined;
    const { ranges } = step;
    const one = known.get(ranges) ?? Uint8Array.from([0, ...edges], (code) => (ranges.some(([first, last]) => code >= first && code <= last) ? 1 : 0));
    known.set(ranges, one);
    return one;
  });
}
