/**
 * Findings about the kernel's work for the program: memory that is returned and requested again, small reads and
 * writes, system calls (docs/reference/findings.md, "Kernel"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId, systemCall } from '../evidence/context.js';
import { wakingNs } from '../evidence/counted-waits.js';
import { isFlush, savedAsleep, withoutFlushes, writesThrough } from '../evidence/waits/flushes.js';
import { heldFlush } from '../evidence/locks/held-flush.js';
import { inAllocator } from '../evidence/code/in-allocator.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { pathsThrough } from '../evidence/code/paths-through.js';
import { isFor } from '../evidence/purposes.js';
import { shareFaultedAgain } from '../metrics/kernel-usage.js';
import { isBusy } from '../metrics/sums.js';
import { KernelWork, State } from '../profile/raw-profile.js';
import type { KernelWorkFacts } from '../result/facts.js';
import type { Finding, Model } from '../result/types.js';
import { yieldsAreWaits } from './yields.js';

/** The least share of the elapsed time that is reported. */
const leastPart = 0.05;
/**
 * Below this mean size, the call costs more than the transfer; a buffer of this size reduces the number of calls
 * accordingly.
 */
const smallBytes = 4096;
/** The share of the cost of first touches that remains with huge pages, which still have to be cleared. */
const hugeLeaves = 0.3;
/**
 * Samples in the kernel outside of system calls are page faults or interrupts. Page faults take at most this long each
 * (clearing a huge page takes less); the rest is not attributed to the program.
 */
const faultNs = 500_000;
/** The least share of the cost for which the procedures that map and unmap memory are reported. */
const leastMapping = 0.02;
/** Keeping memory is advised as well if at least this share of the page faults was for memory used before. */
const mostlyAgain = 0.5;

type Work = KernelWorkFacts['work'];
const workOf: Partial<Record<number, Work>> = {
  [KernelWork.fault]: 'memory',
  [KernelWork.memory]: 'memory',
  [KernelWork.read]: 'read',
  [KernelWork.write]: 'write',
  [KernelWork.yield]: 'yields',
  [KernelWork.call]: 'calls',
  [KernelWork.poll]: 'calls',
};
/** Values of enum qz_kernel that count as this kind of work. */
export const reasonsOf = ({ work, wakes, through }: Pick<KernelWorkFacts, 'work' | 'wakes' | 'through'>): number[] => [
  ...Object.entries(workOf).flatMap(([reason, its]) =>
    its === (work === 'flush' ? 'calls' : work) ? [Number(reason)] : [],
  ),
  ...(wakes !== null ? [KernelWork.poll] : []),
  ...(through ? [KernelWork.write] : []),
];

interface Spent {
  cost: number;
  busy: number;
  spinning: number;
  byOwner: Map<number, number>;
  byTaker: Map<number, number>; // the procedures that map and unmap memory
  byCall: Map<number, number>; // by procedure of a run-time library
  byCopy: Map<number, number>; // by such procedure that copies, page faults of what it writes to
  allocating: number; // within the allocator
  copying: number; // page faults of memory that a copy is written to
  mapping: number; // in calls that map and unmap; the rest is page faults
}
const nothing = (): Spent => ({
  cost: 0,
  busy: 0,
  spinning: 0,
  byOwner: new Map(),
  byTaker: new Map(),
  byCall: new Map(),
  byCopy: new Map(),
  allocating: 0,
  copying: 0,
  mapping: 0,
});

function measure(context: FindingContext): Map<Work, Spent> {
  const { model, tables, own, covered } = context;
  const { tuples } = model.raw;
  const { stacks, weights } = tables;
  const all = new Map<Work, Spent>();
  const inside = inAllocator(context);
  const wake = wakesOf(model) !== null;
  for (let k = 0; k < weights.length; k++) {
    const isWait = wake && tuples.kernel[k] === KernelWork.poll; // for what the reads then take
    const work = isWait ? 'read' : isFlush(context, k) ? 'flush' : workOf[u8(tuples.kernel, k)];
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
    if (tuples.kernel[k] === KernelWork.fault) {
      // the procedure that touches memory is not where it is requested
      if (isFor(item(model.entities, called), Purpose.copying)) {
        spent.copying += npt;
        addTo(spent.byCopy, shownId(model, called), npt);
      }
      continue;
    }
    addTo(spent.byCall, shownId(model, called), npt);
    if (tuples.kernel[k] === KernelWork.memory && inside[node] === 1) spent.allocating += npt;
  }
  return all;
}

/** If page faults take this share of the time at a place, its other time counts as waiting for new memory, too. */
const leastFaulting = 0.25;

/**
 * NPT outside of the kernel where most page faults occur: the code that touches new memory also waits for it there, in
 * caches that do not have it, and on virtual machines for the host, which maps it as well.
 */
