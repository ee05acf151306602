// Collects diagnostics. Making one reads its file, so only the first are made, and the others are counted.
import type { Declaration, Diagnostic, Origin } from '../model/index.js';
import type { SourceFiles } from './file-reader.js';
import type { FoundFile } from './paths.js';
import type { SyntaxFault } from './yaml/raw-values.js';

/** An error about an attribute of a declaration. */
export const errorAt = (
  one: Declaration,
  attribute: string,
  said: Pick<Diagnostic, 'code' | 'summary' | 'detail'>,
): Diagnostic => ({
  severity: 'error',
  ...said,
  address: one.address,
  attribute,
  origin: one.at(attribute),
});

const MOST = 1_000;
/** The members of a large `for_each` leave space for errors elsewhere. */
const MOST_AT_PLACE = 100;

export type Report = ReturnType<typeof reportOf>;

export function reportOf(first: readonly Diagnostic[]) {
  const list = [...first];
  const counts = new Map<string, number>();
  let more = 0;
  return {
    /** @param place equal for those that say the same at one place */
    add(make: () => Diagnostic, place?: string): void {
      const before = place === undefined ? 0 : (counts.get(place) ?? 0);
      if (list.length === MOST || before === MOST_AT_PLACE) return void (more += 1);
      if (place !== undefined) counts.set(place, before + 1);
      list.push(make());
    },
    /** Whether an error is among them. */
    failed: (): boolean => more > 0 || list.some(({ severity }) => severity === 'error'),
    all(): readonly Diagnostic[] {
      if (more === 0) return list;
      const summary = `${more} more errors are not shown`;
      const detail = 'Fix those above first.';
      return [...list, { severity: 'error', code: 'more-complaints', summary, detail }];
    },
  };
}

/** What finds the place of an error, and takes the error. */
export interface Reporting {
  readonly library: SourceFiles;
  readonly report: Report;
}

/** Adds what is wrong at a place of a file. */
export function complainOfFault(
  reading: Reporting,
  from: FoundFile,
  { offset, first, ...said }: SyntaxFault,
): void {
  const { library } = reading;
  const before = first === undefined ? undefined : library.place(from, first);
  complainIn(
    reading,
    from,
    { file: from.file, ...library.place(from, offset) },
    before
      ? {
          ...said,
          detail:
            `The first is in ${from.file}:${before.line}:${before.column}. ${said.detail ?? ''}`.trim(),
        }
      : said,
  );
}

/** Adds an error with the lines around it, unless it has its own; around what a program made there are none. */
export const complainIn = (
  { library, report }: Reporting,
  from: FoundFile,
  origin: Origin,
  said: Pick<Diagnostic, 'code' | 'summary' | 'detail' | 'frame'>,
): void =>
  report.add(() => ({
    severity: 'error',
    ...(origin.path === undefined &&
      said.frame === undefined && { frame: library.frame(from, origin) }),
    ...said,
    origin,
  }));
