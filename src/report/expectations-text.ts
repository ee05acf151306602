// What became of expectations, for a terminal, a comment and a stream of events. Those that are met are counted.
import type { Verified } from '../model/index.js';
import { code, prose, shorten } from './escaping.js';
import { flow, type Lines } from './layout.js';
import { folded, some, markdownTable, type Level } from './markdown.js';
import type { Palette } from './style.js';
import { expectationSentence, place } from './words.js';

const verdicts = ['failed', 'unknown', 'met'] as const;

const addressOf = ({ name }: Verified): string => `expectations.${name}`;

/** As in `Expectations: 1 failed, 2 met`. */
function heading(expectations: readonly Verified[]): string {
  const counts = verdicts
    .map(
      (verdict) => [expectations.filter((one) => one.verdict === verdict).length, verdict] as const,
    )
    .filter(([count]) => count > 0);
  return `Expectations: ${counts.map(([count, verdict]) => `${count} ${verdict}`).join(', ')}`;
}

const unmet = (expectations: readonly Verified[]): readonly Verified[] =>
  verdicts.flatMap((verdict) =>
    verdict === 'met' ? [] : expectations.filter((one) => one.verdict === verdict),
  );

/** How many offenders no line names. */
const unnamed = ({ failed, offenders }: Verified): number => failed - offenders.length;

export function* expectationLines(
  expectations: readonly Verified[],
  color: Palette,
  width: number,
): Lines {
  if (expectations.length === 0) return;
  yield color.bold(heading(expectations));
  for (const verified of unmet(expectations)) {
    const { verdict, collection, origin, offenders } = verified;
    const failed = verdict === 'failed';
    yield* flow(`${addressOf(verified)}: ${expectationSentence(verified)}`, {
      width,
      lead: failed ? '  ! failed ' : '  ? unknown ',
      hang: 4,
      paint: color.bold,
      paintLead: failed ? color.red : color.yellow,
    });
    yield* flow(`${collection} · ${place(origin)}`, { width, lead: '    ', paint: color.dim });
    for (const { id, why } of offenders) yield* flow(`${id}: ${why}`, { width, lead: '    - ' });
    if (unnamed(verified) > 0) yield color.dim(`    … and ${unnamed(verified)} more`);
  }
  yield '';
}

export function* expectationItems(expectations: readonly Verified[], level: Level): Lines {
  if (expectations.length === 0) return;
  const all = unmet(expectations);
  yield* [`**${heading(expectations)}**`, ''];
  if (all.length === 0) return;
  yield* markdownTable(
    ['Verdict', 'Expectation', 'Of', 'What', 'Declared'],
    all,
    level,
    (verified) => [
      verified.verdict === 'failed' ? '**failed**' : verified.verdict,
      code(shorten(addressOf(verified), level.length)),
      code(verified.collection),
      prose(shorten(expectationSentence(verified), level.length)),
      code(shorten(place(verified.origin), level.length)),
    ],
  );
  const named = all.filter(({ offenders }) => offenders.length > 0);
  if (level.details && named.length > 0)
    yield* folded(
      'Records that are not as expected',
      named.flatMap((verified) => [...offenderItems(verified, level)]),
    );
}

function* offenderItems(verified: Verified, level: Level): Lines {
  yield* ['', code(shorten(addressOf(verified), level.length)), ''];
  yield* some(verified.offenders, level, ({ id, why }) => [
    `- ${code(shorten(id, level.length))} ${prose(shorten(why, level.length))}`,
  ]);
  if (unnamed(verified) > 0) yield* ['', `… and ${unnamed(verified)} more`];
}

const eventLevels = { met: 'info', failed: 'warn', unknown: 'error' } as const;

/** Level, message and content of the event of an expectation. */
export function expectationEvent(
  verified: Verified,
): readonly ['info' | 'warn' | 'error', 'expectation', string, { readonly expectation: Verified }] {
  return [
    eventLevels[verified.verdict],
    'expectation',
    `${addressOf(verified)}: ${verified.verdict}; ${expectationSentence(verified)}`,
    { expectation: verified },
  ];
}
