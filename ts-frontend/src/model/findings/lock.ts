/**
 * Limits by locks: threads wait while processors have nothing to do, or burn. A prediction is what would be gained if
 * the waiters ran meanwhile (docs/findings.md, "Locks"). Pure.
 */
import { formatCount, formatEvents, formatNs, formatShare } from '../wording/numbers.js';
import type { Holding } from '../evidence/holders.js';
import { holdingOf } from '../evidence/holders.js';
import { insideKind } from '../evidence/library-waits.js';
import type { Levels, Waits } from '../evidence/activity-levels.js';
import { addTo, busyOf, savedByRunning, spinningOf, waitAt } from '../evidence/activity-levels.js';
import type { Material } from '../evidence/context.js';
import { costs, meanwhileOf, meanwhileText, shownId, title } from '../evidence/context.js';
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

/** ", 96 % of the time in input, output or sleep (fdatasync)" */
function inIoText(model: Model, { ns, ioNs, calls }: Holding): string {
  if (ns === 0 || ioNs < leastInIo * ns) return '';
  const [most] = [...calls].sort((a, b) => b[1] - a[1]);
  return `, ${formatShare(ioNs / ns)} of the time in input, output or sleep${most && most[1] >= ioNs / 2 ? ` (${model.entities[most[0]]!.name})` : ''}`;
}

/** Waiters that whoever has the lock keeps waking, without leaving it to them. */
function triesText({ woken, waiters, trying }: LockLoss): string {
  return woken >= leastWoken * waiters || trying >= leastTrying ? `Of these ${formatCount(woken)} had just been woken: they had no CPU yet, or found it taken again. ` : '';
}
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
  const name = title(model, entity.id);
  const meanwhile = meanwhileOf(P - loss.trying, loss.busy, loss.spinning);
  const ready = Math.min(material.levels.waits.get(entity.id)?.spinningReady ?? 0, savingOf(loss));
  const unserved = model.head.publisher === 'pthread' ? unservedShare(material, entity) : 0;
  const instead = spins && ready >= savingOf(loss) / 2;
  const savingNs = Math.min(loss.cost, instead ? ready : savingOf(loss));
  const others = victims.filter((one) => one !== worst).map((one) => title(model, one.entity.id));
  const because = victims.length === 0 ? ''
    : worst.entity === entity ? `So do others for ${others.join(' and ')}, whose holders mostly have ${name} too, or wait for it. `
      : `The cause is ${name}: who has ${[title(model, worst.entity.id), ...others].join(' or ')} mostly has ${name} too, or waits for it. `;
  const text = `Threads ${spins ? 'spin' : 'wait'} for ${title(model, worst.entity.id)} during ${costs(model, loss.cost)}: ${formatCount(loss.waiters)} of them on average, ` +
    `and meanwhile ${meanwhileText(model, meanwhile)}. ${triesText(loss)}${because}` +
    (!stats.counted ? `It was seen from outside: nobody counts its users, or knows its holder`
      : `${because === '' ? '' : `Of ${name} `}${stats.contended > 0 ? `${formatEvents(stats.contended)} of ${formatEvents(stats.acquisitions)} acquisitions had to wait, ${formatNs(stats.waitMeanNs)} each` : because === '' ? `It was taken ${formatEvents(stats.acquisitions)} times` : `there were ${formatEvents(stats.acquisitions)} acquisitions`}`) +
    (by !== 0 ? `; it was mostly held in ${model.entities[by]!.name}${inIoText(model, holding)}` : '') +
    (unserved >= leastUnserved ? `; who had it waited for a CPU ${formatShare(unserved)} of the time, for more threads could run than there are CPUs.` : '.');
  const inIo = holding.ioNs >= holding.ns / 2 && holding.ns > 0;
  const remedy = instead
    ? `Let its waiters block instead of spin: threads were ready to run meanwhile; that could save ${formatNs(savingNs)}.`
    : `Wait less for ${name}: ${inIo ? 'move the input, output or sleep out of it, ' : ''}${stats.counted ? 'hold it shorter, take it less often, or split what it protects' : 'call it less often, for more at once, or from fewer threads at a time'}; if its waiters ran meanwhile, that could save up to ${formatNs(savingNs)}.`;
  return {
    entity: entity.id, name: entity.name, kind: spins ? 'spinning' : 'lock-contention', change: instead ? 'block-instead-of-spin' : 'wait-less',
    text, remedy, costNs: loss.cost, savingNs, meanwhile, related: [...victims.map((one) => one.entity.id), ...(by !== 0 ? [shownId(model, by)] : [])],
  };
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
    const meanwhile = meanwhileOf(model.processors, loss.busy, loss.spinning);
    told.push({
      entity: id, name: entity.name, kind: 'spinning', change: 'block-instead-of-spin',
      text: `Threads spin at ${title(model, id)} during ${costs(model, loss.spinCost)} although others are ready to run; meanwhile ${meanwhileText(model, meanwhile)}.`,
      remedy: `Let its waiters block: the ready threads would have the processors; that could save ${formatNs(savingNs)}.`,
      costNs: loss.spinCost, savingNs, meanwhile, related: [],
    });
  }
  return told;
}
