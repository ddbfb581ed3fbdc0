/**
 * Exported profiles in the viewers that read them, as far as these are available as packages: they show the model's
 * numbers.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { FormatName } from '../../../ts-frontend/src/export/format-names.js';
import { defined, stateNames, type Model } from '../../../ts-frontend/src/model/index.js';
import { needing } from '../../support/capabilities.js';
import { Chromium } from '../../support/chromium.js';
import { openModel } from '../../support/record.js';
import { root } from '../../support/root.js';
import { directory, program, quartz, run } from '../../support/run-quartz.js';

const home = directory();
const profile = join(home, 'prog.quartz');
let model: Model;

/** In a time line, the moment of a change of state is known to within a few snapshots; it begins with the first one. */
const changesNs = 10e6;

/** Runs a alone, then b on all processors. */
test.before(async (t) => {
  const { status, stderr } = await quartz(
    ['record', '--timeline', '-o', profile, '--', program('serial_then_parallel')],
    { env: { QUARTZ_PROCESSORS: '4' } },
  );
  t.is(status, 0, stderr);
  model = openModel(profile, false);
});

async function exported(t: ExecutionContext, format: FormatName, name: string): Promise<string> {
  const file = join(home, name);
  const { status, stderr } = await quartz(['export', '--format', format, '-o', file, profile]);
  t.is(status, 0, stderr);
  return file;
}
const procedure = (name: string): Model['entities'][number] =>
  defined(model.entities.find((one) => one.kind === 'procedure' && one.name === name));
const near = (t: ExecutionContext, got: number, wanted: number, what: string, slackNs = 0): void => {
  t.true(Math.abs(got - wanted) <= 0.01 * wanted + slackNs, `${what}: ${got} instead of ${wanted}`);
};

/**
 * The row for a name in speedscope's table: total and self time in ns. It prints times with a unit, other numbers
 * without.
 */
interface Row {
  name: string;
  totalNs: number;
  selfNs: number;
}
function rowsOf(text: string): Row[] {
  const units: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9, '': 1 };
  const ns = (value: string): number => {
    const [, number, unit] = defined(/^([\d.,]+)(\D*)$/.exec(value) ?? undefined);
    return Number(defined(number).replaceAll(',', '')) * defined(units[defined(unit)]);
  };
  const row = /([\d.,]+(?:ns|µs|ms|s)?) \([^)]*\)\s+([\d.,]+(?:ns|µs|ms|s)?) \([^)]*\)\s+(\S.*)/g;
  return [...text.matchAll(row)].map(([, total, self, name]) => ({
    name: defined(name),
    totalNs: ns(defined(total)),
    selfNs: ns(defined(self)),
  }));
}

/** Opens a file in speedscope's own page, as its command does, and reads the table of procedures (view Sandwich). */
async function inSpeedscope(file: string): Promise<Row[]> {
  const page = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist/release');
  const script = `${file}.js`;
  const content = readFileSync(file).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${content}")`);
  const browser = await Chromium.open(
    `${pathToFileURL(join(page, 'index.html')).href}#localProfilePath=${pathToFileURL(script).pathname}`,
  );
  try {
    for (let tries = 0; tries < 600; tries++) {
      await browser.press('3');
      const rows = rowsOf((await browser.evaluate('document.body.innerText')) as string);
      if (rows.length > 0) return rows;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`speedscope shows no table: ${browser.complaints.join('\n')}`);
  } finally {
    await browser.close();
  }
}

for (const [format, name] of [
  ['speedscope', 'prog.speedscope.json'],
  ['pprof', 'prog.pb.gz'],
  ['folded', 'prog.folded'],
  ['callgrind', 'callgrind.out.1'],
] as const satisfies readonly [FormatName, string][])
  needing('tool:chromium')(`speedscope's page opens ${format}: total and own elapsed time of procedures`, async (t) => {
    const rows = await inSpeedscope(await exported(t, format, name));
    for (const one of ['a', 'b', 'main']) {
      const { totalNs, selfNs } = defined(rows.find((row) => row.name === one));
      const { nptNs, nptSelfNs } = procedure(one);
      near(t, totalNs, nptNs, one);
      near(t, selfNs, nptSelfNs, one);
    }
  });

needing('tool:chromium')("speedscope's page opens trace-event: what the main thread did, and its wait", async (t) => {
  const rows = await inSpeedscope(await exported(t, 'trace-event', 'prog.trace.json'));
  const of = (start: string): number =>
    rows.filter(({ name }) => name.startsWith(start)).reduce((sum, { totalNs }) => sum + totalNs, 0);
  const main = defined(model.entities.find(({ rawKind, name }) => rawKind === 'thread' && name === 'main'));
  near(t, of('a '), main.states.useful.ns, 'a', changesNs);
  near(t, of('waits for join'), main.states.blocked.ns, 'waits', changesNs);
});

