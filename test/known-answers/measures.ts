/**
 * How a metric is computed from a model and from a trace of the same run, and how far each may deviate from the truth.
 */
import { independentSnapshots, type Entity, type Model } from '../../ts-frontend/src/model/index.js';
import { truthOf, truthOfQueue } from './oracle/look-up.js';
import { npt, parallelize, total, type TrueEntity, type Truth } from './oracle/truth.js';

/** Half-widths of a 95 % interval by which an estimate may deviate: two are four standard errors. */
export const halves = 2;
/**
 * Tolerance for the programs themselves, as a share of the elapsed time (of the value itself if that is above 1): late
 * wake-ups, start and end of threads.
 */
const slack = 0.02;
/** The effect of an instant more or less at either end: rounding, and visits that follow the reading of the clock. */
export const instant = 0.002;

export const shares: Record<string, (entity: Entity) => number> = {
  npt: (e) => e.nptNs,
  self: (e) => e.nptSelfNs,
  T: (e) => e.processorTimeNs,
  idleness: (e) => e.idlenessNs,
  spinblame: (e) => e.spinBlameNs,
  parallelize: (e) => e.parallelizeNs,
  overhead: (e) => e.overheadNs,
  useful: (e) => e.states.useful.ns,
  spinning: (e) => e.states.spinning.ns,
  ready: (e) => e.states.ready.ns,
  blocked: (e) => e.states.blocked.ns,
  io: (e) => e.states.io.ns,
  hold: (e) => e.object?.holdNs ?? NaN,
  wait: (e) => e.object?.waitNs ?? NaN, // exact
};
const plain: Record<string, (entity: Entity) => number> = {
  parallelism: (e) => e.parallelism,
  runnable: (e) => e.states.useful.meanRunnable,
  queue: (e) => e.object?.queueLengthMean ?? NaN,
};
export const exact: Record<string, (entity: Entity) => number> = {
  calls: (e) => e.calls,
  acquisitions: (e) => e.object?.acquisitions ?? NaN,
  contended: (e) => e.object?.contended ?? NaN,
  instances: (e) => e.instances,
};

/** The same from the trace. */
const trueShares: Record<string, (e: TrueEntity) => number> = {
  npt: (e) => npt(e.byBusyNs),
  self: (e) => npt(e.byBusySelfNs),
  T: (e) => total(e.byBusyNs),
  idleness: (e) => e.idlenessNs,
  spinblame: (e) => e.spinBlameNs,
  parallelize: (e) => parallelize(e.byBusyNs),
  overhead: (e) => e.states.overhead,
  useful: (e) => e.states.useful,
  spinning: (e) => e.states.spinning,
  ready: (e) => e.states.ready,
  blocked: (e) => e.states.blocked,
  io: (e) => e.states.io,
};

/**
 * The half-width of the 95 % interval for the mean of a number from 0 to `most` that n independent snapshots observe:
 * its variance is at most mean * (most - mean). At least the effect of one snapshot.
 */
export function halfWidth(mean: number, most: number, n: number): number {
  return 1.96 * Math.sqrt(Math.max(mean * (most - mean), (most * most) / Math.max(1, n)) / Math.max(1, n));
}

/** The metric if it is a time or a mean: as a share of elapsed time, or as it is. Undefined: it is a count. */
export function timed(model: Model, entity: Entity, metric: string): number | undefined {
  const indexed = /^T(\d+)$/.exec(metric);
  if (indexed) return ((entity.byBusyNs[Number(indexed[1]) - 1] ?? NaN) * Number(indexed[1])) / model.elapsedNs;
  if (shares[metric]) return shares[metric](entity) / model.elapsedNs;
  return plain[metric]?.(entity);
}

/** Instants at which the sampler had no CPU, as a share of all: what happened then is unknown. */
export const missed = ({ head: { skippedTicks, snapshots } }: Model): number =>
  skippedTicks / Math.max(1, skippedTicks + snapshots);

/**
 * How far sampling may move such a value from the truth: two half-widths, plus what may have happened at missed
 * instants.
 */
