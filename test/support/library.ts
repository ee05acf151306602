// A service of two kinds that lives in memory: all that the engine needs to know of a service.
import {
  anyRef,
  defined,
  kind,
  kindsOf,
  Refusal,
  text,
  type CloudWriter,
  type Kind,
  type Live,
  type Provider,
  type Values,
} from '../../src/model/index.js';

const operations = {
  dialect: 'memory',
  paging: 'next',
  page: 100,
  by_id: 'id',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
} as const;
const id = text('Identifier.', { computed: true });

const shelves = kind({
  name: 'shelves',
  singular: 'shelf',
  doc: 'A shelf.',
  id: 'id',
  identity: ['label'],
  attributes: { label: text('What is written on it.'), id },
  operations: { ...operations, collection: 'shelves' },
  example: { label: 'Maps' },
});

const books = kind({
  name: 'books',
  singular: 'book',
  doc: 'A book.',
  id: 'id',
  identity: ['title'],
  attributes: {
    title: text('Its title.'),
    shelf: anyRef('Where it stands.', 'shelves', { optional: true }),
    id,
  },
  operations: { ...operations, collection: 'books' },
  example: { title: 'Atlas', shelf: '${shelves.example.id}' },
});

export const library: Provider = {
  kinds: kindsOf([shelves, books]),
  rules: [
    {
      name: 'shelf-removed',
      judge: ({ changes }) =>
        changes.flatMap(({ action, kind: name, address }) =>
          action === 'delete' && name === 'shelves'
            ? [{ address, detail: `${address} is taken down` }]
            : [],
        ),
    },
  ],
  audits: [
    async ({ live }) => ({
      health: [...(live.get('books')?.byId.values() ?? [])].flatMap((book) =>
        book.values.shelf === undefined
          ? [{ code: 'no-shelf', kind: 'books', id: book.id, summary: 'it stands on no shelf' }]
          : [],
      ),
    }),
  ],
};

/** The adapter: it lists, finds, composes and sends. @param objects what the service holds, by kind and id */
export function libraryCloud(objects: Map<string, Map<string, Values>>): CloudWriter {
  const all = ({ name }: Kind): readonly Live[] =>
    [...(objects.get(name) ?? [])].map(([key, values]) => ({
      id: key,
      values: { ...values, id: key },
    }));
  return {
    target: 'memory',
    list: async (one) => ({ kind: one.name, objects: all(one) }),
    find: async (one, ids) => all(one).filter((live) => ids.includes(live.id)),
    search: async (one) => all(one),
    compose: (one, { verb, id: key = '', fields }) => ({
      method: verb === 'create' ? 'POST' : verb === 'update' ? 'PATCH' : 'DELETE',
      path: `/${one.name}/${key}`,
      ...(verb !== 'delete' && { body: fields }),
    }),
    async send(one, request, { verb, id: known }, mayLeave) {
      let { body: fields = {} } = request;
      try {
        fields = (await mayLeave?.())?.body ?? fields;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { class: 'not_sent', ...defined({ diagnostic: error.diagnostics[0] }) };
      }
      const held = objects.get(one.name) ?? new Map<string, Values>();
      objects.set(one.name, held);
      const key = known ?? `${one.singular}-${held.size + 1}`;
      if (verb === 'delete') held.delete(key);
      else held.set(key, { ...held.get(key), ...fields });
      return { class: 'applied', live: { id: key, values: { ...fields, id: key } } };
    },
    pause: async () => true,
    records: async function* () {},
    activity: async () => [],
    skew: () => undefined,
    cost: () => ({}),
  };
}