function touchingOf({ model, tables, covered }: FindingContext): number {
  const { tuples } = model.raw;
  const faulting = new Map<number, number>(),
    other = new Map<number, number>(),
    npt = new Map<number, number>();
  for (let k = 0; k < tables.weights.length; k++) {
    if (tuples.state[k] !== State.useful || covered[k] === 1) continue;
    const node = u32(tuples.stack, k),
      ns = f64(tables.weights, k);
    if (tuples.kernel[k] === KernelWork.fault) addTo(faulting, node, ns);
    else if (tuples.kernel[k] === KernelWork.none) {
      addTo(other, node, ns);
      addTo(npt, node, ns / Math.max(1, u16(tuples.busy, k)));
    }
  }
  let touching = 0;
  for (const [node, ns] of faulting)
    if (ns >= leastFaulting * (ns + (other.get(node) ?? 0))) touching += npt.get(node) ?? 0;
  return touching;
}

/** NPT of the procedure's calls that copy memory, in the kernel and outside of it. */
function copyingOf({ model, tables, own }: FindingContext, procedure: number): number {
  const { tuples } = model.raw;
  let npt = 0;
  for (let k = 0; k < tables.weights.length; k++) {
    const node = u32(tuples.stack, k);
    if (own.hidden[node] !== 1 || !isBusy(u8(tuples.state, k))) continue;
    if (shownId(model, u32(own.procedure, node)) !== procedure) continue;
    if (isFor(item(model.entities, u32(tables.stacks.entity, node)), Purpose.copying))
      npt += f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
  }
  return npt;
}

/**
 * A call takes at most this long on a CPU, on average; otherwise most of them are not counted (`send` and `recv` are
 * not).
 */
const mostEachNs = 1e6;

/** The number of calls, and bytes per call; null if unknown. */
function callsOf({ kernelUsage: usage }: Model, work: Work, busyNs: number): KernelWorkFacts['calls'] {
  if (work === 'flush') return null;
  const calls = usage?.calls;
  const count = work === 'read' ? calls?.reads : calls?.writes;
  if (!calls || busyNs > mostEachNs * (count ?? 0)) return null;
  if (work === 'read' && calls.reads > 0) return { count: calls.reads, bytesEach: calls.readBytes / calls.reads };
  if (work === 'write' && calls.writes > 0)
    return { count: calls.writes, bytesEach: calls.writtenBytes / calls.writes };
  return null;
}

/** What is saved if a tenth of the calls, or of the flushes, do what all of them do. */
const tenfold = 0.9;

function savedOf(work: Work, cost: number, again: number | null, calls: KernelWorkFacts['calls']): number {
  if (work === 'memory') return cost * Math.max(again ?? 0, (1 - (again ?? 0)) * (1 - hugeLeaves));
  if (work === 'calls') return cost / 2;
  if (work === 'flush') return tenfold * cost;
  if (work === 'yields') return cost;
  return calls && calls.bytesEach < smallBytes ? cost * (1 - calls.bytesEach / smallBytes) : 0;
}

/** The most that is saved. isFree: flushes hold no lock; again: the part of page faults that memory kept saves. */
function savedAtMost(
  context: FindingContext,
  work: Work,
  cost: number,
  savingNs: number,
  isFree: boolean,
  again: number,
): number {
  if (work === 'calls') return tenfold * cost;
  if (work === 'flush' && isFree) return Math.max(savingNs, savedAsleep(context, cost, tenfold));
  return work === 'memory' ? savingNs + again * touchingOf(context) : savingNs;
}

const most = (map: ReadonlyMap<number, number>): [number, number] | undefined =>
  [...map].sort((a, b) => b[1] - a[1])[0];

/** NPT of these procedures, including callees. */
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

/** About as many reads as writes: at most this many times as many of the one as of the other. */
const mostApart = 2;

/**
 * Whether each write answers a read, or is answered by one: small ones, in about equal numbers, of a program with
 * connections. Then the other side waits for each, and a buffer would gather nothing.
 */
function areReplies({ head, kernelUsage }: Model): boolean {
  const calls = kernelUsage?.calls;
  if (!calls || !head.socketsSeen || !(head.connected || head.listens)) return false;
  const { reads, writes, readBytes, writtenBytes } = calls;
  return (
    readBytes < smallBytes * reads &&
    writtenBytes < smallBytes * writes &&
    reads < mostApart * writes &&
    writes < mostApart * reads
  );
}

/**
 * The counter of an eventfd or a pointer has 8 bytes; what a thread writes to a pipe to wake another one is a byte. The
 * means are less than this, since they include what the program reads from files.
 */
const wakeBytes = 16;
/** If threads go to sleep for this share of the reads, writes wake them. */
const leastWoken = 0.5;

/**
 * Whether threads wake each other by reads and writes (of an eventfd or a pipe): of few bytes each, in about equal
 * numbers, by several threads, which sleep for most of the reads. Then how often they went to sleep, otherwise null.
 * A single thread that copies few bytes at a time, or threads that never sleep for them, pass data.
 */
function wakesOf({ kernelUsage: usage }: Model): number | null {
  if (!usage?.calls || !usage.switches || usage.threadsAtOnce < 2) return null;
  const { reads, writes, readBytes, writtenBytes } = usage.calls;
  const isWake =
    readBytes < wakeBytes * reads &&
    writtenBytes < wakeBytes * writes &&
    reads < mostApart * writes &&
    writes < mostApart * reads &&
    usage.switches.voluntary >= leastWoken * Math.min(reads, writes);
  return isWake ? usage.switches.voluntary : null;
}

