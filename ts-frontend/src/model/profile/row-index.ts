/**
 * Which rows of a table have the same key: the index behind "all tuples of a stack" or "all calls from a procedure".
 * Pure.
 */
export interface RowsBy {
  start: Uint32Array; // by key: first of its rows in `order`; one more at the end
  order: Uint32Array; // rows by key, those of one key in their own order
}

/** Keys are 0 .. keys - 1; rows for which `wanted` is 0 are left out. */
export function rowsBy(column: ArrayLike<number>, keys: number, wanted?: Uint8Array): RowsBy {
  const start = new Uint32Array(keys + 1);
  for (let k = 0; k < column.length; k++) if (wanted?.[k] !== 0) start[column[k]! + 1]!++;
  for (let key = 0; key < keys; key++) start[key + 1]! += start[key]!;
  const order = new Uint32Array(start[keys]!);
  const next = start.slice(0, keys);
  for (let k = 0; k < column.length; k++) if (wanted?.[k] !== 0) order[next[column[k]!]!++] = k;
  return { start, order };
}

export function rowsOfKey({ start, order }: RowsBy, key: number): Uint32Array {
  return order.subarray(start[key], start[key + 1]);
}
