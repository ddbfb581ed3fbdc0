/**
 * Programs that are not prepared for Quartz: what the pthread layer reports about them, compared with what is known
 * about them.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { findEntities, independentSnapshots, State, type Model } from '../../../ts-frontend/src/model/index.js';
import { record, start } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';
import { hadCpus, lineOf, near, object, onPath, program, skipsWithoutCpus, unsampled, waitingFor } from './helpers.js';

test.serial('a lock that all threads want: named by its variable, waits exact, blame with its holders', async (t) => {
  const { model, status } = await record(program('lock'));
  t.is(status, 3);
  t.is(model.head.publisher, 'pthread');
  const lock = object(model, 'cache_lock');
  t.is(lock.object.acquisitions, 400);
  const { head, root: whole, slowdown } = model,
    each = whole.nptNs / whole.processorTimeNs / 1000;
  t.true(head.lockMostPs > 0 && head.lockLeastPs <= head.lockMostPs && head.waitPs > 0);
  t.deepEqual([slowdown.locksNs, slowdown.locksLeastNs], [400 * head.lockMostPs * each, 400 * head.lockLeastPs * each]);
  t.is(
    slowdown.waitsNs,
    model.entities
      .filter(({ members }) => members.length === 0)
      .reduce((sum, one) => sum + (one.object?.contended ?? 0), 0) *
      head.waitPs *
      each,
  );
  t.true(lock.object.contended > 0 && lock.object.contended <= 400);
  // 400 times 1 ms by the clock, whatever else the machine does
  const heldNs = lock.states.useful.ns + lock.states.ready.ns;
  t.true(heldNs > 340e6, `somebody has it for 400 ms: ${heldNs / 1e6}`);
  near(t, model, 'waiting for the lock, or woken for it', onPath(lock) - lock.object.holdNs, lock.object.waitNs);
  t.regex(lock.file, /lock\.c$/);
  if (hadCpus(model)) t.is(model.findings[0]?.entity, lock.id);
  for (let k = 0; k < 4; k++) t.is(findEntities(model, `worker-${k}`).length, 1);
  t.true(lock.object.holders.length > 0);
});

test.serial('a condition that a consumer waits for: its wait, not its mutex', async (t) => {
  const { model } = await record(program('condition'));
  const filled = object(model, 'filled'),
    lock = object(model, 'queue_lock');
  t.true(filled.object.acquisitions > 0 && filled.object.acquisitions <= 41, String(filled.object.acquisitions));
  near(t, model, 'blocked on the condition, or woken', onPath(filled), filled.object.waitNs);
  t.true(filled.object.waitNs > 200e6, 'the consumer waits most of the time');
  t.true(lock.object.waitNs < filled.object.waitNs / 4);
  t.is(lock.object.acquisitions, 80);
});

for (const [kind, names] of [
  ['token', 'same'],
  ['token', 'numbered'],
  ['broad', 'same'],
  ['turns', 'numbered'],
] as const)
  test.serial(`a lock that a program made of a condition and a flag (${kind}, names ${names})`, async (t) => {
    const { model } = await record(program('own_lock'), { args: [kind, '4', names] });
    const [first] = model.findings.filter((one) => one.kind !== 'oversubscription');
    // One at a time has it for 250 ms of processor time: 4 of these are more than the 1.2 s of work on two CPUs.
    t.true(model.root.processorTimeNs > 1.1e9, String(model.root.processorTimeNs));
    const waitedFor = kind === 'turns' ? /^turn/ : /^free_again$/;
    if (!hadCpus(model)) {
      // A thread that others keep from running appears to hold it together with the next one; at the end one thread may
      // be late and alone.
      t.false(first?.kind === 'pipeline' || first?.kind === 'imbalance', `${first?.kind} ${first?.name}`);
      return;
    }
    t.regex(first?.name ?? '', waitedFor);
    t.is(first?.kind, 'lock-contention');
    t.deepEqual(first?.facts.form === 'lock' ? first.facts.exclusion : null, { threads: 4 });
  });

for (const names of ['same', 'numbered'])
  test.serial(
    `threads that take work from one condition, two at a time, exclude nobody (names ${names})`,
    async (t) => {
      const { model } = await record(program('own_lock'), { args: ['pool', '4', names] });
      // they hardly ever work two at a time
      if (skipsWithoutCpus(t, model)) return;
      t.deepEqual(
        model.findings.filter(({ facts }) => facts.form === 'lock' && facts.exclusion !== null).map(({ name }) => name),
        [],
      );
    },
  );

test.serial('the only thread that has work is no stage of a pipeline', async (t) => {
  const { model } = await record(program('one_worker'));
  const [first] = model.findings;
  t.is(first?.kind, 'serial', `${first?.kind} ${first?.name}`);
  const worker = first?.facts.form === 'serial' ? first.facts.worker : null;
  if (worker) t.is(model.entities[worker.thread]?.name, 'work');
  t.true(worker !== null && worker.share > 0.9, String(worker?.share));
});

test.serial('a barrier at which one thread waits for the other', async (t) => {
  const { model } = await record(program('barrier'));
  const barrier = object(model, 'end_of_phase');
  t.is(barrier.kind, 'barrier');
  t.deepEqual([barrier.object.acquisitions, barrier.object.contended, barrier.object.capacity], [80, 40, 2]);
  t.true(barrier.object.waitNs > 150e6);
  near(t, model, 'blocked at the barrier, or woken', onPath(barrier), barrier.object.waitNs);
});

test.serial('threads that have been woken and wait for a CPU are runnable', async (t) => {
  const cpu = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
  const { model } = await record('/usr/bin/taskset', { args: ['-c', cpu, program('woken_threads')] });
  t.is(model.processors, 1);
  const error = 4 * Math.sqrt(1.25 / independentSnapshots(model.head)); // of 1, 2, 3 and 4, equally often
  t.true(
    model.balance.meanRunnable > 2.5 - Math.max(0.5, error),
    `2.5 threads could run on average; seen were ${model.balance.meanRunnable}, ± ${error}`,
  );
  const barrier = object(model, 'end_of_round');
  t.true(
    barrier.states.ready.ns > barrier.states.blocked.ns / 2,
    'who has been woken waits for the CPU for as long as the others before it run',
  );
});

needing('process_vm_readv')(
  'who spins and then blocks: samples distinguish spinning and its waits and wake-ups from work',
  async (t) => {
    const cpu = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
    const { model, status, stdout } = await record('/usr/bin/taskset', {
      args: ['-c', cpu, program('spin_then_block_barrier')],
    });
    t.is(status, 0);
    if (!model.head.paths.running) {
      skip(t, 'the kernel gives no samples here');
      return;
    }
    const [workingUs, allUs] = stdout.split(' ').map(Number) as [number, number];
    const { cpuUseSamples: samples, cpuUseSpinning: spins, cpuUseHanding: hands } = model.head;
    t.true(spins > 0, `${spins} and ${hands} of ${samples}`);
    const work = 1 - (spins + hands) / samples,
      real = workingUs / allUs;
    const error = Math.sqrt((real * (1 - real)) / samples); // a loaded machine gives few samples
    const slack = Math.max(0.15, 4 * error),
      isQuiet = model.cpuWait.othersNs < 0.2 * model.cpuWait.runNs;
    // Elsewhere samples are read late, and a little more of what is no work is not recognized.
    const most = real + slack + (isQuiet ? 0 : 0.1);
    t.true(
      work > real - slack && work < most,
      `work is ${(100 * work).toFixed()} % of the samples, really ${(100 * real).toFixed()} % of processor time`,
    );
    if (samples < 50) {
      skip(t, 'the kernel gives few samples of running threads');
      return;
    }
    // Findings that say that other programs may be the cause do not count against this one; the elapsed time that
    // others leave may be less than its work could save.
    const ours = model.findings.filter(({ othersMayCause }) => !othersMayCause),
      finding = ours.find(({ kind }) => kind === 'oversubscription');
    t.truthy(finding, ours.map(({ kind }) => kind).join());
    if (isQuiet) t.is(ours[0], finding);
    t.true(
      finding!.savingNs < (1 - real + Math.max(0.1, 4 * error)) * model.elapsedNs,
      'no more than what is not work',
    );
  },
);

test.serial('threads that get a CPU for moments only are not at work while they wait for it', async (t) => {
  const { model, stdout } = await record(program('short_wakeups'));
  const [workingUs, wakingUs] = stdout.split(' ').map(Number) as [number, number];
  const useful = (name: RegExp): number =>
    model.entities
      .filter(({ kind, members, name: its }) => kind === 'thread' && members.length === 0 && name.test(its))
      .reduce((sum, { states }) => sum + states.useful.ns, 0);
  const share = useful(/^(wake|once)/) / (useful(/^(wake|once)/) + useful(/^work/)),
    real = wakingUs / (workingUs + wakingUs);
  t.true(useful(/^work/) > 0);
  const { othersNs, runNs } = model.cpuWait; // a wait for a CPU that others have is harder to distinguish from work
  t.true(
    share < real + (othersNs < 0.2 * runNs ? 0.1 : 0.25),
    `${(100 * share).toFixed(1)} % of the work, of the processor time ${(100 * real).toFixed(1)} %`,
  );
});

test.serial(
  'thousands of threads that wait: sampling takes little of a CPU that the program uses, and sees them all',
  async (t) => {
    const threads = 6000,
      [shortMs, longMs] = [2000, 5000];
    const recorded = (ms: number): ReturnType<typeof record> =>
      record(program('woken_threads'), { args: [String(threads), String(ms)], rateHz: 0 });
    const { model: begun, status: soon } = await recorded(shortMs);
    const { model, status } = await recorded(longMs);
    if (status === 77 || soon === 77) {
      skip(t, 'so many threads are not allowed here');
      return;
    }
    t.is(model.head.rateHz, 1000);
    // Not what each thread takes once, when it begins, is read first, and ends, which depends on the machine.
    const takenNs = model.head.samplerCpuNs - begun.head.samplerCpuNs,
      ofNs = model.elapsedNs - begun.elapsedNs;
    // Beside other programs beginning and end may take longer in one of the two runs, by more than the wait itself.
    const waitedNs = (longMs - shortMs) * 1e6;
    if (Math.abs(ofNs - waitedNs) > 0.25 * waitedNs) skip(t, 'other programs had the CPUs');
    else t.true(takenNs < 0.3 * ofNs, `${takenNs / 1e6} ms of ${ofNs / 1e6} ms`);
    const over = object(model, 'over');
    near(t, model, 'waiting for the condition', onPath(over), over.object.waitNs);
  },
);

test.serial('the first object of a program comes late: what is noted of it begins then', async (t) => {
  const { model } = await record(program('late_first_object'));
  const join = model.entities.find(({ rawKind, members }) => rawKind === 'join' && members.length === 0)!;
  const noted = [...join.object!.holders, ...join.object!.waitOverlap].map(({ ns }) => ns);
  t.true(
    Math.max(...noted) <= onPath(join) + 20e6,
    `${Math.max(...noted) / 1e6} ms noted, ${onPath(join) / 1e6} ms waited`,
  );
});

test.serial('a spin lock: its waiters spin, and are not at work', async (t) => {
  const { model } = await record(program('spin'));
  const turn = object(model, 'turn');
  t.is(turn.object.acquisitions, 200);
  t.is(turn.object.spinNs, turn.object.waitNs);
  near(t, model, 'spinning', waitingFor(model, turn), turn.object.spinNs);
  t.is(turn.states.blocked.ns, 0);
});

test.serial('a loop on a failing trylock counts as spinning on that mutex', async (t) => {
  const { model } = await record(program('trylock'));
  const spinning = waitingFor(model, object(model, 'busy'));
  if (model.processors > 1) t.true(spinning > 100e6, `${spinning / 1e6} ms`);
  t.is(object(model, 'busy').object.acquisitions, 2);
});

test.serial('sleeping, reading and waiting for a signal are input and output, seen from outside', async (t) => {
  const { model } = await record(program('sleep'));
  if (skipsWithoutCpus(t, model)) return;
  const [waits] = model.entities.filter(({ kind, name }) => kind === 'thread' && name === 'waits');
  // 400 ms less what they take to begin, on a busy machine
  t.true(waits !== undefined && waits.states.io.ns > 100e6, String(waits?.states.io.ns));
  t.true(waits!.states.useful.ns < 50e6);
  // a function of the layer stands in for it
  const awaited = model.entities.find(({ name }) => name === 'sigwait');
  t.true((awaited?.states.io.ns ?? 0) > 100e6, String(awaited?.states.io.ns));
});

test.serial(
  'a loop that the program marks counts as spinning, on what it looks at; without Quartz it runs as ever',
  async (t) => {
    t.is((await start(program('marked_loop'), []).ended).status, 0);
    const { model } = await record(program('marked_loop'));
    const flag = object(model, 'done_flag');
    t.deepEqual([flag.rawKind, flag.object.acquisitions, flag.object.contended], ['loop', 10, 10]);
    t.is(flag.object.spinNs, flag.object.waitNs);
    near(t, model, 'spinning', flag.states.spinning.ns + flag.states.ready.ns, flag.object.spinNs);
    t.true(flag.object.waitNs > 300e6);
  },
);

test.serial('a loop of sched_yield is spinning; yielding after work is not', async (t) => {
  const { model } = await record(program('yields'));
  const spun = (name: string): number =>
    model.entities
      .filter((one) => one.kind === 'thread' && one.name === name)
      .reduce((sum, { states, id }) => sum + states.spinning.ns + timeAtLoops(model, id), 0);
  t.is(spun('polite'), 0);
  // the sampler hardly ever ran
  if (skipsWithoutCpus(t, model)) return;
  t.true(spun('impatient') > 100e6, `${spun('impatient') / 1e6} ms`);
  const loop = model.entities.find(({ rawKind }) => rawKind === 'loop');
  t.regex(loop?.file ?? '', /yields\.c$/);
});

test.serial('who has yielded some times, and then works, is no longer counted as waiting', async (t) => {
  const { model } = await record(program('yields_then_works'));
  const { oversubscribedSamples: samples, oversubscribedSpinning: spinning } = model.head;
  if (samples < 50) {
    skip(t, unsampled(model) ?? 'there were too few samples');
    return;
  }
  t.true(spinning < 0.25 * samples, `${spinning} of ${samples} samples`);
});

test.serial('threads that take turns do not run at the same time, whatever lies between two snapshots', async (t) => {
  const { model } = await record(program('turns'));
  const { byBusyNs } = model.balance;
  if (!hadCpus(model) || model.samples < 200) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  const [, one = 0, ...more] = byBusyNs;
  const both = more.reduce((sum, ns) => sum + ns, 0);
  t.true(both < 0.08 * (one + both), `${both / 1e6} of ${(one + both) / 1e6} ms`);
});

needing('process_vm_readv')(
  'loops that only wait, unmarked, are found by what running threads execute; work in loops as tight is none',
  async (t) => {
    const { model } = await record(program('unmarked_loops'));
    const reason = unsampled(model);
    if (reason !== undefined) {
      skip(t, reason);
      return;
    }
    const spun = (name: string): number =>
      model.entities
        .filter((one) => one.kind === 'thread' && one.name === name)
        .reduce((sum, { states, id }) => sum + states.spinning.ns + timeAtLoops(model, id), 0);
    for (const name of ['watches', 'pauses', 'backs off', 'grabs', 'patient'])
      t.true(spun(name) > 30e6, `${name}: ${spun(name) / 1e6} ms`);
    for (const name of ['computes', 'repeats', 'counts', 'locks', 'stalled']) t.is(spun(name), 0, name);
    const loops = model.entities.filter(({ rawKind, members }) => rawKind === 'loop' && members.length === 0);
    t.is(loops.length, 5);
    t.is(model.notices.filter(({ form }) => form === 'waiting-loop').length, 5);
    for (const loop of loops) t.regex(loop.file, /unmarked_loops\.c$/);
  },
);

/** Ready, with a loop at the top of its stack: it would spin, but had no CPU. */
function timeAtLoops({ raw }: Model, thread: number): number {
  let ns = 0;
  for (let k = 0; k < raw.tuples.ns.length; k++)
    if (raw.tuples.thread[k] === thread && raw.tuples.state[k] === State.ready && raw.tuples.waiting[k] === 1)
      ns += raw.tuples.ns[k]!;
  return ns;
}

