/** How findings write numbers: three significant digits, units that people read. Pure. */

export function formatNs(ns: number): string {
  if (Math.abs(ns) < 0.5) return '0';
  const units: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']];
  for (const [size, unit] of units) if (Math.abs(ns) >= size * 0.9995) return `${significant(ns / size)} ${unit}`;
  return `${significant(ns)} ns`;
}

export function significant(value: number): string {
  const size = Math.abs(value);
  return size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : size >= 0.9995 ? value.toFixed(2) : size === 0 ? '0' : value.toPrecision(2);
}

export function formatShare(share: number): string {
  const percent = 100 * share;
  return `${percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** A mean number of processors or threads. */
export function formatCount(value: number): string {
  return Math.abs(value - Math.round(value)) < 0.05 ? value.toFixed(0) : value.toFixed(1);
}

export function formatEvents(count: number): string {
  return count >= 1e6 ? `${significant(count / 1e6)} million` : String(Math.round(count));
}
