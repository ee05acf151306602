// The impact of a plan on alerts, as text: rules whose notifications change, alerts that would reach nobody, and the
// assumptions behind the numbers.
import {
  canonical,
  firstNamed,
  groupedBy,
  tryAddress,
  type Impact,
  type RuleImpact,
} from '../model/index.js';
import { addressList } from './change-groups.js';
import { prose, shorten } from './escaping.js';
import { aside, flow, section, type Lines } from './layout.js';
import { markdownTable, type Level } from './markdown.js';
import type { Screen } from './style.js';
import { plural } from './words.js';

type Unheard = Impact['unheard'][number];

/** The assumptions behind the numbers, one sentence each. */
export function impactBasis(impact: Impact): readonly string[] {
  const { since, until, alerts, through_sub_accounts: above, unjudged } = impact;
  const { groups, routers } = unjudged;
  return [
    `Judged by ${plural(alerts, 'alert')} from ${since} to ${until}.`,
    above > 0 &&
      `Rules are taken to hear of the accounts below those they name, which the service does not return: ${plural(above, 'alert')} rest on that.`,
    groups > 0 &&
      `Who is in a group cannot be read: for ${plural(groups, 'alert')} of routers it is not known whether rules for groups would send them.`,
    routers > 0 &&
      `The account of ${plural(routers, 'alert')} is not known, and so not which rules would send them.`,
  ].filter((sentence) => sentence !== false);
}

/** The rules that would send more, less or elsewhere, and those that nobody can judge. */
export function movedRules({ rules }: Impact): readonly RuleImpact[] {
  return rules.filter(
    ({ before, after, unjudged, destinations }) =>
      before !== after ||
      unjudged.before + unjudged.after > 0 ||
      destinations.before.join('\n') !== destinations.after.join('\n'),
  );
}

/** Rules that are read at once, with the sums of what they would send. */
interface RuleGroup extends RuleImpact {
  readonly count: number;
}

/** Fewer rules are shown one by one. */
const LEAST_RULES = 3;

/** Those that send more, less or as much as before, to the same destinations. @param verbose each by itself */
export function movedGroups(impact: Impact, verbose = false): readonly RuleGroup[] {
  const moved = movedRules(impact);
  const alike = ({ rule, before, after, unjudged, destinations, noisy }: RuleImpact): string => {
    const { kind = null } = tryAddress(rule) ?? {};
    const isOpen = unjudged.before + unjudged.after > 0;
    const trend = Math.sign(after - before);
    return canonical([kind, trend, isOpen, noisy, destinations.before, destinations.after]);
  };
  const groups = groupedBy(moved, verbose ? () => undefined : alike);
  return groups.flatMap((rules) =>
    rules.length < LEAST_RULES ? rules.map((one) => ({ ...one, count: 1 })) : [summed(rules)],
  );
}

function summed(rules: readonly RuleImpact[]): RuleGroup {
  const sum = (count: (rule: RuleImpact) => number): number =>
    rules.reduce((total, one) => total + count(one), 0);
  const kind = tryAddress(rules[0]!.rule)?.kind;
  const rule =
    kind === undefined
      ? firstNamed(
          rules.map((one) => one.rule),
          LEAST_RULES,
        )
      : addressList(
          rules.map((one) => ({ address: one.rule, kind })),
          false,
        );
  return {
    ...rules[0]!,
    rule,
    count: rules.length,
    before: sum(({ before }) => before),
    after: sum(({ after }) => after),
    unjudged: {
      before: sum(({ unjudged }) => unjudged.before),
      after: sum(({ unjudged }) => unjudged.after),
    },
  };
}

/** The number of others; undefined for zero. */
export function unmovedSentence(impact: Impact): string | undefined {
  const others = impact.rules.length - movedRules(impact).length;
  if (others === 0) return undefined;
  return others === impact.rules.length
    ? `Every rule would send as before: ${others}.`
    : `${plural(others, 'other rule')} would send as before.`;
}

