/** Wrappers: programs that only start the one that does the work. The profile is the worker's; nothing else changes. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { root } from '../../support/root.js';
import { openModel, start } from '../../support/record.js';
import { lacking, needing, skip } from '../../support/capabilities.js';
import { command, directory, run, type Said } from '../../support/run-quartz.js';

const program = (name: string): string => join(root, 'build/test/end-to-end/pthread-layer', name);
/** 160 ms of work, a line for a shell, and in words. */
const spin = `${program('spin')} 40`;
const spinWords = spin.split(' ');
const wrapperLine =
  /^quartz: (\S+) only started the program that did the work: the profile is that of (\S+) \(process (\d+)\), in /m;

interface Recorded extends Said {
  cwd: string;
  files: string[];
  lines: string[]; // Quartz's own
}
/** Runs it without Quartz and recorded: status and output are the same. */
async function recorded(
  t: ExecutionContext,
  words: readonly string[],
  options: readonly string[] = [],
  cwd = directory(),
): Promise<Recorded> {
  const [name, ...args] = words,
    plain = await run(name!, args, { cwd }),
    said = await run(command, ['record', '-q', ...options, '--', ...words], { cwd });
  const isOurs = (line: string): boolean => line.startsWith('quartz: '),
    lines = said.stderr.split('\n');
  t.deepEqual([said.status, said.stdout], [plain.status, plain.stdout], said.stderr);
  t.is(lines.filter((line) => !isOurs(line)).join('\n'), plain.stderr);
  const files = readdirSync(cwd).filter((file) => file.endsWith('.quartz'));
  return { ...said, cwd, files: files.sort(), lines: lines.filter(isOurs) };
}
const programOf = (file: string): string => basename(openModel(file).program);
/** Skips the test where a process ended before the sampler had a CPU, which Quartz then says. */
function lacksOne(t: ExecutionContext, files: readonly string[], lines: readonly string[], count: number): boolean {
  const lacks = files.length < count && /processes that are not recorded|had a CPU to record it/.test(lines.join());
  if (lacks) skip(t, 'other programs had the CPUs');
  return lacks;
}

/** The profile is named after the wrapper, contains the worker, and one line says so. */
function isOf(t: ExecutionContext, { cwd, files, lines }: Recorded, file: string, worker: string): void {
  t.deepEqual(files, [file], lines.join('\n'));
  t.is(programOf(join(cwd, file)), worker);
  t.is(lines.length, 1, lines.join('\n'));
  const [, , name, pid] = wrapperLine.exec(lines[0]!)!;
  t.deepEqual([name, Number(pid)], [worker, openModel(join(cwd, file)).head.pid]);
}

test.serial('timeout, env before it, a shell, bash: the profile is of what they start', async (t) => {
  isOf(t, await recorded(t, ['timeout', '100', ...spinWords]), 'timeout.quartz', 'spin');
  isOf(
    t,
    await recorded(t, ['env', 'A=B', 'timeout', '100', ...spinWords], ['-o', 'out.quartz']),
    'out.quartz',
    'spin',
  );
  isOf(t, await recorded(t, ['sh', '-c', `${spin}; exit 3`]), 'sh.quartz', 'spin');
  const cwd = directory();
  writeFileSync(join(cwd, 'job'), `#!/bin/bash\nset -e\ndate > /dev/null\nls / > /dev/null\n${spin}\nexit 5\n`, {
    mode: 0o755,
  });
  isOf(t, await recorded(t, ['./job'], [], cwd), 'job.quartz', 'spin');
  isOf(t, await recorded(t, ['timeout', '100', './job'], [], cwd).then(withoutJob), 'timeout.quartz', 'spin');
});
/** Without the profile of an earlier recording. */
const withoutJob = (one: Recorded): Recorded => ({ ...one, files: one.files.filter((file) => file !== 'job.quartz') });

needing('tool:make')('make with one job', async (t) => {
  const cwd = directory();
  writeFileSync(join(cwd, 'Makefile'), `all:\n\t@${spin}\n`);
  isOf(t, await recorded(t, ['make', '-s'], [], cwd), 'make.quartz', 'spin');
});

