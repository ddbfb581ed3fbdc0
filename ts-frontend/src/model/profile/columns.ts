/**
 * Elements of columns and lists that must be there: an index outside, or a value that is missing, is a mistake of the
 * model, and ends it at once instead of making numbers of nothing. One function for each type of column, and each as
 * short as can be: the engine compiles them to plain loads then; one for all of them takes several times as long.
 */
function outside(list: { readonly length: number }, index: number): never {
  throw new RangeError(`row ${index} of ${list.length}`);
}

export const f64 = (column: Float64Array, index: number): number => column[index] ?? outside(column, index);
export const u32 = (column: Uint32Array, index: number): number => column[index] ?? outside(column, index);
export const u16 = (column: Uint16Array, index: number): number => column[index] ?? outside(column, index);
export const u8 = (column: Uint8Array, index: number): number => column[index] ?? outside(column, index);
export const i32 = (column: Int32Array, index: number): number => column[index] ?? outside(column, index);
/** Of a list, or of columns of several types. */
export const item = <T>(list: ArrayLike<T>, index: number): T => list[index] ?? outside(list, index);

/** Adds to an element. */
export function addAt(column: Float64Array, index: number, amount: number): void {
  column[index] = f64(column, index) + amount;
}
/** Counts up an element. */
export function countAt(column: Uint32Array, index: number, more = 1): void {
  column[index] = u32(column, index) + more;
}

/** What was looked up, and must have been found. */
export function defined<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error('what must be there is not');
  return value;
}
