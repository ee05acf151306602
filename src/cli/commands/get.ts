// `trueup get KIND [ID]`: live objects and records, by the API's own filters, page by page to standard output.
import {
  defined,
  exits,
  isKind,
  labelOf,
  labelsIn,
  labelsInState,
  refuse,
  Refusal,
  targetsOf,
  warning,
  type Cloud,
  type Collection,
  type Found,
  type Kind,
  type LabelOf,
  type LiveObjects,
  type Query,
  type Settings,
  type State,
} from '../../model/index.js';
import { noSuchKind, wholeNumber, type Command, type Context } from '../context.js';
import { filterFlags } from '../filter-flags.js';
import { ignoredFilters } from '../ignored-filters.js';
import { accessFormats, recordFormats, type RecordFormat } from '../../report/formats.js';
import { formOf, type RecordForm, type RowStyle } from '../record-formats.js';
import { settingsHere } from '../project.js';
import { columnsFor } from '../tables.js';
import { timeFrom } from '../time-arguments.js';
import { withCloud } from '../working-context.js';

export const run: Command = async (context, [name = '', id]) => {
  if (name === 'access') return (await import('./get-access.js')).getAccess(context, id);
  const { collections, flags, err } = context;
  const collection = collections.get(name) ?? noSuchKind(name, [...collections.keys(), 'access']);
  const query = queryOf(context, collection, id);
  if (accessFormats.some((one) => one === flags.output))
    refuse('usage', `-o ${flags.output} shows only access.`, {
      detail: `Formats of ${name}: ${recordFormats.join(', ')}.\nThe access review: trueup get access -o ${flags.output}`,
    });
  const limit =
    flags.limit === undefined ? Infinity : wholeNumber('--limit', flags.limit, 1, 999_999_999);
  const settings = await settingsHere(context);
  const count = await withCloud(context, settings, async ({ reached: { cloud }, snapshot }) => {
    const check = ignoredFilters(collection, id === undefined ? query.filters : {});
    const pages = shownPages(context, cloud.records(collection, query), check);
    const wanted = id === undefined ? pages : theOne(collection, id, pages);
    const named = labelReader(context, { cloud, settings, state: snapshot?.state });
    const begin = async (first: readonly Found[]): Promise<RecordForm> => {
      const style = { columns: columnsFor(context), ...(await named(collection, first)) };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the command line takes no other
      return formOf(flags.output as RecordFormat, collection, first, style);
    };
    const delivered = await deliver(context, begin, wanted, limit);
    await context.tell(check.warnings());
    return delivered;
  });
  if (count > 0) return exits.done;
  if (id !== undefined)
    refuse(
      'no-object',
      `There is no ${collection.singular.replaceAll('_', ' ')} with the id ${id}.`,
      { detail: `List what is live: trueup get ${name}` },
    );
  if (isTable(context)) err.write(`No ${name.replaceAll('_', ' ')}.\n`);
  return exits.done;
};

const isTable = ({ flags }: Context): boolean =>
  flags.output === 'table' || flags.output === 'wide';

type Pages = AsyncIterable<readonly Found[]>;

interface NameSources {
  readonly cloud: Cloud;
  readonly settings: Settings;
  readonly state: State | undefined;
}

/** For reading names, in milliseconds: they are only to help a reader. */
const LONGEST = 10_000;

/** The label of each row of a table, with the names of what it refers to: as they are live, else as the state holds them. */
const labelReader =
  (context: Context, { cloud, settings, state }: NameSources) =>
  async (collection: Collection, rows: readonly Found[]): Promise<Pick<RowStyle, 'label'>> => {
    if (!isKind(collection) || !collection.label || !isTable(context)) return {};
    const { kinds, masking } = context;
    const isAsked = (name: string): boolean =>
      kinds.get(name)?.beyond !== true || settings.kinds?.includes(name) === true;
    const isNaming = rows.some((one) => namesOthers(collection, one));
    const names = isNaming ? [...new Set(targetsOf(collection.attributes))].filter(isAsked) : [];
    const live = await namesIn(context, cloud, names);
    const [now, before] = [labelsIn(live), labelsInState(kinds, state)];
    // Whole names are masked: a label shortens them.
    const others: LabelOf = (name, id) => {
      const found = now(name, id) ?? before(name, id);
      return found === undefined ? undefined : masking.text(found);
    };
    return { label: (values) => masking.text(labelOf(collection, values, others) ?? '') };
  };

