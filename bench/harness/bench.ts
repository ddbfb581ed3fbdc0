/** What a benchmark is: who competes, what is measured, which targets hold. One benchmark a file in ../benches. */

/** What one execution reports, by name; "ns" where it is one value. */
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
  /** A contender, "best peer", or absent where the value itself is bounded. */
  against?: string;
  most: number;
  /** The bound itself is not good enough: ahead, not level. */
  ahead?: boolean;
}

export interface RowPlan {
  id: string;
  what: string;
  unit: string;
  reading?: string;
  /** From what the contenders read in one round to the value of one of them; default: its own reading. */
  value?: (of: (contender: string) => number, contender: string) => number;
  /** The contenders that the row has; default: all of its trial. */
  shown?: readonly string[];
  /** Readings shown beside the value, as [reading, what it is called]. */
  beside?: readonly (readonly [string, string])[];
  targets: readonly Target[];
}

/** Contenders that take turns, round by round, and the rows that come of it. */
export interface Trial {
  contenders: readonly Contender[];
  rows: readonly RowPlan[];
  /** Where one execution takes long: at most so many rounds. */
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
  /** What it leaves out, so that what is left is the thing itself. */
  isolates: string;
  plan: () => Promise<Plan> | Plan;
}
