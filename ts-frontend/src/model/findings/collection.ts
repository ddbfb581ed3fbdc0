/**
 * Findings about garbage collection by a run-time: one cause, even if none of its procedures takes much
 * (docs/reference/findings.md, "Garbage collection"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { allocatingMost } from '../evidence/code/allocating.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { f64, item, u16, u32 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import { State } from '../profile/raw-profile.js';
import type { Entity, Finding } from '../result/types.js';

/** The least share of the elapsed time that is reported. */
const leastPart = 0.1;
/** The assumed reduction: a tenth of the collections take a tenth of the time. */
const fewer = 10;

const collects = (entity: Entity): boolean => isFor(entity, Purpose.collection);

export function collectionFindings(context: FindingContext): Finding[] {
  const { model, tables, least } = context;
  const { tuples } = model.raw;
  const { stacks, weights } = tables;
  const isCollecting = Uint8Array.from(model.entities, (entity) => (collects(entity) ? 1 : 0));
  const isBelow = new Uint8Array(stacks.count); // by node: whether a collecting procedure is on its path
  for (let n = 1; n < stacks.count; n++)
    isBelow[n] = isBelow[u32(stacks.parent, n)] === 1 || isCollecting[u32(stacks.entity, n)] === 1 ? 1 : 0;
  let cost = 0,
    busy = 0,
    spun = 0;
  const byThread = new Map<number, number>();
  const members = new Set<number>();
  for (let k = 0; k < weights.length; k++) {
    if (tuples.state[k] !== State.useful) continue;
    const thread = u32(tuples.thread, k);
    if (isCollecting[thread] !== 1 && isBelow[u32(tuples.stack, k)] !== 1) continue;
    const npt = f64(weights, k) / Math.max(1, u16(tuples.busy, k));
    cost += npt;
    busy += f64(weights, k);
    spun += npt * u16(tuples.spinning, k);
    if (isCollecting[thread] === 1) members.add(thread);
    addTo(byThread, shownId(model, thread), f64(weights, k));
  }
  const savesNs = cost * (1 - 1 / fewer);
  if (cost < Math.max(least, leastPart * model.elapsedNs)) return [];
  const { idealNs } = withoutWaiting(
    context,
    (k) => isCollecting[u32(tuples.thread, k)] === 1 || isBelow[u32(tuples.stack, k)] === 1,
  );
  const allocating = allocatingMost(context);
  const mostNs = Math.max(savesNs, idealNs);
  const who = [...byThread].sort((a, b) => b[1] - a[1]).map(([id]) => id);
  return [
    findingOf(model, {
      entity: item(who, 0),
      kind: 'overhead',
      change: 'coarsen',
      costNs: Math.max(cost, mostNs),
      savingNs: (savesNs + mostNs) / 2,
      processorUse: processorUseOf(model.processors, busy / cost, spun / cost),
      facts: {
        form: 'collection',
        share: busy / Math.max(1, model.root.processorTimeNs),
        fewer,
        savesNs,
        mostNs,
        allocating,
      },
      related: [...who.slice(1), ...members],
    }),
  ];
}
