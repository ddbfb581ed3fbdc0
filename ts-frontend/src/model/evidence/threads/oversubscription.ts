/**
 * More runnable threads than CPUs: for how long, how many of them spin, and what that takes from the others
 * (docs/reference/findings.md, "Threads"). Pure functions.
 */
import { f64, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { Model } from '../../result/types.js';
import type { FindingContext } from '../context.js';
import { shownId } from '../context.js';

/** The least number of samples that show reliably what the CPUs did. */
const leastSamples = 50;

export interface Oversubscription {
  ns: number; // elapsed time with more runnable threads than CPUs
  runnable: number; // mean number of runnable threads
  busy: number;
  spinning: number; // mean number of spinning processors over ns
  spinners: number; // mean number of threads that spin, on a CPU or waiting for one
  woken: number; // mean number of threads that have been woken and wait for a CPU
  lostNs: number; // elapsed time that spinning took from other threads
  handedNs: number; // lostNs, and the time for the calls that wait and wake before and after spinning
  byObject: Map<number, number>; // thread time spinning, by the object that is waited for
  wokenAt: Map<number, number>; // thread time woken but without a CPU, by the object that was waited for
}

/**
 * A level: an amount of elapsed time, the number of CPUs taken, the number of these at work if all runnable threads
 * have equal shares, and the number that could be at work if no thread spun.
 */
interface Level {
  ns: number;
  taken: number;
  atWork: number;
  working: number;
}

/**
 * Elapsed time that would be saved if only the work remained. share: the share of the CPUs' time that is work, from
 * samples; if undefined, as equal shares of all runnable threads give it.
 */
function lostAt(levels: readonly Level[], share?: number): number {
  const sum = (of: (level: Level) => number): number => levels.reduce((all, level) => all + level.ns * of(level), 0);
  const equal = sum(({ atWork }) => atWork);
  const more = share === undefined ? 1 : equal > 0 ? (share * sum(({ taken }) => taken)) / equal : 0;
  return sum(({ atWork, working }) =>
    working > 0 ? Math.max(0, 1 - (atWork * more) / working) : share === undefined ? 0 : 1,
  );
}

const levelOf = (P: number, b: number, s: number, r: number): number => (r * (P + 1) + b) * (P + 1) + s;

/**
 * Thread time spinning, and thread time woken but without a CPU, by level; also adds both to `oversubscription` by
 * object.
 */
function waitersOf(
  { raw, processors: P }: Model,
  shown: (k: number) => number,
  oversubscription: Oversubscription,
): { spun: Map<number, number>; woken: Map<number, number> } {
  const { tuples } = raw;
  const spun = new Map<number, number>(),
    woken = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k),
      waiting = u8(tuples.waiting, k),
      ns = f64(tuples.ns, k);
    if (waiting === Waiting.none || u32(tuples.runnable, k) <= P) continue;
    const level = levelOf(P, u16(tuples.busy, k), u16(tuples.spinning, k), u32(tuples.runnable, k));
    if (waiting === Waiting.woken) {
      oversubscription.woken += ns;
      addTo(woken, level, ns);
      addTo(oversubscription.wokenAt, shown(k), ns);
    } else if (state === State.spinning || state === State.ready) {
      addTo(spun, level, ns);
      addTo(oversubscription.byObject, shown(k), ns);
    }
  }
  return { spun, woken };
}

const measured = new WeakMap<FindingContext, Oversubscription>();
export function oversubscriptionOf(context: FindingContext): Oversubscription {
  let its = measured.get(context);
  if (!its) measured.set(context, (its = measure(context)));
  return its;
}

