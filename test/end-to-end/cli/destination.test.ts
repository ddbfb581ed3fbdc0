/** Where the report of `quartz run` goes: never into a file with the program's output. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';

/** Prints a line, and continues as a program with two threads that prints nothing. */
const prints = `sh -c 'echo its output; exec "${program('two_callers')}"'`;
const shell = (line: string, cwd: string): ReturnType<typeof run> => run('sh', ['-c', line], { cwd });

test.serial('a file with the output of the program: the report goes to stderr', async (t) => {
  const cwd = directory();
  for (const into of ['>', '>>']) {
    const said = await shell(`"${command}" run -- ${prints} ${into} out`, cwd);
    t.is(said.status, 0, said.stderr);
    t.regex(said.stderr, /stdout is a file that the program wrote to[^]*Procedures by normalized processor time/);
  }
  t.is(readFileSync(join(cwd, 'out'), 'utf8'), 'its output\nits output\n');
});

test.serial('JSON, and a report on several runs, go there, too', async (t) => {
  const cwd = directory();
  for (const options of ['--json', '--runs 2']) {
    const said = await shell(`"${command}" run ${options} -- ${prints} > out`, cwd);
    t.is(said.status, 0, said.stderr);
    t.is(readFileSync(join(cwd, 'out'), 'utf8'), 'its output\n', options);
    t.regex(said.stderr, options === '--json' ? /"schema": ?"quartz-report-/ : /Measured by experiment/);
  }
});

test.serial('a file that the program wrote nothing to has the report; so has a log of both', async (t) => {
  const cwd = directory();
  const quiet = `"${command}" run -- "${program('two_callers')}"`;
  const said = await shell(`${quiet} > out; "${command}" run -- ${prints} > log 2>&1`, cwd);
  t.is(said.status, 0);
  t.regex(readFileSync(join(cwd, 'out'), 'utf8'), /Procedures by normalized processor time/);
  t.regex(readFileSync(join(cwd, 'log'), 'utf8'), /^its output\n[^]*Procedures by normalized processor time/);
  t.notRegex(said.stderr, /stdout is a file/);
});

test.serial(
  '--report: the file has the report, stdout the output; a wrong one is refused before the program runs',
  async (t) => {
    const cwd = directory();
    const said = await shell(`"${command}" run --report report -- ${prints}`, cwd);
    t.deepEqual([said.status, said.stdout], [0, 'its output\n'], said.stderr);
    t.regex(readFileSync(join(cwd, 'report'), 'utf8'), /Procedures by normalized processor time/);
    const wrong = await quartz(['run', '--report', 'nowhere/report', '--', 'touch', 'ran'], { cwd });
    t.is(wrong.status, 125);
    t.regex(wrong.stderr, /^quartz: nowhere\/report cannot be written: no such file or directory; name another file/);
    t.false(existsSync(join(cwd, 'ran')));
  },
);
