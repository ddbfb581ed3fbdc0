/** Finds the loop of a procedure in which most of some time is spent, callees included. Pure functions. */
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { rowsBy, rowsOfKey } from '../../profile/row-index.js';
import { placeOf } from '../../metrics/naming.js';
import { isBusy } from '../../metrics/sums.js';
import type { Entity } from '../../result/types.js';
import type { FindingContext } from '../context.js';

/** The least share of the time that the loop must have. */
const mostOfIt = 0.7;

/**
 * The place of the innermost loop directly in the code of `procedure` (or of a member of that group) that has most of
 * the time of these stacks; null if there is none, or if its line is not known. The time of a stack is divided among
 * its loops as it was recorded.
 */
export function hotLoop(
  { model: { entities }, tables: { places } }: FindingContext,
  procedure: number,
  byStack: ReadonlyMap<number, number>,
): string | null {
  const { raw, loops } = places;
  const { members } = item(entities, procedure);
  const those = new Set(members.length > 0 ? members : [procedure]);
  // Where a header's code is compiled into the procedure, its loops have the header's lines: they do not help a reader.
  const files = new Set([...those].map((id) => item(entities, id).file));
  const isIn = ({ file }: Entity): boolean => files.has('') || files.has(file);
  const rows = rowsBy(raw.tuples.stack, raw.stacks.parent.length);
  const byLoop = new Map<number, number>(),
    depths = new Map<number, number>();
  let all = 0;
  for (const [node, ns] of byStack) {
    all += ns;
    const tuples = [...rowsOfKey(rows, node)].filter((k) => isBusy(u8(raw.tuples.state, k)));
    const whole = tuples.reduce((sum, k) => sum + f64(raw.tuples.ns, k), 0);
    for (const k of whole > 0 ? tuples : []) {
      const its = loopsWithin(loops.stacks, entities, those, u32(loops.raw.tuples.stack, k));
      for (const [depth, loop] of its.entries()) {
        addTo(byLoop, loop, (ns * f64(raw.tuples.ns, k)) / whole);
        depths.set(loop, depth);
      }
    }
  }
  const [best] = [...byLoop]
    .filter(([loop, ns]) => ns >= mostOfIt * all && item(entities, loop).line > 0 && isIn(item(entities, loop)))
    .sort(([a], [b]) => (depths.get(b) ?? 0) - (depths.get(a) ?? 0));
  return best ? placeOf(item(entities, best[0]).file, item(entities, best[0]).line) : null;
}

/** The loops between the innermost of these procedures on a stack and the next procedure below it, outermost first. */
function loopsWithin(
  { parent, entity }: FindingContext['tables']['places']['loops']['stacks'],
  entities: FindingContext['model']['entities'],
  those: ReadonlySet<number>,
  node: number,
): number[] {
  const own: number[] = [];
  for (let n = node; n !== 0; n = u32(parent, n)) {
    const id = u32(entity, n);
    if (those.has(id)) return own.reverse();
    if (item(entities, id).rawKind === 'code-loop') own.push(id);
    else own.length = 0;
  }
  return [];
}
