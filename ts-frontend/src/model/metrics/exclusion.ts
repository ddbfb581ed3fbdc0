/**
 * Detects conditions, semaphores and futexes that are used as locks: an interpreter's lock, a monitor, a token made of
 * a mutex, a condition and a flag. Criteria: several threads with the same role wait there; each is woken by another of
 * them, or they wait in the middle of their work; and while they wait, one of them at a time runs
 * (docs/reference/findings.md, "Exclusion"). Pure.
 */
import { f64, u16, u32, u8 } from '../profile/columns.js';
import { addTo, total } from '../profile/maps.js';
import type { EntityKind, LibraryWait, RawEntity, RawProfile } from '../profile/raw-profile.js';
import { Arrival, State, Waiting } from '../profile/raw-profile.js';
import type { Exclusion } from '../result/types.js';
import { housekeepingWaits } from './housekeeping.js';
import { permitsOf } from './permits.js';
import { ThreadRoles } from './thread-roles.js';
import { waitInTheirWork } from './waits-in-work.js';

/** The kinds of objects that such locks are made of. */
const madeOf: ReadonlySet<EntityKind> = new Set(['condition', 'semaphore', 'futex']);
/** What libraries wait for that is no lock, whatever runs meanwhile: all threads have to arrive there. */
const meetings: ReadonlySet<LibraryWait> = new Set(['barrier', 'region-end', 'tasks']);
const isMadeOf = (entity: RawEntity | undefined): boolean =>
  entity !== undefined && madeOf.has(entity.kind) && !meetings.has(entity.libraryWait);
/** The least number of hand-overs on the time path that is significant. */
const leastHandOvers = 10;
/** The least share of hand-overs to these threads that must come from among them. */
const fromAmong = 0.75;
/** If one thread has more than this share of what they run while others wait, the others hardly take part. */
const mostOfOne = 0.9;
/**
 * Hand-overs must be spread over time: they must occur in at least `leastParts` of `parts` equal parts of the time
 * between the first and the last one.
 */
const parts = 20,
  leastParts = 10;
/**
 * The least time that the threads wait there, as a share of their running time, and the least share of all waiting
 * there that must be theirs.
 */
const leastWaits = 0.25,
  mostWaiters = 0.75;
/**
 * While CPUs are idle, other threads must wait for at least this share of the time in which one of the threads runs.
 */
const leastWaitedFor = 0.25;
/**
 * Code belongs to what they exclude each other from if others wait while it runs at least this often, compared with all
 * that they run.
 */
const asOften = 0.5;
/** Such code must run for at least this share of the elapsed time. */
const leastInside = 0.25;
/**
 * The share of that code's time for which it may seem to run in two threads at once: threads that hand over within
 * milliseconds are observed side by side, and code before the lock is requested may have the same path.
 */
const mostTwice = 0.4;
/**
 * The maximum mean number of threads that run such code at a time, and the maximum including those that wait for a CPU
 * in it.
 */
const mostRunning = 1.4,
  mostInside = 1.95;

/** A thread with less than this share of the work of the busiest one has no work that it could be kept from. */
const leastWork = 0.05;
/**
 * The least share of the elapsed time, and of their waits, for which another thread waits that lets them go.
 */
const leastGiven = 0.5;
/** The threads must live at the same time for this share of the time that the shorter life of two of them lasts. */
const leastTogether = 0.5;

/** Objects that threads of one role let each other go at. */
export interface Excluding {
  /**
   * Objects that are used as locks, by entity, including groups. Objects at which the same threads wait for one of them
   * have the same exclusion (===): they are one lock, as a monitor that has a condition for each way of waiting.
   */
  locks: ReadonlyMap<number, Exclusion>;
  /** Objects that limit how many of them wait for something slow at a time, including groups. */
  permits: ReadonlyMap<number, Exclusion>;
}

