/**
 * Findings about code that a run-time compiles while the program runs (docs/reference/findings.md, "Compilation"). Pure
 * functions.
 */
import { f64, u16, u32 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { compiling } from '../evidence/threads/background.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { cover, mostOf } from '../evidence/code/work-below.js';
import type { Finding } from '../result/types.js';

/** The least share of the elapsed time that is reported. */
const leastPart = 0.1;

export function compilationFindings(context: FindingContext): Finding[] {
  const { model, tables, least } = context;
  const { tuples } = model.raw;
  const isOf = compiling(context);
  const byThread = new Map<number, number>();
  let cost = 0,
    busy = 0,
    spinning = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    if (!isOf(k)) continue;
    const ns = f64(tables.weights, k),
      npt = ns / Math.max(1, u16(tuples.busy, k));
    cost += npt;
    busy += ns;
    spinning += npt * u16(tuples.spinning, k);
    addTo(byThread, shownId(model, u32(tuples.thread, k)), npt);
  }
  if (cost < Math.max(least, leastPart * model.elapsedNs)) return [];
  cover(context, { isOf });
  // Of threads that compile in the background, only what other threads wait for is saved.
  const savesNs = Math.min(cost, withoutWaiting(context, isOf).idealNs);
  return [
    findingOf(model, {
      entity: mostOf(byThread)?.[0] ?? 0,
      kind: 'overhead',
      change: 'coarsen',
      costNs: cost,
      savingNs: savesNs,
      processorUse: processorUseOf(model.processors, busy / cost, spinning / cost),
      facts: { form: 'compilation', share: busy / Math.max(1, model.root.processorTimeNs), savesNs },
      related: [...byThread.keys()].slice(1),
    }),
  ];
}