test.serial('threads of a worker that only waits are reason enough', async (t) => {
  const said = await recorded(t, ['timeout', '100', program('sleep')]);
  if (said.lines.some((line) => line.includes('before the sampler had a CPU'))) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  isOf(t, said, 'timeout.quartz', 'sleep');
});

test.serial('run reports on the worker, and does not advise to record children', async (t) => {
  const cwd = directory();
  const said = await run(command, ['run', '-q', '--', 'timeout', '100', ...spinWords], { cwd });
  t.is(said.status, 0);
  t.regex(said.stderr, wrapperLine);
  t.regex(said.stdout, /^spin 40: /m);
  t.notRegex(said.stdout + said.stderr, /--children/);
});

test.serial('two that do the work: the profile is of that with most, and the other one is named', async (t) => {
  // 400 ms each: one that ends before the sampler has a CPU is not recorded
  const each = program('spin');
  const { cwd, files, lines } = await recorded(t, ['sh', '-c', `${each}; ${each}; ${each}; exit 4`]);
  if (lacksOne(t, files, lines, 3)) return;
  t.is(files.length, 3, [...files, ...lines].join('\n'));
  t.is(lines.length, 1);
  const others = /; also recorded: (\S+), (\S+); one report over all of them: .* --tree$/.exec(lines[0]!)!.slice(1);
  t.deepEqual([...others, 'sh.quartz'].sort(), files);
  for (const file of files) t.is(programOf(join(cwd, file)), 'spin');
  // Only the shell measured the cost of publishing, if the machine allowed the measurement.
  const { costs, measured, waited } = costsOf(files.map((file) => join(cwd, file)));
  t.true(costs.size === 1 || !measured, [...costs].join());
  t.true(waited);
});
const costsOf = (files: readonly string[]): { costs: Set<string>; measured: boolean; waited: boolean } => {
  const models = files.map((file) => openModel(file)),
    heads = models.map(({ head }) => head);
  return {
    // Each of them waited at its start, and the slowdown includes that.
    waited: models.every(({ head, slowdown }) => head.startUs > 0 && slowdown.elapsedLeastNs >= head.startUs * 1000),
    costs: new Set(heads.map((head) => [head.lockLeastPs, head.lockMostPs, head.waitPs, head.spawnPs].join(' '))),
    measured: heads.every((head) => head.lockMostPs > 0),
  };
};

test.serial('a shell that waits for what it started is rarely looked at meanwhile', async (t) => {
  const { cwd, files, lines } = await recorded(t, ['sh', '-c', `${program('spin')} 500; exit 3`], ['--children']);
  if (lacksOne(t, files, lines, 2)) return;
  t.is(files.length, 2, [...files, ...lines].join('\n'));
  const heads = new Map(files.map((file) => [programOf(join(cwd, file)), openModel(join(cwd, file)).head]));
  const [shell, worker] = [heads.get('sh'), heads.get('spin')];
  t.true(shell!.elapsedNs >= worker!.elapsedNs);
  t.true(shell!.snapshots < shell!.elapsedNs / 4e6, `${shell!.snapshots} in ${shell!.elapsedNs / 1e6} ms`);
});

test.serial('%p is the process that is recorded', async (t) => {
  const { cwd, files } = await recorded(t, ['timeout', '100', ...spinWords], ['-o', 'p%p.quartz']);
  t.is(files.length, 1);
  t.is(files[0], `p${openModel(join(cwd, files[0]!)).head.pid}.quartz`);
  t.is(programOf(join(cwd, files[0]!)), 'spin');
});

/** Half a second of bash's own processor time, by the kernel's count of 1/100 s, without another process. */
const loop =
  'used=(); while [ "${used[13]:-0}" -lt 50 ]; do for k in {1..2000}; do :; done; read -ra used < /proc/$$/stat; done';
test.serial('a program that works itself: what it starts afterwards is not recorded', async (t) => {
  const { cwd, files, lines } = await recorded(t, ['bash', '-c', `${loop}; ${spin}; ${spin} & wait; exit 7`]);
  t.deepEqual([files, lines], [['bash.quartz'], []]);
  const { head, program: of } = openModel(join(cwd, files[0]!));
  t.is(basename(of), 'bash');
  t.false(head.childrenApart);
});

