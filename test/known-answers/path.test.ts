/**
 * Known time paths: the procedures on the path, by the work that they count. Only the time at work and its division are
 * checked, because a busy machine makes threads wait for CPUs, and all of them take longer.
 */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  independentSnapshots,
  State,
  timePathOf,
  workSpanOf,
  type Model,
  type TimePath,
} from '../../ts-frontend/src/model/index.js';
import { needing, skip } from '../support/capabilities.js';
import { attachTo, record, start, until } from '../support/record.js';
import { quartz } from '../support/run-quartz.js';
import { root } from '../support/root.js';

const program = (name: string): string => join(root, 'build/test/known-answers/path-programs', name);

/** The share of the path's time at work with the procedure on its stack. */
function atWork(model: Model): (name: string) => number {
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

interface Case {
  name: string;
  args: string;
  processors?: number;
  /** Least and greatest share of the path's time at work. */
  shares: Record<string, [number, number]>;
  /** These come one after the other on the path, and their shares are those of the time that the program measured. */
  inTurn?: readonly string[];
  /** A least time in a state, ms: sleeping takes as long as it says. */
  least?: { state: 'io' | 'blocked'; ms: number };
}

// `before`, `longer` and `after` are on the path, 600, 900 and 500 units; `shorter` is beside it.
const forked: Case['shares'] = {
  before: [0.2, 0.4],
  longer: [0.33, 0.57],
  after: [0.15, 0.35],
  shorter: [0, 0.05],
};
const inTurn = ['before', 'longer', 'after'];
// The thread with 15 units limits: first 5 of the other one's, then its own.
const handedOver: Case['shares'] = { consume: [0.85, 1], produce: [0, 0.15] };
const cases: Case[] = [
  { name: 'creation and join', args: 'fork', shares: forked, inTurn },
  { name: 'a detached thread, for which a semaphore is waited', args: 'detached', shares: forked, inTurn },
  // The signal comes after the deadline.
  {
    name: 'a wait that its deadline ends',
    args: 'deadline',
    shares: { after: [0.85, 1], shorter: [0, 0.1] },
    least: { state: 'blocked', ms: 300 },
  },
  { name: 'hand-overs', args: 'hand-over', shares: handedOver },
  // Two threads, 12 units of 15 within the lock.
  { name: 'a mutex', args: 'mutex', shares: { locked: [0.7, 1], outside: [0, 0.3] } },
  { name: 'a read-write lock', args: 'rwlock', shares: { locked: [0.7, 1], outside: [0, 0.3] } },
  { name: 'the last of two readers', args: 'readers', shares: { late: [0.8, 1], early: [0, 0.2] } },
  { name: 'a barrier', args: 'barrier', shares: { late: [0.8, 1], early: [0, 0.2] } },
  { name: 'a condition', args: 'condition', shares: { ping: [0.35, 0.65], pong: [0.35, 0.65] } },
];

async function checkCase(t: ExecutionContext, binary: string, one: Case): Promise<{ model: Model; path: TimePath }> {
  const { model, file, status, stdout, stderr } = await record(program(binary), {
    args: [one.args],
    processors: one.processors ?? 0,
  });
  t.is(status, 0, stderr);
  const path = judgePath(t, model, file, one, measuredShares(stdout, binary === 'path_package' ? 0 : 1, one.inTurn));
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

function judgePath(
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
    checked = waitNs < runNs ? Object.entries(one.shares).filter(([name]) => !measured?.has(name)) : [];
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

needing('perf_event_open', 'process_vm_readv')(
  'plain pthreads: who looks at a flag waits for those that work meanwhile, as inferred',
  async (t) => {
    // 2,700 units of `longer`, by the thread that sets the flag, then 1,500 of `after` by the one that polled it.
    const { model } = await checkCase(t, 'path_pthread', { name: '', args: 'flag', shares: { after: [0.9, 1] } });
    const { onPath, stacks } = model.raw;
    let [inferred, within, watched] = [0, 0, 0];
    for (let k = 0; k < onPath.ns.length; k++) {
      const names: string[] = [];
      for (let n = onPath.stack[k]!; n !== 0; n = stacks.parent[n]!)
        names.push(model.entities[stacks.entity[n]!]!.name);
      if (onPath.inferred[k] === 1) inferred += onPath.ns[k]!;
      if (onPath.inferred[k] === 1 && names.includes('longer')) within += onPath.ns[k]!;
      if (onPath.inferred[k] === 0 && names.includes('watches_flag') && !names.includes('after'))
        watched += onPath.ns[k]!;
    }
    t.true(within >= 0.95 * inferred, `${within / 1e6} of ${inferred / 1e6} ms that are inferred are in longer`);
    // A loop is recognized by samples, which are few where other programs have the CPUs.
    if (model.cpuWait.waitNs < 0.1 * model.cpuWait.runNs)
      t.true(inferred >= 3 * watched, `${inferred / 1e6} ms are inferred, ${watched / 1e6} ms in the loop are not`);
  },
);

for (const one of cases) {
  needing('perf_event_open')(`plain pthreads: ${one.name}`, async (t) => {
    await checkCase(t, 'path_pthread', one);
  });
  test.serial(`thread package: ${one.name}`, async (t) => {
    await checkCase(t, 'path_package', { ...one, processors: 2 });
  });
}
test.serial('plain pthreads: a sleep is on the path for as long as it takes', async (t) => {
  await checkCase(t, 'path_pthread', { name: '', args: 'sleep', shares: {}, least: { state: 'io', ms: 300 } });
});
test.serial('thread package: a sleep is on the path for as long as it takes', async (t) => {
  const least = { state: 'blocked', ms: 300 } as const;
  await checkCase(t, 'path_package', { name: '', args: 'sleep', processors: 2, shares: {}, least });
});
test.serial('thread package: a declared blocking region is on the path for as long as it takes', async (t) => {
  const least = { state: 'io', ms: 300 } as const;
  await checkCase(t, 'path_package', { name: '', args: 'io', processors: 2, shares: {}, least });
});
test.serial('thread package: one thread and 1,000 channels', async (t) => {
  const shares: Case['shares'] = { pass_on: [0.9, 1] };
  const { path } = await checkCase(t, 'path_package', { name: '', args: 'channels', processors: 2, shares });
  const known = path.segments.map(({ thread }) => thread).filter((thread) => thread !== 0);
  t.is(new Set(known).size, 1);
});
test.serial('thread package: spawned calls', async (t) => {
  await checkCase(t, 'path_package', { name: '', args: 'spawn', processors: 2, shares: forked, inTurn });
});
test.serial('thread package: a semaphore', async (t) => {
  await checkCase(t, 'path_package', { name: '', args: 'semaphore', processors: 2, shares: handedOver });
});
test.serial('thread package: on one processor the path goes through all that is executed', async (t) => {
  // Spawned calls run on their parent's stack, one after the other: the path contains all of them.
  const shares: Case['shares'] = { shorter: [0.04, 0.16], longer: [0.3, 0.52], before: [0.18, 0.38] };
  await checkCase(t, 'path_package', { name: '', args: 'spawn', processors: 1, shares });
});

const layer = { LD_PRELOAD: join(root, 'build/pthread-layer/libquartz-pthread.so'), QUARTZ_ATTACH: '1' };
for (const [what, binary, env] of [
  ['thread package', 'path_package', { QUARTZ_PROCESSORS: '2' }],
  ['plain pthreads', 'path_pthread', layer],
] as const)
  test.serial(`${what}: attached amid a run of hand-overs, path and span are those since then`, async (t) => {
    const { child, stdout, ended } = start(program(binary), ['endless'], env);
    await until('it is ready', () => stdout().includes('ready'));
    const { model, file, status, stderr } = await attachTo(child.pid!, 1000, undefined, ['--span']);
    child.kill('SIGKILL');
    await ended;
    t.is(status, 0, stderr);
    const path = judgePath(t, model, file, { name: '', args: '', shares: handedOver });
    t.false(path.fromBeginning);
    t.false(path.toExit);
    // Running threads are known from their first call on: after 15 units at most.
    if (model.cpuWait.waitNs < model.cpuWait.runNs) t.true(path.states.unknown < 0.3 * path.lengthNs);
    const span = workSpanOf(model);
    const [low, high] = model.cpuWait.waitNs < 0.1 * model.cpuWait.runNs ? [1.15, 1.5] : [0.9, 2];
    const parallelism = span?.parallelism ?? 0;
    t.true(parallelism > low && parallelism < high, `${parallelism}, not 20 / 15 (${file})`);
    t.regex((await quartz(['path', file])).stdout, /from when it was attached to what ran when recording ended/);
    t.regex((await quartz(['path', '--span', file])).stdout, /! the program ran before this recording/);
  });

test.serial(
  'crumbs for which there was no room are counted, in text and JSON, and all time is still there',
  async (t) => {
    const { file, model, status, stderr } = await record(program('path_package'), {
      args: ['crowd'],
      processors: 1,
      rateHz: 20,
      span: true,
    });
    t.is(status, 0, stderr);
    const path = timePathOf(model);
    t.true((path?.lostCrumbs ?? 0) > 0, `${path?.lostCrumbs} lost (${file})`);
    t.is(path?.lengthNs, model.elapsedNs);
    const lost = path?.lostCrumbs.toLocaleString('en-US') ?? '';
    t.regex((await quartz(['path', file])).stdout, new RegExp(`! ${lost} records of wake-ups were lost: `));
    const json = JSON.parse((await quartz(['path', '--json', file])).stdout) as { lostCrumbs: number; cutNs: number };
    t.deepEqual([json.lostCrumbs, json.cutNs], [path?.lostCrumbs, path?.cutNs]);
  },
);

test.serial('quartz path tells it as text, CSV and JSON', async (t) => {
  // The two take turns: the path alternates between them, whatever else runs.
  const { file, model } = await record(program('path_package'), { args: ['condition'], processors: 2 });
  const text = await quartz(['path', file, '--top', '0']);
  t.is(text.status, 0, text.stderr);
  t.regex(text.stdout, /^The time path: .* from the program's beginning to its end/);
  t.regex(text.stdout, / (first|second) +by (condition changed|mutex lock) /);
  const rows = (await quartz(['path', '--csv', file])).stdout.trim().split('\r\n');
  t.is(rows.length, 1 + model.raw.segments.ns.length);
  const [head = '', ...entities] = (await quartz(['path', '--csv', '--table', 'entities', file])).stdout.split('\r\n');
  t.is(head, 'kind,name,file,line,on_path_ns,low_ns,high_ns,on_path_self_ns,work_ns');
  t.true(entities.some((row) => row.startsWith('thread,first,')));
  const json = JSON.parse((await quartz(['path', '--json', file])).stdout) as {
    schema: string;
    lengthNs: number;
    elapsedNs: number;
    inferredShare: number;
    workNs: number | null;
    segments: { ns: number }[];
    entities: { onPathNs: number }[];
  };
  t.is(json.schema, 'quartz-path-1');
  t.is(json.lengthNs, json.elapsedNs);
  t.is(json.inferredShare, 0);
  t.is(json.workNs, null, 'work and span were not recorded');
  t.is(
    json.segments.reduce((sum, { ns }) => sum + ns, 0),
    json.lengthNs,
  );
  t.true(json.entities.every(({ onPathNs }) => onPathNs <= json.lengthNs * (1 + 1e-9)));
});
