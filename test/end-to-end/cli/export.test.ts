/** quartz export: how other tools read its output, and the messages if something cannot be exported. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { FormatName } from '../../../ts-frontend/src/export/format-names.js';
import { exporters } from '../../../ts-frontend/src/export/formats.js';
import { pprof } from '../../../ts-frontend/src/export/pprof.js';
import { stateNames } from '../../../ts-frontend/src/model/index.js';
import { openModel } from '../../support/record.js';
import { lacking, needing, skip } from '../../support/capabilities.js';
import { command, directory, program, quartz, run } from '../../support/run-quartz.js';

const home = directory();
const profile = join(home, 'prog.quartz');
const plain = { foldRuntime: false, foldLoops: false, holders: false };
/** Elapsed time while something was at work, in ns, according to the report. */
let atWorkNs = 0;

test.before(async (t) => {
  const { status, stderr } = await quartz(
    ['record', '--timeline', '-o', profile, '--', program('serial_then_parallel')],
    {
      env: { QUARTZ_PROCESSORS: '4' },
    },
  );
  t.is(status, 0, stderr);
  const { stdout } = await quartz(['report', '--json', profile]);
  const { elapsedNs, balance, compensation } = JSON.parse(stdout) as {
    elapsedNs: number;
    balance: { nothingRanNs: number };
    compensation: { elapsedNs: number };
  };
  atWorkNs = elapsedNs - balance.nothingRanNs - compensation.elapsedNs;
});

// The others are written by the same code; what each writes is tested in test/unit/export.
for (const format of ['folded', 'perfetto'] as const satisfies readonly FormatName[]) {
  test(`${format}: into a file and to stdout the same; one line says what is lost`, async (t) => {
    const file = join(home, `out.${format}`);
    const { status, stdout, stderr } = await quartz(['export', '--format', format, '-o', file, profile]);
    t.deepEqual([status, stdout], [0, ''], stderr);
    t.regex(stderr, new RegExp(`^quartz: not in ${format}: [^\n]+\n$`));
    const piped = await run('sh', ['-c', `"$0" export --format ${format} "$1" | cmp - "$2"`, command, profile, file]);
    t.is(piped.status, 0, piped.stderr);
  });
}

test('time lines of threads: the slices of each in each state add up to what the model has; none overlaps', (t) => {
  const model = openModel(profile, false);
  const parts = Array.from(exporters['trace-event'].write(model, plain) as Iterable<string>);
  const { traceEvents } = JSON.parse(parts.join('')) as {
    traceEvents: { ph: string; cat?: string; tid?: number; ts?: number; dur?: number; args?: { name?: string } }[];
  };
  let threads = 0;
  for (const { thread, states, rawKind, instances } of model.entities) {
    if (rawKind !== 'thread' || thread === null || instances !== 1) continue;
    const slices = traceEvents.filter(({ ph, cat, tid }) => ph === 'X' && cat !== undefined && tid === thread.serial);
    let end = 0;
    for (const { ts, dur } of slices) {
      t.true(ts! >= end - 1e-3);
      end = ts! + dur!;
    }
    for (const state of stateNames) {
      const us = slices.reduce((sum, { cat, dur }) => sum + (cat === state ? dur! : 0), 0);
      t.true(Math.abs(us - states[state].ns / 1000) < 0.01, `${state}: ${us} ${states[state].ns}`);
    }
    threads++;
  }
  t.true(threads >= 4);
  const us = (of: typeof traceEvents): number => of.reduce((sum, { dur }) => sum + dur!, 0);
  const pathTid = traceEvents.find(({ ph, args }) => ph === 'M' && args?.name === 'critical path')!.tid;
  const onPath = traceEvents.filter(({ ph, tid }) => ph === 'X' && tid === pathTid);
  t.true(Math.abs(us(onPath) * 1000 - model.head.pathNs) < 1000);
});

test('go tool pprof reads it; -tagfocus=busy=1 leaves what ran alone', async (t) => {
  const why = lacking('tool:go');
  if (why !== undefined) {
    skip(t, why);
    return;
  }
  const file = join(home, 'go.pb.gz');
  await quartz(['export', '--format', 'pprof', '-o', file, profile]);
  const top = async (...more: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run('go', ['tool', 'pprof', '-top', '-unit=ns', ...more, file], {
      env: { HOME: home, PPROF_TMPDIR: home },
    });
    t.is(status, 0, stderr);
    return stdout;
  };
  const total = Number(/Total samples = (\d+)ns/.exec(await top())![1]);
  t.true(Math.abs(total - atWorkNs) <= 10, `${total} ${atWorkNs}`);
  t.regex(await top('-tagfocus=busy=1'), / a(\n|$)/m); // runs alone; b is parallel
  t.notRegex(await top('-tagfocus=busy=4'), / a(\n|$)/m);
  t.regex(await top('-sample_index=processor'), /Type: processor/);
});

