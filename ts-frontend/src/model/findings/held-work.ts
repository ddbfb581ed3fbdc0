/**
 * The kernel's work while a contended lock is held, such as a flush for each line of a log: one change of it helps
 * twice, since the lock is also held for less time (docs/reference/findings.md, "Kernel"). Pure functions.
 */
import { f64, u32, u8 } from '../profile/columns.js';
import { Waiting } from '../profile/raw-profile.js';
import type { FindingContext } from '../evidence/context.js';
import { pathsThrough } from '../evidence/code/paths-through.js';
import { isBusy } from '../metrics/sums.js';
import type { HandOverFacts, LockFacts } from '../result/facts.js';
import type { Finding } from '../result/types.js';
import { reasonsOf } from './kernel-work.js';

/** The least share of the time for which the lock is held. */
const leastHeld = 0.3;
/** The finding about the kernel comes first if it saves at least this share of what the lock's does. */
const nearlyAsMuch = 0.5;

/** The share of the processor time of a lock's holders that the kernel works for these reasons. */
function partOf(context: FindingContext, lock: number, reasons: readonly number[]): number {
  const { tuples } = context.model.raw;
  const through = pathsThrough(context, new Set([lock]));
  let held = 0,
    inKernel = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (through[u32(tuples.stack, k)] !== 1 || !isBusy(u8(tuples.state, k)) || tuples.waiting[k] !== Waiting.none)
      continue;
    held += f64(tuples.ns, k);
    if (reasons.includes(u8(tuples.kernel, k))) inKernel += f64(tuples.ns, k);
  }
  return held > 0 ? inKernel / held : 0;
}

/** Puts findings about such work before those about the lock, which then refer to them. */
export function joinHeldWork(context: FindingContext, findings: readonly Finding[]): Finding[] {
  const ordered = [...findings];
  const pairs: [LockFacts | HandOverFacts, Finding][] = [];
  for (const lock of findings)
    for (const work of findings) {
      const { facts } = lock;
      if ((facts.form !== 'lock' && facts.form !== 'hand-overs') || work.facts.form !== 'kernel-work') continue;
      if (partOf(context, lock.entity, reasonsOf(work.facts)) < leastHeld) continue;
      pairs.push([facts, work]);
      const [at, before] = [ordered.indexOf(work), ordered.indexOf(lock)];
      if (at < before || work.savingNs < nearlyAsMuch * lock.savingNs) continue;
      ordered.splice(at, 1);
      ordered.splice(before, 0, work);
    }
  for (const [facts, work] of pairs) facts.shortenedBy ??= ordered.indexOf(work);
  return ordered;
}
