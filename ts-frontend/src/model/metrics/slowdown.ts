/**
 * Estimates how much recording slowed the run: the cost of each published operation, measured in the program itself
 * before it started, times the number of operations, plus what the sampler took from the program. The costs of hooks
 * and locks depend on what the program does between them, so there are two bounds. Formulas: docs/reference/metrics.md,
 * section 6. Pure.
 */
import { lockKinds } from '../profile/abi.js';
import { f64, u16, u32 } from '../profile/columns.js';
import { isMostlyOthers, othersPart } from './cpu-wait.js';
import type { EntityKind, RawProfile } from '../profile/raw-profile.js';
import { KernelWork } from '../profile/raw-profile.js';
import type { CpuWait, Entity, Slowdown } from '../result/types.js';

/** Kinds of objects whose accesses publish as much as a lock's. */
const asLocks = new Set<EntityKind>([...lockKinds, 'semaphore']);

/**
 * If threads wait for each other at least once per this much processor time (ns), a delay of one may delay all; it is
 * not divided by the number of threads. How recording changes which threads wait, and whether they sleep, is then
 * unknown.
 */
const oftenNs = 200_000;

/** The same applies to threads that yield until another one has arrived, from this share of the processor time on. */
const leastYielding = 0.1;

/**
 * Waits at libraries' internal objects are not counted; but threads that wait there give up their CPUs, and spend at
 * least this share of the processor time in the kernel's futex code.
 */
const leastWaking = 0.05;

/** Locking dominates from this share of the processor time on. */
const leastLocking = 0.1;

interface AtLocks {
  wakingNs: number; // in the kernel, waiting and waking
  yieldingNs: number;
  lockingNs: number; // in code that acquires and releases locks
}
function atLocks({ tuples }: RawProfile): AtLocks {
  const all = { wakingNs: 0, yieldingNs: 0, lockingNs: 0 };
  for (let k = 0; k < tuples.ns.length; k++) {
    const ns = f64(tuples.ns, k);
    if (tuples.kernel[k] === KernelWork.futex) all.wakingNs += ns;
    else if (tuples.kernel[k] === KernelWork.yield) all.yieldingNs += ns;
    else if (tuples.kernel[k] === KernelWork.lock) all.lockingNs += ns;
  }
  return all;
}

/** Whether threads wait for each other so often that recording may change which ones wait. */
function waitsOften(
  { head, threads }: RawProfile,
  { wakingNs, yieldingNs }: AtLocks,
  waited: number,
  ranNs: number,
): boolean {
  if (threads.length < 2 || ranNs === 0) return false;
  const slept = head.switchesKnown && wakingNs >= leastWaking * ranNs ? head.voluntarySwitches : 0,
    waits = Math.max(waited, slept);
  return (waits > 0 && ranNs <= waits * oftenNs) || (yieldingNs > 0 && yieldingNs >= leastYielding * ranNs);
}

/** Threads spin for each other if spinning takes this share of what they execute. */
const leastSpinning = 0.1;

/** Whether threads spin for others (a team in OpenMP's barriers): what delays one of them delays all. */
function spinsOften({ balance, threads }: RawProfile, ranNs: number): boolean {
  let spunNs = 0;
  for (let k = 0; k < balance.ns.length; k++) spunNs += f64(balance.ns, k) * u16(balance.spinning, k);
  return threads.length >= 2 && spunNs > 0 && spunNs >= leastSpinning * (ranNs + spunNs);
}

/** Locks are slow from this many times the cost of a lock that only one CPU uses. */
const leastMoving = 2;

/**
 * How many times longer locking takes than for locks that only one CPU uses; 1 if that is less than twice, or if
 * locking takes a small share of the processor time. If it is more, the locks' cache lines come from other CPUs. How
 * often they do depends on the time between acquisitions, and thus on what recording adds there, which may then delay
 * the program by that many times its own length.
 */
function linesMove({ head }: RawProfile, { lockingNs }: AtLocks, locked: number, ranNs: number): number {
  const freeNs = (locked * head.freeLockPs) / 1000,
    ownNs = (locked * head.lockMostPs) / 1000;
  const isKnown = head.freeLockPs > 0 && locked > 0 && lockingNs >= leastLocking * ranNs;
  return isKnown && lockingNs >= leastMoving * freeNs + ownNs ? lockingNs / (freeNs + ownNs) : 1;
}

/**
 * If other programs have the CPUs for this share of the time in which the program was runnable, the sampler has no CPU
 * of its own.
 */
const leastOthers = 0.05;

/**
 * Operations that occurred, but could not be measured: since a hook always costs something, 0 means that measuring
 * failed.
 */
const unmeasuredOf = (head: RawProfile['head'], hooked: number, locked: number): Slowdown['unmeasured'] => [
  ...(hooked > 0 && head.hookMostPs === 0 ? ['hooks' as const] : []),
  ...(locked > 0 && head.lockMostPs === 0 ? ['locks' as const] : []),
  ...(head.spawns > 0 && head.spawnPs === 0 ? ['threads made' as const] : []),
];

/**
 * What a thread loses that a snapshot interrupts, beyond the sampler's own processor time, at most (ns): the timer's
 * interrupt, two switches between threads, and caches that have to be filled again.
 */
const interruptionNs = 10_000;

/**
 * Lower and upper bound of the CPU time that the sampler took from the program, in ns. The sampler uses one CPU, and
 * the program's thread there loses all of that time. If other threads take over its work, the run becomes longer by
 * only a part of it; if they wait for that thread, by all of it, and by what the interruptions take besides.
 */