/** Output of the Firefox Profiler's command line, which reads a file with the code of its page. */
interface FirefoxThreads {
  threads: { threadHandle: string; name: string }[];
}
interface FirefoxFunctions {
  functions: { name: string; selfSamples: number; totalSamples: number }[];
}
interface FirefoxMarkers {
  byType: { markerName: string; count: number; durationStats: { avg: number } }[];
}
const firefox = join(root, 'test/consumers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js');
needing(`file:${firefox}`)('the Firefox Profiler opens it: call trees and markers of all threads', async (t) => {
  const env = { HOME: home, PROFILER_CLI_SESSION_DIR: home, PROFILER_CLI_NO_SYMBOLICATE: '1' };
  const file = await exported(t, 'firefox', 'prog.json');
  // Its own `load` waits at most half a second for its server.
  const server = spawn(process.execPath, [firefox, '--daemon', file, '--session', 'test'], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const answer = async (...words: string[]): Promise<string | undefined> => {
    const { status, stdout } = await run(process.execPath, [firefox, ...words, '--session', 'test', '--json'], { env });
    return status === 0 ? stdout : undefined;
  };
  try {
    let list: string | undefined;
    while ((list = await answer('thread', 'list')) === undefined) t.is(server.exitCode, null);
    const selfMs = new Map<string, number>();
    const markedMs = new Map<string, number>();
    for (const { threadHandle, name } of (JSON.parse(list) as FirefoxThreads).threads) {
      const each = ['--thread', threadHandle, '--limit', '0'];
      const { functions } = JSON.parse(defined(await answer('thread', 'functions', ...each))) as FirefoxFunctions;
      for (const one of functions) selfMs.set(one.name, (selfMs.get(one.name) ?? 0) + one.selfSamples);
      const { byType } = JSON.parse(defined(await answer('thread', 'markers', ...each))) as FirefoxMarkers;
      for (const { markerName, count, durationStats } of byType) {
        const key = `${name}: ${markerName.replace(/ at .*/, '')}`;
        markedMs.set(key, (markedMs.get(key) ?? 0) + count * durationStats.avg);
      }
    }
    for (const one of ['a', 'b']) near(t, defined(selfMs.get(one)) * 1e6, procedure(one).nptSelfNs, one);
    const main = defined(model.entities.find(({ rawKind, name }) => rawKind === 'thread' && name === 'main'));
    near(t, defined(markedMs.get('main: waits for join')) * 1e6, main.states.blocked.ns, 'waits for join', changesNs);
    near(t, defined(markedMs.get('main: a')) * 1e6, main.states.useful.ns, 'a', changesNs);
  } finally {
    server.kill('SIGKILL');
  }
});

/** Frames of an SVG, with their total width: each has a title such as `b (12,345 ns, 67.8%)`. */
function widthsOf(svg: string): ReadonlyMap<string, number> {
  const widths = new Map<string, number>();
  for (const [, name, ns] of svg.matchAll(/<title>(.+?) \(([\d,]+) ns, [\d.]+%\)<\/title>/g))
    widths.set(defined(name), (widths.get(defined(name)) ?? 0) + Number(defined(ns).replaceAll(',', '')));
  return widths;
}

for (const tool of ['flamegraph.pl', 'inferno-flamegraph'])
  needing(`tool:${tool}`)(`${tool} draws folded stacks: frames are as wide as the elapsed time`, async (t) => {
    const file = await exported(t, 'folded', `${tool}.folded`);
    const { status, stdout, stderr } = await run('sh', ['-c', '"$0" --minwidth 0 --countname ns < "$1"', tool, file]);
    t.is(status, 0, stderr);
    const widths = widthsOf(stdout);
    const sum = readFileSync(file, 'utf8').matchAll(/ (\d+)$/gm);
    t.is(
      widths.get('all'),
      [...sum].reduce((all, [, ns]) => all + Number(ns), 0),
    );
    for (const one of ['a', 'b', 'main']) near(t, defined(widths.get(one)), procedure(one).nptNs, one);
  });

/** Rows that Perfetto's trace processor answers a query with; it prints CSV. */
async function askPerfetto(t: ExecutionContext, file: string, query: string): Promise<string[][]> {
  const script = `${file}.sql`;
  writeFileSync(script, `${query};\n`);
  const { status, stdout, stderr } = await run('trace_processor_shell', ['-q', script, file], { env: { HOME: home } });
  t.is(status, 0, stderr);
  const [, ...rows] = stdout.trim().split('\n');
  return rows.map((row) => row.split(',').map((cell) => cell.replace(/^"(.*)"$/, '$1')));
}

for (const [format, name] of [
  ['perfetto', 'prog.pftrace'],
  ['trace-event', 'perfetto.json'],
] as const satisfies readonly [FormatName, string][])
  needing('tool:trace_processor_shell')(`Perfetto's trace processor opens ${format}`, async (t) => {
    const file = await exported(t, format, name);
    const ask = (query: string): Promise<string[][]> => askPerfetto(t, file, query);
    const [problems] = await ask("SELECT count(*) AS n FROM stats WHERE severity = 'error' AND value > 0");
    t.deepEqual(problems, ['0']);
    const main = defined(model.entities.find(({ rawKind, name }) => rawKind === 'thread' && name === 'main'));
    const slices = await ask(
      'SELECT slice.category, sum(slice.dur) AS ns FROM slice JOIN thread_track ON slice.track_id = thread_track.id ' +
        "JOIN thread USING (utid) WHERE thread.name = 'main' AND slice.category IS NOT NULL GROUP BY 1",
    );
    for (const [category, ns] of slices) {
      const state = stateNames.find((one) => one === category);
      if (state !== undefined) near(t, Number(ns), main.states[state].ns, state, 1e6);
    }
    t.true(slices.length > 1);
    const counters = await ask('SELECT DISTINCT name FROM counter_track ORDER BY 1');
    t.true(counters.length >= 5, JSON.stringify(counters));
  });
