// `export --split account`: which file a declaration stands in. Each account right below the root of the export is a
// customer with a folder of its own; what belongs to several customers, or to the root, stands in one file above them.
import { compareText, type Kind } from '../model/index.js';
import { ACCOUNTS } from '../resources/rules/roles.js';
import type { NameFor } from '../declarations/writing.js';
import type { ExportSelection } from './export-selection.js';

const SHARED = 'shared.yaml';

/** Names that Windows keeps for devices, with any ending behind them. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** @returns the file of an object */
export function splitFiles(
  { chosen, labels, tree, root }: ExportSelection,
  nameFor: NameFor,
): (kind: Kind, id: string | undefined) => string {
  const customers = new Map<string, ReadonlySet<string | undefined>>();
  for (const [kind, objects] of chosen)
    for (const { id, accounts } of objects)
      customers.set(
        `${kind.name} ${id}`,
        new Set(accounts.map((account) => tree.customerOf(account, root))),
      );
  const folders = foldersOf([...customers.values()], labels, nameFor);
  return ({ name }, id) => {
    const [customer, ...others] = customers.get(`${name} ${id}`) ?? [];
    return customer === undefined || others.length > 0
      ? SHARED
      : `${folders.get(customer)!}/account.yaml`;
  };
}

/** A folder for each customer: letters, digits and dashes, at most 60 characters and a number, no two alike. */
function foldersOf(
  found: readonly ReadonlySet<string | undefined>[],
  labels: ExportSelection['labels'],
  nameFor: NameFor,
): ReadonlyMap<string, string> {
  const customers = new Set(found.flatMap((some) => [...some]));
  const taken = new Set<string>();
  const folders = new Map<string, string>();
  for (const id of [...customers].flatMap((one) => one ?? []).toSorted(compareText)) {
    const instead = { kind: 'account', id };
    const plain = nameFor(labels(ACCOUNTS, id) ?? '', taken, instead);
    const folder = DEVICE.test(plain) ? nameFor(`${plain} account`, taken, instead) : plain;
    taken.add(folder);
    folders.set(id, folder);
  }
  return folders;
}
