/**
 * Findings about input and output that does not overlap with other work (docs/reference/findings.md, "Input and
 * output"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import type { IoFacts } from '../result/facts.js';
import { busyOf, spinningOf } from '../evidence/activity-levels.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId, systemCall } from '../evidence/context.js';
import { allAsleep } from '../evidence/threads/all-asleep.js';
import { isFor } from '../evidence/purposes.js';
import { isLock } from '../evidence/wait-kinds.js';
import { writesPipes } from '../evidence/waits/flushes.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { smallRequests } from '../evidence/waits/small-requests.js';
import { isBusy } from '../metrics/sums.js';
import { isHeldUp, waitingAt, waitingAtRest, type Waiting } from '../evidence/waits/waiting-at-rest.js';
import { pathsThrough } from '../evidence/code/paths-through.js';
import { waitCallers } from '../evidence/waits/wait-callers.js';
import { Waiting as WaitState } from '../profile/raw-profile.js';
import type { Entity, Exclusion, Finding, Model } from '../result/types.js';
import type { IoLoss } from '../evidence/waits/io-loss.js';

/** The number of concurrent operations assumed in a prediction: the least that changes anything. */
const atATime = 2;

/** A system call, and its share of the time of all of them. */
interface Call {
  entity: Entity;
  share: number;
}

/** Whether the waits in this system call count. */
type Counts = (call: Entity | null) => boolean;
const isAny: Counts = () => true;
const isAwake: Counts = (call) => call === null || !isFor(call, Purpose.sleep);

/** The threads' system calls that count, largest first, if procedures of the C library are known. */
function systemCalls(context: FindingContext, loss: IoLoss, counts: Counts): Call[] {
  const { model } = context;
  const { tuples } = model.raw;
  const calls = new Map<number, number>();
  let total = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const value = loss.perTuple(k);
    if (value <= 0) continue;
    const call = systemCall(context, u32(tuples.stack, k));
    if (!counts(call)) continue;
    total += value;
    if (call) addTo(calls, call.id, value);
  }
  return [...calls]
    .sort((a, b) => b[1] - a[1])
    .map(([id, value]) => ({ entity: item(model.entities, id), share: value / total }));
}

/** Who waits for any of several events may have a time limit; who reads beside it waits until another one writes. */
const isLimited: Counts = (call) => call !== null && isFor(call, Purpose.requests);
/** The name of the call with most of the time, if that is half of it or more. */
function callOf(calls: readonly Call[], waits: IoFacts['waits']): string | null {
  const most = waits === 'events' ? calls.find(({ entity }) => isLimited(entity)) : calls[0];
  return most && (waits === 'events' || most.share >= 0.5) ? most.entity.name : null;
}

type Purposes = Parameters<typeof isFor>[1];
/** The share of the waits in calls for that purpose, or for all of these. */
const shareOf = (calls: readonly Call[], ...purposes: Purposes[]): number =>
  calls.reduce((sum, { entity, share }) => sum + (purposes.every((one) => isFor(entity, one)) ? share : 0), 0);

/** The innermost procedure with at least half of it, otherwise the one with most; and the total thread time. */
function whereOf(context: FindingContext, loss: IoLoss, counts: Counts): { id: number; threadTime: number } {
  const { model, tables, own } = context;
  const { stacks } = tables;
  const { tuples } = model.raw;
  const byEntity = new Map<number, number>();
  const innermost = new Map<number, number>();
  let total = 0,
    threadTime = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const value = loss.perTuple(k);
    if (value <= 0) continue;
    threadTime += loss.counted(k);
    if (!counts(systemCall(context, u32(tuples.stack, k)))) continue;
    total += value;
    addTo(innermost, u32(own.procedure, u32(tuples.stack, k)), value);
    for (let n = u32(tuples.stack, k); n !== 0; n = u32(stacks.parent, n))
      if (
        u8(stacks.first, n) &&
        own.hidden[n] === 0 &&
        item(model.entities, u32(stacks.entity, n)).kind === 'procedure'
      )
        addTo(byEntity, u32(stacks.entity, n), value);
  }
  const best = [...innermost].sort((a, b) => b[1] - a[1])[0];
  const half = [...byEntity].filter(([, value]) => value >= total / 2).sort((a, b) => a[1] - b[1])[0];
  const id = shownId(model, best && best[1] >= total / 2 ? best[0] : (half?.[0] ?? best?.[0] ?? 0));
  return { id, threadTime };
}

/**
 * If child processes ran for this share of the time in which threads wait to read, or for any of several events while
 * nobody else is connected, threads read from them.
 */
const readsFrom = 0.5;

/**
 * How long child processes could run, as far as they ended: their processor time, and what they waited for CPUs if
 * other programs kept them waiting as this one.
 */
