/** Findings of a job whose savings do not add up, since they are partly about the same time. Pure functions. */
import type { JobFinding } from './types.js';

/** `numbers`: of the findings, from 1 on. */
export type Overlap =
  /** They are about more waiting than there is: several threads of a rank wait at the same time. */
  | { form: 'waits'; numbers: number[]; savingNs: number; waitingNs: number }
  /** A rank that waits for CPUs comes late, too. */
  | { form: 'cpus'; numbers: number[] };

const waits: readonly JobFinding['kind'][] = ['late-ranks', 'varying', 'communication'];
const tolerance = 1.01;

/** `waitingNs`: how long a rank waits in MPI, mean over the ranks. */
export function overlapsOf(findings: readonly JobFinding[], waitingNs: number): Overlap[] {
  const numbersOf = (kinds: readonly JobFinding['kind'][]): number[] =>
    findings.flatMap(({ kind }, k) => (kinds.includes(kind) ? [k + 1] : []));
  const found: Overlap[] = [];
  const waiting = numbersOf(waits);
  const savingNs = waiting.reduce((sum, k) => sum + (findings[k - 1]?.savingNs ?? 0), 0);
  if (waiting.length > 1 && savingNs > tolerance * waitingNs)
    found.push({ form: 'waits', numbers: waiting, savingNs, waitingNs });
  const late = numbersOf(['late-ranks', 'varying']);
  if (late.length > 0 && numbersOf(['cpus']).length > 0)
    found.push({ form: 'cpus', numbers: numbersOf(['late-ranks', 'varying', 'cpus']) });
  return found;
}
