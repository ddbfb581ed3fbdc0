/**
 * The procedures that pass data between threads (a channel's send and receive) in which threads spin
 * (docs/reference/findings.md, "Threads"). Pure functions.
 */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo, total } from '../../profile/maps.js';
import { pathOf } from '../../profile/stack-tree.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import { shownId, type FindingContext } from '../context.js';
import { passesOn } from '../wait-kinds.js';

/** The least share of the spinning that is within such procedures, and of that for which one is named. */
const mostly = 0.5,
  notable = 0.25;
const mostNamed = 2;

/** The outermost such procedures, the one with most spinning first; null if most of it is elsewhere. */
export function spinningInPassing({ model, tables }: FindingContext): number[] | null {
  const { tuples } = model.raw;
  const byProcedure = new Map<number, number>();
  let spun = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const state = u8(tuples.state, k);
    if (tuples.waiting[k] !== Waiting.object || (state !== State.spinning && state !== State.ready)) continue;
    spun += f64(tuples.ns, k);
    const passes = pathOf(tables.stacks, u32(tuples.stack, k)).find((id) => {
      const entity = item(model.entities, id);
      return entity.kind === 'procedure' && passesOn(entity);
    });
    if (passes !== undefined) addTo(byProcedure, shownId(model, passes), f64(tuples.ns, k));
  }
  const all = total(byProcedure);
  if (all === 0 || all < mostly * spun) return null;
  return [...byProcedure]
    .filter(([, ns]) => ns >= notable * all)
    .sort((a, b) => b[1] - a[1])
    .slice(0, mostNamed)
    .map(([id]) => id);
}
