/**
 * By how much recording slowed the run, as far as that can be known: what each published operation costs, measured in
 * the program itself before it began, times how often it happened; and what the sampler took from it. What hooks and
 * locks cost depends on what the program does between them, so there are two bounds. Formulas:
 * docs/reference/metrics.md, section 6. Pure.
 */
import { lockKinds } from '../profile/abi.js';
import { f64, u16, u32 } from '../profile/columns.js';
import { cpuWaitOf, isMostlyOthers, othersPart } from './cpu-wait.js';
import type { EntityKind, RawProfile } from '../profile/raw-profile.js';
import { KernelWork } from '../profile/raw-profile.js';
import type { Entity, Slowdown } from '../result/types.js';

/** Accesses to these publish as much as a lock does. */
const asLocks = new Set<EntityKind>([...lockKinds, 'semaphore']);

/**
 * Where threads wait for each other once in so much processor time or more often, what holds one up may hold up all: it
 * is not spread over them. And what recording changes in who waits for whom, and sleeps, is not known.
 */
const oftenNs = 200_000;

/** The same goes for threads that yield until another has come, from this part of the processor time on. */
const leastYielding = 0.1;

/**
 * Of waits for objects that libraries made for themselves nobody knows how many there are; but threads that wait there
 * give up their CPUs, and are at the kernel's futex for this part of the processor time or more.
 */
const leastWaking = 0.05;

/** Locks are what a program does from this part of the processor time on. */
const leastLocking = 0.1;

interface AtLocks {
  wakingNs: number; // in the kernel, to wait and to wake
  yieldingNs: number;
  lockingNs: number; // in code that takes and releases locks
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

/** Threads wait for each other so often that recording may change who waits. */
function waitsOften({ head }: RawProfile, { wakingNs, yieldingNs }: AtLocks, waited: number, ranNs: number): boolean {
  const slept = head.switchesKnown && wakingNs >= leastWaking * ranNs ? head.voluntarySwitches : 0,
    waits = Math.max(waited, slept);
  return (waits > 0 && ranNs <= waits * oftenNs) || (yieldingNs > 0 && yieldingNs >= leastYielding * ranNs);
}

/**
 * Locks take twice as long as one that a single CPU uses, and much of the processor time: their cache lines come from
 * other CPUs. How often depends on what lies between, and so on what recording adds there.
 */
function linesMove({ head }: RawProfile, { lockingNs }: AtLocks, locked: number, ranNs: number): boolean {
  const mostFreeNs = (locked * (2 * head.freeLockPs + head.lockMostPs)) / 1000;
  return head.freeLockPs > 0 && locked > 0 && lockingNs >= leastLocking * ranNs && lockingNs >= mostFreeNs;
}

/** Others' part of the time in which the program could run: from the first on the sampler has no CPU of its own. */
const leastOthers = 0.05;

/** A hook never costs nothing: 0 says that the machine let nothing be measured before the program began. */
const unmeasuredOf = (head: RawProfile['head'], hooked: number, locked: number): Slowdown['unmeasured'] => [
  ...(hooked > 0 && head.hookMostPs === 0 ? ['hooks' as const] : []),
  ...(locked > 0 && head.lockMostPs === 0 ? ['locks' as const] : []),
  ...(head.spawns > 0 && head.spawnPs === 0 ? ['threads made' as const] : []),
];

/**
 * What the sampler takes from the program, which would have had the CPU. It has one CPU, and the thread there loses all
 * of it: the others' time is longer by a part of that where they take over its work, by all where they wait for it.
 */
function samplingOf({ head, balance }: RawProfile, others: number): { leastNs: number; mostNs: number } {
  if (head.samplerSpins || head.elapsedNs === 0) return { leastNs: 0, mostNs: 0 };
  const cpus = Math.max(1, Math.min(head.processors, head.cpus));
  let fullNs = 0; // elapsed time with no CPU left for the sampler
  for (let k = 0; k < balance.ns.length; k++)
    if (u16(balance.busy, k) + u16(balance.spinning, k) >= cpus) fullNs += f64(balance.ns, k);
  const takenNs = (head.samplerCpuNs * fullNs) / head.elapsedNs;
  return { leastNs: takenNs / cpus, mostNs: others >= leastOthers ? head.samplerCpuNs : takenNs };
}

/** What was published, counted. */
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

export function slowdownOf(raw: RawProfile, root: Entity): Slowdown {
  const { head } = raw;
  const { hooked, locked, waited } = published(raw);
  // Spread over the threads as the program's own work is.
  const each = root.processorTimeNs > 0 ? root.nptNs / root.processorTimeNs / 1000 : 0;
  const isPublished = head.publisher === 'pthread' && !head.outside,
    spent = atLocks(raw);
  const waitsMayChange = isPublished && waitsOften(raw, spent, waited, root.processorTimeNs),
    linesMayMove = isPublished && linesMove(raw, spent, locked, root.processorTimeNs);
  const most = waitsMayChange ? Math.max(each, 1 / 1000) : each;
  const cpuWait = cpuWaitOf(raw);
  const sampling = samplingOf(raw, othersPart(cpuWait));
  const parts = {
    hooksNs: hooked * head.hookMostPs * each,
    locksNs: locked * head.lockMostPs * most,
    waitsNs: waited * head.waitPs * most,
    spawnsNs: head.spawns * head.spawnPs * each,
    samplesNs: head.runningSamples * head.runningSampleNs * 1000 * each,
    timerNs: head.timerDispatches * head.timerNs * 1000 * each,
    samplingNs: sampling.mostNs,
    startNs: head.startUs * 1000, // before the time covered
  };
  const wholeNs = head.elapsedNs + parts.startNs;
  const least = {
    hooksLeastNs: hooked * head.hookLeastPs * each,
    locksLeastNs: locked * head.lockLeastPs * each,
    waitsLeastNs: waited * head.waitPs * each,
    samplingLeastNs: sampling.leastNs,
  };
  // Added up, not taken away from one another: what is left of rounding must not be a time below 0.
  const total = (of: typeof parts): number =>
    Math.min(
      wholeNs,
      Object.values(of).reduce((sum, ns) => sum + ns, 0),
    );
  const elapsedNs = total(parts);
  const elapsedLeastNs = total({
    ...parts,
    hooksNs: least.hooksLeastNs,
    locksNs: least.locksLeastNs,
    waitsNs: least.waitsLeastNs,
    samplingNs: least.samplingLeastNs,
  });
  const share = (ns: number): number => (ns < wholeNs ? ns / (wholeNs - ns) : 0);
  return {
    ...parts,
    ...least,
    elapsedNs,
    elapsedLeastNs,
    share: share(elapsedNs),
    shareLeast: share(elapsedLeastNs),
    waitsMayChange,
    linesMayMove,
    othersMayChange: isMostlyOthers(cpuWait),
    unmeasured: unmeasuredOf(head, hooked, locked),
  };
}
