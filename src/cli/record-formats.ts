// The formats of listed records. Each takes records in pieces, as they arrive, and keeps none.
import {
  ExactNumber,
  defined,
  isObject,
  valueAt,
  walk,
  wireText,
  type Collection,
  type Found,
  type Values,
} from '../model/index.js';
import type { RecordFormat } from '../report/formats.js';
import { columned, csvRow, inertJson, shortenedSentence, type Cell } from './tables.js';

export interface RecordForm {
  /** Text of the next records, the first of them with all that comes before. */
  some(found: readonly Found[]): string;
  /** The text after the last record. */
  end(): string;
  /** Fields that records had and the form has no place for. */
  readonly left?: ReadonlySet<string>;
  /** What a line has no space for, after the last record; empty where it has all. */
  readonly shortened?: () => string;
}

/** How rows are laid out. */
export interface RowStyle {
  /** Of a line of a table. */
  readonly columns: number;
  /** How people recognise an object: a column of tables, beside the identifier. */
  readonly label?: (values: Values) => string;
}

/** @param first decides over columns and their widths */
export async function formOf(
  output: RecordFormat,
  collection: Collection,
  first: readonly Found[],
  style: RowStyle = { columns: Infinity },
): Promise<RecordForm> {
  switch (output) {
    case 'json':
      return json();
    case 'ndjson':
      return ndjson;
    case 'yaml':
      return yaml();
    default:
      return rows(output, collection, first, style);
  }
}

const ndjson: RecordForm = {
  some: (found) => inertJson([...found.map(({ record }) => wireText(record)), ''].join('\n')),
  end: () => '',
};

function json(): RecordForm {
  let before = '[';
  return {
    some(found) {
      const list = wireText(
        found.map(({ record }) => record),
        2,
      );
      const text = before + inertJson(list.slice(1, -2));
      before = ',';
      return text;
    },
    end: () => (before === '[' ? '[]\n' : '\n]\n'),
  };
}

async function yaml(): Promise<RecordForm> {
  const { yamlText } = await import('./yaml-output.js');
  let empty = true;
  return {
    some: (found) => {
      empty &&= found.length === 0;
      return found.length === 0 ? '' : yamlText(found.map(({ record }) => record));
    },
    end: () => (empty ? '[]\n' : ''),
  };
}

/** The title of a column that is no attribute. */
const LABEL = 'label';

function rows(
  output: 'table' | 'wide' | 'csv',
  collection: Collection,
  first: readonly Found[],
  { columns, label }: RowStyle,
): RecordForm {
  const unknown = Object.keys(collection.attributes).length === 0;
  const all = unknown
    ? [...new Set(first.flatMap(({ record }) => Object.keys(record)))]
    : known(collection);
  const fields = pathsOf(output, collection, all, first);
  const isLabelled = label !== undefined && output !== 'csv';
  const paths = isLabelled ? [...fields.slice(0, 1), LABEL, ...fields.slice(1)] : fields;
  const left = new Set<string>();
  const valuesOf = ({ values, record }: Found): readonly Cell[] => {
    if (unknown) for (const name of Object.keys(record)) if (!all.includes(name)) left.add(name);
    return paths.map((path) => {
      if (isLabelled && path === LABEL) return label(values);
      const value = valueAt(unknown ? record : values, path);
      return typeof value === 'number' || value instanceof ExactNumber ? value : cell(value);
    });
  };
  const texts = (found: readonly Found[]): readonly (readonly string[])[] =>
    found.map((one) => valuesOf(one).map(String));
  // A label says what most other columns do.
  const positions = (...names: readonly string[]): readonly number[] =>
    names.map((path) => paths.indexOf(path)).filter((index) => index >= 0);
  const [id] = positions(collection.id ?? '');
  const layout = { columns, kept: positions(LABEL, 'name'), ...defined({ id }) };
  const lines = output === 'csv' ? undefined : columned(paths, texts(first), layout);
  let head = lines?.head ?? (paths.length === 0 ? '' : csvRow(paths));
  return {
    some(found) {
      const begun = head;
      head = '';
      return (
        begun + (lines?.rows(texts(found)) ?? found.map((one) => csvRow(valuesOf(one))).join(''))
      );
    },
    end: () => head,
    left,
    ...(lines && {
      shortened: () => shortenedSentence(lines, output === 'wide' ? 'yaml' : 'wide'),
    }),
  };
}

/** Dotted paths of all attributes that can be shown, the identifier first. */
function known({ id, attributes }: Collection): readonly string[] {
  const leaves = [...walk(attributes)].flatMap(([path, { word, secret }]) =>
    word === 'object' || secret ? [] : [path],
  );
  return id === undefined ? leaves : [id, ...leaves.filter((path) => path !== id)];
}

function pathsOf(
  output: 'table' | 'wide' | 'csv',
  { columns }: Collection,
  all: readonly string[],
  first: readonly Found[],
): readonly string[] {
  if (output === 'wide') return all;
  const plain = all.filter((path) => path !== 'resource_url');
  if (output === 'csv') return plain;
  return (
    columns ??
    plain.filter((path) =>
      first.some(
        ({ values, record }) => cell(valueAt(values, path) ?? valueAt(record, path)) !== '',
      ),
    )
  );
}

/** Lists as words, objects as JSON, nothing as nothing. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(cell).join(' ');
  return isObject(value) ? wireText(value) : String(value);
}
