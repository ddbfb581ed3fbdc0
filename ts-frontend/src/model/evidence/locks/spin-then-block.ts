/**
 * Bounds the cost of threads that spin before they block: they block for the same reason that makes them spin long.
 * What such waits cost while there are enough CPUs for all runnable threads bounds the saving beyond the spinning
 * itself (docs/reference/findings.md, "Threads"). Pure functions.
 */
import { f64, u16, u32 } from '../../profile/columns.js';
import { savedByRunning } from '../activity-levels.js';
import { addTo } from '../../profile/maps.js';
import type { FindingContext } from '../context.js';
import { State, Waiting } from '../../profile/raw-profile.js';

/** Procedures of the program in which threads spin. */
export function spinningProcedures({ model, own }: FindingContext): Set<number> {
  const { tuples } = model.raw;
  const found = new Set<number>();
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.state[k] === State.spinning && tuples.waiting[k] === Waiting.object)
      found.add(u32(own.procedure, u32(tuples.stack, k)));
  found.delete(0);
  return found;
}

/**
 * Elapsed time that would be saved if threads that wait in these procedures (blocked, spinning or just woken) ran
 * instead, at r <= P.
 */
export function behindSpinNs({ model, own }: FindingContext, procedures: ReadonlySet<number>): number {
  const { tuples, balance } = model.raw;
  const P = model.processors;
  const elapsed = new Map<number, number>(),
    waiting = new Map<number, number>(),
    woken = new Map<number, number>(); // by level
  for (let k = 0; k < balance.ns.length; k++)
    if (u32(balance.runnable, k) <= P)
      addTo(elapsed, u16(balance.busy, k) * (P + 1) + u16(balance.spinning, k), f64(balance.ns, k));
  for (let k = 0; k < tuples.ns.length; k++) {
    if (
      u32(tuples.runnable, k) > P ||
      tuples.waiting[k] === Waiting.none ||
      !procedures.has(u32(own.procedure, u32(tuples.stack, k)))
    )
      continue;
    const level = u16(tuples.busy, k) * (P + 1) + u16(tuples.spinning, k);
    addTo(waiting, level, f64(tuples.ns, k));
    if (tuples.waiting[k] === Waiting.woken && tuples.state[k] === State.useful) addTo(woken, level, f64(tuples.ns, k));
  }
  let saved = 0;
  for (const [level, ns] of waiting) {
    const time = elapsed.get(level) ?? 0;
    if (time === 0) continue;
    // a thread that was just woken is not at work yet
    const b = Math.max(0, Math.floor(level / (P + 1)) - (woken.get(level) ?? 0) / time);
    saved += savedByRunning({ time: Math.min(time, ns), width: ns / Math.min(time, ns) }, b, P - b);
  }
  return saved;
}