function childrenCouldRun({ head, cpuWait }: Model): number {
  const { runNs, othersNs } = cpuWait;
  return runNs > 0 ? (head.childrenRunNs * (runNs + othersNs)) / runNs : head.childrenRunNs;
}

/** Whether other programs end waits for events only if they are children, or on this machine. */
const isApart = ({ socketsSeen, listens, connected }: Model['head']): boolean => socketsSeen && !listens && !connected;

/**
 * A thread that reads beside such a wait for requests, while nothing else waits, also waits for other programs: for
 * example for data on a pipe.
 */
const requests = 0.25;

/**
 * If child processes ran for this share of the time of waits that nothing else explains, threads wait for them: they
 * write to a pipe that a child empties. Calls of devices explain it, unless all writes that threads were seen to sleep
 * in are to pipes.
 */
const writesTo = 0.75;
const explained =
  Purpose.sleep |
  Purpose.device |
  Purpose.fileLock |
  Purpose.receiving |
  Purpose.requests |
  Purpose.children |
  Purpose.signal;
const writesToChildren = (model: Model, calls: readonly Call[], cost: number, childrenNs: number): boolean =>
  childrenNs >= writesTo * cost &&
  calls.reduce(
    (sum, { entity, share }) =>
      sum + (isFor(entity, writesPipes(model) ? explained & ~Purpose.device : explained) ? 0 : share),
    0,
  ) >= 0.5;

/**
 * What ends a wait for any of several events. Who listens waits for requests, which others may send too late. Who is
 * connected and does not listen waits for replies, or for data that it subscribed to. Who is neither waits for timers
 * or for input. On one machine it is not known which side of a connection asks.
 */
const endedBy = ({ socketsSeen, listens, connected, connectedLocally }: Model['head']): IoFacts['waits'] =>
  !socketsSeen || listens ? 'others' : connected ? 'replies' : connectedLocally ? 'others' : 'events';

/** A server of which less than this share of the waits is for connections or requests does not wait for clients. */
const leastServing = 0.05;

/**
 * The share of the waits in calls that receive: those that only sockets have, and reads, if all those that threads were
 * seen to sleep in were of sockets. Not those of a server, whose clients may ask too late.
 */
function receivingOf(calls: readonly Call[], { readsSockets, readsElsewhere, listens }: Model['head']): number {
  const only = (one: Purposes, other: Purposes): number => shareOf(calls, one) - shareOf(calls, one, other);
  const reads =
    readsSockets && !readsElsewhere && (!listens || only(Purpose.requests, Purpose.receiving) < leastServing);
  return shareOf(calls, Purpose.receiving) + (reads ? only(Purpose.read, Purpose.requests) : 0);
}

/** Sleep is none of a server's waits if the threads that wait for requests do this share of its work. */
const mostlyServing = 0.5;

/**
 * Whether sleep is that of helpers beside a server: threads that sleep rather than wait for requests (to look after its
 * memory now and then), while those that rather wait for requests do most of the work. Who sleeps while it
 * answers a request does the work itself.
 */
function sleepsAside(context: FindingContext, loss: IoLoss): boolean {
  const { model } = context;
  if (!model.head.listens) return false;
  const { tuples } = model.raw;
  const rather = new Map<number, number>(); // by thread: time in waits for requests minus time asleep
  for (let k = 0; k < tuples.ns.length; k++) {
    const waited = loss.perTuple(k),
      call = waited > 0 ? systemCall(context, u32(tuples.stack, k)) : null;
    if (!call) continue;
    if (isFor(call, Purpose.requests)) addTo(rather, u32(tuples.thread, k), waited);
    else if (isFor(call, Purpose.sleep)) addTo(rather, u32(tuples.thread, k), -waited);
  }
  let serving = 0;
  for (const [thread, ns] of rather) if (ns > 0) serving += item(model.entities, thread).processorTimeNs;
  return serving >= mostlyServing * model.root.processorTimeNs;
}

/** The main reason for the waits, derived from the system calls in which threads wait. */
const waitsOf = (calls: readonly Call[], cost: number, model: Model): IoFacts['waits'] => {
  const { head } = model,
    childrenNs = childrenCouldRun(model),
    ofChildren = Purpose.children | Purpose.read | (isApart(head) ? Purpose.requests : 0);
  return shareOf(calls, Purpose.children) >= 0.5 ||
    (shareOf(calls, ofChildren) >= 0.5 && childrenNs >= readsFrom * cost) ||
    writesToChildren(model, calls, cost, childrenNs)
    ? 'children'
    : shareOf(calls, Purpose.sleep) >= 0.5
      ? 'sleep'
      : shareOf(calls, Purpose.fileLock) >= 0.5
        ? 'file-lock'
        : receivingOf(calls, head) >= 0.5
          ? 'replies'
          : shareOf(calls, Purpose.requests) >= 0.5 ||
              (shareOf(calls, Purpose.requests) >= requests &&
                shareOf(calls, Purpose.requests) + shareOf(calls, Purpose.read) >= 1 - requests)
            ? endedBy(head)
            : 'device';
};

