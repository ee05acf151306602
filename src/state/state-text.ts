// The state as text: canonical JSON that people can review, with a checksum of every byte that follows it, and a
// format version. What does not verify is refused with its place; older formats are upgraded, newer ones refused.
import {
  canonical,
  compareText,
  equal,
  isObject,
  refuse,
  sha256,
  type Entry,
  type Fingerprint,
  type Json,
  type Moment,
  type Recent,
  type SaltedFingerprint,
  type Spent,
  type State,
  type Together,
} from '../model/index.js';
import { parseJsonText, jsonPositionOf, type JsonPosition } from './json-text.js';
import {
  address,
  anyObject,
  filled,
  isFlag,
  formatPath,
  listOf,
  mapOf,
  members,
  oneOf,
  isText,
  time,
  isWhole,
  type Flaw,
  type ShapeCheck,
} from './shape-check.js';
import { damaged } from './disk-errors.js';

type Loose = Readonly<Record<string, unknown>>;

/** The newest format, and for each older one the step to the next. */
export interface Formats {
  readonly current: number;
  readonly upgrades: Readonly<Record<number, (older: Loose) => Loose>>;
}

/** Format 1 held salted fingerprints alone, which format 2 still reads, and what the service said of failed deliveries. */
export const stateFormats: Formats = { current: 2, upgrades: { 1: withoutFreeText } };

function withoutFreeText(older: Loose): Loose {
  const { resources } = older;
  if (!isObject(resources)) return older;
  const cleared = (entry: unknown): unknown => {
    if (!isObject(entry) || !isObject(entry['observed'])) return entry;
    const { last_error_text: _, ...observed } = entry['observed'];
    return { ...entry, observed };
  };
  return {
    ...older,
    resources: Object.fromEntries(
      Object.entries(resources).map(([address, entry]) => [address, cleared(entry)]),
    ),
  };
}

// Bounded, so that a made-up state cannot ask for gigabytes of scrypt.
const cost = isWhole(1, 17);
const salted = members<SaltedFingerprint>({
  algorithm: oneOf('scrypt'),
  cost,
  block: isWhole(1, 8),
  parallel: isWhole(1, 4),
  salt: filled,
  hash: filled,
  keyed: isFlag,
});
const current = members<Fingerprint>({ of: filled, hash: filled, 'cost?': cost });
const fingerprint: ShapeCheck = (value) =>
  (isObject(value) && Object.hasOwn(value, 'algorithm') ? salted : current)(value);

const entryMembers = {
  kind: filled,
  file: isText,
  applied: anyObject,
  depends_on: listOf(isText),
  'secrets?': mapOf(filled, fingerprint),
  'protect?': isFlag,
  'on_removal?': filled,
  'deposed?': listOf(filled),
  applied_at: time,
};
/** An entry before its id is known, as intents hold it. */
export const entryShape = members<Entry>({ ...entryMembers, id: filled, observed: anyObject });
export const plannedEntryShape = members<Omit<Entry, 'id' | 'observed'>>(entryMembers);
export const momentMembers = {
  at: time,
  'server_at?': time,
  'boot?': members<NonNullable<Moment['boot']>>({ id: filled, milliseconds: isWhole(0) }),
} as const;
export const spentShape = members<Spent>({
  ...momentMembers,
  action: oneOf('update', 'delete'),
  'kind?': filled,
  'id?': filled,
});
const recentShape = members<Recent>({
  ...momentMembers,
  kind: filled,
  created: listOf(filled),
  unseen: listOf(filled),
  deleted: listOf(filled),
});

/** An entry on disk: what was applied and is observed alike stands once, under `observed`, and is named in `as_observed`. */
type Packed = Entry & { readonly as_observed?: readonly string[] };
const packedMembers = members<Packed>({
  ...entryMembers,
  id: filled,
  observed: anyObject,
  'as_observed?': listOf(isText),
});
const packedShape: ShapeCheck = (value) => packedMembers(value) ?? strayName(value as Packed);

function strayName({ as_observed = [], applied, observed }: Packed): Flaw | undefined {
  const stray = as_observed.findIndex(
    (name) => !Object.hasOwn(observed, name) || Object.hasOwn(applied, name),
  );
  return stray === -1
    ? undefined
    : {
        path: ['as_observed', String(stray)],
        problem: 'must name a member of observed that does not stand in applied',
      };
}

function packed(entry: Entry): Packed {
  const as_observed = Object.keys(entry.applied).filter(
    (name) =>
      Object.hasOwn(entry.observed, name) && equal(entry.applied[name], entry.observed[name]),
  );
  const applied = Object.fromEntries(
    Object.entries(entry.applied).filter(([name]) => !as_observed.includes(name)),
  );
  return { ...entry, applied, as_observed };
}

