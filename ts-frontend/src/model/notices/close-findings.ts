/** Notice that the first two findings are so close that another run may order them differently. Pure. */
import type { CloseFindingsNotice } from '../result/notices.js';
import { ifRemoved } from '../evidence/critical-threads.js';
import type { Finding } from '../result/types.js';

/** The value that findings are ordered by, with its interval by sampling. */
function worthOf(finding: Finding): { ns: number; lowNs: number; highNs: number } {
  const { costNs, costCi95, bound } = finding;
  const ns = Math.min(ifRemoved(finding), bound?.mostNs ?? Infinity);
  const part = costNs > 0 ? ns / costNs : 0;
  return { ns, lowNs: part * costCi95.lowNs, highNs: part * costCi95.highNs };
}

/** Below this share of the first one, the second is certainly less, however few samples there are. */
const leastPart = 0.5;

export function closeFindings([first, second]: readonly Finding[]): CloseFindingsNotice[] {
  // The position of code to optimize follows a rule of its own.
  if (first === undefined || second === undefined || first.kind === 'optimize' || second.kind === 'optimize') return [];
  const [one, other] = [worthOf(first), worthOf(second)];
  if (other.ns > one.ns || other.ns < leastPart * one.ns || other.highNs < one.lowNs) return [];
  return [{ form: 'close-findings', firstNs: one.ns, secondNs: other.ns }];
}
