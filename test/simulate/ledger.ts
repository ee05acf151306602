// Who changed what, and when: told by the emulator's own log, never by the client. An object is meant by an address where
// it is, or was, what a declaration of that address says it is; the rules for that are written here once more, so that the
// client and those who judge it cannot share a mistake.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Declaration, Json, JsonObject } from '../../src/model/index.js';
import { dummyCredentials } from '../../src/emulator/index.js';
import type { Rig } from '../support/rig.js';
import { ACCOUNTS, DESTINATIONS, idNameOf, recordOf, ROOT, RULES } from './scenario.js';

/** What was asked of a run, and what there was when it began. */
export interface Asked {
  readonly number: number;
  /** On the clock of the service. */
  readonly began: number;
  readonly declared: readonly Declaration[];
  readonly allow: readonly string[];
  readonly targets: readonly string[];
  /** Whether there was a state that held objects. */
  readonly remembers: boolean;
  /** How many objects the limits may be a share of. */
  readonly objects: { readonly least: number; readonly most: number };
}

export interface Written {
  readonly at: number;
  readonly kind: string;
  readonly id: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  /** The run that sent it; absent: another hand. */
  readonly run: Asked | undefined;
  /** When it was sent; before a standstill, where it was sent right behind one. */
  readonly sent: number;
  /** How many writes had landed before it left: nobody could know of the others. */
  readonly known: number;
  /** How often the state had been lost. */
  readonly losses: number;
}

export interface Ledger {
  readonly written: readonly Written[];
  /** Carries a request of a run, whenever it may land. @param known as in `Written` */
  during<T>(run: Asked, known: number, work: () => Promise<T>): Promise<T>;
  /** Addresses that mean an object, by `<kind> <id>`. */
  readonly meant: ReadonlyMap<string, ReadonlySet<string>>;
  /** Learns what is declared from now on. */
  declare(declared: readonly Declaration[]): void;
  readonly declared: readonly Declaration[];
  readonly live: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;
  /** What was made by runs: by `<kind> <id>`. */
  readonly made: ReadonlyMap<string, Written>;
  lose(): void;
  /** A run stands still while it writes, so long from now: another of its writes may have been between its last look and the network. */
  standStill(milliseconds: number): void;
  /** A run is over: killed, or by itself. */
  end(run: Asked, killed: boolean): void;
  /** A create of a run got no clear answer. */
  unanswered(run: Asked): void;
  /** Runs whose creates had to be recognised by their content, and when the first run that could do so ended by itself, on the clock of the service. */
  readonly recognised: ReadonlyMap<Asked, number>;
  /** A person keeps what a run made and nothing declares any more. */
  letGo(kind: string, id: string): void;
  readonly losses: number;
  onWritten: (written: Written) => void;
}

export const kindsDrawn = [
  ACCOUNTS,
  DESTINATIONS,
  RULES,
  'account_authorizations',
  'configuration_managers',
] as const;

const OURS: ReadonlySet<string> = new Set([
  String(dummyCredentials.v2[0]?.['X-MGR-API-ID']),
  String(Object.values(dummyCredentials.v3)[0]?.id),
]);

const senders = new AsyncLocalStorage<Pick<Written, 'sent' | 'known'> & { readonly run: Asked }>();

