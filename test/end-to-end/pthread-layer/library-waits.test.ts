/** Waits inside run-time libraries (C++'s headers, OpenMP), named after what the program called. */
import type { Entity } from '../../../ts-frontend/src/model/index.js';
import { record } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';
import { hadCpus, lineOf, near, object, program } from './helpers.js';

for (const name of ['cxx20_waits0', 'cxx20_waits2', 'cxx20_waits0-clang', 'cxx20_waits2-clang'])
  needing(`file:${program(name)}`, 'process_vm_readv')(
    `${name}: what the C++ library has in its headers is known by what the program called, and where`,
    async (t) => {
      const { model, status, stdout } = await record(program(name));
      t.is(status, 0);
      const [allMs, ...tookMs] = stdout.split(' ').map(Number) as [number, ...number[]];
      for (const [k, [called, kind]] of (
        [
          ['std::latch::wait', 'barrier'],
          ['std::counting_semaphore::acquire', 'data'],
          ['std::barrier::arrive_and_wait', 'barrier'],
          ['std::atomic<int>::wait', 'data'],
          ['std::atomic_flag::wait', 'data'],
        ] as const
      ).entries()) {
        const line = lineOf('cxx20_waits.cc', `// ${called}`);
        const waited = object(model, `${called} at cxx20_waits.cc:${line}`);
        t.is(waited.libraryWait, kind, called);
        // All of them waited that long; each began to wait before that time, and waited for a CPU after it was woken.
        near(
          t,
          model,
          called,
          waited.states.blocked.ns,
          Math.min(Math.max(allMs * 1e6, waited.states.blocked.ns), tookMs[k]! * 1e6),
          0.3,
        );
        t.deepEqual([waited.file.split('/').pop(), waited.line], ['cxx20_waits.cc', line]);
      }
    },
  );

for (const [name, blockMs] of [
  ['openmp', ''],
  ['openmp-clang', '200'],
  ['openmp-clang', '0'],
] as const) {
  // LLVM's library waits that long before it blocks
  const openmp = program(name);
  needing(
    `file:${openmp}`,
    'perf_event_open',
    'x86-64',
  )(
    `${name} ${blockMs}: what waits inside its library is waiting, spinning or asleep, known by what the program ` +
      'called',
    async (t) => {
      const { model, status, stdout } = await record(openmp, { env: blockMs ? { KMP_BLOCKTIME: blockMs } : {} });
      t.is(status, 0);
      if (model.head.paths.fewSamples) {
        skip(t, 'the kernel gives few samples of running threads');
        return;
      }
      const waited = (at: string): number =>
        model.entities
          .filter(
            ({ rawKind, id, group, name: its }) =>
              id !== group &&
              (its === `omp ${at}` ||
                (rawKind === 'futex' && its.endsWith(` at openmp.c:${lineOf('openmp.c', `#pragma omp ${at}`)}`))),
          )
          .reduce((sum, { states }) => sum + states.blocked.ns + states.spinning.ns + states.ready.ns, 0);
      // Everything takes longer on a loaded machine; of 1,000 ms of two threads 550 are work, and 1,000 would be if
      // they did not wait.
      const inStates = (...states: (keyof Entity['states'])[]): number =>
        model.entities
          .filter(({ kind }) => kind === 'thread')
          .reduce((sum, { states: its }) => sum + states.reduce((ns, state) => ns + its[state].ns, 0), 0);
      const all = inStates('useful', 'overhead', 'spinning', 'ready', 'blocked', 'io'),
        part = (ns: number): string => `${((100 * ns) / all).toFixed(1)} % of ${all / 1e6} ms`;
      // LLVM's waiters yield their CPU while they poll: if other threads take it, there are hardly any samples of the
      // waiters.
      const known = !blockMs || hadCpus(model);
      const [barrierMs, criticalMs] = stdout.split(' ').map(Number) as [number, number]; // by the threads' CPU clocks
      t.true(
        !known || waited('barrier') > 0.5 * barrierMs * 1e6 - 20e6,
        `at the first barrier ${part(waited('barrier'))}, really ${barrierMs} ms`,
      );
      t.true(
        !known || waited('critical(tally)') > 0.3 * criticalMs * 1e6 - 20e6,
        `for the critical section ${part(waited('critical(tally)'))}, really ${criticalMs} ms`,
      );
      if (blockMs && known)
        t.true(waited('parallel') > 0.075 * all, `at the end of the region ${part(waited('parallel'))}`);
      t.true(
        !known || inStates('useful') < all - 0.4 * (barrierMs + criticalMs) * 1e6 + 20e6,
        `at work ${part(inStates('useful'))}`,
      );
      const condition = model.entities
        .filter(({ rawKind }) => rawKind === 'condition')
        .reduce((sum, { states }) => sum + states.blocked.ns, 0);
      t.true(condition < 0.05 * all, `for the library's conditions, by which it makes them, ${part(condition)}`);
      const thread = model.entities.find(({ kind, name: its }) => kind === 'thread' && its !== 'main');
      if (!blockMs) t.is(thread?.name, 'region._omp_fn.0', 'a worker is known by what it runs');
    },
  );
}

for (const name of ['openmp_locks', 'openmp_locks-clang'])
  needing(`file:${program(name)}`)(
    `${name}: critical sections and locks are mutexes: counted, waits are exact, and who holds them is known`,
    async (t) => {
      const { model, status, stdout } = await record(program(name));
      t.is(status, 0);
      const times = 2000;
      for (const [lock, acquisitions] of [
        ['omp critical(tally)', times],
        ['omp critical', times],
        ['table', times + 1],
        ['nested', 2 * times + 1],
      ] as const)
        t.is(object(model, lock).object.acquisitions, acquisitions, lock);
      const tookMs = stdout.trim().split(' ').map(Number);
      for (const [k, lock] of ['omp critical(slow)', 'gate', 'door'].entries()) {
        const { rawKind, object: its } = object(model, lock);
        t.deepEqual([rawKind, its.acquisitions, its.contended], ['mutex', 2, 1], lock);
        t.true(Math.abs(its.waitNs / 1e6 - tookMs[k]!) <= 2 + 0.1 * tookMs[k]!, `${lock}: ${its.waitNs}, ${tookMs[k]}`);
        const main = its.holders.filter(({ thread }) => model.entities[thread]?.name === 'main');
        const [mains, all] = [main, its.holders].map((list) => list.reduce((sum, { ns }) => sum + ns, 0));
        // The second one holds it, too, while it is woken and other programs have its CPU.
        const { waitNs, runNs } = model.cpuWait,
          least = waitNs < 0.1 * runNs ? 0.9 : 0.5;
        t.true(mains! > least * all!, `${lock} is held by main for ${mains} of ${all}`);
      }
    },
  );

needing(`file:${program('openmp_uneven')}`, 'perf_event_open')(
  'a thread that waits at the end of a region waits in OpenMP, not in what it called before',
  async (t) => {
    const { model, status } = await record(program('openmp_uneven'));
    t.is(status, 0);
    const waited = model.entities.filter(({ rawKind, states }) => rawKind === 'futex' && states.spinning.ns > 0);
    for (const { name } of waited) t.notRegex(name, /sin|cos/, waited.map((one) => one.name).join());
  },
);
