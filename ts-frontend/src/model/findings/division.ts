/**
 * Findings about work that several threads share: it is unevenly divided, or among too few of them
 * (docs/reference/findings.md, "Code"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { defined, f64, item, u32 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { shownPerRun } from '../metrics/cpu-wait.js';
import { State, Waiting } from '../profile/raw-profile.js';
import { pathOf } from '../profile/stack-tree.js';
import type { ContextStats, Contexts } from '../evidence/code/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, shownId, systemCall } from '../evidence/context.js';
import { mainThread } from '../evidence/threads/critical-threads.js';
import { isFor } from '../evidence/purposes.js';
import { aliveAtOnce, successionOf } from '../evidence/threads/alive-at-once.js';
import { isBarrier, isTeamRest, passesData } from '../evidence/wait-kinds.js';
import { wholeOf } from '../evidence/code/whole-code.js';
import type { TooFewThreadsFacts, WaitingAt } from '../result/facts.js';
import type { Entity, Finding, Model } from '../result/types.js';
import { callersOf, isUnknown, processorUse, waitingAt, type Candidate } from './candidate.js';
import { goroutineLock, restOf } from './goroutines.js';
import { serial } from './serial.js';

/** A second remedy is reported if it saves at least this share of what the better one saves. */
const nearlyAsMuch = 0.5;

/**
 * Decides between uneven division and too few threads by the savings of the two remedies: an even division among the
 * existing threads, and a division among all processors.
 */
export function divided(findingContext: FindingContext, contexts: Contexts, candidate: Candidate): Finding {
  const { model } = findingContext;
  const P = model.processors;
  const { stats, waited, alone, threads } = candidate;
  const rest = restOf(findingContext, candidate);
  const lock = goroutineLock(findingContext, candidate, rest);
  if (lock) return lock;
  const isLate = mayBeLate(findingContext, candidate);
  // If no thread waits for it, and most of the loss is while one thread runs, several threads ran it one after the
  // other.
  if (!waited && !isLate && stats.lostAlone > stats.lost / 2) return serial(findingContext, contexts, candidate);
  const object = waited ? item(model.entities, waited.object) : undefined;
  const atBarrier = object !== undefined && isBarrier(object);
  if (successionOf(model, stats) !== null) return serial(findingContext, contexts, candidate);
  // What one thread runs is not divided, whether others are beside it for a moment more or less.
  const isOnes = threads < 2 && rest === null && stats.timeBeside < seldom * stats.time;
  if (isOnes && !atBarrier && !isInRegion(findingContext, candidate))
    return serial(findingContext, contexts, candidate);
  if ((!isLate || othersPoll(candidate, object)) && takesTurns(candidate, object))
    return serial(findingContext, contexts, candidate, { oneAtATime: true });
  const atOnce = Math.min(threads, aliveAtOnce(model, stats.threads.ids));
  // The threads that could share the work: those that ran it, worked beside it, or waited for it.
  const sharing = Math.min(
    P,
    Math.max(
      atOnce,
      Math.round(stats.costBusy),
      waited && object && (atBarrier || isTeamRest(object)) ? 1 + Math.round(waited.mean) : 1,
      alone ? besideWidth(stats) : 1,
    ),
  );
  const even = Math.max(
    0,
    stats.lost - (stats.time / sharing - stats.time / P) * (stats.time > 0 ? Math.min(1, lostShare(stats, P)) : 0),
  );
  const more = stats.lost - even;

  const goroutines = typeof rest === 'string' ? rest : null;
  const shared: Shared = { waiting: waitingAt(waited), many: atOnce > 2 * P, atOnce, sharing, even, more, goroutines };
  // Go's threads run whatever goroutine can run: what each of them ran means nothing.
  if (goroutines !== null || more > even || (!atBarrier && shared.many && !waited))
    return tooFew(findingContext, contexts, candidate, shared);
  const division = uneven(findingContext, contexts, candidate, shared, atBarrier, object);
  // Other programs may explain why others end earlier, but not that only one thread runs the code.
  const isSerial = threads < 2 && !atBarrier && division.savingNs === 0 && !isInRegion(findingContext, candidate);
  return isSerial ? serial(findingContext, contexts, candidate) : division;
}

