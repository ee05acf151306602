// `trueup get KIND [ID]`: what is there, by the API's own filters.
import { didYouMean, exits, isObject, refuse, type Found, type Kind, type Value } from '../../model/index.js';
import type { Command } from '../context.js';
import { pairs, settingsHere } from '../project.js';
import { csv, plainJson, table } from '../tables.js';
import { withCloud } from '../workplace.js';

export const run: Command = async (context, [name = '', id]) => {
  const { kinds, flags, out, err } = context;
  const kind =
    kinds.get(name) ??
    refuse('unknown-kind', `There is no kind named ${JSON.stringify(name)}.${didYouMean(name, kinds.keys())}`, { detail: `Kinds: ${[...kinds.keys()].join(', ')}.` });
  const asked = filtersOf(kind, flags.filter);
  if (id !== undefined && Object.keys(asked).length > 0)
    refuse('usage', '--filter has no place beside an ID, which names one object.', { detail: `Type it as in: trueup get ${name} ${id}` });
  const filters = { ...asked, ...(id !== undefined && { [kind.operations.by_id]: id }) };
  const found = await withCloud(context, await settingsHere(context), ({ reached }) => gathered(reached.cloud.records(kind, { filters })));
  if (id !== undefined && found.length === 0)
    refuse('no-object', `There is no ${kind.singular.replaceAll('_', ' ')} with the id ${id}.`, { detail: `What is there: trueup get ${name}` });
  if (found.length === 0 && flags.output === 'table') err.write(`No ${name.replaceAll('_', ' ')}.\n`);
  else out.write(await render(kind, found, flags.output as Output));
  return exits.done;
};

async function gathered<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const some of pages) all.push(...some);
  return all;
}

type Output = 'table' | 'json' | 'yaml' | 'csv';

/** The API reference's query parameters; `role=` is short for `filter[role]=`. @throws Refusal */
function filtersOf({ name, operations }: Kind, words: readonly string[] | undefined): Readonly<Record<string, string>> {
  const { by_id, by_ids, filters = [] } = operations;
  const known = [...(by_id === 'path' ? [] : [by_id]), ...(by_ids === undefined ? [] : [by_ids]), ...filters];
  const fits = (one: string, key: string): boolean => one === key || (one.endsWith('[…]') && key.startsWith(one.slice(0, -2)) && /[^[]\]$/.test(key));
  const spelled = (key: string): string =>
    (known.some((one) => fits(one, key)) ? key : known.find((one) => one === `filter[${key}]`)) ??
    refuse('unknown-filter', `${name} cannot be filtered by ${JSON.stringify(key)}.${didYouMean(key, known)}`, { detail: `Filters: ${known.join(', ')}.` });
  const given = pairs('--filter', words).map(([key, value]) => [spelled(key), value] as const);
  const twice = given.find(([key], index) => given.findIndex(([other]) => other === key) < index);
  if (twice) refuse('usage', `--filter ${twice[0]}= stands twice.`, { detail: 'Several values stand in one list, where the API takes one: name__in=a,b' });
  return Object.fromEntries(given);
}

async function render(kind: Kind, found: readonly Found[], output: Output): Promise<string> {
  const records = found.map(({ record }) => record);
  const attributes = [kind.id, ...Object.keys(kind.attributes).filter((name) => name !== kind.id && name !== 'resource_url')];
  switch (output) {
    case 'json':
      return plainJson(records);
    case 'yaml':
      return (await import('../as-yaml.js')).yamlText(records);
    case 'csv':
      return csv(
        attributes,
        found.map(({ values }) => attributes.map((name) => (typeof values[name] === 'number' ? values[name] : cell(values[name])))),
      );
    case 'table': {
      const told = attributes.filter((name) => found.some(({ values }) => cell(values[name]) !== ''));
      return table(
        told,
        found.map(({ values }) => told.map((name) => cell(values[name]))),
      );
    }
  }
}

/** Lists as words, objects as JSON, nothing as nothing. */
function cell(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => cell(one as Value)).join(' ');
  return isObject(value) ? JSON.stringify(value) : String(value);
}
