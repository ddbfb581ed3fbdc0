/** Profiles of what docs/reference/metrics.md, section 7, and the paper's Table 2 describe. Units of one second. */
import type { Doing } from './profile-builder.js';
import { ProfileBuilder, io, overhead, ready, run, wait } from './profile-builder.js';

export const second = 1e9;
const names = (count: number, name: string): string[] => Array.from({ length: count }, (_, k) => `${name}#${k}`);

/** `a` alone for 1 s, then `b` on 4 processors for 1 s. */
export const serialThenParallel = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 4 })
    .stretch(second, [run('main', ['main', 'a'])])
    .stretch(second, [wait('main', ['main', 'join:end']), ...names(4, 'part').map((t) => run(t, ['main', 'b']))])
    .call('main', 'a', 1)
    .call('main', 'b', 4);

/** `a` on one processor for 2 s; beside it `b` on the 3 others during the first second. */
export const longBesideParallel = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 4 })
    .stretch(second, [
      wait('main', ['main', 'join:end']),
      run('long', ['main', 'a']),
      ...names(3, 'short').map((t) => run(t, ['main', 'b'])),
    ])
    .stretch(second, [wait('main', ['main', 'join:end']), run('long', ['main', 'a'])]);

/** 4 threads pass one lock round, holding it; waiters block, or spin. */
export const lockRing = (how: typeof wait): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 4 });
  const threads = names(4, 'passer');
  for (let turn = 0; turn < 100; turn++)
    builder.stretch(
      second / 100,
      threads.map((t, k) =>
        k === turn % 4 ? run(t, ['main', 'pass', 'mutex:ring']) : how(t, ['main', 'pass', 'mutex:ring']),
      ),
    );
  return builder.object('mutex:ring', { acquisitions: 100, contended: 100 });
};

/** 8 threads on 4 processors, all computing `b`, 1 s each. */
export const eightOnFour = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 4 })
    .stretch(second, [
      ...names(4, 'x').map((t) => run(t, ['main', 'b'])),
      ...names(4, 'y').map((t) => ready(t, ['main', 'b'])),
    ])
    .stretch(second, [
      ...names(4, 'x').map((t) => ready(t, ['main', 'b'])),
      ...names(4, 'y').map((t) => run(t, ['main', 'b'])),
    ]);

/** Stages of 2, 3, 10 and 4 units an item, with bounded channels. */
export const pipeline = (): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 4 });
  const unit = second / 800;
  const scan = (on: boolean): Doing =>
    on ? run('scanner', ['main', 'scanning', 'scan']) : wait('scanner', ['main', 'scanning', 'channel:scanned']);
  const parse = (on: boolean): Doing =>
    on ? run('parser', ['main', 'parsing', 'parse']) : wait('parser', ['main', 'parsing', 'channel:parsed']);
  const generate = (on: boolean): Doing =>
    on
      ? run('generator', ['main', 'generating', 'generate'])
      : wait('generator', ['main', 'generating', 'channel:optimized']);
  const optimize = run('optimizer', ['main', 'optimizing', 'optimize']);
  const main = wait('main', ['main', 'join:end']);
  for (let item = 0; item < 80; item++)
    builder
      .stretch(2 * unit, [main, scan(true), parse(true), optimize, generate(true)])
      .stretch(unit, [main, scan(false), parse(true), optimize, generate(true)])
      .stretch(unit, [main, scan(false), parse(false), optimize, generate(true)])
      .stretch(6 * unit, [main, scan(false), parse(false), optimize, generate(false)]);
  for (const channel of ['scanned', 'parsed', 'optimized'])
    builder.object(`channel:${channel}`, { acquisitions: 160, contended: 80 });
  return builder;
};

/** Both processors search, with a thread each, in what a third thread hands out; each search waits now and then. */
export const searchers = (): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 2 });
  const unit = second / 880;
  const searches = (name: string, on: boolean): Doing =>
    on ? run(name, ['searching', 'search']) : wait(name, ['searching', 'channel:todo']);
  const main = wait('main', ['main', 'channel:done']);
  for (let item = 0; item < 80; item++)
    builder
      .stretch(8 * unit, [main, searches('searcher', true), searches('searcher2', true)])
      .stretch(2 * unit, [main, searches('searcher', true), searches('searcher2', false)])
      .stretch(unit, [run('main', ['main', 'read']), searches('searcher', true), searches('searcher2', false)]);
  for (const channel of ['todo', 'done']) builder.object(`channel:${channel}`, { acquisitions: 160, contended: 80 });
  return builder;
};

