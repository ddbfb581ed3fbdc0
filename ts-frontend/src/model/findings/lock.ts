/**
 * Limits by locks: threads wait while processors have nothing to do, or burn. A prediction is what would be gained if
 * the waiters ran meanwhile (docs/findings.md, "Locks"). Pure.
 */
import type { Holding } from '../evidence/holders.js';
import { holdingOf } from '../evidence/holders.js';
import { insideKind } from '../evidence/library-waits.js';
import type { Levels, Waits } from '../evidence/activity-levels.js';
import { addTo, busyOf, savedByRunning, spinningOf, waitAt } from '../evidence/activity-levels.js';
import type { Material } from '../evidence/context.js';
import type { LockFacts } from '../facts.js';
import { findingOf, meanwhileOf, shownId } from '../evidence/context.js';
import { isRuntime } from '../evidence/code-origin.js';
import { State, Waiting } from '../profile/raw-profile.js';
import { isBusy } from '../metrics/sums.js';
import type { Entity, Finding, Model, PathTime } from '../types.js';

export interface LockLoss {
  entity: number;
  cost: number;             // elapsed time with waiters while b < P
  blockedSaving: number; spinSaving: number; spinCost: number;
  busy: number; spinning: number; waiters: number; woken: number; trying: number; // means over cost
  savingAt: Map<number, number>;
  timeAt: Map<number, number>;
}

function meanQueue(entity: Entity): number {
  const stats = entity.object;
  if (!stats) return 1;
  const empty = stats.queueLength.find((bucket) => bucket.from === 0)?.ns ?? 0;
  const nonEmpty = stats.queueObservedNs - empty;
  return nonEmpty > 0 ? (stats.queueLengthMean * stats.queueObservedNs) / nonEmpty : 1;
}

/** `tries`: by level, thread time of those that count as busy, but have only been woken for a lock. They are at work when they have it. */
export function lossOf(levels: Levels, entity: Entity, waits: Waits, tries: ReadonlyMap<number, number> = new Map()): LockLoss {
  const { P } = levels;
  const loss: LockLoss = {
    entity: entity.id, cost: 0, blockedSaving: 0, spinSaving: 0, spinCost: 0, busy: 0, spinning: 0, waiters: 0, woken: 0, trying: 0,
    savingAt: new Map(), timeAt: new Map(),
  };
  const queue = entity.members.length > 0 ? 1 : meanQueue(entity); // namesakes: their queues are not one
  for (const level of new Set([...waits.blocked.keys(), ...waits.spinning.keys(), ...(tries.size > 0 ? waits.woken.keys() : [])])) {
    const elapsed = levels.elapsed.get(level) ?? 0;
    const s = spinningOf(levels, level);
    const b = Math.max(0, busyOf(levels, level) - (elapsed > 0 ? (tries.get(level) ?? 0) / elapsed : 0));
    const wokenNs = tries.size > 0 ? waits.woken.get(level) ?? 0 : 0;
    const blockedNs = (waits.blocked.get(level) ?? 0) + wokenNs;
    const spinNs = waits.spinning.get(level) ?? 0;
    const blocked = waitAt(blockedNs, elapsed, queue);
    const spinTime = Math.min(elapsed, spinNs / Math.max(1, s));
    const fromBlocked = savedByRunning(blocked, b, P - b - s);
    const fromSpin = spinTime * (s / Math.max(1, b + s));
    const saving = Math.min(elapsed * (1 - b / P), fromBlocked + fromSpin);
    const both = fromBlocked + fromSpin > 0 ? saving / (fromBlocked + fromSpin) : 0;
    loss.blockedSaving += fromBlocked * both;
    loss.spinSaving += fromSpin * both;
    const time = b < P ? Math.min(elapsed, Math.max(blocked.time, spinTime)) : 0;
    loss.cost += time;
    loss.spinCost += b < P ? spinTime : 0;
    loss.busy += time * b;
    loss.spinning += time * s;
    loss.waiters += b < P ? blockedNs + spinNs : 0;
    loss.woken += b < P ? wokenNs : 0;
    loss.trying += time * (busyOf(levels, level) - b);
    loss.savingAt.set(level, saving);
    loss.timeAt.set(level, time);
  }
  if (loss.cost > 0) {
    loss.busy /= loss.cost;
    loss.spinning /= loss.cost;
    loss.waiters /= loss.cost;
    loss.woken /= loss.cost;
    loss.trying /= loss.cost;
  }
  return loss;
}

