/** Exact call counts by caller and callee, including groups. Lists are computed on demand. Pure. */
import { addAt, f64, u32 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import type { RowsBy } from '../profile/row-index.js';
import { rowsBy, rowsOfKey } from '../profile/row-index.js';
import type { CallCount } from '../result/types.js';

export class Calls {
  readonly total: Float64Array; // number of calls, by entity
  #byCaller: RowsBy | undefined;
  #byCallee: RowsBy | undefined;

  constructor(
    private readonly table: RawProfile['calls'],
    groupOf: Uint32Array,
    entities: number,
  ) {
    this.total = new Float64Array(entities);
    for (let k = 0; k < table.count.length; k++) {
      const callee = u32(table.callee, k);
      if (callee === 0) continue;
      addAt(this.total, callee, f64(table.count, k));
      if (u32(groupOf, callee) !== 0) addAt(this.total, u32(groupOf, callee), f64(table.count, k));
    }
  }

  /** The callers of any of these entities, most calls first. */
  callersOf(entities: readonly number[]): CallCount[] {
    this.#byCallee ??= rowsBy(this.table.callee, this.total.length);
    return this.#list(this.#byCallee, entities, this.table.caller);
  }
  /** The callees of any of these entities, most calls first. */
  calleesOf(entities: readonly number[]): CallCount[] {
    this.#byCaller ??= rowsBy(this.table.caller, this.total.length);
    return this.#list(this.#byCaller, entities, this.table.callee).filter(({ entity }) => entity !== 0);
  }
  #list(rows: RowsBy, entities: readonly number[], other: Uint32Array): CallCount[] {
    const counts = new Map<number, number>();
    for (const entity of entities)
      if (entity !== 0)
        for (const k of rowsOfKey(rows, entity))
          counts.set(u32(other, k), (counts.get(u32(other, k)) ?? 0) + f64(this.table.count, k));
    return [...counts]
      .map(([entity, count]) => ({ entity, count }))
      .sort((a, b) => b.count - a.count || a.entity - b.entity);
  }
}
