// Another hand: what a person in the console, or another program, does to the same account.
import { dummyCredentials } from '../../src/emulator/index.js';
import { Reference, type Declaration, type JsonObject } from '../../src/model/index.js';
import type { Rig } from '../support/rig.js';
import { content, kindsDrawn, type Ledger } from './ledger.js';
import {
  ACCOUNTS,
  alike,
  DESTINATIONS,
  idNameOf,
  recordOf,
  ROOT,
  RULES,
  type Foreign,
} from './scenario.js';

const made: ReadonlySet<string> = new Set([ACCOUNTS, DESTINATIONS, RULES]);

/** Does it, and says what it was; undefined where there is nothing to do it to. */
export async function interfere(
  rig: Rig,
  ledger: Ledger,
  declared: readonly Declaration[],
  { what, pick }: Foreign,
): Promise<string | undefined> {
  const one = <T>(items: readonly T[]): T | undefined => items[Math.floor(pick * items.length)];
  const ask = async (
    method: string,
    kind: string,
    id: string,
    body?: JsonObject,
  ): Promise<string> => {
    const v3 = kind === 'account_authorizations';
    const headers = v3
      ? {
          authorization: `Bearer ${Object.keys(dummyCredentials.v3)[1]}`,
          accept: 'application/vnd.api+json',
          'content-type': 'application/vnd.api+json',
        }
      : {
          ...dummyCredentials.v2[1],
          accept: 'application/json',
          'content-type': 'application/json',
        };
    const path = v3 ? `/api/v3/beta/${kind}/${id}` : `/api/v2/${kind}/${id === '' ? '' : `${id}/`}`;
    const sent = v3 && body ? { data: { type: kind, id, attributes: body } } : body;
    const answer = await rig.emulator
      .fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers,
          ...(sent && { body: JSON.stringify(sent) }),
        }),
      )
      .catch(() => undefined);
    return `${method} ${kind}/${id} -> ${answer?.status ?? 'reset'}`;
  };
  const create = (kind: string, record: JsonObject): Promise<string> => {
    const names =
      kind === RULES
        ? ['schedule', 'associated_accounts', 'filter_criteria', 'http_destinations']
        : ['name', 'account', 'is_disabled', 'enabled', 'endpoint'];
    const fields = Object.entries(record).filter(
      ([name, value]) =>
        names.includes(name) && value !== null && !(kind === DESTINATIONS && name === 'account'),
    );
    return ask(
      'POST',
      kind,
      '',
      Object.fromEntries(
        fields.map(([name, value]) => [
          name,
          name === 'associated_accounts' ? (value as readonly string[]).map(Number) : value,
        ]),
      ),
    );
  };

  const live = kindsDrawn.flatMap((kind) =>
    rig.objects(kind).map((record) => ({ kind, record, id: String(record[idNameOf(kind)]) })),
  );
  const meant = live.filter(({ kind, id }) => ledger.meant.has(`${kind} ${id}`));
  const ids = new Map(
    meant.flatMap(({ kind, id }) =>
      [...(ledger.meant.get(`${kind} ${id}`) ?? [])].map((address) => [address, id] as const),
    ),
  );
  const ready = declared.filter(
    ({ kind, values }) => made.has(kind) && namesOf(values).every((address) => ids.has(address)),
  );
  switch (what) {
    case 'equal': {
      const records = ready.map(({ kind, values }) => ({
        kind,
        record: { ...(kind === ACCOUNTS && { account: ROOT }), ...recordOf(values, ids) },
      }));
      const missing = records.filter(
        ({ kind, record }) =>
          !live.some(
            (other) => other.kind === kind && content(kind, other.record) === content(kind, record),
          ),
      );
      const target = one(missing);
      return target && create(target.kind, target.record);
    }
    case 'alike': {
      const target = one(ready);
      return target && create(target.kind, alike(target.kind, recordOf(target.values, ids)));
    }
    case 'other':
      return create(pick < 0.5 ? ACCOUNTS : DESTINATIONS, { name: `Of others ${pick.toFixed(6)}` });
    case 'declared':
    case 'undeclared': {
      const target = one(meant);
      const changes =
        target &&
        (what === 'declared' ? declaredChange : undeclaredChange)(target.kind, target.record, pick);
      return (
        target &&
        changes &&
        ask(target.kind.startsWith('alert_') ? 'PATCH' : 'PUT', target.kind, target.id, changes)
      );
    }
    case 'delete':
    case 'replace': {
      const target = one(meant.filter(({ kind }) => made.has(kind)));
      if (!target) return undefined;
      const deleted = await ask('DELETE', target.kind, target.id);
      return what === 'delete' || !deleted.endsWith('200')
        ? deleted
        : `${deleted}, ${await create(target.kind, target.record)}`;
    }
  }
}

function namesOf(values: unknown): readonly string[] {
  if (values instanceof Reference) return [values.target];
  return typeof values === 'object' && values !== null
    ? Object.values(values).flatMap(namesOf)
    : [];
}

const documentOf = (record: JsonObject): JsonObject =>
  (record.configuration as readonly JsonObject[])[0] as JsonObject;

function declaredChange(kind: string, record: JsonObject, pick: number): JsonObject {
  switch (kind) {
    case ACCOUNTS:
      return { name: `Renamed by others ${pick.toFixed(6)}` };
    case DESTINATIONS:
      return { endpoint: { url: `https://hooks.example.com/theirs/${pick.toFixed(6)}` } };
    case RULES:
      return { schedule: record.schedule === 'daily' ? null : 'daily' };
    case 'account_authorizations':
      return { role: record.role === 'read_only_user' ? 'full_access_user' : 'read_only_user' };
    default:
      return { configuration: [{ ...documentOf(record), lan: { mtu: 1300, dhcp: true } }, []] };
  }
}

function undeclaredChange(kind: string, record: JsonObject, pick: number): JsonObject | undefined {
  switch (kind) {
    case ACCOUNTS:
      return { is_disabled: record.is_disabled !== true };
    case DESTINATIONS:
      return { enabled: record.enabled !== true };
    case RULES:
      return { settings: { data_cap_threshold: { percent: Math.floor(pick * 100) } } };
    case 'configuration_managers':
      return {
        configuration: [
          { ...documentOf(record), wan: { rules: { theirs: { prio: Math.floor(pick * 1000) } } } },
          [],
        ],
      };
    default:
      return undefined;
  }
}
