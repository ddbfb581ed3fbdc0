/** Whether a report says what was registered. Pure. */
import type { Finding, Model } from '../../ts-frontend/src/model/index.js';
import { findingSentences } from '../../ts-frontend/src/render/findings/index.js';
import type { Registered } from './program.js';

export type Verdict = 'right' | 'half' | 'wrong' | 'silent';

const isOfKind = ({ kind }: Finding, { kinds }: Registered): boolean => kinds.includes(kind);
const names = (model: Model, finding: Finding, { subject }: Registered): boolean =>
  subject.test(`${finding.name} ${findingSentences(model, finding, { ascii: true }).text}`);

/**
 * half: another finding says it, or the first one has the kind but not the subject, or the subject but not the kind.
 */
export function verdictOf(model: Model, registered: Registered): Verdict {
  const [first, ...others] = model.findings;
  if (!first) return 'silent';
  const kind = isOfKind(first, registered),
    subject = names(model, first, registered);
  if (kind && subject) return 'right';
  return kind || others.some((one) => isOfKind(one, registered) && names(model, one, registered)) ? 'half' : 'wrong';
}

/** The finding that names the registered cause. */
export const namingOf = (model: Model, registered: Registered): Finding | undefined =>
  model.findings.find((one) => isOfKind(one, registered) && names(model, one, registered));

/** What it promises for the registered change, as a part of the elapsed time; undefined: it does not name it. */
export function promised(model: Model, registered: Registered): number | undefined {
  const finding = namingOf(model, registered);
  return finding ? (finding.kind === 'serial' ? finding.costNs : finding.savingNs) / model.elapsedNs : undefined;
}
