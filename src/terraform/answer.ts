// The provider behind the wire: a call's bytes become a message, and the reply to it bytes again.
import type { Log } from './log.js';
import { callsOf } from './calls.js';
import { INTERNAL, UNIMPLEMENTED, type Answer } from './grpc.js';
import { methods, type Method, type WireMessage } from './messages.js';
import type { ProviderServer } from './protocol.js';

const PREFIX = '/tfplugin6.Provider/';

export function answerOf(provider: ProviderServer, log: Log): Answer {
  const calls = callsOf(provider, log);
  return async (path, bytes) => {
    const method = methods.get(path);
    const call = calls[path.slice(PREFIX.length)];
    if (!method || !call) return { code: UNIMPLEMENTED, why: `${path} is not spoken` };
    const message = decoded(method, bytes);
    if (!message) return { code: INTERNAL, why: 'the message is malformed' };
    const reply = await call(message);
    log('trace', 'answered', { rpc: path });
    return method.response.encode(reply);
  };
}

function decoded({ request }: Method, bytes: Buffer): WireMessage | undefined {
  try {
    return request.decode(bytes);
  } catch {
    return undefined;
  }
}
