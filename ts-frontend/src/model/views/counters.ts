/**
 * What hardware counters show about a context: cycles per instruction, and whether the code waits for memory.
 * Definitions: docs/reference/views.md. Pure.
 */
import type { CounterName } from '../profile/abi.js';
import type { RawProfile } from '../profile/raw-profile.js';
import { counterNames, costIndex, type Costs } from './costs.js';

/** The counters that were read in the recording. */
export function countersOf({ counted }: Pick<RawProfile, 'counted'>): CounterName[] {
  const seen = new Set(counted.counter);
  return counterNames.filter((_, kind) => seen.has(kind));
}

/** The count of each counter in the whole run; null: it was not read. */
export function countedInAll(raw: Pick<RawProfile, 'counted'>): Record<CounterName, number | null> {
  const known = countersOf(raw);
  const sums: (number | null)[] = counterNames.map((name) => (known.includes(name) ? 0 : null));
  raw.counted.counter.forEach((kind, k) => (sums[kind] = (sums[kind] ?? 0) + (raw.counted.amount[k] ?? 0)));
  return Object.fromEntries(counterNames.map((name, kind) => [name, sums[kind] ?? null])) as Record<
    CounterName,
    number | null
  >;
}

/** The counters that are needed to determine whether code waits for memory. */
export const needed: readonly CounterName[] = ['cycles', 'instructions', 'cacheMisses'];

/** The least number of cycles, or of completed instructions, that is significant: ten samples of each. */
const leastCounted = 200e6;
/** Code that waits for memory takes at least this many cycles per instruction ... */
const leastCycles = 1.5;
/** ... and has at least this many last-level cache misses per 1,000 instructions. */
const leastMisses = 5;

const of = (costs: Costs, name: CounterName): number => costs[costIndex[name]] ?? 0;

/** null: too few cycles or instructions were counted. */
export function cyclesPerInstruction(costs: Costs): number | null {
  const cycles = of(costs, 'cycles');
  const instructions = of(costs, 'instructions');
  return Math.min(cycles, instructions) < leastCounted ? null : cycles / instructions;
}

/** Events per 1,000 instructions; null: too few instructions were counted. */
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
