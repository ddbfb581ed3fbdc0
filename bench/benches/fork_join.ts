/**
 * Fork-join programs and parallel loops. Isolates nothing: these are small programs that do little but create tasks,
 * from one that does nothing to a quicksort, with the same source for every system (bench/peers/fork_join.h).
 */
import type { Bench, Target, Trial } from '../harness/bench.js';
import { alone, forkJoinPeers, packages, publishing } from '../harness/packages.js';
import { processorsText } from '../harness/processors.js';

/** Peers that only have tasks: their libraries have no loops over a range. */
const onlyTasks: readonly string[] = ['lace', 'libfork'];
const taskSystems: readonly string[] = [...forkJoinPeers, ...onlyTasks];
const withoutLoops = (peer: string): boolean => onlyTasks.includes(peer);
const isLoop = (name: string): boolean => name.startsWith('loop') || name === 'reduce';

const cases: readonly (readonly [string, string])[] = [
  ['queens', '10 queens, a task for each free place (35,000)'],
  ['tree', 'unbalanced tree search, a task for each node (some 25,000)'],
  ['matrix', 'matrix multiplication, 256 by 256, down to 32 by quarters (584 tasks)'],
  ['sort', 'quicksort of 200,000 numbers, pieces of 64'],
  ['loop', 'parallel loop over 100,000 elements, a multiplication each'],
  ['loop-empty', 'parallel loop over 1,000 elements that does nothing'],
  ['loop-uneven', 'parallel loop over 2,000 elements, of which each takes longer than the one before'],
  ['reduce', 'sum over 100,000 elements'],
];

const task = (name: string, what: string, targets: readonly Target[]): Trial => ({
  contenders: packages({ name, processors: 1 }, taskSystems),
  rows: [{ id: `${name}.1`, what: `${what}, 1 processor`, unit: 'ns', targets }],
});
/** If a loop takes most of the time, clang's code for it would be compared with gcc's, so libomp does not take part. */
const loops: readonly string[] = ['matrix', 'loop', 'loop-uneven', 'reduce'];

const program = ([name, what]: readonly [string, string], processors: number): Trial => ({
  contenders: packages(
    { name, processors },
    taskSystems.filter((one) => (one !== 'libomp' || !loops.includes(name)) && !(withoutLoops(one) && isLoop(name))),
  ),
  rows: [
    {
      id: `${name}.${processors}`,
      what: `${what}, ${processorsText(processors)}`,
      unit: 'ns',
      targets: [{ ours: alone, against: 'best peer', most: 1 }],
    },
  ],
});

export const forkJoin: Bench = {
  name: 'fork-join',
  title: 'Fork-join programs and loops',
  isolates:
    'Small programs that do little but make tasks, and loops over few elements; of each system the same source. A ' +
    'run of the whole program is one operation, but for the first two rows, where it is one task that does nothing. ' +
    "On 1 processor time is the process's CPU time, on 2 elapsed time.",
  plan: () => ({
    trials: [
      task('task', 'spawn one task, wait for it', [
        { ours: alone, most: 4 },
        { ours: publishing, most: 12 },
      ]),
      task('task-batch', 'one of 1,000 tasks spawned, then waited for', []),
      ...[1, 2].flatMap((processors) => cases.map((one) => program(one, processors))),
    ],
  }),
};
