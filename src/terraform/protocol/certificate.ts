// A self-signed certificate for one process: the handshake announces it to Terraform, which trusts no other. Node reads
// certificates but cannot write them, so its DER is assembled here.
import { generateKeyPairSync, sign } from 'node:crypto';

/** EC P-256 for `localhost`, as server and as client; certificate and key in PEM. `now` in milliseconds since 1970; `serial` are 8 to 19 random bytes. */
export function selfSigned(now: number, serial: Uint8Array) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const name = sequence(
    tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from('localhost')))),
  );
  const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value));
  const body = sequence(
    tagged(0xa0, integer([2])),
    integer([0x40, ...serial]),
    algorithm,
    name,
    sequence(time(now - DAY), time(now + 365 * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      0xa3,
      sequence(
        extension('551d0f', tagged(0x03, Buffer.of(2, 0x84))),
        extension('551d25', sequence(oid('2b06010505070301'), oid('2b06010505070302'))),
        extension('551d11', sequence(tagged(0x82, Buffer.from('localhost')))),
      ),
    ),
  );
  const der = sequence(
    body,
    algorithm,
    tagged(0x03, Buffer.concat([Buffer.of(0), sign('sha256', body, privateKey)])),
  );
  return {
    der,
    certificate: pem(der),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** A clock may have been set back a little. */
const DAY = 86_400_000;

function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const long = size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  const length = size < 0x80 ? [size] : long;
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
const integer = (bytes: readonly number[]): Buffer => tagged(0x02, Buffer.from(bytes));
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));

/** Two digits of the year until 2049, four from then on. */
function time(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return text < '2050' ? tagged(0x17, Buffer.from(text.slice(2))) : tagged(0x18, Buffer.from(text));
}

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
