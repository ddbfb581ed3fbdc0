/**
 * Which callers of a procedure its waits are for: a wrapper around a system call (wait for an event, read all, sleep
 * for some ms) is called for different reasons. Pure.
 */
import { item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { isNameless } from '../../metrics/public-names.js';
import type { WaitCaller } from '../../result/facts.js';
import type { FindingContext } from '../context.js';
import { shownId } from '../context.js';

/** A caller with this share of the waits is the only one: what matters is who calls it. */
const nearlyAll = 0.85;
/** Callers with a smaller share are left out. */
const leastShare = 0.1;

/** The named procedures of the program above the innermost call of `id` on the path, innermost first. */
function above({ model, tables, own }: FindingContext, node: number, id: number): number[] | null {
  const { stacks } = tables;
  const callers: number[] = [];
  let isFound = false;
  for (let n = node; n !== 0; n = u32(stacks.parent, n)) {
    const entity = shownId(model, u32(stacks.entity, n));
    if (!isFound) {
      isFound = entity === id;
      continue;
    }
    const its = item(model.entities, entity);
    if (its.kind !== 'procedure' || entity === id || entity === callers.at(-1)) continue;
    if (u8(own.hidden, n) === 0 && u8(stacks.first, n) === 1 && !isNameless(its)) callers.push(entity);
  }
  return isFound ? callers : null;
}

/** `waited`: time that a tuple counts. Empty: there is only one, or nothing is known about them. */
export function waitCallers(context: FindingContext, id: number, waited: (k: number) => number): WaitCaller[] {
  const { stack, ns } = context.model.raw.tuples;
  let paths: { callers: number[]; ns: number }[] = [];
  for (let k = 0; k < ns.length; k++) {
    const value = waited(k);
    const callers = value > 0 ? above(context, u32(stack, k), id) : null;
    if (callers) paths.push({ callers, ns: value });
  }
  const all = paths.reduce((sum, one) => sum + one.ns, 0);
  for (let level = 0; paths.length > 0; level++) {
    const shares = new Map<number, number>();
    for (const { callers, ns: value } of paths) addTo(shares, callers[level] ?? 0, value / all);
    const sorted = [...shares].sort((a, b) => b[1] - a[1]);
    const [first] = sorted;
    if (!first || first[0] === 0) return [];
    if (first[1] < nearlyAll)
      return sorted
        .filter(([entity, share]) => entity !== 0 && share >= leastShare)
        .slice(0, 3)
        .map(([entity, share]) => ({ entity, share }));
    paths = paths.filter(({ callers }) => callers[level] === first[0]);
  }
  return [];
}
