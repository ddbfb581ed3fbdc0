/**
 * What hardware counters say of a context: cycles an instruction took, and whether the code waits for memory.
 * Definitions: docs/reference/views.md. Pure.
 */
import type { CounterName } from '../profile/abi.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { counterNames, costIndex, type Costs } from './costs.js';

/** Those that were read in that recording. */
export function countersOf({ counted }: Pick<RawProfile, 'counted'>): CounterName[] {
  const seen = new Set(counted.counter);
  return counterNames.filter((_, kind) => seen.has(kind));
}

/** How much each counted in the whole run; null: it was not read. */
export function countedInAll(raw: Pick<RawProfile, 'counted'>): Record<CounterName, number | null> {
  const known = countersOf(raw);
  const sums: (number | null)[] = counterNames.map((name) => (known.includes(name) ? 0 : null));
  raw.counted.counter.forEach((kind, k) => (sums[kind] = (sums[kind] ?? 0) + (raw.counted.amount[k] ?? 0)));
  return Object.fromEntries(counterNames.map((name, kind) => [name, sums[kind] ?? null])) as Record<
    CounterName,
    number | null
  >;
}

/** Without these it cannot be told whether code waits for memory. */
export const needed: readonly CounterName[] = ['cycles', 'instructions', 'cacheMisses'];

/** From so many cycles, finished instructions on: ten samples of each. */
const leastCounted = 200e6;
/** Code that waits for memory takes at least so many cycles for an instruction, */
const leastCycles = 1.5;
/** and misses the last cache at least so often in 1,000 of them. */
const leastMisses = 5;

const of = (costs: Costs, name: CounterName): number => costs[costIndex[name]] ?? 0;

/** null: too few were counted. */
export function cyclesPerInstruction(costs: Costs): number | null {
  const cycles = of(costs, 'cycles');
  const instructions = of(costs, 'instructions');
  return Math.min(cycles, instructions) < leastCounted ? null : cycles / instructions;
}

/** How often in 1,000 instructions; null: too few of these were counted. */
export function perThousand(costs: Costs, name: CounterName): number | null {
  const instructions = of(costs, 'instructions');
  return instructions < leastCounted ? null : (1000 * of(costs, name)) / instructions;
}

/** Whether most of the time is likely to be spent waiting for memory; null: not known. */
export function isMemoryBound(costs: Costs): boolean | null {
  const cycles = cyclesPerInstruction(costs);
  const misses = perThousand(costs, 'cacheMisses');
  return cycles === null || misses === null ? null : cycles >= leastCycles && misses >= leastMisses;
}
