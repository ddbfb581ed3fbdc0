/**
 * Bounds of findings' savings by "what if" answers (docs/reference/findings.md, "Bounds"): no change to the subject of
 * a finding saves more than if that took no time. Pure.
 */
import type { Finding, Model } from '../result/types.js';
import { workSpanOf } from './work-span.js';
import { freeOf } from './what-if.js';

const aboutOne: ReadonlySet<Finding['kind']> = new Set(['serial', 'imbalance', 'lock-contention', 'optimize']);

/** For findings about whose subject there is a "what if" answer: sets `whatIf`, and limits the saving accordingly. */
export function boundByWhatIf(model: Model, findings: readonly Finding[]): void {
  const span = model.raw.whatIf.length > 0 ? workSpanOf(model) : null;
  if (span === null) return;
  for (const finding of findings) {
    const isAboutOne = aboutOne.has(finding.kind) && finding.facts.form !== 'allocation'; // a sum over many
    const answer = isAboutOne ? freeOf(model, span.whatIf, finding.entity) : undefined;
    if (answer === undefined || answer.spanNs === null || answer.workNs === null) continue;
    // No schedule of the remaining work is shorter.
    const mostNs = Math.max(0, model.elapsedNs - Math.max(answer.spanNs, answer.workNs / model.processors));
    finding.whatIf = { spanNs: answer.spanNs, workNs: answer.workNs, mostNs, tighter: mostNs < finding.savingNs };
    const { lowNs, highNs } = finding.savingCi95;
    finding.savingNs = Math.min(finding.savingNs, mostNs);
    finding.savingCi95 = { lowNs: Math.min(lowNs, mostNs), highNs: Math.min(highNs, mostNs) };
  }
}
