// `for_each` and `count`: the members that one declaration stands for.
import { defined } from '../model/index.js';
import type { Piece } from './collect.js';
import { escapeText, literalOf } from './expression.js';
import { substitute, type Scope } from './interpolate.js';
import { ofType } from './stacks/variables.js';
import { found, type Violation } from './validation.js';
import { isMap, type Raw } from './yaml/raw-values.js';

export interface Member {
  readonly key: string;
  readonly value: Raw;
}

const MOST_MEMBERS = 100_000;

/** Undefined after a complaint. @param raw what stands at `for_each`, or at `count` in a stack */
export function expanded(
  raw: Raw,
  piece: Pick<Piece, 'counted' | 'ofStack'>,
  scope: Scope,
  complain: (violation: Violation) => void,
): readonly Member[] | undefined {
  return piece.counted
    ? countedMembers(raw, scope, complain)
    : // A list in a stack is a set of texts, which `toset` makes of anything.
      membersOf(raw, scope, piece.ofStack === true, complain);
}

/** Members "0", "1", …; each one's value is its number. */
function countedMembers(
  raw: Raw,
  scope: Scope,
  complain: (violation: Violation) => void,
): readonly Member[] | undefined {
  let wrong = false;
  const say = (complaint: Violation): void => {
    wrong = true;
    complain(complaint);
  };
  const count = ofType(substitute(raw, undefined, ['count'], scope, say), 'number');
  if (wrong) return undefined;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MOST_MEMBERS)
    return Array.from({ length: count }, (_, index) => ({ key: String(index), value: index }));
  say({
    path: ['count'],
    code: 'bad-count',
    summary: `\`count\` has to be a number from 0 to ${MOST_MEMBERS}`,
    detail: 'Work it out in the program, or use a loop there.',
  });
  return undefined;
}

function membersOf(
  raw: Raw,
  scope: Scope,
  isSet: boolean,
  complain: (violation: Violation) => void,
): readonly Member[] | undefined {
  let wrong = false;
  const say = (summary: string, more: readonly string[] = [], detail?: string): void => {
    wrong = true;
    complain({
      path: ['for_each', ...more],
      code: 'bad-for-each',
      summary,
      ...defined({ detail }),
    });
  };
  const each = substitute(raw, undefined, ['for_each'], scope, (complaint) => {
    wrong = true;
    complain(complaint);
  });
  if (wrong) return undefined;
  if (isMap(each)) return Object.entries(each).map(([key, value]) => ({ key, value }));
  if (!Array.isArray(each)) {
    say(`\`for_each\`: a list of texts or a mapping is expected, not ${found(each)}`);
    return undefined;
  }
  const seen = new Set<string>();
  (each as readonly Raw[]).forEach((one, index) => {
    const item = isSet && (typeof one === 'number' || typeof one === 'boolean') ? String(one) : one;
    const key = typeof item === 'string' ? literalOf(item) : undefined;
    if (typeof item !== 'string')
      say(
        `\`for_each\`: text is expected, not ${found(item)}`,
        [String(index)],
        'Write it in quotes.',
      );
    else if (key === undefined)
      say('`for_each`: a key must be known before anything is read', [String(index)]);
    else if (seen.has(key) && !isSet) say('`for_each`: the same key stands twice', [String(index)]);
    else seen.add(key);
  });
  return wrong ? undefined : [...seen].map((key) => ({ key, value: escapeText(key) }));
}