const locks = new Set(['mutex', 'rwlock', 'spinlock']);
export const isLock = (entity: Entity): boolean => locks.has(entity.rawKind) || insideKind(entity) === 'lock';

/** Losses by locks, members of groups apart from their groups. */
export function lockLosses({ model, levels }: Material): LockLoss[] {
  const losses: LockLoss[] = [];
  const tries = new Map<number, number>();
  for (const [id, { wokenBusy }] of levels.waits)
    if (isLock(model.entities[id]!) && model.entities[id]!.members.length === 0) for (const [level, ns] of wokenBusy) addTo(tries, level, ns);
  for (const [id, waits] of levels.waits) if (isLock(model.entities[id]!)) losses.push(lossOf(levels, model.entities[id]!, waits, tries));
  return losses;
}

export const savingOf = (loss: LockLoss): number => loss.blockedSaving + loss.spinSaving;

/** One lock of a group where it alone makes most of the group's loss, else the group. Locks that are waited for because of another one are told with that. */
export function tellLocks(material: Material, losses: readonly LockLoss[]): Finding[] {
  const { model, least } = material;
  const byId = new Map(losses.map((loss) => [loss.entity, loss]));
  const told = new Map<number, Contended>();
  for (const loss of losses) {
    const entity = model.entities[loss.entity]!;
    const group = entity.group !== 0 ? byId.get(entity.group) : undefined;
    const groupSaving = group ? savingOf(group) : 0;
    if (group && savingOf(loss) < 0.8 * groupSaving) continue;
    if (entity.members.some((member) => savingOf(byId.get(member) ?? loss) >= 0.8 * savingOf(loss) && byId.has(member))) continue;
    if (savingOf(loss) >= least) told.set(entity.id, { entity, loss, holding: holdingOf(material, new Set(entity.members.length > 0 ? entity.members : [entity.id])), victims: [] });
  }
  for (const one of told.values()) {
    const cause = causeOf(model, told, one);
    if (cause !== one) cause.victims.push(one);
  }
  const victims = new Set([...told.values()].flatMap((one) => one.victims));
  return [...told.values()].filter((one) => !victims.has(one)).map((one) => tell(material, one));
}

interface Contended { entity: Entity; loss: LockLoss; holding: Holding; victims: Contended[] }

/** So much of the time that others wait for a lock its holders have, or wait for, another one: then that is the cause. */
const mostlyFurther = 0.5;

/** Of locks that are taken one inside the other, and all waited for: the one that the others wait for in the end. */
function causeOf(model: Model, told: ReadonlyMap<number, Contended>, one: Contended): Contended {
  const passed = new Set<Contended>();
  for (let at = one; !passed.has(at);) {
    passed.add(at);
    let next: Contended | undefined, most = mostlyFurther * at.holding.ns;
    for (const [id, ns] of at.holding.further) {
      const further = told.get(id) ?? told.get(shownId(model, id));
      if (!further || passed.has(further) || ns < most || ns === 0) continue;
      most = ns;
      next = further;
    }
    if (!next) return at;
    at = next;
  }
  return one;
}

/** The procedure that most often held it while others waited. */
function holder(material: Material, paths: readonly PathTime[]): number {
  const { model } = material;
  const totals = new Map<number, number>();
  for (const { path, ns } of paths) {
    const procedure = [...path].reverse().find((id) => model.entities[id]!.kind === 'procedure' && !isRuntime(model.entities[id]!.module));
    if (procedure !== undefined) totals.set(procedure, (totals.get(procedure) ?? 0) + ns);
  }
  return [...totals].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

/** From this share on it is told that whoever has a lock has no CPU. */
const leastUnserved = 0.1;

/** Of the time for which threads had the lock and could run: the share that they waited for a CPU, because more could run than there are. */
function unservedShare({ model, working }: Material, entity: Entity): number {
  const { parent, entity: entityOf, count } = working.stacks;
  const { tuples } = model.raw;
  const those = new Set(entity.members.length > 0 ? entity.members : [entity.id]);
  const has = new Uint8Array(count);
  for (let n = 1; n < count; n++) has[n] = has[parent[n]!] === 1 || those.has(entityOf[n]!) ? 1 : 0;
  let ready = 0, all = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = tuples.stack[k]!, state = tuples.state[k]!;
    if (has[node] === 0 || (tuples.waiting[k] !== Waiting.none && those.has(entityOf[node]!))) continue;
    if (state === State.ready) ready += tuples.ns[k]!;
    if (state === State.ready || isBusy(state)) all += tuples.ns[k]!;
  }
  return all > 0 ? ready / all : 0;
}

