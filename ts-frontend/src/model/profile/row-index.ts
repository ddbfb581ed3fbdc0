/** The rows of a table by key: the index for "all tuples of a stack" or "all calls from a procedure". Pure. */
import { countAt, item, u32 } from './columns.js';

export interface RowsBy {
  start: Uint32Array; // by key: index in `order` of its first row; one more element at the end
  order: Uint32Array; // rows sorted by key; rows with the same key keep their order
}

/** Keys are 0 .. keys - 1; rows whose `wanted` is 0 are left out. */
export function rowsBy(column: ArrayLike<number>, keys: number, wanted?: Uint8Array): RowsBy {
  const start = new Uint32Array(keys + 1);
  for (let k = 0; k < column.length; k++) if (wanted?.[k] !== 0) countAt(start, item(column, k) + 1);
  for (let key = 0; key < keys; key++) countAt(start, key + 1, u32(start, key));
  const order = new Uint32Array(u32(start, keys));
  const next = start.slice(0, keys);
  for (let k = 0; k < column.length; k++)
    if (wanted?.[k] !== 0) {
      const key = item(column, k);
      order[u32(next, key)] = k;
      countAt(next, key);
    }
  return { start, order };
}

export function rowsOfKey({ start, order }: RowsBy, key: number): Uint32Array {
  return order.subarray(u32(start, key), u32(start, key + 1));
}