function samplingOf({ head, balance }: RawProfile, others: number): { leastNs: number; mostNs: number } {
  if (head.samplerSpins || head.elapsedNs === 0) return { leastNs: 0, mostNs: 0 };
  const cpus = Math.max(1, Math.min(head.processors, head.cpus));
  let fullNs = 0; // elapsed time during which no CPU was idle for the sampler
  for (let k = 0; k < balance.ns.length; k++)
    if (u16(balance.busy, k) + u16(balance.spinning, k) >= cpus) fullNs += f64(balance.ns, k);
  // A snapshot that takes the CPU from a thread is an involuntary switch of it, whether other CPUs are idle or not.
  const shareFull = fullNs / head.elapsedNs,
    displaced = head.switchesKnown ? Math.min(1, head.involuntarySwitches / Math.max(1, head.snapshots)) : 0,
    mostNs = head.samplerCpuNs + head.snapshots * interruptionNs;
  return {
    leastNs: (head.samplerCpuNs * shareFull) / cpus,
    mostNs: others >= leastOthers ? mostNs : mostNs * Math.max(shareFull, displaced),
  };
}

/** Numbers of published operations. */
function published({ calls, objects, entities }: RawProfile): { hooked: number; locked: number; waited: number } {
  const counts = { hooked: 0, locked: 0, waited: 0 };
  for (let k = 0; k < calls.count.length; k++) {
    const kind = entities[u32(calls.callee, k)]?.kind;
    if (kind === 'procedure') counts.hooked += f64(calls.count, k);
    else if (kind !== undefined && asLocks.has(kind)) counts.locked += f64(calls.count, k);
  }
  for (const { contended } of objects) counts.waited += contended;
  return counts;
}

const asParts = (
  least: Pick<
    Slowdown,
    'hooksLeastNs' | 'locksLeastNs' | 'waitsLeastNs' | 'regionsLeastNs' | 'tasksLeastNs' | 'samplingLeastNs'
  >,
): Pick<Slowdown, 'hooksNs' | 'locksNs' | 'waitsNs' | 'regionsNs' | 'tasksNs' | 'samplingNs'> => ({
  hooksNs: least.hooksLeastNs,
  locksNs: least.locksLeastNs,
  waitsNs: least.waitsLeastNs,
  regionsNs: least.regionsLeastNs,
  tasksNs: least.tasksLeastNs,
  samplingNs: least.samplingLeastNs,
});

/** What the layer measured of its own code: others wait for the thread that it delays, or work on. */
function timed([ns = 0]: ArrayLike<number> & Iterable<number>, each: number): { leastNs: number; mostNs: number } {
  return { leastNs: ns * each * 1000, mostNs: ns * Math.max(1, each * 1000) };
}

export function slowdownOf(raw: RawProfile, root: Entity, cpuWait: CpuWait): Slowdown {
  const { head } = raw;
  const { hooked, locked, waited } = published(raw);
  // Spread over the threads in the same proportion as the program's own work.
  const each = root.processorTimeNs > 0 ? root.nptNs / root.processorTimeNs / 1000 : 0;
  const isPublished = head.publisher === 'pthread' && !head.outside,
    spent = atLocks(raw);
  const ranNs = root.processorTimeNs;
  const waitsMayChange = isPublished && (waitsOften(raw, spent, waited, ranNs) || spinsOften(raw, ranNs)),
    moving = isPublished ? linesMove(raw, spent, locked, ranNs) : 1;
  const most = waitsMayChange ? Math.max(each, 1 / 1000) : each;
  const [regions, tasks] = [timed(raw.cpuLimits.roundsNs, each), timed(raw.cpuLimits.tasksNs, each)];
  const sampling = samplingOf(raw, othersPart(cpuWait));
  const parts = {
    hooksNs: hooked * head.hookMostPs * each,
    locksNs: locked * head.lockMostPs * most * moving,
    waitsNs: waited * head.waitPs * most,
    regionsNs: regions.mostNs,
    tasksNs: tasks.mostNs,
    spawnsNs: head.spawns * head.spawnPs * each,
    samplesNs: head.runningSamples * head.runningSampleNs * 1000 * each,
    timerNs: head.timerDispatches * head.timerNs * 1000 * each,
    samplingNs: sampling.mostNs,
    startNs: head.startUs * 1000, // before the time that the report covers
  };
  const wholeNs = head.elapsedNs + parts.startNs;
  const least = {
    hooksLeastNs: hooked * head.hookLeastPs * each,
    locksLeastNs: locked * head.lockLeastPs * each,
    waitsLeastNs: waited * head.waitPs * each,
    regionsLeastNs: regions.leastNs,
    tasksLeastNs: tasks.leastNs,
    samplingLeastNs: sampling.leastNs,
  };
  // Computed as sums, not as differences: rounding must not lead to negative times.
  const total = (of: typeof parts): number =>
    Math.min(
      wholeNs,
      Object.values(of).reduce((sum, ns) => sum + ns, 0),
    );
  const elapsedNs = total(parts);
  const elapsedLeastNs = total({ ...parts, ...asParts(least) });
  const share = (ns: number): number => (ns < wholeNs ? ns / (wholeNs - ns) : 0);
  return {
    ...parts,
    ...least,
    commandNs: raw.cpuLimits.commandNs[0] ?? 0,
    elapsedNs,
    elapsedLeastNs,
    share: share(elapsedNs),
    shareLeast: share(elapsedLeastNs),
    waitsMayChange,
    linesMayMove: moving > 1,
    othersMayChange: isMostlyOthers(cpuWait, head.elapsedNs),
    unmeasured: unmeasuredOf(head, hooked, locked),
  };
}
