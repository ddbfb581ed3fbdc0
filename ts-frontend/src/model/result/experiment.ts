/**
 * What an experiment with several runs of a program has shown, as data (docs/guide/measuring.md): what recording costs,
 * what a change gains, and whether runs differ. Sentences are made of it in render/parts/experiment.ts, and JSON shows
 * it as it is. Times are nanoseconds, shares are of 1.
 */
import type { FindingKind } from './finding-kinds.js';

/** What a run took, as the kernel counts it: child processes that it waited for have their part in user and system. */
export interface RunTimes {
  elapsedNs: number;
  userNs: number;
  systemNs: number;
}

/** How a run was made: as it was asked for, without Quartz and recorded; or changed, without Quartz and recorded. */
export type Version = 'unrecorded' | 'recorded' | 'changed' | 'changed-recorded';
export interface ExperimentRun extends RunTimes {
  number: number; // in the order in which they ran, from 1
  round: number; // 0: in no round; it counts in no comparison of times
  version: Version;
  change: number | null; // of the changed ones, which: index into Experiment.changes
}

/** A ratio of times with its 95 % interval. */
export interface Ratio {
  ratio: number;
  low: number;
  high: number;
}

/** Times of two versions of which each round has one run each. */
export interface PairedTimes {
  rounds: number;
  beforeNs: number; // median elapsed times
  afterNs: number;
  elapsed: Ratio | null; // after / before; null: too few rounds
  processor: Ratio | null; // the same of user and system time together; null also: one of them was 0
}

/** By how much recording slows the program, measured, and what the model says of the run that the report is of. */
export interface RecordingCost extends PairedTimes {
  estimated: { least: number; most: number | null }; // slowdown, shares; null: without bound
  verdict: 'as-estimated' | 'more' | 'less' | null; // null: not known
}

/** What a change of the user's does. */
export interface ChangeTrial extends PairedTimes {
  change: string; // as it was written
  profile: string | null; // of one recorded run of it
  verdict: 'faster' | 'slower' | 'undecided';
}

/** What an experiment says of a finding whose change it tried. */
export interface Verification {
  change: number; // index into Experiment.changes
  promised: { share: number; low: number; high: number } | null; // of the elapsed time; null: the finding promises none
  gain: { share: number; low: number; high: number };
  verdict: 'verified' | 'less' | 'not-confirmed' | 'undecided';
}

export interface Mode {
  runs: number[]; // their numbers, in the order in which they ran
  medianNs: number;
  profile: string | null; // of the run in the middle
}
/** Elapsed times of recorded runs fall into two groups. */
export interface Modes {
  dip: number;
  critical: number; // dip that so many runs with one mode rarely exceed
  gap: number; // between both groups, in spreads of the one that is spread more; at most 1000
  apart: boolean; // by that gap: it is wide, and there are several runs on both sides; else by the dip
  fast: Mode;
  slow: Mode;
  inOrder: boolean; // all runs of one came before those of the other: the machine may have changed
  othersMayCause: boolean; // other programs kept the slow runs waiting for CPUs for half of the difference, or more
}

/** What came first in the reports of recorded runs; kind null: no finding. */
export interface FirstFinding {
  kind: FindingKind | null;
  name: string;
  runs: number;
}

export interface RecordedRuns {
  runs: number;
  kept: number; // number of the run that the report is of
  first: FirstFinding[]; // the most frequent one first
  tested: boolean; // whether they are enough to be tested for two modes
  modes: Modes | null; // null: none found, or not tested
}

export interface Experiment {
  rounds: number; // asked for
  complete: number; // of these all runs have ended well
  ended: 'done' | 'interrupted' | 'failed';
  runs: ExperimentRun[];
  recording: RecordingCost | null; // null: not measured
  changes: ChangeTrial[];
  recorded: RecordedRuns;
}
