// A package registry on loopback that serves what is installed here, so that npm can write and use a lock file.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
}

export interface PackageRegistry {
  readonly url: string;
  stop(): Promise<void>;
}

export async function packageRegistry(): Promise<PackageRegistry> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const tarballs = new Map<string, Promise<Buffer>>();
  const tarballOf = (path: string): Promise<Buffer> => {
    const made = tarballs.get(path) ?? packed(join(root, path));
    tarballs.set(path, made);
    return made;
  };
  let url = '';
  const placesOf = (name: string): readonly string[] =>
    Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
  async function document(name: string): Promise<string | undefined> {
    const versions: Record<string, unknown> = {};
    for (const path of placesOf(name)) {
      const { version } = packages[path]!;
      const manifest = JSON.parse(
        readFileSync(join(root, path, 'package.json'), 'utf8'),
      ) as Readonly<Record<string, unknown>>;
      const integrity = `sha512-${createHash('sha512')
        .update(await tarballOf(path))
        .digest('base64')}`;
      const dist = { tarball: `${url}/-/${encodeURIComponent(path)}.tgz`, integrity };
      versions[version] = { ...manifest, dist };
    }
    const latest = Object.keys(versions).at(-1);
    if (latest === undefined) return undefined;
    return JSON.stringify({ name, 'dist-tags': { latest }, versions });
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').slice(1));
    const tarball = /^-\/(.*)\.tgz$/.exec(path)?.[1];
    const answer: Promise<Buffer | string | undefined> =
      tarball === undefined ? document(path) : tarballOf(tarball);
    void answer.then((body) => response.writeHead(body === undefined ? 404 : 200).end(body));
  });
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => void server.close(done));
    },
  };
}

function packed(folder: string): Promise<Buffer> {
  const words = ['-cz', '--exclude=./node_modules', '--transform=s,^\\.,package,', '.'];
  const tar = spawn('tar', words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  tar.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  return new Promise((done, fail) => {
    tar.once('error', fail);
    tar.once('close', () => done(Buffer.concat(chunks)));
  });
}