/** From this share on it is told that whoever has a lock is in input or output, or sleeps. */
const leastInIo = 0.3;

function inIo({ ns, ioNs, calls }: Holding): LockFacts['inIo'] {
  if (ns === 0 || ioNs < leastInIo * ns) return null;
  const [most] = [...calls].sort((a, b) => b[1] - a[1]);
  return { share: ioNs / ns, call: most && most[1] >= ioNs / 2 ? most[0] : null };
}

/** Waiters that whoever has the lock keeps waking, without leaving it to them, are told of from this share of all waiters on. */
const leastWoken = 0.3;
/** Else the processors that are told of would not add up to all. */
const leastTrying = 0.1;

function tell(material: Material, { entity, loss: own, holding, victims }: Contended): Finding {
  const { model } = material;
  const P = model.processors;
  const stats = entity.object!;
  const worst = victims.reduce((most, one) => (savingOf(one.loss) > savingOf(most.loss) ? one : most), { entity, loss: own, holding, victims });
  const { loss } = worst;
  const spins = loss.spinSaving > loss.blockedSaving;
  const by = holder(material, stats.holders);
  const ready = Math.min(material.levels.waits.get(entity.id)?.spinningReady ?? 0, savingOf(loss));
  const unserved = model.head.publisher === 'pthread' ? unservedShare(material, entity) : 0;
  const instead = spins && ready >= savingOf(loss) / 2;
  const savingNs = Math.min(loss.cost, instead ? ready : savingOf(loss));
  return findingOf(model, {
    entity: entity.id, kind: spins ? 'spinning' : 'lock-contention', change: instead ? 'block-instead-of-spin' : 'wait-less',
    costNs: loss.cost, savingNs, meanwhile: meanwhileOf(P - loss.trying, loss.busy, loss.spinning),
    facts: {
      form: 'lock', spins, waitedFor: worst.entity.id, others: victims.filter((one) => one !== worst).map((one) => one.entity.id),
      waiters: loss.waiters, woken: loss.woken >= leastWoken * loss.waiters || loss.trying >= leastTrying ? loss.woken : null,
      counted: stats.counted, acquisitions: stats.acquisitions, contended: stats.contended, waitMeanNs: stats.waitMeanNs,
      holder: by !== 0 ? by : null, inIo: inIo(holding), mostlyInIo: holding.ns > 0 && holding.ioNs >= holding.ns / 2,
      unserved: unserved >= leastUnserved ? unserved : null, readyInstead: instead, savesNs: savingNs,
    },
    related: [...victims.map((one) => one.entity.id), ...(by !== 0 ? [shownId(model, by)] : [])],
  });
}

/** Other objects whose waiters spin although threads are ready to run. */
export function tellSpinning(material: Material): Finding[] {
  const { model, levels, least } = material;
  const told: Finding[] = [];
  for (const [id, waits] of levels.waits) {
    const entity = model.entities[id]!;
    if (isLock(entity) || entity.group !== 0 || waits.spinningReady < least) continue;
    const loss = lossOf(levels, entity, waits);
    const savingNs = Math.min(loss.spinCost, waits.spinningReady);
    told.push(findingOf(model, {
      entity: id, kind: 'spinning', change: 'block-instead-of-spin', costNs: loss.spinCost, savingNs,
      meanwhile: meanwhileOf(model.processors, loss.busy, loss.spinning), facts: { form: 'spinning', savesNs: savingNs },
    }));
  }
  return told;
}
