/** Finds the code that allocates garbage-collected memory, by the time that its allocations take. Pure functions. */
import { Purpose } from '../../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State } from '../../profile/raw-profile.js';
import type { AllocatingFacts } from '../../result/facts.js';
import { isOwn } from '../code-origin.js';
import { shownId, type FindingContext } from '../context.js';
import { isFor } from '../purposes.js';

/** If allocation takes less than this share of the processor time, there are too few samples to attribute it. */
const leastPart = 0.05;

/**
 * The innermost procedure of the program that contains at least half of the allocation time; null if there is none, or
 * too few samples.
 */
export function allocatingMost({ model, tables }: FindingContext): AllocatingFacts | null {
  const { tuples } = model.raw;
  const { stacks, weights } = tables;
  const has = (purpose: number): Uint8Array =>
    Uint8Array.from(model.entities, (one) => (one.kind === 'procedure' && isFor(one, purpose) ? 1 : 0));
  const allocates = has(Purpose.allocation),
    collects = has(Purpose.collection);
  const entry = new Uint32Array(stacks.count), // by node: the outermost allocating procedure, 0 if none
    isCollecting = new Uint8Array(stacks.count);
  for (let n = 1; n < stacks.count; n++) {
    const up = u32(stacks.parent, n),
      entity = u32(stacks.entity, n);
    entry[n] = u32(entry, up) || (allocates[entity] === 1 ? n : 0);
    isCollecting[n] = u8(isCollecting, up) || u8(collects, entity);
  }
  const byEntity = new Map<number, number>(); // innermost first
  let npt = 0,
    ns = 0;
  for (let k = 0; k < weights.length; k++) {
    const node = u32(tuples.stack, k),
      at = u32(entry, node);
    if (tuples.state[k] !== State.useful || at === 0 || isCollecting[node] === 1) continue;
    const its = f64(weights, k) / Math.max(1, u16(tuples.busy, k));
    npt += its;
    ns += f64(weights, k);
    for (let n = u32(stacks.parent, at); n !== 0; n = u32(stacks.parent, n)) {
      const entity = item(model.entities, u32(stacks.entity, n));
      if (u8(stacks.first, n) && entity.kind === 'procedure' && isOwn(entity))
        addTo(byEntity, shownId(model, entity.id), its);
    }
  }
  if (ns < leastPart * model.root.processorTimeNs) return null;
  const most = [...byEntity].filter(([, its]) => its >= npt / 2).sort((a, b) => a[1] - b[1])[0];
  return most ? { entity: most[0], part: most[1] / npt, share: ns / Math.max(1, model.root.processorTimeNs) } : null;
}
