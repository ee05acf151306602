// The pages of single tenants beside the page of a fleet: `fleet.html` has them in `fleet.tenants`. Each is the plan or
// the audit as `--report html` of one project writes it. Files that no report wrote are never replaced.
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorDiagnostic, Refusal, type Diagnostic, type TenantResult } from '../model/index.js';
import { TENANT_NAME } from '../fleet/tenant.js';
import type { FleetFormat } from '../report/formats.js';
import type { Style } from '../report/index.js';
import { ifThere, isDiskError } from '../state/disk-errors.js';
import { tenantDocument } from './commands-to-type.js';
import type { Context } from './context.js';
import { fileStyle, type Forms } from './report-flags.js';

type PageOf = Pick<TenantResult, 'tenant' | 'document' | 'typed_with'>;

export type TenantPages = Awaited<ReturnType<typeof tenantPages>>;

const pageFolder = (path: string): string =>
  join(dirname(path), `${basename(path).replace(/\.html?$/i, '')}.tenants`);

const pageName = (tenant: string): string => `${tenant}.html`;

/** @throws Refusal where something in a folder of pages would be replaced that is none */
export async function tenantPages(context: Context, { files: reports }: Forms<FleetFormat>) {
  const paths = reports.flatMap(([format, path]) => (format === 'html' ? [path] : []));
  const complaints = (await Promise.all(paths.map(complaintAt))).flat();
  if (complaints.length > 0) throw new Refusal(complaints);
  const written = new Set<string>();
  const problems: Diagnostic[] = [];
  const style = fileStyle(context);
  return {
    /** Writes the page of a tenant, if its result holds a plan or an audit. */
    async add({ tenant, document: own, typed_with }: PageOf): Promise<void> {
      // The results may have been brought here from elsewhere.
      if (paths.length === 0 || !own || !TENANT_NAME.test(tenant)) return;
      const document = typed_with ? tenantDocument(own, typed_with) : own;
      const { renderDrift, renderPlan } = await import('../report/render.js');
      for (const path of paths) {
        const folder = pageFolder(path);
        const fleet = `../${encodeURIComponent(basename(path))}`;
        const linked = { ...style, tenant: { name: tenant, fleet } };
        const page =
          'resource_changes' in document
            ? renderPlan(document, 'html', linked)
            : renderDrift(document, 'html', linked);
        try {
          if (!written.has(folder)) await mkdir(folder, { recursive: true });
          written.add(folder);
          await context.files.replace(join(folder, pageName(tenant)), page, 0o644);
          written.add(join(folder, pageName(tenant)));
        } catch (error) {
          if (!isDiskError(error)) throw error;
          const summary = `The page of ${tenant} could not be written to ${folder} (${error.code}).`;
          problems.push(errorDiagnostic('report-unwritten', summary));
        }
      }
    },
    /** What the page of the fleet at this path links to. */
    links(path: string): Pick<Style, 'pageOf'> {
      const folder = pageFolder(path);
      const there = encodeURIComponent(basename(folder));
      return {
        pageOf: (tenant) =>
          written.has(join(folder, pageName(tenant)))
            ? `${there}/${encodeURIComponent(pageName(tenant))}`
            : undefined,
      };
    },
    /** What could not be written. */
    problems,
  };
}

async function complaintAt(path: string): Promise<readonly Diagnostic[]> {
  const folder = pageFolder(path);
  const because = (why: string): readonly Diagnostic[] => [
    errorDiagnostic(
      'output',
      `--report html cannot write the pages of the tenants to ${folder}: ${why}.`,
      'Nothing was done. Name another file: the folder is beside it, and has its name.',
    ),
  ];
  const names = await ifThere(readdir(folder)).catch((error: unknown) => {
    if (isDiskError(error)) return error.code;
    throw error;
  });
  if (names === undefined) return [];
  if (typeof names === 'string')
    return because(names === 'ENOTDIR' ? 'it is not a folder' : `it cannot be read (${names})`);
  for (const name of names)
    if (!(await isPage(join(folder, name)))) return because(`no report wrote ${name} in it`);
  return [];
}

async function isPage(path: string): Promise<boolean> {
  if (!(await lstat(path)).isFile()) return false;
  const { PAGE_START } = await import('../report/html-page.js');
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PAGE_START.length));
    return buffer.toString('utf8', 0, bytesRead) === PAGE_START;
  } finally {
    await file.close();
  }
}
