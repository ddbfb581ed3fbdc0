/** What limits a job of several ranks, as facts; sentences.ts puts them into words (docs/reference/sets.md). */
import type { Pattern } from '../waits.js';

/** An entity of the set. */
export interface Place {
  name: string;
  file: string;
  line: number;
}

/** A call at which ranks wait for others. */
export interface WaitingCall {
  call: Place;
  /** Which wait it is mostly; null where only samples are known. */
  pattern: Pattern | null;
  /** For messages: the call of the late rank; null where it is unknown, or is this one. */
  until: Place | null;
  /** Mean over the ranks that wait. */
  ns: number;
}

/** A time of the late ranks and of the others, both means over ranks. */
export interface Compared {
  ns: number;
  othersNs: number;
}

/** What late ranks do more of than others, from samples: times are means over ranks. */
export type Extra =
  /** They work longer. `factor`: all their procedures take about so many times as long. */
  | ({ form: 'work'; longerNs: number; place: (Place & Compared) | null; factor: number | null } & Compared)
  /** They alone run it. */
  | { form: 'alone'; place: Place; ns: number }
  | ({ form: 'cpus' } & Compared)
  /** They wait longer for something other than ranks, such as a file. `place`: what takes most of it. */
  | ({ form: 'waits'; place: (Place & Compared) | null } & Compared)
  | { form: 'unknown' };

interface Common {
  /** Elapsed time that it accounts for, a mean over the ranks concerned. */
  costNs: number;
  /** At most saved of the job's elapsed time; null: unknown. */
  savingNs: number | null;
}

/** Ranks that others wait for, throughout the run. */
export interface LateRanks extends Common {
  kind: 'late-ranks';
  members: number[];
  /** Numbers of the first of them. */
  ranks: number[];
  /** The host, if these are nearly all ranks of a host, and there are others. */
  host: string | null;
  waiting: number; // the number of other ranks
  calls: WaitingCall[];
  further: number; // further calls
  /** The part of the cost in which ranks waited for others that themselves waited for these. */
  indirectNs: number;
  /** Measured by samples, not by the times of calls: costs are lower bounds. */
  sampled: boolean;
  extra: Extra;
}

/** Ranks wait for each other, but different ones are late at different times. */
export interface Varying extends Common {
  kind: 'varying';
  /** Most of it is waiting for messages: ranks take turns. */
  messages: boolean;
  /** The mean number of ranks that do not wait for others. */
  atWork: number;
  calls: WaitingCall[];
  further: number;
}

/** Ranks are in calls of MPI though nobody is late. */
export interface Communication extends Common {
  kind: 'communication';
  calls: { call: Place; ns: number }[];
  further: number;
  /** There are no times of calls: part of it may be waiting for late ranks. */
  sampled: boolean;
}

/** Ranks wait for CPUs. The rank is that which waits least for others. */
export interface Cpus extends Common {
  kind: 'cpus';
  rank: number;
  host: string;
  meanNs: number; // over all ranks
  ranksOnHost: number;
  cpus: number; // CPUs that it may use
}

/** MPI_Init, MPI_Finalize and the like. */
interface StartAndEnd extends Common {
  kind: 'start-and-end';
  calls: { call: Place; ns: number }[];
}

/** Ranks that do not wait for each other end at different times. */
interface LastRank extends Common {
  kind: 'last-rank';
  rank: number;
  host: string;
  file: string;
  endNs: number; // its elapsed time
  meanNs: number; // of all ranks
  extra: Extra;
}

/** No waiting for ranks is worth a finding. */
interface Balanced extends Common {
  kind: 'balanced';
}

/** What limits a rank within its process: the first finding of its own report. */
export interface WithinRank extends Common {
  kind: 'within-rank';
  rank: number;
  file: string;
  finding: string; // its kind
  says: string; // the sentence of its report
}

/** Code that uses most of the job's core time. */
export interface Code extends Common {
  kind: 'code';
  places: {
    place: Place;
    ns: number; // NPT of its own, mean over the ranks
    coreNs: number;
    coreShare: number; // of the job's core time
  }[];
}

export type JobFinding =
  LateRanks | Varying | Communication | Cpus | StartAndEnd | LastRank | Balanced | WithinRank | Code;

/** Costs of an entity, summed over the members of a group. */
export interface Sums {
  npt: number;
  self: number;
  wait: number;
  blocked: number;
}
export type GroupSums = ReadonlyMap<number, Sums>;
