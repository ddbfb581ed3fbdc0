/**
 * Access to elements of columns and lists that must exist: an index out of range or a missing value is an error of the
 * model, and throws instead of producing wrong numbers. There is one function for each type of column, as short as
 * possible, because the engine then compiles them to plain loads; one function for all types takes several times as
 * long.
 */
function outside(list: { readonly length: number }, index: number): never {
  throw new RangeError(`row ${index} of ${list.length}`);
}

export const f64 = (column: Float64Array, index: number): number => column[index] ?? outside(column, index);
export const u32 = (column: Uint32Array, index: number): number => column[index] ?? outside(column, index);
export const u16 = (column: Uint16Array, index: number): number => column[index] ?? outside(column, index);
export const u8 = (column: Uint8Array, index: number): number => column[index] ?? outside(column, index);
export const i32 = (column: Int32Array, index: number): number => column[index] ?? outside(column, index);
/** An element of a list, or of columns of several types; throws if there is none. */
export const item = <T>(list: ArrayLike<T>, index: number): T => list[index] ?? outside(list, index);

/** Adds `amount` to an element. */
export function addAt(column: Float64Array, index: number, amount: number): void {
  column[index] = f64(column, index) + amount;
}
/** Increases an element by `more`. */
export function countAt(column: Uint32Array, index: number, more = 1): void {
  column[index] = u32(column, index) + more;
}

/** The value of a look-up that must succeed; throws otherwise. */
export function defined<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new Error('what must be there is not');
  return value;
}
