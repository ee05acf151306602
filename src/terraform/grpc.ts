// What carries a call and what answers it agree on: one message each way, or a status.

/** What core takes as one message, in bytes; it refuses what is larger, and with it the object inside. */
export const LARGEST_MESSAGE = 64 * 1024 * 1024;

/** Why a call gets no message, as gRPC numbers it. */
export const RESOURCE_EXHAUSTED = 8;
export const UNIMPLEMENTED = 12;
export const INTERNAL = 13;

export interface Refused {
  readonly code: number;
  readonly why: string;
}

/** Answers the message of the call that `path` names. A rejection is refused as INTERNAL. */
export type Answer = (path: string, message: Buffer) => Promise<Uint8Array | Refused>;
