// A request the service turns down, and the error bodies it answers with: v2's `exception`, JSON:API's `errors`, and
// problem+json, which stands for the sample flow too, of whose errors nothing is known.
import { escapeHtml, type Behaviours } from './behaviours.js';

/** Thrown by handlers; becomes an answer at the edge of the app. `paths` name the fields or parameters at fault. */
export class Refused extends Error {
  readonly status: number;
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    paths: readonly string[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.paths = paths;
    this.headers = headers;
  }
}

export function turnDown(
  status: number,
  message: string,
  paths?: readonly string[],
  headers?: Readonly<Record<string, string>>,
): never {
  throw new Refused(status, message, paths, headers);
}

export type ErrorFormat = 'v2' | 'v3' | 'iot';

export const mediaTypes: Readonly<Record<ErrorFormat, string>> = {
  v2: 'application/json',
  v3: 'application/vnd.api+json',
  iot: 'application/json',
};

export function dialectOf(path: string): ErrorFormat {
  if (path.startsWith('/api/v3/')) return 'v3';
  return /^\/(?:iot|get_sim_info)\//.test(path) ? 'iot' : 'v2';
}

/** The answer that says why. Authentication failures of v2 carry their text plainly. */
export function refusalResponse(
  refused: Refused,
  dialect: ErrorFormat,
  behaviours: Behaviours,
): Response {
  const { status, paths } = refused;
  const message = behaviours.escape_html ? escapeHtml(refused.message) : refused.message;
  const type = dialect === 'iot' ? 'application/problem+json' : mediaTypes[dialect];
  return new Response(JSON.stringify(bodies[dialect](status, message, paths)), {
    status,
    headers: { 'content-type': type, ...refused.headers },
  });
}

const bodies: Readonly<
  Record<ErrorFormat, (status: number, message: string, paths: readonly string[]) => object>
> = {
  v2: v2Body,
  v3: (status, message, paths) => ({
    errors: (paths.length > 0 ? paths : [undefined]).map((path) => v3Error(status, message, path)),
  }),
  iot: (status, message, paths) => ({
    type: 'about:blank',
    title: 'The request was turned down',
    status,
    detail: message,
    ...(paths.length > 0 && { invalidParams: paths }),
  }),
};

function v2Body(status: number, message: string, paths: readonly string[]) {
  if (status === 401) return { exception: message };
  return {
    exception: { type: 'error', message },
    ...(paths.length > 0 && { errors: paths.map((path) => ({ path })) }),
  };
}

function v3Error(status: number, detail: string, path: string | undefined) {
  return {
    status: String(status),
    detail,
    ...(path !== undefined && {
      source: path.startsWith('/') ? { pointer: path } : { parameter: path },
    }),
  };
}
