// The tenants of a fleet that differ between two versions of its folder: by their entry, by a file below their PATHs, or
// by a file that belongs to all of them. What cannot be compared counts as changed.
import { join } from 'node:path';
import { sha256 } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import type { Fleet, Tenant } from './tenant.js';

export interface FleetVersion {
  readonly files: DeclarationFiles;
  /** Absent where there was no fleet, or none that can be read. */
  readonly fleet?: Fleet | undefined;
}

interface Compared {
  /** The folder of the fleet. */
  readonly cwd: string;
  /** Files and folders that every tenant depends on, relative to it. */
  readonly common: readonly string[];
  /** Equal for entries of the fleet that mean the same. */
  readonly entryOf: (tenant: Tenant) => string;
}

/** Those of the later version, in its order. */
export function changedTenants(
  before: FleetVersion,
  now: FleetVersion & { readonly fleet: Fleet },
  { cwd, common, entryOf }: Compared,
): readonly Tenant[] {
  const earlier = new Map((before.fleet?.tenants ?? []).map((one) => [one.name, one]));
  const [then, later] = [contentsIn(before.files, cwd), contentsIn(now.files, cwd)];
  const differs = (path: string): boolean => then(path) !== later(path);
  if (common.some(differs)) return now.fleet.tenants;
  return now.fleet.tenants.filter((tenant) => {
    const former = earlier.get(tenant.name);
    return !former || entryOf(former) !== entryOf(tenant) || tenant.paths.some(differs);
  });
}

const YAML = /\.ya?ml$/i;
/** What the loader of declarations does not walk. */
const HIDDEN = /^\.|^node_modules$/;
const PROGRAM = 'cdktf.json';
/** More than any declaration file may have. */
const LONGEST = 16 * 1024 * 1024;

/** A digest of what is declared below a path: of YAML files, and of every file of a CDK program. Each path is read once. */
function contentsIn(files: DeclarationFiles, cwd: string): (path: string) => string {
  const known = new Map<string, string>();
  const contentOf = (path: string, isProgram: boolean, above: readonly string[]): string => {
    const entry = files.stat(path);
    if (!entry || above.includes(entry.id)) return 'none';
    if (entry.kind !== 'folder')
      return entry.kind === 'file' ? sha256(files.read(path, LONGEST)) : 'other';
    const names = files.list(path).filter((name) => !HIDDEN.test(name));
    const whole = isProgram || names.includes(PROGRAM);
    const inside = names.toSorted().flatMap((name) => {
      const below = join(path, name);
      const isRead = whole || YAML.test(name) || files.stat(below)?.kind === 'folder';
      return isRead ? [[name, contentOf(below, whole, [...above, entry.id])]] : [];
    });
    return sha256(JSON.stringify(inside));
  };
  return (path) => {
    const content = known.get(path) ?? contentOf(join(cwd, path), false, []);
    known.set(path, content);
    return content;
  };
}
