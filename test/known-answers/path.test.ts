/**
 * Known time paths: the procedures on the path, by the work that they count. Only the time at work and its division are
 * checked, because a busy machine makes threads wait for CPUs, and all of them take longer.
 */
import { join } from 'node:path';
import test from 'ava';
import { timePathOf, workSpanOf } from '../../ts-frontend/src/model/index.js';
import { needing } from '../support/capabilities.js';
import { checkCase, forked, handedOver, inTurn, judgePath, type Case } from './path-cases.js';
import { attachTo, record, start, until } from '../support/record.js';
import { quartz } from '../support/run-quartz.js';
import { root } from '../support/root.js';

const program = (name: string): string => join(root, 'build/test/known-answers/path-programs', name);

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

needing('perf_event_open', 'process_vm_readv')(
  'plain pthreads: who looks at a flag waits for those that work meanwhile, as inferred',
  async (t) => {
    // 2,700 units of `longer`, by the thread that sets the flag, then 1,500 of `after` by the one that polled it.
    const { model } = await checkCase(t, program('path_pthread'), {
      name: '',
      args: 'flag',
      shares: { after: [0.9, 1] },
    });
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
    await checkCase(t, program('path_pthread'), one);
  });
  test.serial(`thread package: ${one.name}`, async (t) => {
    await checkCase(t, program('path_package'), { ...one, processors: 2 });
  });
}
test.serial('plain pthreads: a sleep is on the path for as long as it takes', async (t) => {
  await checkCase(t, program('path_pthread'), { name: '', args: 'sleep', shares: {}, least: { state: 'io', ms: 300 } });
});
test.serial('thread package: a sleep is on the path for as long as it takes', async (t) => {
  const least = { state: 'blocked', ms: 300 } as const;
  await checkCase(t, program('path_package'), { name: '', args: 'sleep', processors: 2, shares: {}, least });
});
test.serial('thread package: a declared blocking region is on the path for as long as it takes', async (t) => {
  const least = { state: 'io', ms: 300 } as const;
  await checkCase(t, program('path_package'), { name: '', args: 'io', processors: 2, shares: {}, least });
});
test.serial('thread package: one thread and 1,000 channels', async (t) => {
  const shares: Case['shares'] = { pass_on: [0.9, 1] };
  const { path } = await checkCase(t, program('path_package'), { name: '', args: 'channels', processors: 2, shares });
  const known = path.segments.map(({ thread }) => thread).filter((thread) => thread !== 0);
  t.is(new Set(known).size, 1);
});
test.serial('thread package: spawned calls', async (t) => {
  await checkCase(t, program('path_package'), { name: '', args: 'spawn', processors: 2, shares: forked, inTurn });
});
test.serial('thread package: a semaphore', async (t) => {
  await checkCase(t, program('path_package'), { name: '', args: 'semaphore', processors: 2, shares: handedOver });
});
test.serial('thread package: on one processor the path goes through all that is executed', async (t) => {
  // Spawned calls run on their parent's stack, one after the other: the path contains all of them.
  const shares: Case['shares'] = { shorter: [0.04, 0.16], longer: [0.3, 0.52], before: [0.18, 0.38] };
  await checkCase(t, program('path_package'), { name: '', args: 'spawn', processors: 1, shares });
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
      args: ['many-threads'],
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

test.serial('quartz path shows it as text, CSV and JSON', async (t) => {
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