export function excludingOf(raw: RawProfile, groupOf: Uint32Array): Excluding {
  const locks = new Map<number, Exclusion>(),
    permits = new Map<number, Exclusion>();
  const withGroups = (objects: readonly number[]): number[] =>
    objects.flatMap((object) => [object, u32(groupOf, object)]).filter((id) => id !== 0);
  const housekeepers = housekeepersOf(raw);
  const handOvers = handOversOf(raw).filter(({ from, to }) => !housekeepers.has(from) && !housekeepers.has(to));
  const roles = new ThreadRoles(raw, groupOf);
  const waiters = waitersOf(raw, housekeepers);
  /** Threads that do the same may have different roles as recorded, if they hardly work. */
  const addPermits = (threads: readonly number[], spanNsOf: (objects: number[]) => number | undefined): boolean => {
    const [first] = threads;
    if (first === undefined) return false;
    const alike = new Set([...waiters].filter((one) => threads.includes(one) || roles.waitTheSame(first, one)));
    const objects = permitsOf(raw, alike, (object) => isMadeOf(raw.entities[object]));
    if (objects.length === 0 || spanNsOf(objects) === undefined || isGivenOut(raw, alike, objects)) return false;
    for (const id of withGroups(objects)) permits.set(id, { threads: alike.size });
    return true;
  };
  const add = (candidates: readonly number[], spanNsOf: (objects: readonly number[]) => number | undefined): void => {
    const threads = withWork(roles, candidates);
    if (threads.length < 2 || !liveTogether(raw, threads)) return;
    const among = new Set(threads);
    if (addPermits(threads, spanNsOf)) return;
    const inside = insideOf(raw, among);
    const spanNs = inside && spanNsOf(inside.objects);
    if (!inside || spanNs === undefined || isGivenOut(raw, among, inside.objects)) return;
    if (!isOneAtATime(raw, among, inside.code, spanNs)) return;
    const exclusion = { threads: threads.length };
    for (const id of withGroups(inside.objects)) locks.set(id, exclusion);
  };
  const targets = new Set(handOvers.map(({ to }) => to));
  for (const threads of roles.divideByWaits(targets)) {
    const all = new Set(threads);
    if (threads.length >= 2) addPermits(threads, () => handedOverFor(handOvers, all));
  }
  for (const threads of roles.divide(targets)) add(threads, () => handedOverFor(handOvers, new Set(threads)));
  if (locks.size + permits.size === 0)
    for (const threads of roles.divide(waiters))
      add(threads, (objects) =>
        countedWaits(raw, objects) >= leastHandOvers && waitInTheirWork(raw, new Set(threads), new Set(objects))
          ? raw.head.elapsedNs
          : undefined,
      );
  return { locks, permits };
}

/** Threads that hardly work wait because they have nothing to do: those of a run-time library, a pool at rest. */
function withWork(roles: ThreadRoles, threads: readonly number[]): number[] {
  const most = Math.max(...threads.map((thread) => roles.workNs(thread)));
  return threads.filter((thread) => roles.workNs(thread) >= leastWork * most);
}

/** Whether some of the threads live at the same time: those that live one after the other keep nobody waiting. */
function liveTogether({ threads: lives, entities }: RawProfile, threads: readonly number[]): boolean {
  const known = lives.filter(({ entity }) => threads.includes(entity));
  if (known.length < threads.length || threads.some((id) => (entities[id]?.instances ?? 1) > 1)) return true;
  return known.some((one, k) =>
    known.slice(k + 1).some((other) => {
      const togetherNs = Math.min(one.lastNs, other.lastNs) - Math.max(one.firstNs, other.firstNs);
      return togetherNs >= leastTogether * Math.min(one.lastNs - one.firstNs, other.lastNs - other.firstNs);
    }),
  );
}

/** For how long the time path moves among these threads, from one to the next, in ns; undefined: it does not. */
function handedOverFor(handOvers: readonly HandOver[], among: ReadonlySet<number>): number | undefined {
  const into = handOvers.filter(({ to }) => among.has(to));
  const within = into.filter(({ from }) => among.has(from));
  const isHanded = within.length >= leastHandOvers && within.length >= fromAmong * into.length && isSteady(within);
  return isHanded ? spanOf(within).ns : undefined;
}

/**
 * Whether another thread lets them go: one that waits at an object of its own about as often as they do, for half of
 * the time or more. It gives out work piece by piece, and waits for each result; what it does in between may be too
 * short for the time path.
 */
