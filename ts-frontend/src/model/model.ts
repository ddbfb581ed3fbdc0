/** Puts the model together: see docs/model.md for the order and the formulas. Pure. */
import type { EntityKind, RawProfile } from './raw.js';
import { runnableRange } from './buckets.js';
import type { Calls } from './calls.js';
import { callList, countCalls } from './calls.js';
import { factorsOf, weightsOf } from './compensate.js';
import { cpuWaitOf } from './cpu-wait.js';
import { findingsOf } from './findings.js';
import { independentSnapshots, nptInterval } from './interval.js';
import { baseName, kindOf, namesakes, namesOf } from './names.js';
import { collectBlame, collectObjects, emptyObject, objectStats } from './objects.js';
import type { Stacks } from './stacks.js';
import { prepareStacks } from './stacks.js';
import { Sums, sumTuples } from './sums.js';
import type { Balance, Entity, Model, ModelOptions, StateName, StateTime } from './types.js';
import { stateNames } from './types.js';

/** What findings, focus and invariants need besides the model itself. */
export interface Working {
  stacks: Stacks;
  weights: Float64Array; // ns of each tuple, compensated
  sums: Sums;
  groupOf: Uint32Array;
  calls: Calls;
}
const working = new WeakMap<Model, Working>();

export function workingOf(model: Model): Working {
  const found = working.get(model);
  if (!found) throw new Error('not a model made by buildModel');
  return found;
}

export function buildModel(raw: RawProfile, options: ModelOptions = {}): Model {
  const names = namesOf(raw);
  const groups = namesakes(raw, names);
  const rawCount = Math.max(1, raw.entities.length);
  const entityCount = rawCount + groups.length;
  const groupOf = new Uint32Array(rawCount);
  groups.forEach((members, k) => { for (const member of members) groupOf[member] = rawCount + k; });

  const stacks = prepareStacks(raw, groupOf);
  const factors = factorsOf(raw, stacks, options.compensate !== false);
  const { ns: weights, compensation } = weightsOf(raw, stacks, factors);
  const sums = sumTuples(raw, stacks, groupOf, weights, entityCount);
  const calls = countCalls(raw, groupOf, entityCount);
  const objects = collectObjects(raw, groupOf);
  const blame = collectBlame(raw, stacks, groupOf);
  const threads = new Map(raw.threads.map((thread) => [thread.entity, thread]));
  const n = independentSnapshots(raw.head);
  const zeros = new Float64Array(raw.head.processors);

  const entities: Entity[] = [];
  for (let id = 0; id < entityCount; id++) {
    const members = id >= rawCount ? groups[id - rawCount]! : [];
    const source = raw.entities[members[0] ?? id]!;
    const rawKind: EntityKind = id === 0 ? 'procedure' : source.kind;
    const byBusy = sums.byBusy[id] ?? zeros;
    const byBusySelf = sums.byBusySelf[id] ?? zeros;
    const npt = terms(byBusy);
    const nptSelf = terms(byBusySelf);
    const nptNs = total(npt);
    const processorTimeNs = total(byBusy);
    const isObject = rawKind !== 'procedure' && rawKind !== 'thread';
    const thread = threads.get(id);
    entities.push({
      id, kind: kindOf(rawKind), rawKind,
      name: id === 0 ? baseName(raw.head.program) || 'program' : names[members[0] ?? id]!,
      file: id === 0 ? '' : source.file, line: id === 0 ? 0 : source.line, address: id === 0 ? 0 : source.address,
      module: id === 0 ? raw.head.program : source.module > 0 ? raw.modules[source.module - 1]?.path ?? '' : '',
      detail: id === 0 ? '' : source.detail,
      instances: id === 0 ? 1 : members.length > 0 ? members.reduce((sum, member) => sum + Math.max(1, raw.entities[member]!.instances), 0) : Math.max(1, source.instances),
      members, group: id < rawCount ? groupOf[id]! : 0,
      nptNs, nptSelfNs: total(nptSelf), share: raw.head.elapsedNs > 0 ? nptNs / raw.head.elapsedNs : 0,
      processorTimeNs, processorTimeSelfNs: total(byBusySelf),
      byBusyNs: npt, byBusySelfNs: nptSelf,
      parallelism: nptNs > 0 ? processorTimeNs / nptNs : 0,
      idlenessNs: sums.idleness[id]!, spinBlameNs: sums.spinBlame[id]!,
      overheadNs: sums.stateNs[id * 6 + 1]!,
      optimizeNs: nptNs,
      parallelizeNs: parallelize(byBusy), parallelizeSelfNs: parallelize(byBusySelf),
      states: statesOf(sums, id),
      calls: calls.total[id]!,
      callers: callList(calls.callers[id]), callees: callList(calls.callees[id]),
      ci95: nptInterval(nptNs, sums.rawNpt[id]!, raw.head.elapsedNs, n),
      object: isObject
        ? objectStats(raw, stacks, sums, id, rawKind, members, objects.get(id) ?? emptyObject(id), blame) : null,
      thread: thread ? { serial: thread.serial, creator: thread.creator, firstNs: thread.firstNs, lastNs: thread.lastNs } : null,
    });
  }

  const root = entities[0]!;
  const effortNs = root.processorTimeNs + root.idlenessNs + root.spinBlameNs;
  const percent = (ns: number): number => (effortNs > 0 ? (100 * ns) / effortNs : 0);
  const elapsedNs = raw.head.elapsedNs;
  const model: Model = {
    head: raw.head, program: root.name, processors: raw.head.processors, elapsedNs,
    samples: raw.head.snapshots, rateHz: elapsedNs > 0 ? raw.head.snapshots / (elapsedNs / 1e9) : 0,
    root, entities, ranking: rank(entities),
    balance: balanceOf(raw), timeline: timelineOf(raw),
    effortNs, idlenessPercent: percent(root.idlenessNs), overheadPercent: percent(root.overheadNs), spinPercent: percent(root.spinBlameNs),
    compensation, cpuWait: cpuWaitOf(raw), findings: [], notices: [], raw,
  };
  const material = { stacks, weights, sums, groupOf, calls };
  working.set(model, material);
  Object.assign(model, findingsOf(model, material));
  return model;
}

