// A place between a client and its server where every kind of network trouble can be made: outages, requests that get
// lost, answers that get lost, and moments at which a test does something else first.
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `cut`: the connection ends, and the piece never arrives. `lose`: it arrives, and the connection ends in place of the
 * answer. A function: runs once the answer is there, before the client gets it. Text: the answer, in place of the server's.
 */
export type Fate = 'pass' | 'cut' | 'lose' | { readonly answer: string } | (() => unknown);

export interface TcpProxy {
  readonly port: number;
  /** Decides about each piece that a client sends. One request can be several pieces. */
  meddle: (piece: Buffer, nth: number) => Fate | Promise<Fate>;
  /** Pieces so far. */
  pieces: number;
  /** Ends all connections, and every new one at once, until it is up again. */
  setDown(down: boolean): void;
  close(): Promise<void>;
}

export async function tcpProxy(host: string, port: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let down = false;
  const server = createServer((client) => {
    if (down) return void client.destroy();
    const upstream = createConnection({ host, port });
    for (const one of [client, upstream]) {
      open.add(one);
      one.setNoDelay(true);
      one.on('error', () => undefined);
      one.once('close', () => open.delete(one));
    }
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.once('close', end);
    upstream.once('close', end);
    let fate: Fate = 'pass';
    const carry = async (piece: Buffer): Promise<void> => {
      const decided = await proxy.meddle(piece, (proxy.pieces += 1));
      if (decided === 'cut') return end();
      if (typeof decided === 'object') return void client.end(decided.answer);
      if (decided !== 'pass') fate = decided;
      upstream.write(piece);
    };
    let turn = Promise.resolve();
    client.on('data', (piece: Buffer) => {
      turn = turn.then(() => carry(piece));
    });
    upstream.on('data', (piece: Buffer) => {
      if (fate === 'lose') return end();
      if (typeof fate === 'function') {
        const first = fate;
        fate = 'pass';
        first();
      }
      client.write(piece);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    meddle: () => 'pass',
    pieces: 0,
    setDown(isDown) {
      down = isDown;
      if (down) for (const one of open) one.destroy();
    },
    async close() {
      for (const one of open) one.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return proxy;
}