function measure({ model }: FindingContext): Oversubscription {
  const { balance, tuples, stacks } = model.raw;
  const P = model.processors;
  const oversubscription: Oversubscription = {
    ns: 0,
    runnable: 0,
    busy: 0,
    spinning: 0,
    spinners: 0,
    woken: 0,
    lostNs: 0,
    handedNs: 0,
    byObject: new Map(),
    wokenAt: new Map(),
  };
  const shown = (k: number): number => shownId(model, u32(stacks.entity, u32(tuples.stack, k)));
  const { spun, woken } = waitersOf(model, shown, oversubscription);
  const levels: Level[] = [];
  for (let k = 0; k < balance.ns.length; k++) {
    const ns = f64(balance.ns, k),
      b = u16(balance.busy, k),
      s = u16(balance.spinning, k);
    if (u32(balance.runnable, k) <= P || ns === 0) continue;
    const r = f64(balance.runnableNs, k) / ns;
    const level = levelOf(P, b, s, u32(balance.runnable, k));
    const m = Math.min(r, (spun.get(level) ?? 0) / ns),
      w = Math.min(r - m, (woken.get(level) ?? 0) / ns),
      u = r - m - w;
    oversubscription.ns += ns;
    oversubscription.runnable += ns * r;
    oversubscription.busy += ns * b;
    oversubscription.spinning += ns * s;
    oversubscription.spinners += ns * m;
    const onOne = Math.min(P, u + m);
    const taken = onOne + Math.min(w, P - onOne);
    levels.push({ ns, taken, atWork: taken - (m > 0 ? (onOne * m) / (u + m) : 0), working: Math.min(u + w, P) });
  }
  addSpinningLoss(oversubscription, levels, model);
  if (oversubscription.ns > 0)
    for (const mean of ['runnable', 'busy', 'spinning', 'spinners', 'woken'] as const)
      oversubscription[mean] /= oversubscription.ns;
  return oversubscription;
}

/**
 * Computes the time lost to spinning. The CPUs rotate among the u + m threads that may be on one (u at work, m
 * spinning); threads that have just been woken (w) get the remaining CPUs. Without spinning, all u + w could have them.
 * A thread that spins uses its whole time slice, and one with little work spins after it, so samples of running threads
 * determine the share of the CPUs' time that is work.
 */
function addSpinningLoss(oversubscription: Oversubscription, levels: readonly Level[], { head }: Model): void {
  const { oversubscribedSamples: samples, oversubscribedSpinning: spins, oversubscribedHanding: hands } = head;
  if (oversubscription.spinners === 0) return;
  const isSampled = samples >= leastSamples;
  oversubscription.lostNs = lostAt(levels, isSampled ? 1 - spins / samples : undefined);
  oversubscription.handedNs = lostAt(levels, isSampled ? 1 - (spins + hands) / samples : undefined);
}

/**
 * The program's threads delay each other only while they have all CPUs; the rest of the delay is due to other programs
 * (docs/reference/metrics.md, section 6).
 */
function ownNs({ cpuWait, processors }: Model, oversubscription: Oversubscription): number {
  return cpuWait.runNs > 0 ? Math.min(oversubscription.ns, cpuWait.runNs / processors) : oversubscription.ns;
}

/** Less work than this for each wait: what a hand-over takes besides, in caches and switches, is then notable. */
const fewWorkNs = 100_000;

export function handOversOf({ kernelUsage, cpuWait }: Model): number | null {
  const count = kernelUsage?.waits?.count ?? 0;
  return count > 0 && cpuWait.runNs < count * fewWorkNs ? count : null;
}

/** Fewer spinning threads than this on average are not said to be what takes the CPUs. */
const leastSpinners = 0.05;

/**
 * The least share of the elapsed time that is reported: in any program, threads that begin or end overlap for a moment.
 */
const leastOversubscribed = 0.25;

/** What it costs: time that spinning takes from others; nothing known, but threads wait for each other; nothing. */
type OversubscriptionCost = 'spinning' | 'unknown' | 'nothing';

/** Null: there is none worth reporting. */
export function costOfOversubscription(
  { model, least }: FindingContext,
  oversubscription: Oversubscription,
): OversubscriptionCost | null {
  if (oversubscription.lostNs >= least && oversubscription.spinners >= leastSpinners) return 'spinning';
  if (ownNs(model, oversubscription) < leastOversubscribed * model.elapsedNs) return null;
  return handOversOf(model) === null ? 'nothing' : 'unknown';
}
