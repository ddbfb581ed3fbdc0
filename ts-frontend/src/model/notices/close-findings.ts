/** Notice that the first two findings are so close that another run may order them differently. Pure. */
import type { FindingContext } from '../evidence/context.js';
import type { CloseFindingsNotice } from '../result/notices.js';
import { ifRemoved } from '../evidence/threads/critical-threads.js';
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
/** Code is close if what counts of it is this many times what counts of another finding, or the reverse, at most. */
const closeCode = 1.3;

/** Whether code comes first, or does not, is decided by a rule of its own (docs/reference/findings.md). */
function closeToCode({ compared }: FindingContext, findings: readonly Finding[]): CloseFindingsNotice[] {
  const at = findings.findIndex(({ kind, entity }) => kind === 'optimize' && entity === compared?.entity);
  if (compared === null || at < 0 || findings.length < 2) return [];
  const { ns, othersNs } = compared;
  if (Math.max(ns, othersNs) > closeCode * Math.min(ns, othersNs)) return [];
  const [firstNs, secondNs] = at === 0 ? [ns, othersNs] : [othersNs, ns];
  return [{ form: 'close-findings', other: Math.max(1, at), firstNs, secondNs, code: true }];
}

export function closeFindings(context: FindingContext, findings: readonly Finding[]): CloseFindingsNotice[] {
  const [first, second] = findings;
  if (first === undefined || second === undefined) return [];
  if (first.kind === 'optimize' || second.kind === 'optimize') return closeToCode(context, findings);
  const [one, other] = [worthOf(first), worthOf(second)];
  if (other.ns > one.ns || other.ns < leastPart * one.ns || other.highNs < one.lowNs)
    return closeToCode(context, findings);
  return [{ form: 'close-findings', other: 1, firstNs: one.ns, secondNs: other.ns, code: false }];
}
