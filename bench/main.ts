/**
 * npm run bench: measures Quartz and its peers side by side. docs/evidence/performance.md says how to read its output.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exitCodes, Failure, reportFailure, usage } from '../ts-frontend/src/cli/failure.js';
import { didYouMean } from '../ts-frontend/src/cli/nearest.js';
import { print } from '../ts-frontend/src/cli/show/output.js';
import { version } from '../ts-frontend/src/cli/version.js';
import { benches } from './benches/index.js';
import type { Bench } from './harness/bench.js';
import { buildPeers } from './harness/build.js';
import { execute, Failed, readings } from './harness/execute.js';
import { compare, drift } from './harness/compare.js';
import { machinesMarkdown, machinesText } from './harness/machines.js';
import { commit, loadNow, machine, sameMachine } from './harness/machine.js';
import { markdown } from './harness/report_markdown.js';
import { install, named, pathPeers, peers, root, sources, work } from './harness/peers.js';
import { readRecorded, record } from './harness/recorded_ratios.js';
import { checkWritable, format, readResults, writeResults, type Results } from './harness/result.js';
import { settings } from './harness/settings.js';
import { changesText, headText, rowText, verdictCounts } from './harness/report_text.js';
import { measure } from './harness/trial.js';

const help = `Examples
  npm run bench                          everything, with medians, intervals, ratios and verdicts
  npm run bench -- threads hooks         these only
  npm run bench -- --quick               fewer rounds: about two minutes
  npm run bench -- --output new.json     also into a file, to compare with later
  npm run bench -- --compare old.json    new over old, and what changed beyond noise

Options
  --list               the benchmarks
  --quick              3 rounds, small sizes
  --rounds N           rounds of each trial (default 9)
  --json               results as JSON on stdout (npm's -s keeps its own lines away)
  --output FILE        results as JSON into FILE, after each benchmark
  --from FILE          measures nothing: shows the results in FILE
  --compare FILE       then compares with FILE; of another machine: the targets side by side
  --markdown           tables as in docs/evidence/performance.md
  --page               writes them into docs/evidence/performance.md
  --record             keeps the ratios to peers without a Debian package, for those who lack them
  --install-peers      first installs the peers that Debian has, and fetches the sources of the whole programs
  --peer NAME=PATH     where a peer is that pkg-config and CMake don't find (may be repeated)
  --source NAME=PATH   where the source of a whole program is: lua5.4, sqlite3, bzip2, zlib (may be repeated)
  --help               this
`;

function read(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      strict: true,
      options: {
        list: { type: 'boolean' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        json: { type: 'boolean' },
        output: { type: 'string' },
        from: { type: 'string' },
        compare: { type: 'string' },
        markdown: { type: 'boolean' },
        page: { type: 'boolean' },
        record: { type: 'boolean' },
        'install-peers': { type: 'boolean' },
        peer: { type: 'string', multiple: true },
        source: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw usage(
      (error instanceof Error ? error.message : String(error)).split(/[.\n]/)[0]!,
      'see "npm run bench -- --help"',
    );
  }
}

function chosen(names: readonly string[]): readonly Bench[] {
  for (const name of names) {
    if (benches.some((one) => one.name === name)) continue;
    throw usage(
      `there is no benchmark "${name}"`,
      didYouMean(
        name,
        benches.map((one) => one.name),
        'see "npm run bench -- --list"',
      ),
    );
  }
  return names.length === 0 ? benches : benches.filter((one) => names.includes(one.name));
}

function roundsOf(text: string | undefined, quick: boolean): number {
  if (text === undefined) return quick ? 3 : 9;
  const rounds = Number(text);
  if (!/^\d+$/.test(text) || rounds < 1 || rounds > 1000)
    throw usage(`--rounds ${text} is not a whole number from 1 to 1000`, 'give one');
  return rounds;
}

/** The machine's own latencies; undefined: they could not be measured. */
async function latencies(): Promise<Record<string, number> | undefined> {
  try {
    return { ...readings((await execute(join(work, 'machine'), [])).stdout) };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    process.stderr.write(`quartz: bench: the machine's latencies are not known: ${error.message}\n`);
    return undefined;
  }
}

let kept = ''; // where the results so far are

