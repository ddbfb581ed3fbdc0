/** The exact truth about an entity of a model, and about a recorded run. */
import type { Entity, Model } from '../../../ts-frontend/src/model/index.js';
import { readTrace } from './trace.js';
import { computeTruth, emptyEntity, type TrueEntity, type Truth } from './truth.js';

/** The truth over exactly the time that the model covers, from the trace at `stem`. */
export function truthOfRun(model: Model, stem: string): Truth {
  return computeTruth(readTrace(stem, BigInt(model.head.firstNs)), model.processors, 0, model.elapsedNs);
}

/** The truth about an entity of the model that is not a group; undefined if it occurs in neither. */
export function truthOf(truth: Truth, model: Model, entity: Entity): TrueEntity | undefined {
  const exact = lookUp(truth, model, entity);
  if (exact || Object.values(entity.states).every((one) => one.ns === 0)) return exact;
  // a snapshot's visits follow the reading of the clock: the last one may see what comes after the end
  return emptyEntity(model.processors);
}
function lookUp(truth: Truth, model: Model, entity: Entity): TrueEntity | undefined {
  if (entity.id === model.root.id) return truth.root;
  const raw = model.raw.entities[entity.id];
  if (entity.kind === 'procedure') return truth.procedures.get(BigInt(entity.address));
  if (entity.thread) return truth.threads.get(entity.thread.serial);
  return raw && entity.object ? truth.objects.get(raw.record) : undefined;
}

/** Waiters * time of an object's queue of blocked threads. */
export function truthOfQueue(truth: Truth, model: Model, entity: Entity): number | undefined {
  const raw = model.raw.entities[entity.id];
  const queue = raw && entity.object ? truth.queues.get(raw.record) : undefined;
  return queue?.reduce((sum, ns, length) => sum + (ns ?? 0) * length, 0);
}
