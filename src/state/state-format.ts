// The state as text: canonical JSON that people can review, with a format version and a checksum of every byte after
// it. A damaged state is refused with the place; older formats are upgraded, newer ones refused.
import {
  canonical,
  compareText,
  equal,
  isObject,
  keptMembers,
  mapMembers,
  Refusal,
  refuse,
  sha256,
  shellWord,
  type Entry,
  type State,
} from '../model/index.js';
import { parseJsonText, jsonPositionOf, type JsonPosition } from './json-text.js';
import { formatPath, stateShape, type Packed } from './shape-check.js';
import { damaged } from './disk-errors.js';
import type { Moved } from './store-port.js';

type Loose = Readonly<Record<string, unknown>>;

const FORMAT = 3;

/** Format 1 held salted fingerprints alone, which later formats still read, and what the service said of failed deliveries. Format 3 adds counts to the runs. */
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
    resources: mapMembers(resources, (entry) => cleared(entry)),
  };
}

function packed(entry: Entry): Packed {
  const as_observed = Object.keys(entry.applied).filter(
    (name) =>
      Object.hasOwn(entry.observed, name) && equal(entry.applied[name], entry.observed[name]),
  );
  const applied = keptMembers(entry.applied, (_, name) => !as_observed.includes(name));
  return { ...entry, applied, as_observed };
}

function unpacked({ as_observed = [], ...entry }: Packed): Entry {
  const shared = as_observed.map((name) => [name, entry.observed[name]!] as const);
  // With spreads, V8 would give most of these objects a hidden class of their own.
  const applied = Object.fromEntries([...Object.entries(entry.applied), ...shared]);
  return { ...entry, applied };
}

const HEAD = /^\{\n {2}"checksum": "([0-9a-f]{64})",\n/;

/** One line per member, and one per entry of `resources`: a change of one object changes one line, and ten thousand are read quickly. */
export function encodeState({ resources, ...head }: State): string {
  const line = (indent: string, name: string, value: string): string =>
    `${indent}${JSON.stringify(name)}: ${value}`;
  const entries = Object.keys(resources)
    .toSorted(compareText)
    .map((address) => line('    ', address, canonical(packed(resources[address]!))));
  const texts: Record<string, string> = {
    ...mapMembers(head, (value) => canonical(value)),
    resources: entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n  }`,
  };
  const lines = Object.keys(texts)
    .toSorted(compareText)
    .map((name) => line('  ', name, texts[name]!));
  const rest = `${lines.join(',\n')}\n}\n`;
  return `{\n  "checksum": "${sha256(rest)}",\n${rest}`;
}

/** The content that replaces a state that was moved. */
export const encodeMoved = (moved: Moved): string => `${canonical({ moved })}\n`;

/** A state that was moved, or is being moved. */
export class MovedState extends Refusal {
  constructor(
    location: string,
    readonly moved: Moved,
  ) {
    const said =
      'to' in moved
        ? {
            code: 'state-moved',
            summary: `the state of ${location} is at ${moved.to} now`,
            detail: `Name that place: settings.state: ${moved.to}`,
          }
        : {
            code: 'state-moving',
            summary: `a migration of ${moved.from} to ${location} did not finish`,
            detail: `Finish it, with the settings of before: trueup state migrate --to ${shellWord(location)}`,
          };
    super([{ severity: 'error', ...said }]);
  }
}

/**
 * Verifies and reads the text of a state.
 * @param advice what a person does about a damaged file; what takes time is asked for only when it is damaged
 * @throws Refusal naming file, line and column of what does not verify
 */
export async function decodeState(
  source: string,
  file: string,
  version: string,
  advice: string | (() => Promise<string>),
): Promise<State> {
  const wrong = async (problem: string, place = { line: 1, column: 1 }): Promise<never> =>
    damaged(file, place, problem, typeof advice === 'string' ? advice : await advice());
  const parsed = parseJsonText(source);
  if ('brokenAt' in parsed)
    return wrong(
      source === '' ? 'it is empty' : 'the text is truncated or not JSON',
      parsed.brokenAt,
    );
  if (isObject(parsed.value) && isObject(parsed.value['moved'])) {
    const { to, from } = parsed.value['moved'];
    if (typeof to === 'string') throw new MovedState(file, { to });
    if (typeof from === 'string') throw new MovedState(file, { from });
  }
  if (!isObject(parsed.value) || typeof parsed.value.format_version !== 'number')
    return wrong('it is not a state of trueup');
  const { checksum: _, ...loose } = parsed.value;
  if (parsed.value.format_version > FORMAT)
    refuse(
      'newer-format',
      `${file} was written by a newer trueup: its format is ${parsed.value.format_version}, and trueup ${version} reads formats up to ${FORMAT}`,
      {
        detail:
          'Install the newer version and run the same command again. The file was not touched.',
        origin: { file, line: 1, column: 1 },
      },
    );
  const head = HEAD.exec(source);
  if (!head || sha256(source.slice(head[0].length)) !== head[1])
    return wrong('the checksum does not fit what follows; it was edited, converted or damaged', {
      line: 2,
      column: 3,
    });
  const state = upgrade(loose, parsed.value.format_version, file);
  const flaw = stateShape(state);
  if (flaw)
    return wrong(`${formatPath(flaw.path)} ${flaw.problem}`, placeOfMember(source, flaw.path));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked
  const checked = state as unknown as State;
  return { ...checked, resources: mapMembers(checked.resources, (entry) => unpacked(entry)) };
}

function upgrade(loose: Loose, from: number, file: string): Loose {
  if (from === FORMAT || from === 2) return { ...loose, format_version: FORMAT };
  if (from !== 1)
    refuse('unknown-format', `${file} has the format ${from}, which no trueup ever wrote`, {
      detail: 'Check that it is the right file.',
      origin: { file, line: 1, column: 1 },
    });
  return { ...withoutFreeText(loose), format_version: FORMAT };
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
