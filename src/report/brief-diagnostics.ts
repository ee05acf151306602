// Shortens long lists of warnings, notes and blocking verdicts: many of one code say the same. Imports nothing that takes time to load.
import {
  append,
  defined,
  equal,
  firstNamed,
  flagToAllow,
  groupedBy,
  tryAddress,
  type Diagnostic,
  type Origin,
  type PlanDocument,
  type Verdict,
} from '../model/index.js';
import { COMMAND } from './escaping.js';

/** How many of those that say the same are shown. */
const MOST_SHOWN = 3;
/** How many of the others are named. */
const MOST_NAMED = 5;

/** Every error; of the other codes the first few, and how many more there are. What holds for several objects of one place is one, and names a few of them. @param all the flag or the command that shows all of them; empty where none does */
export const briefly = (
  diagnostics: readonly Diagnostic[],
  all = '--verbose',
): readonly Diagnostic[] =>
  shortened(
    onceForPlaces(diagnostics).map(fewNamed),
    ({ severity, code }) => (severity === 'error' ? undefined : code),
    (more) => ({
      summary: `and ${more.length} more like this`,
      ...defined({ detail: toSee(all) }),
    }),
  );

/** With the first few of the addresses, where lines of the detail are addresses. */
function fewNamed(one: Diagnostic): Diagnostic {
  const lines = one.detail?.split('\n') ?? [];
  const addresses = lines.filter((line) => tryAddress(line));
  const others = lines.filter((line) => !tryAddress(line));
  return addresses.length > 1
    ? { ...one, detail: [firstNamed(addresses, MOST_SHOWN), ...others].join('\n') }
    : one;
}

/** As `briefly` and `errorsBriefly`. */
export const allBriefly = (
  diagnostics: readonly Diagnostic[],
  all = '--verbose',
): readonly Diagnostic[] => errorsBriefly(briefly(diagnostics, all), all);

const toSee = (all: string): string | undefined => (all === '' ? undefined : `All of them: ${all}`);

/** With one of the warnings and notes that are the same for several objects of a template or a `for_each`, and how many objects that are. */
const onceForPlaces = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  groupedBy(diagnostics, ({ severity, code, summary, detail, origin }) =>
    severity !== 'error' && origin
      ? JSON.stringify([code, placeOf(origin), summary, detail])
      : undefined,
  ).map(([one, ...more]) => {
    if (more.length === 0) return one!;
    const count = `This applies to ${more.length + 1} objects declared here.`;
    const { detail } = one!;
    return {
      ...one!,
      ...defined({ origin: commonOrigin([one!, ...more]) }),
      detail: detail === undefined ? count : `${detail}\n${count}`,
    };
  });

/** Of the errors that say the same at one place, of a template, a `use` or a `for_each`, or of several objects, the first few, and how many more there are. @param all as for `briefly` */
export function errorsBriefly(
  diagnostics: readonly Diagnostic[],
  all = '--verbose',
): readonly Diagnostic[] {
  const ofObjects = new Set(
    groupedBy(diagnostics, topicOfObject).flatMap((alike) => (isOfMany(alike) ? alike : [])),
  );
  const topicOf = (one: Diagnostic): string | undefined =>
    ofObjects.has(one) ? topicOfObject(one) : topicAtPlace(one);
  return shortened(
    diagnostics,
    (one) => (one.severity === 'error' ? topicOf(one) : undefined),
    (more) => {
      // What is the same for all of them stands in those that are shown.
      const isShared = more.every((one) => ofObjects.has(one));
      const subjects = more.flatMap((one) => (isShared ? namesIn(one)[0]! : subjectOf(one)));
      const names = [...new Set(subjects)];
      const named = names.length > 0 ? `: ${firstNamed(names, MOST_NAMED)}` : '';
      const origin = commonOrigin(more);
      return {
        summary: `and ${more.length} more like this${origin ? ' at the same place' : ''}${named}`,
        ...defined({ detail: toSee(all), origin }),
      };
    },
  );
}

/** Constructs of a program have a path, which is a place of its own. */
const placeOf = (origin: Origin): string => JSON.stringify([lineOf(origin), origin.path]);

const lineOf = ({ file, line, column }: Origin): string => JSON.stringify([file, line, column]);

/** The place of all of them, with the use of the template if that is the same; undefined if they have several. */
function commonOrigin([one, ...others]: readonly Diagnostic[]): Origin | undefined {
  if (!one?.origin) return undefined;
  const { used_at, ...place } = one.origin;
  const here = placeOf(place);
  if (others.some(({ origin }) => !origin || placeOf(origin) !== here)) return undefined;
  return others.every(({ origin }) => equal(origin?.used_at, used_at)) ? one.origin : place;
}

/** The name with which an error in the parameters of a use begins. */
const OF_USE = /^`(use\.[\w-]+(?:\["(?:[^"\\]|\\.)*"\])?)`: /;
/** What differs between objects of one place: strings in quotes, numbers and addresses. What stands in backticks is what the template names. */
const DIFFERENT =
  /"(?:[^"\\]|\\.)*"|(?<![\w.`/-])(?:[\w.-]*\/)*[\w.-]+\.(?:ya?ml|json)(?![\w-]|\.\w)|(?<![\w.`-])(?:\d+(?![\w-]|\.\w)|(?<!\/)[a-z]\w*\.[A-Za-z][\w-]*(?:\["(?:[^"\\]|\\.)*"\])?)/g;
