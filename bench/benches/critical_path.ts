/**
 * What recording work and span costs. Isolates it: the same program with and without `--span`, both recorded, so that
 * what recording itself costs is in neither. The time path is part of every recording.
 */
import type { Bench, Contender, RowPlan, Target, Trial } from '../harness/bench.js';
import { alone, asking, packages, publishing, spanning } from '../harness/packages.js';

/** Compilers of their own, which are not here: what was published of them stands in bench/data/recorded.json. */
const published = (name: string, missing: string): Contender => ({
  name,
  peer: true,
  missing,
  take: () => Promise.reject(new Error(missing)),
});
const compilers: readonly Contender[] = [
  published('cilkprof', 'not distributed any more; a serial run'),
  published('cilkscale', 'needs the OpenCilk compiler; whole programs and marked regions only'),
];

/** Nanoseconds that --span adds to one of the `parts` equal parts of the operation. */
const added = (what: string, name: string, most: number, parts = 1): Trial => ({
  contenders: packages({ name, processors: 1, seconds: 8, span: true }, []),
  rows: [
    {
      id: `span-${name}.1`,
      what,
      unit: 'ns',
      value: (of, contender) => (of(contender) - of(publishing)) / parts,
      shown: [spanning, asking],
      targets: [{ ours: spanning, most }],
    },
  ],
});

const times = (
  id: string,
  what: string,
  than: string,
  targets: readonly Target[],
  shown: readonly string[] = [],
): RowPlan => ({
  id,
  what,
  unit: 'times',
  value: (of, contender) => of(contender) / of(than),
  shown: [spanning, asking, ...shown],
  targets,
});

export const criticalPath: Bench = {
  name: 'critical-path',
  title: 'Work and span',
  isolates:
    "The same programs recorded with and without work and span, on 1 processor, by the process's CPU time. The first " +
    'rows are what an operation takes more, the others ratios. Cilkprof and Cilkscale are compilers: of Cilkprof its ' +
    'paper has a ratio to the program without it (fib 7.4, the geometric mean of 16 programs 1.9).',
  plan: () => ({
    trials: [
      added('spawn one call, sync', 'task', 35),
      added('create one thread, join', 'spawn', 25),
      added('a hand-over by a condition', 'cond', 15, 2),
      added('a hand-over by a channel', 'channel', 15, 2),
      added('lock and unlock a free mutex', 'lock', 1),
      {
        contenders: [...packages({ name: 'fib', processors: 1, span: true }, []), ...compilers],
        rows: [
          times(
            'span-fib.1',
            'fib, of the program not recorded',
            alone,
            [{ ours: spanning, most: 2.5 }],
            [publishing, ...compilers.map(({ name }) => name)],
          ),
          times('span-fib-recorded.1', 'fib, of the program recorded without', publishing, []),
        ],
      },
      {
        contenders: packages({ name: 'sort', processors: 1, span: true }, []),
        rows: [
          times('span-sort.1', 'quicksort of 200,000 numbers, of the program recorded without', publishing, [
            { ours: spanning, most: 1.05 },
          ]),
        ],
      },
    ],
  }),
};
