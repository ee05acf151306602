// The account tree of an export: which account is meant, what belongs to it, and the customers below it.
import {
  didYouMean,
  exits,
  firstNamed,
  keptMembers,
  namedId,
  refuse,
  shellWord,
  writable,
  type Attributes,
  type Kind,
  type Live,
  type Values,
} from '../model/index.js';
import { liveReferences } from '../reconciler/plan/order.js';
import { accounts as accountKind } from '../resources/accounts.js';
import { lineage } from '../resources/rules/administrators.js';
import { ACCOUNTS } from '../resources/rules/roles.js';

/** Accounts that a message lists at most. */
const FEW = 10;

export type AccountTree = ReturnType<typeof accountTree>;

/** @param accounts with unescaped texts */
export function accountTree(accounts: readonly Pick<Live, 'id' | 'values'>[]) {
  const byId = new Map(accounts.map(({ id, values }) => [id, values]));
  const above = (id: string): readonly string[] => lineage((one) => byId.get(one)?.account, id);
  const listedAbove = (id: string): readonly string[] => above(id).filter((one) => byId.has(one));
  const names = [...byId.values()].flatMap(({ name }) => (typeof name === 'string' ? name : []));
  const tops = new Set([...byId.keys()].flatMap((id) => listedAbove(id).slice(-1)));
  const [only] = tops.size === 1 ? tops : [];
  const spelled = (id: string): string => {
    const parent = byId.get(above(id)[1] ?? '')?.name;
    return typeof parent === 'string' ? `${id} (below ${parent})` : id;
  };
  return {
    /** The id of the account with this id, this path, or this name. @throws Refusal where there is none, or several are meant */
    chosen(word: string): string {
      const named = [...byId].flatMap(([id, { name }]) => (name === word ? [id] : []));
      const id = namedId(accountKind, word);
      const meant = [...new Set(id !== undefined && byId.has(id) ? [id, ...named] : named)];
      const [one] = meant;
      if (one === undefined)
        refuse(
          'unknown-account',
          `There is no account with the id or the name ${JSON.stringify(word)}.${didYouMean(word, names)}`,
          { detail: 'List what is live: trueup get accounts' },
        );
      if (meant.length === 1) return one;
      const isMixed = one === word;
      const what = isMixed ? 'id or the name' : 'name';
      refuse(
        'ambiguous-account',
        `${meant.length} accounts have the ${what} ${JSON.stringify(word)}: ${firstNamed(meant.map(spelled), FEW)}.`,
        {
          detail: isMixed
            ? `Give the path of one of them, as in: --account ${shellWord(`/${ACCOUNTS}/${one}/`)}`
            : `Give the id of one of them, as in: --account ${shellWord(one)}`,
        },
        exits.undecided,
      );
    },
    /** Whether an account is this one or lies below it. */
    isWithin: (root: string, id: string): boolean => above(id).includes(root),
    /** The account right below `root` that an account is or lies below; undefined for the root and for what lies elsewhere. Without a root: below the only account that has no listed parent, or the topmost account where there are several. */
    customerOf(id: string, root: string | undefined = only): string | undefined {
      const path = listedAbove(id);
      return root === undefined ? path.at(-1) : path[path.indexOf(root) - 1];
    },
  };
}

/** Ids of the accounts that an object belongs to: itself, those that its declaration names, else its owner. */
export function accountsOf(
  { name, attributes }: Kind,
  { id, values }: Pick<Live, 'id' | 'values'>,
): readonly string[] {
  if (name === ACCOUNTS) return [id];
  const declared = namedIn(keptMembers(attributes, writable), values);
  return declared.length > 0 ? declared : namedIn(attributes, values);
}

const PREFIX = `${ACCOUNTS} `;

const namedIn = (attributes: Attributes, values: Values): readonly string[] =>
  [...liveReferences(attributes, values)].flatMap((one) =>
    one.startsWith(PREFIX) ? [one.slice(PREFIX.length)] : [],
  );
