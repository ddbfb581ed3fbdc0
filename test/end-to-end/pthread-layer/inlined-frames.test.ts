/** Procedures that were inlined, by each available compiler: they are distinguished, and sums do not change. */
import { execFileSync } from 'node:child_process';
import type { Entity, Model } from '../../../ts-frontend/src/model/index.js';
import { record, temporaryFile } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';
import { lineOf, sourceOf } from './helpers.js';

function build(compiler: string, source: string, options: readonly string[]): string {
  const file = temporaryFile(`${compiler}-${source}`.replace(/\W/g, '-'));
  execFileSync(compiler, ['-O2', ...options, sourceOf(source), '-o', file, '-lpthread'], { stdio: 'pipe' });
  return file;
}
/** The place of that text in a program's source, in the form of `line`. */
const place = (source: string, text: string): string => `${source}:${lineOf(source, text)}`;
const line = ({ file, line: at }: Entity): string => `${file.slice(file.lastIndexOf('/') + 1)}:${at}`;
const into = (model: Model, { inlinedInto }: Entity): string[] => inlinedInto.map((id) => model.entities[id]!.name);
const find = (model: Model, name: string): Entity | undefined =>
  model.entities.find((one) => one.kind === 'procedure' && one.name === name && one.group === 0);
/** Processor time of threads with that procedure on their path. */
const ran = (model: Model, name: string): number => find(model, name)?.processorTimeNs ?? 0;

for (const [compiler, options] of [
  ['gcc', []],
  ['clang', []],
  ['g++', ['-xc++']],
  ['clang++', ['-xc++']],
  ['gcc', ['-gdwarf-4']],
  ['gcc', ['-flto']],
] as const) {
  needing(`tool:${compiler}`, 'perf_event_open')(
    `${compiler} ${options.join(' ')}: time of inlined procedures, with what they are inlined into`,
    async (t) => {
      const { model, status } = await record(build(compiler, 'inlined.c', ['-g', ...options]));
      t.is(status, 0);
      const whole = ran(model, 'turn');
      t.true(whole > 0.9 * model.root.processorTimeNs, `${whole / 1e6} of ${model.root.processorTimeNs / 1e6} ms`);
      for (const [name, part, at] of [
        ['crush', 3 / 4, 20],
        ['grind', 2 / 4, 17],
        ['sift', 1 / 4, 24],
      ] as const) {
        const one = find(model, name)!;
        t.true(Math.abs(ran(model, name) / whole - part) < 0.1, `${name}: ${ran(model, name) / whole}, not ${part}`);
        t.deepEqual([line(one), into(model, one)], [`inlined.c:${at}`, ['turn']]);
      }
      t.true(find(model, 'turn')!.nptSelfNs < 0.1 * model.root.nptNs, 'what is inlined is not its own');
      t.deepEqual(find(model, 'turn')!.inlinedInto, []);
      t.true(find(model, 'work_us')!.nptSelfNs > 0.6 * model.root.nptNs, 'the innermost has the time itself');
      t.true(
        model.root.nptSelfNs +
          model.entities.reduce(
            (sum, one) =>
              sum + (one.kind === 'procedure' && one.id !== 0 && one.members.length === 0 ? one.nptSelfNs : 0),
            0,
          ) <=
          model.root.nptNs * 1.001,
      );
    },
  );
}

needing('tool:gcc', 'perf_event_open')(
  'without debug information the procedure that has the code has all of the time',
  async (t) => {
    const { model } = await record(build('gcc', 'inlined.c', []));
    t.deepEqual([find(model, 'crush'), find(model, 'work_us')], [undefined, undefined]);
    t.true(find(model, 'turn')!.nptSelfNs > 0.6 * model.root.nptNs);
    const joins = model.entities.filter(({ kind }) => kind === 'join').map(({ name }) => name);
    t.true(joins.length > 0 && joins.every((name) => /^join in main \(.*\+0x[0-9a-f]+\)$/.test(name)), joins.join());
  },
);

for (const compiler of ['g++', 'clang++']) {
  needing(`tool:${compiler}`, 'perf_event_open')(
    `${compiler}: threads of objects and lambdas, what is inlined into their start, lambdas by their places`,
    async (t) => {
      const source = 'std_thread_functors.cc';
      const { model, status } = await record(build(compiler, source, ['-g']));
      t.is(status, 0);
      const places = new Map(
        model.entities.filter(({ kind, id }) => kind === 'thread' && id !== 0).map((one) => [one.name, line(one)]),
      );
      t.is(places.get('mill::Job'), place(source, 'void operator()() const'), [...places].join('\n'));
      t.is(places.get('Plain'), place(source, 'void operator()(int'), [...places].join('\n'));
      t.true(
        [...places].some(([name, at]) => name.startsWith('main::') && at === place(source, 'std::thread lambda')),
        [...places].join('\n'),
      );
      const all = model.entities.find(
        (one) => one.kind === 'procedure' && one.group === 0 && one.name.startsWith('mill::run_all'),
      )!;
      t.deepEqual([line(all), into(model, all)], [place(source, 'void run_all'), ['mill::Job']]);
      const lambda = model.entities.find(
        (one) => line(one) === place(source, 'parts, [](long ms)') && one.inlinedInto.length > 0,
      )!;
      t.regex(lambda.name, /^mill::.*(lambda|\$_)/);
      const [job, whole, each] = [ran(model, 'mill::Job'), all.processorTimeNs, lambda.processorTimeNs];
      t.true(each > 0.8 * whole && whole > 0.8 * job, `${each / 1e6} of ${whole / 1e6} of ${job / 1e6} ms`);
      t.false(
        model.entities.some((one) => one.inlinedInto.length > 0 && /^std::|__gnu/.test(one.name)),
        'what headers of libraries define belongs to its caller',
      );
    },
  );
}

needing('tool:g++', 'perf_event_open')('programs that end while what they inlined is still read', async (t) => {
  const program = build('g++', 'much_inlined.cc', ['-g']);
  for (let ms = 1; ms <= 25; ms++) {
    const { model, status, signal } = await record(program, { args: [String(ms)] });
    t.deepEqual([status, signal, model.head.status], [0, null, 'complete'], `after ${ms} ms`);
  }
});

needing('tool:gcc', 'perf_event_open')(
  'a lock is held by the inlined procedure that takes it, not by what its thread did before; one taken for a caller ' +
    'by that caller',
  async (t) => {
    const { model, status } = await record(build('gcc', 'inlined_critical_sections.c', ['-g']));
    t.is(status, 0);
    const held = (lock: string): ((procedure: string) => number) => {
      const { holders } = model.entities.find((one) => one.kind === 'lock' && one.name === lock)!.object!;
      const all = holders.reduce((sum, { ns }) => sum + ns, 0);
      return (procedure) =>
        holders.reduce(
          (sum, { path, ns }) => sum + (path.some((id) => model.entities[id]!.name === procedure) ? ns : 0),
          0,
        ) / all;
    };
    t.log(
      ['book', 'prepare'].map((name) => `${name} ${held('account')(name)}`),
      `rebuild ${held('index_lock')('rebuild')}`,
    );
    // for the rest, the enclosing procedure is known before its inlined code is
    t.true(held('account')('book') > 0.3);
    t.true(held('account')('prepare') < 0.2 * held('account')('book'));
    t.true(held('index_lock')('rebuild') > 0.7);
  },
);
