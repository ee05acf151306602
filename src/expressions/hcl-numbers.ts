// Numbers as Terraform has them: binary floats of 512 bits, or 64 where a function counts. Doubles would give other
// digits, and other results of `==`. An integer times a power of two, rounded half to even after each operation.
export interface HclNumber {
  /** Odd, or 0. */
  readonly integer: bigint;
  /** Of a zero that was negated: it is written `-0`. */
  readonly isMinus?: boolean;
  readonly exponent: number;
  readonly precision: number;
}

/** Of numbers that are written down. */
const WIDE = 512;
/** Of what is counted. */
const NARROW = 64;
/** Powers of two beyond this are no numbers of a configuration, and cost memory. */
const MOST = 4_096;

const magnitude = (integer: bigint): bigint => (integer < 0n ? -integer : integer);
const bits = (integer: bigint): number => {
  const hex = magnitude(integer).toString(16);
  return integer === 0n ? 0 : hex.length * 4 - Math.clz32(parseInt(hex[0]!, 16)) + 28;
};

/** `integer / divisor × 2^exponent`, rounded; undefined where it is too large or too small. */
function rounded(
  integer: bigint,
  exponent: number,
  precision: number,
  divisor = 1n,
): HclNumber | undefined {
  if (integer === 0n) return { integer, exponent: 0, precision };
  const spare = Math.max(0, precision + 2 + bits(divisor) - bits(integer));
  const scaled = divisor === 1n ? magnitude(integer) : magnitude(integer) << BigInt(spare);
  let whole = scaled / divisor;
  let power = divisor === 1n ? exponent : exponent - spare;
  const isExact = whole * divisor === scaled;
  const excess = bits(whole) - precision;
  if (excess > 0) {
    const unit = 1n << BigInt(excess);
    const rest = whole % unit;
    whole /= unit;
    const [twice, isOdd] = [rest * 2n, whole % 2n === 1n];
    if (twice > unit || (twice === unit && (!isExact || isOdd))) whole += 1n;
    power += excess;
  }
  const binary = whole.toString(2);
  const zeros = binary.length - 1 - binary.lastIndexOf('1');
  power += zeros;
  if (power + binary.length > MOST || power < -MOST) return undefined;
  const odd = whole >> BigInt(zeros);
  return { integer: integer < 0n ? -odd : odd, exponent: power, precision };
}

const shifted = ({ integer, exponent }: HclNumber, from: number): bigint =>
  integer << BigInt(exponent - from);

const DECIMAL = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

/** `digits × 10^power`, rounded. */
const decimal = (digits: bigint, power: number, precision: number): HclNumber | undefined =>
  power < 0
    ? rounded(digits, 0, precision, 10n ** BigInt(-power))
    : rounded(digits * 10n ** BigInt(power), 0, precision);

/** Whether decimal digits say a number, of whatever size. */
export const isDecimal = (text: string): boolean => DECIMAL.test(text);

/** The number that decimal digits say; undefined where they say none, or one too large. */
export function numberIn(text: string): HclNumber | undefined {
  const [, sign = '', whole = '', part = '', power = '0'] = DECIMAL.exec(text) ?? [];
  if (whole + part === '') return undefined;
  const ten = Number(power) - part.length;
  if (Math.abs(ten) > MOST || text.length > MOST) return undefined;
  const one = decimal(BigInt(whole + part), ten, WIDE);
  return one && sign === '-' ? negated(one) : one;
}

export const counted = (count: number): HclNumber => rounded(BigInt(count), 0, NARROW)!;

export const compareNumbers = (left: HclNumber, right: HclNumber): number => {
  const from = Math.min(left.exponent, right.exponent);
  const difference = shifted(left, from) - shifted(right, from);
  return Number(difference > 0n) - Number(difference < 0n);
};

const isMinus = ({ integer, isMinus: minus }: HclNumber): boolean => integer < 0n || minus === true;

/** A zero with its sign. */
const signed = (one: HclNumber | undefined, minus: boolean): HclNumber | undefined =>
  one?.integer === 0n && minus ? { ...one, isMinus: true } : one;

export const negated = (one: HclNumber): HclNumber => ({
  ...one,
  integer: -one.integer,
  isMinus: one.integer === 0n && !isMinus(one),
});

