/**
 * What a newcomer does with the pages: the programs of docs/guide/getting-started.md compile as described, print the
 * output shown there, and are reported as shown (except for numbers that differ between machines and runs). And
 * docs/reference/library.md contains the headers' comments, with every function that the library exports.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { directory, quartz, run } from '../../support/run-quartz.js';
import { root } from '../../support/root.js';

const guide = readFileSync(join(root, 'docs/guide/getting-started.md'), 'utf8');
const sources = [...guide.matchAll(/```(c|cpp)\n([^]*?)```/g)].map((match) => ({
  kind: match[1]!,
  text: match[2]!,
  after: guide.slice(match.index + match[0].length),
}));

/** By the line that the page gives. */
async function compile(
  t: ExecutionContext,
  { kind, text }: { kind: string; text: string },
  directoryOf: string,
  name: string,
): Promise<string> {
  const flags = async (command: string): Promise<string[]> => (await quartz([command])).stdout.trim().split(/\s+/);
  const source = `${name}.${kind === 'c' ? 'c' : 'cc'}`;
  writeFileSync(join(directoryOf, source), text);
  const [compiler, standard] = kind === 'c' ? ['cc', []] : ['c++', ['-std=c++17']];
  const { status, stderr } = await run(
    compiler,
    [...standard, '-O2', '-g', ...(await flags('cflags')), '-o', name, source, ...(await flags('libs'))],
    { cwd: directoryOf },
  );
  t.is(status, 0, stderr);
  t.is(stderr, '', 'without a warning');
  return join(directoryOf, name);
}

test('the first program of the guide is reported as the guide shows', async (t) => {
  const work = directory();
  await compile(t, sources[0]!, work, 'sum');
  const { status, stdout, stderr } = await quartz(['run', '--', './sum'], {
    cwd: work,
    env: { QUARTZ_PROCESSORS: '2', COLUMNS: '120' },
  });
  t.is(status, 0, stderr);
  const shown = /```text\n([^]*?)```/.exec(guide)![1]!;
  const findings = (report: string): string[] =>
    [...report.matchAll(/^ {2}\d\. (.*?)(?=\d+(?:\.\d+)? (?:[mnuµ]?s|%))/gm)].map(([, begin]) => begin!.trim());
  t.deepEqual(findings(shown), ['Threads wait for lock table for', 'prepare (sum.c:7), called from main, costs']);
  for (const begin of findings(shown)) t.true(findings(stdout).includes(begin), stdout);
  /** Calls are counted, so these numbers are the same on any machine. */
  const rows = (report: string): string[] =>
    [...report.matchAll(/ ([\d,]+) {2,3}\S+ +(main|count|lock table|prepare)\b/g)]
      .map(([, calls, name]) => `${name!} ${calls!}`)
      .sort();
  t.deepEqual(rows(shown), ['count 4', 'lock table 1,200', 'main 1', 'prepare 1']);
  // what others keep from the CPUs all the time may have no share that is shown
  const all = await quartz(['report', '--top', '0'], { cwd: work, env: { COLUMNS: '120' } });
  t.deepEqual(rows(all.stdout), rows(shown));
});

for (const [index, source] of sources.slice(1).entries()) {
  const name = ['pipeline', 'fib', 'histogram', 'classes'][index]!;
  test(`the guide's program ${name} compiles without a warning and prints what the guide says`, async (t) => {
    const { status, stdout } = await run(await compile(t, source, directory(), name), []);
    t.is(status, 0);
    const [, said = ''] = /^\s*It prints (?:ten lines, the first )?`(.*?)`/.exec(source.after)!;
    t.is(stdout.split('\n')[0], said);
  });
}

test('docs/reference/library.md is what the public headers say', async (t) => {
  const { status, stderr } = await run('node', [join(root, 'scripts/library-page.js'), '--check']);
  t.is(status, 0, stderr);
});

test('docs/reference/library.md has every function that the library exports to C programs', async (t) => {
  const page = readFileSync(join(root, 'docs/reference/library.md'), 'utf8');
  const { stdout } = await run('nm', ['-D', '--defined-only', join(root, 'build/threadlib/libquartz.so')]);
  const exported = [...stdout.matchAll(/ [TW] (qz_\w+)$/gm)].map(([, name]) => name!);
  t.true(exported.length > 50);
  for (const name of exported) t.regex(page, new RegExp(`\\b${name}\\(`), name);
});
