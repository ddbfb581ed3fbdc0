/** What the machine, other programs and the recording did to a run: waits for CPUs, limits, kernel counts, slowdown. */

/**
 * How long the program's kernel threads had CPUs, or were runnable and waited for one (docs/reference/metrics.md,
 * section 6). All 0: not known.
 */
export interface CpuWait {
  runNs: number;
  waitNs: number;
  ownNs: number; // upper bound: part of waitNs because the program had more runnable threads than CPUs
  limitNs: number; // part of waitNs because of the limit of a control group (docs/reference/metrics.md, section 6)
  othersNs: number; // lower bound: part of waitNs because other programs had the CPUs
  lateNs: number; // part of othersNs while other threads of the program executed, so that it may have come late
  share: number; // waitNs / (runNs + waitNs)
}

/**
 * What keeps threads from CPUs that the machine has, apart from other programs (docs/reference/metrics.md, section 6,
 * "Limits of CPUs").
 */
export interface CpuLimits {
  online: number; // CPUs of the machine
  allowed: number; // CPUs that the process could use when recording began
  quota: number | null; // the least limit of its control groups, in CPUs; null: there is none, or it is not known
  // of that control group: its periods, those in which the limit was reached, and how long CPUs then stood still,
  // summed over CPUs
  periods: number;
  throttledPeriods: number;
  throttledNs: number;
  // While the runnable threads could use fewer CPUs than there are for them: the fewest CPUs that they could use, how
  // long that was, what would be saved if they could use all, and how long threads waited; null: never
  confined: { cpus: number; ns: number; savingNs: number; waitNs: number } | null;
}

/** What the kernel counted of the whole program, ended threads included (docs/reference/metrics.md, section 6). */
export interface KernelUsage {
  ns: number; // time covered
  userNs: number;
  systemNs: number;
  cpusUsed: number; // mean number of CPUs used: (userNs + systemNs) / ns
  cpus: number; // number of CPUs that the program may use
  switches: { voluntary: number; involuntary: number } | null; // null: not known (yet)
  faults: { minor: number; major: number };
  residentBytes: number; // maximum resident memory; 0: not known
  // calls that read and write files, pipes and sockets; null: not known
  calls: { reads: number; writes: number; readBytes: number; writtenBytes: number } | null;
  // counted contended operations, and a lower bound of how many of them returned without giving up the CPU
  waits: { count: number; atOnce: number } | null;
  threads: number; // number of threads seen
  threadsAtOnce: number; // maximum number of threads alive at the same time
}

export interface Compensation {
  applied: boolean;
  processorTimeNs: number; // subtracted from T(root)
  elapsedNs: number; // subtracted from NPT(root)
  clampedNs: number; // cost that was not subtracted because its procedure shows less time than that
  calls: number;
}

/** Estimate of what recording added to the elapsed time, by cause: upper and lower bounds. */
export interface Slowdown {
  hooksNs: number; // hooks of procedures, upper bound
  hooksLeastNs: number;
  locksNs: number; // acquisitions of locks and semaphores, upper bound
  locksLeastNs: number;
  waitsNs: number; // upper bound
  waitsLeastNs: number;
  regionsNs: number; // parallel regions of OpenMP and barriers in them, upper bound
  regionsLeastNs: number;
  tasksNs: number; // tasks of OpenMP and oneTBB, and threads created, in plain pthread programs; upper bound
  tasksLeastNs: number;
  spawnsNs: number;
  samplesNs: number; // samples of running threads, taken by the kernel
  timerNs: number; // the timer of these samples, when threads get a CPU that was idle or had another program's thread
  samplingNs: number; // CPU time of the sampler while the program could have used the CPU, upper bound
  samplingLeastNs: number;
  // time that the program waited at its start until it was recorded; not part of the time that the report covers
  startNs: number;
  commandNs: number; // of the command that started it, before the program began and after it had ended; in no sum
  elapsedNs: number; // the sum of those above, upper bound
  elapsedLeastNs: number;
  share: number; // relative to the elapsed time without recording, upper bound
  shareLeast: number;
  /**
   * Threads wait for each other so often that recording may change which ones wait; the effect is not included in the
   * bounds.
   */
  waitsMayChange: boolean;
  /**
   * Threads acquire locks whose cache lines move from CPU to CPU; recording may change how often. Not included either.
   */
  linesMayMove: boolean;
  /** Other programs have the CPUs: how long the program waits for its CPU after each snapshot is not included. */
  othersMayChange: boolean;
  /** Operations that occurred, but whose cost could not be measured; they are not included. */
  unmeasured: readonly ('hooks' | 'locks' | 'threads made')[];
}

/**
 * The snapshot rate was lower than requested: either each snapshot was expensive, so the intervals were lengthened, or
 * the sampler was often late.
 */
export interface FewerSnapshots {
  askedHz: number;
  reason: 'cost' | 'late';
  eachNs: number; // processor time of the sampler per snapshot
  // the real-time priority of threads of the program that kept CPUs from the sampler; 100: class SCHED_DEADLINE; 0:
  // none did, or the sampler took precedence over them
  realtime: number;
}
