/**
 * What findings promise, where "what if" knows better (docs/reference/findings.md, "Bounds"): no change to what a
 * finding is about saves more than if that took no time at all. Pure.
 */
import type { Finding, Model } from '../result/types.js';
import { workSpanOf } from './work-span.js';
import { freeOf } from './what-if.js';

const aboutOne: ReadonlySet<Finding['kind']> = new Set(['serial', 'imbalance', 'lock-contention', 'optimize']);

/** Sets `whatIf` of those that one is asked about, and what they save to no more than that. */
export function boundByWhatIf(model: Model, findings: readonly Finding[]): void {
  const span = model.raw.whatIf.length > 0 ? workSpanOf(model) : null;
  if (span === null) return;
  for (const finding of findings) {
    const answer = aboutOne.has(finding.kind) ? freeOf(model, span.whatIf, finding.entity) : undefined;
    if (answer === undefined || answer.spanNs === null || answer.workNs === null) continue;
    // No schedule of what would be left is shorter.
    const mostNs = Math.max(0, model.elapsedNs - Math.max(answer.spanNs, answer.workNs / model.processors));
    finding.whatIf = { spanNs: answer.spanNs, workNs: answer.workNs, mostNs, tighter: mostNs < finding.savingNs };
    const { lowNs, highNs } = finding.savingCi95;
    finding.savingNs = Math.min(finding.savingNs, mostNs);
    finding.savingCi95 = { lowNs: Math.min(lowNs, mostNs), highNs: Math.min(highNs, mostNs) };
  }
}