export function samplingError(model: Model, entity: Entity, metric: string, truth: number): number {
  // The waiter reads its clock a little before and after the changes; in between it may wait for a CPU.
  if (metric === 'wait') return model.cpuWait.waitNs / model.elapsedNs;
  const n = independentSnapshots(model.head);
  const P = model.processors;
  if (metric === 'parallelism') {
    // from 1 to P, observed while the entity was busy
    return halves * halfWidth(truth - 1, P - 1, (n * entity.nptNs) / model.elapsedNs) + missed(model) * (P - 1);
  }
  const indexed = /^T(\d+)$/.exec(metric);
  const most = indexed
    ? Number(indexed[1])
    : /^(npt|self|parallelize)$/.test(metric)
      ? 1
      : /^(T|useful|overhead|spinning|idleness|spinblame)$/.test(metric)
        ? P
        : // one, if there are that many
          model.entities.filter((one) => one.kind === 'thread' && one.members.length === 0).length;
  return halves * halfWidth(truth, most, n) + missed(model) * most;
}

/**
 * The part of the run in which a processor waited for a CPU, by the kernel's count, which leaves out the last eighth of
 * a run (docs/reference/metrics.md, section 6); or in which the CPUs themselves did not run (in a virtual machine):
 * then the sampler misses instants.
 */
export function disturbance(model: Model): number {
  return model.cpuWait.waitNs / (7 / 8) / model.elapsedNs + missed(model);
}
/** If it is more than this, the program may not do what its head says. */
export const mostDisturbance = 0.02;

/**
 * How far the truth of a run may be from what its program would do with CPUs of its own. For each ns that a processor
 * waits for a CPU, that processor, and at most all others, do something else for a ns. `disturbed`: for what part of
 * the run.
 */
export function lateness(model: Model, metric: string, truth: number, disturbed = disturbance(model)): number {
  const indexed = /^T(\d+)$/.exec(metric);
  // A processor that wakes late is idle for that time; so may all others be, except the one that wakes them.
  const many = indexed
    ? Number(indexed[1])
    : /^(T|useful|idleness)$/.test(metric)
      ? model.processors - 1
      : /^(spinblame|spinning|wait)$/.test(metric)
        ? model.processors / 4
        : 1;
  return (slack * Math.max(1, Math.abs(truth), many) + disturbed * model.processors) * (metric in plain ? 2 : 1);
}

/** The value of the metric, and how far it may be from the program's answer. */
export function measure(
  model: Model,
  entity: Entity,
  metric: string,
  answer: number,
): { value: number; tolerance: number } {
  const value = timed(model, entity, metric);
  if (value !== undefined)
    return { value, tolerance: samplingError(model, entity, metric, answer) + lateness(model, metric, answer) };
  if (exact[metric]) {
    // Threads that live only while the sampler has no CPU are not seen: no larger a share of them than of the time.
    const value = exact[metric](entity),
      part = Math.min(0.9, missed(model));
    return { value, tolerance: metric === 'instances' ? Math.round((value * part) / (1 - part)) : 0 };
  }
  throw new Error(`no metric is called ${metric}`);
}

/** The same metric from the trace: from `low` to `high`, which differ only if the trace does not determine it. */
export function trueValue(
  model: Model,
  truth: Truth,
  entity: Entity,
  metric: string,
): { low: number; high: number } | undefined {
  const parts = entity.members.length > 0 ? entity.members.map((id) => model.entities[id]!) : [entity];
  let low = 0;
  let high = 0;
  let useful = 0;
  for (const part of parts) {
    const one = truthOf(truth, model, part);
    if (!one) return undefined;
    const indexed = /^T(\d+)$/.exec(metric);
    const queueNs = truthOfQueue(truth, model, part) ?? 0;
    // A waiter's own measurement ends when it has a processor again; a holder's path counts from when it has the lock.
    const interval =
      metric === 'wait'
        ? [queueNs + one.states.spinning, queueNs + one.states.spinning + one.states.ready + one.states.overhead]
        : metric === 'hold'
          ? [one.states.useful + one.states.overhead, one.states.useful + one.states.overhead + one.states.ready]
          : undefined;
    const ns = indexed
      ? (one.byBusyNs[Number(indexed[1]) - 1] ?? NaN)
      : metric === 'parallelism'
        ? total(one.byBusyNs)
        : metric === 'runnable'
          ? one.usefulRunnableNs
          : metric === 'queue'
            ? queueNs + one.states.spinning
            : interval
              ? 0
              : trueShares[metric]?.(one);
    if (ns === undefined) return undefined;
    low += interval?.[0] ?? ns;
    high += interval?.[1] ?? ns;
    useful += metric === 'parallelism' ? npt(one.byBusyNs) : metric === 'runnable' ? one.states.useful : 0;
  }
  const over =
    metric === 'parallelism' || metric === 'runnable'
      ? useful
      : metric === 'queue'
        ? (entity.object?.queueObservedNs ?? NaN)
        : model.elapsedNs;
  return { low: low / over, high: high / over };
}
