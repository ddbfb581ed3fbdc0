/**
 * Limits by the kernel's work on behalf of the program: memory that is given back and taken again, reads and writes of
 * few bytes, system calls (docs/reference/findings.md, "Kernel"). Pure.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { pathsThrough } from '../evidence/paths-through.js';
import { isFor } from '../evidence/purposes.js';
import { shareFaultedAgain } from '../metrics/kernel-usage.js';
import { isBusy } from '../metrics/sums.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import type { KernelWorkFacts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';

/** The kernel does what it is for below this part of the elapsed time. */
const leastPart = 0.05;
/** Calls that move fewer bytes than this cost more than the bytes: a buffer of so many makes them that much rarer. */
const smallBytes = 4096;
/** Huge pages leave so much of what first touches of memory take: each page is still cleared. */
const hugeLeaves = 0.3;
/**
 * Samples in the kernel that are in no system call are those of faults, and of what interrupts a thread: faults take no
 * more than this each (a huge page is cleared in less), the rest is not the program's.
 */
const faultNs = 500_000;
/** Who maps and unmaps is reported where that is this part of the cost. */
const leastMapping = 0.02;

type Work = KernelWorkFacts['work'];
const workOf: Partial<Record<number, Work>> = {
  [KernelWork.fault]: 'memory',
  [KernelWork.memory]: 'memory',
  [KernelWork.read]: 'read',
  [KernelWork.write]: 'write',
  [KernelWork.call]: 'calls',
  [KernelWork.poll]: 'calls',
};
/** Values of enum qz_kernel that are such work. */
export const reasonsOf = (work: Work): number[] =>
  Object.entries(workOf).flatMap(([reason, its]) => (its === work ? [Number(reason)] : []));

interface Spent {
  cost: number;
  busy: number;
  spinning: number;
  byOwner: Map<number, number>;
  byTaker: Map<number, number>; // of memory: who maps and unmaps
  byCall: Map<number, number>; // procedures of run-time libraries
  allocating: number; // within the allocator
  mapping: number; // in calls that map and unmap, the rest is faults
}
const nothing = (): Spent => ({
  cost: 0,
  busy: 0,
  spinning: 0,
  byOwner: new Map(),
  byTaker: new Map(),
  byCall: new Map(),
  allocating: 0,
  mapping: 0,
});

function measure({ model, tables, own, covered }: FindingContext): Map<Work, Spent> {
  const { tuples } = model.raw;
  const { stacks, weights } = tables;
  const all = new Map<Work, Spent>();
  for (let k = 0; k < weights.length; k++) {
    const work = workOf[u8(tuples.kernel, k)];
    if (work === undefined || tuples.state[k] !== State.useful || covered[k] === 1) continue;
    let spent = all.get(work);
    if (!spent) all.set(work, (spent = nothing()));
    const node = u32(tuples.stack, k),
      npt = f64(weights, k) / Math.max(1, u16(tuples.busy, k));
    spent.cost += npt;
    spent.busy += f64(weights, k);
    spent.spinning += npt * u16(tuples.spinning, k);
    addTo(spent.byOwner, shownId(model, u32(own.procedure, node)), npt);
    if (tuples.kernel[k] === KernelWork.memory) {
      spent.mapping += npt;
      addTo(spent.byTaker, shownId(model, u32(own.procedure, node)), npt);
    }
    if (own.hidden[node] !== 1) continue;
    const called = u32(stacks.entity, node);
    addTo(spent.byCall, shownId(model, called), npt);
    if (tuples.kernel[k] === KernelWork.memory && isFor(item(model.entities, called), Purpose.allocator))
      spent.allocating += npt;
  }
  return all;
}

/** Calls and bytes for each; null: not known. */
function callsOf({ kernelUsage: usage }: Model, work: Work): KernelWorkFacts['calls'] {
  const calls = usage?.calls;
  if (!calls) return null;
  if (work === 'read' && calls.reads > 0) return { count: calls.reads, bytesEach: calls.readBytes / calls.reads };
  if (work === 'write' && calls.writes > 0)
    return { count: calls.writes, bytesEach: calls.writtenBytes / calls.writes };
  return null;
}

