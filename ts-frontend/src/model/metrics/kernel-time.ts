/**
 * System time of entities: the processor time that the kernel spent on their behalf, according to samples
 * (docs/reference/metrics.md, section 6). Few tuples have any, so each is charged separately along its stack. Pure.
 */
import { addAt, f64, u32, u8 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import type { Tables } from './tables.js';

const isKernel = (work: number): boolean => work !== KernelWork.none && work !== KernelWork.lock;

/** System time in ns by entity, inclusive; undefined: the samples do not show it. */
export function systemTimesOf(
  raw: RawProfile,
  { stacks, groupOf, weights, entities }: Tables,
): Float64Array | undefined {
  const { tuples, head } = raw;
  if (!head.paths.kernel) return undefined;
  const system = new Float64Array(entities);
  for (let k = 0; k < tuples.ns.length; k++) {
    if (!isKernel(u8(tuples.kernel, k)) || tuples.state[k] !== State.useful) continue;
    const ns = f64(weights, k),
      thread = u32(tuples.thread, k);
    addAt(system, 0, ns);
    if (thread !== 0) {
      addAt(system, thread, ns);
      if (u32(groupOf, thread) !== 0) addAt(system, u32(groupOf, thread), ns);
    }
    for (let n = u32(tuples.stack, k); n !== 0; n = u32(stacks.parent, n)) {
      if (stacks.first[n] === 1) addAt(system, u32(stacks.entity, n), ns);
      if (stacks.firstOfGroup[n] === 1) addAt(system, u32(groupOf, u32(stacks.entity, n)), ns);
    }
  }
  return system;
}
