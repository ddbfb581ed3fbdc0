/** What limits programs, and what would help: the kinds of findings (docs/reference/findings.md). */
export const findingKinds = [
  'serial', // code runs alone while processors have nothing to do
  'lock-contention', // threads wait, blocked, for a lock while processors have nothing to do
  'spinning', // processors burn waiting
  'imbalance', // some threads have more work than the others that wait for them (barrier, join)
  'pipeline', // one stage is slower than the others, which wait for it
  'dependency', // threads that do the same wait for each other's results
  'starvation', // fewer threads than processors, and nobody waits for an object
  'io', // reading or writing that is not overlapped
  'processes', // waiting for other processes (MPI)
  'oversubscription', // more threads can run than there are CPUs; it costs where some of them spin
  'sharing', // threads write one cache line alternately
  'kernel', // the kernel's work on behalf of the program
  'overhead', // the thread package's own work, or waking threads: grain too fine
  'optimize', // parallel enough: only less work helps
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
  | 'fewer-calls'
  | 'separate-data'
  | 'overlap-io'
  | 'balance-processes'
  | 'optimize';