/**
 * Whether several threads ran it, but seldom two at a time, while others waited for an unknown reason: then the work is
 * hardly divided. (Threads that wait at a barrier or at the end of a region have done their share, and so have the
 * threads of a team that wait in OpenMP's library for the next region.)
 */
const takesTurns = ({ threads, stats }: Candidate, object: Entity | undefined): boolean =>
  threads >= 2 &&
  object !== undefined &&
  isUnknown(object) &&
  !isBarrier(object) &&
  !isTeamRest(object) &&
  stats.nptBeside < seldom * stats.npt;
/** the maximum share of its time */
const seldom = 0.3;

/** What both kinds of finding about shared work are based on. */
interface Shared {
  waiting: WaitingAt | null;
  many: boolean; // more than two threads for each processor
  atOnce: number; // the number of threads alive at the same time
  sharing: number; // the number of threads that could share it
  even: number;
  more: number; // saving of an even division, and the additional saving of more threads
  goroutines: TooFewThreadsFacts['goroutines'];
}

function tooFew(
  findingContext: FindingContext,
  contexts: Contexts,
  candidate: Candidate,
  { waiting, many, atOnce, sharing, even, more, goroutines }: Shared,
): Finding {
  const { model } = findingContext;
  const { id, stats, waited, threads, parts } = candidate;
  const too = !many && goroutines === null && even >= nearlyAsMuch * more;
  const savingNs = goroutines === null ? stats.lost : notOthers(findingContext, candidate, stats.lost);
  return findingOf(model, {
    entity: id,
    kind: 'starvation',
    change: 'create-parallelism',
    advice: { pieces: 'smaller', threads: 'more' },
    costNs: stats.cost,
    savingNs,
    processorUse: processorUse(model, stats),
    facts: {
      form: 'too-few-threads',
      threads,
      atOnce,
      many,
      waiting,
      parts,
      spreadNs: savingNs,
      goroutines,
      even: too ? { threads: sharing, savesNs: even } : null,
      faster: goroutines === null ? wholeOf(findingContext, contexts, candidate.members, savingNs) : null,
    },
    related: waited ? [waited.object] : [],
    alternatives: too ? [{ kind: 'imbalance', change: 'balance', savingNs: even }] : [],
  });
}

function uneven(
  findingContext: FindingContext,
  contexts: Contexts,
  candidate: Candidate,
  { waiting, many, atOnce, sharing, even, more }: Shared,
  atBarrier: boolean,
  object: Entity | undefined,
): Finding {
  const { model } = findingContext;
  const { id, stats, alone, thread, threads, parts, waited } = candidate;
  const slow = many ? 0 : slowest(model, stats);
  const isSlow = slow !== 0 && threads >= 2;
  // A futex, a loop or a library's own object may be a custom barrier, at which threads wait repeatedly rather than
  // only at their end.
  const mostNs = Math.min(
    even,
    atBarrier || (object !== undefined && isUnknown(object)) ? Infinity : endsApart(findingContext, stats),
  );
  const savingNs = Math.min(notOthers(findingContext, candidate, even), mostNs);
  const { within, entity } = candidate.context;
  const isNamesake = within !== 0 || item(model.entities, entity).group !== 0; // others have the same name
  const too = more >= nearlyAsMuch * savingNs;
  return findingOf(model, {
    entity: shownId(model, isMet(findingContext, candidate, atBarrier) ? defined(waited).object : isSlow ? slow : id),
    kind: 'imbalance',
    change: many ? 'finer-grain' : 'balance',
    advice: { pieces: 'smaller', threads: too ? 'more' : null },
    costNs: stats.cost,
    savingNs,
    processorUse: processorUse(model, stats),
    facts: {
      form: 'uneven-division',
      code: id,
      barrier: atBarrier ? defined(waited).object : null,
      slowest: isSlow
        ? {
            thread: slow,
            workNs: item(stats.threads.time, stats.threads.ids.indexOf(slow)),
            meanNs: stats.time / Math.max(1, threads),
          }
        : null,
      last: !isSlow && item(model.entities, thread).name !== '' && alone && thread !== 0 ? thread : null,
      threads,
      atOnce,
      callers: isNamesake ? callersOf(findingContext, contexts, candidate) : [],
      waiting,
      parts,
      many,
      among: sharing,
      evenNs: savingNs,
      evenMostNs: mostNs,
      openmp: isInRegion(findingContext, candidate),
      pool: object !== undefined && passesData(object) && !isUnknown(object) && !runsInMain(findingContext, candidate),
      spreadNs: too ? stats.lost : null,
      faster: wholeOf(findingContext, contexts, candidate.members, savingNs),
    },
    related: [id, ...parts, ...(slow !== 0 ? [shownId(model, slow)] : []), ...(waited ? [waited.object] : [])],
    alternatives: too ? [{ kind: 'starvation', change: 'create-parallelism', savingNs: stats.lost }] : [],
  });
}

