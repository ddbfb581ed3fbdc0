/**
 * The definition of a benchmark: its contenders, what is measured, and its targets. One file for each benchmark in
 * ../benches.
 */

/** The results of one execution, by name; "ns" if there is only one. */
export type Readings = Readonly<Record<string, number>>;

export interface Contender {
  name: string;
  /** Not Quartz and not part of Quartz: takes part in "best peer". */
  peer: boolean;
  /** Why it cannot run here: shown instead of a number. */
  missing?: string;
  take: () => Promise<Readings>;
}

export interface Target {
  ours: string;
  /** A contender, "best peer", or absent if the value itself is bounded. */
  against?: string;
  most: number;
  /** A ratio equal to the bound is not good enough: it has to be less. */
  ahead?: boolean;
}

export interface RowPlan {
  id: string;
  what: string;
  unit: string;
  reading?: string;
  /** Computes the value of a contender from the results of all in one round; default: its own result. */
  value?: (of: (contender: string) => number, contender: string) => number;
  /** The contenders shown in the row; default: all of its trial. */
  shown?: readonly string[];
  /** Results shown beside the value, as [result, its name]. */
  beside?: readonly (readonly [string, string])[];
  targets: readonly Target[];
}

/** Contenders that run alternately, round by round, and the rows computed from them. */
export interface Trial {
  contenders: readonly Contender[];
  rows: readonly RowPlan[];
  /** If one execution takes long: the maximum number of rounds. */
  mostRounds?: number;
}

export interface Combined {
  row: RowPlan;
  of: readonly string[];
}

export interface Plan {
  trials: readonly Trial[];
  /** Rows that are the geometric mean of others, contender by contender and round by round. */
  combined?: readonly Combined[];
}

export interface Bench {
  name: string;
  title: string;
  /** What it excludes, so that only the cost in question remains. */
  isolates: string;
  plan: () => Promise<Plan> | Plan;
}
