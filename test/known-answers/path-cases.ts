/**
 * Programs whose time path is known, and what it must be: the procedures on it, by the work that they count. Only the
 * time at work and its division are checked, because a busy machine makes threads wait for CPUs, and all of them take
 * longer.
 */
import type { ExecutionContext } from 'ava';
import {
  independentSnapshots,
  State,
  timePathOf,
  type Model,
  type TimePath,
} from '../../ts-frontend/src/model/index.js';
import { skip } from '../support/capabilities.js';
import { record } from '../support/record.js';

/** The share of the path's time at work with the procedure on its stack. */
export function atWork(model: Model): (name: string) => number {
  const { onPath, stacks } = model.raw;
  const times = new Map<string, number>();
  let all = 0;
  for (let k = 0; k < onPath.ns.length; k++) {
    if (onPath.state[k] !== State.useful || onPath.inferred[k] === 1) continue;
    all += onPath.ns[k]!;
    const names = new Set<string>();
    for (let n = onPath.stack[k]!; n !== 0; n = stacks.parent[n]!) names.add(model.entities[stacks.entity[n]!]!.name);
    for (const name of names) times.set(name, (times.get(name) ?? 0) + onPath.ns[k]!);
  }
  return (name) => (times.get(name) ?? 0) / Math.max(1, all);
}

export interface Case {
  name: string;
  args: string;
  processors?: number;
  /** Least and greatest share of the path's time at work. */
  shares: Record<string, [number, number]>;
  /** These come one after the other on the path, and their shares are those of the time that the program measured. */
  inTurn?: readonly string[];
  /**
   * So many waits reach the kernel where each thread has a CPU. Beside other programs they may be fewer, because
   * threads try again for a while (sched_yield) before they sleep: such waits have no predecessor, so that the path
   * stays where it is, and its shares are not known.
   */
  futexWaits?: number;
  /** A least time in a state, ms: sleeping takes as long as it says. */
  least?: { state: 'io' | 'blocked'; ms: number };
}

/** Records the program with the arguments of the case. */
export async function checkCase(
  t: ExecutionContext,
  binary: string,
  one: Case,
): Promise<{ model: Model; path: TimePath }> {
  const { model, file, status, stdout, stderr } = await record(binary, {
    args: [one.args],
    processors: one.processors ?? 0,
  });
  t.is(status, 0, stderr);
  const path = judgePath(
    t,
    model,
    file,
    one,
    measuredShares(stdout, binary.endsWith('path_package') ? 0 : 1, one.inTurn),
  );
  t.true(path.fromBeginning);
  t.true(path.toExit, 'the path leads to the end of the program');
  return { model, path };
}

/**
 * Shares of these by what the program measured, by the clock (0) or as processor time (1); undefined if the part beside
 * them took about as long. In the thread package who waits for a CPU is at work.
 */
function measuredShares(stdout: string, by: 0 | 1, names: readonly string[] = []): Map<string, number> | undefined {
  const lines = [...stdout.matchAll(/^(\w+) (\d+) (\d+)$/gm)];
  const ns = new Map(lines.map(([, name, ...times]) => [name!, Number(times[by])]));
  if (names.length === 0 || (ns.get('shorter') ?? 0) > 0.9 * (ns.get('longer') ?? 0)) return undefined;
  const all = names.reduce((sum, name) => sum + (ns.get(name) ?? NaN), 0);
  return new Map(names.map((name) => [name, (ns.get(name) ?? NaN) / all]));
}

/** Whatever others do with the CPUs: within what sampling leaves open, and what the sampler missed. */
function judgeMeasured(t: ExecutionContext, model: Model, file: string, due: ReadonlyMap<string, number>): void {
  const { pathNs, skippedTicks, rateHz } = model.raw.head;
  const share = atWork(model),
    n = Math.max(1, independentSnapshots(model.head));
  for (const [name, middle] of due) {
    const open = 0.03 + (1e9 * skippedTicks) / rateHz / pathNs + 4 * Math.sqrt((middle * (1 - middle)) / n);
    const is = share(name);
    t.true(Math.abs(is - middle) < open, `${name} has ${is.toFixed(3)}, not ${middle} by ${open} (${file})`);
  }
}

/** How many waits for futexes the layer counted. */
const futexWaitsOf = (model: Model): number =>
  model.entities.reduce((sum, { rawKind, object }) => sum + (rawKind === 'futex' ? (object?.contended ?? 0) : 0), 0);

export function judgePath(
  t: ExecutionContext,
  model: Model,
  file: string,
  one: Case,
  measured?: ReadonlyMap<string, number>,
): TimePath {
  const path = timePathOf(model);
  if (path === null) throw new Error('no time path was recorded');
  t.is(path.lengthNs, model.elapsedNs);
  t.is(path.cutNs, 0);
  t.is(path.lostCrumbs, 0);
  const share = atWork(model);
  // If other programs take the CPUs, a processor without one counts as at work: then only large and small parts are
  // checked, and nothing if they took more than they left.
  const { waitNs, runNs } = model.cpuWait;
  const observed = (independentSnapshots(model.head) * path.states.useful) / path.lengthNs;
  const quiet = waitNs < 0.1 * runNs,
    areKnown = waitNs < runNs && (quiet || futexWaitsOf(model) >= 0.8 * (one.futexWaits ?? 0)),
    checked = areKnown ? Object.entries(one.shares).filter(([name]) => !measured?.has(name)) : [];
  if (measured) judgeMeasured(t, model, file, measured);
  else if (checked.length < Object.keys(one.shares).length) skip(t, 'other programs had the CPUs');
  for (const [name, range] of checked) {
    const is = share(name);
    // Few snapshots leave more open than the range does.
    const middle = (range[0] + range[1]) / 2,
      error = 4 * Math.sqrt((middle * (1 - middle)) / Math.max(1, observed));
    const [low, high] = quiet
      ? [Math.min(range[0], middle - error), Math.max(range[1], middle + error)]
      : [range[0] / 5, range[1] < 0.3 ? 2 * range[1] : 1];
    t.true(
      is >= low && is <= high,
      `${name} has ${is.toFixed(3)} of the path at work, not ${low} to ${high} (${file})`,
    );
  }
  if (one.least)
    t.true(
      path.states[one.least.state] >= 0.98e6 * one.least.ms,
      `${path.states[one.least.state] / 1e6} ms in ${one.least.state}, not ${one.least.ms}`,
    );
  return path;
}

// `before`, `longer` and `after` are on the path, 600, 900 and 500 units; `shorter` is beside it.
export const forked: Case['shares'] = {
  before: [0.2, 0.4],
  longer: [0.33, 0.57],
  after: [0.15, 0.35],
  shorter: [0, 0.05],
};
export const inTurn = ['before', 'longer', 'after'];
// The thread with 15 units limits: first 5 of the other one's, then its own.
export const handedOver: Case['shares'] = { consume: [0.85, 1], produce: [0, 0.15] };
