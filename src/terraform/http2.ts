// HTTP/2 (RFC 9113) as far as gRPC needs it of a server: requests with one body, responses with headers, one body and
// trailers. Everything that is ready in one turn leaves in one write.
import type { Duplex } from 'node:stream';
import { HeaderReader, type Header } from './hpack.js';

/** A whole request. `body` is undefined where more came than is kept. */
export interface Request {
  readonly path: string;
  readonly body: Buffer | undefined;
}

/** Header blocks as `headerBlock` writes them, behind the status of HTTP. A response without a body has no trailers. */
export interface Response {
  readonly headers: Buffer;
  readonly body?: Buffer;
  readonly trailers?: Buffer;
}

export interface Connection {
  /** Takes no new requests, and ends once all that came whole are answered and the answers have left. */
  close(): Promise<void>;
}

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PUSH_PROMISE = 5;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;

const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const PADDED = 8;
const PRIORITY = 32;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HEAD = 9;
/** Bytes of a frame's payload: what we take, and what everybody takes. */
const LARGEST_FRAME = 16_384;
/** Bytes of all header blocks of one request. */
const LARGEST_BLOCK = 65_536;
const WIDEST = 2 ** 31 - 1;
/** What a window is at first. */
const NARROW = 65_535;
/** `:status: 200`, which is in the fixed table. */
const OK = Buffer.of(0x88);
const NOTHING = Buffer.alloc(0);

const PROTOCOL_ERROR = 1;
const INTERNAL_ERROR = 2;
const FLOW_CONTROL_ERROR = 3;
const STREAM_CLOSED = 5;
const FRAME_SIZE_ERROR = 6;
const COMPRESSION_ERROR = 9;

