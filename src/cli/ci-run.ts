// The CI run that this process belongs to.
import { urlFrom } from '../model/index.js';
import type { Context } from './context.js';

/** The address of the page of the job in GitHub Actions, GitLab, Buildkite, CircleCI or Jenkins. */
export function runAddress(environment: Context['environment']): string | undefined {
  const [server, repository, run] = [
    environment['GITHUB_SERVER_URL'],
    environment['GITHUB_REPOSITORY'],
    environment['GITHUB_RUN_ID'],
  ];
  const address =
    (server && repository && run && `${server}/${repository}/actions/runs/${run}`) ||
    environment['CI_JOB_URL'] ||
    environment['BUILDKITE_BUILD_URL'] ||
    environment['CIRCLE_BUILD_URL'] ||
    environment['BUILD_URL'];
  const url = urlFrom(address ?? '');
  const isPage = url && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  return isPage ? url.href : undefined;
}
