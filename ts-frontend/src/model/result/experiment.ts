/**
 * The results of an experiment with several runs of a program, as data (docs/guide/measuring.md): what recording costs,
 * what a change gains, and whether runs differ. render/parts/experiment.ts makes sentences of it; JSON contains it
 * unchanged. Times are nanoseconds, shares are fractions.
 */
import type { FindingKind } from './finding-kinds.js';

/**
 * The times of a run as counted by the kernel; user and system time include child processes that the program waited
 * for.
 */
export interface RunTimes {
  elapsedNs: number;
  userNs: number;
  systemNs: number;
}

/**
 * Versions of a run: the given command without Quartz, or recorded; the changed command without Quartz, or recorded.
 */
export type Version = 'unrecorded' | 'recorded' | 'changed' | 'changed-recorded';
export interface ExperimentRun extends RunTimes {
  number: number; // number of the run, from 1, in the order of execution
  round: number; // 0: outside all rounds; such runs are not used in comparisons of times
  version: Version;
  change: number | null; // for changed versions: index into Experiment.changes
}

/** A ratio of times with its 95 % interval. */
export interface Ratio {
  ratio: number;
  low: number;
  high: number;
}

/** Times of two versions, each with one run per round. */
export interface PairedTimes {
  rounds: number;
  beforeNs: number; // median elapsed times
  afterNs: number;
  elapsed: Ratio | null; // after / before; null: too few rounds
  processor: Ratio | null; // the ratio of user plus system time; null also if one of the times is 0
}

/** Slowdown by recording as measured, compared with the estimate for the run that the report is of. */
export interface RecordingCost extends PairedTimes {
  // estimated slowdown, fraction of the time without recording; null: no upper bound
  estimated: { least: number; most: number | null };
  verdict: 'as-estimated' | 'more' | 'less' | null; // null: not known
}

/**
 * What fewer threads, or the same ones on one CPU, show about those that there were: whether the same work takes less
 * processor time.
 */
export interface Interference {
  by: 'fewer-threads' | 'one-cpu';
  /**
   * Why it does. memory: own work of procedures takes less time, and their threads are not known to share lines; lines:
   * cache lines that several threads write; waiting: threads spin; kernel: in the kernel. none: it takes as much.
   */
  cause: 'none' | 'memory' | 'lines' | 'waiting' | 'kernel' | 'unknown';
  /** Own processor time, in the recorded runs; most saved first. */
  procedures: { entity: number; name: string; beforeNs: number; afterNs: number }[];
  variable: string; // for lines: the static variable that contains the line with most samples; '': none
  sharedCores: boolean | null; // whether CPUs that the program may use share a core; null: not known
}

/** The effect of a change that the user asked to try. */
export interface ChangeTrial extends PairedTimes {
  change: string; // the change as the user wrote it
  profile: string | null; // profile of a recorded run with the change
  verdict: 'faster' | 'slower' | 'undecided';
  interference: Interference | null; // null: the change was not fewer threads, or shows nothing
}

/** What an experiment shows about a finding whose advised change was tried. */
export interface Verification {
  change: number; // index into Experiment.changes
  // share of the elapsed time that the finding promised; null: no promise
  promised: { share: number; low: number; high: number } | null;
  gain: { share: number; low: number; high: number };
  verdict: 'verified' | 'less' | 'not-confirmed' | 'undecided';
}

export interface Mode {
  runs: number[]; // numbers of its runs, in the order of execution
  medianNs: number;
  profile: string | null; // profile of its median run
}
/** Elapsed times of recorded runs fall into two groups. */
export interface Modes {
  dip: number;
  critical: number; // value that the dip of this many runs with a single mode rarely exceeds
  gap: number; // gap between the groups, as a multiple of the larger spread; at most 1000
  // whether the modes were detected by the gap, which is wide with several runs on both sides; else by the dip
  apart: boolean;
  fast: Mode;
  slow: Mode;
  inOrder: boolean; // all runs of one mode came before those of the other: the machine may have changed
  othersMayCause: boolean; // waiting for CPUs that other programs had explains at least half of the difference
}

/** The first finding in the reports of recorded runs; kind null: no finding. */
export interface FirstFinding {
  kind: FindingKind | null;
  name: string;
  runs: number;
}

export interface RecordedRuns {
  runs: number;
  kept: number; // number of the run that the report describes
  first: FirstFinding[]; // the most frequent one first
  tested: boolean; // whether there are enough runs to test for two modes
  modes: Modes | null; // null: none found, or not tested
}

export interface Experiment {
  rounds: number; // requested number of rounds
  complete: number; // number of rounds of which all runs have ended successfully
  ended: 'done' | 'interrupted' | 'failed';
  runs: ExperimentRun[];
  recording: RecordingCost | null; // null: not measured
  changes: ChangeTrial[];
  recorded: RecordedRuns;
}
