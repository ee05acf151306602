// Behaviours of deployments that the API reference does not describe or leaves open. Each is defined once, in this table:
// types, defaults, the names on the command line and its help are generated from it.
import { didYouMean, refuse, urlFrom } from '../model/index.js';

interface Behaviour<T> {
  readonly doc: string;
  /** The value in the reference or, if it has none, the strictest. */
  readonly initial: T;
  /** Describes the value after `=` on the command line; absent if there is no value. */
  readonly takes?: string;
  /** Parses the text after `=`; undefined if it is not valid. */
  readonly read: (text: string) => T | undefined;
}

const boolean = (doc: string): Behaviour<boolean> => ({ doc, initial: false, read: () => true });

/** The first choice is the default. */
function choice<const T extends string | number>(
  doc: string,
  ...values: readonly [T, ...T[]]
): Behaviour<T> {
  return {
    doc,
    initial: values[0],
    takes: values.join('|'),
    read: (text) => values.find((value) => String(value) === text),
  };
}

const open = <T>(
  doc: string,
  takes: string,
  initial: T,
  read: (text: string) => T | undefined,
): Behaviour<T> => ({ doc, initial, takes, read });

const originOf = (text: string): string | undefined =>
  /^https?:/.test(text) ? urlFrom(text)?.origin : undefined;
const secondsOf = (text: string): number | undefined =>
  /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
const headerOf = (text: string): string | undefined =>
  /^[A-Za-z][A-Za-z0-9-]*$/.test(text) ? text.toLowerCase() : undefined;

export const dialects = ['reference', 'public'] as const;

const table = {
  dialect: choice('Same as --dialect.', ...dialects),
  escape_html: boolean('Writable string attributes and error messages are HTML-escaped.'),
  offset_timestamps: boolean('Timestamps end in +00:00 instead of Z.'),
  shard_origin: open('URLs in response bodies and in `next` use this origin.', 'URL', '', originOf),
  next_drops_expand: boolean('The URL of the next page omits `expand`.'),
  retry_after: choice('Form of Retry-After in a 429 or 503.', 'seconds', 'date', 'none'),
  swapped_spellings: boolean('Ids that are strings in the reference are numbers, and the reverse.'),
  empty_document_is_null: boolean('An empty document is stored as null.'),
  closed_choices: boolean('Unknown roles and alert types are rejected.'),
  echo_writes: boolean('PATCH and DELETE return the record instead of an empty body.'),
  created_status: choice('Status of a successful POST.', 200, 201),
  ignored_filters: boolean('Listings of the v2 API ignore every filter but ids.'),
  replacing_put: boolean('PUT resets fields missing from the body.'),
  merging_configuration: boolean('PUT of a configuration keeps members missing from the body.'),
  patching_configuration: boolean(
    'Configuration managers accept PATCH, which merges into the configuration.',
  ),
  dangling_references: boolean('A record may be deleted while others still refer to it.'),
  signature_header: open(
    'The header with the signature of a delivery.',
    'NAME',
    'x-signature',
    headerOf,
  ),
  unsigned_deliveries: boolean(
    'Deliveries whose secret is not known are sent without a signature.',
  ),
  token_seconds: open('Lifetime of a token of the IoT platform.', 'SECONDS', 1800, secondsOf),
  bare_cursors: boolean('The `next` of the IoT platform is a cursor instead of a URL.'),
  platform_limits: boolean('The IoT platform limits requests and sends X-RateLimit headers.'),
};

export type Behaviours = { readonly [K in keyof typeof table]: (typeof table)[K]['initial'] };

const entries: readonly (readonly [string, Behaviour<unknown>])[] = Object.entries(table);

/** The strict service of the reference. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the names
export const strict = Object.fromEntries(
  entries.map(([name, { initial }]) => [name, initial]),
) as Behaviours;

const kebab = (name: string): string => name.replaceAll('_', '-');
const spelled = ([name, { takes }]: readonly [string, Behaviour<unknown>]): string =>
  kebab(name) + (takes === undefined ? '' : `=${takes}`);

/** Reads the words of the command line, each `name` or `name=value`. @throws Refusal that names the choices */
export const parseBehaviours = (words: readonly string[]): Partial<Behaviours> =>
  Object.fromEntries(words.map(parsed));

function parsed(word: string): readonly [string, unknown] {
  const complain = (why: string, detail = 'Type: trueup emulator --help'): never =>
    refuse('bad-behaviour', `--behaviour ${JSON.stringify(word)}: ${why}`, { detail });
  const [name = '', ...rest] = word.split('=');
  const entry = entries.find(([known]) => known === name.replaceAll('-', '_'));
  if (!entry) {
    const names = entries.map(([known]) => kebab(known));
    return complain(
      `there is no such behaviour.${didYouMean(name, names)}`,
      `Behaviours: ${names.join(', ')}.`,
    );
  }
  const { takes, read } = entry[1];
  if (takes === undefined && rest.length > 0) return complain(`${kebab(entry[0])} takes no value.`);
  const value = takes !== undefined && rest.length === 0 ? undefined : read(rest.join('='));
  return value === undefined ? complain(`write ${spelled(entry)}.`) : [entry[0], value];
}

const sentence = ({ doc, takes, initial }: Behaviour<unknown>): string =>
  takes === undefined || initial === '' ? doc : `${doc} Default: ${String(initial)}.`;

/** Every behaviour with its sentence, for the help of the command. */
export const behavioursHelp = `\nBehaviours, each as --behaviour NAME or NAME=VALUE:\n${entries.map((entry) => `  ${spelled(entry)}\n      ${sentence(entry[1])}`).join('\n')}`;

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
