/**
 * Kernel threads with hardly any work, and the system time that samples do not show: a thread that lives for less time
 * than passes between two samples is seldom seen in the kernel, where it is created and ended
 * (docs/reference/findings.md, "Short threads"). Pure functions.
 */
import { f64, u32, u8 } from '../../profile/columns.js';
import { shownPerRun } from '../../metrics/cpu-wait.js';
import { isBusy } from '../../metrics/sums.js';
import { KernelWork } from '../../profile/raw-profile.js';
import type { Entity, Model } from '../../result/types.js';
import { mainThread } from './critical-threads.js';
import { shownId, type Unseen } from '../context.js';
import type { Tables } from '../../metrics/tables.js';
import type { ThreadRoles } from '../../metrics/thread-roles.js';

/**
 * The least time for creating, starting and ending a kernel thread, in ns. It is reported if it is at least a twentieth
 * of the threads' work.
 */
export const makingNs = 10_000;
const shortLifeNs = 20 * makingNs;

/** Threads with the same name. */
interface Kind {
  id: number; // entity, as displayed
  threads: Entity[];
  seen: number; // number of threads that snapshots saw
  livedNs: number; // sum of their lives, as far as snapshots saw them
  workNs: number; // processor time as recorded,
  shownNs: number; // and without other programs
  nptNs: number;
}

/** Threads that are created for little work. */
export interface Short {
  id: number; // entity of the most frequent name
  spawns: number;
  workNs: number; // as far as the kernel counted, if these are all threads
  nptNs: number;
  nptPart: number; // NPT for each ns of their processor time
  threads: Entity[];
  othersNs: number; // elapsed time during which other threads live
}

/**
 * All kinds of threads except the main thread, those with the least work per thread first. Work is what they really
 * ran: one that begins waits for a CPU first, which beside other programs may look like work.
 */
function kindsOf(model: Model, roles: ThreadRoles): Kind[] {
  const main = mainThread(model)?.id;
  const kinds = new Map<number, Kind>();
  for (const entity of model.entities) {
    if (entity.kind !== 'thread' || entity.members.length > 0 || entity.id === main) continue;
    const id = shownId(model, entity.id);
    const kind = kinds.get(id) ?? { id, threads: [], seen: 0, livedNs: 0, workNs: 0, shownNs: 0, nptNs: 0 };
    kind.threads.push(entity);
    kind.seen += Math.max(1, entity.instances);
    kind.livedNs += entity.thread && entity.instances <= 1 ? entity.thread.lastNs - entity.thread.firstNs : 0;
    kind.workNs += roles.workNs(entity.id);
    kind.shownNs += entity.processorTimeNs;
    kind.nptNs += entity.nptNs;
    kinds.set(id, kind);
  }
  return [...kinds.values()].sort((a, b) => a.workNs / a.seen - b.workNs / b.seen);
}

export const sum = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((ns, one) => ns + of(one), 0);

/** Elapsed time during which any of them lives, in ns. */
function livesNs({ elapsedNs }: Model, threads: readonly Entity[]): number {
  let lived = 0,
    end = 0;
  const lives = threads.map(({ thread }) => thread ?? { firstNs: 0, lastNs: elapsedNs });
  for (const { firstNs, lastNs } of lives.sort((a, b) => a.firstNs - b.firstNs)) {
    lived += Math.max(0, lastNs - Math.max(end, firstNs));
    end = Math.max(end, lastNs);
  }
  return Math.min(elapsedNs, lived);
}

/** Threads that live for less than this number of snapshots are seldom seen. */
const seldomSeen = 2;

/**
 * The number of threads of these kinds, with those that no snapshot saw: these are like the seen ones of kinds that
 * live for a moment, in the same proportion. If there are no such kinds, they are of the kinds in question.
 */
