/**
 * What holders of a lock did while others waited for it: their call path, their state, and which other locks they held
 * or waited for. Derived from blame (the waiters' time by the holder's path) and from other data on these paths. Pure
 * functions.
 */
import { Purpose } from '../../profile/abi.js';
import { defined, f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { isBusy } from '../../metrics/sums.js';
import type { FindingContext } from '../context.js';
import { pathsThrough } from '../code/paths-through.js';
import { isFor } from '../purposes.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import type { Entity, Model } from '../../result/types.js';

/** Processor time for which a lock is held each time that it is taken, in ns; null: not counted. */
export function heldEach(model: Model, { processorTimeNs, object }: Entity): number | null {
  return model.head.publisher === 'pthread' && object?.counted === true && object.acquisitions > 0
    ? processorTimeNs / object.acquisitions
    : null;
}

export interface Holding {
  ns: number; // waiting time for which a holder was observed
  ioNs: number; // part of `ns` in which the holder was in input, output or sleep
  calls: Map<number, number>; // `ioNs` by procedure of a run-time library
  further: Map<number, number>; // part of `ns`: the holder had then acquired, or waited for, that object
}

/** What can keep a holder waiting, besides the state of its thread: calls that the kernel itself works for. */
const ofDevices = Purpose.device | Purpose.sleep | Purpose.requests | Purpose.read;

/**
 * For a lock whose holders are not known: what the procedure that takes it does outside of waiting for it, if at most
 * one thread at a time does that on average. It may include code before the lock is taken, and after it is released.
 */
export function besideWaitingOf(context: FindingContext, taker: number, objects: ReadonlySet<number>): Holding | null {
  const { model, tables, own } = context;
  const { tuples } = tables.measured; // what the program would do without others is more than fits into the run
  const { entity } = tables.stacks;
  const through = pathsThrough(context, new Set([taker]));
  const holding: Holding = { ns: 0, ioNs: 0, calls: new Map(), further: new Map() };
  for (let k = 0; k < tuples.ns.length; k++) {
    const stack = u32(tuples.stack, k),
      at = u32(entity, stack),
      state = u8(tuples.state, k);
    if (through[stack] !== 1 || objects.has(at) || !(isBusy(state) || state === State.io)) continue;
    const ns = f64(tuples.ns, k);
    holding.ns += ns;
    const isCall = own.hidden[stack] === 1;
    if (state !== State.io && !(isCall && isFor(item(model.entities, at), ofDevices))) continue;
    holding.ioNs += ns;
    if (isCall) addTo(holding.calls, at, ns);
  }
  return holding.ns > 0 && holding.ns <= model.elapsedNs ? holding : null;
}

export function holdingOf({ model, tables, own }: FindingContext, objects: ReadonlySet<number>): Holding {
  const { blame, tuples } = model.raw;
  const { parent, entity } = tables.stacks;
  const holding: Holding = { ns: 0, ioNs: 0, calls: new Map(), further: new Map() };
  const byStack = new Map<number, number>();
  for (let k = 0; k < blame.ns.length; k++)
    if (objects.has(u32(blame.object, k)) && blame.stack[k] !== 0)
      addTo(byStack, u32(blame.stack, k), f64(blame.ns, k));
  const all = new Map<number, number>(),
    inIo = new Map<number, number>(); // time of these stacks in input, output or sleep
  for (let k = 0; k < tuples.ns.length; k++) {
    const stack = u32(tuples.stack, k);
    if (!byStack.has(stack) || (tuples.waiting[k] !== Waiting.none && objects.has(u32(entity, stack)))) continue;
    addTo(all, stack, f64(tuples.ns, k));
    if (tuples.state[k] === State.io) addTo(inIo, stack, f64(tuples.ns, k));
  }
  for (const [stack, ns] of byStack) {
    holding.ns += ns;
    const io = all.has(stack) ? ns * ((inIo.get(stack) ?? 0) / defined(all.get(stack))) : 0;
    holding.ioNs += io;
    if (io > 0 && own.hidden[stack] === 1) addTo(holding.calls, u32(entity, stack), io);
    const seen = new Set<number>();
    for (let n = stack; n !== 0 && !objects.has(u32(entity, n)); n = u32(parent, n)) {
      const e = u32(entity, n);
      if (item(model.entities, e).kind === 'procedure' || seen.has(e)) continue;
      seen.add(e);
      addTo(holding.further, e, ns);
    }
  }
  return holding;
}
