/**
 * Findings about the thread package's own work, and about waking kernel threads: the grain is too fine
 * (docs/reference/findings.md, "Overhead"). Pure functions.
 */
import { Purpose } from '../profile/abi.js';
import { defined, f64, item, u16, u32, u8 } from '../profile/columns.js';
import { handOversOf, isHandingOn, mostWithoutHandOvers } from '../evidence/locks/hand-overs.js';
import { withoutWaiting } from '../evidence/waits/own-work.js';
import { waitsAgain } from '../evidence/locks/waits-again.js';
import { futileWakeUps } from '../evidence/locks/woken-together.js';
import { countedWaits } from '../evidence/counted-waits.js';
import { phaseOf } from '../evidence/phase.js';
import { addTo } from '../profile/maps.js';
import { shownPerRun, wakeNs } from '../metrics/cpu-wait.js';
import type { FindingContext } from '../evidence/context.js';
import type { PackageWorkFacts } from '../result/facts.js';
import { findingOf, largerPieces, processorUseOf, noAdvice, shownId } from '../evidence/context.js';
import { isFor } from '../evidence/purposes.js';
import { State } from '../profile/raw-profile.js';
import type { Finding } from '../result/types.js';

/** The assumed improvement: a grain ten times coarser leaves a tenth of the overhead. */
const coarser = 10;

export function overheadFindings({ model, tables, least }: FindingContext): Finding[] {
  const { stacks, weights } = tables;
  const { tuples } = model.raw;
  let cost = 0,
    busy = 0,
    spinning = 0,
    useful = 0;
  const byEntity = new Map<number, number>();
  for (let k = 0; k < weights.length; k++) {
    if (tuples.state[k] === State.useful) useful += f64(weights, k);
    if (tuples.state[k] !== State.overhead) continue;
    const b = Math.max(1, u16(tuples.busy, k));
    const npt = f64(weights, k) / b;
    cost += npt;
    busy += npt * b;
    spinning += npt * u16(tuples.spinning, k);
    for (let n = u32(tuples.stack, k); n !== 0; n = u32(stacks.parent, n))
      if (u8(stacks.first, n)) addTo(byEntity, u32(stacks.entity, n), npt);
  }
  const savingNs = cost * (1 - 1 / coarser);
  if (savingNs < least) return [];
  // Choose the innermost entity that has half of the overhead. Idle loops of the package have no stack and belong to no
  // entity.
  const known = Math.max(0, ...byEntity.values());
  const id = shownId(
    model,
    [...byEntity].filter(([, npt]) => npt >= known / 2).sort((a, b) => a[1] - b[1])[0]?.[0] ?? 0,
  );
  const { spawns, switches } = model.head;
  const events: PackageWorkFacts['events'] =
    spawns > 0 && spawns >= switches / 10
      ? { what: 'threads', count: spawns, workNs: useful / spawns }
      : switches > 0
        ? { what: 'switches', count: switches, workNs: useful / switches }
        : null;
  return [
    findingOf(model, {
      entity: id,
      kind: 'overhead',
      change: 'coarsen',
      advice: largerPieces,
      costNs: cost,
      savingNs,
      processorUse: processorUseOf(model.processors, busy / cost, spinning / cost),
      facts: { form: 'package-work', events, savesNs: savingNs, coarser },
    }),
  ];
}

/**
 * Below this much work per wait (excluding the time for waiting and waking), waking a thread costs more than it gains.
 */
const shortWaitNs = wakeNs;
/**
 * The maximum processor time per wait, waiting and waking included; above it, something else takes the time, such as
 * locks that no thread waits for.
 */
const rareWaitNs = 100_000;
/**
 * The share of the processor time in waiting and waking from which they are reported however much work there is per
 * wait.
 */
const muchHanding = 0.1;
/**
 * The more of the processor time it is, the rarer waits may be, in proportion (a sleep and a wake-up take up to 60 us
 * where a CPU is asleep itself, and more beside other programs), up to this many times: then nothing else can take the
 * time.
 */
const rarest = 3;
/** That is so if the waits are counted, and if the program has this part of a CPU: others wait for input and output. */
const leastRunning = 0.5;

/** Whether the tuple (by index) is in a run-time library's call that waits or wakes. */
const isWakingCall = ({ model, tables, own }: FindingContext, k: number): boolean => {
  const node = u32(model.raw.tuples.stack, k);
  return u8(own.hidden, node) === 1 && isFor(item(model.entities, u32(tables.stacks.entity, node)), Purpose.waitOrWake);
};

interface Waking {
  cost: number;
  busy: number;
  spinning: number;
  wantedNs: number; // while other threads waited for a CPU
}

/**
 * Elapsed time (NPT) of threads that have been woken, as far as other programs do not have the CPUs, and of calls that
 * wake.
 */
function wakingOf(context: FindingContext): Waking {
  const { model, tables } = context;
  const { weights } = tables;
  const { tuples } = model.raw;
  let cost = 0,
    busy = 0,
    spinning = 0,
    wantedNs = 0;
  for (let k = 0; k < weights.length; k++) {
    if (tuples.state[k] !== State.useful || weights[k] === 0) continue;
    if (!isHandingOn(model.raw, k) && !isWakingCall(context, k)) continue;
    const b = Math.max(1, u16(tuples.busy, k));
    cost += f64(weights, k) / b;
    busy += f64(weights, k);
    spinning += (f64(weights, k) / b) * u16(tuples.spinning, k);
    if (u32(tuples.runnable, k) > model.processors) wantedNs += f64(weights, k) / b;
  }
  return { cost, busy, spinning, wantedNs };
}

