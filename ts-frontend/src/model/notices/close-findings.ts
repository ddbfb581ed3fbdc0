/** Whether the first two findings are as large as each other, so that another run may order them otherwise. Pure. */
import type { CloseFindingsNotice } from '../result/notices.js';
import type { Finding } from '../result/types.js';

/** What findings are ordered by, with the interval that samples leave of it. */
function worthOf({ kind, costNs, costCi95, savingNs, bound }: Finding): { ns: number; lowNs: number; highNs: number } {
  const ns = Math.min(kind === 'serial' ? costNs : savingNs, bound?.mostNs ?? Infinity);
  const part = costNs > 0 ? ns / costNs : 0;
  return { ns, lowNs: part * costCi95.lowNs, highNs: part * costCi95.highNs };
}

/** Less than this part of the first one is less, whatever few samples leave open. */
const leastPart = 0.5;

export function closeFindings([first, second]: readonly Finding[]): CloseFindingsNotice[] {
  // Code to optimize stands where it does by a rule of its own.
  if (first === undefined || second === undefined || first.kind === 'optimize' || second.kind === 'optimize') return [];
  const [one, other] = [worthOf(first), worthOf(second)];
  if (other.ns > one.ns || other.ns < leastPart * one.ns || other.highNs < one.lowNs) return [];
  return [{ form: 'close-findings', firstNs: one.ns, secondNs: other.ns }];
}