/** Whether a label has names of other objects. */
function namesOthers({ label }: Kind, { values }: Found): boolean {
  let isAsked = false;
  label?.(values, () => {
    isAsked = true;
    return undefined;
  });
  return isAsked;
}

/** As far as the service shows them in time. Of others, a warning says so. */
async function namesIn(
  { kinds, signal, tell }: Context,
  cloud: Cloud,
  names: readonly string[],
): Promise<LiveObjects> {
  const time = AbortSignal.timeout(LONGEST);
  const bounded = cloud.within(time);
  const found = await Promise.all(
    names.map(async (name) => {
      const kind = kinds.get(name)!;
      try {
        const { objects } = await bounded.list(kind);
        return [[name, { kind, byId: new Map(objects.map((one) => [one.id, one])) }] as const];
      } catch (error) {
        if (!(error instanceof Refusal) || signal.aborted) throw error;
        const [one] = error.diagnostics;
        if (one?.code === 'no-target') return [];
        const why = time.aborted
          ? `${name} were not read within ${LONGEST / 1000} s.`
          : one?.summary;
        await tell([warning('names-not-read', `Labels may have ids for names: ${why}`)]);
        return [];
      }
    }),
  );
  return new Map(found.flat());
}

/** Without the secrets that are known here, and without what members of documents are named as secrets. */
async function* shownPages(
  { masking }: Context,
  pages: Pages,
  check: Pick<ReturnType<typeof ignoredFilters>, 'add'>,
): Pages {
  for await (const page of pages) {
    const shown = page.map((found) => {
      const record = masking.value(found.record);
      return record === found.record ? found : { record, values: masking.value(found.values) };
    });
    check.add(shown);
    yield shown;
  }
}

/** A filter that the server ignores must not fool us. */
async function* theOne({ id: path = '' }: Collection, id: string, pages: Pages): Pages {
  for await (const page of pages) {
    const found = page.filter(({ values }) => values[path] === id);
    yield found;
    if (found.length > 0) return;
  }
}

/**
 * Writes records as they come, and returns how many there were. Each page waits, as text, for the next one to be read,
 * so that a listing which fails at its second step has written nothing; a reader that is slow or gone is waited for or obeyed.
 */
async function deliver(
  context: Context,
  begin: (first: readonly Found[]) => Promise<RecordForm>,
  pages: Pages,
  limit: number,
): Promise<number> {
  const { out, err } = context;
  let form: RecordForm | undefined;
  let waiting = '';
  let count = 0;
  const feed = (text: string): Promise<boolean> => {
    err.status(undefined);
    return out.feed(text);
  };
  for await (const page of pages) {
    if (waiting !== '' && !(await feed(waiting))) return count;
    const found = page.slice(0, limit - count);
    waiting = '';
    if (found.length > 0) waiting = (form ??= await begin(found)).some(found);
    count += found.length;
    if (count >= limit) break;
  }
  if (!form && isTable(context)) return count;
  form ??= await begin([]);
  await feed(waiting + form.end());
  if (form.shortened) err.write(form.shortened());
  const left = [...(form.left ?? [])].slice(0, 10);
  const summary = `Records had more fields than the first ones: ${left.join(', ')}.`;
  if (left.length > 0)
    await context.tell([
      warning('fields-not-shown', summary, 'All there is: -o json or -o ndjson.'),
    ]);
  return count;
}

/** @throws Refusal for what the collection cannot be asked. */
function queryOf({ flags, clock }: Context, collection: Collection, id: string | undefined): Query {
  const { name, operations } = collection;
  const { by_id: key, filters = [] } = operations;
  const asked = filterFlags(collection, flags.filter);
  const filtered = Object.keys(asked).length > 0 || (flags.since ?? flags.until) !== undefined;
  if (id !== undefined && filtered)
    refuse(
      'usage',
      '--filter, --since and --until cannot be used with an ID, which names one object.',
      { detail: `For example: trueup get ${name} ${id}` },
    );
  if (id !== undefined && key === undefined)
    refuse('no-ids', `${name} cannot be read by an ID.`, {
      detail: `For example: trueup get ${name} --filter ${filters[0]}=…`,
    });
  const now = clock.now();
  const since = flags.since === undefined ? undefined : timeFrom('--since', flags.since, now);
  const until = flags.until === undefined ? undefined : timeFrom('--until', flags.until, now);
  if (since !== undefined && until !== undefined && since > until)
    refuse('usage', '--since is later than --until.');
  return {
    filters: { ...asked, ...(id !== undefined && { [key!]: id }) },
    ...defined({ expand: flags.expand, since, until }),
  };
}