/** A pipeline of even stages with so few items that its filling and draining is most of the run. */
export const starvedPipeline = (): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 4 });
  const stages = ['scan', 'parse', 'optimize', 'generate'];
  const items = 3;
  for (let round = 0; round < 10; round++)
    for (let step = 0; step < stages.length + items - 1; step++)
      builder.stretch(second / 60, [
        wait('main', ['main', 'join:end']),
        ...stages.map((stage, k) =>
          step >= k && step < k + items
            ? run(stage, ['main', `${stage}_items`])
            : wait(stage, ['main', `${stage}_items`, `channel:${stage}_in`]),
        ),
      ]);
  for (const stage of stages)
    if (stage !== '') builder.object(`channel:${stage}_in`, { acquisitions: 30, contended: 30 });
  return builder;
};

/** Two threads for four processors. */
export const starvation = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 4 }).stretch(second, [
    wait('main', ['main', 'join:end']),
    ...names(2, 'half').map((t) => run(t, ['main', 'compute'])),
  ]);

/** Four regions of work, one four times as large. */
export const unbalancedData = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 4 })
    .stretch(second / 4, [
      wait('main', ['main', 'join:end']),
      run('busy', ['main', 'render']),
      ...['r1', 'r2', 'r3'].map((t) => run(t, ['main', 'render'])),
    ])
    .stretch(0.75 * second, [wait('main', ['main', 'join:end']), run('busy', ['main', 'render'])]);

/** In each round one thread has three units of work, the others one; waiters block or spin. */
export const barrierImbalance = (how: typeof wait): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 4 });
  const fast = names(3, 'fast');
  for (let round = 0; round < 20; round++)
    builder
      .stretch(second / 60, [
        run('slow', ['main', 'solve', 'relax']),
        ...fast.map((t) => run(t, ['main', 'solve', 'relax'])),
      ])
      .stretch(second / 30, [
        run('slow', ['main', 'solve', 'relax']),
        ...fast.map((t) => how(t, ['main', 'solve', 'barrier:step'])),
      ]);
  return builder.object('barrier:step', { acquisitions: 80, contended: 60, capacity: 4 });
};

/** Reads that nothing overlaps, then four threads compute. */
export const unoverlappedIo = (): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 4 });
  for (let block = 0; block < 4; block++)
    builder
      .stretch(second / 8, [io('main', ['main', 'read_block'])])
      .stretch(second / 8, [
        wait('main', ['main', 'join:end']),
        ...names(4, 'part').map((t) => run(t, ['main', 'compute'])),
      ]);
  return builder;
};

/** Reads beside enough other work. */
export const overlappedIo = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 4 }).stretch(second, [
    io('reader', ['main', 'read_ahead']),
    ...names(4, 'part').map((t) => run(t, ['main', 'compute'])),
  ]);

/** Half of the time of both processors goes to creating threads. */
export const fineGrain = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 2, head: { spawns: 4e6, switches: 8e6 } })
    .stretch(second / 2, [run('main', ['main', 'batch', 'tiny']), overhead('tiny#1', ['main', 'batch'])])
    .stretch(second / 2, [overhead('main', ['main', 'batch']), run('tiny#1', ['main', 'batch', 'tiny'])]);

/** Threads that take turns through a semaphore: a dependency between the iterations of a loop. */
export const dependency = (): ProfileBuilder => {
  const builder = new ProfileBuilder({ processors: 4 });
  const threads = names(4, 'loop');
  for (let turn = 0; turn < 100; turn++)
    builder.stretch(
      second / 100,
      threads.map((t, k) =>
        k === turn % 4 ? run(t, ['main', 'iterate']) : wait(t, ['main', 'iterate', 'semaphore:turn']),
      ),
    );
  return builder.object('semaphore:turn', { acquisitions: 100, contended: 100 });
};

/** The paper's case: a serial initialization that logs, then a long parallel phase on 18 processors. */
export const verify = (): ProfileBuilder =>
  new ProfileBuilder({ processors: 18 })
    .stretch(1.93 * second, [run('main', ['main', 'input'])])
    .stretch(0.7 * second, [run('main', ['main', 'create_cone', 'add_gate'])])
    .stretch(2.0 * second, [run('main', ['main', 'create_cone', 'add_gate', 'log_gate', 'print'])])
    .stretch(0.9 * second, [run('main', ['main', 'create_cone', 'visit', 'create_cone', 'visit', 'log_gate', 'print'])])
    .stretch(0.31 * second, [run('main', ['main'])])
    .stretch(10.43 * second, [
      wait('main', ['main', 'join:end']),
      ...names(18, 'worker').map((t) => run(t, ['main', 'work', 'prove'])),
    ])
    .call('main', 'create_cone', 2)
    .call('main', 'input', 2)
    .call('main', 'work', 18);
