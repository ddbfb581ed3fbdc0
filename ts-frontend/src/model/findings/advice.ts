/**
 * Findings of one model never advise the opposite of each other: larger pieces and smaller ones, more threads and fewer
 * (docs/reference/findings.md, "One advice"). What was measured to cost (work for threads instead of in them, threads
 * that take CPUs from others) decides; changes that can be made another way lose that part of their advice. Pure.
 */
import type { Facts } from '../result/facts.js';
import type { Advice, Finding } from '../result/types.js';

/**
 * Their remedies have another way to the same end: an even division, work for all processors, a faster stage, data
 * passed on earlier.
 */
const flexible: ReadonlySet<Facts['form']> = new Set([
  'too-few-threads',
  'uneven-division',
  'slowest-stage',
  'passed-data',
] as const);
const axes = ['pieces', 'threads'] as const satisfies readonly (keyof Advice)[];

/** The findings that stay, in their order; of two that leave no other way, the one that saves more. */
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

/** What findings advise in both directions; nothing, or it is an error of the model. */
export function contradictions(findings: readonly Pick<Finding, 'advice'>[]): string[] {
  return axes.flatMap((axis) => {
    const ways = [...new Set(findings.map(({ advice }) => advice[axis]).filter((way) => way !== null))];
    return ways.length > 1 ? [`findings advise ${ways.join(' and ')} ${axis}`] : [];
  });
}