function isGivenOut(raw: RawProfile, among: ReadonlySet<number>, at: readonly number[]): boolean {
  const { tuples, stacks, entities, head } = raw;
  const others = new Map<number, { ns: number; theirs: boolean }>(); // by object
  for (let k = 0; k < tuples.ns.length; k++) {
    if (tuples.waiting[k] === Waiting.none) continue;
    const object = u32(stacks.entity, u32(tuples.stack, k));
    if (!isMadeOf(entities[object])) continue;
    let row = others.get(object);
    if (!row) others.set(object, (row = { ns: 0, theirs: false }));
    if (among.has(u32(tuples.thread, k))) row.theirs = true;
    else row.ns += f64(tuples.ns, k);
  }
  const waits = countedWaits(raw, at);
  return [...others].some(
    ([object, { ns, theirs }]) =>
      !theirs && ns >= leastGiven * head.elapsedNs && countedWaits(raw, [object]) >= leastGiven * Math.max(1, waits),
  );
}

/** Threads that work, and wait for objects that such locks can be made of. */
function waitersOf({ tuples, stacks, entities }: RawProfile, housekeepers: ReadonlySet<number>): Set<number> {
  const waiters = new Set<number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const object = entities[u32(stacks.entity, u32(tuples.stack, k))];
    const thread = u32(tuples.thread, k);
    if (tuples.waiting[k] !== Waiting.none && isMadeOf(object) && !housekeepers.has(thread)) waiters.add(thread);
  }
  return waiters;
}

/** A run-time's internal threads: most of what they wait for is work that the run-time gives them. */
function housekeepersOf(raw: RawProfile): Set<number> {
  const isTheirs = housekeepingWaits(raw);
  const { tuples } = raw;
  const more = new Map<number, number>(); // waiting for such work, minus all other waiting
  for (let k = 0; k < tuples.ns.length; k++)
    if (tuples.waiting[k] !== Waiting.none || tuples.state[k] === State.io)
      addTo(more, u32(tuples.thread, k), isTheirs(k) ? f64(tuples.ns, k) : -f64(tuples.ns, k));
  return new Set([...more].filter(([thread, ns]) => thread !== 0 && ns > 0).map(([thread]) => thread));
}

/**
 * How often threads waited at these objects; for a library's futex that is not counted, at all of the library's waiting
 * objects.
 */
function countedWaits({ entities, objects }: RawProfile, ids: readonly number[]): number {
  const isCounted = (id: number): boolean => objects.some((one) => one.entity === id && one.contended > 0);
  const libraries = new Set(
    ids.flatMap((id) => (entities[id]?.kind === 'futex' && !isCounted(id) ? [entities[id].module] : [])),
  );
  return objects.reduce((sum, { entity, contended }) => {
    const its = entities[entity];
    const isThere = ids.includes(entity) || (its !== undefined && madeOf.has(its.kind) && libraries.has(its.module));
    return isThere ? sum + contended : sum;
  }, 0);
}

interface HandOver {
  ns: number; // time since the recording began
  from: number;
  to: number;
}

/**
 * Points at which the time path moves to a thread that another one woke, by an object that such locks can be made of,
 * or its mutex.
 */
function handOversOf({ segments, entities }: RawProfile): HandOver[] {
  const handOvers: HandOver[] = [];
  for (let k = 1; k < segments.ns.length; k++) {
    const from = u32(segments.thread, k - 1),
      to = u32(segments.thread, k);
    if (from === to || from === 0 || to === 0 || segments.came[k] !== Arrival.woken) continue;
    const by = entities[u32(segments.by, k)];
    if (by?.kind === 'mutex' || isMadeOf(by)) handOvers.push({ ns: f64(segments.startNs, k), from, to });
  }
  return handOvers;
}

function spanOf(handOvers: readonly HandOver[]): { first: number; ns: number } {
  const first = Math.min(...handOvers.map(({ ns }) => ns));
  return { first, ns: 1 + Math.max(...handOvers.map(({ ns }) => ns)) - first };
}

function isSteady(handOvers: readonly HandOver[]): boolean {
  const { first, ns: span } = spanOf(handOvers);
  return new Set(handOvers.map(({ ns }) => Math.floor((parts * (ns - first)) / span))).size >= leastParts;
}

/**
 * Objects for which some of the threads wait while others of them run, and the code (stacks) that these run at that
 * time.
 */
