// What PATHs leave out of a project: the limits count what is declared there, and the plan removes nothing that a file
// there mentions.
import { join } from 'node:path';
import type { Project } from '../model/index.js';
import { FLEET_FILE } from '../fleet/tenant.js';
import { isBelow, type Loader, type Site } from './file-project.js';

/**
 * The project with what other files declare, where PATHs below the current folder leave them out, and with what reads
 * their blocks. Files with errors, and CDK programs, count nothing, which makes the limits stricter.
 */
export async function withOutsidePaths(
  context: Site,
  project: Project,
  loader: Loader,
): Promise<Project> {
  const { cwd } = context;
  const { files, load } = loader;
  const { paths, declarations } = project;
  // In a fleet, what other PATHs declare is of other tenants.
  if (files.stat(join(cwd, FLEET_FILE))) return project;
  const named = paths.filter((path) => path !== '-');
  const isInside = named.length > 0 && named.every(isBelow);
  const isWhole = named.includes('.');
  const all = isInside && !isWhole ? await load([]) : undefined;
  const own = new Set(declarations.map(({ address }) => address));
  const outside_paths = all?.project?.declarations.filter(({ address }) => !own.has(address));
  return {
    ...project,
    ...(outside_paths?.length && { outside_paths }),
    ...(all &&
      !all.project && { outside_faulty: [...all.understood.declarations, ...all.unusable] }),
    async readOutside(recorded) {
      const { leftOutMentions } = await import('./left-out-files.js');
      return leftOutMentions(context, project, { loader, recorded });
    },
  };
}
