/**
 * Why threads of Go's run-time library rest: goroutines wait for locks or at channels, which happens in the program's
 * memory, so that the waits themselves are not seen; what goroutines call around them is. Pure functions.
 */
import { Purpose } from '../../profile/abi.js';
import { f64, item, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { KernelWork, Waiting } from '../../profile/raw-profile.js';
import { housekeepingWaits } from '../../metrics/housekeeping.js';
import { isBusy } from '../../metrics/sums.js';
import type { Entity, Model } from '../../result/types.js';
import { isOwn } from '../code-origin.js';
import type { FindingContext } from '../context.js';
import { shownId } from '../context.js';
import { isFor } from '../purposes.js';

const passes = new WeakMap<FindingContext, Uint8Array>();
/** By node: Go's library does this work there, for the program or for itself. */
export function passing(context: FindingContext): Uint8Array {
  let is = passes.get(context);
  if (!is) passes.set(context, (is = passingNodes(context)));
  return is;
}

function passingNodes({ model, tables }: FindingContext): Uint8Array {
  const { count, parent, entity } = tables.stacks;
  const is = new Uint8Array(count);
  for (let n = 1; n < count; n++) {
    // parents precede their children
    const its = item(model.entities, u32(entity, n));
    // a thread of Go's library begins here; callers further out belong to the creating thread
    if (its.kind !== 'procedure' || isFor(its, Purpose.threadStart)) continue;
    is[n] = its.origin === 'runtime' && (is[u32(parent, n)] === 1 || isFor(its, Purpose.handOver)) ? 1 : 0;
  }
  return is;
}

/** A Go closure belongs to the procedure that contains it, if that is known. */
const closure = /^(.+?)\.func\d+(\.\d+|\.func\d+)*$/;
export function withoutClosures({ entities }: Model, owners: ReadonlyMap<number, number>): Map<number, number> {
  const named = new Map(entities.filter(({ kind }) => kind === 'procedure').map(({ name, id }) => [name, id]));
  const all = new Map<number, number>();
  for (const [id, ns] of owners) addTo(all, named.get(closure.exec(item(entities, id).name)?.[1] ?? '') ?? id, ns);
  return all;
}

/** What Go's library is called for; further procedures below serve the same end, except allocation and collection. */
const For = {
  neither: 0,
  other: 1,
  lock: 2, // or anything else, of which only parking, waking and code of locks count
  channel: 3,
} as const;

/** By node. */
function calledFor({ model, tables }: FindingContext): Uint8Array {
  const { count, parent, entity } = tables.stacks;
  const what = new Uint8Array(count);
  for (let n = 1; n < count; n++) {
    const its = item(model.entities, u32(entity, n));
    if (its.origin !== 'runtime') continue;
    const before: number = u8(what, u32(parent, n));
    what[n] = isFor(its, Purpose.allocation | Purpose.collection)
      ? For.other
      : before !== For.neither
        ? before
        : isFor(its, Purpose.handOver)
          ? For.channel
          : For.lock;
  }
  return what;
}

/**
 * Whether it is a procedure of the program that Go compiled: its name contains its package. On the stack of a
 * thread's scheduler the caller is not known; C's `main` stands there, which created the thread.
 */
const isOfProgram = (entity: Entity): boolean => isOwn(entity) && entity.style === 'go';

/** What goroutines wait for, by the processor time of the calls around the waits. */
interface GoroutineWaits {
  lockNs: number;
  channelNs: number;
  taker: number | null; // the procedure of the program with most of `lockNs`
}

const measured = new WeakMap<FindingContext, GoroutineWaits>();
export function goroutineWaits(context: FindingContext): GoroutineWaits {
  let waits = measured.get(context);
  if (!waits) measured.set(context, (waits = measure(context)));
  return waits;
}

function measure(context: FindingContext): GoroutineWaits {
  const { model, own } = context;
  const { tuples } = model.raw;
  const what = calledFor(context),
    passesAt = passing(context);
  const waits: GoroutineWaits = { lockNs: 0, channelNs: 0, taker: null };
  const takers = new Map<number, number>();
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k);
    const isLock = what[node] === For.lock && (tuples.kernel[k] === KernelWork.lock || passesAt[node] === 1);
    if ((!isLock && what[node] !== For.channel) || !isBusy(u8(tuples.state, k))) continue;
    const owner = shownId(model, u32(own.procedure, node));
    if (!isOfProgram(item(model.entities, owner))) continue; // the scheduler, for nobody in particular
    const ns = f64(tuples.ns, k);
    if (!isLock) waits.channelNs += ns;
    else {
      waits.lockNs += ns;
      addTo(takers, owner, ns);
    }
  }
  const [most] = [...withoutClosures(model, takers)].sort((a, b) => b[1] - a[1]);
  return { ...waits, taker: most?.[0] ?? null };
}

/** The least share of the waiting time at an object for it to be where threads of Go's library rest. */
const mostly = 0.5;

/** Whether threads rest there because Go's library finds no goroutine that can run. */
export function isRestOfGo(context: FindingContext, object: Entity): boolean {
  if (object.rawKind !== 'futex') return false;
  const { model, tables } = context;
  const { tuples } = model.raw;
  const is = passing(context),
    isHousekeeping = housekeepingWaits(model.raw),
    shown = shownId(model, object.id);
  let resting = 0,
    all = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k);
    if (tuples.waiting[k] === Waiting.none || shownId(model, u32(tables.stacks.entity, node)) !== shown) continue;
    if (isHousekeeping(k)) continue;
    all += f64(tuples.ns, k);
    if (is[u32(tables.stacks.parent, node)] === 1) resting += f64(tuples.ns, k);
  }
  return all > 0 && resting >= mostly * all;
}