/** Time that threads waited, by object; sleeping and joins are left out. */
function waitedLongest({ model, levels }: FindingContext): Map<number, number> {
  const waited = new Map<number, number>();
  for (const [id, { blocked, spinning, woken }] of levels.waits) {
    const { rawKind, members } = item(model.entities, id);
    if (rawKind === 'join' || rawKind === 'sleep' || members.length > 0) continue;
    for (const its of [blocked, spinning, woken]) for (const ns of its.values()) addTo(waited, shownId(model, id), ns);
  }
  return waited;
}

/**
 * The counted number of waits; if they are not counted (a library's own futexes), how often threads gave up their CPU.
 */
function waitsOf(context: FindingContext): { waits: number; byObject: Map<number, number> } {
  const counted = countedWaits(context.model);
  if (counted.waits > 0) return counted;
  const byObject = waitedLongest(context);
  return { waits: byObject.size > 0 ? (context.model.kernelUsage?.switches?.voluntary ?? 0) : 0, byObject };
}

interface Saved {
  leastNs: number;
  mostNs: number;
}

function savedByRarer(context: FindingContext, objects: Iterable<number>, rarerNs: number): Saved {
  const { aloneNs, idealNs } = withoutWaiting(context, (k) => isWakingCall(context, k));
  const reach = mostWithoutHandOvers(context, objects, (k) => isWakingCall(context, k));
  // Where calls are not seen, those that wake others look like work of the thread that makes them.
  const boundNs = context.model.head.paths.kernel ? idealNs : Infinity;
  const mostlyNs = Math.max(Math.min(rarerNs, boundNs), Math.min(aloneNs, reach));
  // What recording adds to the waits is no cost of the program.
  const leastNs = Math.max(0, mostlyNs - context.model.slowdown.waitsNs);
  return { leastNs, mostNs: Math.max(mostlyNs, Math.min(idealNs, reach)) };
}

/**
 * Only needless wake-ups are saved, since the threads wait anyway. They cost no elapsed time while no other thread
 * waits for the CPU that they take, unless they delay the threads that wake the others.
 */
function savedByFewerWakeUps(count: number, waits: number, cost: number, wantedNs: number): Saved {
  const needless = Math.min(1, count / waits);
  return { leastNs: needless * wantedNs, mostNs: needless * cost };
}

/** Kernel threads that pass on too little at a time: they are woken so often that there is little work per wait. */
export function wakeUpFindings(context: FindingContext): Finding[] {
  const { model, least } = context;
  if (model.head.publisher !== 'pthread') return [];
  const { waits, byObject } = waitsOf(context);
  const runNs = model.cpuWait.runNs > 0 ? model.cpuWait.runNs : model.root.processorTimeNs;
  const workNs = phaseOf(model, byObject.keys()).processorShare * runNs;
  const condition = model.entities.find((entity) => waitsAgain(model, entity) > 0);
  if (waits === 0) return [];
  const handingNs = handOversOf(context).handingNs / shownPerRun(model);
  const mayBeRarer = countedWaits(model).waits > 0 && runNs >= leastRunning * model.elapsedNs;
  const timesRarer = mayBeRarer ? handingNs / (muchHanding * workNs) : 1;
  const rareNs = rareWaitNs * Math.min(rarest, Math.max(1, timesRarer));
  if (!condition && workNs / waits > rareNs) return [];
  if (!condition && (workNs - handingNs) / waits >= shortWaitNs && handingNs < muchHanding * workNs) return [];
  const { cost, busy, spinning, wantedNs } = wakingOf(context);
  const most = [...byObject].sort((a, b) => b[1] - a[1]).map(([id]) => id);
  const rarerNs = cost * (1 - 1 / coarser);
  if (rarerNs < least) return [];
  const all = [...byObject.values()].reduce((sum, one) => sum + one, 0);
  const others = most.slice(1, 3).filter((id) => defined(byObject.get(id)) >= all / 10);
  const again = futileWakeUps(context, condition ?? item(model.entities, item(most, 0)));
  const needless = again?.count ?? null;
  const { leastNs, mostNs } =
    needless !== null
      ? savedByFewerWakeUps(needless, waits, cost, wantedNs)
      : savedByRarer(context, byObject.keys(), rarerNs);
  if (mostNs < least) return [];
  return [
    findingOf(model, {
      entity: item(most, 0),
      kind: 'overhead',
      change: 'coarsen',
      advice: again ? noAdvice : largerPieces,
      costNs: Math.max(cost, mostNs),
      savingNs: (leastNs + mostNs) / 2,
      processorUse: processorUseOf(model.processors, busy / cost, spinning / cost),
      facts: {
        form: 'wake-ups',
        waits,
        workNs: workNs / waits,
        objects: [item(most, 0), ...others],
        again,
        wakingNs: cost,
        leastNs,
        mostNs,
        coarser,
      },
      related: [...others, ...(condition ? [condition.id] : [])],
    }),
  ];
}