function countOf(
  { elapsedNs, samples, head: { spawns } }: Model,
  kinds: readonly Kind[],
  its: readonly Kind[],
): number {
  const isMoment = ({ livedNs, seen }: Kind): boolean =>
    livedNs / seen <= (seldomSeen * elapsedNs) / Math.max(1, samples);
  const seenOf = (those: readonly Kind[]): number => sum(those, ({ seen }) => seen);
  const unseen = Math.max(0, spawns - seenOf(kinds)),
    all = seenOf(kinds.filter(isMoment));
  return seenOf(its) + unseen * (all > 0 ? seenOf(its.filter(isMoment)) / all : 1);
}

/**
 * All threads, including the work of the main thread, if they have little work on average; else the kinds with the
 * least work per thread, as many as have little work on average.
 */
export function shortOf(model: Model, roles: ThreadRoles): Short | undefined {
  const ranNs = ranOf(model);
  if (model.head.publisher !== 'pthread' || model.head.spawns === 0 || ranNs === 0) return undefined;
  const { spawns } = model.head;
  const kinds = kindsOf(model, roles);
  for (let left = kinds.length; left > 0; left--) {
    const its = kinds.slice(0, left),
      others = kinds.slice(left);
    const count = left === kinds.length ? spawns : Math.round(countOf(model, kinds, its));
    const isAll = left === kinds.length && ranNs < spawns * shortLifeNs;
    const workNs = isAll ? ranNs : sum(its, (one) => one.workNs);
    if (count <= 0 || workNs === 0 || workNs >= count * shortLifeNs) continue;
    const shownNs = isAll ? model.root.processorTimeNs : sum(its, (one) => one.shownNs),
      nptNs = isAll ? model.root.nptNs : sum(its, (one) => one.nptNs);
    const most = its.reduce((best, one) => (one.seen > best.seen ? one : best));
    return {
      id: most.id,
      spawns: count,
      workNs,
      nptNs,
      nptPart: shownNs > 0 ? nptNs / shownNs : 0,
      threads: its.flatMap(({ threads }) => threads),
      othersNs: livesNs(
        model,
        others.flatMap(({ threads }) => threads),
      ),
    };
  }
  return undefined;
}

/** Processor time that the kernel counted or, where it does not count, that snapshots saw. */
export const ranOf = ({ cpuWait, root }: Model): number => (cpuWait.runNs > 0 ? cpuWait.runNs : root.processorTimeNs);

const nothing: Unseen = { ns: 0, shareOf: () => 1 };

/**
 * The least share of the time outside of the kernel that has to be system time according to the kernel's count: it
 * counts by ticks, which divide short times roughly.
 */
const leastUnseen = 0.1;
/** Not in the kernel, or there for the program's locks. */
export const isUsers = (kernel: number): boolean => kernel === KernelWork.none || kernel === KernelWork.lock;

/**
 * The kernel's count of user time limits what runs outside of the kernel. What exceeds it belongs to the threads that
 * live shortly, as far as they have that much, because other threads are sampled often enough.
 */
export function unseenSystem(model: Model, tables: Tables, roles: ThreadRoles): Unseen {
  const { kernelUsage, head, raw } = model;
  const short = shortOf(model, roles);
  const { tuples } = raw;
  if (!short || !kernelUsage || !head.paths.kernel || kernelUsage.userNs + kernelUsage.systemNs === 0) return nothing;
  const those = new Set(short.threads.map(({ id }) => id));
  const isShorts = (k: number): boolean => those.has(u32(tuples.thread, k));
  const isUser = (k: number): boolean => isBusy(u8(tuples.state, k)) && isUsers(u8(tuples.kernel, k));
  let shortNs = 0,
    allNs = 0;
  for (let k = 0; k < tables.weights.length; k++) {
    if (!isUser(k)) continue;
    allNs += f64(tables.weights, k);
    if (isShorts(k)) shortNs += f64(tables.weights, k);
  }
  const ns = Math.min(shortNs, allNs - kernelUsage.userNs * shownPerRun(model));
  if (ns < leastUnseen * allNs) return nothing;
  return { ns, shareOf: (k) => (isUser(k) && isShorts(k) ? 1 - ns / shortNs : 1) };
}