export function sum(left: HclNumber, right: HclNumber): HclNumber | undefined {
  const from = Math.min(left.exponent, right.exponent);
  const precision = Math.max(left.precision, right.precision);
  const both = isMinus(left) && isMinus(right);
  return signed(rounded(shifted(left, from) + shifted(right, from), from, precision), both);
}

export const product = (left: HclNumber, right: HclNumber): HclNumber | undefined =>
  signed(
    rounded(
      left.integer * right.integer,
      left.exponent + right.exponent,
      Math.max(left.precision, right.precision),
    ),
    isMinus(left) !== isMinus(right),
  );

/** @param right not 0 */
export function quotient(left: HclNumber, right: HclNumber): HclNumber | undefined {
  const sign = right.integer < 0n ? -1n : 1n;
  const ratio = rounded(
    sign * left.integer,
    left.exponent - right.exponent,
    Math.max(left.precision, right.precision),
    magnitude(right.integer),
  );
  return signed(ratio, isMinus(left) !== isMinus(right));
}

/** With the sign of the dividend; the dividend itself where the divisor is 0. */
export function remainder(left: HclNumber, right: HclNumber): HclNumber | undefined {
  if (right.integer === 0n) return left;
  const ratio = quotient(left, right);
  if (!ratio) return undefined;
  const whole = rounded(truncated(ratio), 0, left.precision);
  const taken = whole && product({ ...right, precision: left.precision }, whole);
  return taken && sum(left, negated(taken));
}

const truncated = ({ integer, exponent }: HclNumber): bigint =>
  exponent >= 0 ? integer << BigInt(exponent) : integer / (1n << BigInt(-exponent));

/** The integer that a number is; undefined for one with a fraction. */
export const integerOf = (one: HclNumber): bigint | undefined =>
  one.exponent >= 0 ? truncated(one) : undefined;

interface Decimal {
  readonly digits: string;
  /** Digits before the point; may be negative. */
  readonly point: number;
}

/** The shortest decimal that reads back as the number, which is above 0. */
function shortest(one: HclNumber): Decimal {
  const fraction = Math.max(0, -one.exponent);
  const all = (one.exponent > 0 ? truncated(one) : one.integer * 5n ** BigInt(fraction)).toString();
  const point = all.length - fraction;
  const isBack = ({ digits, point: at }: Decimal): boolean => {
    const back = decimal(BigInt(digits), at - digits.length, one.precision);
    return back !== undefined && compareNumbers(back, one) === 0;
  };
  let [least, most] = [1, Math.min(all.length, one.precision)];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (isBack(decimalOf(all, point, middle))) most = middle;
    else least = middle + 1;
  }
  const found = decimalOf(all, point, least);
  return { ...found, digits: found.digits.replace(/0+$/, '') };
}

/** Rounded to a count of digits, half to even. */
function decimalOf(all: string, point: number, count: number): Decimal {
  if (count >= all.length) return { digits: all, point };
  const kept = BigInt(all.slice(0, count));
  const rest = all.slice(count);
  const half = `5${'0'.repeat(rest.length - 1)}`;
  const isUp = rest > half || (rest === half && kept % 2n === 1n);
  const digits = (kept + (isUp ? 1n : 0n)).toString();
  return { digits: digits.slice(0, count), point: point + digits.length - count };
}

/** Without an exponent, as `tostring` and `jsonencode` write it. */
export function numberText(one: HclNumber): string {
  if (isMinus(one)) return `-${numberText(negated(one))}`;
  if (one.integer === 0n) return '0';
  const { digits, point } = shortest(one);
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  const whole = digits.slice(0, point).padEnd(point, '0');
  return digits.length > point ? `${whole}.${digits.slice(point)}` : whole;
}

/** With an exponent where the number is below 0.0001 or of more than six digits, as `%v` writes it. */
export function generalText(one: HclNumber): string {
  if (isMinus(one)) return `-${generalText(negated(one))}`;
  if (one.integer === 0n) return '0';
  const { digits, point } = shortest(one);
  const power = point - 1;
  if (power >= -4 && power < 6) return numberText(one);
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const written = String(Math.abs(power)).padStart(2, '0');
  return `${digits[0]}${rest}e${power < 0 ? '-' : '+'}${written}`;
}