/** Whether it is named by where threads meet: of a team, that is seen in some runs only if one thread has the work. */
const isMet = (findingContext: FindingContext, candidate: Candidate, atBarrier: boolean): boolean =>
  atBarrier && (candidate.threads >= 2 || !isInRegion(findingContext, candidate));

/** Whether main runs it, too. */
const runsInMain = ({ model }: FindingContext, { stats: { threads } }: Candidate): boolean =>
  threads.ids.includes(mainThread(model)?.id ?? 0);

/** Whether OpenMP's library runs it in a parallel region: it called the code, or the threads wait there. */
function isInRegion({ model, tables }: FindingContext, { members, waited }: Candidate): boolean {
  const isOpenMp = (entity: Entity): boolean => entity.origin === 'openmp' && !isFor(entity, Purpose.tbbLibrary);
  if (waited && isOpenMp(item(model.entities, waited.object))) return true;
  return members.some((node) => pathOf(tables.stacks, node).some((id) => isOpenMp(item(model.entities, id))));
}

/** Whether nearly all other threads wait in a loop, rather than have no CPU, while one of them runs it. */
function othersPoll({ waited, threads }: Candidate, object: Entity | undefined): boolean {
  return object?.rawKind === 'loop' && waited !== undefined && waited.mean >= haveToWait * (threads - 1);
}
const haveToWait = 0.7;

/**
 * Whether uneven ends may be due to other programs: several threads ran the code for about the same time, and other
 * programs had the CPUs for longer than is lost. Where one of these threads seems to run alone, the others may have had
 * no CPU. Threads that take turns would look the same.
 */
export function mayBeLate(context: FindingContext, candidate: Candidate): boolean {
  const { othersNs } = context.model.cpuWait;
  if (candidate.threads < 2 || othersNs < candidate.stats.lost) return false;
  const { most, mean } = executedOf(context, candidate);
  return most < muchMore * mean;
}
/** A thread has a larger share than the others if it has at least this multiple of the mean. */
const muchMore = 1.25;

/**
 * What is known of the processor time of a single thread may be off by a tick of the kernel, or by two snapshots
 * (docs/reference/metrics.md, section 6), and the time of threads that no snapshot saw is another one's: threads with
 * less work than that on average may all have the same.
 */
const tickNs = 4_000_000;
const offNs = ({ elapsedNs, samples }: Model): number => Math.max(tickNs, (2 * elapsedNs) / Math.max(1, samples));

/**
 * The processor time that the threads executed, as opposed to the time in which they were runnable, for the threads
 * that ran the code; `most`: what one of them executed at least, as far as that is known, else the mean.
 */