/** A file, whose name may look like an address. */
const FILE = /\.(?:ya?ml|json)$/;
/** Longer texts are not compared: that would take long, and a person does not read them. */
const MOST_COMPARED = 4000;

/** Equal for what is alike at one place, commands to type included; undefined without a place. */
function topicAtPlace({ code, summary, detail, origin }: Diagnostic): string | undefined {
  if (!origin || summary.length > MOST_COMPARED) return undefined;
  const said = summary.replace(OF_USE, '').replaceAll(DIFFERENT, '…');
  return JSON.stringify([code, placeOf(origin), said, detail?.match(COMMAND)]);
}

/** Equal for errors that say the same of different objects, and of the same other ones, wherever they stand. Undefined for one that is about no object. */
function topicOfObject(one: Diagnostic): string | undefined {
  const { code, summary, detail = '' } = one;
  if (summary.length + detail.length > MOST_COMPARED) return undefined;
  const [own] = namesIn(one);
  if (own === undefined) return undefined;
  // The other name may begin with this one.
  const without = summary.replaceAll(own, (name, offset: number) =>
    /[\w[-]/.test(summary.charAt(offset + name.length)) ? name : '…',
  );
  return JSON.stringify([code, without, detail.replaceAll(DIFFERENT, '…'), detail.match(COMMAND)]);
}

/** Whether errors are about several objects, and either name another one, which is to be corrected, or have a place each. */
function isOfMany(errors: readonly Diagnostic[]): boolean {
  const all = errors.map(namesIn);
  if (new Set(all.map(([own]) => own)).size <= MOST_SHOWN) return false;
  const places = errors.flatMap(({ origin }) => (origin ? placeOf(origin) : []));
  return all[0]!.length > 1 || new Set(places).size === errors.length;
}

/** An expression as it is written: what it names is no object. */
const EXPRESSION = /\$\{(?:"(?:[^"\\]|\\.)*"|[^"}])*\}/g;

/** The use or the object that an error is about, and the other objects that it names. */
function namesIn({ summary, address }: Diagnostic): readonly string[] {
  const named =
    summary
      .replaceAll(EXPRESSION, '')
      .match(DIFFERENT)
      ?.filter((one) => FILE.test(one) || tryAddress(one)) ?? [];
  return [...new Set([OF_USE.exec(summary)?.[1] ?? address ?? [], ...named].flat())];
}

/** What an error is about, and in parentheses the other objects that it names. */
function subjectOf(one: Diagnostic): readonly string[] {
  const [own, ...others] = namesIn(one);
  if (own === undefined) return [];
  return [others.length > 0 ? `${own} (${others.join(', ')})` : own];
}

/** @param topicOf equal for those that say the same; undefined for one that is always shown */
function shortened(
  diagnostics: readonly Diagnostic[],
  topicOf: (one: Diagnostic) => string | undefined,
  rest: (more: readonly Diagnostic[]) => Pick<Diagnostic, 'summary' | 'detail' | 'origin'>,
): readonly Diagnostic[] {
  const withFrame = framesOnce();
  const topics = diagnostics.map(topicOf);
  const alike = new Map<string | undefined, Diagnostic[]>();
  for (const [index, one] of diagnostics.entries()) append(alike, topics[index], one);
  const shown = new Map<string, number>();
  return diagnostics.flatMap((one, index) => {
    const topic = topics[index];
    if (topic === undefined) return [withFrame(one)];
    const at = (shown.get(topic) ?? 0) + 1;
    shown.set(topic, at);
    if (at <= MOST_SHOWN) return [withFrame(one)];
    if (at > MOST_SHOWN + 1) return [];
    const { severity, code } = one;
    return [{ severity, code, ...rest(alike.get(topic)!.slice(MOST_SHOWN)) }];
  });
}

/** Several objects have one place: its lines are shown once. */
function framesOnce(): (one: Diagnostic) => Diagnostic {
  const framed = new Set<string>();
  return (one) => {
    const { frame, ...bare } = one;
    if (frame === undefined || !one.origin) return one;
    const place = lineOf(one.origin);
    if (framed.has(place)) return bare;
    framed.add(place);
    return one;
  };
}

/** The advice for a blocked plan with errors: nothing can be applied before. */
export const CORRECT_FIRST = 'Correct the errors first.';

export interface BlockingRule {
  readonly rule: string;
  /** The first verdicts of the rule. */
  readonly shown: readonly Verdict[];
  /** How many verdicts are not shown. */
  readonly more: number;
  /** What allows it; absent where nothing does, and where errors stand. */
  readonly flag?: string;
}

/** Whether nothing can be applied before something is corrected. */
export const isWrong = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ severity }) => severity === 'error');

/** Blocking verdicts by their rule: the first few of each. @param whole all of them */
export const blockedByRule = (
  { policy, diagnostics }: Pick<PlanDocument, 'policy' | 'diagnostics'>,
  whole: boolean | undefined,
): readonly BlockingRule[] =>
  groupedBy(
    policy.filter(({ verdict }) => verdict === 'blocked'),
    ({ rule }) => rule,
  ).map((verdicts) => {
    const { rule } = verdicts[0]!;
    const shown = whole ? verdicts : verdicts.slice(0, MOST_SHOWN);
    return {
      rule,
      shown,
      more: verdicts.length - shown.length,
      ...defined({ flag: isWrong(diagnostics) ? undefined : flagToAllow(verdicts[0]!) }),
    };
  });
