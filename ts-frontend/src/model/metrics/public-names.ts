/**
 * Meaningful names for procedures of stripped libraries: the exported procedure that a nameless one runs for
 * (docs/reference/findings.md, "Names"). Pure.
 */
import { addAt, f64, item, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { RawEntity, RawProfile } from '../profile/raw-profile.js';
import { rowsOfKey } from '../profile/row-index.js';
import { isBusy } from './sums.js';
import type { Tables } from './tables.js';

/** A nameless procedure is attributed to an exported one that has at least this share of its time. */
const mostOfIt = 0.75;

/** Whether a procedure has no name in its module's tables, so that only its address is known. */
export const isNameless = ({ missing }: Pick<RawEntity, 'missing'>): boolean =>
  missing === 'name' || missing === 'stripped';

/**
 * For each nameless procedure: the nearest named procedure on its path in the same module, with no other module
 * between, that has at least three quarters of its processor time.
 */
export function publicNamesOf(raw: RawProfile, { stacks, byStack, weights }: Tables): ReadonlyMap<number, number> {
  const { count, parent, entity } = stacks;
  const time = new Float64Array(count); // inclusive processor time
  for (let n = count - 1; n > 0; n--) {
    for (const k of rowsOfKey(byStack, n)) if (isBusy(u8(raw.tuples.state, k))) addAt(time, n, f64(weights, k));
    addAt(time, u32(parent, n), f64(time, n));
  }
  const total = new Map<number, number>(),
    by = new Map<number, Map<number, number>>();
  for (let n = 1; n < count; n++) {
    const id = u32(entity, n),
      its = item(raw.entities, id);
    if (its.kind !== 'procedure' || !isNameless(its) || stacks.first[n] !== 1 || f64(time, n) <= 0) continue;
    addTo(total, id, f64(time, n));
    const named = nearestNamed(raw, stacks, n, its.module);
    if (named === 0) continue;
    let row = by.get(id);
    if (!row) by.set(id, (row = new Map<number, number>()));
    addTo(row, named, f64(time, n));
  }
  const names = new Map<number, number>();
  for (const [id, row] of by)
    for (const [named, ns] of row) if (ns >= mostOfIt * (total.get(id) ?? 0)) names.set(id, named);
  return names;
}

function nearestNamed(raw: RawProfile, { parent, entity }: Tables['stacks'], node: number, module: number): number {
  for (let n = u32(parent, node); n !== 0; n = u32(parent, n)) {
    const its = item(raw.entities, u32(entity, n));
    if (its.kind !== 'procedure') continue;
    if (its.module !== module) return 0;
    if (!isNameless(its)) return u32(entity, n);
  }
  return 0;
}
