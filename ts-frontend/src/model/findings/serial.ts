/** Code that runs alone (docs/reference/findings.md, "Code"). Pure. */
import { item } from '../profile/columns.js';
import type { Contexts } from '../evidence/loss-contexts.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf } from '../evidence/context.js';
import type { Finding } from '../result/types.js';
import { callersOf, largestParts, meanwhile, waitingAt, type Candidate } from './candidate.js';

export function serial(findingContext: FindingContext, contexts: Contexts, candidate: Candidate): Finding {
  const { model } = findingContext;
  const { id, stats, waited, context } = candidate;
  const parts = largestParts(findingContext, candidate); // of an entity's own code: what it calls of run-time libraries
  const itself = context.self && id !== 0 && item(model.entities, id).nptNs > 1.05 * stats.npt;
  return findingOf(model, {
    entity: id,
    kind: 'serial',
    change: 'create-parallelism',
    costNs: stats.cost,
    savingNs: stats.lost,
    meanwhile: meanwhile(model, stats),
    facts: {
      form: 'serial',
      callers: callersOf(findingContext, contexts, candidate),
      itself,
      waiting: waitingAt(waited),
      parts,
      spreadNs: stats.lost,
      smaller: [],
    },
    related: [...parts, ...(waited ? [waited.object] : [])],
  });
}