test.serial(
  'a program that works, and started others before: it has the profile, and what did little none',
  async (t) => {
    const { cwd, files, lines } = await recorded(t, ['bash', '-c', `ls / > /dev/null; ${loop}; exit 7`]);
    t.deepEqual([files, lines], [['bash.quartz'], []]);
    t.is(programOf(join(cwd, files[0]!)), 'bash');
    const both = await recorded(t, ['bash', '-c', `${spin}; ${loop}; exit 7`]);
    t.is(both.files.length, 2);
    t.is(programOf(join(both.cwd, 'bash.quartz')), 'bash');
    t.true(openModel(join(both.cwd, 'bash.quartz')).head.childrenApart);
    t.regex(both.lines.join('\n'), /^quartz: programs that bash started first were recorded, too: spin-\d+\.quartz$/);
    // What was not recorded beside them, statically linked programs, is said with its size.
    const all = await recorded(t, ['bash', '-c', `for k in {1..8}; do ${program('static')}; done; ${spin}; ${loop}`]);
    const not = /: spin-\d+\.quartz; [\d.]+ m?s of processor time went into processes that are not recorded$/;
    t.regex(all.lines.join('\n'), not);
  },
);

test.serial('what cannot be recorded leaves the wrapper its profile; beside what can, its share is said', async (t) => {
  const { cwd, files, lines } = await recorded(t, ['sh', '-c', `${program('static')}; exit 3`]);
  t.deepEqual([files, lines], [['sh.quartz'], []]);
  t.not(programOf(join(cwd, 'sh.quartz')), 'static');
  const both = await recorded(t, ['sh', '-c', `${program('static')}; ${spin}; exit 3`]);
  t.is(programOf(join(both.cwd, 'sh.quartz')), 'spin');
});

/** Procedures with at least a quarter of the time. */
const hot = (file: string): string[] => {
  const { entities, root } = openModel(file);
  return entities
    .filter(({ kind, processorTimeNs }) => kind === 'procedure' && processorTimeNs > root.processorTimeNs / 2)
    .map(({ name }) => name);
};
/** If the kernel provides no samples, only the start routines of threads are known. */
function isSpentIn(t: ExecutionContext, file: string, procedure: string): void {
  const names = hot(file);
  t.true(names.includes(lacking('perf_event_open') === undefined ? procedure : 'main'), names.join());
}
const forked = program('forked');

test.serial('forked children that go on as the same program: the profile is of that which does the work', async (t) => {
  const { cwd, files, lines } = await recorded(t, [forked, '1', '300']);
  t.deepEqual([files, lines.length], [['forked.quartz'], 1], lines.join('\n'));
  t.is(Number(wrapperLine.exec(lines[0]!)![3]), openModel(join(cwd, 'forked.quartz')).head.pid);
  isSpentIn(t, join(cwd, 'forked.quartz'), 'child_work');
});

test.serial('forked children of a parent that has worked: both are there, and the report says how much', async (t) => {
  const { cwd, files, lines } = await recorded(t, [forked, '2', '300', '400']);
  if (lacksOne(t, files, lines, 3)) return;
  t.is(files.length, 3, lines.join('\n'));
  const own = openModel(join(cwd, 'forked.quartz'));
  t.true(own.head.childrenApart);
  isSpentIn(t, join(cwd, 'forked.quartz'), 'parent_work');
  const others = files.filter((file) => file !== 'forked.quartz').map((file) => join(cwd, file));
  for (const file of others) isSpentIn(t, file, 'child_work');
  const report = await run(command, ['report', join(cwd, 'forked.quartz')]);
  t.regex(report.stdout.replace(/\s+/g, ' '), /Child processes did [\d.]+ % of the work .* have profiles of their own/);
  // Each of them had the CPU that the other one did not use, or both had the same one.
  for (const file of others) {
    const { relatedCpus, usable, head } = openModel(file);
    // less if other programs load the machine
    t.true(relatedCpus > 0.01 && relatedCpus < head.processors, String(relatedCpus));
    // more if the process itself used more at some moment
    t.true(usable >= Math.max(1, head.processors - Math.round(relatedCpus)) && usable <= head.processors);
  }
});

