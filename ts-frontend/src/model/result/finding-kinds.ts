/** What limits programs, and what would help: the kinds of findings (docs/reference/findings.md). */
export const findingKinds = [
  'serial', // code runs alone while processors are idle
  'lock-contention', // threads are blocked waiting for a lock while processors are idle
  'spinning', // processors are busy waiting
  'imbalance', // some threads have more work than the others, which wait for them (barrier, join)
  'pipeline', // one stage is slower than the others, which wait for it
  'dependency', // threads with the same role wait for each other's results
  'starvation', // fewer threads than processors, and no thread waits for an object
  'io', // input or output that does not overlap with work
  'processes', // waiting for other processes (MPI)
  'cpu-limit', // threads may not use CPUs that the machine has: affinity, or the limit of a control group
  'oversubscription', // more threads are runnable than there are CPUs; this costs time if some of them spin
  'sharing', // threads write one cache line alternately
  'kernel', // the kernel's work on behalf of the program
  'overhead', // the thread package's own work, or waking threads: the grain is too fine
  'optimize', // all processors are busy: only less work helps
] as const;
export type FindingKind = (typeof findingKinds)[number];
export type Change =
  | 'create-parallelism'
  | 'wait-less'
  | 'block-instead-of-spin'
  | 'balance'
  | 'coarsen'
  | 'finer-grain'
  | 'fewer-threads'
  | 'allow-more-cpus'
  | 'fewer-calls'
  | 'separate-data'
  | 'overlap-io'
  | 'balance-processes'
  | 'optimize';
/**
 * The direction of a change, if another finding could advise the opposite; the findings and notices of one model never
 * contradict each other (advice.ts).
 */
export interface Advice {
  pieces: 'smaller' | 'larger' | null;
  threads: 'more' | 'fewer' | null;
}
