/**
 * Experiments with several runs: what ran, how often, in which order and with which changes, according to a log that
 * the program writes itself; and what the report says about it. No result depends on the speed of the machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Experiment, ExperimentRun, Finding } from '../../../ts-frontend/src/model/index.js';
import { skip } from '../../support/capabilities.js';
import { schemaErrors } from '../../support/json-schema.js';
import { command, directory, program, quartz, run, type Said } from '../../support/run-quartz.js';

/** Logs each run: "recorded" if the pthread layer is loaded, else "plain", and a variable. */
const script = `#!/bin/sh
grep -q libquartz-pthread /proc/$$/maps && how=recorded || how=plain
echo "$how \${CHANGED-}" >> log
echo "out $*"
`;
function place(text = script): string {
  const cwd = directory();
  writeFileSync(join(cwd, 'prog'), text, { mode: 0o755 });
  return cwd;
}
const logOf = (cwd: string): string[] =>
  readFileSync(join(cwd, 'log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.trim());
interface Report {
  experiment: Experiment & { sentences: string[] };
  findings: (Finding & { remedy: string })[];
}
const reportOf = (t: ExecutionContext, { stdout }: Said): Report => {
  const json = stdout.slice(stdout.indexOf('{'));
  t.is(schemaErrors(json), '');
  return JSON.parse(json) as Report;
};
/** The directory contains only the previous files and profiles with these names. */
function holdsOnly(t: ExecutionContext, cwd: string, ...profiles: string[]): void {
  t.deepEqual(
    readdirSync(cwd)
      .filter((name) => !['prog', 'other', 'log', 'input'].includes(name))
      .sort(),
    profiles.sort(),
  );
}
/** The version as the program logs it, if CHANGED is set to the number of the change. */
function versionOf({ version, change }: ExperimentRun): string {
  const how = version === 'recorded' || version === 'changed-recorded' ? 'recorded' : 'plain';
  return change === null ? how : `${how} ${change + 1}`;
}

test.serial('--measure: a first run, then each version once in a round; the report is of one of them', async (t) => {
  const cwd = place();
  const said = await quartz(['run', '--measure=4', '--json', '--', './prog', 'a b'], { cwd });
  t.is(said.status, 0, said.stderr);
  t.regex(said.stdout, /^out a b\n\{/, 'the output of the first run, and of no other');
  t.regex(said.stderr, /^quartz: 8 more runs, whose output is dropped; [^\n]*Ctrl-C[^\n]*$/m);
  const { experiment } = reportOf(t, said);
  t.deepEqual(experiment.runs.map(versionOf), logOf(cwd), 'the runs reported are those that were made');
  t.is(experiment.runs.length, 9);
  t.like(experiment, { rounds: 4, complete: 4, ended: 'done' });
  for (let round = 1; round <= 4; round++) {
    const pair = experiment.runs.filter((one) => one.round === round).map(({ version }) => version);
    t.deepEqual([...pair].sort(), ['recorded', 'unrecorded']);
    const before = experiment.runs.filter((one) => one.round === round - 1).map(({ version }) => version);
    if (round % 2 === 0) t.deepEqual(pair, before.reverse());
  }
  // the ratio is that of the times
  const logs = [1, 2, 3, 4].map((round) => {
    const of = (version: string): number =>
      experiment.runs.find((one) => one.round === round && one.version === version)!.elapsedNs;
    return Math.log(of('recorded') / of('unrecorded'));
  });
  const { elapsed } = experiment.recording!;
  t.true(Math.abs(Math.log(elapsed!.ratio) - logs.reduce((a, b) => a + b) / 4) < 1e-9);
  t.true(elapsed!.low < elapsed!.ratio && elapsed!.ratio < elapsed!.high);
  const kept = experiment.runs[experiment.recorded.kept - 1]!;
  t.is(kept.version, 'recorded');
  t.true(kept.round > 0);
  holdsOnly(t, cwd, 'prog.quartz');
  t.is((await quartz(['check', 'prog.quartz'], { cwd })).status, 0);
});

test.serial('what a run took is what the kernel counts, of child processes, too', async (t) => {
  const cwd = directory();
  writeFileSync(
    join(cwd, 'work.c'),
    `#include <sys/wait.h>
     #include <time.h>
     #include <unistd.h>
     static void work(void) { volatile unsigned k = 0; while (clock() < 60 * (CLOCKS_PER_SEC / 1000)) k++; }
     int main(void) {
       if (fork() == 0) { work(); _exit(0); }
       wait(NULL);
       struct timespec quarter = { 0, 250000000 };
       nanosleep(&quarter, NULL);
       return 0;
     }`,
  );
  t.is((await run('cc', ['-O1', '-o', 'work', 'work.c'], { cwd })).status, 0);
  const { experiment } = reportOf(t, await quartz(['run', '-q', '--measure=2', '--json', '--', './work'], { cwd }));
  t.is(experiment.runs.length, 5);
  for (const { elapsedNs, userNs, systemNs } of experiment.runs) {
    t.true(userNs + systemNs >= 59e6, `${userNs} + ${systemNs}`);
    t.true(elapsedNs >= 310e6 - 1e6, `${elapsedNs}`);
    t.true(userNs + systemNs <= elapsedNs, 'one process at a time worked, and not while it slept');
  }
});

test.serial('--try: environment or command, each recorded once and tried in each round', async (t) => {
  const cwd = place();
  writeFileSync(join(cwd, 'other'), readFileSync(join(cwd, 'prog')), { mode: 0o755 });
  const said = await quartz(
    [
      'run',
      '-q',
      '--measure=2',
      '--try',
      'CHANGED=1',
      '--try',
      `CHANGED=2 ./other "x  y" 'z'`,
      '--json',
      '--',
      './prog',
    ],
    { cwd },
  );
  t.is(said.status, 0, said.stderr);
  t.is(said.stderr, '');
  const { experiment } = reportOf(t, said);
  t.deepEqual(experiment.runs.map(versionOf), logOf(cwd));
  t.deepEqual(
    experiment.runs.slice(0, 3).map(({ version, round }) => [version, round]),
    [
      ['recorded', 0],
      ['changed-recorded', 0],
      ['changed-recorded', 0],
    ],
  );
  t.is(experiment.runs.length, 3 + 2 * 4);
  t.deepEqual(
    experiment.changes.map(({ change, profile, rounds }) => [change, profile, rounds]),
    [
      ['CHANGED=1', 'prog.try1.quartz', 2],
      [`CHANGED=2 ./other "x  y" 'z'`, 'prog.try2.quartz', 2],
    ],
  );
  holdsOnly(t, cwd, 'prog.quartz', 'prog.try1.quartz', 'prog.try2.quartz');
  const report = await quartz(['report', '--json', 'prog.try2.quartz'], { cwd });
  t.regex((JSON.parse(report.stdout) as { arguments: string }).arguments, /other '?x {2}y'? z$/);
});

test.serial('--try alone: five rounds without Quartz, and the report of the one recorded run', async (t) => {
  const cwd = place('#!/bin/sh\nsleep ${PAUSE:-0.4}\n');
  const said = await quartz(['run', '-q', '--try', 'PAUSE=0.1', '-o', 'mine.quartz', '--', './prog'], { cwd });
  t.is(said.status, 0, said.stderr);
  const text = said.stdout.replace(/\s+/g, ' ');
  t.regex(
    text,
    /Measured by experiment With PAUSE=0\.1 the .* time in 5 pairs of runs[^.]*\. Elapsed time \(medians\): (?:[4-9]\d\d ms|[\d.]+ s) → /,
  );
  t.regex(text, /A recorded run of it is in mine\.try1\.quartz\. The rest of this report describes run 1 of 12\./);
  t.notRegex(text, /Recording slows/);
  holdsOnly(t, cwd, 'mine.quartz', 'mine.try1.quartz');
});

test.serial('--try: a finding that advises fewer threads is held to what fewer threads do', async (t) => {
  const cwd = directory();
  writeFileSync(
    join(cwd, 'oversubscribed.c'),
    `#include <pthread.h>
     #include <stdlib.h>
     #include <time.h>
     #include <unistd.h>
     static void *work(void *sum) {
       struct timespec used;
       do {
         for (unsigned k = 0; k < 100000; k++) *(volatile unsigned *)sum += k;
         clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
       } while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < 50);
       return NULL;
     }
     int main(void) {
       const char *set = getenv("OMP_NUM_THREADS");
       int threads = set ? atoi(set) : 4 * (int)sysconf(_SC_NPROCESSORS_ONLN);
       pthread_t *all = calloc(threads, sizeof *all);
       unsigned *sums = calloc(threads, 64 * sizeof *sums);
       for (int k = 0; k < threads; k++) pthread_create(&all[k], NULL, work, &sums[64 * k]);
       for (int k = 0; k < threads; k++) pthread_join(all[k], NULL);
       return 0;
     }`,
  );
  t.is((await run('cc', ['-O1', '-g', '-o', 'oversubscribed', 'oversubscribed.c', '-pthread'], { cwd })).status, 0);
  const args = [
    'run',
    '-q',
    '--measure=2',
    '--try',
    'OTHER=1',
    '--try',
    'OMP_NUM_THREADS=1',
    '--json',
    '--',
    './oversubscribed',
  ];
  const said = await quartz(args, { cwd });
  t.is(said.status, 0, said.stderr);
  const { experiment, findings } = reportOf(t, said);
  const advises = findings.filter(({ change }) => change === 'fewer-threads');
  if (advises.length === 0) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  for (const { verifications, remedy } of advises) {
    t.deepEqual(
      verifications?.map(({ change }) => change),
      [1],
    );
    const { low, high } = experiment.changes[1]!.elapsed!;
    t.true(
      Math.abs(verifications![0]!.gain.low - (1 - high)) + Math.abs(verifications![0]!.gain.high - (1 - low)) < 1e-9,
    );
    t.regex(remedy, /: with OMP_NUM_THREADS=1 the program takes /);
  }
  for (const { change, verifications } of findings)
    if (change !== 'fewer-threads') t.is(verifications, undefined, change);
});

test.serial('--runs: all are recorded, two modes are reported with a profile of each', async (t) => {
  const cwd = place('#!/bin/sh\necho x >> log\n[ $(($(wc -l < log) % 2)) = 1 ] && exec sleep 0.1\nsleep 1.2\n');
  const said = await quartz(['run', '-q', '--runs', '6', '--json', '--', './prog'], { cwd });
  t.is(said.status, 0, said.stderr);
  const { experiment } = reportOf(t, said);
  t.is(logOf(cwd).length, 6);
  t.like(experiment, { rounds: 6, complete: 6, recording: null, changes: [] });
  t.like(experiment.recorded, { runs: 6, tested: true });
  t.true(experiment.runs.every(({ version }, k) => version === 'recorded' && experiment.runs[k]!.number === k + 1));
  const elapsed = (parity: number): number[] =>
    experiment.runs.filter(({ number }) => number % 2 === parity).map(({ elapsedNs }) => elapsedNs);
  if (Math.max(...elapsed(1)) * 2 > Math.min(...elapsed(0))) {
    skip(t, 'other programs had the CPUs');
    return;
  }
  const { modes } = experiment.recorded;
  t.deepEqual(
    [modes?.fast.runs, modes?.slow.runs],
    [
      [1, 3, 5],
      [2, 4, 6],
    ],
  );
  t.deepEqual([modes?.fast.profile, modes?.slow.profile], ['prog.fast.quartz', 'prog.slow.quartz']);
  holdsOnly(t, cwd, 'prog.quartz', 'prog.fast.quartz', 'prog.slow.quartz');
  const compared = await quartz(['compare', 'prog.fast.quartz', 'prog.slow.quartz', '--json'], { cwd });
  t.is(compared.status, 0, compared.stderr);
});

test.serial(
  '--csv leaves stdout to the table; --focus shows one entity below; what was measured is reported in any case',
  async (t) => {
    const cwd = directory();
    const csv = await quartz(['run', '-q', '--runs', '2', '--csv', '--', program('two_callers')], { cwd });
    t.is(csv.status, 0, csv.stderr);
    t.regex(csv.stdout, /^kind,name,/);
    t.regex(csv.stderr, /^quartz: The rest of this report describes run [12] of 2\.$/m);
    const focus = await quartz(['run', '-q', '--runs', '2', '--focus', 'main', '--', program('two_callers')], { cwd });
    t.is(focus.status, 0, focus.stderr);
    t.regex(focus.stdout, /Measured by experiment/);
    const wrong = await quartz(['run', '-q', '--runs', '2', '--focus', 'nobody', '--', program('two_callers')], {
      cwd,
    });
    t.deepEqual([wrong.status, wrong.stdout], [125, '']);
    t.regex(
      wrong.stderr,
      /^quartz: The rest of this report describes run [12] of 2\.\nquartz: nothing in [^\n]* "nobody"; [^\n]*\n$/m,
    );
  },
);

test.serial('every run reads standard input from the beginning', async (t) => {
  const cwd = place('#!/bin/sh\nwc -c >> log\n');
  writeFileSync(join(cwd, 'input'), 'x'.repeat(100_000));
  const child = spawn(command, ['run', '-q', '--measure=2', '--', './prog'], {
    cwd,
    stdio: [openSync(join(cwd, 'input'), 'r'), 'ignore', 'ignore'],
  });
  t.deepEqual(await once(child, 'close'), [0, null]);
  t.deepEqual(logOf(cwd), Array<string>(5).fill('100000'));
});

test.serial('standard input that only one run could read is refused before anything runs', async (t) => {
  const cwd = place();
  const said = await run('sh', ['-c', `echo text | "${command}" run --measure -- ./prog`], { cwd });
  t.deepEqual([said.status, said.stdout], [2, '']);
  t.regex(said.stderr, /^quartz: standard input is a pipe[^\n]*; [^\n]*< \/dev\/null[^\n]*\n$/);
  writeFileSync(join(cwd, 'input'), 'one\ntwo\n');
  const part = await run('bash', ['-c', `{ read -r line; "${command}" run --measure -- ./prog; } < input`], { cwd });
  t.deepEqual([part.status, part.stdout], [2, '']);
  t.regex(part.stderr, /^quartz: standard input has been read in part[^\n]*\n$/);
  t.false(existsSync(join(cwd, 'log')));
});

test.serial('a run that fails ends the experiment, with its status and message; the rest is reported', async (t) => {
  const cwd = place(`${script}[ $(wc -l < log) -lt 5 ] && exit 0\necho broken >&2\nexit 3\n`);
  const said = await quartz(['run', '-q', '--measure=4', '--', './prog'], { cwd });
  t.is(said.status, 3);
  // Of a child that was too short to be recorded, a line says so.
  const line =
    /^(?:quartz: process \d+, [^\n]*\n)*broken\nquartz: run 5 of 9 \((recorded|without Quartz)\) ended with status 3: the experiment ends there; /;
  t.regex(said.stderr, line);
  t.regex(said.stderr, /reported\n$/);
  t.regex(said.stdout.replace(/\s+/g, ' '), /A run failed: 1 of 4 rounds were complete, and only these count\./);
  t.is(logOf(cwd).length, 5);
  holdsOnly(t, cwd, 'prog.quartz');
});

test.serial('a program that fails at once is reported as quartz run does', async (t) => {
  const cwd = place(`${script}exit 7\n`);
  const said = await quartz(['run', '-q', '--measure', '--', './prog'], { cwd });
  t.is(said.status, 7);
  t.regex(said.stderr, /^quartz: the program ended with status 7: nothing is measured, [^\n]*\n$/);
  t.regex(said.stdout, /exit\s+status\s+7/); // where the head is wrapped depends on its numbers
  t.is(logOf(cwd).length, 1);
  holdsOnly(t, cwd, 'prog.quartz');
});

test.serial('Ctrl-C ends the experiment, and what was measured is reported', async (t) => {
  const cwd = place(`${script}sleep 0.1\n`);
  const child = spawn(command, ['run', '-q', '--measure=500', '--', './prog'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '',
    stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const limit = setTimeout(() => child.kill('SIGKILL'), 200_000);
  while (!existsSync(join(cwd, 'log')) || logOf(cwd).length < 8)
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  child.kill('SIGINT');
  const [status] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  t.is(status, 130, stderr);
  t.regex(stderr, /quartz: interrupted (?:in|before) run \d+ of 1001 \([^)]+\): the experiment ends there; [^\n]*\n$/);
  t.regex(
    stdout.replace(/\s+/g, ' '),
    /It was interrupted: (?:[3-9]|\d\d+) of 500 rounds were complete.* in \d+ pairs of runs/,
  );
  t.true(logOf(cwd).length < 500);
  holdsOnly(t, cwd, 'prog.quartz');
});

for (const [words, status, message] of [
  [['--measure=0', '--', './prog'], 2, /--measure needs a whole number from 2 to 1000, not 0; /],
  [['--measure=x', '--', './prog'], 2, /--measure needs .* not x; /],
  [['--runs', '1', '--', './prog'], 2, /--runs needs a whole number from 2 to 1000, not 1; /],
  [['--runs', '--', './prog'], 2, /--runs needs a value; write --runs N/],
  [['--measure', '--runs', '3', '--', './prog'], 2, /--measure and --runs exclude each other; /],
  [['--try', 'A=1', '--runs', '3', '--', './prog'], 2, /--try and --runs exclude each other; /],
  [['--measure', '--children', '--', './prog'], 2, /--children does not go with .*; /],
  [['--try', '', '--', './prog'], 2, /--try names no change; /],
  [['--try', "A='1", '--', './prog'], 2, /a quote that does not end/],
  [['--try', 'A=1 ./missing x', '--', './prog'], 127, /there is no program \.\/missing .*; /],
  [['--measure'], 2, /no program is given; /],
  [['--measure', '--', './missing'], 127, /missing cannot be run/],
] as const)
  test.serial(`one line, and nothing has run: quartz run ${words.join(' ')}`, async (t) => {
    const cwd = place();
    const said = await quartz(['run', ...words], { cwd });
    t.deepEqual([said.status, said.stdout], [status, ''], said.stderr);
    t.regex(said.stderr, message);
    t.regex(said.stderr, /^quartz: [^\n]*\n$/);
    t.false(existsSync(join(cwd, 'log')));
    holdsOnly(t, cwd);
  });

test('a process that runs already cannot be run again', async (t) => {
  const said = await quartz(['attach', '--measure', '1']);
  t.is(said.status, 2);
  t.regex(said.stderr, /^quartz: attach has no option "--measure"; [^\n]*\n$/);
});