function savedOf(work: Work, cost: number, again: number | null, calls: KernelWorkFacts['calls']): number {
  if (work === 'memory') return cost * Math.max(again ?? 0, (1 - (again ?? 0)) * (1 - hugeLeaves));
  if (work === 'calls') return cost / 2;
  return calls && calls.bytesEach < smallBytes ? cost * (1 - calls.bytesEach / smallBytes) : 0;
}

const most = (map: ReadonlyMap<number, number>): [number, number] | undefined =>
  [...map].sort((a, b) => b[1] - a[1])[0];

/** NPT of what these procedures do, with all that they call. */
function wholeOf(context: FindingContext, procedures: readonly number[]): number {
  const { model, tables } = context;
  const { tuples } = model.raw;
  const through = pathsThrough(context, new Set(procedures.filter((id) => id !== 0)));
  let npt = 0;
  for (let k = 0; k < tables.weights.length; k++)
    if (u8(through, u32(tuples.stack, k)) === 1 && isBusy(u8(tuples.state, k)))
      npt += f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
  return npt;
}

/** Reads and writes of few bytes each are made larger together: one finding, about the one that takes more. */
function joinTransfers(context: FindingContext, findings: readonly Finding[]): Finding[] {
  const transfers = findings
    .filter(({ facts }) => facts.form === 'kernel-work' && (facts.work === 'read' || facts.work === 'write'))
    .sort((a, b) => b.costNs - a.costNs);
  const [first, second] = transfers;
  if (first?.facts.form !== 'kernel-work') return [...findings];
  const { facts } = first;
  if (second?.facts.form === 'kernel-work') {
    const part = first.costNs / (first.costNs + second.costNs);
    const mean = (one: number, other: number): number => part * one + (1 - part) * other;
    const [a, b] = [first.processorUse, second.processorUse];
    first.processorUse = {
      busy: mean(a.busy, b.busy),
      spinning: mean(a.spinning, b.spinning),
      idle: mean(a.idle, b.idle),
    };
    first.costNs += second.costNs;
    first.savingNs += second.savingNs;
    first.related.push(second.entity, ...second.related);
    facts.both = second.facts.calls;
  }
  // What else those procedures do may be for each call, too.
  const whole = wholeOf(context, [first.entity, ...(second ? [second.entity] : [])]);
  facts.leastNs = first.savingNs;
  facts.savesNs = Math.max(first.savingNs, (whole * first.savingNs) / first.costNs);
  return findings.filter((one) => one !== second);
}

export function kernelWorkFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  const findings: Finding[] = [];
  for (const [work, spent] of measure(context)) {
    const isPlausible =
      work !== 'memory' ||
      !model.kernelUsage ||
      spent.cost - spent.mapping <= faultNs * (model.kernelUsage.faults.minor + model.kernelUsage.faults.major);
    if (!isPlausible) continue;
    const { cost } = spent;
    const again = work === 'memory' ? shareFaultedAgain(model.kernelUsage) : null,
      calls = callsOf(model, work);
    const savingNs = savedOf(work, cost, again, calls);
    if (cost < Math.max(least, leastPart * model.elapsedNs) || savingNs < least) continue;
    // Memory is changed where it is taken and given back, not where it is first touched.
    const takes = work === 'memory' && spent.mapping >= leastMapping * cost;
    const [owner] = most(takes ? spent.byTaker : spent.byOwner) ?? [0];
    const called = most(spent.byCall);
    findings.push(
      findingOf(model, {
        entity: owner,
        kind: 'kernel',
        change: 'fewer-calls',
        costNs: cost,
        savingNs,
        processorUse: processorUseOf(model.processors, spent.busy / cost, spent.spinning / cost),
        facts: {
          form: 'kernel-work',
          work,
          called: called && called[1] >= cost / 10 ? called[0] : null,
          faults: model.kernelUsage && work === 'memory' ? model.kernelUsage.faults.minor : null,
          again,
          allocator: spent.allocating >= spent.mapping / 2 && spent.allocating > 0,
          mapping: spent.mapping / cost,
          takes,
          calls,
          both: null,
          // mapping and unmapping goes; memory that is kept comes out of caches instead of from the kernel
          leastNs: work === 'memory' ? Math.min(savingNs, spent.mapping * (again ?? 0)) : savingNs,
          savesNs: savingNs,
        },
        related: called ? [called[0]] : [],
      }),
    );
  }
  return joinTransfers(context, findings);
}
