/** Code that is in no file: it is reported as such, below the locks that are held while it runs. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/root.js';
import { temporaryDirectory } from '../../support/temporary.js';
import { unwindingOf, type Model } from '../../../ts-frontend/src/model/index.js';
import { record } from '../../support/record.js';
import { needing } from '../../support/capabilities.js';

needing('perf_event_open')(
  'generated code stands on the path, behind the lock, and is what limits the program',
  async (t) => {
    const { model, status } = await record(join(root, 'build/test/end-to-end/pthread-layer/generated'));
    t.is(status, 0);
    const generated = model.entities.find(({ kind, name }) => kind === 'procedure' && name === 'generated code');
    const turn = model.entities.find(({ name }) => name === 'turn')!;
    t.truthy(generated, model.entities.map(({ name }) => name).join(', '));
    t.true(
      generated!.processorTimeSelfNs > 0.5 * model.root.processorTimeNs,
      'the program does nothing else, but it is seen only once the map was read again',
    );
    t.true(
      turn.processorTimeNs > 0.9 * model.root.processorTimeNs &&
        turn.processorTimeSelfNs < 0.4 * model.root.processorTimeNs,
      'it runs under the lock, which does not run itself',
    );
    t.true(
      model.findings.some(({ entity, related }) => entity === generated!.id || related.includes(generated!.id)),
      JSON.stringify(model.findings.map(({ facts }) => facts)),
    );
  },
);

needing('perf_event_open')(
  'code without unwind information has its own name, or none: not that of the procedure before it',
  async (t) => {
    const { model, status } = await record(join(root, 'build/test/end-to-end/pthread-layer/no_unwind_info'));
    t.is(status, 0);
    const most = model.entities
      .filter(({ kind, members }) => kind === 'procedure' && members.length === 0)
      .sort((a, b) => b.processorTimeSelfNs - a.processorTimeSelfNs)
      .slice(0, 2);
    t.deepEqual(most.map(({ name }) => name.replace(/0x[\da-f]+$/, '')).sort(), ['looks_like_data', 'no_unwind_info+']);
    for (const { name, processorTimeSelfNs } of most)
      t.true(processorTimeSelfNs > 0.3 * model.root.processorTimeNs, `${name}: ${processorTimeSelfNs / 1e6} ms`);
    // their callers are found by what their code does with the stack
    const { walks, cut, steps } = unwindingOf(model.raw);
    t.true(steps.code.likely > 0 && steps.code.invalid === 0, JSON.stringify(steps));
    t.true(Object.values(cut).reduce((sum, n) => sum + n, 0) <= 0.05 * walks, JSON.stringify({ walks, cut }));
  },
);

const removeMap = ({ head: { pid } }: Model): void => {
  rmSync(`/tmp/perf-${pid}.map`, { force: true });
};
const named = (model: Model, name: string): Model['entities'][number] => {
  const its = model.entities.find((entity) => entity.kind === 'procedure' && entity.name === name);
  if (its === undefined) throw new Error(`no ${name} in ${model.entities.map((entity) => entity.name).join(', ')}`);
  return its;
};

needing('perf_event_open', 'x86-64')(
  'generated code has the names of the map that its run-time system writes, and the callers that its frames show',
  async (t) => {
    const { model, status, stdout } = await record(join(root, 'build/test/end-to-end/pthread-layer/generated_names'));
    removeMap(model);
    t.is(status, 0);
    const [inner, second] = [...stdout.matchAll(/[\d.]+/g)].map(Number) as [number, number];
    const [a, b, outer] = ['Test.inner', 'second', 'outer'].map((name) => named(model, name)) as [
      ReturnType<typeof named>,
      ReturnType<typeof named>,
      ReturnType<typeof named>,
    ];
    const seen = a.processorTimeSelfNs + b.processorTimeSelfNs;
    // the rest was sampled before the map was read again
    t.true(seen > 0.6 * model.root.processorTimeNs, `${seen} of ${model.root.processorTimeNs} ns`);
    t.true(b.processorTimeSelfNs > 0.8 * second * 1e6 && b.processorTimeSelfNs < 1.2 * second * 1e6);
    t.true(a.processorTimeSelfNs < 1.1 * inner * 1e6);
    t.true(outer.processorTimeNs > 0.95 * a.processorTimeNs, 'outer calls inner, whose frame has a fixed size');
    t.true(outer.processorTimeSelfNs < 0.05 * outer.processorTimeNs);
    t.like(outer, { file: '/srv/some app/main.js', line: 12 });
    t.like(b, { file: '/srv/second.py' });
    t.is(model.entities.filter(({ name }) => name === 'Test.inner').length, 1, 'however many places were seen');
    const { walks, cut } = unwindingOf(model.raw);
    t.true(cut.generated <= 0.05 * walks, JSON.stringify({ walks, cut }));
    const [first] = model.findings;
    t.false(model.entities[first?.entity ?? 0]?.name === 'generated code', 'what has a name is named');
  },
);

const directory = temporaryDirectory();
const script = join(directory, 'work.mjs');
writeFileSync(
  script,
  `function inner(n) { let s = 0; for (let k = 0; k < n; k++) s = (s * 31 + k) % 65521; return s; }
   function outer(n) { let s = 0; for (let k = 0; k < 100; k++) s += inner(n); return s; }
   const end = process.cpuUsage().user + 1.5e6;
   let s = 0;
   while (process.cpuUsage().user < end) s += outer(20000);
   console.log(s > 0 ? 'done' : 'nothing');
  `,
);

needing('perf_event_open', 'x86-64')('JavaScript has its names and places where node writes them', async (t) => {
  const { model, status } = await record(process.execPath, {
    args: ['--perf-basic-prof', '--no-logfile-per-isolate', `--logfile=${join(directory, 'v8.log')}`, script],
  });
  removeMap(model);
  t.is(status, 0);
  // The optimizing compiler may inline one into the other.
  const its = model.entities.filter(({ file }) => file === script);
  const places = its.map(({ name, line }) => `${name}:${line}`).join(', ');
  t.true(its.length > 0 && its.every(({ line }) => line >= 1 && line <= 6), places);
  t.true(Math.max(...its.map(({ processorTimeNs }) => processorTimeNs)) > 0.6 * model.root.processorTimeNs, places);
});

needing('perf_event_open', 'x86-64')('where generated code has no names, a notice says what gives them', async (t) => {
  const { model, status } = await record(process.execPath, { args: [script] });
  t.is(status, 0);
  const unnamed = model.notices.filter(({ form }) => form === 'unnamed'); // node's own code has no places, either
  t.regex(JSON.stringify(unnamed), /start it as node --perf-basic-prof/);
});

needing(
  'perf_event_open',
  'x86-64',
  'tool:javac',
)('Java has its names, and callers with and without frame pointers', async (t) => {
  writeFileSync(
    join(directory, 'Work.java'),
    `public class Work {
         static int inner(int n) { int s = 0; for (int k = 0; k < n; k++) s = (s * 31 + k) % 65521; return s; }
         static int outer(int n) { int s = 0; for (int k = 0; k < 100; k++) s += inner(n); return s; }
         public static void main(String[] words) {
           int s = 0;
           while (ProcessHandle.current().info().totalCpuDuration().get().toMillis() < 4000)
             for (int k = 0; k < 1000; k++) s += outer(200);
           System.out.println(s != 0 ? "done" : "nothing");
         }
       }`,
  );
  execFileSync('javac', ['Work.java'], { cwd: directory, stdio: 'pipe' });
  const maps = ['-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit'];
  for (const frames of [['-XX:+PreserveFramePointer'], []]) {
    const args = [
      ...maps,
      ...frames,
      '-XX:CompileCommand=quiet',
      '-XX:CompileCommand=dontinline,Work::inner',
      '-cp',
      directory,
      'Work',
    ];
    const { model, status } = await record('java', { args });
    removeMap(model);
    t.is(status, 0);
    const inner = named(model, 'Work.inner'),
      outer = named(model, 'Work.outer');
    t.true(inner.processorTimeSelfNs > 0.5 * model.root.processorTimeNs, frames.join());
    t.true(outer.processorTimeNs > 0.9 * inner.processorTimeNs, `${frames.join()}: ${outer.processorTimeNs}`);
  }
});
