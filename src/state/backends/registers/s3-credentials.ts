// Credentials for requests to S3: from the environment, otherwise by the chain of the AWS SDK, which is not a dependency:
// profiles, roles of containers, machines and CI jobs. Requests are signed without it.
import { defined, errorCode, refuse } from '../../../model/index.js';
import type { S3Credentials } from './s3.js';

const BY_ENVIRONMENT =
  'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if they are temporary.';

/** Asked before each request. @param secret the value of a variable @throws Refusal */
export async function s3Credentials(
  secret: (name: string) => string | undefined,
  region: string,
): Promise<() => Promise<S3Credentials>> {
  const accessKeyId = secret('AWS_ACCESS_KEY_ID');
  if (accessKeyId === undefined) return chain(region);
  const secretAccessKey = secret('AWS_SECRET_ACCESS_KEY');
  const sessionToken = secret('AWS_SESSION_TOKEN');
  if (secretAccessKey === undefined)
    return refuse('backend-credentials', 'AWS_ACCESS_KEY_ID has no secret', {
      detail: BY_ENVIRONMENT,
    });
  const fixed = { accessKeyId, secretAccessKey, ...defined({ sessionToken }) };
  return async () => fixed;
}

/** The client of the SDK keeps what it found until shortly before it expires. */
async function chain(region: string): Promise<() => Promise<S3Credentials>> {
  const { S3Client } = await import('@aws-sdk/client-s3').catch((error: unknown) =>
    errorCode(error)?.endsWith('MODULE_NOT_FOUND') ? refuseWithout() : Promise.reject(error),
  );
  const { config } = new S3Client({ region });
  return async () => {
    const found = await config.credentials().catch((error: unknown) =>
      refuse('backend-credentials', 'the AWS SDK finds no credentials for the state in S3', {
        detail: `It says: ${error instanceof Error ? error.message : String(error)}\n${BY_ENVIRONMENT}`,
      }),
    );
    const { accessKeyId, secretAccessKey, sessionToken } = found;
    return { accessKeyId, secretAccessKey, ...defined({ sessionToken }) };
  };
}

const refuseWithout = (): never =>
  refuse('backend-credentials', 'there are no credentials for the state in S3', {
    detail: `${BY_ENVIRONMENT}\nFor profiles and roles, install the AWS SDK beside trueup:\nnpm i @aws-sdk/client-s3`,
  });
