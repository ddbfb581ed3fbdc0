/**
 * Findings about threads that wait for each other by giving up the CPU in a loop (sched_yield): each iteration is a
 * system call, and the pieces of work take less time than handing them over (docs/reference/findings.md, "Yields").
 * Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { isOwn } from '../evidence/code-origin.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOfRun, shownId } from '../evidence/context.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import { isBusy } from '../metrics/sums.js';
import type { Finding } from '../result/types.js';

/**
 * The least share of the processor time in yields that is reported; threads that wait for a moment now and then spend
 * less.
 */
const leastYielding = 0.15;
/**
 * The least share of the yields that must be recognized as waiting (one right after another); otherwise threads yield
 * between pieces of work.
 */
const leastWaiting = 0.1;

interface Yields {
  ns: number; // processor time in the system call
  spinningNs: number; // the part of it that is certainly waiting
  otherNs: number; // processor time of waiting outside the call
  cost: number; // elapsed time (NPT) of the calls
  callers: Map<number, number>;
  threads: Set<number>;
}

/**
 * The call that the program made: the outermost library procedure that is called by the program's own code; else the
 * innermost procedure.
 */
function calledAt({ model, tables, own }: FindingContext, node: number): number {
  let called = 0;
  for (let n = node; n !== 0; n = u32(tables.stacks.parent, n)) {
    const entity = item(model.entities, u32(tables.stacks.entity, n));
    if (entity.kind !== 'procedure' || entity.id === 0) continue;
    if (isOwn(entity)) return called !== 0 ? called : entity.id;
    called = entity.id;
  }
  return u32(own.procedure, node);
}

function measure(context: FindingContext): Yields {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const yields: Yields = { ns: 0, spinningNs: 0, otherNs: 0, cost: 0, callers: new Map(), threads: new Set() };
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k),
      isSpinning = state === State.spinning;
    if (!isSpinning && !isBusy(state)) continue;
    const ns = isSpinning ? f64(tuples.ns, k) : f64(tables.weights, k);
    if (tuples.kernel[k] !== KernelWork.yield) {
      if (isSpinning || tuples.kernel[k] === KernelWork.lock || tuples.kernel[k] === KernelWork.futex)
        yields.otherNs += ns;
      continue;
    }
    yields.ns += ns;
    if (isSpinning) yields.spinningNs += ns;
    yields.cost += ns / Math.max(1, u16(tuples.busy, k) + u16(tuples.spinning, k));
    yields.threads.add(u32(tuples.thread, k));
    // The call that a library's own thread works for says more than the thread itself.
    const called = calledAt(context, u32(tuples.stack, k));
    if (called !== 0) addTo(yields.callers, shownId(model, called), ns);
  }
  return yields;
}

const areWaits = ({ spinningNs, ns }: Yields): boolean => spinningNs >= leastWaiting * ns;
/** Whether threads wait by yielding, rather than yield between pieces of their work (kernel-work.ts). */
export const yieldsAreWaits = (context: FindingContext): boolean => areWaits(measure(context));

export function yieldFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const { elapsedNs, balance, kernelUsage } = model;
  const yields = measure(context);
  const processorNs = model.root.processorTimeNs + balance.spinningNs;
  // If samples of switches were missed, the others stand for too much time; the system time that the kernel counted is
  // an upper bound.
  const yieldNs = kernelUsage
    ? Math.min(yields.ns, (processorNs * kernelUsage.systemNs) / (kernelUsage.userNs + kernelUsage.systemNs))
    : yields.ns;
  if (yields.threads.size < 2 || yieldNs < leastYielding * processorNs) return [];
  if (!areWaits(yields)) return [];
  const workNs = Math.max(0, processorNs - yieldNs - yields.otherNs);
  const savingNs = Math.max(elapsedNs - workNs, 0);
  if (savingNs < least) return [];
  const byTime = [...yields.callers].sort((a, b) => b[1] - a[1]).map(([id]) => id);
  const id = byTime.find((one) => item(model.entities, one).missing !== 'stripped') ?? byTime[0] ?? 0;
  return [
    findingOf(model, {
      entity: id,
      kind: 'spinning',
      change: 'fewer-threads',
      advice: { pieces: 'larger', threads: 'fewer' },
      costNs: Math.max(yields.cost, savingNs),
      savingNs,
      processorUse: processorUseOfRun(model),
      facts: {
        form: 'yields',
        share: yieldNs / Math.max(1, processorNs),
        workShare: workNs / Math.max(1, processorNs),
        threads: yields.threads.size,
        aloneNs: savingNs,
      },
      related: byTime.slice(0, 3),
    }),
  ];
}
