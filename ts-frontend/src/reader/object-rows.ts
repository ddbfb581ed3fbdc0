/** Builds rows of objects from columns on demand: a profile has thousands of objects, of which a screen shows few. */
import { item } from '../model/index.js';
import type { RawObject } from '../model/index.js';

type Counts =
  | 'capacity'
  | 'instances'
  | 'acquisitions'
  | 'contended'
  | 'waitNs'
  | 'waitMaxNs'
  | 'spinNs'
  | 'holdNs'
  | 'holdMaxNs'
  | 'observedNs'
  | 'queueLengthNs';
export interface ObjectColumns extends Record<'entity' | Counts, ArrayLike<number>> {
  queueNs: Float64Array; // the arrays of all rows, concatenated
  waitHist: Uint32Array;
  holdHist: Uint32Array;
}

class Row implements RawObject {
  constructor(
    private readonly columns: ObjectColumns,
    private readonly row: number,
  ) {}
  get entity(): number {
    return item(this.columns.entity, this.row);
  }
  get capacity(): number {
    return item(this.columns.capacity, this.row);
  }
  get instances(): number {
    return item(this.columns.instances, this.row);
  }
  get acquisitions(): number {
    return item(this.columns.acquisitions, this.row);
  }
  get contended(): number {
    return item(this.columns.contended, this.row);
  }
  get waitNs(): number {
    return item(this.columns.waitNs, this.row);
  }
  get waitMaxNs(): number {
    return item(this.columns.waitMaxNs, this.row);
  }
  get spinNs(): number {
    return item(this.columns.spinNs, this.row);
  }
  get holdNs(): number {
    return item(this.columns.holdNs, this.row);
  }
  get holdMaxNs(): number {
    return item(this.columns.holdMaxNs, this.row);
  }
  get observedNs(): number {
    return item(this.columns.observedNs, this.row);
  }
  get queueLengthNs(): number {
    return item(this.columns.queueLengthNs, this.row);
  }
  get queueNs(): Float64Array {
    return this.#part(this.columns.queueNs);
  }
  get waitHist(): Uint32Array {
    return this.#part(this.columns.waitHist);
  }
  get holdHist(): Uint32Array {
    return this.#part(this.columns.holdHist);
  }
  #part<T extends Float64Array | Uint32Array>(all: T): T {
    const each = all.length / this.columns.entity.length;
    return all.subarray(this.row * each, (this.row + 1) * each) as T;
  }
}

export function objectRows(columns: ObjectColumns): RawObject[] {
  return Array.from(columns.entity, (_, row) => new Row(columns, row));
}
