// What deliveries are signed with. Secrets are held here, in memory, for as long as the process runs: no record, no
// answer, no request that is kept and no file has them.
import { valueAt, walk, type Kind } from '../model/index.js';

export interface Secrets {
  /** Takes the secrets out of a body that was accepted for a record; it is read only where the kind has any. */
  keep(kind: Kind, id: string, body: () => Readonly<Record<string, unknown>>): void;
  /** Undefined where it was never sent to this process. */
  of(kind: Kind, id: string, path: string): string | undefined;
}

export function createSecrets(): Secrets {
  const known = new Map<string, string>();
  const nameOf = (kind: Kind, id: string, path: string): string => `${kind.name} ${id} ${path}`;
  const pathsOf = (kind: Kind): readonly string[] =>
    [...walk(kind.attributes)].flatMap(([path, attribute]) =>
      attribute.secret === true ? [path] : [],
    );
  return {
    keep(kind, id, body) {
      for (const path of pathsOf(kind)) {
        const value = valueAt(body(), path);
        if (typeof value === 'string') known.set(nameOf(kind, id, path), value);
      }
    },
    of: (kind, id, path) => known.get(nameOf(kind, id, path)),
  };
}
