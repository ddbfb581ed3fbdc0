/**
 * How long the run would take on other numbers of processors (docs/reference/path.md, "Prediction"). Pure.
 * Sources: Brent 1974 and Graham 1969 for the bounds of greedy schedules; the estimate by levels is ours.
 */

export interface Prediction {
  processors: number;
  ns: number; // estimate
  lowNs: number; // lower bound: no schedule is shorter
  highNs: number; // upper bound: no greedy schedule is longer
}
interface PredictionInput {
  workNs: number;
  spanNs: number;
  leastNs: number; // lower bound for any number of processors: the typical span, or the time for which one lock is held
  levels: Float64Array; // work by the length of the longest chain before it, in levels of levelNs
  levelNs: number;
}

/** From 1 to 1,024, with growing distances. */
const predictedProcessors: readonly number[] = [
  ...Array.from({ length: 64 }, (_, k) => k + 1),
  ...Array.from({ length: 12 }, (_, k) => 64 + 16 * (k + 1)),
  ...Array.from({ length: 12 }, (_, k) => 256 + 64 * (k + 1)),
];

export function predictions(input: PredictionInput): Prediction[] {
  return predictedProcessors.map((processors) => predict(input, processors));
}

/** Each level takes as long as its part of the chain or, if that is longer, as the processors take for its work. */
function predict({ workNs, spanNs, leastNs, levels, levelNs }: PredictionInput, processors: number): Prediction {
  const lowNs = Math.max(workNs / processors, leastNs);
  const highNs = Math.max(lowNs, workNs / processors + (1 - 1 / processors) * spanNs);
  let ns = 0;
  levels.forEach((work, k) => {
    const width = Math.min(levelNs, Math.max(0, spanNs - k * levelNs));
    ns += Math.max(width, work / processors);
  });
  return { processors, ns: Math.min(highNs, Math.max(lowNs, ns)), lowNs, highNs };
}
