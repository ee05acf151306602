// Results of expectations, for a terminal, a comment and a stream of events. Met expectations are only counted.
import type { Verified } from '../model/index.js';
import { code } from './escaping.js';
import { aside, flow, type Lines } from './layout.js';
import { foldedDetails, some, markdownTable, type Level } from './markdown.js';
import type { Screen } from './style.js';
import { countsOf, expectationSentence, place } from './words.js';

const verdicts = ['failed', 'unknown', 'met'] as const;

const addressOf = ({ name }: Verified): string => `expectations.${name}`;

/** As in `Expectations: 1 failed, 2 met`. */
const heading = (expectations: readonly Verified[]): string =>
  `Expectations: ${countsOf(expectations, ({ verdict }) => verdict, verdicts).join(', ')}`;

const unmet = (expectations: readonly Verified[]): readonly Verified[] =>
  (['failed', 'unknown'] as const).flatMap((wanted) =>
    expectations.filter(({ verdict }) => verdict === wanted),
  );

/** How many offenders no line names. */
const unnamed = ({ failed, offenders }: Verified): number => failed - offenders.length;

export function* expectationLines(expectations: readonly Verified[], screen: Screen): Lines {
  if (expectations.length === 0) return;
  yield screen.bold(heading(expectations));
  for (const verified of unmet(expectations)) {
    const { verdict, collection, origin, offenders } = verified;
    const [lead, paintLead] =
      verdict === 'failed' ? ['  ! failed ', screen.red] : ['  ? unknown ', screen.yellow];
    const said = `${addressOf(verified)}: ${expectationSentence(verified)}`;
    yield* flow(said, screen, { lead, hang: 4, paint: screen.bold, paintLead });
    yield* aside(`${collection} · ${place(origin)}`, screen, 4);
    for (const { id, why } of offenders) yield* flow(`${id}: ${why}`, screen, { lead: '    - ' });
    if (unnamed(verified) > 0) yield screen.dim(`    … and ${unnamed(verified)} more`);
  }
  yield '';
}

export function* expectationItems(expectations: readonly Verified[], level: Level): Lines {
  if (expectations.length === 0) return;
  const all = unmet(expectations);
  yield* [`**${heading(expectations)}**`, ''];
  if (all.length === 0) return;
  const titles = ['Verdict', 'Expectation', 'Of', 'What', 'Declared'];
  yield* markdownTable(titles, all, level, (verified) => [
    verified.verdict === 'failed' ? '**failed**' : verified.verdict,
    level.code(addressOf(verified)),
    code(verified.collection),
    level.prose(expectationSentence(verified)),
    level.code(place(verified.origin)),
  ]);
  const named = all.filter(({ offenders }) => offenders.length > 0);
  yield* foldedDetails('Records that are not as expected', named, level, (verified) =>
    offenderItems(verified, level),
  );
}

function* offenderItems(verified: Verified, level: Level): Lines {
  yield* ['', level.code(addressOf(verified)), ''];
  yield* some(verified.offenders, level, ({ id, why }) => [
    `- ${level.code(id)} ${level.prose(why)}`,
  ]);
  if (unnamed(verified) > 0) yield* ['', `… and ${unnamed(verified)} more`];
}

const eventLevels = { met: 'info', failed: 'warn', unknown: 'error' } as const;

/** Level, message and content of the event of an expectation. */
export const expectationEvent = (expectation: Verified) =>
  [
    eventLevels[expectation.verdict],
    'expectation',
    `${addressOf(expectation)}: ${expectation.verdict}; ${expectationSentence(expectation)}`,
    { expectation },
  ] as const;
