/**
 * Other recorded processes of the launched program, such as forked workers. CPUs that they use are neither idle nor
 * available to this process. Formulas: docs/reference/findings.md, "Other processes of the program". Pure functions.
 */
import { u16 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';

/** The mean number of CPUs that they used. */
export const relatedCpusOf = ({ head }: RawProfile): number => head.relatedMilli / 1000;

/**
 * The processors available to this process: without those that the others used, but never fewer than it used itself.
 */
export function withoutRelated(raw: RawProfile): RawProfile {
  const { head, balance } = raw;
  const theirs = Math.round(relatedCpusOf(raw));
  if (theirs === 0) return raw;
  let used = 1;
  for (let k = 0; k < balance.ns.length; k++)
    if (balance.ns[k] !== 0) used = Math.max(used, u16(balance.busy, k) + u16(balance.spinning, k));
  const processors = Math.min(head.processors, Math.max(used, head.processors - theirs));
  return processors === head.processors ? raw : { ...raw, head: { ...head, processors } };
}