export function ledgerOf(rig: Rig): Ledger {
  const live = new Map(
    kindsDrawn.map((kind) => [
      kind as string,
      new Map(rig.objects(kind).map((record) => [String(record[idNameOf(kind)]), record])),
    ]),
  );
  const written: Written[] = [];
  const meant = new Map<string, Set<string>>();
  const made = new Map<string, Written>();
  const declared = new Map<string, Declaration[]>();
  const standstills = new Map<number, number>();
  const recognised = new Map<Asked, number>();
  let losses = 0;

  const mean = (kind: string, id: string, record: JsonObject): void => {
    for (const [address, versions] of declared) {
      if (
        !address.startsWith(`${kind}.`) ||
        !versions.some((one) => sign(kind, record) === sign(kind, recordOf(one.values, new Map())))
      )
        continue;
      const key = `${kind} ${id}`;
      meant.set(key, (meant.get(key) ?? new Set()).add(address));
    }
  };

  rig.emulator.onChange((steps) => {
    for (let index = 0; index < steps.length; index += 2) {
      const [step, entry] = [steps[index], steps[index + 1]];
      const kind = step?.in ?? '';
      const id = step?.id ?? '';
      const shelf = live.get(kind);
      if (!step || !shelf) continue;
      const ours = OURS.has(String((entry?.put?.actor as JsonObject | undefined)?.id));
      const [at, sender] = [rig.clock.service.now(), ours ? senders.getStore() : undefined];
      const one: Written = {
        at,
        kind,
        id,
        before: shelf.get(id),
        after: step.put,
        run: sender?.run,
        sent: sender?.sent ?? at,
        known: sender?.known ?? written.length,
        losses,
      };
      if (step.put) mean(kind, id, step.put);
      if (step.put && !one.before && one.run) made.set(`${kind} ${id}`, one);
      written.push(one);
      self.onWritten(one);
      if (step.put) shelf.set(id, step.put);
      else shelf.delete(id);
    }
  });

  const self: Ledger = {
    written,
    meant,
    made,
    live,
    get declared() {
      return [...declared.values()].flat();
    },
    get losses() {
      return losses;
    },
    during: (run, known, work) => {
      const now = rig.clock.service.now();
      return senders.run({ run, known, sent: standstills.get(now) ?? now }, work);
    },
    declare: (some) => {
      for (const one of some)
        declared.set(one.address, [...(declared.get(one.address) ?? []), one]);
      for (const [kind, shelf] of live) for (const [id, record] of shelf) mean(kind, id, record);
    },
    recognised,
    unanswered: (run) => void recognised.set(run, Infinity),
    end: (run, wasKilled) => {
      const now = rig.clock.service.now();
      if (wasKilled) recognised.set(run, Infinity);
      else for (const [one, at] of recognised) recognised.set(one, Math.min(at, now));
    },
    letGo: (kind, id) => void made.delete(`${kind} ${id}`),
    standStill: (milliseconds) =>
      void standstills.set(rig.clock.service.now() + milliseconds, rig.clock.service.now()),
    lose: () => void (losses += 1),
    onWritten: () => undefined,
  };
  return self;
}

/** What tells one object of a scenario from all others of its kind, whatever else is changed of it. */
export function sign(kind: string, record: JsonObject): string {
  switch (kind) {
    case RULES:
      return typesOf(record).toSorted().join(' ');
    case 'account_authorizations':
      return `${String(record.user)} ${String(record.account)}`;
    case 'configuration_managers':
      return String(record.router);
    default:
      return String(record.name);
  }
}

export const typesOf = (record: JsonObject): readonly string[] =>
  ((record.filter_criteria as JsonObject | null)?.alert_type__in as
    readonly string[] | undefined) ?? [];

/** Order and spelling of ids aside. */
export function plain(value: Json | undefined): string {
  const order = (one: Json | undefined): Json => {
    if (Array.isArray(one)) return one.map((item: Json) => JSON.stringify(order(item))).toSorted();
    if (typeof one === 'object' && one !== null)
      return Object.fromEntries(
        Object.entries(one)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, inner]) => [name, order(inner)]),
      );
    return typeof one === 'number' ? String(one) : (one ?? null);
  };
  return JSON.stringify(order(value));
}

const contents: Readonly<Record<string, readonly string[]>> = {
  [ACCOUNTS]: ['account', 'name'],
  [DESTINATIONS]: ['name'],
  [RULES]: [
    'schedule',
    'associated_accounts',
    'associated_groups',
    'filter_criteria',
    'http_destinations',
    'settings',
  ],
};

const isNothing = (value: Json | undefined): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.values(value).every(isNothing));

/** The same for objects that would be one and the same. */
export function content(kind: string, record: JsonObject): string {
  return (contents[kind] ?? [])
    .map((name) => (isNothing(record[name]) ? 'null' : plain(record[name])))
    .join(' ');
}

/** Whether two objects are most likely one, of which nobody remembers whose it is. */
export function nearly(kind: string, one: JsonObject, other: JsonObject): boolean {
  if (content(kind, one) === content(kind, other)) return false;
  if (kind !== RULES) {
    const folded = (record: JsonObject): string => String(record.name).trim().toLowerCase();
    return (
      folded(one) === folded(other) &&
      (kind === DESTINATIONS || String(one.account ?? ROOT) === String(other.account ?? ROOT))
    );
  }
  const rest = (record: JsonObject): string =>
    content(RULES, { ...record, filter_criteria: null, settings: null });
  const [a, b] = [new Set(typesOf(one)), new Set(typesOf(other))];
  const shared = [...a].filter((type) => b.has(type)).length;
  return rest(one) === rest(other) && shared / (a.size + b.size - shared) >= 0.5;
}
