// The certificate as Node and OpenSSL read it.
import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../../src/terraform/protocol/certificate.js';
import { drawn } from '../../support/drawn.js';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('a certificate of our own', () => {
  const made = selfSigned(now, Buffer.alloc(16, 0xff));
  const read = new X509Certificate(made.certificate);

  it('is for localhost, as server and as client, and signed by itself', () => {
    expect(read.subject).toBe('CN=localhost');
    expect(read.subjectAltName).toBe('DNS:localhost');
    expect(read.checkHost('localhost')).toBe('localhost');
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(read.checkIssued(read)).toBe(true);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(read.raw).toEqual(made.der);
  });

  it('is valid since a day, and for a year', () => {
    expect([Date.parse(read.validFrom), Date.parse(read.validTo)]).toEqual([
      now - 86_400_000,
      now + 365 * 86_400_000,
    ]);
  });
});

it('can be read whatever the time and the number', () => {
  const years = fc
    .integer({ min: Date.UTC(1980), max: Date.UTC(9000) })
    .map((at) => at - (at % 1000));
  fc.assert(
    fc.property(years, fc.uint8Array({ minLength: 8, maxLength: 19 }), (at, serial) => {
      const read = new X509Certificate(selfSigned(at, serial).certificate);
      expect(Date.parse(read.validTo)).toBe(at + 365 * 86_400_000);
      expect(read.serialNumber.toLowerCase()).toBe(`40${Buffer.from(serial).toString('hex')}`);
      expect(read.verify(read.publicKey)).toBe(true);
    }),
    { numRuns: drawn(50) },
  );
});
