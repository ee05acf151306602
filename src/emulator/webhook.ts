// A webhook over the real network: one POST, no redirection, and an error that names no address.
import type { Send } from './deliveries.js';

const SECONDS = 10;

/** @throws Error with the reason in words where there is no response */
export const postWebhook: Send = async (url, headers, body, signal) => {
  const timeout = AbortSignal.timeout(SECONDS * 1000);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    throw new Error(
      timeout.aborted
        ? `there was no response within ${SECONDS} seconds`
        : `the connection failed${codeOf(error)}`,
      { cause: error },
    );
  }
};

function codeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
}