test.serial('threads beyond those that have a large call table: every use of a lock is counted', async (t) => {
  const { model, status } = await record(program('many_sleepers'));
  if (status === 77) {
    skip(t, 'so many threads are not allowed here');
    return;
  }
  t.is(object(model, 'arrival').object.acquisitions, 400);
  t.is(object(model, 'everyone').object.acquisitions, 8 * 20_000);
  const several = model.entities.filter(
    ({ name, members, object: its }) => its !== null && members.length === 0 && /^mutex at many_sleepers/.test(name),
  );
  t.is(
    several.reduce((sum, one) => sum + one.object!.acquisitions, 0),
    8 * 100 * 5,
  );
  t.is(model.head.callsLost, 0);
});

needing('process_vm_readv')('a loop that tries an atomic flag is a spin lock, known by its place', async (t) => {
  const { model, status } = await record(program('flag_spinlock'));
  t.is(status, 0);
  const reason = unsampled(model);
  if (reason !== undefined) {
    skip(t, reason);
    return;
  }
  const line = lineOf('flag_spinlock.c', '// the loop');
  const lock = object(model, `spin lock at flag_spinlock.c:${line}`);
  t.is(lock.libraryWait, 'lock');
  // one thread may have the lock for all of its 200 ms, then the other
  const spun = lock.states.spinning.ns + lock.states.ready.ns;
  t.true(spun > 100e6, `spinning ${spun / 1e6} ms`);
  t.true(
    model.findings.some(({ kind, entity }) => kind === 'spinning' && entity === lock.id),
    JSON.stringify(model.findings.map(({ facts }) => facts)),
  );
});