function executedOf({ model, tables }: FindingContext, { members, stats }: Candidate): { most: number; mean: number } {
  const { tuples } = tables.measured;
  const inside = new Set(members);
  const times = new Map<number, number>(stats.threads.ids.map((thread) => [thread, 0]));
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.state[k] === State.useful && inside.has(u32(tuples.stack, k)))
      addTo(times, u32(tuples.thread, k), f64(tuples.ns, k));
  let most = 0,
    sum = 0,
    count = 0;
  for (const [thread, ns] of times) {
    const instances = Math.max(1, item(model.entities, thread).instances);
    most = Math.max(most, ns / instances);
    sum += ns;
    count += instances;
  }
  const mean = sum / Math.max(1, count);
  const off = offNs(model);
  return { most: mean < off ? mean : Math.max(mean, most - off), mean };
}

/**
 * Reduces the saving of an even division by what other programs may have caused, unless the threads' own processor
 * times differ: a thread that had no CPU for a while, because another program had it, finishes late although all
 * threads have the same amount of work, if others of the program executed in that time.
 */
function notOthers(context: FindingContext, candidate: Candidate, evenNs: number): number {
  const { lateNs } = context.model.cpuWait;
  if (lateNs === 0) return evenNs;
  const { most, mean } = executedOf(context, candidate);
  return Math.min(evenNs, Math.max((most - mean) * shownPerRun(context.model), evenNs - lateNs));
}

/**
 * An upper bound for the cost of uneven ends: the time for which threads had ended before the last one, or slept, or
 * waited at objects by which data is passed, in that time (as those do that wait for more work, or poll for it), spread
 * over all of them.
 */
function endsApart(context: FindingContext, stats: ContextStats): number {
  const { model } = context;
  let last = 0,
    sum = 0,
    count = 0;
  for (const id of stats.threads.ids) {
    const entity = item(model.entities, id);
    if (!entity.thread || entity.instances > 1) return Infinity;
    last = Math.max(last, entity.thread.lastNs);
  }
  for (const id of stats.threads.ids) {
    sum += last - defined(item(model.entities, id).thread).lastNs;
    count++;
  }
  return count > 1 ? (sum + asleepBeside(context, new Set(stats.threads.ids))) / count : Infinity;
}

/**
 * Time in which these threads sleep, or wait for more work, while others work. If main is one of them, the others may
 * wait for what only main does.
 */
function asleepBeside(context: FindingContext, threads: ReadonlySet<number>): number {
  const { tuples } = context.model.raw;
  const isMains = threads.has(mainThread(context.model)?.id ?? 0);
  let sum = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.busy[k] === 0 || !threads.has(u32(tuples.thread, k))) continue;
    if (tuples.waiting[k] !== Waiting.none) {
      const object = item(context.model.entities, u32(context.tables.stacks.entity, u32(tuples.stack, k)));
      if (!isMains && passesData(object)) sum += f64(tuples.ns, k);
      continue;
    }
    if (tuples.state[k] !== State.io) continue;
    const call = systemCall(context, u32(tuples.stack, k));
    if (call !== null && isFor(call, Purpose.sleep)) sum += f64(tuples.ns, k);
  }
  return sum;
}

/** The mean number of busy processors while it ran beside others. */
function besideWidth({ nptBeside, timeBeside }: ContextStats): number {
  return nptBeside > 0 ? Math.round(timeBeside / nptBeside) : 1;
}

/** The share of its processor time that other causes do not explain. */
function lostShare(stats: ContextStats, P: number): number {
  const all = stats.npt - stats.time / P;
  return all > 0 ? stats.lost / all : 1;
}

/** The thread with at least a quarter more work than the mean, and half of the cost; 0 if there is none. */
function slowest(model: Model, stats: ContextStats): number {
  let threads = 0;
  const { ids, time, cost } = stats.threads;
  for (const thread of ids) threads += Math.max(1, item(model.entities, thread).instances);
  const mean = stats.time / Math.max(1, threads);
  return (
    ids.find(
      (thread, k) =>
        thread !== 0 &&
        item(model.entities, thread).instances <= 1 &&
        item(time, k) >= muchMore * mean &&
        item(cost, k) >= stats.cost / 2,
    ) ?? 0
  );
}
