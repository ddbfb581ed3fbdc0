/**
 * Where threads acquire a contended lock. For locks that are known only by the place of their creation, which may be
 * the same line of a wrapper for all locks of a program (docs/reference/findings.md, "Names"). Pure functions.
 */
import { Purpose } from '../../profile/abi.js';
import { item } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import type { Model } from '../../result/types.js';
import { isNameless } from '../../metrics/public-names.js';
import { isRuntime } from '../code-origin.js';
import { isFor } from '../purposes.js';
import { shownId } from '../context.js';

/** The least share of the waiting for which a procedure is named, and the maximum number of named procedures. */
const notable = 0.25;
const most = 2;
/**
 * Procedures of the program or of another library that wait for the lock, most waiting first; empty if the lock has a
 * name.
 */
export function takenIn(model: Model, lock: number): number[] {
  const { saysItsKind, object } = item(model.entities, lock);
  if (!saysItsKind || !object) return [];
  const by = new Map<number, number>();
  let all = 0;
  for (const { path, ns } of object.waiters) {
    all += ns;
    const outside = path.findLast((id) => {
      const entity = item(model.entities, id);
      const isNamed = !isNameless(entity) || entity.runsFor !== 0;
      const isProgram = !isRuntime(entity) && entity.origin !== 'standard';
      return entity.kind === 'procedure' && isNamed && isProgram && !isFor(entity, Purpose.lockWrapper);
    });
    if (outside !== undefined && outside !== 0) addTo(by, shownId(model, outside), ns);
  }
  return [...by]
    .filter(([, ns]) => ns >= notable * all)
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([id]) => id);
}
