// Expectations: conditions on records that can only be read. Each collection is read once, page by page, and only
// counts and the first violations are kept.
import {
  defined,
  append,
  canonical,
  exits,
  Refusal,
  valueAt,
  type CloudReader,
  type Collection,
  type Collections,
  type Diagnostic,
  type Expectation,
  type Found,
  type JsonObject,
  type Verified,
} from '../../model/index.js';

/** Offenders that are named; all are counted. */
const NAMED = 20;
/** Characters of an identifier, and of what is said of it: both may come from anywhere. */
const LONGEST = 500;

type Offender = Verified['offenders'][number];

interface Tally {
  readonly expectation: Expectation;
  readonly collection: Collection;
  /** Why a record is not as expected. */
  readonly judge: (record: JsonObject) => string | undefined;
  readonly offenders: Offender[];
  checked: number;
  failed: number;
  error?: Diagnostic;
}

/** Checks expectations, in their order. What cannot be read is unknown, and nothing else for it. @throws Refusal where the run was interrupted */
export async function verifyExpectations(
  cloud: Pick<CloudReader, 'records'>,
  collections: Collections,
  expectations: readonly Expectation[],
): Promise<readonly Verified[]> {
  if (expectations.length === 0) return [];
  const { conformity } = await import('./expectation-schema.js');
  const tallies = expectations.map((expectation): Tally => {
    const { every, collection } = expectation;
    const judge = every ? conformity(every) : () => undefined;
    return {
      expectation,
      collection: collections.get(collection)!,
      judge,
      offenders: [],
      checked: 0,
      failed: 0,
    };
  });
  const readings = new Map<string, Tally[]>();
  for (const tally of tallies)
    append(readings, canonical([tally.expectation.collection, tally.expectation.where]), tally);
  for (const alike of readings.values()) await read(cloud, alike);
  return tallies.map(verified);
}

/** Records that are judged before anything else, such as an interruption, has its turn. */
const AT_A_TIME = 20;
const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

const UNREADABLE: Diagnostic = {
  severity: 'error',
  code: 'unreadable',
  summary: 'the records cannot be read',
};

/** @param alike at least one; all ask for the same records */
async function read(cloud: Pick<CloudReader, 'records'>, alike: readonly Tally[]): Promise<void> {
  const { collection, expectation } = alike[0]!;
  try {
    for await (const page of cloud.records(collection, { filters: expectation.where }))
      for (const [index, found] of page.entries()) {
        if (index % AT_A_TIME === 0) await turn();
        for (const tally of alike) count(tally, found);
      }
  } catch (error) {
    if (!(error instanceof Refusal) || error.exit !== exits.error) throw error;
    for (const tally of alike)
      tally.error = error.diagnostics.find(({ severity }) => severity === 'error') ?? UNREADABLE;
  }
}

function count(tally: Tally, found: Found): void {
  tally.checked += 1;
  const why = tally.judge(found.record);
  if (why === undefined) return;
  tally.failed += 1;
  if (tally.offenders.length < NAMED)
    tally.offenders.push({ id: brief(identifier(tally, found)), why: brief(why) });
}

/** If no identifier is known, the place in the listing, from 1. */
function identifier({ collection, checked }: Tally, { values }: Found): string {
  const id = collection.id === undefined ? undefined : valueAt(values, collection.id);
  return typeof id === 'string' && id !== '' ? id : `record ${checked}`;
}

const brief = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')}…`;

/** Warnings about expectations that could not be checked. */
export function unverified(all: readonly Verified[]): readonly Diagnostic[] {
  return all.flatMap(({ name, origin, diagnostic }) =>
    diagnostic
      ? {
          ...diagnostic,
          summary: `expectations.${name} could not be checked: ${diagnostic.summary}`,
          origin,
        }
      : [],
  );
}

function verified(tally: Tally): Verified {
  const { expectation, checked, failed, offenders, error } = tally;
  const { name, collection, origin } = expectation;
  const count = error ? undefined : miscount(expectation, checked);
  const verdict = failed > 0 || count !== undefined ? 'failed' : 'met';
  return {
    name,
    collection,
    origin,
    verdict: error ? 'unknown' : verdict,
    checked,
    failed,
    offenders,
    ...defined({ count, diagnostic: error }),
  };
}

function miscount(
  { count: { min = 0, max = Infinity } = {} }: Expectation,
  checked: number,
): string | undefined {
  if (checked >= min && checked <= max) return undefined;
  const [bound, word] = checked < min ? [min, 'least'] : [max, 'most'];
  return `${checked} ${checked === 1 ? 'record' : 'records'}, at ${word} ${bound} ${bound === 1 ? 'is' : 'are'} expected`;
}