/** A thread sleeps or works for these while it waits to be woken by what another one writes. */
const wakesBy = Purpose.read | Purpose.requests;
const ofWakes: ReadonlySet<number> = new Set([KernelWork.read, KernelWork.write, KernelWork.poll]);

/**
 * Where one thread does the work of both, nobody waits: neither the calls are left, nor the time in which nothing runs
 * because a thread that sleeps in such a call has been woken but does not run yet. The program's own work remains. Not
 * where that time is longer than wake-ups take: then something else is waited for as well, such as a time limit.
 */
function savedByOneThread(context: FindingContext, finding: Finding, facts: KernelWorkFacts, wakes: number): void {
  const { raw, balance } = context.model;
  if (balance.nothingRanNs > wakes * wakingNs) return;
  const { kernel, stack } = raw.tuples;
  const isWake = (k: number): boolean => {
    const call = systemCall(context, u32(stack, k));
    return call === null || isFor(call, wakesBy);
  };
  const { aloneNs, idealNs } = withoutWaiting(context, (k) => ofWakes.has(u8(kernel, k)), isWake);
  facts.leastNs = Math.max(facts.leastNs, aloneNs);
  facts.savesNs = Math.max(facts.savesNs, idealNs, facts.leastNs);
  finding.savingNs = (facts.leastNs + facts.savesNs) / 2;
  finding.costNs = Math.max(finding.costNs, facts.savesNs);
}

/** Small reads and small writes have the same remedy, so they are one finding, about the one that takes more. */
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
  if (facts.calls !== null) facts.wakes = wakesOf(context.model);
  if (facts.calls !== null && (facts.wakes !== null || areReplies(context.model))) {
    facts.replies = facts.wakes === null;
    first.savingNs = facts.leastNs = first.costNs / 2;
    facts.savesNs = tenfold * first.costNs;
    if (facts.wakes !== null) savedByOneThread(context, first, facts, facts.wakes);
    return findings.filter((one) => one !== second);
  }
  // Other work of these procedures may also be per call.
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
    if (!isPlausible || (work === 'yields' && yieldsAreWaits(context))) continue;
    const again = work === 'memory' ? shareFaultedAgain(model.kernelUsage) : null,
      calls = callsOf(model, work, spent.busy);
    // Who copies is to be changed, not who takes memory: without the copy neither page faults nor copying is left.
    const [copier] = spent.copying >= spent.cost / 2 ? (most(spent.byOwner) ?? []) : [];
    const copyingNs = copier === undefined ? null : copyingOf(context, copier);
    const held = work === 'flush' ? heldFlush(context) : null;
    const cost = Math.max(spent.cost, copyingNs ?? 0, held?.ns ?? 0);
    const savingNs =
      copyingNs ?? Math.min(savedOf(work, cost, again, calls), held ? withoutFlushes(context) : Infinity);
    if (cost < Math.max(least, leastPart * model.elapsedNs) || savingNs < least) continue;
    // The place to change is where memory is requested and returned, not where it is first touched.
    const takes = copyingNs === null && work === 'memory' && spent.mapping >= leastMapping * spent.cost;
    const [owner] = most(takes ? spent.byTaker : spent.byOwner) ?? [0];
    const allocator = spent.allocating >= spent.mapping / 2 && spent.allocating > 0;
    const called = most(copyingNs === null ? spent.byCall : spent.byCopy);
    findings.push(
      findingOf(model, {
        entity: owner,
        kind: 'kernel',
        change: 'fewer-calls',
        costNs: cost,
        savingNs,
        processorUse: processorUseOf(model.processors, spent.busy / spent.cost, spent.spinning / spent.cost),
        facts: {
          form: 'kernel-work',
          work,
          called: called && called[1] >= spent.cost / 10 ? called[0] : null,
          faults: model.kernelUsage && work === 'memory' ? model.kernelUsage.faults.minor : null,
          again,
          allocator,
          mapping: spent.mapping / spent.cost,
          takes,
          calls,
          both: null,
          replies: false,
          wakes: null,
          through: work === 'flush' && writesThrough(model),
          copyingNs,
          keptNs: copyingNs !== null && allocator && (again ?? 0) >= mostlyAgain ? (again ?? 0) * spent.cost : null,
          held: held && held.ns > spent.cost ? { lock: held.lock, kernelNs: spent.cost } : null,
          // mapping and unmapping is saved; reused memory comes out of caches instead of from the kernel
          leastNs: work === 'memory' ? Math.min(savingNs, spent.mapping * (again ?? 0)) : savingNs,
          savesNs: savedAtMost(context, work, cost, savingNs, held === null, copyingNs === null ? (again ?? 0) : 0),
        },
        related: [...(called ? [called[0]] : []), ...(held ? [held.lock] : [])],
      }),
    );
  }
  return joinTransfers(context, findings);
}
