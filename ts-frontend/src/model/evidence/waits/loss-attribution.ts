/**
 * The part of the code's loss that locks and input/output explain, because their waiters could have run; the rest is
 * the code's own. By stack: a lock explains what ran while holding it when threads waited for it, and one idle
 * processor per waiter of what ran outside (docs/reference/findings.md, "What is lost, and why"). Pure
 * functions.
 */
import { addAt, f64, item, u16, u32 } from '../../profile/columns.js';
import type { IoLoss } from './io-loss.js';
import type { LockLoss } from '../locks/lock-loss.js';
import type { WaitOverlap } from '../wait-overlap.js';
import type { Tables } from '../../metrics/tables.js';
import { State } from '../../profile/raw-profile.js';
import type { Model } from '../../result/types.js';

/** By tuple: the share, from 0 to 1, that nothing else explains. */
export function unexplainedOf(
  model: Model,
  { stacks, weights }: Tables,
  waitOverlap: WaitOverlap,
  losses: readonly LockLoss[],
  io: IoLoss,
  covered: Uint8Array,
): Float64Array {
  const { tuples } = model.raw;
  const P = model.processors;
  const out = Float64Array.from(covered, (one) => 1 - one);
  const locks = losses.filter((loss) => item(model.entities, loss.entity).members.length === 0 && loss.cost > 0);
  if (locks.length === 0 && io.saving === 0) return out;

  const lost = new Float64Array(stacks.count);
  const isBusy = (k: number): boolean => tuples.state[k] === State.useful || tuples.state[k] === State.overhead;
  for (let k = 0; k < weights.length; k++)
    if (isBusy(k))
      addAt(lost, u32(tuples.stack, k), f64(weights, k) * (1 / Math.min(P, Math.max(1, u16(tuples.busy, k))) - 1 / P));

  const explained = new Float64Array(stacks.count);
  const explain = (object: number, most: number): void => {
    const beside = waitOverlap.byObject.get(object);
    if (!beside) return;
    const parts: [number, number][] = [];
    let sum = 0;
    for (const [node, ns] of beside.ns) {
      const cost = f64(waitOverlap.costOfNode, node);
      if (cost <= 0 || ns <= 0) continue;
      const waiters = (beside.waitersNs.get(node) ?? 0) / ns;
      const part = Math.min(1, ns / cost);
      const explains =
        object !== 0 && isInside(node, object)
          ? part
          : part * Math.min(1, waiters / Math.max(1, f64(waitOverlap.idleOfNode, node)));
      parts.push([node, explains]);
      sum += explains * f64(lost, node);
    }
    const scale = sum > most ? most / sum : 1;
    for (const [node, explains] of parts) addAt(explained, node, explains * scale);
  };
  const isInside = (node: number, object: number): boolean => {
    for (let n = node; n !== 0; n = u32(stacks.parent, n)) if (stacks.entity[n] === object) return true;
    return false;
  };
  for (const { entity } of locks) explain(entity, Infinity);
  if (io.saving > 0) explain(0, io.saving);
  for (let k = 0; k < weights.length; k++)
    if (isBusy(k)) out[k] = f64(out, k) * (1 - Math.min(1, f64(explained, u32(tuples.stack, k))));
  return out;
}