function terms(byBusy: Float64Array): Float64Array {
  return byBusy.map((ns, k) => ns / (k + 1));
}
function total(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
/** Σ T_i (1/i - 1/P), docs/metrics.md section 3. */
function parallelize(byBusy: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < byBusy.length; k++) sum += byBusy[k]! * (1 / (k + 1) - 1 / byBusy.length);
  return sum;
}
function statesOf(sums: Sums, id: number): Record<StateName, StateTime> {
  return Object.fromEntries(stateNames.map((name, k) => [name, sums.stateTime(id, k + 1)])) as Record<StateName, StateTime>;
}

/** Groups stand for their members; the root stands above all and is left out. */
function rank(entities: Entity[]): number[] {
  return entities.filter((entity) => entity.id !== 0 && entity.group === 0)
    .sort((a, b) => b.nptNs - a.nptNs || b.nptSelfNs - a.nptSelfNs || waited(b) - waited(a) || a.id - b.id)
    .map((entity) => entity.id);
}
function waited(entity: Entity): number {
  return entity.object?.waitNs ?? entity.states.blocked.ns;
}

function balanceOf(raw: RawProfile): Balance {
  const { balance, head } = raw;
  const byBusyNs = new Float64Array(head.processors + 1);
  const bySpinningNs = new Float64Array(head.processors + 1);
  const runnable = new Map<number, number>();
  let busyNs = 0, overheadNs = 0, spinningNs = 0, elapsed = 0, runnableNs = 0;
  for (let k = 0; k < balance.ns.length; k++) {
    const ns = balance.ns[k]!;
    byBusyNs[Math.min(head.processors, balance.busy[k]!)]! += ns;
    bySpinningNs[Math.min(head.processors, balance.spinning[k]!)]! += ns;
    busyNs += balance.busy[k]! * ns;
    spinningNs += balance.spinning[k]! * ns;
    overheadNs += balance.overheadNs[k]!;
    runnableNs += balance.runnableNs[k]!;
    elapsed += ns;
    runnable.set(balance.runnable[k]!, (runnable.get(balance.runnable[k]!) ?? 0) + ns);
  }
  return {
    usefulNs: busyNs - overheadNs, overheadNs, spinningNs, idleNs: Math.max(0, head.processors * elapsed - busyNs - spinningNs),
    nothingRanNs: byBusyNs[0]!, byBusyNs, bySpinningNs,
    meanRunnable: elapsed > 0 ? runnableNs / elapsed : 0,
    runnable: [...runnable].sort((a, b) => a[0] - b[0]).map(([lower, ns]) => ({ ...runnableRange(lower), ns })),
    meanBusy: elapsed > 0 ? busyNs / elapsed : 0,
  };
}

function timelineOf(raw: RawProfile): Model['timeline'] {
  const t = raw.timeline;
  return Array.from(t.ns, (ns, k) => ({
    startNs: t.startNs[k]!, ns, usefulNs: t.usefulNs[k]!, overheadNs: t.overheadNs[k]!, spinningNs: t.spinningNs[k]!, idleNs: t.idleNs[k]!,
    meanRunnable: ns > 0 ? t.runnableNs[k]! / ns : 0, snapshots: t.snapshots[k]!, top: t.top[k]!,
  }));
}
