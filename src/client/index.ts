// The exports of the client for other modules.
export { connect } from './client.js';
export { limitersByKey } from './rate-limit.js';
export { checkedUrl } from './endpoint.js';
export { connectFlow, type Flip, type FlowOptions } from './sample-flow.js';
export type { ConnectOptions } from './client-session.js';
export {
  TransportError,
  undiciTransport,
  type HttpResponse,
  type HttpRequest,
  type Transport,
  type HttpConnections,
  type TransportOptions,
} from './transport.js';
export { webhookOf } from './webhook.js';
