/**
 * Ensures that findings and notices of one model never advise opposite changes: larger and smaller pieces, more and
 * fewer threads (docs/reference/findings.md, "One advice"). The finding whose cost was measured directly (overhead of
 * threads, threads that take CPUs from others) decides; other findings drop that part of their advice if there is
 * another remedy. Pure functions.
 */
import type { Facts } from '../result/facts.js';
import type { Advice } from '../result/finding-kinds.js';
import type { Finding } from '../result/types.js';

/**
 * Findings with an alternative remedy: an even division, work for all processors, a faster stage, passing data on
 * earlier.
 */
const flexible: ReadonlySet<Facts['form']> = new Set([
  'too-few-threads',
  'uneven-division',
  'slowest-stage',
  'passed-data',
] as const);
const axes = ['pieces', 'threads'] as const satisfies readonly (keyof Advice)[];

/**
 * The findings that remain, in their order; of two that contradict each other without an alternative, the one that
 * saves more.
 */
export function reconciled(findings: readonly Finding[]): Finding[] {
  let kept = [...findings];
  for (const axis of axes) {
    const advising = kept.filter(({ advice }) => advice[axis] !== null).sort((a, b) => b.savingNs - a.savingNs);
    const decides = advising.find(({ facts }) => !flexible.has(facts.form)) ?? advising[0];
    if (!decides) continue;
    const isOpposed = ({ advice }: Finding): boolean => advice[axis] !== null && advice[axis] !== decides.advice[axis];
    kept = kept.filter((one) => !isOpposed(one) || flexible.has(one.facts.form));
    for (const one of kept) if (isOpposed(one)) one.advice = { ...one.advice, [axis]: null };
  }
  return kept;
}

/** The part of a notice's advice that no finding contradicts. */
export function unopposed(advice: Advice, findings: readonly Finding[]): Advice {
  const kept = { ...advice };
  for (const axis of axes)
    if (findings.some(({ advice: its }) => its[axis] !== null && its[axis] !== advice[axis])) kept[axis] = null;
  return kept;
}

/** Advice in both directions, of findings or notices, which would be an error of the model. */
export function contradictions(advising: readonly { advice: Advice }[]): string[] {
  return axes.flatMap((axis) => {
    const ways = [...new Set(advising.map(({ advice }) => advice[axis]).filter((way) => way !== null))];
    return ways.length > 1 ? [`findings advise ${ways.join(' and ')} ${axis}`] : [];
  });
}