test.serial('a parent that only waits after a start of its own (a server): the profile is of the worker', async (t) => {
  const { cwd, files, lines } = await recorded(t, [forked, '1', '60', '150', '2500']);
  t.deepEqual([files, lines.length], [['forked.quartz'], 1], lines.join('\n'));
  t.is(Number(wrapperLine.exec(lines[0]!)![3]), openModel(join(cwd, 'forked.quartz')).head.pid);
  isSpentIn(t, join(cwd, 'forked.quartz'), 'child_work');
  // This one lives for a small part of the parent's time, so what the parent did alone is most of the run.
  const short = await recorded(t, [forked, '1', '60', '900']);
  isSpentIn(t, join(short.cwd, 'forked.quartz'), 'parent_work');
});

test.serial('a shell that forks for each command: it and its children run as they would', async (t) => {
  const { files, lines } = await recorded(t, ['bash', '-c', `for k in {1..20}; do /bin/true; done; ${loop}; exit 3`]);
  t.deepEqual([files, lines], [['bash.quartz'], []]);
});

test.serial('a worker that crashes, is killed, or fails: the status is what the wrapper makes of it', async (t) => {
  const ends = program('process_ends');
  t.is((await recorded(t, ['timeout', '100', ends, '_exit'])).status, 3);
  isOf(t, await recorded(t, ['sh', '-c', `ulimit -c 0; ${ends} segv; exit 9`]), 'sh.quartz', 'process_ends');
  const killed = await recorded(t, ['timeout', '1', program('unmarked_loops'), 'no such loop']);
  t.true(killed.files.length <= 1);
});

test.serial('--no-follow: the profile is of the wrapper', async (t) => {
  const { cwd, files, lines } = await recorded(t, ['timeout', '100', ...spinWords], ['--no-follow']);
  t.deepEqual([files, lines], [['timeout.quartz'], []]);
  t.is(programOf(join(cwd, files[0]!)), 'timeout');
});

// Each counts whether it is recorded: then it has a connection to the sampler, with a descriptor of 512 or above.
const connected = 'ls -l /proc/self/fd | grep -c "5[0-9][0-9] -> socket" >> counts';
test.serial(
  'many short programs: a script runs as it would, few are recorded, and nothing is left of them',
  async (t) => {
    const script = `for k in {1..30}; do sh -c '${connected}; echo '$k; done; exit 2`;
    const beginMs = performance.now();
    const { files, lines, cwd } = await recorded(t, ['bash', '-c', script]);
    const seconds = (performance.now() - beginMs) / 1000;
    // One that used 50 ms all the same, beside other programs, is worth a profile.
    const used = files.map((file) => openModel(join(cwd, file)).head).map(({ userNs, systemNs }) => userNs + systemNs);
    t.true(files.length <= 1 + used.filter((ns) => ns > 40e6).length, `${files.join()}: ${used.join()} ns`);
    t.true(lines.length <= 1, lines.join('\n'));
    const counts = readFileSync(join(cwd, 'counts'), 'utf8').trim().split('\n');
    t.is(counts.length, 60); // the first 30 without Quartz
    const times = counts.filter((count) => count === '1').length;
    // One more every two seconds, of which they take as many as other programs leave them no CPU.
    t.true(times >= 1 && times <= 17 + seconds / 2, `${times} of 30 in ${seconds} s`);
  },
);

needing('x86-64')('filters of system calls: a call that following needs is forbidden, and all goes on', async (t) => {
  for (const [call, number] of [
    ['getppid', 110],
    ['clock_gettime', 228],
    ['clock_getres', 229],
    ['connect', 42],
  ] as const) {
    const filter = [program('sandboxed'), String(number), 'kill'];
    for (const words of [
      [...filter, 'sh', '-c', 'ls /; exit 3'],
      ['sh', '-c', `${filter.join(' ')} ls /; exit 3`],
    ]) {
      const plain = await start(words[0]!, words.slice(1)).ended;
      if (plain.status !== 3 || plain.stderr !== '') {
        t.log(`${call}: the program itself needs it`);
        continue;
      }
      t.true((await recorded(t, words)).lines.length <= 1, call);
    }
  }
});
