/**
 * Findings about contended locks: threads wait while processors are idle or spin. Predicts the gain if the waiters ran
 * instead (docs/reference/findings.md, "Locks"). Pure functions.
 */
import { defined, f64, item, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import type { Holding } from '../evidence/locks/holders.js';
import { besideWaitingOf, heldEach, holdingOf } from '../evidence/locks/holders.js';
import type { FindingContext } from '../evidence/context.js';
import type { LockFacts } from '../result/facts.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { isLibraryCode, isOwn } from '../evidence/code-origin.js';
import { State, Waiting } from '../profile/raw-profile.js';
import { isBusy } from '../metrics/sums.js';
import type { Entity, Exclusion, Finding, Model, PathTime } from '../result/types.js';
import type { LockLoss } from '../evidence/locks/lock-loss.js';
import { jointLoss, lossOf, savingOf } from '../evidence/locks/lock-loss.js';
import { isAllocators, libraryLockOf } from '../evidence/locks/library-lock.js';
import { keptWaiting, mainsWaits } from '../evidence/locks/kept-waiting.js';
import { longTaker } from '../evidence/locks/lock-takers.js';
import { takenIn } from '../evidence/locks/taken-in.js';
import { isLock, isOfProcesses } from '../evidence/wait-kinds.js';

/**
 * A single lock of a group if it causes most of the group's loss, otherwise the group. Locks that are contended because
 * of another lock are reported with that one.
 */
export function lockFindings(context: FindingContext, losses: readonly LockLoss[]): Finding[] {
  const { model, least } = context;
  const byId = new Map(losses.map((loss) => [loss.entity, loss]));
  const reported = new Map<number, Contended>();
  const mains = losses.length > 0 ? mainsWaits(context) : null;
  for (const loss of losses) {
    const entity = item(model.entities, loss.entity);
    const group = entity.group !== 0 ? byId.get(entity.group) : undefined;
    const groupSaving = group ? savingOf(group) : 0;
    if (group && savingOf(loss) < 0.8 * groupSaving) continue;
    if (entity.members.some((member) => savingOf(byId.get(member) ?? loss) >= 0.8 * savingOf(loss) && byId.has(member)))
      continue;
    const kept = mains && keptWaiting(context, mains, locksOf(entity));
    if (savingOf(loss) >= least || kept)
      reported.set(entity.id, {
        entity,
        loss,
        kept: kept && kept.mostNs > savingOf(loss) ? kept : null,
        holding: holdingOf(context, locksOf(entity)),
        victims: [],
        also: [],
      });
  }
  joinTeams(context, reported);
  for (const one of reported.values()) {
    const cause = causeOf(model, reported, one);
    if (cause !== one) cause.victims.push(one);
  }
  const victims = new Set([...reported.values()].flatMap((one) => one.victims));
  return [...reported.values()].filter((one) => !victims.has(one)).map((one) => findingFor(context, one));
}

/** The lock itself, or the locks of a group. */
const locksOf = ({ id, members }: Entity): ReadonlySet<number> => new Set(members.length > 0 ? members : [id]);

interface Contended {
  entity: Entity;
  loss: LockLoss;
  kept: LockFacts['keptWaiting'];
  holding: Holding;
  victims: Contended[];
  also: Entity[]; // objects that are the same lock
}

/**
 * Objects at which the same threads wait for one of them (metrics/exclusion.ts) are one lock, and have one finding,
 * under the name of the one with the largest saving.
 */
function joinTeams(context: FindingContext, reported: Map<number, Contended>): void {
  const teams = new Map<Exclusion, Contended[]>();
  for (const one of reported.values())
    if (one.entity.excludes) teams.set(one.entity.excludes, [...(teams.get(one.entity.excludes) ?? []), one]);
  for (const [{ threads }, team] of teams) {
    const [first, ...others] = team.sort((a, b) => savingOf(b.loss) - savingOf(a.loss));
    if (!first || others.length === 0) continue;
    first.also = others.map(({ entity }) => entity);
    const joint = jointLoss(context, [first.entity, ...first.also], threads - 1);
    if (savingOf(joint) > savingOf(first.loss)) first.loss = joint;
    for (const { entity } of others) reported.delete(entity.id);
  }
}

/**
 * The least share of the waiting time in which the lock's holders hold, or wait for, another lock, which is then the
 * cause.
 */
const mostlyFurther = 0.5;

/** Among contended locks that are acquired within each other: the one that the others ultimately wait for. */
function causeOf(model: Model, reported: ReadonlyMap<number, Contended>, one: Contended): Contended {
  const passed = new Set<Contended>();
  for (let at = one; !passed.has(at);) {
    passed.add(at);
    let next: Contended | undefined,
      most = mostlyFurther * at.holding.ns;
    for (const [id, ns] of at.holding.further) {
      const further = reported.get(id) ?? reported.get(shownId(model, id));
      if (!further || passed.has(further) || ns < most || ns === 0) continue;
      most = ns;
      next = further;
    }
    if (!next) return at;
    at = next;
  }
  return one;
}

/**
 * The procedure that most often held it while others waited: the innermost one of the program, and what that calls of
 * libraries for at least half of this time; without one of the program, the innermost one of other libraries.
 */
function holder({ model: { entities } }: FindingContext, paths: readonly PathTime[]): Holder {
  const totals = new Map<number, { ns: number; called: Map<number, number> }>();
  for (const { path, ns } of paths) {
    const procedures = path.filter((id) => item(entities, id).kind === 'procedure');
    const own = procedures.findLastIndex((id) => isOwn(item(entities, id)));
    const at = own >= 0 ? own : procedures.findLastIndex((id) => !isLibraryCode(item(entities, id)));
    const id = procedures[at];
    if (id === undefined) continue;
    const total = totals.get(id) ?? { ns: 0, called: new Map<number, number>() };
    totals.set(id, total);
    total.ns += ns;
    const called = procedures[at + 1];
    if (called !== undefined) addTo(total.called, called, ns);
  }
  const [most] = [...totals].sort((a, b) => b[1].ns - a[1].ns);
  if (!most) return { procedure: 0, calls: null };
  const [procedure, { ns, called }] = most;
  const [call] = [...called].sort((a, b) => b[1] - a[1]);
  return { procedure, calls: call && call[1] >= ns / 2 ? call[0] : null };
}
interface Holder {
  procedure: number;
  calls: number | null;
}

/** The paths of holders up to where they took the lock. */
function takersOf(entity: Entity): PathTime[] {
  const locks = locksOf(entity);
  return defined(entity.object).holders.map((one) => {
    const at = one.path.findIndex((id) => locks.has(id));
    return { ...one, path: at < 0 ? one.path : one.path.slice(0, at) };
  });
}

/** Of several procedures that take it: the one that holds it for far longer than the others, each time. */
function longestOf(context: FindingContext, entity: Entity): LockFacts['longest'] {
  const long = longTaker(context, locksOf(entity));
  if (!long) return null;
  const paths = takersOf(entity).filter(({ path }) => path.includes(long.procedure));
  const { procedure } = holder(context, paths);
  return { ...long, procedure: procedure !== 0 ? procedure : long.procedure };
}

/**
 * The procedure that takes a read-write lock for writing: it mostly waits for the lock while others hold it there. (At
 * least one of both writes; the C library's locks let readers in while a writer waits.)
 */
function writerOf(context: FindingContext, entity: Entity): number | null {
  if (entity.rawKind !== 'rwlock' || !entity.object) return null;
  const { procedure } = holder(context, takersOf(entity));
  return procedure !== 0 && holder(context, entity.object.waiters).procedure === procedure ? procedure : null;
}

/** The least share of the holders' time without a CPU that is reported. */
const leastUnserved = 0.1;

/**
 * The share of the time in which the lock was held by runnable threads that these waited for a CPU, because more
 * threads were runnable than there are CPUs.
 */
function unservedShare({ model, tables }: FindingContext, entity: Entity): number {
  const { parent, entity: entityOf, count } = tables.stacks;
  const { tuples } = model.raw;
  const those = locksOf(entity);
  const has = new Uint8Array(count);
  for (let n = 1; n < count; n++) has[n] = has[u32(parent, n)] === 1 || those.has(u32(entityOf, n)) ? 1 : 0;
  let ready = 0,
    all = 0;
  for (let k = 0; k < tuples.ns.length; k++) {
    const node = u32(tuples.stack, k),
      state = u8(tuples.state, k);
    if (has[node] === 0 || (tuples.waiting[k] !== Waiting.none && those.has(u32(entityOf, node)))) continue;
    if (state === State.ready) ready += f64(tuples.ns, k);
    if (state === State.ready || isBusy(state)) all += f64(tuples.ns, k);
  }
  return all > 0 ? ready / all : 0;
}

/** The least share of the holders' time in input, output or sleep that is reported. */
const leastInIo = 0.3;

function inIo({ ns, ioNs, calls }: Holding): LockFacts['inIo'] {
  if (ns === 0 || ioNs < leastInIo * ns) return null;
  const [most] = [...calls].sort((a, b) => b[1] - a[1]);
  return { share: ioNs / ns, call: most && most[1] >= ioNs / 2 ? most[0] : null };
}

/** The least share of waiters that are woken although the lock is not left to them that is reported. */
const leastWoken = 0.3;
/** Below this, the reported numbers of processors would not add up to the total. */
const leastTrying = 0.1;

interface HeldBy {
  by: number;
  calls: number | null;
  taker: number;
  holding: Holding;
}

/** What is known of holders; else what those do besides waiting who take it in one procedure, `taker`. */
function heldBy(context: FindingContext, { entity, holding }: Contended): HeldBy {
  const { model } = context;
  const stats = defined(entity.object);
  const { procedure: by, calls } = holder(context, entity.excludes ? stats.waitOverlap : stats.holders);
  const [taker, ...others] = by === 0 && !stats.counted ? takenIn(model, entity.id) : [];
  if (taker === undefined || others.length > 0) return { by, calls, taker: 0, holding };
  const objects = locksOf(entity);
  const beside = besideWaitingOf(context, taker, objects);
  return beside ? { by, calls, taker, holding: beside } : { by, calls, taker: 0, holding };
}

function findingFor(context: FindingContext, contended: Contended): Finding {
  const { entity, victims, also, kept } = contended;
  const { model } = context;
  const P = model.processors;
  const stats = defined(entity.object);
  const worst = victims.reduce((most, one) => (savingOf(one.loss) > savingOf(most.loss) ? one : most), contended);
  const { loss } = worst;
  const spins = loss.spinSaving > loss.blockedSaving;
  const { by, calls, taker, holding } = heldBy(context, contended);
  const ready = Math.min(context.levels.waits.get(entity.id)?.spinningReady ?? 0, savingOf(loss));
  const unserved = model.head.publisher === 'pthread' ? unservedShare(context, entity) : 0;
  const instead = spins && ready >= savingOf(loss) / 2;
  const savesNs = Math.min(loss.cost, instead ? ready : savingOf(loss)),
    savingNs = kept?.mostNs ?? savesNs;
  return findingOf(model, {
    entity: entity.id,
    kind: spins ? 'spinning' : 'lock-contention',
    change: instead ? 'block-instead-of-spin' : 'wait-less',
    costNs: Math.max(loss.cost, kept?.waitNs ?? 0),
    savingNs,
    processorUse: processorUseOf(P - loss.trying, loss.busy, loss.spinning),
    facts: {
      form: 'lock',
      spins,
      exclusion: entity.excludes,
      also: also.map(({ id }) => id),
      waitedFor: worst.entity.id,
      others: victims.filter((one) => one !== worst).map((one) => one.entity.id),
      waiters: loss.waiters,
      woken: loss.woken >= leastWoken * loss.waiters || loss.trying >= leastTrying ? loss.woken : null,
      counted: stats.counted,
      waitsCounted: stats.waitsCounted,
      acquisitions: stats.counted ? stats.acquisitions : 0,
      contended: stats.contended,
      waitMeanNs: stats.waitMeanNs,
      takenIn: takenIn(model, worst.entity.id),
      allocator: isAllocators(model, entity.id),
      library: libraryLockOf(model, entity.id),
      holder: by !== 0 ? by : null,
      holderCalls: calls,
      writer: writerOf(context, entity),
      keptWaiting: kept,
      heldEachNs: heldEach(model, entity),
      longest: longestOf(context, entity),
      taker: taker !== 0 ? taker : null,
      inIo: inIo(holding),
      mostlyInIo: holding.ns > 0 && holding.ioNs >= holding.ns / 2,
      unserved: unserved >= leastUnserved ? unserved : null,
      readyInstead: instead,
      shortenedBy: null,
      savesNs,
    },
    related: [
      ...victims.map((one) => one.entity.id),
      ...also.map(({ id }) => id),
      ...(by !== 0 ? [shownId(model, by)] : []),
      ...(calls !== null ? [shownId(model, calls)] : []),
    ],
  });
}

/** Findings about other objects whose waiters spin although threads are ready to run. */
export function spinningFindings(context: FindingContext): Finding[] {
  const { model, levels, least } = context;
  const reported: Finding[] = [];
  for (const [id, waits] of levels.waits) {
    const entity = item(model.entities, id);
    if (isLock(entity) || isOfProcesses(entity) || entity.group !== 0 || waits.spinningReady < least) continue;
    const loss = lossOf(levels, entity, waits);
    const savingNs = Math.min(loss.spinCost, waits.spinningReady);
    reported.push(
      findingOf(model, {
        entity: id,
        kind: 'spinning',
        change: 'block-instead-of-spin',
        costNs: loss.spinCost,
        savingNs,
        processorUse: processorUseOf(model.processors, loss.busy, loss.spinning),
        facts: { form: 'spinning', savesNs: savingNs },
      }),
    );
  }
  return reported;
}
