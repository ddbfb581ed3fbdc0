/**
 * The sampler: the cost of a snapshot, whether it comes when it is due, the sampler's share of a CPU that the program
 * uses, too, and what a recorded program of loops pays. Isolates the sampler from the program: all benchmarks but the
 * last three use synthetic sessions, whose stacks change as a program's would.
 */
import { join } from 'node:path';
import type { Bench, Contender, RowPlan, Trial } from '../harness/bench.js';
import { buildTargets } from '../harness/build.js';
import { execute, Failed, readings } from '../harness/execute.js';
import { root, work } from '../harness/peers.js';
import { settings } from '../harness/settings.js';
import { examined, profile, recorded, sampler as program } from '../harness/profile.js';

const built = join(root, 'build/bench');

/** JSON lines of bench_snapshot_cost: what changed between snapshots, and the median. */
function rounds(processors: number, depth: number): Contender {
  return {
    name: 'quartz',
    peer: false,
    take: async () => {
      const { stdout } = await execute(join(built, 'native/bench_snapshot_cost'), [String(processors), String(depth)], {
        seconds: 30,
      });
      return Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => {
            const one = JSON.parse(line) as { changes: string; median_ns: number };
            return [one.changes, one.median_ns];
          }),
      );
    },
  };
}

function snapshot(processors: number, depth: number, mostNs?: number): Trial {
  return {
    contenders: [rounds(processors, depth)],
    rows: [
      {
        id: `snapshot.${processors}x${depth}`,
        what: `snapshot of ${processors} processors, stacks ${depth} deep, all changed`,
        unit: 'ns',
        reading: 'all',
        beside: [
          ['still', 'unchanged'],
          ['leaf', '4 innermost changed'],
          ['writer', 'being written'],
        ],
        targets: mostNs === undefined ? [] : [{ ours: 'quartz', most: mostNs }],
      },
    ],
    mostRounds: 5,
  };
}

function punctual(): Trial {
  const contender: Contender = {
    name: 'quartz',
    peer: false,
    take: async () =>
      readings(
        (
          await execute(
            join(built, 'native/bench_snapshot_lateness'),
            ['18', '8', '10000', settings.quick ? '0.5' : '1'],
            { seconds: 20 },
          )
        ).stdout,
      ),
  };
  const row: RowPlan = {
    id: 'punctual.18',
    what: 'rounds that begin more than 10 us late, 10,000 a second, 18 processors, a CPU to itself',
    unit: '%',
    reading: 'prompt_percent',
    value: (of, one) => 100 - of(one),
    beside: [
      ['late_p50_us', 'median lateness us'],
      ['late_p99_us', '99th percentile us'],
      ['snapshot_us', 'snapshot us'],
    ],
    targets: [{ ours: 'quartz', most: 1 }],
  };
  return { contenders: [contender], rows: [row] };
}

/** The line that the sampler prints at the end has the share; the program has 18 processors that always run. */
function share(): Trial {
  const contender: Contender = examined({
    name: 'quartz',
    peer: false,
    take: async () => {
      const command = ['record', '-o', profile(), '--', join(work, 'quartz-growth'), 'busy', '18'];
      const { stderr } = await execute(program, command, {
        env: { QUARTZ_BENCH_MS: settings.quick ? '1000' : '2000' },
        seconds: 30,
      });
      const match = /([\d.]+) % of a CPU/.exec(stderr);
      if (!match) throw new Failed('the sampler did not print what it used');
      return { percent: Number(match[1]) };
    },
  });
  return {
    contenders: [contender],
    rows: [
      {
        id: 'sampler-cpu.18',
        what: 'CPU time of the sampler on a CPU that the program uses too, default rate, 18 processors',
        unit: '%',
        reading: 'percent',
        targets: [{ ours: 'quartz', most: 2 }],
      },
    ],
    mostRounds: 5,
  };
}

/** What a program of loops pays that is recorded from outside its code: its own processor time, and elapsed time. */
function loops(threads: number): Trial {
  const file = join(built, 'native/bench_nested_loops');
  const contender = (name: string, start: readonly string[]): Contender => ({
    name,
    peer: false,
    take: async () => {
      const [command, ...options] = [...start, String(threads), settings.quick ? '300' : '1000'];
      return readings((await execute(command, options, { seconds: 60 })).stdout);
    },
  });
  const row = (id: string, what: string, reading: string): RowPlan => ({
    id: `${id}.${threads}`,
    what: `loops of ${threads === 1 ? 'one thread' : `${threads} threads`}, recorded, over alone: ${what}`,
    unit: 'times',
    reading,
    value: (of, one) => of(one) / of('alone'),
    targets: [{ ours: 'quartz', most: 1.02 }],
  });
  return {
    contenders: [contender('alone', [file]), examined(contender('quartz', recorded(file)))],
    rows: [row('loops-cpu', "the program's processor time", 'cpu'), row('loops', 'elapsed time', 'elapsed')],
  };
}

export const samplerBench: Bench = {
  name: 'sampler',
  title: 'Sampler',
  isolates:
    "The sampler alone, on synthetic sessions whose stacks change as a program's would " +
    '(bench/native/snapshot_cost.c), up to 256 ' +
    'processors. `being written` has a second kernel thread write to all stacks all the time. ' +
    'Punctuality needs a CPU that nobody else uses: on a busy machine the row shows the machine. The share of a CPU ' +
    'is measured with a real program.',
  plan: () => {
    buildTargets('bench_snapshot_cost', 'bench_snapshot_lateness', 'bench_nested_loops');
    const sizes: readonly (readonly [number, number, number?])[] = [
      [18, 8, 1000],
      [18, 32, 1500],
      ...(settings.quick
        ? []
        : ([
            [1, 8],
            [2, 8],
            [64, 8],
            [256, 8],
            [256, 32],
          ] as const)),
    ];
    return {
      trials: [
        ...sizes.map(([processors, depth, most]) => snapshot(processors, depth, most)),
        punctual(),
        share(),
        loops(1),
        loops(2),
      ],
    };
  },
};
