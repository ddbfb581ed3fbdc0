/**
 * Where the effort of a run went, and what that says of how it is divided (docs/reference/metrics.md, section 4):
 * overhead by kind, and the guidance of Tallent and Mellor-Crummey (PPoPP 2009, table 1). Pure.
 */
import { f64, item, u32, u8 } from '../profile/columns.js';
import { KernelWork, State, type RawProfile } from '../profile/raw-profile.js';
import type { Effort, Guidance, OverheadKind } from '../result/effort.js';
import type { Entity } from '../result/types.js';

/** Shares of effort from which idleness, or overhead, is high. */
export const highIdleness = 0.2;
export const highOverhead = 0.1;

const kernelKinds = new Map<number, OverheadKind>([
  [KernelWork.futex, 'synchronization'],
  [KernelWork.lock, 'synchronization'],
  [KernelWork.yield, 'scheduling'],
  [KernelWork.thread, 'threads'],
]);

/** Of each stack: whether its innermost procedure is of a library that divides work among threads. */
function inRuntime({ stacks, entities }: RawProfile): Uint8Array {
  const inside = new Uint8Array(stacks.parent.length);
  for (let node = 1; node < inside.length; node++) {
    const { kind, origin } = item(entities, u32(stacks.entity, node));
    inside[node] = kind === 'procedure' ? Number(origin === 'openmp') : item(inside, u32(stacks.parent, node));
  }
  return inside;
}

function overheadOf(raw: RawProfile): Record<OverheadKind, number> {
  const { tuples, head } = raw;
  const runtime = inRuntime(raw);
  const overhead: Record<OverheadKind, number> = { synchronization: 0, scheduling: 0, threads: 0, library: 0 };
  for (let k = 0; k < tuples.ns.length; k++) {
    const [state, ns] = [u8(tuples.state, k), f64(tuples.ns, k)];
    const kernel = kernelKinds.get(u8(tuples.kernel, k));
    if (state === State.overhead) overhead.scheduling += ns;
    else if (state !== State.useful) continue;
    else if (kernel !== undefined) overhead[kernel] += ns;
    else if (item(runtime, u32(tuples.stack, k)) === 1) overhead.library += ns;
  }
  // the package's scheduler makes its threads, too; what that takes was measured as the program started
  const made = Math.min(overhead.scheduling, (head.spawns * head.spawnPs) / 1000);
  overhead.scheduling -= made;
  overhead.threads += made;
  return overhead;
}

export function guidanceOf(idleness: number, overhead: number): Guidance {
  if (idleness >= highIdleness) return overhead >= highOverhead ? 'another' : 'finer';
  return overhead >= highOverhead ? 'coarser' : 'effective';
}

/** undefined: nothing ran. */
export function effortOf(raw: RawProfile, root: Entity): Effort | undefined {
  const workNs = root.processorTimeNs;
  const waitingNs = root.idlenessNs + root.spinBlameNs;
  const effortNs = workNs + waitingNs;
  if (effortNs === 0) return undefined;
  const overhead = overheadOf(raw);
  const known = raw.head.publisher === 'threadlib' || raw.head.paths.kernel;
  const overheadNs = Math.min(
    workNs,
    Object.values(overhead).reduce((sum, ns) => sum + ns, 0),
  );
  return {
    effortNs,
    workNs,
    idlenessNs: root.idlenessNs,
    spinningNs: root.spinBlameNs,
    overheadNs,
    overhead,
    guidance: known ? guidanceOf(waitingNs / effortNs, overheadNs / effortNs) : null,
  };
}
