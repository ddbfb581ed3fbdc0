/** What came of one program of the bench of truth. */
import type { Verdict } from './verdict.js';
import type { Recorded, Times } from './measure.js';
import type { Program } from './program.js';

/** What the registered change saved, measured when it was registered. */
export interface Gain {
  on: string;
  runs: number;
  before: number; // s, medians
  after: number;
}
export interface Outcome {
  program: Program;
  gain: Gain;
  verdicts: Verdict[];
  first: string; // the first findings of the runs, each once
  before: Times[];
  after: Times[];
  recorded: Recorded[];
  promised: number | undefined; // median
}
