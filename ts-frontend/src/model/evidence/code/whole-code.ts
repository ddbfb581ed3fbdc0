/**
 * Code that costs time while processors are idle is one piece with what it takes while all of them are busy: what is
 * saved if it takes no time is its NPT at all levels (docs/reference/findings.md, "Code"). Pure functions.
 */
import { f64, item, u16, u8 } from '../../profile/columns.js';
import { rowsOfKey } from '../../profile/row-index.js';
import { isBusy } from '../../metrics/sums.js';
import type { WholeFacts } from '../../result/facts.js';
import type { FindingContext } from '../context.js';
import type { Contexts } from './loss-contexts.js';
import { ownPath } from './own-path.js';

/** A procedure is the code of a finding if it is on the stack during this share of the cost. */
const nearlyAll = 0.75;

/** The innermost procedure, but no start routine, that has nearly all of the cost of these stacks; 0: none. */
function procedureOf(context: FindingContext, contexts: Contexts, members: readonly number[]): number {
  const { model, tables } = context;
  const { weights, byStack } = tables;
  const { tuples } = model.raw;
  const costs = new Map<number, { ns: number; depth: number }>();
  let all = 0;
  for (const node of members) {
    let ns = 0;
    for (const k of rowsOfKey(byStack, node)) {
      const b = u16(tuples.busy, k);
      if (isBusy(u8(tuples.state, k)) && b > 0 && b < model.processors)
        ns += (f64(weights, k) / b) * f64(contexts.unexplained, k);
    }
    all += ns;
    const path = ownPath(context, node);
    for (const [k, id] of path.slice(0, -1).entries()) {
      if (path.indexOf(id) !== k) continue;
      const known = costs.get(id) ?? { ns: 0, depth: 0 };
      known.ns += ns;
      known.depth = Math.max(known.depth, path.length - k);
      costs.set(id, known);
    }
  }
  const [best] = [...costs].filter(([, { ns }]) => ns >= nearlyAll * all).sort((a, b) => b[1].depth - a[1].depth);
  return best?.[0] ?? 0;
}

/** Of an upper bound, half counts in comparison with a saving that is known (docs/reference/findings.md, "Order"). */
const mostEven = 0.5;

/**
 * The procedure of which a finding about these stacks consists, with all of its time, if less work there may save more
 * than dividing it (`savingNs`).
 */
export function wholeOf(
  context: FindingContext,
  contexts: Contexts,
  members: readonly number[],
  savingNs: number,
): WholeFacts | null {
  const { model } = context;
  const id = procedureOf(context, contexts, members);
  if (id === 0) return null;
  const { nptNs: ns, byBusyNs } = item(model.entities, id);
  return mostEven * ns > savingNs ? { entity: id, ns, busyNs: f64(byBusyNs, model.processors - 1) } : null;
}