/** A sleep, or the wait for a reply or a timer, may itself be avoided or be shorter; it need not only be overlapped. */
export const mayEnd = (waits: IoFacts['waits']): boolean =>
  waits === 'sleep' || waits === 'replies' || waits === 'events';

/** Time of device operations for one procedure, together with that procedure's own work for them. */
function rarer({ model }: FindingContext, id: number, cost: number): number | null {
  const { kind, nptNs } = item(model.entities, id);
  return kind === 'procedure' && id !== 0 ? Math.min(model.elapsedNs, cost + nptNs) : null;
}

/**
 * Upper bound of the saving if threads that sleep were woken in time instead: the program's own work remains, and the
 * time in which no thread sleeps.
 */
function goesAwake(context: FindingContext, { timeAt }: IoLoss): number {
  const { model, tables, levels } = context;
  const { tuples } = model.raw;
  const isSleepCall = (k: number): boolean =>
    isFor(item(model.entities, u32(tables.stacks.entity, u32(tuples.stack, k))), Purpose.sleep);
  let ns = 0;
  for (const [level, time] of timeAt) ns += time * Math.max(0, 1 - busyOf(levels, level) / levels.P);
  for (let k = 0; k < tuples.ns.length; k++)
    if (isBusy(u8(tuples.state, k)) && isSleepCall(k)) ns += f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
  return Math.min(ns, withoutWaiting(context, isSleepCall, false).idealNs);
}

/** The number of threads that are all in such an operation nearly all the time, while nothing else runs; else null. */
const allAsleepIn = (context: FindingContext, loss: IoLoss, waiting: number): number | null =>
  loss.restNs >= loss.cost / 2
    ? allAsleep(context, (k) => (loss.perTuple(k) > 0 ? loss.counted(k) : 0), waiting)
    : null;

/** If this share of the time in which nothing runs is left, as far as there are CPUs for the threads' work. */
const withMany = ({ model }: FindingContext, { restNs }: IoLoss, left: number): number =>
  Math.min(restNs * (1 - left), Math.max(0, model.elapsedNs - model.root.processorTimeNs / model.processors));

/** Twice as many threads take half of the time in which nothing runs, if there are CPUs for their work. */
const withTwice = (context: FindingContext, loss: IoLoss): number => withMany(context, loss, 1 / 2);

/** What the processors did during the cost. */
function besideIo({ model, levels }: FindingContext, { cost, timeAt }: IoLoss): Finding['processorUse'] {
  let busy = 0,
    spinning = 0;
  for (const [level, time] of timeAt) {
    busy += time * busyOf(levels, level);
    spinning += time * spinningOf(levels, level);
  }
  return processorUseOf(model.processors, busy / cost, spinning / cost);
}

/** If no thread had to wait there: each takes less by its mean waiting, if there are CPUs for the threads' work. */
const withoutLimit = ({ model }: FindingContext, { object }: Entity, { threads }: Exclusion): number =>
  Math.min(
    (object?.waitNs ?? 0) / threads,
    Math.max(0, model.elapsedNs - model.root.processorTimeNs / model.processors),
  );

/** The least share of the waiting threads that wait in the procedure that also sleeps or reads. */
const mostly = 0.5;
/** The least number of further threads that wait to begin. */
const leastFurther = 1;

/**
 * What limits how many threads do this at a time: threads of the same role let each other go there, or most threads
 * that wait for it while nothing runs do so in the procedure that also does this, so they wait to begin. (Those that
 * wait for work do so elsewhere.)
 */
function limitOf(
  context: FindingContext,
  id: number,
  loss: IoLoss,
  waiting: number,
  held: Waiting[],
): IoFacts['limit'] {
  const [first] = held;
  if (!first || first.threads < leastFurther || first.entity.rawKind === 'barrier') return null;
  const { model, tables } = context;
  const { tuples } = model.raw;
  const through = pathsThrough(context, new Set([id]));
  let inside = 0,
    all = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k);
    if (tuples.waiting[k] === WaitState.none || tuples.busy[k] !== 0) continue;
    if (shownId(model, u32(tables.stacks.entity, node)) !== first.entity.id) continue;
    all += f64(tuples.ns, k);
    if (u8(through, node) === 1) inside += f64(tuples.ns, k);
  }
  const { admits } = first.entity;
  const most = waiting + first.threads;
  const savesNs = Math.min(
    loss.cost,
    admits ? withoutLimit(context, first.entity, admits) : withMany(context, loss, waiting / most),
  );
  return all > 0 && (admits || inside >= mostly * all) && savesNs >= context.least
    ? { entity: first.entity.id, atATime: Math.max(Math.round(most), admits?.threads ?? 0), savesNs }
    : null;
}

