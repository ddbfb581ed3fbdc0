/**
 * The only formatter of numbers, for all sentences and tables and the live screen: three significant digits with a
 * unit, shares with one decimal, integers with separators. Pure functions.
 */
export interface Letters {
  ascii: boolean;
} // use ASCII characters only
const all: Letters = { ascii: false };

/** The units that follow numbers, for expressions with the flag u: a line does not break before one. */
export const unitPattern = String.raw`(?:%|[mnµu]?s|k?Hz|[KMG]?B)(?![\p{L}\d])`;

interface Unit {
  ns: number;
  name: string;
  ascii: string;
}
const smallest: Unit = { ns: 1, name: 'ns', ascii: 'ns' };
const units: readonly Unit[] = [
  { ns: 1e9, name: 's', ascii: 's' },
  { ns: 1e6, name: 'ms', ascii: 'ms' },
  { ns: 1e3, name: 'µs', ascii: 'us' },
  smallest,
];

// The limit is a little below the unit: 999.5 ms would otherwise be printed as "1,000 ms".
const unitOf = (ns: number): Unit => units.find((unit) => Math.abs(ns) >= unit.ns * 0.9995) ?? smallest;

const decimalsFor = (value: number): number => {
  const size = Math.abs(value);
  return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
};

/** An integer with separators: 1,234,567. */
export function count(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

function fixed(value: number, decimals: number): string {
  const [whole = '0', part] = Math.abs(value).toFixed(decimals).split('.');
  const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? '-' : '';
  return sign + count(Number(whole)) + (part === undefined ? '' : `.${part}`);
}

/** A time in ns: "1.62 s", "24.1 ms", "0". */
export function time(ns: number, options: Letters = all): string {
  if (ns === 0) return '0';
  const unit = unitOf(ns);
  const value = ns / unit.ns;
  const decimals = unit === smallest ? (value < 10 && !Number.isInteger(value) ? 1 : 0) : decimalsFor(value);
  return `${fixed(value, decimals)} ${options.ascii ? unit.ascii : unit.name}`;
}

/**
 * Half the width of a 95 % interval in ns, in the unit of `ns`, beside which it is printed (in its own unit if `ns` is
 * 0): "±0.03".
 */
export function plusMinus(ns: number, halfNs: number, options: Letters): string {
  const sign = options.ascii ? '+-' : '±';
  if (ns === 0 || halfNs === 0) return sign + time(halfNs, options);
  const half = halfNs / unitOf(ns).ns;
  let decimals = decimalsFor(ns / unitOf(ns).ns);
  while (decimals < 3 && Number(half.toFixed(decimals)) === 0) decimals++;
  const text = fixed(half, decimals);
  return Number(half.toFixed(decimals)) === 0 ? `${sign}<0.001` : sign + text;
}

interface Share {
  part: number;
  whole: number;
}
const isTiny = ({ part, whole }: Share): boolean => part !== 0 && whole !== 0 && (100 * part) / whole < 0.05;

/** A share without the percent sign: "24.3", "<0.1". */
function bare({ part, whole }: Share): string {
  if (whole === 0 || part === 0) return '0';
  const value = (100 * part) / whole;
  if (isTiny({ part, whole })) return '<0.1';
  return value >= 99.95 ? fixed(value, 0) : value.toFixed(1);
}

/** A share of the whole: "24.3 %", "<0.1 %". */
export const percent = (part: number, whole: number): string => `${bare({ part, whole })} %`;

/**
 * A range of shares: "1.3 to 25.0 %"; "24.3 %" if both are printed alike; "1.3 % or more" if the upper bound has
 * `whole` 0, which means unknown.
 */
export function range(least: Share, most: Share): string {
  if (isOpen(most)) return `${bare(least)} % or more`;
  const [low, high] = [bare(least), bare(most)];
  return low === high || isTiny(most) ? `${high} %` : `${isTiny(least) ? '0' : low} to ${high} %`;
}
const isOpen = ({ part, whole }: Share): boolean => whole <= 0 && part > 0;

/** The phrase that follows "by" for an estimated range: "about 1.3 %", "less than 0.1 %", or a lower bound. */
export function estimatedRange(least: Share, most: Share, atLeast: boolean): string {
  if (isTiny(most)) return atLeast ? 'less than 0.1 %, or more' : 'less than 0.1 %';
  if (!atLeast) return `about ${range(least, most)}`;
  return isOpen(most) ? range(least, most) : `${range(least, most)} or more`;
}

/** A range of times: "1.30 ms to 25.0 ms"; "24.3 ms" if both are printed alike. */
export function timeRange(leastNs: number, mostNs: number, options: Letters): string {
  const [low, high] = [time(leastNs, options), time(mostNs, options)];
  return low === high ? high : `${low} to ${high}`;
}

/** A number without a unit, such as a mean number of processors: "2.5". */
export function figure(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) < 0.005) return '<0.01';
  return fixed(value, Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2);
}

/** A number below 1 that is compared with another one: "0.031". */
export const fine = (value: number): string => value.toFixed(3);

function signed(share: number): string {
  if (Math.abs(share) >= 9.995) return count(100 * share);
  const text = (100 * share).toFixed(1);
  return text === '-0.0' ? '0.0' : text;
}

/** A share that may be negative, or above 1: "-0.4 %", "1,234 %". */
export const signedPercent = (share: number): string => `${signed(share)} %`;

/** A range of shares that may be negative: "-0.4 to 1.2 %". */
export const signedRange = (low: number, high: number): string => `${signed(low)} to ${signed(high)} %`;

/** A frequency in Hz: "10.0 kHz", "950 Hz". */
export function rate(hz: number): string {
  return hz >= 999.5 ? `${fixed(hz / 1000, decimalsFor(hz / 1000))} kHz` : `${fixed(hz, decimalsFor(hz))} Hz`;
}

/** A mean number of threads or processors in a sentence: "2", "1.6". */
export function mean(value: number): string {
  return Math.abs(value - Math.round(value)) < 0.05 ? value.toFixed(0) : value.toFixed(1);
}