/** Runs the benchmarks one after the other; `each` sees the results after each. */
async function run(
  wanted: readonly Bench[],
  rounds: number,
  quick: boolean,
  say: (text: string) => void,
  each: (results: Results) => void,
): Promise<Results> {
  const begin = Date.now();
  const results: Results = {
    format,
    date: new Date(begin).toISOString(),
    quartz: `${version()}${commit()}`,
    seconds: 0,
    rounds,
    machine: machine(await latencies()),
    peers: peers(),
    benches: [],
    rows: [],
  };
  const recorded = readRecorded();
  say(headText(results));
  for (const bench of wanted) {
    say(`${bench.title}\n`);
    const { rows, failed } = await measure(bench, {
      rounds,
      seconds: quick ? 10 : 40,
      note: (text) => {
        process.stderr.write(`quartz: bench: ${bench.name}: ${text}\n`);
      },
    });
    results.rows.push(...rows);
    results.benches.push({
      name: bench.name,
      title: bench.title,
      isolates: bench.isolates,
      ...(failed === undefined ? {} : { failed }),
    });
    results.seconds = (Date.now() - begin) / 1000;
    results.machine.load.end = loadNow();
    say(rows.map((row) => rowText(row, recorded)).join('\n'));
    if (failed !== undefined) say(`  not measured: ${failed}\n\n`);
    each(results);
  }
  return results;
}

const page = join(root, 'docs/evidence/performance.md');
const marks = ['<!-- results: npm run bench -- --page -->', '<!-- end of results -->'] as const;

/** The tables and, if there is a run on another machine, its targets side by side. */
const pageText = (results: Results, then?: Results): string =>
  markdown(results, readRecorded()) +
  (then && !sameMachine(results.machine, then.machine) ? `\n${machinesMarkdown(results, then)}` : '');

/** Puts the tables between their marks. */
function writePage(results: Results, then?: Results): void {
  const text = readFileSync(page, 'utf8');
  const [begin, end] = [text.indexOf(marks[0]), text.indexOf(marks[1])];
  if (begin < 0 || end < begin)
    throw new Failure(
      'docs/evidence/performance.md has lost its marks',
      `put back the lines ${marks[0]} and ${marks[1]}`,
    );
  writeFileSync(page, `${text.slice(0, begin + marks[0].length)}\n${pageText(results, then)}${text.slice(end)}`);
}

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = read(argv);
  if (values.help) {
    await print(help);
    return 0;
  }
  if (values.list) {
    await print(benches.map((one) => `${one.name.padEnd(14)} ${one.title}\n`).join(''));
    return 0;
  }
  const wanted = chosen(positionals);
  const quick = values.quick ?? false;
  const rounds = roundsOf(values.rounds, quick);
  const paths = new Map((values.peer ?? []).map((text) => named('peer', pathPeers, text)));
  settings.sources = new Map((values.source ?? []).map((text) => named('source', sources, text)));
  // before an hour is spent on measuring
  const then = values.compare === undefined ? undefined : readResults(values.compare);
  const quiet = values.json === true || values.markdown === true;
  const say = (text: string): void => {
    if (!quiet) process.stdout.write(text);
  };

  if (values.output !== undefined) checkWritable(values.output);
  let unwritten = false;

  let results: Results;
  if (values.from !== undefined) {
    results = readResults(values.from);
    const recorded = readRecorded();
    say(
      headText(results) +
        results.rows
          .filter((row) => wanted.some((one) => one.name === row.bench))
          .map((row) => rowText(row, recorded))
          .join('\n'),
    );
  } else {
    if (values['install-peers']) install();
    settings.quick = quick;
    process.stderr.write('quartz: bench: building\n');
    buildPeers(paths);
    results = await run(wanted, rounds, quick, say, (sofar) => {
      try {
        if (values.output !== undefined) {
          writeResults(values.output, sofar);
          kept = `; what was measured before this benchmark is in ${values.output}`;
        }
        unwritten = false;
      } catch (error) {
        // the next ones may succeed; the measured results are shown nevertheless
        unwritten = true;
        reportFailure(error);
      }
    });
  }
  if (values.json) await print(`${JSON.stringify(results, undefined, 1)}\n`);
  if (values.markdown) await print(pageText(results, then));
  say(`${verdictCounts(results)}; ${Math.round(results.seconds)} s\n`);
  if (values.record) say(`recorded ${record(results)} ratios\n`);
  if (values.page) writePage(results, then);
  if (then) {
    const changes = compare(results, then);
    if (sameMachine(results.machine, then.machine)) await print(changesText(changes, drift(changes), then, results));
    else await print(machinesText(results, then));
  }
  return unwritten ? exitCodes.failed : exitCodes.ok;
}

// Processes that were started end with this process, by its exit handlers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    process.stderr.write(`quartz: bench: ended by ${signal}${kept}\n`);
    process.exit(128 + constants.signals[signal]);
  });
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportFailure(error);
}
