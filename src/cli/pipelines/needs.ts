// What the CI of a project has to give to trueup: the environment, addresses, secrets, and the place of the state.
import { isAddress, urlFrom, type Project, type Secret } from '../../model/index.js';
import { surfacesOf } from '../cloud-connection.js';
import { needs } from '../environment-credentials.js';
import type { Context } from '../context.js';

export interface PipelineNeeds {
  /** TRUEUP_ENV. */
  readonly env: string | undefined;
  /** The default branch. */
  readonly branch: string;
  /** Variables that are no secrets. */
  readonly addresses: readonly string[];
  /** Of the cloud and of the declarations. */
  readonly secrets: readonly string[];
  /** Undefined if the settings do not name the state: then the variable TRUEUP_STATE does. */
  readonly state: string | undefined;
  readonly stateVariables: readonly string[];
  readonly stateSecrets: readonly string[];
}

type StateNeeds = Pick<PipelineNeeds, 'stateVariables' | 'stateSecrets'>;

const needing = (stateSecrets: readonly string[], stateVariables: readonly string[] = []) => ({
  stateVariables,
  stateSecrets,
});
const s3 = needing(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']);
/** A role that only reads plans, and another one applies: so the role is set beside its password. */
const postgres = needing(['PGUSER', 'PGPASSWORD']);
const postgresUser = needing(['PGPASSWORD']);
const http = needing(['TRUEUP_STATE_HTTP_PASSWORD'], ['TRUEUP_STATE_HTTP_USERNAME']);
const states: Readonly<Record<string, StateNeeds>> = {
  's3:': s3,
  'postgres:': postgres,
  'postgresql:': postgres,
  'https:': http,
  'http:': http,
};
/** Where only the variable TRUEUP_STATE names the state. What is not set is empty, which counts as absent. */
const anyState = needing([...s3.stateSecrets, ...postgres.stateSecrets]);

function stateNeedsOf(state: string): StateNeeds {
  const { protocol = '', username = '' } = urlFrom(state) ?? {};
  const needed = states[protocol] ?? needing([]);
  return needed === postgres && username !== '' ? postgresUser : needed;
}

/** @param secrets those that the declarations name */
export function pipelineNeeds(
  context: Context,
  project: Project,
  {
    env,
    branch,
    secrets,
  }: Pick<PipelineNeeds, 'env' | 'branch'> & {
    readonly secrets: readonly Secret[];
  },
): PipelineNeeds {
  const used = surfacesOf(context, project);
  const surfaces = Object.entries(needs).flatMap(([name, one]) =>
    name === 'v2' || used.has(name) ? [one] : [],
  );
  const url = project.settings.state?.url;
  // An environment does not use a state file of the shared settings.
  const state = url === undefined || (env !== undefined && !isAddress(url)) ? undefined : url;
  const named = secrets.flatMap(({ source }) => /^env\.(\w+)$/.exec(source)?.[1] ?? []);
  return {
    env,
    branch,
    addresses: surfaces.map(({ address }) => address),
    secrets: [...new Set([...surfaces.flatMap((one) => [...one.secrets]), ...named])],
    state,
    ...(state === undefined ? anyState : stateNeedsOf(state)),
  };
}