/** The notifications that a rule, or all of a group, would have sent; `noisy` as a word if there is no colour. */
export function sentSentence(rule: RuleImpact | RuleGroup): string {
  const { before, after, noisy, unjudged } = rule;
  const together = 'count' in rule && rule.count > 1 ? ' by all of them' : '';
  const open =
    unjudged.before + unjudged.after > 0
      ? `; not judged: ${plural(unjudged.before, 'alert')} before, ${unjudged.after} after`
      : '';
  return `${plural(before, 'notification')} before, ${after} after${together}${noisy ? ', MUCH MORE' : ''}${open}`;
}

export const unheardSentence = ({ alerts, before, after }: Unheard): string =>
  `${after} of ${plural(alerts, 'alert')}, ${before} before`;

/** A type that an alert did not tell still has to be called something. */
export const typeWord = ({ type }: Unheard): string => (type === '' ? '(no type)' : type);

export function* impactLines(impact: Impact | undefined, screen: Screen): Lines {
  if (impact) yield* section('What it means for alerts', impactText(impact, screen), screen);
}

function* impactText(impact: Impact, screen: Screen): Lines {
  const noted = (isNoted: boolean) => isNoted && { paint: screen.yellow };
  for (const rule of movedGroups(impact, screen.verbose)) {
    const { before, after } = rule.destinations;
    const said = `${rule.rule}: ${sentSentence(rule)}`;
    yield* flow(said, screen, { lead: '  ', hang: 4, ...noted(rule.noisy) });
    if (after.length > 0) yield* aside(`to ${after.join(', ')}`, screen, 4);
    const lost = before.filter((one) => !after.includes(one));
    if (lost.length > 0) yield* aside(`no longer to ${lost.join(', ')}`, screen, 4);
  }
  const others = unmovedSentence(impact);
  if (others !== undefined) yield* flow(others, screen, { lead: '  ' });
  if (impact.unheard.length > 0) yield '  Nobody would hear of';
  for (const one of impact.unheard) {
    const said = `${typeWord(one)}: ${unheardSentence(one)}`;
    yield* flow(said, screen, { lead: '    ', hang: 6, ...noted(one.after > one.before) });
  }
  for (const sentence of impactBasis(impact)) yield* aside(sentence, screen, 2);
}

export function* impactItems(
  impact: Impact | undefined,
  level: Level,
  verbose: boolean | undefined,
): Lines {
  if (!impact) return;
  const codes = (names: readonly string[]): string => names.map(level.code).join(' ');
  const moved = movedGroups(impact, verbose);
  const others = unmovedSentence(impact);
  yield* ['**What it means for alerts**', ''];
  const titles = ['Rule', 'Would have sent', 'To, before', 'To, after'];
  if (moved.length > 0)
    yield* markdownTable(titles, moved, level, (rule) => [
      level.code(rule.rule),
      sentSentence(rule).replace('MUCH MORE', '**MUCH MORE**'),
      codes(rule.destinations.before),
      codes(rule.destinations.after),
    ]);
  if (others !== undefined) yield* [others, ''];
  if (impact.unheard.length > 0)
    yield* markdownTable(['Nobody would hear of', 'Alerts'], impact.unheard, level, (one) => [
      level.code(typeWord(one)),
      unheardSentence(one),
    ]);
  const basis = impactBasis(impact).map((sentence) => prose(shorten(sentence, level.length * 4)));
  yield* [basis.join(' '), ''];
}

/** In one line. */
export function impactSentence(impact: Impact): string {
  const lost =
    impact.unheard.length === 0
      ? ''
      : `; nobody would hear of all of ${plural(impact.unheard.length, 'alert type')}`;
  return `${plural(movedRules(impact).length, 'rule')} would send otherwise than before, judged by ${plural(impact.alerts, 'alert')}${lost}`;
}