/** Twice as many children at a time take half of the time, if there are CPUs for them. */
const halfOf = (cost: number, childrenRunNs: number, processors: number): number =>
  cost * Math.min(1, Math.max(1 / atATime, childrenRunNs / (cost * processors)));

/** `few`: what two at a time would save, if that is known. */
function severalOf(
  context: FindingContext,
  loss: IoLoss,
  asleep: number | null,
  few: number | null,
): IoFacts['several'] {
  if (asleep !== null) return { atATime: 2 * asleep, savesNs: withTwice(context, loss) };
  return few === null ? null : { atATime, savesNs: few };
}

const threadsOf = (held: readonly Waiting[]): number => held.reduce((sum, { threads }) => sum + threads, 0);

export function ioFindings(context: FindingContext, loss: IoLoss): Finding[] {
  const { model, least } = context;
  const { cost, perTuple } = loss;
  const isAside = sleepsAside(context, loss),
    calls = systemCalls(context, loss, isAside ? isAwake : isAny),
    waits = waitsOf(calls, cost, model),
    call = callOf(calls, waits);
  const { id, threadTime } = whereOf(context, loss, waits === 'events' ? isLimited : isAside ? isAwake : isAny);
  const waiting = threadTime / cost;
  // Threads that wait for it while nothing runs; locks that are held during this time are reported with them.
  const held = waitingAtRest(context).filter((one) => isHeldUp(one) && !isLock(one.entity));
  const heldUp = Math.min(1, threadsOf(held));
  const together =
    shareOf(calls, Purpose.sleep) + shareOf(calls, Purpose.device) >= 0.5 && waiting < atATime
      ? Math.min(cost, loss.restNs * heldUp) * (1 - Math.max(1, waiting) / atATime)
      : 0;
  const { childrenRunNs } = model.head;
  const mayBeChildren = waits === 'children' || waits === 'events';
  // Work that the program could do itself instead of starting children, or that need not be started each time.
  const inChildren = waits === 'children' ? Math.min(cost, childrenRunNs) : 0;
  const twice = inChildren > 0 ? cost - halfOf(cost, childrenRunNs, model.processors) : 0;
  const isHolding = heldUp >= 0.3 && loss.restNs >= cost / 2;
  const goesNs = Math.min(cost, isHolding ? cost : Math.max(loss.saving, mayEnd(waits) ? loss.restNs : 0));
  const savingNs = Math.min(cost, Math.max(loss.saving, together, inChildren, twice, mayEnd(waits) ? goesNs : 0));
  if (savingNs < least) return [];
  const rarerNs = waits === 'device' && shareOf(calls, Purpose.device) >= 0.5 ? rarer(context, id, cost) : null;
  const asleep = mayEnd(waits) && !isHolding ? allAsleepIn(context, loss, waiting) : null;
  return [
    findingOf(model, {
      entity: id,
      kind: waits === 'file-lock' ? 'lock-contention' : 'io',
      change: waits === 'file-lock' ? 'wait-less' : 'overlap-io',
      costNs: cost,
      savingNs,
      processorUse: besideIo(context, loss),
      facts: {
        form: 'io',
        waits,
        mayBeSleep: call === null && model.head.publisher === 'pthread',
        call,
        callers: waitCallers(context, id, perTuple),
        threads: waiting,
        held: isHolding ? waitingAt(held) : [],
        overlapNs: Math.min(cost, loss.saving),
        restNs: Math.min(cost, loss.restNs),
        goesNs: waits === 'sleep' && !isHolding ? Math.min(cost, Math.max(goesNs, goesAwake(context, loss))) : goesNs,
        rarerNs,
        limit: isHolding ? limitOf(context, id, loss, waiting, held) : null,
        several: severalOf(context, loss, asleep, together > 0 ? together : twice >= least ? twice : null),
        asleep,
        childrenNs: mayBeChildren && childrenRunNs > 0 ? childrenRunNs : null,
        answers: waits === 'children' && shareOf(calls, Purpose.read | Purpose.requests) >= 0.5,
        small: waits === 'others' ? smallRequests(context, loss.restNs) : null,
        started: mayBeChildren && model.head.processesStarted > 0 ? model.head.processesStarted : null,
      },
      related: isHolding ? held.slice(0, 3).map(({ entity }) => entity.id) : [],
    }),
  ];
}
