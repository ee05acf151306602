// A webhook over the real network: one POST, no redirection, and an error that names no address.
import type { Send } from './deliveries.js';

const SECONDS = 10;

/** @throws Error with the reason in words where no answer came */
export const postWebhook: Send = async (url, headers, body, signal) => {
  const patience = AbortSignal.timeout(SECONDS * 1000);
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: signal ? AbortSignal.any([patience, signal]) : patience });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    throw new Error(patience.aborted ? `there was no answer within ${SECONDS} seconds` : `the connection failed${codeOf(error)}`, { cause: error });
  }
};

function codeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
}
