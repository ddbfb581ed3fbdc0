/**
 * What calls code that takes much of the time: a change there may save more than the code itself takes
 * (docs/reference/findings.md, "Optimize"). Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import type { WorkAroundFacts } from '../../result/facts.js';
import { isBusy } from '../../metrics/sums.js';
import type { FindingContext } from '../context.js';
import { ownPath } from './own-path.js';
import { pathsThrough } from './paths-through.js';

/** The caller has at least this share of all such work, with everything that it calls. */
const leastCalled = 0.5;
/** The code is called there for at least this share of its time. */
const mostly = 0.75;
/** The caller is worth naming if it has at least this many times as much as the code itself. */
const notablyMore = 1.25;

/** What it takes with everything that it calls, at all levels; of `main` alone, if that is not 0. */
function wholeOf(context: FindingContext, id: number, main: number): number {
  const { model, tables } = context;
  const { tuples } = model.raw;
  if (main === 0) return item(model.entities, id).nptNs;
  const through = pathsThrough(context, new Set([id]));
  let ns = 0;
  for (let k = 0; k < tables.weights.length; k++)
    if (tuples.thread[k] === main && isBusy(u8(tuples.state, k)) && through[u32(tuples.stack, k)] === 1)
      ns += f64(tables.weights, k);
  return ns;
}

/**
 * The innermost procedure, but no start routine, that calls the code, and has half of all work of these tuples.
 * `id`: the code's procedure; `isWork`: tuples that count; `isCode`: stacks whose innermost work is the code's; `main`:
 * the thread whose time alone counts, 0: all.
 */
export function aroundOf(
  context: FindingContext,
  id: number,
  isWork: (tuple: number) => boolean,
  isCode: (node: number) => boolean,
  main: number,
): WorkAroundFacts | null {
  const { weights } = context.tables;
  const { tuples } = context.model.raw;
  const sums = new Map<number, { all: number; code: number }>();
  let all = 0,
    code = 0;
  for (let k = 0; k < weights.length; k++) {
    if (!isWork(k) || (main !== 0 && tuples.thread[k] !== main)) continue;
    const node = u32(tuples.stack, k),
      npt = f64(weights, k) / u16(tuples.busy, k),
      its = isCode(node) ? npt : 0;
    all += npt;
    code += its;
    for (const one of new Set(ownPath(context, node).slice(0, -1))) {
      const sum = sums.get(one) ?? { all: 0, code: 0 };
      sums.set(one, sum);
      sum.all += npt;
      sum.code += its;
    }
  }
  const itsOwn = Math.max(code, sums.get(id)?.all ?? 0);
  const leastNs = Math.max(leastCalled * all, notablyMore * itsOwn);
  const [caller] = [...sums]
    .filter(([one, sum]) => one !== id && sum.code >= mostly * code && sum.all >= leastNs)
    .sort((a, b) => a[1].all - b[1].all);
  return caller && code > 0 ? { entity: caller[0], ns: wholeOf(context, caller[0], main) } : null;
}