/** Why a connection cannot go on. */
class Broken extends Error {
  constructor(readonly code: number) {
    super(`HTTP/2 error ${code}`);
  }
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

interface Stream {
  readonly path: string;
  readonly chunks: Buffer[];
  length: number;
  /** All of the request came. */
  whole: boolean;
  /** Bytes that the client still takes. */
  window: number;
  /** What is still to be sent, once there is a response. */
  rest?: Buffer;
  trailers?: Buffer | undefined;
}

/** A frame in the parts that it is sent in. */
function frame(type: number, flags: number, stream: number, ...payload: readonly Buffer[]): readonly Buffer[] {
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  const head = Buffer.allocUnsafe(HEAD);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return [head, ...payload];
}

const number = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** @param most bytes of a body that are kept  @param answer never rejects */
export function serveHttp2(socket: Duplex, most: number, answer: (request: Request) => Promise<Response>): Connection {
  const reader = new HeaderReader();
  const streams = new Map<number, Stream>();
  let unread: Buffer = NOTHING;
  let greeted = false;
  let block: { readonly stream: number; readonly flags: number; readonly parts: Buffer[] } | undefined;
  let last = 0;
  let received = 0;
  let window = NARROW;
  let first = NARROW;
  let largest = LARGEST_FRAME;
  let ready: Buffer[] = [];
  let closing = false;

  function send(parts: readonly Buffer[]): void {
    if (ready.length === 0) setImmediate(leave);
    ready.push(...parts);
  }

  function leave(): void {
    const parts = ready;
    ready = [];
    if (socket.writable) socket.write(Buffer.concat(parts));
    finish();
  }

  function finish(): void {
    if (closing && streams.size === 0 && ready.length === 0 && !socket.writableEnded) socket.end();
  }

  /** Sends what the windows let through; the trailers end the stream. */
  function push(id: number, stream: Stream): void {
    while (stream.rest && stream.rest.length > 0) {
      const size = Math.min(stream.rest.length, largest, window, stream.window);
      if (size <= 0) return;
      send(frame(DATA, 0, id, stream.rest.subarray(0, size)));
      stream.rest = stream.rest.subarray(size);
      stream.window -= size;
      window -= size;
    }
    if (!stream.rest) return;
    streams.delete(id);
    if (stream.trailers) send(frame(HEADERS, END_HEADERS | END_STREAM, id, stream.trailers));
    finish();
  }

  const pushAll = (): void => {
    for (const [id, stream] of streams) push(id, stream);
  };

  function request(id: number, stream: Stream): void {
    stream.whole = true;
    const body = stream.length > most ? undefined : stream.chunks.length === 1 ? stream.chunks[0] : Buffer.concat(stream.chunks);
    void answer({ path: stream.path, body }).then(({ headers, body: rest, trailers }) => {
      if (streams.get(id) !== stream) return;
      send(frame(HEADERS, END_HEADERS | (rest ? 0 : END_STREAM), id, OK, headers));
      stream.rest = rest ?? NOTHING;
      stream.trailers = trailers;
      push(id, stream);
    });
  }

  function open(): void {
    const { stream: id, flags, parts } = block as NonNullable<typeof block>;
    block = undefined;
    const headers = headersIn(reader, parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    const known = streams.get(id);
    if (known && !known.whole) return (flags & END_STREAM) === 0 ? fail(PROTOCOL_ERROR) : request(id, known);
    if (id % 2 === 0 || id <= last) return fail(id <= last ? STREAM_CLOSED : PROTOCOL_ERROR);
    last = id;
    if (closing) return;
    const stream: Stream = { path: headers.find(([name]) => name === ':path')?.[1] ?? '', chunks: [], length: 0, whole: false, window: first };
    streams.set(id, stream);
    if ((flags & END_STREAM) !== 0) request(id, stream);
  }

  /** The whole of a connection's window is given back from time to time; a stream's is as wide as windows can be. */
  function body({ flags, stream: id, payload }: Frame): void {
    received += payload.length;
    if (received > WIDEST / 2) {
      send(frame(WINDOW_UPDATE, 0, 0, number(received)));
      received = 0;
    }
    const stream = streams.get(id);
    if (!stream || stream.whole) return id === 0 || id > last ? fail(PROTOCOL_ERROR) : undefined;
    const bytes = unpadded(flags & PADDED, payload);
    stream.length += bytes.length;
    if (stream.length <= most) stream.chunks.push(bytes);
    else stream.chunks.length = 0;
    if ((flags & END_STREAM) !== 0) request(id, stream);
  }

  function settle({ flags, payload }: Frame): void {
    if ((flags & ACK) !== 0) return;
    if (payload.length % 6 !== 0) return fail(FRAME_SIZE_ERROR);
    for (let at = 0; at < payload.length; at += 6) {
      const [setting, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)];
      if (setting === 4) {
        if (value > WIDEST) return fail(FLOW_CONTROL_ERROR);
        for (const stream of streams.values()) stream.window += value - first;
        first = value;
      } else if (setting === 5) largest = Math.min(Math.max(value, LARGEST_FRAME), 2 ** 24 - 1);
    }
    send(frame(SETTINGS, ACK, 0));
    pushAll();
  }

  function widen({ stream: id, payload }: Frame): void {
    if (payload.length !== 4) return fail(FRAME_SIZE_ERROR);
    const more = payload.readUInt32BE() & WIDEST;
    const stream = streams.get(id);
    if (more === 0 || (id === 0 ? window : (stream?.window ?? 0)) + more > WIDEST) return fail(more === 0 ? PROTOCOL_ERROR : FLOW_CONTROL_ERROR);
    if (id === 0) window += more;
    else if (stream) stream.window += more;
    pushAll();
  }

  function take(one: Frame): void {
    if (block && (one.type !== CONTINUATION || one.stream !== block.stream)) return fail(PROTOCOL_ERROR);
    switch (one.type) {
      case DATA:
        return body(one);
      case HEADERS:
        block = { stream: one.stream, flags: one.flags, parts: [unpadded(one.flags, one.payload)] };
        return (one.flags & END_HEADERS) === 0 ? undefined : open();
      case CONTINUATION:
        if (!block) return fail(PROTOCOL_ERROR);
        block.parts.push(one.payload);
        if (block.parts.reduce((sum, { length }) => sum + length, 0) > LARGEST_BLOCK) return fail(PROTOCOL_ERROR);
        return (one.flags & END_HEADERS) === 0 ? undefined : open();
      case RST_STREAM:
        streams.delete(one.stream);
        return finish();
      case SETTINGS:
        return settle(one);
      case PUSH_PROMISE:
        return fail(PROTOCOL_ERROR);
      case PING:
        if (one.payload.length !== 8) return fail(FRAME_SIZE_ERROR);
        return (one.flags & ACK) === 0 ? send(frame(PING, ACK, 0, one.payload)) : undefined;
      case WINDOW_UPDATE:
        return widen(one);
    }
  }

  function read(): void {
    if (!greeted) {
      if (unread.length < PREFACE.length) return;
      if (!unread.subarray(0, PREFACE.length).equals(PREFACE)) return fail(PROTOCOL_ERROR);
      greeted = true;
      unread = unread.subarray(PREFACE.length);
      // Not before: a client may be gone, and what is written to it would end the connection before what it asked is read.
      send(frame(SETTINGS, 0, 0, Buffer.of(0, 4), number(WIDEST)));
      send(frame(WINDOW_UPDATE, 0, 0, number(WIDEST - NARROW)));
    }
    let at = 0;
    while (unread.length - at >= HEAD) {
      const [start, length] = [at + HEAD, unread.readUIntBE(at, 3)];
      if (length > LARGEST_FRAME) return fail(FRAME_SIZE_ERROR);
      if (unread.length - start < length) break;
      at = start + length;
      take({ type: unread.readUInt8(start - 6), flags: unread.readUInt8(start - 5), stream: unread.readUInt32BE(start - 4) & WIDEST, payload: unread.subarray(start, at) });
    }
    unread = at === unread.length ? NOTHING : unread.subarray(at);
  }

  function fail(code: number): never {
    throw new Broken(code);
  }

  const goAway = (code: number): readonly Buffer[] => frame(GOAWAY, 0, 0, number(last), number(code));

  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    try {
      read();
    } catch (error) {
      streams.clear();
      const parts = [...ready, ...goAway(error instanceof Broken ? error.code : INTERNAL_ERROR)];
      ready = [];
      socket.removeAllListeners('data').end(Buffer.concat(parts), () => socket.destroy());
    }
  });
  socket.once('close', () => streams.clear());
  return {
    async close() {
      if (socket.destroyed) return;
      const closed = new Promise<void>((done) => void socket.once('close', done));
      closing = true;
      for (const [id, { whole }] of streams) if (!whole) streams.delete(id);
      if (greeted) send(goAway(0));
      else socket.end();
      await closed;
    },
  };
}

function headersIn(reader: HeaderReader, block: Buffer): readonly Header[] {
  try {
    return reader.read(block);
  } catch (error) {
    if (error instanceof RangeError) throw new Broken(COMPRESSION_ERROR);
    throw error;
  }
}

/** A payload without what fills it up, and without the priority that may stand in front of headers. */
function unpadded(flags: number, payload: Buffer): Buffer {
  const padding = (flags & PADDED) === 0 ? 0 : (payload[0] ?? payload.length);
  const start = (flags & PADDED ? 1 : 0) + (flags & PRIORITY ? 5 : 0);
  if (start + padding > payload.length) throw new Broken(PROTOCOL_ERROR);
  return payload.subarray(start, payload.length - padding);
}
