// The tenants of a fleet that differ between two versions of its folder: by their entry, by a file below their PATHs, or
// by a file that belongs to all of them. What cannot be compared counts as changed.
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { cached, errorCode, sha256 } from '../model/index.js';
import type { DeclarationFiles } from '../platform/index.js';
import { addressPlace, tenantState, type Fleet, type Tenant } from './tenant.js';

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
  /** Names of the file of the environment: it is in the folder of the fleet, or beside a PATH. */
  readonly overlays: readonly string[];
  /** Equal for entries of the fleet that mean the same. */
  readonly entryOf: (tenant: Tenant) => string;
}

/** Those of the later version, in its order. */
export function changedTenants(
  before: FleetVersion,
  now: FleetVersion & { readonly fleet: Fleet },
  { cwd, common, overlays, entryOf }: Compared,
): readonly Tenant[] {
  const earlier = new Map((before.fleet?.tenants ?? []).map((one) => [one.name, one]));
  const [then, later] = [before, now].map(({ files }) => contentsIn(files, { cwd, overlays }));
  const differs = (path: string): boolean => then!(path) !== later!(path);
  if ([...common, ...overlays].some(differs)) return now.fleet.tenants;
  return now.fleet.tenants.filter((tenant) => {
    const former = earlier.get(tenant.name);
    return !former || entryOf(former) !== entryOf(tenant) || tenant.paths.some(differs);
  });
}

/** Those of the earlier version that the later one lacks, also under another name: nothing works on their states any more. */
export function removedTenants(
  before: Fleet | undefined,
  now: Fleet,
  env: string | undefined,
): readonly Tenant[] {
  const placeOf = (tenant: Tenant): string => addressPlace(tenantState(tenant, env));
  const names = new Set(now.tenants.map(({ name }) => name));
  const places = new Set(now.tenants.map(placeOf));
  return (before?.tenants ?? []).filter((one) => !names.has(one.name) && !places.has(placeOf(one)));
}

const YAML = /\.ya?ml$/i;
/** What the loader of declarations does not walk. */
const HIDDEN = /^\.|^node_modules$/;
const PROGRAM = 'cdktf.json';
/** In a folder of synthesised stacks. */
const STACKS = 'manifest.json';
/** More than any declaration file may have. */
const LONGEST = 16 * 1024 * 1024;

/**
 * A digest of what a PATH stands for: the YAML files below it, every file of a CDK program or of its output, and files
 * beside and above it with settings or of the environment. Each path is read once.
 */
function contentsIn(
  files: DeclarationFiles,
  { cwd, overlays }: Pick<Compared, 'cwd' | 'overlays'>,
): (path: string) => string {
  const known = new Map<string, string>();
  const contentOf = (path: string, isProgram: boolean, above: readonly string[]): string => {
    const entry = files.stat(path);
    if (!entry || above.includes(entry.id)) return 'none';
    if (entry.kind !== 'folder')
      return entry.kind === 'file' ? sha256(files.read(path, LONGEST)) : 'other';
    const names = files.list(path).filter((name) => !HIDDEN.test(name));
    const whole = isProgram || names.some((name) => name === PROGRAM || name === STACKS);
    const inside = names.toSorted().flatMap((name) => {
      const below = join(path, name);
      const isRead = whole || YAML.test(name) || files.stat(below)?.kind === 'folder';
      return isRead ? [[name, contentOf(below, whole, [...above, entry.id])]] : [];
    });
    return sha256(JSON.stringify(inside));
  };
  /** YAML files in a folder itself that a PATH below it uses. */
  const usedIn = (folder: string): string => {
    if (files.stat(folder)?.kind !== 'folder') return 'none';
    const used = files.list(folder).filter((name) => YAML.test(name) && !HIDDEN.test(name));
    const inside = used.toSorted().flatMap((name) => {
      const path = join(folder, name);
      if (files.stat(path)?.kind !== 'file') return [];
      const bytes = files.read(path, LONGEST);
      const isUsed = overlays.includes(name) || Buffer.from(bytes).includes('settings');
      return isUsed ? [[name, sha256(bytes)]] : [];
    });
    return sha256(JSON.stringify(inside));
  };
  return (given) => {
    const path = resolve(cwd, given);
    // The program of a `cdktf.json` is all of its folder.
    const top = basename(path) === PROGRAM ? dirname(path) : path;
    const own = seen((one) => contentOf(one, false, []), top);
    const above = foldersAbove(cwd, path).map((folder) =>
      cached(known, `in ${folder}`, seen(usedIn, folder)),
    );
    return [cached(known, top, own), ...above].join();
  };
}

/** The disk may refuse what git has: then the two differ, and the tenant itself says why. */
const seen = (read: (path: string) => string, path: string) => (): string => {
  try {
    return read(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return 'unreadable';
  }
};

/** The folders that a path lies in, without that of the fleet, whose settings no tenant has; outside of that, the next one alone. */
function foldersAbove(cwd: string, path: string): readonly string[] {
  const folder = dirname(path);
  const place = relative(cwd, folder);
  if (place === '') return [];
  return /^\.\.(?:[/\\]|$)/.test(place) || isAbsolute(place)
    ? [folder]
    : [folder, ...foldersAbove(cwd, folder)];
}