interface Inside {
  objects: number[];
  code: Set<number>;
}
function insideOf(raw: RawProfile, among: ReadonlySet<number>): Inside | undefined {
  const { waitOverlap, entities } = raw;
  const { ran, runNs, waits } = timesOf(raw, among);
  const isWaitedFor = (object: number): boolean => {
    const kind = entities[object]?.kind,
      by = waits.get(object);
    if (!isMadeOf(entities[object])) return false;
    // If a library has a condition for each thread, the waiting appears at a futex of the library.
    return by ? by.theirs >= mostWaiters * by.all : kind === 'condition';
  };
  const beside = new Map<number, Map<number, number>>(), // object -> stack
    byThread = new Map<number, number>();
  for (let k = 0; k < waitOverlap.ns.length; k++) {
    const object = u32(waitOverlap.object, k),
      thread = u32(waitOverlap.thread, k);
    if (!among.has(thread) || !isWaitedFor(object)) continue;
    let row = beside.get(object);
    if (!row) beside.set(object, (row = new Map<number, number>()));
    addTo(row, u32(waitOverlap.stack, k), f64(waitOverlap.ns, k));
    addTo(byThread, thread, f64(waitOverlap.ns, k));
  }
  const waitNs = [...beside.keys()].reduce((sum, object) => sum + (waits.get(object)?.theirs ?? 0), 0);
  if (waitNs < leastWaits * runNs || Math.max(...byThread.values()) > mostOfOne * total(byThread)) return undefined;
  const byNode = new Map<number, number>(); // maximum over the objects, because threads may wait for several at a time
  for (const row of beside.values())
    for (const [node, ns] of row) byNode.set(node, Math.max(byNode.get(node) ?? 0, ns));
  const often = total(byNode) / Math.max(1, total(ran));
  if (often < leastWaitedFor) return undefined;
  const code = [...byNode].filter(([node, ns]) => ns >= asOften * often * (ran.get(node) ?? 0)).map(([node]) => node);
  const least = 0.05 * Math.max(...[...beside.values()].map(total));
  return {
    objects: [...beside].filter(([, row]) => total(row) >= least).map(([object]) => object),
    code: new Set(code),
  };
}

/**
 * The time that the threads ran, by stack, while CPUs were idle; and all waiting by object, with the part that is
 * theirs.
 */
function timesOf(
  raw: RawProfile,
  among: ReadonlySet<number>,
): { ran: Map<number, number>; runNs: number; waits: Map<number, { all: number; theirs: number }> } {
  const ran = new Map<number, number>(),
    waits = new Map<number, { all: number; theirs: number }>();
  const { tuples, stacks, head } = raw;
  const isHousekeeping = housekeepingWaits(raw);
  let runNs = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      busy = u16(tuples.busy, k),
      ns = f64(tuples.ns, k),
      isTheirs = among.has(u32(tuples.thread, k));
    if (tuples.waiting[k] !== Waiting.none) {
      if (isHousekeeping(k)) continue;
      const object = u32(stacks.entity, node);
      let row = waits.get(object);
      if (!row) waits.set(object, (row = { all: 0, theirs: 0 }));
      row.all += ns;
      if (isTheirs) row.theirs += ns;
    } else if (isTheirs && tuples.state[k] === State.useful) {
      runNs += ns;
      if (busy > 0 && busy < head.processors) addTo(ran, node, ns / busy);
    }
  }
  return { ran, runNs, waits };
}

/** Whether the code runs for a notable part of the time, and almost never in two threads at once. */
function isOneAtATime(
  { tuples, balance, head }: RawProfile,
  among: ReadonlySet<number>,
  code: ReadonlySet<number>,
  spanNs: number,
): boolean {
  const elapsed = new Map<number, number>(),
    running = new Map<number, number>(); // by b
  for (let k = 0; k < balance.ns.length; k++) addTo(elapsed, u16(balance.busy, k), f64(balance.ns, k));
  let all = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k);
    if (tuples.waiting[k] !== Waiting.none || (state !== State.useful && state !== State.ready)) continue;
    if (!among.has(u32(tuples.thread, k)) || !code.has(u32(tuples.stack, k))) continue;
    all += f64(tuples.ns, k);
    if (state === State.useful) addTo(running, u16(tuples.busy, k), f64(tuples.ns, k));
  }
  let twice = 0;
  for (const [busy, ns] of running) twice += Math.max(0, ns - (elapsed.get(busy) ?? 0));
  const ns = total(running);
  return (
    all >= leastInside * head.elapsedNs &&
    all <= mostInside * spanNs &&
    ns <= mostRunning * spanNs &&
    twice <= mostTwice * ns
  );
}
