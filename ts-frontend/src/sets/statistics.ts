/** Statistics over ranks (docs/reference/sets.md, "Metrics"). Pure functions. */
import { item } from '../model/index.js';
import type { RowOf } from './tables.js';

/** The median of sorted values; the mean of the middle two if their number is even. */
function medianOfSorted(values: Float64Array): number {
  const n = values.length;
  if (n === 0) return 0;
  const half = Math.floor(n / 2);
  return n % 2 === 1 ? item(values, half) : (item(values, half - 1) + item(values, half)) / 2;
}
export const medianOf = (values: Float64Array): number => medianOfSorted(values.slice().sort());

/** A modified z-score above this is an outlier (Iglewicz and Hoaglin 1993). */
export const outlierScore = 3.5;
/** Factors that scale the median and the mean absolute deviation to the standard deviation of a normal distribution. */
export const medianScale = 0.6745;
export const meanScale = 1.253314;
/** The least number of ranks for which outliers are determined. */
export const leastRanks = 5;
/** The least distance of an outlier from the median, as a share of the job's time. */
export const leastDistance = 0.01;

export interface Spread {
  median: number;
  scale: number; // a distance from the median divided by this is the score; 0 if all values are equal
}

function spreadOf(values: Float64Array): Spread {
  const median = medianOf(values);
  const distances = values.map((value) => Math.abs(value - median));
  const mad = medianOf(distances);
  if (mad > 0) return { median, scale: mad / medianScale };
  const mean = distances.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
  return { median, scale: mean * meanScale };
}

/** The values, by member, that are outliers. */
export function outliersOf(values: Float64Array, least: number): { member: number; score: number; median: number }[] {
  if (values.length < leastRanks) return [];
  const { median, scale } = spreadOf(values);
  if (scale === 0) return [];
  const found: { member: number; score: number; median: number }[] = [];
  values.forEach((value, member) => {
    const score = (value - median) / scale;
    if (Math.abs(score) > outlierScore && Math.abs(value - median) >= least) found.push({ member, score, median });
  });
  return found;
}

/** A quantity over all ranks; ranks without it count as 0. */
class Quantity {
  sum = 0;
  core = 0; // sum of value * processors
  min = Infinity;
  minMember = -1;
  max = 0;
  maxMember = -1;
  add(value: number, member: number, processors: number): void {
    this.sum += value;
    this.core += value * processors;
    if (value < this.min) {
      this.min = value;
      this.minMember = member;
    }
    if (value > this.max || this.maxMember < 0) {
      this.max = value;
      this.maxMember = member;
    }
  }
}

class Totals {
  ranks = 0;
  all = 0; // members 0 to all - 1 have a value; `all` is the first one without
  readonly npt = new Quantity();
  readonly self = new Quantity();
  readonly wait = new Quantity();
  readonly alone = new Quantity();
  beside = 0; // sums
  blocked = 0;
}

/** Sums the costs of ranks, one rank at a time; memory is proportional to the number of entities, not of ranks. */
export class Summary {
  readonly #of: Totals[] = [];
  #members = 0;

  add({ member, processors }: RowOf<'ranks'>, costs: readonly RowOf<'costs'>[]): void {
    this.#members = member + 1;
    for (const row of costs) {
      const totals = (this.#of[row.entity] ??= new Totals());
      totals.ranks++;
      if (totals.all === member) totals.all++;
      totals.npt.add(row.npt_ns, member, processors);
      totals.self.add(row.npt_self_ns, member, processors);
      totals.wait.add(row.wait_ns, member, processors);
      totals.alone.add(row.alone_ns, member, processors);
      totals.beside += row.beside_ns;
      totals.blocked += row.blocked_ns;
    }
  }

  rows(): RowOf<'summary'>[] {
    const n = this.#members;
    const least = (quantity: Quantity, { all }: Totals): [number, number] =>
      all < n && (quantity.min > 0 || all < quantity.minMember) ? [0, all] : [quantity.min, quantity.minMember];
    return this.#of.flatMap((totals, entity) => {
      const { npt, self, wait, alone } = totals;
      const [waitMin, waitMinMember] = least(wait, totals);
      const [aloneMin, aloneMinMember] = least(alone, totals);
      return [
        {
          entity,
          ranks: totals.ranks,
          npt_mean_ns: npt.sum / n,
          npt_min_ns: least(npt, totals)[0],
          npt_max_ns: npt.max,
          npt_max_member: npt.maxMember,
          npt_core_ns: npt.core,
          self_mean_ns: self.sum / n,
          self_max_ns: self.max,
          self_core_ns: self.core,
          wait_mean_ns: wait.sum / n,
          wait_min_ns: waitMin,
          wait_min_member: waitMinMember,
          wait_max_ns: wait.max,
          wait_max_member: wait.maxMember,
          beside_mean_ns: totals.beside / n,
          blocked_mean_ns: totals.blocked / n,
          alone_mean_ns: alone.sum / n,
          alone_min_ns: aloneMin,
          alone_min_member: aloneMinMember,
          alone_max_ns: alone.max,
          alone_max_member: alone.maxMember,
          alone_core_ns: alone.core,
        },
      ];
    });
  }
}

/** The columns of `ranks` that are compared over ranks. */
export const rankQuantities = [
  'elapsed_ns',
  'useful_ns',
  'overhead_ns',
  'spinning_ns',
  'idle_ns',
  'mpi_ns',
  'cpu_wait_ns',
] as const;
