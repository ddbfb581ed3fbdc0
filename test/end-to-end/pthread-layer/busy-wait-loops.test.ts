/**
 * Loops that call functions that read what they wait for, by each available compiler: loops that only wait count as
 * spinning, similar loops that work do not.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { record, temporaryFile } from '../../support/record.js';
import { needing, skip } from '../../support/capabilities.js';
import { hadCpus, sampleNs } from './helpers.js';

function build(
  compiler: string,
  options: readonly string[],
  source = 'poll_loops.c',
  libraries: readonly string[] = [],
): string {
  const file = temporaryFile(source);
  execFileSync(
    compiler,
    [
      '-g',
      ...options,
      join(root, 'test/end-to-end/pthread-layer/programs', source),
      '-o',
      file,
      ...libraries,
      '-lpthread',
    ],
    { stdio: 'pipe' },
  );
  return file;
}

/** The output of scripts/quartz-flags. */
const flags = (...words: readonly string[]): string[] =>
  execFileSync(join(root, 'scripts/quartz-flags'), words, { encoding: 'utf8' }).trim().split(' ');

/** So many samples at most until a loop is recognized: 0 to 4 were seen of those that poll, 9 to 15 of sums. */
const [toPolls, toSums] = [15, 30];

const variants: { compiler: string; options: readonly string[]; hooked?: 'best' | 'all' }[] = [
  { compiler: 'gcc', options: ['-O2'] },
  { compiler: 'clang', options: ['-O2'] },
  { compiler: 'gcc', options: ['-O0'] },
  { compiler: 'clang', options: ['-O0'] },
  { compiler: 'g++', options: ['-O2', '-xc++'] },
  { compiler: 'gcc', options: ['-O2'], hooked: 'best' },
  { compiler: 'clang', options: ['-O2'], hooked: 'best' },
  { compiler: 'gcc', options: ['-O2'], hooked: 'all' },
  { compiler: 'clang', options: ['-O0'], hooked: 'all' },
];
for (const { compiler, options, hooked } of variants) {
  const kind = hooked === undefined ? '' : `, with hooks (${hooked})`;
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv', // reads the loop's code
    'x86-64',
  )(
    `${compiler} ${options.join(' ')}${kind}: waiting through getters spins, with a deadline, too; work with these ` +
      'is work',
    async (t) => {
      const hooks = hooked === undefined ? [] : flags('cflags', '--cc', compiler, '--hooks', hooked);
      const { model } = await record(build(compiler, [...options, ...hooks]));
      if (model.head.paths.fewSamples) {
        skip(t, 'the kernel gives few samples of running threads');
        return;
      }
      const threads = model.entities.filter(
        ({ kind, name, id, members }) => kind === 'thread' && id !== 0 && members.length === 0 && /^[+-]/.test(name),
      );
      t.is(threads.length, compiler === 'g++' ? 22 : 20);
      t.is(model.head.paths.hooks, hooked !== undefined);
      const late: string[] = [];
      for (const { name, states } of threads) {
        const { useful, spinning } = states,
          [toFind, takesNs] = name.startsWith('+totals') ? [toSums, 200e6] : [toPolls, 100e6],
          foundNs = toFind * sampleNs(model);
        // Of the time that each takes, some must be left.
        if (name.startsWith('+') && foundNs > 0.75 * takesNs) late.push(name);
        else if (name.startsWith('+'))
          t.true(
            spinning.ns > 0 && useful.ns < foundNs,
            `${name}: ${spinning.ns / 1e6} ms found to spin, ${useful.ns / 1e6} not; ` +
              `a sample stands for ${sampleNs(model) / 1e6} ms`,
          );
        else
          t.true(
            spinning.ns < 0.1 * useful.ns,
            `${name}: ${spinning.ns / 1e6} ms of ${useful.ns / 1e6} taken for waiting`,
          );
      }
      t.true(model.notices.some(({ form }) => form === 'waiting-loop'));
      if (late.length > 0) skip(t, 'the kernel gives few samples of running threads');
    },
  );
}

for (const [compiler, options] of [
  ['gcc', ['-O2']],
  ['clang', ['-O2']],
  ['gcc', ['-O0']],
  ['clang', ['-O0']],
] as const) {
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv', // reads the loop's code
    'x86-64',
  )(
    `${compiler} ${options.join(' ')}: tickets and queues of the program's own are spin locks; barriers and places ` +
      'in rings are not',
    async (t) => {
      const { model } = await record(build(compiler, options, 'ticket_and_queue_locks.c'));
      if (model.head.paths.fewSamples) {
        skip(t, 'the kernel gives few samples of running threads');
        return;
      }
      const waited = new Map<string, Map<string, number>>();
      for (const { rawKind, members, name, object } of model.entities) {
        if (rawKind !== 'loop' || members.length > 0) continue;
        for (const { thread, ns } of object!.waiters) {
          const who = model.entities[thread]!.name,
            kind = name.startsWith('spin lock at ticket_and_queue_locks.c:') ? 'lock' : 'loop',
            known = waited.get(who) ?? new Map<string, number>();
          waited.set(who, known.set(kind, (known.get(kind) ?? 0) + ns));
        }
      }
      const text = JSON.stringify([...waited].map(([who, kinds]) => [who, ...kinds]));
      const of = (who: string, kind: string): number => waited.get(who)?.get(kind) ?? 0;
      for (const who of ['+ticket', '+queue']) t.true(of(who, 'lock') > 5 * of(who, 'loop'), `${who}: ${text}`);
      for (const who of ['-barrier', '-places']) t.true(of(who, 'lock') <= 0.2 * of(who, 'loop'), `${who}: ${text}`);
    },
  );
}

for (const [compiler, kind] of [
  ['gcc', 'best'],
  ['gcc', 'all'],
  ['clang', 'best'],
] as const) {
  needing(
    `tool:${compiler}`,
    'perf_event_open',
    'process_vm_readv', // reads the loop's code
    'x86-64',
  )(
    `${compiler}, hooks (${kind}), linked with the thread package: a loop that only waits spins, one that works ` +
      'does not',
    async (t) => {
      const program = build(
        compiler,
        ['-O2', ...flags('cflags', '--cc', compiler, '--hooks', kind)],
        'package_waits.c',
        flags('libs'),
      );
      const { model } = await record(program, { processors: 2 });
      t.is(model.head.publisher, 'threadlib');
      const time = (name: string): { useful: { ns: number }; spinning: { ns: number } } =>
        model.entities.find((one) => one.kind === 'thread' && one.name === name)!.states;
      // States of the package's processors are times by the clock, whereas samples come by processor time: while a
      // thread waits for a CPU before its first sample (for seconds, if other programs have the CPUs), it is not yet
      // known to be waiting.
      const least = hadCpus(model) ? 2 : 0.2;
      for (const name of ['+watches', '+asks'])
        t.true(
          time(name).spinning.ns > least * time(name).useful.ns,
          `${name}: ${time(name).spinning.ns / 1e6} ms found to spin, ${time(name).useful.ns / 1e6} not`,
        );
      t.is(time('-hashes').spinning.ns, 0);
      const loops = model.entities.filter(({ rawKind, members }) => rawKind === 'loop' && members.length === 0);
      t.is(loops.length, 2);
      for (const { file } of loops) t.regex(file, /package_waits\.c$/);
      t.is(model.notices.filter(({ form }) => form === 'waiting-loop').length, 2);
    },
  );
}
