// The CI run that this process belongs to.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { urlFrom, type Origin } from '../model/index.js';
import type { Context } from './context.js';

type Environment = Context['environment'];

/** An address of the web without credentials. */
function pageFrom(address: string | undefined): URL | undefined {
  const url = urlFrom(address ?? '');
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : undefined;
}

/** The repository of the job in GitHub Actions. */
function githubRepository(environment: Environment): string | undefined {
  const [server, repository] = [environment['GITHUB_SERVER_URL'], environment['GITHUB_REPOSITORY']];
  return server && repository && `${server}/${repository}`;
}

/** The address of the page of the job in GitHub Actions, GitLab, Buildkite, CircleCI or Jenkins. */
export function runAddress(environment: Environment): string | undefined {
  const [repository, run] = [githubRepository(environment), environment['GITHUB_RUN_ID']];
  const address =
    (repository && run && `${repository}/actions/runs/${run}`) ||
    environment['CI_JOB_URL'] ||
    environment['BUILDKITE_BUILD_URL'] ||
    environment['CIRCLE_BUILD_URL'] ||
    environment['BUILD_URL'];
  return pageFrom(address)?.href;
}

/** The folder of the files of a commit on a forge, and the checkout of that commit. */
function sourceFolder(environment: Environment) {
  const github = githubRepository(environment);
  const [page, commit, checkout] = github
    ? [`${github}/blob`, environment['GITHUB_SHA'], environment['GITHUB_WORKSPACE']]
    : [
        environment['CI_PROJECT_URL'] && `${environment['CI_PROJECT_URL']}/-/blob`,
        environment['CI_COMMIT_SHA'],
        environment['CI_PROJECT_DIR'],
      ];
  const url = page && commit && pageFrom(`${page}/${commit}/`);
  return url && /^[0-9a-f]{40,64}$/.test(commit) && checkout ? { page: url, checkout } : undefined;
}

/** How GitHub or GitLab shows a line of the commit that the job checked out; undefined where neither is known. */
export function sourceUrls({
  environment,
  cwd,
}: Pick<Context, 'environment' | 'cwd'>): ((origin: Origin) => string | undefined) | undefined {
  const folder = sourceFolder(environment);
  if (folder === undefined) return undefined;
  const { page, checkout } = folder;
  return ({ file, line }) => {
    const path = relative(checkout, resolve(cwd, file));
    const isInside = path !== '' && path.split(sep)[0] !== '..' && !isAbsolute(path);
    // What was read from standard input has no file.
    if (!isInside || line === 0 || file === '-') return undefined;
    const encoded = path.toWellFormed().split(sep).map(encodeURIComponent).join('/');
    return `${page.href}${encoded}#L${line}`;
  };
}
