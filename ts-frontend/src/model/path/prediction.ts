/**
 * How long the run would take on other numbers of processors (docs/reference/path.md, "Prediction"). Pure.
 * Sources: Brent 1974 and Graham 1969 for the bounds of greedy schedules; the estimate by levels is ours.
 */

export interface Prediction {
  processors: number;
  ns: number; // estimate
  lowNs: number; // no schedule is shorter
  highNs: number; // no greedy schedule is longer
}
export interface PredictionInput {
  workNs: number;
  spanNs: number;
  leastNs: number; // no number of processors takes less: the typical span, the time that one lock is held
  levels: Float64Array; // work by the length of the chain to it
  levelNs: number;
}

/** From 1 to 1,024, ever further apart. */
export const predictedProcessors: readonly number[] = [
  ...Array.from({ length: 64 }, (_, k) => k + 1),
  ...Array.from({ length: 12 }, (_, k) => 64 + 16 * (k + 1)),
  ...Array.from({ length: 12 }, (_, k) => 256 + 64 * (k + 1)),
];

export function predictions(input: PredictionInput): Prediction[] {
  return predictedProcessors.map((processors) => predict(input, processors));
}

/** Each level takes as long as its chain, or, where there is more work, as the processors take for that. */
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