test('go tool pprof shows instances of one template, and lambda expressions, apart', async (t) => {
  const why = lacking('tool:go');
  if (why !== undefined) {
    skip(t, why);
    return;
  }
  const names = ['body<main::{lambda(int)#1}>::operator()', 'body<main::{lambda(int)#2}>::operator()'];
  const file = join(home, 'template.pb.gz');
  const frames = names.map((name) => ({ name, file: '', line: 0, module: '', inlined: false }));
  const samples = names.map((_, at) => ({ frames: [at], thread: null, state: null, busy: null, values: [at + 1] }));
  const types = [{ name: 'elapsed', unit: 'nanoseconds', title: '' }] as const;
  writeFileSync(file, pprof({ title: '', types, frames, samples }, { beganNs: 0, elapsedNs: 3, rateHz: 0 }));
  const { status, stdout, stderr } = await run('go', ['tool', 'pprof', '-top', file], { env: { HOME: home } });
  t.is(status, 0, stderr);
  for (const name of names) t.true(stdout.includes(name), stdout);
});

test('callgrind_annotate reads it, with the same total', async (t) => {
  const why = lacking('tool:callgrind_annotate');
  if (why !== undefined) {
    skip(t, why);
    return;
  }
  const file = join(home, 'callgrind.out');
  await quartz(['export', '--format', 'callgrind', '-o', file, profile]);
  const { status, stdout, stderr } = await run('callgrind_annotate', [file], { cwd: home });
  t.is(status, 0, stderr);
  const total = Number(/^ *([\d,]+) .*PROGRAM TOTALS/m.exec(stdout)![1]!.replaceAll(',', ''));
  t.true(Math.abs(total - atWorkNs) <= 10, `${total} ${atWorkNs}`);
  const own = new Map<string, number>(); // a procedure has a row for each of its files
  for (const [, ns, name] of stdout.matchAll(/^ *([\d,]+) \(.*:(\S+) \[/gm))
    own.set(name!, (own.get(name!) ?? 0) + Number(ns!.replaceAll(',', '')));
  for (const { name, kind, nptSelfNs } of openModel(profile, false).entities)
    if (kind === 'procedure' && own.has(name))
      t.true(Math.abs(own.get(name)! - nptSelfNs) <= 10, `${name}: ${own.get(name)}, not ${nptSelfNs}`);
  t.true(own.has('a') && own.has('b'));
});

test('a reader that goes away is no error', async (t) => {
  const { status, stdout } = await run(
    'bash',
    ['-c', '"$0" export --format trace-event "$1" 2>err | head -c 10; echo " ${PIPESTATUS[0]}"', command, profile],
    { cwd: home },
  );
  t.is(status, 0);
  t.regex(stdout, / 0\n$/);
  t.notRegex(readFileSync(join(home, 'err'), 'utf8'), /EPIPE|can't write/);
});

test('holders of locks for which nobody waited: one line says why there is nothing', async (t) => {
  const { status, stdout, stderr } = await quartz(['export', '--format', 'folded', '--holders', profile]);
  t.deepEqual([status, stdout], [0, '']);
  t.regex(stderr, /^quartz: folded has no stack to show: no thread held a lock while another one waited for it\n/);
});

const mistakes: [string[], number, RegExp][] = [
  [[], 2, /no format is given; write --format and one of: pprof, speedscope, folded/],
  [
    ['--format', 'svg'],
    2,
    /--format needs pprof, speedscope, folded, callgrind, firefox, trace-event or perfetto, not svg;/,
  ],
  [['--format', 'speedscop'], 2, /did you mean "speedscope"\?/],
  [
    ['--format', 'perfetto', '--holders'],
    2,
    /--holders applies to call stacks, and perfetto contains none; leave it out/,
  ],
  [
    ['--format', 'folded', '-o', '/nowhere/x', profile],
    125,
    /\/nowhere\/x cannot be written: no such file or directory; name another file/,
  ],
  [['--format', 'folded', 'gone.quartz'], 125, /gone\.quartz does not exist/],
];
for (const [args, code, said] of mistakes) {
  test(`quartz export ${args.join(' ').replace(profile, 'FILE')}`, async (t) => {
    const { status, stdout, stderr } = await quartz(['export', ...args], { cwd: directory() });
    t.deepEqual([status, stdout], [code, ''], stderr);
    t.regex(stderr, said);
    t.regex(stderr, /^quartz: [^\n]+; [^\n]+\n$/);
  });
}

test('a damaged profile makes no file', async (t) => {
  const damaged = join(home, 'damaged.quartz');
  writeFileSync(damaged, readFileSync(profile).subarray(0, 5000));
  const file = join(home, 'none');
  const { status, stderr } = await quartz(['export', '--format', 'folded', '-o', file, damaged]);
  t.is(status, 125, stderr);
  t.false(existsSync(file));
});

needing('mounts')('a disk without room: one line, and the file of before is kept', async (t) => {
  const script =
    'mount -t tmpfs -o size=8k none "$DISK" && cd "$DISK" && echo before > out && ' +
    '"$QUARTZ" export --format trace-event -o out "$FROM"; echo $? $(ls) $(cat out)';
  const said = await run('unshare', [...(process.getuid?.() === 0 ? [] : ['-r']), '-m', 'sh', '-c', script], {
    env: { DISK: directory(), QUARTZ: command, FROM: profile },
  });
  t.is(said.stdout, '125 out before\n', said.stderr);
  t.is(said.stderr, 'quartz: out cannot be written: no space left on device; name another file with -o\n');
});