function unpacked({ as_observed = [], ...entry }: Packed): Entry {
  const shared = as_observed.map((name) => [name, entry.observed[name] as Json] as const);
  return { ...entry, applied: { ...entry.applied, ...Object.fromEntries(shared) } };
}

const stateShape = members<State>({
  format_version: isWhole(1),
  lineage: filled,
  serial: isWhole(0),
  target: isText,
  resources: mapOf(address, packedShape),
  spent: listOf(spentShape),
  'recent?': listOf(recentShape),
  'secrets_salt?': filled,
  'secrets_together?': listOf(members<Together>({ of: filled, hash: filled, 'cost?': cost })),
});

const HEAD = /^\{\n {2}"checksum": "([0-9a-f]{64})",\n/;

/** One line a member, and within `resources` one an entry: a change of one object is a change of one line, and ten thousand are read quickly. */
export function encodeState({ resources, ...head }: State): string {
  const line = (indent: string, name: string, value: string): string =>
    `${indent}${JSON.stringify(name)}: ${value}`;
  const entries = Object.keys(resources)
    .toSorted(compareText)
    .map((address) =>
      line('    ', address, canonical(packed(resources[address] as Entry) as unknown as Json)),
    );
  const members = {
    ...head,
    resources: entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n  }`,
  };
  const rest = `${Object.keys(members)
    .toSorted(compareText)
    .map((name) =>
      line(
        '  ',
        name,
        name === 'resources'
          ? members.resources
          : canonical(members[name as keyof typeof head] as Json),
      ),
    )
    .join(',\n')}\n}\n`;
  return `{\n  "checksum": "${sha256(rest)}",\n${rest}`;
}

/**
 * Verifies and reads the text of a state.
 * @param advice what a person does about a damaged file, asked for only when it is damaged
 * @throws Refusal naming file, line and column of what does not verify
 */
export async function decodeState(
  source: string,
  file: string,
  version: string,
  advice: () => Promise<string>,
  formats: Formats = stateFormats,
): Promise<State> {
  const top = { line: 1, column: 1 };
  const parsed = parseJsonText(source);
  if ('brokenAt' in parsed)
    damaged(
      file,
      parsed.brokenAt,
      source === '' ? 'it is empty' : 'the text breaks off or is no JSON',
      await advice(),
    );
  if (!isObject(parsed.value) || typeof parsed.value.format_version !== 'number')
    damaged(file, top, 'it is no state of trueup', await advice());
  const { checksum: _, ...loose } = parsed.value;
  if (parsed.value.format_version > formats.current)
    refuseNewer(file, parsed.value.format_version, formats.current, version);
  const head = HEAD.exec(source);
  if (!head || sha256(source.slice(head[0].length)) !== head[1])
    damaged(
      file,
      { line: 2, column: 3 },
      'the checksum does not fit what follows; it was edited, converted or damaged',
      await advice(),
    );
  const state = upgrade(loose, parsed.value.format_version, file, formats);
  const flaw = stateShape(state);
  if (flaw)
    damaged(
      file,
      placeOfMember(source, flaw.path),
      `${formatPath(flaw.path)} ${flaw.problem}`,
      await advice(),
    );
  const { resources } = state as unknown as State;
  return {
    ...(state as unknown as State),
    resources: Object.fromEntries(
      Object.entries(resources).map(([address, entry]) => [address, unpacked(entry)]),
    ),
  };
}

function upgrade(loose: Loose, from: number, file: string, formats: Formats): Loose {
  if (from === formats.current) return loose;
  const step = formats.upgrades[from];
  if (!step)
    refuse('unknown-format', `${file} has the format ${from}, which no trueup ever wrote`, {
      detail: 'Check that it is the right file.',
      origin: { file, line: 1, column: 1 },
    });
  return upgrade({ ...step(loose), format_version: from + 1 }, from + 1, file, formats);
}

/** Members of the top and entries begin lines; what is inside an entry follows on its line. */
function placeOfMember(source: string, path: readonly string[]): JsonPosition {
  let at = 0;
  path.forEach((name, depth) => {
    const before = depth < 2 ? `\n${'  '.repeat(depth + 1)}` : '';
    const found = source.indexOf(`${before}${JSON.stringify(name)}:`, at);
    if (found !== -1) at = found + before.length;
  });
  return jsonPositionOf(source, at);
}

function refuseNewer(file: string, format: number, current: number, version: string): never {
  refuse(
    'newer-format',
    `${file} was written by a newer trueup: its format is ${format}, and trueup ${version} reads formats up to ${current}`,
    {
      detail: 'Install the newer version and run the same command again. The file was not touched.',
      origin: { file, line: 1, column: 1 },
    },
  );
}
