// What core and provider tell each other before a word of the protocol is spoken, and what is logged meanwhile.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/model/index.js';
import { selfSigned } from '../../../src/terraform/protocol/certificate.js';
import {
  clientCertificate,
  handshakeLine,
  socketPath,
  startedByCore,
} from '../../../src/terraform/protocol/handshake.js';
import { jsonLog } from '../../../src/terraform/core-log.js';

const cookie = 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2';

describe('the handshake', () => {
  it.each([
    [{ TF_PLUGIN_MAGIC_COOKIE: cookie }, true],
    [{ TF_PLUGIN_MAGIC_COOKIE: cookie.toUpperCase() }, false],
    [{ TF_PLUGIN_MAGIC_COOKIE: `${cookie} ` }, false],
    [{}, false],
  ])('knows core by its cookie: %j', (environment, expected) =>
    expect(startedByCore(environment)).toBe(expected),
  );

  it('is one line, without padding', () => {
    for (let size = 1; size < 7; size += 1) {
      const line = handshakeLine(
        { network: 'unix', address: '/run/x/provider' },
        Buffer.alloc(size, 1),
      );
      expect(line).toMatch(/^1\|6\|unix\|\/run\/x\/provider\|grpc\|[A-Za-z0-9+/]+\n$/);
      expect(Buffer.from(line.split('|')[5] as string, 'base64')).toEqual(Buffer.alloc(size, 1));
    }
    expect(handshakeLine({ network: 'tcp', address: '127.0.0.1:4711' }, undefined)).toBe(
      '1|6|tcp|127.0.0.1:4711|grpc\n',
    );
  });

  it('takes a socket only where its path fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 150 }), (path) => {
        expect(socketPath(path, 'linux')).toBe(Buffer.byteLength(path) < 107 ? path : undefined);
      }),
    );
    expect(socketPath('/tmp', 'win32')).toBeUndefined();
  });

  it('wants a certificate of core, or to be told that there is none', () => {
    const { certificate } = selfSigned(Date.now(), Buffer.alloc(8));
    expect(clientCertificate({ PLUGIN_CLIENT_CERT: certificate })).toBe(certificate);
    expect(
      clientCertificate({ PLUGIN_CLIENT_CERT: certificate, TF_DISABLE_PLUGIN_TLS: '1' }),
    ).toBeUndefined();
    for (const PLUGIN_CLIENT_CERT of [
      '',
      'x',
      certificate.replace('A', '!'),
      certificate.slice(0, 200),
    ])
      expect(() => clientCertificate({ PLUGIN_CLIENT_CERT })).toThrow(Refusal);
    expect(() => clientCertificate({})).toThrow(Refusal);
  });
});

describe('the log', () => {
  const logged = (
    environment: Readonly<Record<string, string>>,
  ): readonly Readonly<Record<string, unknown>>[] => {
    let text = '';
    const clock = {
      now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      boot: () => ({ id: null, milliseconds: 0 }),
      monotonic: () => 0,
      sleep: async () => undefined,
    };
    const log = jsonLog(clock, environment, (line) => (text += line));
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const)
      log(level, `a ${level}`, { rpc: 'x' });
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  };

  it('is what core reads', () => {
    expect(logged({})).toEqual([
      {
        '@level': 'error',
        '@message': 'a error',
        '@module': 'provider.devicecloud',
        '@timestamp': '2026-01-02T03:04:05.678000Z',
        rpc: 'x',
      },
    ]);
  });

  it.each([
    [{ TF_LOG: 'trace' }, 5],
    [{ TF_LOG: 'INFO' }, 3],
    [{ TF_LOG: 'JSON' }, 5],
    [{ TF_LOG: 'loud' }, 5],
    [{ TF_LOG: 'off' }, 1],
    [{ TF_LOG: 'trace', TF_LOG_PROVIDER: 'warn' }, 2],
  ])('is as long as is asked for: %j', (environment, lines) =>
    expect(logged(environment)).toHaveLength(lines),
  );
});
