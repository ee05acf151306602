// A refused request, and the error bodies of the service: v2's `exception`, JSON:API's `errors`, and problem+json,
// which is also used for the sample flow, whose errors are not documented.
import { escapeHtml, type Behaviours } from './behaviours.js';

/** Thrown by handlers; becomes a response at the edge of the app. `paths` name the fields or parameters at fault. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly paths: readonly string[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export function turnDown(...refused: ConstructorParameters<typeof Refused>): never {
  throw new Refused(...refused);
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

/** The response that says why. Authentication failures of v2 carry their text plainly. */
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
  v2: (status, message, paths) => ({
    exception: status === 401 ? message : { type: 'error', message },
    ...(status !== 401 && paths.length > 0 && { errors: paths.map((path) => ({ path })) }),
  }),
  v3: (code, detail, paths) => {
    const status = String(code);
    const sources = paths.map((path) =>
      path.startsWith('/') ? { pointer: path } : { parameter: path },
    );
    return {
      errors:
        sources.length > 0
          ? sources.map((source) => ({ status, detail, source }))
          : [{ status, detail }],
    };
  },
  iot: (status, detail, paths) => ({
    type: 'about:blank',
    title: 'The request was turned down',
    status,
    detail,
    ...(paths.length > 0 && { invalidParams: paths }),
  }),
};
