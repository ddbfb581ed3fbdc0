/**
 * Of several procedures that take a lock: one that holds it far longer each time than the others do, which the mean of
 * all hides (docs/reference/findings.md, "Locks"). Pure functions.
 */
import { f64, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { isBusy } from '../../metrics/sums.js';
import { Waiting } from '../../profile/raw-profile.js';
import type { LongestFacts } from '../../result/lock-facts.js';
import type { FindingContext } from '../context.js';

/** It holds the lock for that many times as long as the others do, and has that share of what they all hold. */
const farLonger = 10;
const mostly = 0.5;

/**
 * Null if acquisitions are not counted by caller, or if none holds it for much longer than others. `procedure` is as
 * the profile counts calls: what is inlined into a procedure belongs to it.
 */
export function longTaker({ model, tables }: FindingContext, objects: ReadonlySet<number>): LongestFacts | null {
  const times = new Map<number, number>();
  for (const { entity, count } of tables.calls.callersOf([...objects])) if (entity !== 0) times.set(entity, count);
  if (times.size < 2) return null;
  const held = heldBy({ model, tables }, objects, times);
  const [longest] = [...held].sort((a, b) => b[1] - a[1]);
  if (!longest) return null;
  const [procedure, ns] = longest;
  const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
  const own = times.get(procedure) ?? 0,
    all = sum(held.values()),
    others = sum(times.values()) - own;
  if (own === 0 || others === 0 || ns < mostly * all) return null;
  const eachNs = ns / own,
    othersEachNs = (all - ns) / others;
  return eachNs >= farLonger * othersEachNs ? { procedure, times: own, eachNs, othersEachNs } : null;
}

/** Processor time on paths on which one of the locks is held, by the procedure that took it. */
function heldBy(
  { model, tables }: Pick<FindingContext, 'model' | 'tables'>,
  objects: ReadonlySet<number>,
  takers: ReadonlyMap<number, number>,
): Map<number, number> {
  const { parent, entity, count } = tables.stacks;
  const taker = new Uint32Array(count); // by node; 0: none of the locks is on its path, or nobody knows who took it
  for (let n = 1; n < count; n++) {
    taker[n] = u32(taker, u32(parent, n));
    if (!objects.has(u32(entity, n))) continue;
    let at = u32(parent, n);
    while (at !== 0 && !takers.has(u32(entity, at))) at = u32(parent, at);
    taker[n] = u32(entity, at);
  }
  const { tuples } = model.raw;
  const held = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      by = u32(taker, node);
    if (by === 0 || !isBusy(u8(tuples.state, k))) continue;
    if (tuples.waiting[k] !== Waiting.none && objects.has(u32(entity, node))) continue;
    addTo(held, by, f64(tuples.ns, k));
  }
  return held;
}
